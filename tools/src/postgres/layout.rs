//! The folders of a private cluster: `pgdata` and `run`, both 0700 and owned by who runs Postgres.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown, lchown,
};
use std::path::{Path, PathBuf};

use super::account::Account;
use super::fault::{Doing as _, PostgresFault};

/// What fits into a socket address, its final NUL apart (`sun_path`).
const SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Where one cluster lives.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The data directory, canonical: Postgres reports its own path in this form.
    pub(super) data_dir: PathBuf,
    pub(super) pgdata: PathBuf,
    pub(super) account: Account,
}

impl Layout {
    /// Makes the data directory if it is missing and decides who runs Postgres in it.
    pub(super) fn prepare(data_dir: &Path) -> Result<Self, PostgresFault> {
        make_way(data_dir).doing("make the data directory", data_dir)?;
        let data_dir = data_dir.canonicalize().doing("find the data directory", data_dir)?;
        let pgdata = data_dir.join("pgdata");
        let account = Account::choose(&pgdata)?;
        Ok(Self { data_dir, pgdata, account })
    }

    /// Opens the file whose lock says which Weir owns the cluster.
    pub(super) fn lock_file(&self) -> Result<File, PostgresFault> {
        let path = self.data_dir.join("owner.lock");
        let mut open = OpenOptions::new();
        open.create(true).truncate(false).write(true).mode(0o600);
        open.open(&path).doing("open the lock file", &path)
    }

    /// The socket folder for `port`, made if missing: `run`, or a short private one if the path
    /// would not fit into a socket address (or could not stand in Postgres' list of folders).
    pub(super) fn socket_dir(&self, port: u16) -> Result<PathBuf, PostgresFault> {
        let usual = self.data_dir.join("run");
        let dir = if fits(&usual, port) {
            usual
        } else {
            short_base().join(format!("weir-{:016x}", fnv1a(self.data_dir.as_os_str().as_bytes())))
        };
        self.make_private(&dir)?;
        Ok(dir)
    }

    /// Makes `dir` 0700 and owned by the account. A folder somebody else put there is refused:
    /// the short one lies where every user may write.
    pub(super) fn make_private(&self, dir: &Path) -> Result<(), PostgresFault> {
        match DirBuilder::new().mode(0o700).create(dir) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => {
                return Err(PostgresFault::Io { doing: "make", path: dir.to_owned(), source });
            }
        }
        let meta = fs::symlink_metadata(dir).doing("inspect", dir)?;
        let ours = [self.account.uid, rustix::process::geteuid().as_raw()].contains(&meta.uid());
        if !(meta.is_dir() && (ours || dir.starts_with(&self.data_dir))) {
            let source = io::Error::other("it is not a folder of this user");
            return Err(PostgresFault::Io { doing: "use", path: dir.to_owned(), source });
        }
        if self.account.dropped {
            let Account { uid, gid, .. } = self.account;
            lchown(dir, Some(uid), Some(gid)).doing("change the owner of", dir)?;
        }
        fs::set_permissions(dir, Permissions::from_mode(0o700)).doing("protect", dir)
    }

    /// Gives the cluster to the account if root or an account unknown here owns it, as happens
    /// when a volume moves between machines.
    pub(super) fn take_over(&self) -> Result<(), PostgresFault> {
        let owner = fs::symlink_metadata(&self.pgdata).doing("inspect", &self.pgdata)?.uid();
        if owner == self.account.uid {
            return Ok(());
        }
        if !self.account.dropped {
            let source = io::Error::other(format!("it belongs to uid {owner}"));
            let path = self.pgdata.clone();
            return Err(PostgresFault::Io { doing: "use", path, source });
        }
        chown_all(&self.pgdata, &self.account).doing("change the owner of", &self.pgdata)
    }

    /// Writes a file for the account, at once or not at all.
    ///
    /// The account can write in the same folder, and Weir may be root: the new file is made
    /// exclusively, so that a link laid there is never followed.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<(), PostgresFault> {
        let fresh = path.with_extension("new");
        let write = || {
            match fs::remove_file(&fresh) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
            file.write_all(text.as_bytes())?;
            if self.account.dropped {
                fchown(&file, Some(self.account.uid), Some(self.account.gid))?;
            }
            file.sync_all()?;
            fs::rename(&fresh, path)
        };
        write().doing("write", path)
    }
}

/// Where Weir keeps its data when nobody said otherwise.
///
/// Root's is not under its home, which no other account may enter.
#[expect(clippy::disallowed_methods, reason = "configuration is read here")]
pub(crate) fn default_data_dir() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/lib/weir");
    }
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("HOME").unwrap_or_else(env::temp_dir);
    if cfg!(target_os = "macos") {
        return home.join("Library/Application Support/weir");
    }
    absolute("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")).join("weir")
}

/// A folder with a short name, where sockets may lie.
#[expect(clippy::disallowed_methods, reason = "configuration is read here")]
fn short_base() -> PathBuf {
    // Root's XDG_RUNTIME_DIR is closed to the account that Postgres runs as.
    let runtime = if rustix::process::geteuid().is_root() {
        Some(PathBuf::from("/run"))
    } else {
        env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)
    };
    runtime
        .filter(|dir| dir.is_dir() && dir.as_os_str().len() < SOCKET_PATH_BYTES / 2)
        .unwrap_or_else(env::temp_dir)
}

fn fits(dir: &Path, port: u16) -> bool {
    let bytes = dir.as_os_str().as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._- ".contains(byte);
    bytes.iter().all(plain) && socket_in(dir, port).as_os_str().len() <= SOCKET_PATH_BYTES
}

/// The socket file Postgres makes in `dir` for `port`.
pub(super) fn socket_in(dir: &Path, port: u16) -> PathBuf {
    dir.join(format!(".s.PGSQL.{port}"))
}

/// Makes `dir` and what is missing above it. Made by root, others may pass but not look.
fn make_way(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(above) = dir.parent().filter(|above| !above.as_os_str().is_empty()) {
        make_way(above)?;
    }
    match fs::create_dir(dir) {
        Ok(()) => {
            let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
            fs::set_permissions(dir, Permissions::from_mode(mode))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

pub(super) fn chown_all(path: &Path, account: &Account) -> io::Result<()> {
    lchown(path, Some(account.uid), Some(account.gid))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            chown_all(&entry?.path(), account)?;
        }
    }
    Ok(())
}

/// FNV-1a: short, and the same in every build. Nothing secret hangs on it.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_path_may_fill_the_address_and_not_a_byte_more() {
        let name = "/.s.PGSQL.5432".len();
        let full = format!("/{}", "x".repeat(SOCKET_PATH_BYTES - name - 1));
        assert!(fits(Path::new(&full), 5432));
        assert!(!fits(Path::new(&full), 15432));
        assert!(!fits(Path::new("/a,b"), 5432));
        assert!(fits(Path::new("/Users/a/Library/Application Support/weir/run"), 5432));
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
