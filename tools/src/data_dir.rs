//! The files of a data directory that are not Postgres': the pid file of a running Weir, the seal
//! key, the credentials of the first admin, the configuration.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use weir_log::seal::SealKey;

const PID: &str = "weir.pid";
const SEAL_KEY: &str = "seal.key";
const API_KEY: &str = "api.key";
const CREDENTIALS: &str = "credentials";
const OLD_CREDENTIALS: &str = "credentials.old";

/// How long those may hold the lock who only look.
const LOOKERS_WITHIN: Duration = Duration::from_millis(200);
const LOOK: Duration = Duration::from_millis(10);

/// A file of the data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataDirFault {
    #[error("could not {doing} `{}`", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    /// What is in the file is not what belongs there.
    #[error("`{}` does not hold {expected}", path.display())]
    Malformed { path: PathBuf, expected: &'static str },
    /// Another Weir runs with this data directory.
    #[error("a weir (process {pid}) runs already with this data directory, at {url}")]
    Runs { pid: u32, url: String },
}

/// The data directory of one Weir.
#[derive(Debug, Clone)]
pub(crate) struct DataDir(PathBuf);

/// What a running Weir says about itself in its pid file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) pid: u32,
    /// Where it answers; empty while it starts.
    pub(crate) url: String,
}

/// The pid file of this process; its lock ends with the process, however that ends.
#[derive(Debug)]
pub(crate) struct PidFile(File);

impl DataDir {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes the directory if it is missing; answers whether it was. Made by root, others may pass
    /// but not look: the account that runs Postgres must get through.
    pub(crate) fn make(&self) -> Result<bool, DataDirFault> {
        if self.0.is_dir() {
            return Ok(false);
        }
        let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
        let made = DirBuilder::new().recursive(true).mode(mode).create(&self.0);
        made.map(|()| true).map_err(|source| self.io("make", "", source))
    }

    /// Takes the pid file, unless another Weir has it.
    pub(crate) fn take_pid(&self) -> Result<PidFile, DataDirFault> {
        let fault = |source| self.io("lock", PID, source);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o644)
            .open(self.join(PID))
            .map_err(fault)?;
        let deadline = Instant::now() + LOOKERS_WITHIN;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                // Who looks whether a Weir runs holds the lock for a moment too.
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(LOOK),
                Err(TryLockError::WouldBlock) => {
                    let Running { pid, url } = self.read_pid().unwrap_or_default();
                    return Err(DataDirFault::Runs { pid, url });
                }
                Err(TryLockError::Error(source)) => return Err(fault(source)),
            }
        }
        let pid_file = PidFile(file);
        pid_file.say("").map_err(|source| self.io("write", PID, source))?;
        Ok(pid_file)
    }

    /// The Weir that runs with this directory, if one does.
    pub(crate) fn running(&self) -> Option<Running> {
        let file = File::open(self.join(PID)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => self.read_pid(),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }

    fn read_pid(&self) -> Option<Running> {
        serde_json::from_str(&fs::read_to_string(self.join(PID)).ok()?).ok()
    }

    /// The key that seals are signed with; made at the first start.
    pub(crate) fn seal_key(&self) -> Result<SealKey, DataDirFault> {
        Ok(SealKey::from_bytes(&self.key(SEAL_KEY)?))
    }

    /// The key that seals are signed with, if there is one.
    pub(crate) fn read_seal_key(&self) -> Result<Option<SealKey>, DataDirFault> {
        Ok(self.read_key(SEAL_KEY)?.map(|secret| SealKey::from_bytes(&secret)))
    }

    /// What the API signs cursors with; made at the first start.
    pub(crate) fn api_key(&self) -> Result<[u8; 32], DataDirFault> {
        self.key(API_KEY)
    }

    fn key(&self, name: &str) -> Result<[u8; 32], DataDirFault> {
        if let Some(key) = self.read_key(name)? {
            return Ok(key);
        }
        let secret: [u8; 32] = rand::random();
        match self.write_private(name, &format!("{}\n", hex::encode(secret))) {
            Ok(()) => Ok(secret),
            // Another process was first.
            Err(DataDirFault::Io { source, .. })
                if source.kind() == io::ErrorKind::AlreadyExists =>
            {
                self.read_key(name)?.ok_or_else(|| self.no_key(name))
            }
            Err(fault) => Err(fault),
        }
    }

    fn read_key(&self, name: &str) -> Result<Option<[u8; 32]>, DataDirFault> {
        let Some(text) = self.read(name)? else { return Ok(None) };
        let mut secret = [0; 32];
        hex::decode_to_slice(text.trim(), &mut secret).map_err(|_| self.no_key(name))?;
        Ok(Some(secret))
    }

    fn no_key(&self, name: &str) -> DataDirFault {
        let expected = "a key (64 hexadecimal digits)";
        DataDirFault::Malformed { path: self.join(name), expected }
    }

    /// Keeps the token that commands on this machine use.
    pub(crate) fn keep_credentials(&self, token: &str) -> Result<PathBuf, DataDirFault> {
        let path = self.join(CREDENTIALS);
        if path.exists() {
            // Of another log: it opens nothing here, but may be the only key to that one.
            fs::rename(&path, self.join(OLD_CREDENTIALS))
                .map_err(|source| self.io("replace", CREDENTIALS, source))?;
        }
        self.write_private(CREDENTIALS, &format!("{token}\n"))?;
        Ok(path)
    }

    /// The token that commands on this machine use, where this user may read it.
    pub(crate) fn credentials(&self) -> Option<String> {
        let text = fs::read_to_string(self.join(CREDENTIALS)).ok()?;
        Some(text.trim().to_owned()).filter(|token| !token.is_empty())
    }

    /// Writes a new file only this user may read, at once or not at all; never over another.
    fn write_private(&self, name: &str, text: &str) -> Result<(), DataDirFault> {
        let path = self.join(name);
        let write = || {
            let fresh = self.join(&format!("{name}.{}.new", std::process::id()));
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
            let written = file
                .write_all(text.as_bytes())
                .and_then(|()| file.sync_all())
                .and_then(|()| fs::hard_link(&fresh, &path));
            fs::remove_file(&fresh)?;
            written
        };
        write().map_err(|source| self.io("write", name, source))
    }

    fn read(&self, name: &str) -> Result<Option<String>, DataDirFault> {
        match fs::read_to_string(self.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.io("read", name, source)),
        }
    }

    fn io(&self, doing: &'static str, name: &str, source: io::Error) -> DataDirFault {
        let path = if name.is_empty() { self.0.clone() } else { self.join(name) };
        DataDirFault::Io { doing, path, source }
    }
}

impl Default for Running {
    fn default() -> Self {
        Self { pid: 0, url: "an address it has not said yet".to_owned() }
    }
}

impl PidFile {
    /// Says where this Weir answers.
    pub(crate) fn say(&self, url: &str) -> io::Result<()> {
        use std::os::unix::fs::FileExt as _;

        let running = Running { pid: std::process::id(), url: url.to_owned() };
        let text = serde_json::to_string(&running)? + "\n";
        self.0.set_len(0)?;
        self.0.write_all_at(text.as_bytes(), 0)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn fresh() -> (tempfile::TempDir, DataDir) {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::new(dir.path().join("data"));
        data_dir.make().unwrap();
        (dir, data_dir)
    }

    #[test]
    fn the_seal_key_is_made_once_and_closed_to_others() {
        let (_guard, data_dir) = fresh();
        assert!(data_dir.read_seal_key().unwrap().is_none());
        let key = data_dir.seal_key().unwrap().public();
        assert_eq!(data_dir.seal_key().unwrap().public(), key);
        assert_eq!(data_dir.read_seal_key().unwrap().unwrap().public(), key);
        assert_eq!(fs::metadata(data_dir.join(SEAL_KEY)).unwrap().mode() & 0o777, 0o600);
        fs::write(data_dir.join(SEAL_KEY), "short").unwrap();
        assert!(matches!(data_dir.seal_key(), Err(DataDirFault::Malformed { .. })));
    }

    #[test]
    fn only_one_weir_runs_in_a_directory() {
        let (_guard, data_dir) = fresh();
        assert_eq!(data_dir.running(), None);
        let first = data_dir.take_pid().unwrap();
        first.say("http://127.0.0.1:7400").unwrap();
        let running = data_dir.running().unwrap();
        assert_eq!((running.pid, &*running.url), (std::process::id(), "http://127.0.0.1:7400"));
        match data_dir.take_pid() {
            Err(DataDirFault::Runs { pid, url }) => {
                assert_eq!((pid, url), (running.pid, running.url));
            }
            other => panic!("{other:?}"),
        }
        drop(first);
        assert_eq!(data_dir.running(), None);
        assert!(data_dir.take_pid().is_ok());
    }

    #[test]
    fn credentials_are_for_the_owner_only() {
        let (_guard, data_dir) = fresh();
        assert_eq!(data_dir.credentials(), None);
        data_dir.keep_credentials("rf_1").unwrap();
        let path = data_dir.keep_credentials("rf_2").unwrap();
        assert_eq!(data_dir.credentials().as_deref(), Some("rf_2"));
        let old = fs::read_to_string(data_dir.join(OLD_CREDENTIALS)).unwrap();
        assert_eq!(old.trim(), "rf_1", "of another log, perhaps the only key to it");
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o600);
    }
}
