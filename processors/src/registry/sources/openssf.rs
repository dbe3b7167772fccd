//! Malicious packages, as the Open Source Security Foundation collects them: a git repository with a
//! record in the OSV format for each, one folder for each ecosystem.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, BufWriter},
    sync::mpsc::{self, Receiver, Sender},
};
use weir_aggregates::registry::{
    advisory::difference::Losses,
    osv::{MAX_RECORD_BYTES, osv_name},
    visits::Part,
};
use weir_events::registry::{Ecosystem, advisory};

use super::{
    Retry, SecuritySourcePlugin, SyncFault, Synced, Tally, Visit,
    archive::Archive,
    batches::{self, Halt, Read, Reading, Standing},
};
use crate::outbound::{
    git::{self, Git, GitFault},
    polite::{self, Polite},
};

/// The name of the source.
pub const NAME: &str = advisory::OPENSSF;

/// The repository that the foundation publishes.
pub const PUBLIC: &str = "https://github.com/ossf/malicious-packages.git";

/// How large the repository may become here.
pub const MAX_REPOSITORY_BYTES: u64 = 8 << 30;

/// Where records stand, and what standing there means.
const FOLDERS: [(&str, Standing); 2] =
    [("osv/malicious", Standing::Own), ("osv/withdrawn", Standing::Withdrawn)];

/// How many records are read.
const MAX_RECORDS: u64 = 3_000_000;
/// The longest line of git's list.
const MAX_LINE_BYTES: u64 = 8 << 10;
/// Records that wait for their content, or to be read.
const WAITING: usize = 1_000;
/// How many records are handed on at once, and how many bytes of them.
const TOGETHER: (usize, usize) = (256, 1 << 20);

/// How the repository is visited.
#[derive(Debug, Clone)]
pub struct Config {
    /// The repository, and where it is kept.
    pub git: Git,
    /// The ecosystems whose records are read.
    pub ecosystems: Vec<Ecosystem>,
    /// How long after a visit the next one is due.
    pub interval: Duration,
    /// How long one try may take.
    pub timeout: Duration,
    /// When a visit is tried again.
    pub retry: Retry,
    /// The least time between two requests.
    pub pause: Duration,
}

/// The source.
#[derive(Debug)]
pub struct OpenSsf {
    config: Config,
    polite: Polite,
}

/// A record that git has, and where it stands.
#[derive(Debug)]
struct Listed {
    object: String,
    id: String,
    standing: Standing,
}

/// A record, or none where it is too large.
type Record = (String, Standing, Option<Vec<u8>>);

/// What is handed on. Without an end there was none, and nothing is withdrawn.
enum Piece<T> {
    More(T),
    End,
}

impl OpenSsf {
    /// The source.
    #[must_use]
    pub const fn new(config: Config, polite: Polite) -> Self {
        Self { config, polite }
    }

    async fn visit(&self, visit: &Visit, archive: &dyn Archive) -> Result<Synced, SyncFault> {
        let git = &self.config.git;
        let commit = {
            let host = polite::host(git.address().url());
            let _turn = self.polite.turn(&host, self.config.pause).await?;
            git.fetch().await?
        };
        let revision = Some(commit.clone());
        if visit.revision == revision {
            return Ok(Synced { tally: Tally::default(), revision });
        }
        let tally = self.ingest(&commit, visit.losses, archive).await;
        if let Err(SyncFault::Git(GitFault::Local(_))) = &tally {
            git.forget().await;
        }
        Ok(Synced { tally: tally?, revision })
    }

    /// Reads the records of a commit, and appends what is news in them.
    async fn ingest(
        &self,
        commit: &str,
        losses: Losses,
        archive: &dyn Archive,
    ) -> Result<Tally, SyncFault> {
        let ecosystems = &self.config.ecosystems;
        let differences = batches::differences(archive, ecosystems.iter().copied()).await?;
        let (reading, batches) = Reading::new(NAME, differences);
        let (listed, to_have) = mpsc::channel(WAITING);
        let (had, to_read) = mpsc::channel(4);
        let edition = commit.to_owned();
        let reader = tokio::task::spawn_blocking(move || read(to_read, reading, losses, &edition));
        let folders = folders(ecosystems);
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        let list = self.config.git.list(commit, &folders)?;
        let contents = self.config.git.contents()?;
        let git::Reading { mut child, output } = contents;
        let missing = GitFault::Local("git takes no names".to_owned());
        let names = child.stdin.take().ok_or(missing)?;
        let (named, fetched, read, appended) = tokio::join!(
            name(list, BufWriter::new(names), listed),
            fetch(BufReader::new(output), to_have, had),
            reader,
            batches::append(archive, batches),
        );
        let read = read.unwrap_or(Err(Halt::Gone));
        let tally = batches::both(read, appended, archive).await;
        // Each of these says more than who only noticed that there was an end.
        match (named, fetched) {
            (Err(fault), _) | (_, Err(fault)) if !matches!(&tally, Err(SyncFault::Log(_))) => {
                Err(fault.into())
            }
            _ => tally,
        }
    }
}

/// The folders of some ecosystems.
fn folders(ecosystems: &[Ecosystem]) -> Vec<String> {
    let names = |ecosystem: &Ecosystem| osv_name(*ecosystem).map(str::to_lowercase);
    let below = |(folder, _)| {
        ecosystems.iter().filter_map(names).map(move |name| format!("{folder}/{name}"))
    };
    FOLDERS.into_iter().flat_map(below).collect()
}

/// Reads git's list, and names the records in it to the other git.
async fn name(
    mut list: git::Reading,
    mut names: BufWriter<tokio::process::ChildStdin>,
    listed: Sender<Piece<Listed>>,
) -> Result<(), GitFault> {
    let local = |fault: std::io::Error| GitFault::Local(fault.to_string());
    let mut lines = BufReader::new(list.output);
    let mut line = Vec::new();
    let mut n_records = 0;
    loop {
        line.clear();
        let mut bounded = (&mut lines).take(MAX_LINE_BYTES);
        if bounded.read_until(0, &mut line).await.map_err(local)? == 0 {
            break;
        }
        let Some(line) = line.strip_suffix(&[0]) else {
            return Err(GitFault::Local("a name is too long".to_owned()));
        };
        let Some(record) = listed_in(line) else { continue };
        n_records += 1;
        if n_records > MAX_RECORDS {
            return Err(GitFault::Local(format!("more than {MAX_RECORDS} records")));
        }
        names.write_all(record.object.as_bytes()).await.map_err(local)?;
        names.write_all(b"\n").await.map_err(local)?;
        if listed.capacity() == 0 {
            // The other one may be waiting for what we have only put aside.
            names.flush().await.map_err(local)?;
        }
        if listed.send(Piece::More(record)).await.is_err() {
            return Ok(());
        }
    }
    names.flush().await.map_err(local)?;
    drop(names);
    match list.child.wait().await {
        Ok(status) if status.success() => {
            // Nobody there any more says why at its own end.
            drop(listed.send(Piece::End).await);
            Ok(())
        }
        _ => Err(GitFault::Local("git could not list what was fetched".to_owned())),
    }
}

/// A line of git's list, if it names a record: a file that is neither a link nor another repository.
fn listed_in(line: &[u8]) -> Option<Listed> {
    let line = std::str::from_utf8(line).ok()?;
    let (about, path) = line.split_once('\t')?;
    let [mode, "blob", object] = about.split(' ').collect::<Vec<_>>()[..] else { return None };
    let standing = FOLDERS.into_iter().find(|(folder, _)| path.starts_with(folder))?.1;
    let id = batches::id_of(path.rsplit('/').next()?)?;
    let file = mode.starts_with("100");
    file.then(|| Listed { object: object.to_owned(), id: id.to_owned(), standing })
}

/// Reads the contents that git gives, in the order of the list.
async fn fetch(
    mut contents: BufReader<tokio::process::ChildStdout>,
    mut listed: Receiver<Piece<Listed>>,
    had: Sender<Piece<Vec<Record>>>,
) -> Result<(), GitFault> {
    let local = |fault: std::io::Error| GitFault::Local(fault.to_string());
    let (mut together, mut n_bytes) = (Vec::new(), 0);
    let mut header = Vec::new();
    while let Some(piece) = listed.recv().await {
        let Piece::More(Listed { object, id, standing }) = piece else {
            drop(had.send(Piece::More(together)).await);
            drop(had.send(Piece::End).await);
            return Ok(());
        };
        header.clear();
        let mut bounded = (&mut contents).take(MAX_LINE_BYTES);
        bounded.read_until(b'\n', &mut header).await.map_err(local)?;
        let size = size(&header, &object)
            .ok_or_else(|| GitFault::Local(format!("object {object} is missing")))?;
        let body = if size <= MAX_RECORD_BYTES as u64 {
            let mut body = Vec::new();
            (&mut contents).take(size).read_to_end(&mut body).await.map_err(local)?;
            Some(body)
        } else {
            let mut rest = (&mut contents).take(size);
            tokio::io::copy_buf(&mut rest, &mut tokio::io::sink()).await.map_err(local)?;
            None
        };
        if contents.read_u8().await.map_err(local)? != b'\n' {
            return Err(GitFault::Local(format!("object {object} is cut short")));
        }
        n_bytes += body.as_ref().map_or(0, Vec::len);
        together.push((id, standing, body));
        if together.len() >= TOGETHER.0 || n_bytes >= TOGETHER.1 {
            n_bytes = 0;
            if had.send(Piece::More(std::mem::take(&mut together))).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The size in the line before a content: `<object> blob <size>`.
fn size(header: &[u8], object: &str) -> Option<u64> {
    let rest = std::str::from_utf8(header).ok()?.strip_prefix(object)?;
    rest.strip_prefix(" blob ")?.trim_end().parse().ok()
}

fn read(
    mut records: Receiver<Piece<Vec<Record>>>,
    mut reading: Reading,
    losses: Losses,
    edition: &str,
) -> Result<Read, Halt> {
    while let Some(piece) = records.blocking_recv() {
        let Piece::More(together) = piece else { return reading.finish(losses, edition) };
        for (id, standing, body) in together {
            match body {
                Some(body) => reading.show(&id, standing, &body)?,
                None => reading.cannot_show(&id),
            }
        }
    }
    Err(Halt::Gone)
}

impl SecuritySourcePlugin for OpenSsf {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supported_ecosystems(&self) -> &[Ecosystem] {
        &self.config.ecosystems
    }

    fn parts(&self) -> Vec<Part> {
        vec![None]
    }

    fn sync_interval(&self) -> Duration {
        self.config.interval
    }

    fn retry(&self) -> Retry {
        self.config.retry
    }

    fn sync_timeout(&self) -> Duration {
        self.config.timeout
    }

    fn sync<'a>(
        &'a self,
        visit: &'a Visit,
        archive: &'a dyn Archive,
    ) -> BoxFuture<'a, Result<Synced, SyncFault>> {
        Box::pin(self.visit(visit, archive))
    }
}

#[cfg(test)]
mod tests;
