//! Whether a zip is that of a module's version, and what it holds.
//!
//! Follows the Go Modules Reference, "Module zip files", and `dirhash.Hash1` for what a checksum
//! database promises.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read as _},
};

use sha2::{Digest as _, Sha256};
use zip::{ZipArchive, result::ZipError};

use crate::registry::zip_end::{ENTRY_BYTES, End, EndFault};

/// How large a zip may be, as the go command has it.
pub const MAX_ZIP_BYTES: u64 = 500 << 20;

/// The most a zip may hold, as the go command has it.
const MAX_UNPACKED_BYTES: u64 = 500 << 20;

/// The most files a zip may hold.
const MAX_FILES: u64 = 100_000;

/// How large its directory may be: all of it is read at once.
const MAX_DIRECTORY_BYTES: u64 = 64 << 20;

/// The zip is not that of this version.
#[derive(Debug, thiserror::Error)]
pub enum ZipFault {
    /// It cannot be read.
    #[error("it is no zip: {0}")]
    Unreadable(String),
    /// What it says of itself does not fit together, or is more than it may be.
    #[error("it is not opened: {0}")]
    Suspect(String),
    /// A file in it lies elsewhere than it must.
    #[error("it holds `{0}`, which is no file of this version")]
    Foreign(String),
    /// It holds one file twice.
    #[error("it holds `{0}` twice")]
    Twice(String),
    /// It holds more than a module may.
    #[error("it holds more than {MAX_FILES} files or {MAX_UNPACKED_BYTES} bytes")]
    TooLarge,
    /// The place for files does not work.
    #[error("could not read what was received")]
    Disk(#[source] io::Error),
}

/// The `h1` of what a zip holds, all of it below `prefix` (`module@version/`).
pub fn hash(file: &File, prefix: &str) -> Result<[u8; 32], ZipFault> {
    check(file)?;
    let file = file.try_clone().map_err(ZipFault::Disk)?;
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(|fault| of(&fault))?;
    // As was looked at before; but who opens it has found its end in a way of its own.
    if archive.len() as u64 > MAX_FILES {
        return Err(ZipFault::TooLarge);
    }
    let (mut sums, mut n_bytes) = (BTreeMap::new(), 0);
    for at in 0..archive.len() {
        let entry = archive.by_index(at).map_err(|fault| of(&fault))?;
        let name = entry.name().map_err(|fault| of(&fault))?.into_owned();
        let shown = || name.chars().take(120).collect::<String>();
        let inside = name.strip_prefix(prefix).ok_or_else(|| ZipFault::Foreign(shown()))?;
        let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        let inside = inside.strip_suffix('/').unwrap_or(inside);
        if !inside.split('/').all(plain) || name.contains(['\\', '\n', '\0']) || entry.is_symlink()
        {
            return Err(ZipFault::Foreign(shown()));
        }
        let mut hasher = Sha256::new();
        // What a zip says of itself is not believed: it is counted.
        let mut rest = entry.take(MAX_UNPACKED_BYTES - n_bytes + 1);
        n_bytes += io::copy(&mut rest, &mut Into(&mut hasher))
            .map_err(|fault| ZipFault::Unreadable(fault.to_string()))?;
        if n_bytes > MAX_UNPACKED_BYTES {
            return Err(ZipFault::TooLarge);
        }
        let shown = shown();
        if sums.insert(name, hasher.finalize()).is_some() {
            return Err(ZipFault::Twice(shown));
        }
    }
    let mut hasher = Sha256::new();
    for (name, sum) in sums {
        hasher.update(format!("{}  {name}\n", hex::encode(sum)));
    }
    Ok(hasher.finalize().into())
}

/// Refuses what makes memory for more than is there, or for more than may be, before it is opened.
fn check(file: &File) -> Result<(), ZipFault> {
    let length = file.metadata().map_err(ZipFault::Disk)?.len();
    let unreadable = |fault| match fault {
        EndFault::Io(fault) => ZipFault::Disk(fault),
        EndFault::Malformed(what) => ZipFault::Unreadable(what.to_owned()),
    };
    let end = End::of(file, length).map_err(unreadable)?;
    let End { directory_bytes, n_entries, is_plain, .. } = end;
    let why = if n_entries > MAX_FILES {
        format!("it says that it holds {n_entries} files, {MAX_FILES} are read at most")
    } else if directory_bytes > MAX_DIRECTORY_BYTES {
        format!("a directory of {directory_bytes} bytes, {MAX_DIRECTORY_BYTES} are read at most")
    } else if n_entries * ENTRY_BYTES > directory_bytes {
        format!("a directory of {directory_bytes} bytes does not have {n_entries} entries")
    } else if !is_plain {
        "its directory does not end where its end begins, or it has several".to_owned()
    } else if !end.begins(file).map_err(unreadable)? {
        "its directory does not begin where its end says".to_owned()
    } else {
        return Ok(());
    };
    Err(ZipFault::Suspect(why))
}

fn of(fault: &ZipError) -> ZipFault {
    ZipFault::Unreadable(fault.to_string())
}

/// Bytes on their way into a hash.
struct Into<'a>(&'a mut Sha256);

impl io::Write for Into<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
