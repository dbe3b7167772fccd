//! The operator's blocklist: a YAML file with a list of what is forbidden.
//!
//! ```yaml
//! - ecosystem: npm
//!   package: "@evil/*"
//!   versions: "<2.0.0"       # every version, without
//!   reason: typosquat of @good
//!   mask: hide               # mark, without
//! ```
//!
//! The list is taken as a whole; one that cannot be read changes nothing, and says the line and the
//! column. Whether the file has changed is seen by polling its time and size every few seconds:
//! that works on every file system, and for a file that an editor or a config map puts in the place
//! of the old one.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use weir_aggregates::registry::{
    MAX_RULES,
    blocklist::{AT_ONCE, Blocklist, Replace},
    verdict,
    visits::Part,
};
use weir_events::{
    registry::{Ecosystem, Event, Rule, blocklist::STREAM},
    stream::StreamName,
};

use super::{
    Reports, Retry, SecuritySourcePlugin, SyncFault, Synced, Tally, Visit, archive::Archive,
};
use crate::{
    caller::Caller,
    door::{Door, DoorFault, ExecuteFault},
    registry::written::{self, Written, Wrong},
};

/// The name of the source.
pub const NAME: &str = verdict::BLOCKLIST;

/// How often the file is looked at.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The largest file that is read.
const MAX_BYTES: usize = 8 << 20;
/// What one rule costs in the reader: its map, its keys and its values.
const MAX_NODES: usize = MAX_RULES * 12;
/// How often a list is put in place before somebody else must be doing the same.
const MAX_STEPS: usize = 3 * MAX_RULES / AT_ONCE;

/// How the file is visited.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file.
    pub file: PathBuf,
    /// How often it is read, whether it seems changed or not.
    pub interval: Duration,
}

/// The source.
#[derive(Debug)]
pub struct BlocklistFile {
    config: Config,
    door: Door,
    /// How the file looked when it was read last.
    read: Mutex<Option<Look>>,
}

/// The list cannot be taken. What was in force stays so.
#[derive(Debug, thiserror::Error)]
pub enum ListFault {
    /// The file cannot be read.
    #[error("could not read the blocklist `{path}`: {cause}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// What stands in it is no list of rules.
    #[error("{place}: {what}")]
    NoList {
        /// File, line and column.
        place: String,
        /// What is wrong there.
        what: String,
    },
    /// The machine refused what we had found right.
    #[error("the blocklist is refused: {0}")]
    Refused(String),
}

/// How a file looks from outside: when it was written, and how large it is.
type Look = Result<(Option<SystemTime>, u64), std::io::ErrorKind>;

fn look(path: &Path) -> Look {
    let found = fs::metadata(path).map_err(|fault| fault.kind())?;
    Ok((found.modified().ok(), found.len()))
}

impl BlocklistFile {
    /// The source.
    #[must_use]
    pub fn new(config: Config, door: Door) -> Self {
        Self { config, door, read: Mutex::default() }
    }

    async fn visit(&self) -> Result<Synced, SyncFault> {
        let path = self.config.file.clone();
        let read = tokio::task::spawn_blocking(move || {
            // Before it is read: who writes meanwhile is noticed at the next look.
            (look(&path), load(&path))
        });
        let (looked, rules) = read.await.map_err(|_| SyncFault::BrokeOff("the reader"))?;
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(looked);
        let mut tally = Tally::default();
        let rules = rules?;
        tally.n_records = rules.len() as u64;
        let broken = |_| SyncFault::BrokeOff("its stream has no name");
        let stream = StreamName::new(STREAM).map_err(broken)?;
        let (command, caller) = (Replace(rules), Caller::processor(NAME));
        for _ in 0..MAX_STEPS {
            let done = self.door.execute::<Blocklist>(&stream, &command, &caller, None).await;
            let events = match done {
                Ok(done) => done.events,
                Err(ExecuteFault::Fault(fault)) => return Err(fault.into()),
                Err(refused) => return Err(ListFault::Refused(refused.to_string()).into()),
            };
            if events.is_empty() {
                return Ok(Synced { tally, revision: None });
            }
            for event in events {
                match event {
                    Event::BlocklistRuleAdded(_) => tally.n_published += 1,
                    _ => tally.n_withdrawn += 1,
                }
            }
        }
        Err(DoorFault::Contended(stream).into())
    }
}

impl SecuritySourcePlugin for BlocklistFile {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supported_ecosystems(&self) -> &[Ecosystem] {
        &Ecosystem::ALL
    }

    fn parts(&self) -> Vec<Part> {
        vec![None]
    }

    fn sync_interval(&self) -> Duration {
        self.config.interval
    }

    fn retry(&self) -> Retry {
        Retry::default()
    }

    fn sync_timeout(&self) -> Duration {
        Duration::from_mins(1)
    }

    fn reports(&self) -> Reports {
        Reports::News
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                let path = self.config.file.clone();
                let looked = tokio::task::spawn_blocking(move || look(&path)).await;
                let read = *self.read.lock().unwrap_or_else(PoisonError::into_inner);
                if looked.ok() != read {
                    return;
                }
            }
        })
    }

    fn sync<'a>(
        &'a self,
        _: &'a Visit,
        _: &'a dyn Archive,
    ) -> BoxFuture<'a, Result<Synced, SyncFault>> {
        Box::pin(self.visit())
    }
}

/// Reads the file.
pub fn load(path: &Path) -> Result<Vec<Rule>, ListFault> {
    let name = path.display().to_string();
    let unreadable = |cause| ListFault::Unreadable { path: name.clone(), cause };
    let file = fs::File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    file.take(MAX_BYTES as u64 + 1).read_to_string(&mut text).map_err(unreadable)?;
    parse(&name, &text)
}

/// Reads the text of a blocklist; `name` is what messages call it.
pub fn parse(name: &str, text: &str) -> Result<Vec<Rule>, ListFault> {
    let no_list = |wrong: Wrong| ListFault::NoList { place: wrong.place(name), what: wrong.what };
    let bounds = written::Bounds { max_bytes: MAX_BYTES, max_nodes: MAX_NODES };
    let list: Vec<Written> = written::read("a blocklist", text, bounds).map_err(|wrong| {
        let what = format!("no list of rules: {}", wrong.what);
        no_list(Wrong { what, ..wrong })
    })?;
    list.iter().map(|it| written::rule(it).map_err(no_list)).collect()
}

#[cfg(test)]
mod tests {
    use weir_events::registry::Mask;

    use super::*;

    const LIST: &str = "\
# What we do not want.
- ecosystem: npm
  package: \"@evil/*\"
  versions: \"<2.0.0\"
  reason: typosquat of @good
  mask: hide
- {ecosystem: pypi, package: six, reason: not reviewed}
";

    fn refused(text: &str) -> String {
        parse("list.yaml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_list_becomes_rules_whose_ids_are_those_of_what_they_say() {
        let rules = parse("list.yaml", LIST).unwrap();
        assert_eq!(rules.len(), 2);
        assert_eq!((rules[0].versions.as_str(), rules[0].mask), ("<2.0.0", Mask::Hide));
        assert_eq!((rules[1].versions.as_str(), rules[1].mask), ("*", Mask::Mark));
        let reordered: Vec<&str> = LIST.lines().collect();
        let reordered = [&reordered[6..], &reordered[1..6]].concat().join("\n");
        let again = parse("other.yaml", &reordered).unwrap();
        assert_eq!([&again[1], &again[0]], [&rules[0], &rules[1]]);
        for empty in ["", "# nothing yet\n", "[]"] {
            assert_eq!(parse("list.yaml", empty).unwrap(), []);
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_column() {
        for (from, to, place, word) in [
            ("ecosystem: npm", "ecosystem: gems", "list.yaml:2:14", "`gems`"),
            ("mask: hide", "mask: hidden", "list.yaml:6:9", "`hidden`"),
            ("<2.0.0", "two", "list.yaml:4:13", "`two`"),
            ("\"@evil/*\"", "a/b/c", "list.yaml:3:12", "`a/b/c`"),
            ("typosquat of @good", "' '", "list.yaml:5:11", "reason"),
            ("reason: typosquat", "raeson: typosquat", "list.yaml:5:3", "raeson"),
            ("mask: hide", "mask: [hide", "list.yaml:", "no list of rules"),
        ] {
            let fault = refused(&LIST.replace(from, to));
            assert!(fault.starts_with(place) && fault.contains(word), "{to}: {fault}");
        }
        assert!(refused("- {ecosystem: npm, package: x}").contains("reason"));
        assert!(refused("rules: 1").starts_with("list.yaml:1:1"));
    }

    #[test]
    fn a_list_that_is_too_much_is_refused() {
        let mut bomb = "- &a0 {ecosystem: npm, package: x, reason: y}\n".to_owned();
        for _ in 0..200_000 {
            bomb.push_str("- *a0\n");
        }
        assert!(refused(&bomb).contains("list.yaml"));
        assert!(refused(&format!("# {}", "x".repeat(MAX_BYTES))).contains("bytes"));
        let missing = load(Path::new("/nowhere/list.yaml")).unwrap_err().to_string();
        assert!(missing.contains("/nowhere/list.yaml"), "{missing}");
    }
}
