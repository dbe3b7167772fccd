//! The cache as a readable tree: `files/pypi/six/six-1.16.0.tar.gz`, its description beside it.
//!
//! A file is written under `tmp` and renamed: the rename of the body is the moment it is there. Nobody
//! waits for the disk, for whoever wants a file waits for that: what a power cut takes of it is fetched
//! again, since a body that this process did not write itself is hashed before the last of it is served
//! ([`Checked`]), and a description that cannot be read is none. What this process wrote it has flushed
//! a little later ([`FileCache::flush`]): what the disk could not take is forgotten. What was hashed once
//! is trusted until the process ends, or another file lies in its place. Several processes may share a
//! tree: what one of them kept, the others find on disk. A lock keeps a body and its description
//! together, whoever replaces them at the same time.

use std::{
    collections::HashSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tempfile::NamedTempFile;
use tracing::warn;
use weir_events::{
    registry::{Ecosystem, EvictionCause},
    timestamp::Timestamp,
};

use super::{
    Artifact, ArtifactCache, CacheKey, CachePlugin, CacheStats, Cached, Census, Evicted, Evictions,
    Looked, META_SUFFIX, Meta, Purge, Purged, Unhashed,
    census::Oblivion,
    checked::{Checked, Print},
    evicted::Teller,
    purge::{FILES_WATCHED_SECONDS, Watch},
    repair::{self, Repair, Workshop},
    unflushed::Unflushed,
};
use crate::registry::lru::Lru;

/// How long a comparison of the index with the disk is as good as new.
const COMPARED_FOR: Duration = Duration::from_secs(2);

/// Artifacts in a directory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FileCache(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    max_bytes: u64,
    index: Mutex<Lru<CacheKey, Meta>>,
    workshop: Workshop,
    teller: Teller,
    forgotten: Oblivion,
    watch: Watch,
    checked: Checked,
    unflushed: Unflushed,
    /// When the index was last compared with the disk; held while it is, and while room is made.
    compared: Mutex<Option<Instant>>,
}

impl FileCache {
    /// Opens a directory, makes it if it is missing, and repairs what a crash left in it.
    pub async fn open(root: PathBuf, max_bytes: u64) -> io::Result<(Self, Repair)> {
        blocking(move || {
            let workshop = Workshop::open(&root)?;
            let (found, mut repair) = repair::scan(&root)?;
            repair.n_abandoned = workshop.n_abandoned;
            let mut index = Lru::new(max_bytes);
            let mut evicted = Vec::new();
            for (key, meta) in found {
                let size = meta.size;
                evicted.extend(index.put(key, meta, size));
            }
            let mut gone = Vec::new();
            for (key, meta) in evicted {
                if unlink(&root, &key)? {
                    gone.push(Evicted { key, meta, cause: EvictionCause::Lru });
                }
            }
            let inner = Inner {
                root,
                max_bytes,
                index: Mutex::new(index),
                workshop,
                teller: Teller::new(gone),
                forgotten: Oblivion::default(),
                watch: Watch::new(FILES_WATCHED_SECONDS),
                checked: Checked::default(),
                unflushed: Unflushed::default(),
                compared: Mutex::default(),
            };
            Ok((Self(Arc::new(inner)), repair))
        })
        .await
    }

    /// What this process forgets from now on, and what there was no room for when it was opened.
    /// To be kept up with: who forgets waits for whoever asked for this.
    pub fn evictions(&self) -> Evictions {
        self.0.teller.listen()
    }

    /// Waits until something was kept that may not have reached the disk yet. For one listener.
    pub async fn unflushed(&self) {
        self.0.unflushed.any().await;
    }

    /// Has the disk take what was kept, one file at a time; forgets what it cannot take.
    pub async fn flush(&self) {
        self.flush_by(File::sync_data).await;
    }

    async fn flush_by(&self, sync: fn(&File) -> io::Result<()>) {
        while let Some((key, print)) = self.0.unflushed.next() {
            if let Err(fault) = self.with(move |inner| inner.flush(&key, print, sync)).await {
                warn!(error = %fault, "a kept file could not be looked at to be flushed");
            }
        }
    }

    /// Trusts nothing any more, as after a start.
    #[cfg(test)]
    pub(crate) fn forget_trust(&self) {
        self.0.checked.forget_all();
    }

    /// A permit for each piece that is hashed at once; whoever waits for one holds these.
    #[cfg(test)]
    pub(crate) fn turns(&self) -> Arc<tokio::sync::Semaphore> {
        self.0.checked.turns()
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let inner = Arc::clone(&self.0);
        blocking(move || work(&inner)).await
    }
}

impl CachePlugin for FileCache {
    type Key = CacheKey;
    type Entry = Artifact;
    type Found = Cached;

    async fn get(&self, key: &CacheKey) -> io::Result<Option<Cached>> {
        match self.look(key).await? {
            Some(Looked::Right(cached)) => Ok(Some(cached)),
            Some(Looked::Unhashed(found)) => self.verify(key, found, |_| {}).await,
            None => Ok(None),
        }
    }

    async fn set(&self, key: CacheKey, artifact: Artifact) -> io::Result<bool> {
        let Artifact { staged, meta } = artifact;
        self.with(move |inner| inner.set(&key, staged, meta)).await
    }

    async fn delete(&self, key: &CacheKey) -> io::Result<bool> {
        let key = key.clone();
        self.with(move |inner| {
            let meta = inner.index().remove(&key);
            let meta = meta.or_else(|| read_meta(&described(&inner.body(&key))));
            inner.evict(&key, meta, EvictionCause::Purged)
        })
        .await
    }

    fn stats(&self) -> CacheStats {
        let index = self.0.index();
        CacheStats {
            entries: index.len() as u64,
            size_bytes: index.weight(),
            max_bytes: self.0.max_bytes,
        }
    }

    async fn purge(&self, purges: Vec<Purge>) -> io::Result<Purged> {
        self.with(move |inner| inner.purge(&purges)).await
    }

    async fn purge_expired(&self, now: Timestamp) -> io::Result<u64> {
        self.expire(now, Vec::new()).await
    }
}

impl ArtifactCache for FileCache {
    async fn held(&self, keys: Vec<CacheKey>) -> io::Result<HashSet<CacheKey>> {
        self.with(move |inner| Ok(keys.into_iter().filter(|key| inner.holds(key)).collect())).await
    }

    async fn look(&self, key: &CacheKey) -> io::Result<Option<Looked>> {
        let key = key.clone();
        self.with(move |inner| inner.look(&key)).await
    }

    async fn verify(
        &self,
        key: &CacheKey,
        Unhashed(cached): Unhashed,
        hashed: impl FnMut(u64) + Send,
    ) -> io::Result<Option<Cached>> {
        let sha256 = self.0.checked.hash(&cached.file, hashed).await?;
        let key = key.clone();
        self.with(move |inner| inner.hashed(&key, cached, &sha256)).await
    }

    async fn stage(&self) -> io::Result<NamedTempFile> {
        self.with(|inner| inner.workshop.stage()).await
    }

    async fn used(&self, cached: &Cached, now: Timestamp) -> io::Result<()> {
        let file = Arc::clone(&cached.file);
        blocking(move || file.set_modified(repair::moment(now))).await
    }

    async fn expire(&self, now: Timestamp, spared: Vec<Ecosystem>) -> io::Result<u64> {
        self.with(move |inner| inner.expire(now, &spared)).await
    }

    async fn census(&self) -> io::Result<Census> {
        self.with(|inner| {
            inner.compare()?;
            Ok(inner.census())
        })
        .await
    }
}

impl Inner {
    fn index(&self) -> MutexGuard<'_, Lru<CacheKey, Meta>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn body(&self, key: &CacheKey) -> PathBuf {
        body(&self.root, key)
    }

    /// Whether an artifact is on disk and is as long as its description says, whichever process kept
    /// it: whether it is what it was is looked at when it is wanted.
    fn holds(&self, key: &CacheKey) -> bool {
        let body = self.body(key);
        let size = fs::metadata(&body).ok().map(|body| body.len());
        size.is_some() && size == read_meta(&described(&body)).map(|meta| meta.size)
    }

    /// Whether this very body lies there.
    fn has(&self, key: &CacheKey, print: Print) -> bool {
        fs::metadata(self.body(key)).is_ok_and(|known| Print::of(&known) == print)
    }

    fn look(&self, key: &CacheKey) -> io::Result<Option<Looked>> {
        let body = self.body(key);
        let looking = repair::looking(&self.root)?;
        // What the index says may be of an artifact that another process has replaced.
        let meta = read_meta(&described(&body));
        let file = match File::open(&body) {
            Ok(file) => Some(file),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => None,
            Err(fault) => return Err(fault),
        };
        drop(looking);
        let (Some(meta), Some(file)) = (meta, file) else {
            self.index().remove(key);
            return Ok(None);
        };
        let known = file.metadata()?;
        let print = Print::of(&known);
        if known.len() != meta.size {
            self.forget_broken(key, print, &meta)?;
            return Ok(None);
        }
        let used_at = repair::used_at(&known)?;
        let cached = Cached { meta, used_at, file: Arc::new(file) };
        if !self.checked.knows(key, print, &cached.meta) {
            return Ok(Some(Looked::Unhashed(Unhashed(cached))));
        }
        self.admit(key, cached.meta.clone())?;
        Ok(Some(Looked::Right(cached)))
    }

    /// What was found, where it has the hash that it should have.
    fn hashed(&self, key: &CacheKey, cached: Cached, sha256: &str) -> io::Result<Option<Cached>> {
        let print = Print::of(&cached.file.metadata()?);
        if *cached.meta.sha256 != *sha256 {
            self.forget_broken(key, print, &cached.meta)?;
            return Ok(None);
        }
        // It may have been forgotten meanwhile: whoever reads it reads on.
        if self.has(key, print) {
            self.checked.trust(key, print, &cached.meta);
            self.admit(key, cached.meta.clone())?;
        }
        Ok(Some(cached))
    }

    /// Has the disk take a body that was kept; forgets it where it cannot.
    fn flush(
        &self,
        key: &CacheKey,
        print: Print,
        sync: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        let body = self.body(key);
        let file = match File::open(&body) {
            Ok(file) => file,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(fault) => return Err(fault),
        };
        // Another that has taken its place is flushed by who wrote it.
        if Print::of(&file.metadata()?) != print {
            return Ok(());
        }
        let Err(fault) = sync(&file) else { return Ok(()) };
        // A disk that knows no such thing says nothing of the file.
        if matches!(fault.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) {
            return Ok(());
        }
        let (package, name) = (key.package(), key.file());
        warn!(package, file = name, error = %fault, "the disk did not take a kept file");
        self.checked.distrust(key, print);
        match read_meta(&described(&body)) {
            Some(meta) => self.forget_broken(key, print, &meta),
            None => Ok(()),
        }
    }

    fn set(&self, key: &CacheKey, staged: NamedTempFile, meta: Meta) -> io::Result<bool> {
        let body = self.body(key);
        let directory = body.parent().unwrap_or(&self.root);
        // From then on it counts as used.
        staged.as_file().set_modified(repair::moment(meta.created_at))?;
        let mut description = self.workshop.stage()?;
        serde_json::to_writer_pretty(&mut description, &meta)?;
        let changing = repair::changing(&self.root)?;
        if self.watch.means(key, &meta) {
            return Ok(false);
        }
        // Whoever forgets the last file of a package takes its folder away, under the same lock.
        fs::create_dir_all(directory)?;
        // An end between the two renames must not leave an old body under a new hash.
        remove(&body)?;
        let print = Print::of(&staged.as_file().metadata()?);
        description.persist(described(&body)).map_err(|fault| fault.error)?;
        staged.persist(&body).map_err(|fault| fault.error)?;
        drop(changing);
        self.checked.trust(key, print, &meta);
        // What waits no more to be flushed is hashed when it is wanted again.
        if let Some((key, print)) = self.unflushed.add(key.clone(), print) {
            self.checked.distrust(&key, print);
        }
        self.admit(key, meta)?;
        Ok(true)
    }

    /// Notes an artifact as used now, and forgets what there is no more room for.
    fn admit(&self, key: &CacheKey, meta: Meta) -> io::Result<()> {
        if self.index().get(key).is_some_and(|known| *known == meta) {
            return Ok(());
        }
        // What is on its way out must not look like news to who compares.
        let _alone = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        self.admit_alone(key, meta)
    }

    fn admit_alone(&self, key: &CacheKey, meta: Meta) -> io::Result<()> {
        let size = meta.size;
        let mut index = self.index();
        let gone = index.put(key.clone(), meta, size);
        let kept = index.get(key).is_some();
        drop(index);
        for (old, meta) in gone {
            if !kept || old != *key {
                self.evict(&old, Some(meta), EvictionCause::Lru)?;
            }
        }
        Ok(())
    }

    /// Forgets an artifact that does not fit its description, unless another has taken its place. Where
    /// nobody would record it any more, it stays for the next start, and is served by nobody.
    fn forget_broken(&self, key: &CacheKey, print: Print, of: &Meta) -> io::Result<()> {
        warn!(
            package = key.package(),
            file = key.file(),
            "a kept file is not what it was, forgotten"
        );
        self.index().remove(key);
        let Some(ear) = self.teller.ear() else { return Ok(()) };
        if let Some(meta) = self.forget_if(key, |meta| meta == of && self.has(key, print))? {
            let cause = EvictionCause::Broken;
            self.forgotten.count(key.ecosystem(), cause);
            ear.tell(Evicted { key: key.clone(), meta, cause });
        }
        Ok(())
    }

    /// Forgets an artifact on disk, and tells so if it was there: of several processes that forget
    /// it at once, one does. Where nobody would record it any more, it stays for the next start.
    fn evict(&self, key: &CacheKey, meta: Option<Meta>, cause: EvictionCause) -> io::Result<bool> {
        let Some(ear) = self.teller.ear() else { return Ok(false) };
        let there = unlink(&self.root, key)?;
        if there {
            self.forgotten.count(key.ecosystem(), cause);
        }
        if let Some(meta) = meta.filter(|_| there) {
            ear.tell(Evicted { key: key.clone(), meta, cause });
        }
        Ok(there)
    }

    fn expire(&self, now: Timestamp, spared: &[Ecosystem]) -> io::Result<u64> {
        let expired = |key: &CacheKey, meta: &Meta| {
            meta.ttl.is_some() && !spared.contains(&key.ecosystem()) && {
                let known = fs::metadata(self.body(key));
                let used_at = known.and_then(|known| repair::used_at(&known));
                used_at.is_ok_and(|used_at| meta.expired_at(used_at, now))
            }
        };
        // What other processes kept or used is found on disk only.
        let (found, _) = repair::scan(&self.root)?;
        let mut n_removed = 0;
        for (key, _) in found.into_iter().filter(|(key, meta)| expired(key, meta)) {
            let Some(ear) = self.teller.ear() else { return Ok(n_removed) };
            if let Some(meta) = self.forget_if(&key, |meta| expired(&key, meta))? {
                n_removed += 1;
                let cause = EvictionCause::Expired;
                self.forgotten.count(key.ecosystem(), cause);
                ear.tell(Evicted { key, meta, cause });
            }
        }
        // Whoever shares the folder may have filled it beyond the bound meanwhile.
        self.compare()?;
        Ok(n_removed)
    }

    fn purge(&self, purges: &[Purge]) -> io::Result<Purged> {
        let means = |key: &CacheKey, meta: &Meta| purges.iter().any(|purge| purge.means(key, meta));
        self.watch.add(purges);
        // Who was not stopped by the watch has put what he had into its place.
        drop(repair::changing(&self.root)?);
        let (found, _) = repair::scan(&self.root)?;
        let mut purged = Purged::default();
        for (key, _) in found.into_iter().filter(|(key, meta)| means(key, meta)) {
            if let Some(meta) = self.forget_if(&key, |meta| means(&key, meta))? {
                self.forgotten.count(key.ecosystem(), EvictionCause::Purged);
                purged.n_files += 1;
                purged.size_bytes += meta.size;
            }
        }
        // What another process that shares the folder was quicker to forget.
        let known: Vec<CacheKey> = {
            let index = self.index();
            index.iter().filter(|(key, meta, _)| means(key, meta)).map(|it| it.0.clone()).collect()
        };
        self.drop_missing(known);
        Ok(purged)
    }

    /// Forgets an artifact that is as unwanted as it was when it was found: another may have taken
    /// its place.
    fn forget_if(
        &self,
        key: &CacheKey,
        unwanted: impl Fn(&Meta) -> bool,
    ) -> io::Result<Option<Meta>> {
        let body = self.body(key);
        let changing = repair::changing(&self.root)?;
        let meta = read_meta(&described(&body)).filter(|meta| unwanted(meta));
        let Some(meta) = meta else { return Ok(None) };
        let there = take_away(&body)?;
        drop(changing);
        self.index().remove(key);
        Ok(there.then_some(meta))
    }

    /// Forgets what is known of artifacts that are not on disk.
    fn drop_missing(&self, keys: Vec<CacheKey>) {
        for key in keys.into_iter().filter(|key| !self.body(key).exists()) {
            self.index().remove(&key);
        }
    }

    /// Learns what other processes that share the folder kept and forgot, and keeps to the bound.
    fn compare(&self) -> io::Result<()> {
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if compared.is_some_and(|at| at.elapsed() < COMPARED_FOR) {
            return Ok(());
        }
        let known = |key: &CacheKey| self.index().peek(key).map(|meta| meta.size);
        let (news, there) = repair::news(&self.root, known)?;
        let missing = self.index().keys().filter(|key| !there.contains(*key)).cloned().collect();
        self.drop_missing(missing);
        for (key, meta) in news.into_iter().filter(|(key, _)| self.holds(key)) {
            self.admit_alone(&key, meta)?;
        }
        *compared = Some(Instant::now());
        Ok(())
    }

    fn census(&self) -> Census {
        let mut census = Census {
            max_bytes: self.max_bytes,
            forgotten: self.forgotten.read(),
            ..Census::default()
        };
        for (key, meta, _) in self.index().iter() {
            let kept = census.kept.entry(key.ecosystem()).or_default();
            kept.add(meta.size, meta.created_at);
        }
        census
    }
}

fn body(root: &Path, key: &CacheKey) -> PathBuf {
    let (folder, file) = key.place();
    repair::files(root).join(key.ecosystem.as_str()).join(folder).join(file)
}

/// Removes an artifact and its description; says whether it was there.
fn unlink(root: &Path, key: &CacheKey) -> io::Result<bool> {
    let body = body(root, key);
    let _changing = repair::changing(root)?;
    take_away(&body)
}

/// Removes a body, its description, and the folder where it was the last one; says whether it was
/// there. Only for who holds the lock.
fn take_away(body: &Path) -> io::Result<bool> {
    let there = remove(body)?;
    remove(&described(body))?;
    if let Some(folder) = body.parent() {
        // It is not empty, most of the time.
        drop(fs::remove_dir(folder));
    }
    Ok(there)
}

pub(super) fn described(body: &Path) -> PathBuf {
    let mut name = body.as_os_str().to_owned();
    name.push(META_SUFFIX);
    name.into()
}

pub(super) fn read_meta(path: &Path) -> Option<Meta> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Removes a file; says whether it was there.
pub(super) fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(fault) => Err(fault),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests;
