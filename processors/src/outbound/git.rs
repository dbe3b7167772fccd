//! Fetching from a git repository: the newest state of one branch, without its history, into a
//! folder without a working copy.
//!
//! Nothing of what is fetched becomes a file of its own: no link is followed, no hook or filter runs,
//! no name leads anywhere. The program is started without a shell and without the environment and
//! configuration of whoever started Weir; it speaks the one protocol of its address, asks nobody
//! anything, and is killed when it takes too long or too much room.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    str::FromStr,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, ChildStdout, Command},
};

use super::Url;

/// Where programs are, for git and the helpers it starts.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/usr/local/sbin:/usr/sbin:/sbin";
/// Where the fetched state is kept.
const KEPT: &str = "refs/weir/head";
/// How much of what git says about a failure is kept.
const MAX_WORDS: u64 = 4 << 10;
/// How often the room it takes is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long something that only looks at what is there may take.
const LOCAL_BOUND: Duration = Duration::from_secs(30);

/// The address of a repository: https, or a folder of this machine as `file:///…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitAddress {
    url: Url,
}

/// The text is no address that is fetched from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not the address of a repository: write https://… or file:///…, without a password"
)]
pub struct GitAddressFault(String);

impl FromStr for GitAddress {
    type Err = GitAddressFault;

    fn from_str(text: &str) -> Result<Self, GitAddressFault> {
        let fault = || GitAddressFault(text.chars().take(200).collect());
        let plain = text.bytes().all(|b| b.is_ascii_graphic()) && !text.starts_with('-');
        let url = Url::parse(text).ok().filter(|_| plain).ok_or_else(fault)?;
        let known = match url.scheme() {
            "https" => url.has_host(),
            "file" => !url.has_host() && text.starts_with("file:///"),
            _ => false,
        };
        let bare = url.username().is_empty() && url.password().is_none();
        if known && bare { Ok(Self { url }) } else { Err(fault()) }
    }
}

impl fmt::Display for GitAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

impl GitAddress {
    /// The address itself.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }
}

/// Git did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum GitFault {
    /// The program is not there, or cannot be started.
    #[error("could not start git (is it installed?)")]
    Start(#[source] io::Error),
    /// It could not fetch.
    #[error("could not fetch `{address}`: {words}")]
    Fetch {
        /// From where.
        address: String,
        /// What it said.
        words: String,
    },
    /// What was fetched cannot be read. It will be fetched anew.
    #[error("could not read what was fetched: {0}")]
    Local(String),
    /// It fetched more than it may.
    #[error("`{address}` is larger than {cap_bytes} bytes")]
    TooLarge {
        /// From where.
        address: String,
        /// The bound.
        cap_bytes: u64,
    },
}

impl GitFault {
    /// Whether trying again soon can help.
    #[must_use]
    pub fn passing(&self) -> bool {
        /// What git says where the answer will be the same next time.
        const FOR_GOOD: [&str; 6] = [
            "returned error: 40",
            "not found",
            "does not appear to be a git repository",
            "not allowed",
            "couldn't find remote ref",
            "certificate",
        ];
        match self {
            Self::Start(_) | Self::TooLarge { .. } => false,
            Self::Local(_) => true,
            Self::Fetch { words, .. } => {
                OURS.iter().any(|sign| words.contains(sign))
                    || !FOR_GOOD.iter().any(|sign| words.contains(sign))
            }
        }
    }
}

/// What git says where the trouble is in what was fetched before.
const OURS: [&str; 6] = [
    ".lock'",
    "fatal: not a git repository",
    "bad object",
    "corrupt",
    "loose object",
    "shallow file",
];

/// A repository as it was fetched last.
#[derive(Debug, Clone)]
pub struct Git {
    address: GitAddress,
    folder: PathBuf,
    cap_bytes: u64,
}

impl Git {
    /// A repository that is kept in a folder of its own.
    #[must_use]
    pub const fn new(address: GitAddress, folder: PathBuf, cap_bytes: u64) -> Self {
        Self { address, folder, cap_bytes }
    }

    /// Where it is fetched from.
    #[must_use]
    pub const fn address(&self) -> &GitAddress {
        &self.address
    }

    /// Fetches the newest state, and answers the id of its commit. What a crash left behind is thrown
    /// away and fetched anew.
    pub async fn fetch(&self) -> Result<String, GitFault> {
        let done = self.fetch_here().await;
        let broken = match &done {
            Ok(_) | Err(GitFault::Start(_)) => false,
            Err(GitFault::Local(_) | GitFault::TooLarge { .. }) => true,
            Err(GitFault::Fetch { words, .. }) => OURS.iter().any(|sign| words.contains(sign)),
        };
        if broken {
            self.forget().await;
        }
        done
    }

    /// Throws away what was fetched.
    pub async fn forget(&self) {
        // What cannot be removed fails the next fetch, with its own words.
        drop(tokio::fs::remove_dir_all(&self.folder).await);
    }

    async fn fetch_here(&self) -> Result<String, GitFault> {
        let there = tokio::fs::try_exists(self.folder.join("HEAD")).await.unwrap_or(false);
        if !there {
            let local = |fault: io::Error| GitFault::Local(fault.to_string());
            tokio::fs::create_dir_all(&self.folder).await.map_err(local)?;
            self.ask(&["init", "--quiet", "--bare"]).await?;
        }
        let mut command = self.command();
        command.args(["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"]);
        command.args(["--no-write-fetch-head", "--force", "--"]);
        command.arg(self.address.to_string()).arg(format!("+HEAD:{KEPT}"));
        let (status, words) = self.watched(command).await?;
        if !status.success() {
            return Err(GitFault::Fetch { address: self.address.to_string(), words });
        }
        let commit = self.ask(&["rev-parse", "--verify", "--quiet", KEPT]).await?;
        let commit = commit.trim();
        if !(40..=64).contains(&commit.len()) || !commit.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(GitFault::Local("the fetched state has no id".to_owned()));
        }
        Ok(commit.to_owned())
    }

    /// Names the files below some folders of a commit, one entry ended by a zero byte each.
    pub fn list(&self, commit: &str, folders: &[&str]) -> Result<Reading, GitFault> {
        let mut command = self.command();
        command.args(["ls-tree", "-r", "-z", "--full-tree", commit, "--"]).args(folders);
        Reading::of(command)
    }

    /// Gives the contents of objects whose ids are written to it, in that order.
    pub fn contents(&self) -> Result<Reading, GitFault> {
        let mut command = self.command();
        command.args(["cat-file", "--batch"]);
        Reading::of(command)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command
            .env_clear()
            .env("PATH", PATH)
            .env("LC_ALL", "C")
            .env("GIT_DIR", &self.folder)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_ALLOW_PROTOCOL", self.address.url.scheme())
            .current_dir(&self.folder)
            .kill_on_drop(true)
            .stdin(Stdio::null());
        for setting in [
            "core.hooksPath=/dev/null",
            "core.fsmonitor=false",
            "credential.helper=",
            "http.followRedirects=false",
            "http.lowSpeedLimit=1000",
            "http.lowSpeedTime=30",
            "fetch.fsckObjects=true",
            "gc.autoDetach=false",
            "maintenance.autoDetach=false",
            "gc.pruneExpire=now",
        ] {
            command.args(["-c", setting]);
        }
        command
    }

    /// What a local command prints.
    async fn ask(&self, arguments: &[&str]) -> Result<String, GitFault> {
        let mut command = self.command();
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(GitFault::Start)?;
        let whole = async {
            let (printed, words) =
                tokio::join!(some(child.stdout.take()), some(child.stderr.take()));
            (child.wait().await, printed, words)
        };
        let timed = tokio::time::timeout(LOCAL_BOUND, whole).await;
        let (status, printed, words) =
            timed.map_err(|_| GitFault::Local("git did not answer".to_owned()))?;
        match status {
            Ok(status) if status.success() => Ok(printed),
            Ok(_) => Err(GitFault::Local(words)),
            Err(fault) => Err(GitFault::Local(fault.to_string())),
        }
    }

    /// Runs a command to its end, as long as the folder stays small enough; what it said.
    async fn watched(&self, mut command: Command) -> Result<(ExitStatus, String), GitFault> {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(GitFault::Start)?;
        let stderr = child.stderr.take();
        let ended = async { tokio::join!(child.wait(), some(stderr)) };
        tokio::pin!(ended);
        loop {
            let look = tokio::time::timeout(LOOK, &mut ended).await;
            let (folder, cap_bytes) = (self.folder.clone(), self.cap_bytes);
            let size = tokio::task::spawn_blocking(move || size_of(&folder)).await;
            if size.unwrap_or(0) > cap_bytes {
                return Err(GitFault::TooLarge { address: self.address.to_string(), cap_bytes });
            }
            if let Ok((status, words)) = look {
                let status = status.map_err(|fault| GitFault::Local(fault.to_string()))?;
                return Ok((status, words));
            }
        }
    }
}

/// A running git whose output is read as it comes. Killed when dropped.
#[derive(Debug)]
pub struct Reading {
    /// The process, with its input still open.
    pub child: Child,
    /// What it prints.
    pub output: ChildStdout,
}

impl Reading {
    fn of(mut command: Command) -> Result<Self, GitFault> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(GitFault::Start)?;
        match child.stdout.take() {
            Some(output) => Ok(Self { child, output }),
            None => Err(GitFault::Local("git prints nothing".to_owned())),
        }
    }
}

/// The beginning of what a program prints, in one line; the rest is read and forgotten.
async fn some(output: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut output) = output else { return String::new() };
    let mut words = Vec::new();
    // What cannot be read was not said.
    drop((&mut output).take(MAX_WORDS).read_to_end(&mut words).await);
    drop(tokio::io::copy(&mut output, &mut tokio::io::sink()).await);
    String::from_utf8_lossy(&words).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The size of the files of a folder; links are not followed.
fn size_of(folder: &Path) -> u64 {
    let mut folders = vec![folder.to_owned()];
    let mut size = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => size += found.len(),
                Err(_) => {}
            }
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_folders_are_fetched_from() {
        for good in ["https://git.example/a/b.git", "file:///srv/mirror"] {
            assert_eq!(good.parse::<GitAddress>().unwrap().to_string(), good);
        }
        for bad in [
            "-u./payload",
            "--upload-pack=x",
            "http://git.example/a",
            "ssh://git.example/a",
            "git@git.example:a",
            "ext::sh -c x",
            "file://host/srv",
            "https://me:secret@git.example/a",
            "https://git.example/a b",
            "/srv/mirror",
            "",
        ] {
            assert!(bad.parse::<GitAddress>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_will_be_the_same_next_time_is_not_tried_again() {
        let fault = |words: &str| GitFault::Fetch { address: "x".into(), words: words.to_owned() };
        assert!(fault("fatal: unable to access: Could not resolve host: git.example").passing());
        assert!(fault("The requested URL returned error: 503").passing());
        assert!(fault("fatal: early EOF").passing());
        assert!(!fault("The requested URL returned error: 403").passing());
        assert!(!fault("fatal: '/x' does not appear to be a git repository").passing());
        assert!(!GitFault::Start(io::ErrorKind::NotFound.into()).passing());
    }
}
