//! What a crash can leave behind, and its removal: half-written files of processes that are gone,
//! bodies without description, descriptions without body, sizes that do not fit.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use tempfile::{NamedTempFile, TempDir};
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::{
    CacheKey, META_SUFFIX, Meta,
    files::{described, read_meta, remove},
};

const LOCK: &str = "lock";

/// What was removed when a cache was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repair {
    /// Files half written by processes that are gone.
    pub n_abandoned: u64,
    /// Artifacts that were not whole.
    pub n_incomplete: u64,
}

impl Repair {
    /// All of it.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.n_abandoned + self.n_incomplete
    }
}

pub(super) fn files(root: &Path) -> PathBuf {
    root.join("files")
}

/// Where this process writes what is not finished: a directory of its own, locked while the process
/// lives, so that others can tell what is abandoned.
#[derive(Debug)]
pub(super) struct Workshop {
    directory: TempDir,
    /// Holds the lock.
    _lock: File,
    pub(super) n_abandoned: u64,
}

impl Workshop {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let all = root.join("tmp");
        fs::create_dir_all(&all)?;
        fs::create_dir_all(files(root))?;
        // One process at a time may look around or move in.
        let door = File::create(all.join(LOCK))?;
        door.lock()?;
        let mut n_abandoned = 0;
        for entry in fs::read_dir(&all)? {
            let path = entry?.path();
            if path.is_dir() && abandoned(&path) {
                n_abandoned += fs::read_dir(&path)?.count().saturating_sub(1) as u64;
                fs::remove_dir_all(&path)?;
            }
        }
        let directory = tempfile::Builder::new().prefix("weir-").tempdir_in(&all)?;
        let lock = File::create(directory.path().join(LOCK))?;
        lock.lock()?;
        Ok(Self { directory, _lock: lock, n_abandoned })
    }

    pub(super) fn stage(&self) -> io::Result<NamedTempFile> {
        NamedTempFile::new_in(self.directory.path())
    }
}

/// Held by who puts a body and its description into their places, or takes them away: together they
/// are what was verified, also for other processes that share the tree.
pub(super) fn changing(root: &Path) -> io::Result<File> {
    let lock = lock_file(root)?;
    lock.lock()?;
    Ok(lock)
}

/// Held by who looks at both.
pub(super) fn looking(root: &Path) -> io::Result<File> {
    let lock = lock_file(root)?;
    lock.lock_shared()?;
    Ok(lock)
}

fn lock_file(root: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(root.join(LOCK))
}

fn abandoned(workshop: &Path) -> bool {
    File::open(workshop.join(LOCK)).map_or(true, |lock| lock.try_lock().is_ok())
}

/// Finds what is whole, the oldest first, and removes what is not.
pub(super) fn scan(root: &Path) -> io::Result<(Aged, Repair)> {
    let mut found = Vec::new();
    let mut repair = Repair::default();
    each(root, |ecosystem, path, name| {
        if let Some(of) = name.strip_suffix(META_SUFFIX) {
            let body = path.with_file_name(of);
            if !body.exists() {
                let _changing = changing(root)?;
                // Its body may have come meanwhile.
                if !body.exists() {
                    repair.n_incomplete += u64::from(remove(path)?);
                }
            }
            return Ok(());
        }
        let mut here = whole(ecosystem, path);
        if here.is_none() {
            let _changing = changing(root)?;
            here = whole(ecosystem, path);
            if here.is_none() {
                repair.n_incomplete += u64::from(remove(path)?);
                remove(&described(path))?;
            }
        }
        found.extend(here);
        Ok(())
    })?;
    Ok((by_age(found), repair))
}

/// Finds what is whole and not known in its size, the oldest first; says which keys are there.
pub(super) fn news(
    root: &Path,
    known: impl Fn(&CacheKey) -> Option<u64>,
) -> io::Result<(Aged, HashSet<CacheKey>)> {
    let (mut found, mut there) = (Vec::new(), HashSet::new());
    each(root, |ecosystem, path, name| {
        let key = Some(name).filter(|name| !name.ends_with(META_SUFFIX));
        let Some(key) = key.and_then(|_| key_of(ecosystem, path)) else { return Ok(()) };
        let size = fs::metadata(path).ok().map(|body| body.len());
        if size.is_none() || size != known(&key) {
            found.extend(whole(ecosystem, path));
        }
        there.insert(key);
        Ok(())
    })?;
    Ok((by_age(found), there))
}

type Found = (SystemTime, CacheKey, Meta);

/// The oldest first.
type Aged = Vec<(CacheKey, Meta)>;

fn by_age(mut found: Vec<Found>) -> Aged {
    found.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    found.into_iter().map(|(_, key, meta)| (key, meta)).collect()
}

/// Shows every file with its name.
fn each(
    root: &Path,
    mut show: impl FnMut(Ecosystem, &Path, &str) -> io::Result<()>,
) -> io::Result<()> {
    for ecosystem in Ecosystem::ALL {
        for package in entries(&files(root).join(ecosystem.as_str()))? {
            for path in entries(&package)? {
                if let Some(name) = path.file_name().and_then(OsStr::to_str) {
                    show(ecosystem, &path, name)?;
                }
            }
        }
    }
    Ok(())
}

fn key_of(ecosystem: Ecosystem, path: &Path) -> Option<CacheKey> {
    let package = path.parent()?.file_name()?.to_str()?;
    CacheKey::at(ecosystem, package, path.file_name()?.to_str()?)
}

fn whole(ecosystem: Ecosystem, path: &Path) -> Option<Found> {
    let key = key_of(ecosystem, path)?;
    let meta = read_meta(&described(path))?;
    let body = path.metadata().ok()?;
    (body.is_file() && body.len() == meta.size).then_some((body.modified().ok()?, key, meta))
}

/// When an artifact was used last: when its body says that it was changed.
pub(super) fn used_at(known: &fs::Metadata) -> io::Result<Timestamp> {
    let since = known.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
}

/// A moment as files have it.
pub(super) fn moment(at: Timestamp) -> SystemTime {
    let since = Duration::from_micros(u64::try_from(at.micros()).unwrap_or(0));
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(fault)
            if matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        Err(fault) => Err(fault),
    }
}
