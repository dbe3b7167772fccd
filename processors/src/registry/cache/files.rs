//! The cache as a readable tree: `files/pypi/six/six-1.16.0.tar.gz`, its description beside it.
//!
//! A file is written under `tmp`, synced, and renamed: the rename of the body is the moment it is
//! there. Several processes may share a tree: what one of them kept, the others find on disk. A lock
//! keeps a body and its description together, whoever replaces them at the same time.

use std::{
    collections::HashSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tempfile::NamedTempFile;
use weir_events::{registry::EvictionCause, timestamp::Timestamp};

use super::{
    CacheKey, CachePlugin, CacheStats, Cached, Evicted, Evictions, META_SUFFIX, Meta,
    evicted::Teller,
    repair::{self, Repair, Workshop},
};
use crate::registry::lru::Lru;

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
            let (index, teller) = (Mutex::new(index), Teller::new(gone));
            let inner = Inner { root, max_bytes, index, workshop, teller };
            Ok((Self(Arc::new(inner)), repair))
        })
        .await
    }

    /// What this process forgets from now on, and what there was no room for when it was opened.
    /// To be kept up with: who forgets waits for whoever asked for this.
    pub fn evictions(&self) -> Evictions {
        self.0.teller.listen()
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
    async fn get(&self, key: &CacheKey) -> io::Result<Option<Cached>> {
        let key = key.clone();
        self.with(move |inner| inner.get(&key)).await
    }

    async fn held(&self, keys: Vec<CacheKey>) -> io::Result<HashSet<CacheKey>> {
        self.with(move |inner| Ok(keys.into_iter().filter(|key| inner.holds(key)).collect())).await
    }

    async fn stage(&self) -> io::Result<NamedTempFile> {
        self.with(|inner| inner.workshop.stage()).await
    }

    async fn set(&self, key: CacheKey, staged: NamedTempFile, meta: Meta) -> io::Result<()> {
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

    async fn purge(&self) -> io::Result<u64> {
        self.with(|inner| inner.remove_where(EvictionCause::Purged, |_| true)).await
    }

    async fn purge_expired(&self, now: Timestamp) -> io::Result<u64> {
        let expired = move |meta: &Meta| meta.expired_at(now);
        self.with(move |inner| inner.remove_where(EvictionCause::Expired, expired)).await
    }
}

impl Inner {
    fn index(&self) -> MutexGuard<'_, Lru<CacheKey, Meta>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn body(&self, key: &CacheKey) -> PathBuf {
        body(&self.root, key)
    }

    /// Whether an artifact is on disk and fits its description, whichever process kept it.
    fn holds(&self, key: &CacheKey) -> bool {
        let body = self.body(key);
        let size = fs::metadata(&body).ok().map(|body| body.len());
        size.is_some() && size == read_meta(&described(&body)).map(|meta| meta.size)
    }

    fn get(&self, key: &CacheKey) -> io::Result<Option<Cached>> {
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
        if file.metadata()?.len() != meta.size {
            self.forget_broken(key)?;
            return Ok(None);
        }
        self.admit(key, meta.clone())?;
        Ok(Some(Cached { meta, file: Arc::new(file) }))
    }

    fn set(&self, key: &CacheKey, staged: NamedTempFile, meta: Meta) -> io::Result<()> {
        let body = self.body(key);
        let directory = body.parent().unwrap_or(&self.root);
        fs::create_dir_all(directory)?;
        staged.as_file().sync_all()?;
        let mut description = self.workshop.stage()?;
        serde_json::to_writer_pretty(&mut description, &meta)?;
        description.as_file().sync_all()?;
        let changing = repair::changing(&self.root)?;
        description.persist(described(&body)).map_err(|fault| fault.error)?;
        staged.persist(&body).map_err(|fault| fault.error)?;
        drop(changing);
        File::open(directory)?.sync_all()?;
        self.admit(key, meta)
    }

    /// Notes an artifact as used now, and forgets what there is no more room for.
    fn admit(&self, key: &CacheKey, meta: Meta) -> io::Result<()> {
        let size = meta.size;
        let mut index = self.index();
        if index.get(key).is_some_and(|known| *known == meta) {
            return Ok(());
        }
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

    /// Forgets an artifact that does not fit its description, unless it does by now.
    fn forget_broken(&self, key: &CacheKey) -> io::Result<()> {
        self.index().remove(key);
        let body = self.body(key);
        let _changing = repair::changing(&self.root)?;
        let size = fs::metadata(&body).ok().map(|body| body.len());
        if size == read_meta(&described(&body)).map(|meta| meta.size) {
            return Ok(());
        }
        remove(&body)?;
        remove(&described(&body))?;
        Ok(())
    }

    /// Forgets an artifact on disk, and tells so if it was there: of several processes that forget
    /// it at once, one does.
    fn evict(&self, key: &CacheKey, meta: Option<Meta>, cause: EvictionCause) -> io::Result<bool> {
        let there = unlink(&self.root, key)?;
        if let Some(meta) = meta.filter(|_| there) {
            self.teller.tell(Evicted { key: key.clone(), meta, cause });
        }
        Ok(there)
    }

    fn remove_where(
        &self,
        cause: EvictionCause,
        mut unwanted: impl FnMut(&Meta) -> bool,
    ) -> io::Result<u64> {
        // What other processes kept is found on disk only.
        let (found, _) = repair::scan(&self.root)?;
        let mut n_removed = 0;
        for (key, meta) in found.into_iter().filter(|(_, meta)| unwanted(meta)) {
            self.index().remove(&key);
            n_removed += u64::from(self.evict(&key, Some(meta), cause)?);
        }
        Ok(n_removed)
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
    let there = remove(&body)?;
    remove(&described(&body))?;
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
mod tests {
    use std::io::{Read, Write};

    use weir_events::registry::Ecosystem;

    use super::*;

    fn key(file: &str) -> CacheKey {
        CacheKey::new(Ecosystem::Pypi, "six", file).unwrap()
    }

    fn meta(size: u64) -> Meta {
        Meta {
            size,
            sha256: "00".repeat(32),
            promise: None,
            ttl: None,
            created_at: Timestamp::EPOCH,
            etag: None,
            content_type: "application/octet-stream".to_owned(),
        }
    }

    async fn open(root: &Path, max_bytes: u64) -> (FileCache, Repair) {
        FileCache::open(root.to_owned(), max_bytes).await.unwrap()
    }

    #[tokio::test]
    async fn looking_for_artifacts_does_not_keep_them_longer() {
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = open(root.path(), 10).await;
        put(&cache, "a", b"alpha").await;
        put(&cache, "b", b"beta!").await;
        let keys = || ["a", "b", "c"].map(key).to_vec();
        let held = cache.held(keys()).await.unwrap();
        assert_eq!(held, HashSet::from(["a", "b"].map(key)));
        // Room for two: the one that was used longest ago goes, however often it was looked for.
        cache.held(vec![key("a")]).await.unwrap();
        put(&cache, "c", b"gamma").await;
        assert_eq!(cache.held(keys()).await.unwrap(), HashSet::from(["b", "c"].map(key)));
        fs::write(root.path().join("files/pypi/six/b"), "cut").unwrap();
        assert_eq!(cache.held(keys()).await.unwrap(), HashSet::from([key("c")]));
    }

    #[test]
    fn what_a_decision_let_through_is_found_where_it_is_kept() {
        for (ecosystem, package, version, file, wanted) in [
            (Ecosystem::Pypi, "six", "1.0", "six-1.0.tar.gz", Some(("six", "six-1.0.tar.gz"))),
            (
                Ecosystem::Npm,
                "@types/node",
                "1.0.0",
                "node-1.0.0.tgz",
                Some(("@types/node", "node-1.0.0.tgz")),
            ),
            (
                Ecosystem::Cargo,
                "serde-json",
                "1.0.0",
                "Serde_JSON-1.0.0.crate",
                Some(("serde_json", "serde_json-1.0.0.crate")),
            ),
            (Ecosystem::Cargo, "serde-json", "2.0.0", "serde_json-1.0.0.crate", None),
            (Ecosystem::Go, "a.b/c", "v1.0.0", "v1.0.0.zip", Some(("a.b/c", "v1.0.0.zip"))),
            (Ecosystem::Go, "a.b/c", "v1.0.0", "v1.0.0.info", None),
            (
                Ecosystem::Docker,
                "library/alpine",
                "3",
                "sha256:0a",
                Some(("library/alpine", "sha256-0a")),
            ),
        ] {
            let key = CacheKey::of_download(ecosystem, package, version, file);
            let found = key.as_ref().map(|key| (key.package(), key.file()));
            assert_eq!(found, wanted, "{ecosystem} {package} {file}");
        }
    }

    async fn put(cache: &FileCache, file: &str, body: &[u8]) {
        put_with(cache, file, body, meta(body.len() as u64)).await;
    }

    async fn put_with(cache: &FileCache, file: &str, body: &[u8], meta: Meta) {
        let mut staged = cache.stage().await.unwrap();
        staged.write_all(body).unwrap();
        cache.set(key(file), staged, meta).await.unwrap();
    }

    async fn read(cache: &FileCache, file: &str) -> Option<Vec<u8>> {
        let cached = cache.get(&key(file)).await.unwrap()?;
        let mut body = Vec::new();
        (&*cached.file).read_to_end(&mut body).unwrap();
        Some(body)
    }

    #[tokio::test]
    async fn what_was_kept_is_found_also_by_another_process_and_after_a_restart() {
        let root = tempfile::tempdir().unwrap();
        let (ours, _) = open(root.path(), 100).await;
        let (other, _) = open(root.path(), 100).await;
        assert_eq!(read(&ours, "a").await, None);
        put(&ours, "a", b"alpha").await;
        assert_eq!(read(&ours, "a").await.unwrap(), b"alpha");
        assert_eq!(read(&other, "a").await.unwrap(), b"alpha");
        assert!(root.path().join("files/pypi/six/a").is_file());
        drop((ours, other));
        let (again, repair) = open(root.path(), 100).await;
        assert_eq!(repair.total(), 0);
        assert_eq!(again.stats(), CacheStats { entries: 1, size_bytes: 5, max_bytes: 100 });
        assert!(again.delete(&key("a")).await.unwrap());
        assert!(!again.delete(&key("a")).await.unwrap());
        assert_eq!(read(&again, "a").await, None);
    }

    #[tokio::test]
    async fn what_was_not_used_for_longest_makes_room() {
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = open(root.path(), 10).await;
        put(&cache, "a", b"1234").await;
        put(&cache, "b", b"1234").await;
        read(&cache, "a").await.unwrap();
        put(&cache, "c", b"1234").await;
        assert_eq!(read(&cache, "b").await, None);
        assert!(read(&cache, "a").await.is_some() && read(&cache, "c").await.is_some());
        put(&cache, "d", &[0; 11]).await;
        assert_eq!((read(&cache, "d").await, cache.stats().entries), (None, 2));
        drop(cache);
        let (smaller, _) = open(root.path(), 4).await;
        assert_eq!((smaller.stats().entries, smaller.purge().await.unwrap()), (1, 1));
        assert_eq!(smaller.stats().size_bytes, 0);
    }

    #[tokio::test]
    async fn a_replaced_file_is_the_new_one_and_counts_once() {
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = open(root.path(), 100).await;
        put(&cache, "a", b"old").await;
        let held = cache.get(&key("a")).await.unwrap().unwrap();
        put(&cache, "a", b"newer").await;
        assert_eq!(read(&cache, "a").await.unwrap(), b"newer");
        assert_eq!(cache.stats().size_bytes, 5);
        let mut body = Vec::new();
        (&*held.file).read_to_end(&mut body).unwrap();
        assert_eq!(body, b"old", "who was reading goes on reading");
    }

    #[tokio::test]
    async fn what_a_crash_left_is_repaired() {
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = open(root.path(), 100).await;
        for file in ["good", "short", "bodiless", "nameless", "garbled"] {
            put(&cache, file, b"12345").await;
        }
        drop(cache);
        let dead = root.path().join("tmp/weir-dead");
        fs::create_dir(&dead).unwrap();
        for left in ["lock", "half a file"] {
            fs::write(dead.join(left), b"12").unwrap();
        }
        let six = root.path().join("files/pypi/six");
        fs::write(six.join("short"), b"123").unwrap();
        fs::remove_file(six.join("bodiless")).unwrap();
        fs::remove_file(six.join("nameless.meta.json")).unwrap();
        fs::write(six.join("garbled.meta.json"), b"{").unwrap();
        let (cache, repair) = open(root.path(), 100).await;
        assert_eq!((repair.n_incomplete, repair.n_abandoned), (4, 1), "{repair:?}");
        assert!(!dead.exists());
        assert_eq!(cache.stats().entries, 1);
        assert_eq!(fs::read_dir(six).unwrap().count(), 2);
        assert!(read(&cache, "good").await.is_some());
    }

    #[tokio::test]
    async fn what_another_process_is_writing_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let (one, _) = open(root.path(), 100).await;
        let mut staged = one.stage().await.unwrap();
        let (_other, repair) = open(root.path(), 100).await;
        assert_eq!(repair.n_abandoned, 0);
        staged.write_all(b"12345").unwrap();
        one.set(key("a"), staged, meta(5)).await.unwrap();
        assert!(read(&one, "a").await.is_some());
    }

    #[tokio::test]
    async fn a_file_that_changed_under_us_is_not_served() {
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = open(root.path(), 100).await;
        put(&cache, "a", b"12345").await;
        fs::write(root.path().join("files/pypi/six/a"), b"123456").unwrap();
        assert_eq!(read(&cache, "a").await, None);
        assert_eq!(cache.stats().entries, 0);
    }

    #[tokio::test]
    async fn what_was_kept_long_enough_is_forgotten() {
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = open(root.path(), 100).await;
        put_with(&cache, "a", b"1", Meta { ttl: Some(60), ..meta(1) }).await;
        put(&cache, "b", b"1").await;
        let at = |seconds| Timestamp::EPOCH.plus_seconds(seconds);
        assert_eq!(cache.purge_expired(at(59)).await.unwrap(), 0);
        assert_eq!(cache.purge_expired(at(60)).await.unwrap(), 1);
        assert_eq!(cache.stats().entries, 1);
    }

    #[tokio::test]
    async fn each_that_is_forgotten_is_told_once_and_why() {
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = open(root.path(), 100).await;
        for file in ["a", "b", "c"] {
            put(&cache, file, &[0; 4]).await;
        }
        drop(cache);
        let (cache, _) = open(root.path(), 10).await;
        let (other, _) = open(root.path(), 10).await;
        let (mut told, mut also) = (cache.evictions(), other.evictions());
        let mut next = async || {
            let mut all: Vec<_> = told.waiting(10).into_iter().collect();
            all.extend(also.waiting(10));
            all.into_iter().map(|gone| (gone.key.file().to_owned(), gone.cause)).collect::<Vec<_>>()
        };
        assert_eq!(next().await.len(), 1, "what did not fit any more when it was opened");
        put_with(&cache, "d", &[0; 4], Meta { ttl: Some(60), ..meta(4) }).await;
        let lru = next().await;
        assert!(matches!(lru.as_slice(), [(_, EvictionCause::Lru)]), "{lru:?}");
        put_with(&cache, "d", &[0; 4], Meta { ttl: Some(61), ..meta(4) }).await;
        assert_eq!(next().await, [], "replaced is not forgotten");
        let late = Timestamp::EPOCH.plus_seconds(61);
        assert_eq!(cache.purge_expired(late).await.unwrap(), 1);
        assert_eq!(other.purge_expired(late).await.unwrap(), 0);
        assert_eq!(next().await, [("d".to_owned(), EvictionCause::Expired)]);
        put(&cache, "e", &[0; 1]).await;
        assert!(cache.delete(&key("e")).await.unwrap());
        assert_eq!(next().await, [("e".to_owned(), EvictionCause::Purged)]);
        assert_eq!(cache.purge().await.unwrap(), next().await.len() as u64);
    }

    #[test]
    fn a_key_stays_inside_the_tree() {
        for (package, file) in [
            ("..", "a"),
            ("six", ".."),
            ("six", "a/b"),
            ("a\\b", "c"),
            ("a/../b", "c"),
            ("/a", "c"),
            ("a/", "c"),
            ("a%2fb", "c"),
            ("", "a"),
            ("six", "a b"),
            ("six", "a.meta.json"),
        ] {
            assert_eq!(CacheKey::new(Ecosystem::Pypi, package, file), None, "{package} {file}");
        }
        let scoped = CacheKey::new(Ecosystem::Npm, "@types/node", "node-1.0.0.tgz").unwrap();
        let place = Path::new("files/npm/@types%2fnode/node-1.0.0.tgz");
        assert_eq!(body(Path::new(""), &scoped), place);
        let found = CacheKey::at(Ecosystem::Npm, "@types%2fnode", "node-1.0.0.tgz");
        assert_eq!(found, Some(scoped));
        let key = key("a");
        assert_eq!((key.ecosystem(), key.package(), key.file()), (Ecosystem::Pypi, "six", "a"));
    }
}
