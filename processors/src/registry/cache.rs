//! Where verified artifacts are kept. What lies here fitted the hash that its index promised; who
//! takes it out still asks the rules first.

mod census;
mod checked;
mod evicted;
mod files;
mod purge;
pub mod redis;
mod repair;
mod unflushed;

use std::{borrow::Cow, collections::HashSet, fs::File, io, sync::Arc};

pub use census::{Census, Forgotten, Kept};
pub use evicted::{Evicted, Evictions};
pub use files::FileCache;
pub use purge::{Purge, Purged};
pub use redis::RedisCache;
pub use repair::Repair;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use weir_aggregates::registry::{
    name::go::{escape_go, unescape_go},
    version::Version,
};
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::{npm, pypi::filename};

/// What an artifact is found by. Each part is safe as the name of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheKey {
    ecosystem: Ecosystem,
    package: Box<str>,
    file: Box<str>,
}

/// What stands for `/` in the name of a package's folder: `@types%2fnode`.
const SLASH: &str = "%2f";

fn folder(package: &str) -> String {
    package.replace('/', SLASH)
}

/// How a part of a key is spelt on disk. Modules of Go that differ in case are different ones, which
/// some disks do not tell apart.
fn spelt(ecosystem: Ecosystem, text: &str) -> Option<Cow<'_, str>> {
    match ecosystem {
        Ecosystem::Go => escape_go(text).map(Cow::Owned),
        Ecosystem::Pypi | Ecosystem::Npm | Ecosystem::Cargo | Ecosystem::Docker => {
            Some(Cow::Borrowed(text))
        }
    }
}

/// What ends the name of the description beside each artifact.
const META_SUFFIX: &str = ".meta.json";

impl CacheKey {
    /// Checks the parts: nothing hidden, nothing that leads elsewhere, nothing that could be taken
    /// for a description. Only the name of a package has parts itself, with `/` between them.
    #[must_use]
    pub fn new(ecosystem: Ecosystem, package: &str, file: &str) -> Option<Self> {
        let (spelt_package, spelt_file) = (spelt(ecosystem, package)?, spelt(ecosystem, file)?);
        let plain = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.bytes().all(|b| b.is_ascii_graphic() && !b"/\\:*?\"<>|%".contains(&b))
        };
        let package_is = package.split('/').all(plain) && folder(&spelt_package).len() <= 240;
        let file_is = plain(file) && spelt_file.len() <= 240 && !file.ends_with(META_SUFFIX);
        (package_is && file_is).then(|| Self {
            ecosystem,
            package: package.into(),
            file: file.into(),
        })
    }

    /// The folder of its package, and the name of its file there.
    fn place(&self) -> (String, String) {
        // What has no spelling is no key.
        let spelt = |text| spelt(self.ecosystem, text).unwrap_or_default();
        (folder(&spelt(&self.package)), spelt(&self.file).into_owned())
    }

    /// What lies in a folder under a name.
    fn at(ecosystem: Ecosystem, folder: &str, file: &str) -> Option<Self> {
        let package = folder.replace(SLASH, "/");
        match ecosystem {
            Ecosystem::Go => Self::new(ecosystem, &unescape_go(&package)?, &unescape_go(file)?),
            Ecosystem::Pypi | Ecosystem::Npm | Ecosystem::Cargo | Ecosystem::Docker => {
                Self::new(ecosystem, &package, file)
            }
        }
    }

    /// Where a file lies that a decision let through, by what the log says of it. An ecosystem whose
    /// names have several spellings keeps a file under the one it was asked for by, which the file's
    /// own name tells; of a Go module, only the zip is kept.
    #[must_use]
    pub fn of_download(
        ecosystem: Ecosystem,
        package: &str,
        version: &str,
        file: &str,
    ) -> Option<Self> {
        match ecosystem {
            Ecosystem::Pypi | Ecosystem::Npm => Self::new(ecosystem, package, file),
            Ecosystem::Cargo => {
                let file = file.to_ascii_lowercase();
                let behind = format!("-{}.crate", version.to_ascii_lowercase());
                Self::new(ecosystem, file.strip_suffix(&behind)?, &file)
            }
            Ecosystem::Go => {
                let zip = file.strip_suffix(".zip").is_some();
                if zip { Self::new(ecosystem, package, file) } else { None }
            }
            Ecosystem::Docker => Self::new(ecosystem, package, &file.replace(':', "-")),
        }
    }

    /// The version that the file's name tells. Of an image it is a digest: one file may lie behind
    /// many tags.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        let (ecosystem, file) = (self.ecosystem, &*self.file);
        let text = match ecosystem {
            Ecosystem::Pypi => {
                let project = filename::Project::new(&self.package)?;
                return filename::Filename::new(file)?.version(&project);
            }
            Ecosystem::Npm => npm::name::usual_version(&self.package, file)?.into(),
            Ecosystem::Cargo => {
                let behind = file.strip_prefix(&*self.package)?.strip_prefix('-')?;
                behind.strip_suffix(".crate")?.into()
            }
            Ecosystem::Go => file.strip_suffix(".zip")?.into(),
            Ecosystem::Docker => Cow::from(file.replacen('-', ":", 1)),
        };
        Some(Version::parse(ecosystem, &text))
    }

    /// The ecosystem.
    #[must_use]
    pub const fn ecosystem(&self) -> Ecosystem {
        self.ecosystem
    }

    /// The package.
    #[must_use]
    pub fn package(&self) -> &str {
        &self.package
    }

    /// The file's name.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }
}

/// What is known of a kept artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256, hexadecimal.
    pub sha256: String,
    /// The other hash that it was verified by, where its index promised no SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    /// How long it may be kept after it was used last, in seconds; without it, as long as there is
    /// room.
    pub ttl: Option<u64>,
    /// When it began to be fetched.
    pub created_at: Timestamp,
    /// The validator its upstream gave.
    pub etag: Option<String>,
    /// Its media type.
    pub content_type: String,
}

impl Meta {
    /// Whether it was kept long enough, by when it was used last. What has a digest for a name does not
    /// go bad: it is what nobody asks for that makes room.
    #[must_use]
    pub fn expired_at(&self, used_at: Timestamp, now: Timestamp) -> bool {
        let ttl = self.ttl.map(|ttl| i64::try_from(ttl).unwrap_or(i64::MAX));
        ttl.is_some_and(|ttl| self.created_at.max(used_at).plus_seconds(ttl) <= now)
    }
}

/// A kept artifact, open for reading. It stays readable when the cache forgets it.
#[derive(Debug, Clone)]
pub struct Cached {
    /// What is known of it.
    pub meta: Meta,
    /// When it was used last, as far as that was noted.
    pub used_at: Timestamp,
    /// Its bytes.
    pub file: Arc<File>,
}

/// A kept artifact as it was found.
#[derive(Debug)]
pub enum Looked {
    /// Its bytes are what its description says.
    Right(Cached),
    /// Whether they are nobody has looked at yet.
    Unhashed(Unhashed),
}

/// A kept artifact whose bytes may be anything: [`ArtifactCache::verify`] tells.
#[derive(Debug)]
pub struct Unhashed(Cached);

impl Looked {
    /// What its description says.
    #[must_use]
    pub const fn meta(&self) -> &Meta {
        match self {
            Self::Right(cached) | Self::Unhashed(Unhashed(cached)) => &cached.meta,
        }
    }
}

impl Unhashed {
    /// What its description says.
    #[must_use]
    pub const fn meta(&self) -> &Meta {
        &self.0.meta
    }

    /// Its bytes, for whoever holds back the last of them until they are known to be right.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.0.file)
    }
}

impl Cached {
    /// Whether a use now is worth a note: a few in the time that it may be kept are enough.
    #[must_use]
    pub fn is_worth_a_note(&self, now: Timestamp) -> bool {
        let ttl = self.meta.ttl.map(|ttl| i64::try_from(ttl / 24).unwrap_or(i64::MAX));
        ttl.is_some_and(|some| self.used_at.plus_seconds(some) < now)
    }
}

/// How full a cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CacheStats {
    /// How many artifacts it keeps.
    pub entries: u64,
    /// Their size in bytes.
    pub size_bytes: u64,
    /// How much it may keep.
    pub max_bytes: u64,
}

/// An artifact on its way into a cache.
#[derive(Debug)]
pub struct Artifact {
    /// Its bytes, written and verified, in a file of the cache's own place.
    pub staged: NamedTempFile,
    /// What is known of it.
    pub meta: Meta,
}

/// A place where something of a registry is kept: files on a disk ([`FileCache`]), lists of versions
/// in a Redis ([`RedisCache`]). What all of them keep to is in one suite, which all of them run.
pub trait CachePlugin: Send + Sync + 'static {
    /// What something is found by.
    type Key: Clone + Send + Sync + 'static;
    /// What is given to be kept.
    type Entry: Send + 'static;
    /// What is found again.
    type Found: Send + 'static;

    /// What is kept under a key, if it is here and whole.
    fn get(&self, key: &Self::Key) -> impl Future<Output = io::Result<Option<Self::Found>>> + Send;

    /// Keeps an entry, which replaces what had its key. From the moment it can be found it is whole.
    /// `false` when it was purged while it was on its way, or is too large: then it is not kept.
    fn set(
        &self,
        key: Self::Key,
        entry: Self::Entry,
    ) -> impl Future<Output = io::Result<bool>> + Send;

    /// Forgets what is kept under a key; says whether it was there.
    fn delete(&self, key: &Self::Key) -> impl Future<Output = io::Result<bool>> + Send;

    /// How full it is, as far as this process knows.
    fn stats(&self) -> CacheStats;

    /// Forgets what these purges mean and what began to be fetched before them, also what of it is
    /// still on its way. Who reads one of the files reads on to its end.
    fn purge(&self, purges: Vec<Purge>) -> impl Future<Output = io::Result<Purged>> + Send;

    /// Forgets what was kept long enough; says how much that was.
    fn purge_expired(&self, now: Timestamp) -> impl Future<Output = io::Result<u64>> + Send;
}

/// A place for verified artifacts.
pub trait ArtifactCache: CachePlugin<Key = CacheKey, Entry = Artifact, Found = Cached> {
    /// Of these artifacts, those that are here. Looking does not count as use: what an operator only
    /// asks after is forgotten no later for it.
    fn held(
        &self,
        keys: Vec<CacheKey>,
    ) -> impl Future<Output = io::Result<HashSet<CacheKey>>> + Send;

    /// What is kept under a key, by its description: nothing is hashed for that.
    fn look(&self, key: &CacheKey) -> impl Future<Output = io::Result<Option<Looked>>> + Send;

    /// Hashes what was found; `hashed` hears how many bytes that are so far. What is not what it was is
    /// forgotten, and answered by nothing.
    fn verify(
        &self,
        key: &CacheKey,
        found: Unhashed,
        hashed: impl FnMut(u64) + Send,
    ) -> impl Future<Output = io::Result<Option<Cached>>> + Send;

    /// A new file in the cache's own place: written to, verified, and then given to
    /// [`CachePlugin::set`], or dropped and gone.
    fn stage(&self) -> impl Future<Output = io::Result<NamedTempFile>> + Send;

    /// Notes that an artifact was used just now: it may be kept so long again.
    fn used(&self, cached: &Cached, now: Timestamp) -> impl Future<Output = io::Result<()>> + Send;

    /// Forgets what was kept long enough, but for some ecosystems: what cannot be fetched again stays.
    /// Says how much that was.
    fn expire(
        &self,
        now: Timestamp,
        spared: Vec<Ecosystem>,
    ) -> impl Future<Output = io::Result<u64>> + Send;

    /// What it keeps of each ecosystem, also what other processes put there that share it.
    fn census(&self) -> impl Future<Output = io::Result<Census>> + Send;
}
