//! The account Postgres runs as: Weir's own, or, since Postgres refuses root, another one.
//!
//! The account must have an entry in the passwd file: Postgres looks its own uid up and refuses to
//! run without a name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use std::os::unix::fs::MetadataExt as _;
use tracing::{info, warn};

use super::fault::PostgresFault;
use super::process;

const PASSWD: &str = "/etc/passwd";
const OWN: &str = "weir";
/// Accounts that usually exist: the distribution's, macOS's, and the one that owns nothing.
const OTHERS: [&str; 3] = ["postgres", "_postgres", "nobody"];
const USERADD_WITHIN: Duration = Duration::from_secs(20);

/// Who runs the server programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) name: String,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Weir is root and has to drop to this account.
    pub(super) dropped: bool,
}

impl Account {
    /// Chooses the account, keeping the one that already owns the cluster in `pgdata`.
    pub(super) fn choose(pgdata: &Path) -> Result<Self, PostgresFault> {
        let uid = rustix::process::geteuid().as_raw();
        if uid != 0 {
            let gid = rustix::process::getegid().as_raw();
            return Ok(Self { name: format!("uid {uid}"), uid, gid, dropped: false });
        }
        let passwd = fs::read_to_string(PASSWD).unwrap_or_default();
        let owner = fs::symlink_metadata(pgdata).ok().map(|at| at.uid());
        if let Some(account) = pick(&passwd, owner) {
            return Ok(account);
        }
        add_own_account();
        let passwd = fs::read_to_string(PASSWD).unwrap_or_default();
        find(&passwd, |account| account.name == OWN)
            .or_else(|| find(&passwd, |account| account.name == "nobody"))
            .ok_or_else(|| PostgresFault::NoAccount {
                detail: format!("`{PASSWD}` names none of {OWN}, {}", OTHERS.join(", ")),
            })
    }

    /// The first folder on the way to `path` that this account may not enter, by its mode bits.
    pub(super) fn first_closed(&self, path: &Path) -> Option<PathBuf> {
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        above.into_iter().find(|at| !self.may_enter(at)).map(Path::to_owned)
    }

    fn may_enter(&self, at: &Path) -> bool {
        let Ok(meta) = fs::metadata(at) else { return true };
        let bit = match (meta.uid() == self.uid, meta.gid() == self.gid) {
            (true, _) => 0o100,
            (false, true) => 0o010,
            (false, false) => 0o001,
        };
        meta.mode() & bit != 0
    }
}

/// The account without asking the system for a new one. `nobody` is left for when that fails.
fn pick(passwd: &str, owner: Option<u32>) -> Option<Account> {
    owner
        .and_then(|uid| find(passwd, |account| account.uid == uid))
        .or_else(|| find(passwd, |account| account.name == OWN))
        .or_else(|| {
            OTHERS
                .iter()
                .filter(|name| **name != "nobody")
                .find_map(|name| find(passwd, |account| account.name == *name))
        })
}

fn find(passwd: &str, wanted: impl Fn(&Account) -> bool) -> Option<Account> {
    passwd
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?.to_owned();
            let uid = fields.nth(1)?.parse().ok()?;
            let gid = fields.next()?.parse().ok()?;
            Some(Account { name, uid, gid, dropped: true })
        })
        .find(|account| account.uid != 0 && wanted(account))
}

fn add_own_account() {
    let mut useradd = Command::new("useradd");
    useradd.args(["--system", "--no-create-home", "--home-dir", "/nonexistent"]);
    useradd.args(["--shell", "/usr/sbin/nologin", OWN]);
    match process::run(&mut useradd, None, USERADD_WITHIN) {
        Ok(done) if done.success => info!(account = OWN, "made a system account for Postgres"),
        Ok(done) => warn!(account = OWN, output = %done.output, "useradd failed, using nobody"),
        Err(error) => warn!(account = OWN, %error, "useradd cannot run, using nobody"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\n\
                          nobody:x:65534:65534::/:/usr/sbin/nologin\n\
                          postgres:x:101:104:,,,:/var/lib/postgresql:/bin/bash\n";

    fn named(passwd: &str, owner: Option<u32>) -> Option<String> {
        pick(passwd, owner).map(|account| account.name)
    }

    #[test]
    fn weirs_own_account_goes_before_the_distributions() {
        let with_own = format!("{PASSWD}weir:x:990:990::/nonexistent:/usr/sbin/nologin\n");
        assert_eq!(named(&with_own, None).as_deref(), Some("weir"));
        assert_eq!(named(PASSWD, None).as_deref(), Some("postgres"));
    }

    #[test]
    fn the_owner_of_an_existing_cluster_keeps_it() {
        assert_eq!(named(PASSWD, Some(65534)).as_deref(), Some("nobody"));
    }

    #[test]
    fn a_cluster_of_root_or_of_nobody_known_goes_to_the_usual_account() {
        assert_eq!(named(PASSWD, Some(0)).as_deref(), Some("postgres"));
        assert_eq!(named(PASSWD, Some(4242)).as_deref(), Some("postgres"));
    }

    #[test]
    fn nobody_is_not_taken_before_a_new_account_was_tried() {
        let bare = "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n";
        assert_eq!(named(bare, None), None);
    }
}
