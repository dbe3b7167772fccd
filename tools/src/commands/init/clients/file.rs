//! A client's configuration on disk: read, written whole or not at all, its content of before kept
//! beside it.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Ends the name of the file that keeps what was there before.
const BACKUP: &str = ".before-weir";
/// A new file may come to hold a token.
const NEW_MODE: u32 = 0o600;

#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    /// What is in it; `None` when there is none.
    before: Option<String>,
}

impl File {
    /// Reads it. A link is followed: what it leads to is what is written.
    pub(super) fn read(path: PathBuf) -> Result<Self, String> {
        let path = fs::canonicalize(&path).unwrap_or(path);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self { path, before: Some(text) }),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                Ok(Self { path, before: None })
            }
            Err(fault) => Err(format!("could not read `{}`: {fault}", path.display())),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn text(&self) -> &str {
        self.before.as_deref().unwrap_or_default()
    }

    /// Where the content of before will be kept, if it is to be: what is there from an earlier time
    /// is older, and so nearer to what the owner wrote.
    pub(super) fn backup_to_make(&self) -> Option<PathBuf> {
        let backup = self.backup();
        (self.before.is_some() && !backup.exists()).then_some(backup)
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.file_name().map_or_else(OsString::new, OsString::from);
        name.push(BACKUP);
        self.path.with_file_name(name)
    }

    /// Keeps the content of before.
    pub(super) fn keep_old(&self) -> io::Result<()> {
        match self.backup_to_make() {
            Some(backup) => write(&backup, self.text(), self.permissions()),
            None => Ok(()),
        }
    }

    pub(super) fn write(&self, text: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        write(&self.path, text, self.permissions())
    }

    /// Writes what is left without our lines; the very bytes of before where nothing else changed. A
    /// file that held nothing else goes.
    pub(super) fn restore(&self, left: &str) -> io::Result<()> {
        let backup = self.backup();
        match fs::read_to_string(&backup) {
            Ok(old) if old.trim_end_matches('\n') == left.trim_end_matches('\n') => {
                self.write(&old)?;
                fs::remove_file(&backup)
            }
            // Changed since by its owner, so both are kept.
            Ok(_) => self.write(left),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound && left.is_empty() => {
                fs::remove_file(&self.path)
            }
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => self.write(left),
            Err(fault) => Err(fault),
        }
    }

    fn permissions(&self) -> Permissions {
        let known = fs::metadata(&self.path).map(|known| known.permissions());
        known.unwrap_or_else(|_| Permissions::from_mode(NEW_MODE))
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str, permissions: Permissions) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut staged = tempfile::NamedTempFile::new_in(folder)?;
    staged.write_all(text.as_bytes())?;
    staged.as_file().set_permissions(permissions)?;
    staged.as_file().sync_all()?;
    staged.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_old_content_is_kept_once_and_comes_back_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, "a = 1").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let file = File::read(path.clone()).unwrap();
        file.keep_old().unwrap();
        file.write("a = 1\nours\n").unwrap();
        let again = File::read(path.clone()).unwrap();
        assert_eq!(again.backup_to_make(), None);
        again.keep_old().unwrap();
        again.write("a = 1\nours, newer\n").unwrap();
        let backup = folder.path().join("config.toml.before-weir");
        assert_eq!(fs::read_to_string(&backup).unwrap(), "a = 1");
        assert_eq!((mode(&path), mode(&backup)), (0o640, 0o640));
        File::read(path.clone()).unwrap().restore("a = 1\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a = 1");
        assert!(!backup.exists());
    }

    #[test]
    fn what_its_owner_changed_since_is_kept_beside_the_old_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".npmrc");
        fs::write(&path, "a=1\n").unwrap();
        File::read(path.clone()).unwrap().keep_old().unwrap();
        File::read(path.clone()).unwrap().restore("a=2\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a=2\n");
        assert_eq!(fs::read_to_string(folder.path().join(".npmrc.before-weir")).unwrap(), "a=1\n");
    }

    #[test]
    fn a_file_that_was_not_there_is_for_its_owner_only_and_goes_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/.npmrc");
        let file = File::read(path.clone()).unwrap();
        assert_eq!((file.text(), file.backup_to_make()), ("", None));
        file.keep_old().unwrap();
        file.write("ours\n").unwrap();
        assert_eq!(mode(&path), 0o600);
        file.restore("").unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "a\n").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        File::read(link.clone()).unwrap().write("b\n").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "b\n");
    }
}
