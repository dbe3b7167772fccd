use std::io::{Read, Write};

use sha2::{Digest as _, Sha256};
use weir_aggregates::registry::selection::Selection;
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

fn everything() -> Vec<Purge> {
    let before = Timestamp::EPOCH.plus_seconds(1_000);
    vec![Purge { selection: Selection::all(), before }]
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
    let meta = Meta { sha256: hex::encode(Sha256::digest(body)), ..meta };
    cache.set(key(file), Artifact { staged, meta }).await.unwrap();
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
    assert_eq!(smaller.stats().entries, 1);
    let purged = Purged { n_files: 1, size_bytes: 4 };
    assert_eq!(smaller.purge(everything()).await.unwrap(), purged);
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
    one.set(key("a"), Artifact { staged, meta: meta(5) }).await.unwrap();
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
async fn what_is_used_is_kept_so_long_again_also_for_others_and_after_a_restart() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 100).await;
    let (other, _) = open(root.path(), 100).await;
    let at = |seconds| Timestamp::EPOCH.plus_seconds(seconds);
    for file in ["a", "b"] {
        put_with(&cache, file, b"1", Meta { ttl: Some(240), ..meta(1) }).await;
    }
    let cached = cache.get(&key("a")).await.unwrap().unwrap();
    assert_eq!(cached.used_at, at(0));
    assert!(!cached.is_worth_a_note(at(10)) && cached.is_worth_a_note(at(11)));
    cache.used(&cached, at(100)).await.unwrap();
    assert_eq!(other.get(&key("a")).await.unwrap().unwrap().used_at, at(100));
    assert_eq!(other.purge_expired(at(240)).await.unwrap(), 1, "the one that nobody used");
    drop(cache);
    let (again, _) = open(root.path(), 100).await;
    assert_eq!(again.purge_expired(at(339)).await.unwrap(), 0);
    assert_eq!(again.purge_expired(at(340)).await.unwrap(), 1);
}

#[tokio::test]
async fn nothing_expires_of_an_ecosystem_that_is_spared_and_it_is_still_given() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 100).await;
    put_with(&cache, "a", b"alpha", Meta { ttl: Some(60), ..meta(5) }).await;
    let late = Timestamp::EPOCH.plus_seconds(1_000);
    assert_eq!(cache.expire(late, vec![Ecosystem::Npm, Ecosystem::Pypi]).await.unwrap(), 0);
    assert_eq!(read(&cache, "a").await.unwrap(), b"alpha");
    assert_eq!(cache.expire(late, vec![Ecosystem::Npm]).await.unwrap(), 1);
    assert_eq!(read(&cache, "a").await, None);
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
    let purged = cache.purge(everything()).await.unwrap();
    assert!(purged.n_files > 0);
    assert_eq!(next().await, [], "a purge is told as a whole by whoever asked for it");
}

#[tokio::test]
async fn nothing_is_forgotten_when_nobody_records_it_any_more() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 10).await;
    let mut told = cache.evictions();
    for file in ["a", "b", "c"] {
        put(&cache, file, &[0; 4]).await;
    }
    told.close();
    put(&cache, "d", &[0; 4]).await;
    put_with(&cache, "e", &[0; 1], Meta { ttl: Some(60), ..meta(1) }).await;
    let late = Timestamp::EPOCH.plus_seconds(61);
    assert_eq!(cache.purge_expired(late).await.unwrap(), 0);
    let names = |gone: Vec<Evicted>| {
        gone.into_iter().map(|gone| gone.key.file().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(told.next(10).await), ["a"], "what went before is still told");
    assert_eq!(names(told.next(10).await), [""; 0]);
    for file in ["b", "c", "d", "e"] {
        assert!(read(&cache, file).await.is_some(), "{file}");
    }
    drop(cache);
    let (cache, _) = open(root.path(), 10).await;
    assert_eq!(cache.evictions().waiting(10).len(), 1, "the next start has no room for it");
}

fn purge(versions: Option<&str>, before: i64) -> Vec<Purge> {
    let selection = Selection::new(Some(Ecosystem::Pypi), Some("six"), versions).unwrap();
    vec![Purge { selection, before: Timestamp::EPOCH.plus_seconds(before) }]
}

#[tokio::test]
async fn a_purge_takes_what_it_means_and_not_what_came_later() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 1_000).await;
    let fetched = |at| Meta { created_at: Timestamp::EPOCH.plus_seconds(at), ..meta(1) };
    let names = ["six-1.16.0.tar.gz", "six-1.17.0.tar.gz", "six-1.17.0-py3-none-any.whl"];
    for (file, at) in names.into_iter().zip([1, 2, 9]) {
        put_with(&cache, file, b"1", fetched(at)).await;
    }
    let one = Purged { n_files: 1, size_bytes: 1 };
    assert_eq!(cache.purge(purge(Some(">=1.17"), 5)).await.unwrap(), one);
    let held = cache.held(names.map(key).to_vec()).await.unwrap();
    assert_eq!(held, HashSet::from([key(names[0]), key(names[2])]));
    assert_eq!(cache.purge(purge(Some(">=1.17"), 5)).await.unwrap(), Purged::default());
    let census = cache.census().await.unwrap();
    let kept = census.kept[&Ecosystem::Pypi];
    assert_eq!((kept.n, kept.size_bytes, census.max_bytes), (2, 2, 1_000));
    assert_eq!(census.forgotten[&Ecosystem::Pypi].purged, 1);
    assert_eq!(kept.oldest_at, Some(Timestamp::EPOCH.plus_seconds(1)));
    assert_eq!(kept.newest_at, Some(Timestamp::EPOCH.plus_seconds(9)));
    cache.purge(purge(None, 100)).await.unwrap();
    assert!(!root.path().join("files/pypi/six").exists(), "an empty folder goes too");
    put(&cache, "a", b"1").await;
    assert!(!root.path().join("files/pypi/six").exists(), "it was purged on its way");
    put_with(&cache, "a", b"1", fetched(101)).await;
    assert!(read(&cache, "a").await.is_some());
}

#[tokio::test]
async fn what_was_purged_on_its_way_is_not_kept_and_who_reads_reads_on() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 1_000).await;
    put(&cache, "a", b"alpha").await;
    let held = cache.get(&key("a")).await.unwrap().unwrap();
    let mut staged = cache.stage().await.unwrap();
    staged.write_all(b"12345").unwrap();
    assert_eq!(cache.purge(everything()).await.unwrap().n_files, 1);
    assert!(!cache.set(key("b"), Artifact { staged, meta: meta(5) }).await.unwrap());
    assert_eq!(cache.stats().entries, 0);
    let mut body = Vec::new();
    (&*held.file).read_to_end(&mut body).unwrap();
    assert_eq!(body, b"alpha");
}

#[tokio::test]
async fn two_that_share_a_folder_count_alike_and_keep_to_the_bound_together() {
    let root = tempfile::tempdir().unwrap();
    let (ours, _) = open(root.path(), 10).await;
    let (other, _) = open(root.path(), 10).await;
    put(&ours, "a", &[0; 4]).await;
    put(&ours, "b", &[0; 4]).await;
    put(&other, "c", &[0; 4]).await;
    let kept = |census: &Census| census.kept.get(&Ecosystem::Pypi).map_or(0, |kept| kept.n);
    assert_eq!(kept(&ours.census().await.unwrap()), 2, "the third had to go");
    assert_eq!(kept(&other.census().await.unwrap()), 2);
    // The keeper's round is enough, also when nobody looks.
    let (third, _) = open(root.path(), 10).await;
    put(&ours, "d", &[0; 4]).await;
    third.purge_expired(Timestamp::EPOCH).await.unwrap();
    assert_eq!(third.stats().size_bytes, 8);
    assert_eq!(ours.purge(everything()).await.unwrap().n_files, 2);
    assert_eq!(other.purge(everything()).await.unwrap().n_files, 0);
    assert_eq!((ours.stats().entries, other.stats().entries), (0, 0));
}

#[test]
fn a_file_tells_its_version_as_its_ecosystem_writes_it() {
    let digest = format!("sha256-{}", "0a".repeat(32));
    for (ecosystem, package, file, wanted) in [
        (Ecosystem::Pypi, "six", "six-1.17.0-py2.py3-none-any.whl", Some("1.17.0")),
        (Ecosystem::Pypi, "six", "six-1.17.0-py2.py3-none-any.whl.metadata", Some("1.17.0")),
        (Ecosystem::Pypi, "six", "six.exe", None),
        (Ecosystem::Npm, "@types/node", "node-1.0.0-rc.1.tgz", Some("1.0.0-rc.1")),
        (Ecosystem::Npm, "jsonstream", "JSONStream-1.0.0.tgz", Some("1.0.0")),
        (Ecosystem::Npm, "x", "else.tgz", None),
        (Ecosystem::Cargo, "serde_json", "serde_json-1.0.0.crate", Some("1.0.0")),
        (Ecosystem::Go, "a.b/c", "v1.0.0.zip", Some("v1.0.0")),
        (Ecosystem::Docker, "library/alpine", &digest, Some(&*digest.replace('-', ":"))),
    ] {
        let version = CacheKey::new(ecosystem, package, file).unwrap().version();
        let found = version.as_ref().map(weir_aggregates::registry::version::Version::as_str);
        assert_eq!(found, wanted, "{file}");
    }
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

#[tokio::test]
async fn an_old_body_is_never_served_under_the_hash_of_the_one_that_was_to_replace_it() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 100).await;
    put(&cache, "a", b"old").await;
    let staged = cache.stage().await.unwrap();
    // The crash: what was to be put into place is not there any more.
    fs::remove_file(staged.path()).unwrap();
    let sha256 = hex::encode(Sha256::digest(b"new"));
    assert!(
        cache.set(key("a"), Artifact { staged, meta: Meta { sha256, ..meta(3) } }).await.is_err()
    );
    assert_eq!(read(&cache, "a").await, None);
}

#[tokio::test]
async fn what_a_process_did_not_write_itself_is_hashed_before_it_is_served() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 100).await;
    put(&cache, "a", b"alpha").await;
    put(&cache, "b", b"beta!").await;
    let at = root.path().join("files/pypi/six/a");
    fs::write(&at, "wrong").unwrap();
    let (again, repair) = open(root.path(), 100).await;
    assert_eq!(repair.total(), 0, "its size fits");
    assert_eq!(read(&again, "a").await, None);
    assert!(!at.exists() && !described(&at).exists());
    assert_eq!(read(&again, "b").await.unwrap(), b"beta!");
}

#[test]
fn modules_of_go_that_differ_in_case_lie_in_places_that_do_not() {
    let key = |module: &str, file: &str| CacheKey::new(Ecosystem::Go, module, file).unwrap();
    let upper = key("github.com/Azure/x", "v1.0.0-RC1.zip");
    let place = ("github.com%2f!azure%2fx".to_owned(), "v1.0.0-!r!c1.zip".to_owned());
    assert_eq!(upper.place(), place);
    assert_eq!(CacheKey::at(Ecosystem::Go, &place.0, &place.1), Some(upper));
    // Where such files lay before: nobody knows which of the two it is.
    assert_eq!(CacheKey::at(Ecosystem::Go, "github.com%2fAzure%2fx", "v1.0.0.zip"), None);
}

#[tokio::test]
async fn a_zip_of_go_in_an_old_place_is_removed_when_the_cache_is_opened() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("files/go/github.com%2fAzure%2fx");
    fs::create_dir_all(&folder).unwrap();
    let body = folder.join("v1.0.0.zip");
    fs::write(&body, "zip").unwrap();
    fs::write(described(&body), serde_json::to_vec(&meta(3)).unwrap()).unwrap();
    let (cache, repair) = open(root.path(), 100).await;
    assert_eq!((repair.n_incomplete, cache.stats().entries), (1, 0));
    assert!(!body.exists() && !described(&body).exists());
}

/// The body of a file, where it lies.
fn lying(root: &Path, file: &str) -> PathBuf {
    root.join("files/pypi/six").join(file)
}

/// Puts another file into the place of a body, as whoever shares the folder does.
fn replace(root: &Path, file: &str, body: &[u8]) {
    let other = root.join("other");
    fs::write(&other, body).unwrap();
    fs::rename(other, lying(root, file)).unwrap();
}

#[tokio::test]
async fn what_another_process_put_into_the_place_of_what_was_right_is_hashed_again() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 100).await;
    for file in ["a", "b"] {
        put(&cache, file, b"alpha").await;
        assert!(matches!(cache.look(&key(file)).await.unwrap(), Some(Looked::Right(_))));
    }
    replace(root.path(), "a", b"alpha");
    replace(root.path(), "b", b"torn!");
    assert!(matches!(cache.look(&key("a")).await.unwrap(), Some(Looked::Unhashed(_))));
    assert_eq!(read(&cache, "a").await.unwrap(), b"alpha");
    assert!(matches!(cache.look(&key("a")).await.unwrap(), Some(Looked::Right(_))));
    assert_eq!(read(&cache, "b").await, None);
    assert!(!lying(root.path(), "b").exists());
}

#[tokio::test]
async fn that_a_file_was_used_does_not_make_it_another_one() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 100).await;
    put(&cache, "a", b"alpha").await;
    let cached = cache.get(&key("a")).await.unwrap().unwrap();
    cache.used(&cached, Timestamp::EPOCH.plus_seconds(100)).await.unwrap();
    assert!(matches!(cache.look(&key("a")).await.unwrap(), Some(Looked::Right(_))));
}

#[tokio::test]
async fn what_is_not_what_it_was_is_told_as_forgotten_once() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 100).await;
    let mut told = cache.evictions();
    for (file, body) in [("short", b"123".as_slice()), ("other", b"54321")] {
        put(&cache, file, b"12345").await;
        replace(root.path(), file, body);
        for _ in 0..2 {
            assert_eq!(read(&cache, file).await, None);
        }
    }
    let gone: Vec<_> =
        told.waiting(10).into_iter().map(|gone| (gone.key.file().to_owned(), gone.cause)).collect();
    let wanted = ["short", "other"].map(|file| (file.to_owned(), EvictionCause::Broken));
    assert_eq!(gone, wanted);
    assert_eq!(cache.census().await.unwrap().forgotten[&Ecosystem::Pypi].broken, 2);
    // Where nobody would record it, it stays, and is served all the same by nobody.
    put(&cache, "late", b"12345").await;
    replace(root.path(), "late", b"54321");
    told.close();
    assert_eq!(read(&cache, "late").await, None);
    assert!(lying(root.path(), "late").exists());
}

#[tokio::test]
async fn what_the_disk_does_not_take_is_forgotten_and_what_it_takes_stays() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 100).await;
    let mut told = cache.evictions();
    put(&cache, "taken", b"12345").await;
    cache.unflushed().await;
    cache.flush().await;
    put(&cache, "unknown", b"12345").await;
    cache.flush_by(|_| Err(io::ErrorKind::InvalidInput.into())).await;
    put(&cache, "lost", b"12345").await;
    put(&cache, "replaced", b"12345").await;
    replace(root.path(), "replaced", b"12345");
    cache.flush_by(|_| Err(io::ErrorKind::StorageFull.into())).await;
    for (file, stays) in [("taken", true), ("unknown", true), ("lost", false), ("replaced", true)] {
        assert_eq!(read(&cache, file).await.is_some(), stays, "{file}");
    }
    let gone = told.waiting(10);
    assert_eq!(gone.len(), 1);
    assert_eq!((gone[0].key.file(), gone[0].cause), ("lost", EvictionCause::Broken));
    // Each is flushed once.
    cache.flush_by(|_| panic!("again")).await;
}

#[tokio::test]
async fn what_is_purged_while_it_is_hashed_is_read_on_and_kept_no_more() {
    let root = tempfile::tempdir().unwrap();
    let (cache, _) = open(root.path(), 100).await;
    put(&cache, "a", b"alpha").await;
    cache.forget_trust();
    let Some(Looked::Unhashed(found)) = cache.look(&key("a")).await.unwrap() else {
        panic!("it is trusted")
    };
    assert_eq!(cache.purge(everything()).await.unwrap().n_files, 1);
    assert!(cache.verify(&key("a"), found, |_| {}).await.unwrap().is_some());
    assert_eq!((cache.stats().entries, read(&cache, "a").await), (0, None));
}
