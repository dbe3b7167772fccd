//! What every cache keeps to, whatever it keeps and wherever: one suite, which all of them run.

use std::{fmt::Debug, io::Write as _, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::future::join_all;
use sha2::{Digest as _, Sha256};
use weir_aggregates::registry::selection::Selection;
use weir_events::{registry::Ecosystem, timestamp::Timestamp};
use weir_log::lifecycle::Lifecycle;
use weir_processors::{
    clock::ManualClock,
    registry::cache::{
        Artifact, ArtifactCache as _, CacheKey, CachePlugin, Cached, FileCache, Meta, Purge,
        RedisCache,
        redis::{Found, Fresh, Id, Options, PageKey},
    },
};
use weir_tests::redis::RedisServer;

/// When everything here happens.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_795_824_000_000_000).plus_seconds(seconds)
}

/// A cache, and how a text is put into it and got out again.
trait Tested: Sized {
    type Cache: CachePlugin<Key: Debug>;

    async fn start() -> Self;

    fn cache(&self) -> &Self::Cache;

    /// Sets the clock of the cache, where it has one.
    fn sets_its_clock(&self, now: Timestamp);

    fn key(package: &str, name: &str) -> <Self::Cache as CachePlugin>::Key;

    /// A text that began to be fetched at a time and may be kept for a minute.
    async fn entry(
        &self,
        text: &[u8],
        created_at: Timestamp,
    ) -> <Self::Cache as CachePlugin>::Entry;

    fn text(found: &<Self::Cache as CachePlugin>::Found) -> Vec<u8>;

    async fn found(&self, package: &str, name: &str) -> Option<Vec<u8>> {
        let found = self.cache().get(&Self::key(package, name)).await.expect("a look");
        found.map(|found| Self::text(&found))
    }

    async fn put(&self, package: &str, name: &str, text: &[u8], created_at: Timestamp) -> bool {
        let entry = self.entry(text, created_at).await;
        self.cache().set(Self::key(package, name), entry).await.expect("keep it")
    }
}

struct Files {
    cache: FileCache,
    _root: tempfile::TempDir,
}

impl Tested for Files {
    type Cache = FileCache;

    async fn start() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let cache = weir_tests::cache::open(root.path(), 1 << 30).await;
        Self { cache, _root: root }
    }

    fn cache(&self) -> &FileCache {
        &self.cache
    }

    fn sets_its_clock(&self, _: Timestamp) {}

    fn key(package: &str, name: &str) -> CacheKey {
        CacheKey::new(Ecosystem::Pypi, package, name).expect("a key")
    }

    async fn entry(&self, text: &[u8], created_at: Timestamp) -> Artifact {
        let mut staged = self.cache.stage().await.expect("a file");
        staged.write_all(text).expect("write it");
        let meta = Meta {
            size: text.len() as u64,
            sha256: hex::encode(Sha256::digest(text)),
            promise: None,
            ttl: Some(60),
            created_at,
            etag: None,
            content_type: "text/plain".to_owned(),
        };
        Artifact { staged, meta }
    }

    fn text(found: &Cached) -> Vec<u8> {
        use std::os::unix::fs::FileExt as _;
        let mut text = vec![0; usize::try_from(found.meta.size).expect("a size")];
        found.file.read_exact_at(&mut text, 0).expect("its bytes");
        text
    }
}

struct Lists {
    cache: RedisCache,
    clock: Arc<ManualClock>,
    _server: RedisServer,
}

impl Tested for Lists {
    type Cache = RedisCache;

    async fn start() -> Self {
        let server = RedisServer::start().await;
        let clock = Arc::new(ManualClock::at(at(0)));
        let options = Options {
            url: server.url(),
            prefix: "weir".to_owned(),
            timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
        };
        let cache = RedisCache::start(&options, &[7; 32], clock.clone(), &Lifecycle::new()).await;
        let cache = cache.expect("an address");
        cache.follows(true);
        Self { cache, clock, _server: server }
    }

    fn cache(&self) -> &RedisCache {
        &self.cache
    }

    fn sets_its_clock(&self, now: Timestamp) {
        self.clock.set(now);
    }

    fn key(package: &str, name: &str) -> PageKey {
        PageKey::new(Ecosystem::Pypi, Some(package), &[name.as_bytes()]).expect("a key")
    }

    async fn entry(&self, text: &[u8], created_at: Timestamp) -> Fresh {
        Fresh {
            id: Id::fresh(),
            created_at,
            lifetime: Duration::from_mins(1),
            url: "https://index.example/".parse().expect("a URL"),
            headers: http::HeaderMap::new(),
            body: Bytes::copy_from_slice(text),
            room: None,
        }
    }

    fn text(found: &Found) -> Vec<u8> {
        found.page.body().expect("its bytes").to_vec()
    }
}

async fn what_is_set_is_found_whole_replaced_and_deleted<T: Tested>() {
    let tested = T::start().await;
    let large = b"version ".repeat(100_000);
    assert_eq!(tested.found("six", "a").await, None);
    assert!(!tested.cache().delete(&T::key("six", "a")).await.expect("a look"));
    for text in [&b"alpha"[..], b"", &large] {
        assert!(tested.put("six", "a", text, at(0)).await);
        assert_eq!(tested.found("six", "a").await.as_deref(), Some(text));
        assert_eq!(tested.cache().stats().entries, 1);
    }
    assert!(tested.put("six", "b", b"beta", at(0)).await);
    assert_eq!(tested.cache().stats().entries, 2);
    assert!(tested.cache().stats().size_bytes > 4);
    assert!(tested.cache().delete(&T::key("six", "a")).await.expect("deleted"));
    assert!(!tested.cache().delete(&T::key("six", "a")).await.expect("a look"));
    assert_eq!(tested.found("six", "a").await, None);
    assert_eq!(tested.found("six", "b").await.as_deref(), Some(&b"beta"[..]));
    assert_eq!(tested.cache().stats().entries, 1);
}

async fn a_purge_takes_what_it_means_and_what_began_before_it_also_on_its_way<T: Tested>() {
    let tested = T::start().await;
    for (package, name, seconds) in
        [("six", "a", 0), ("six", "late", 20), ("attrs", "a", 0), ("attrs", "b", 0)]
    {
        assert!(tested.put(package, name, b"text", at(seconds)).await);
    }
    tested.sets_its_clock(at(20));
    let purge = |selection, seconds| vec![Purge { selection, before: at(seconds) }];
    let six = Selection::new(Some(Ecosystem::Pypi), Some("s*x"), None).expect("a selection");
    let on_its_way = tested.entry(b"old", at(9)).await;
    let purged = tested.cache().purge(purge(six, 10)).await.expect("purged");
    assert_eq!(purged.n_files, 1);
    assert!(!tested.cache().set(T::key("six", "a"), on_its_way).await.expect("a look"));
    for (package, name, there) in [("six", "a", false), ("six", "late", true), ("attrs", "a", true)]
    {
        assert_eq!(tested.found(package, name).await.is_some(), there, "{package} {name}");
    }
    assert!(tested.put("six", "a", b"new", at(11)).await);
    assert_eq!(tested.found("six", "a").await.as_deref(), Some(&b"new"[..]));
    let npm = Selection::new(Some(Ecosystem::Npm), None, None).expect("a selection");
    assert_eq!(tested.cache().purge(purge(npm, 100)).await.expect("purged").n_files, 0);
    let all = tested.cache().purge(purge(Selection::all(), 100)).await.expect("purged");
    assert_eq!((all.n_files, tested.cache().stats().entries), (4, 0));
    assert_eq!(tested.found("attrs", "b").await, None);
}

async fn what_was_kept_long_enough_goes_and_nothing_else<T: Tested>() {
    let tested = T::start().await;
    for (name, seconds) in [("a", -30), ("b", -10), ("c", 0)] {
        assert!(tested.put("six", name, b"text", at(seconds)).await);
    }
    assert_eq!(tested.cache().purge_expired(at(0)).await.expect("a look"), 0);
    assert_eq!(tested.cache().purge_expired(at(29)).await.expect("a look"), 0);
    assert_eq!(tested.cache().purge_expired(at(30)).await.expect("a look"), 1);
    assert_eq!(tested.cache().stats().entries, 2);
    assert_eq!(tested.cache().purge_expired(at(60)).await.expect("a look"), 2);
    tested.sets_its_clock(at(60));
    for name in ["a", "b", "c"] {
        assert_eq!(tested.found("six", name).await, None, "{name}");
    }
}

async fn who_looks_while_many_write_finds_a_whole_text_or_none<T: Tested>() {
    let tested = T::start().await;
    let texts: Vec<Vec<u8>> = (0..8_u8).map(|n| vec![n; 50_000]).collect();
    let writing = texts.iter().map(|text| tested.put("six", "a", text, at(0)));
    let looking = (0..32).map(|_| tested.found("six", "a"));
    let (written, found) = tokio::join!(join_all(writing), join_all(looking));
    assert!(written.into_iter().all(|kept| kept));
    for text in found.into_iter().flatten().chain(tested.found("six", "a").await) {
        assert!(texts.contains(&text), "a text that nobody wrote");
    }
    assert_eq!(tested.cache().stats().entries, 1);
}

/// Runs the suite for each cache there is.
macro_rules! keeps_to {
    ($($law:ident),+ $(,)?) => {
        mod files {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                super::$law::<super::Files>().await;
            })+
        }
        mod redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                super::$law::<super::Lists>().await;
            })+
        }
    };
}

keeps_to![
    what_is_set_is_found_whole_replaced_and_deleted,
    a_purge_takes_what_it_means_and_what_began_before_it_also_on_its_way,
    what_was_kept_long_enough_goes_and_nothing_else,
    who_looks_while_many_write_finds_a_whole_text_or_none,
];
