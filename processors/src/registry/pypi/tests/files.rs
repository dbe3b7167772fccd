//! Files: judged when served, verified before kept, fetched once.

use std::time::Duration;

use futures_util::future::join_all;
use http::{
    StatusCode,
    header::{
        ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, IF_NONE_MATCH,
        IF_RANGE, RANGE, RETRY_AFTER, WARNING,
    },
};
use sha2::{Digest as _, Sha256, Sha512};
use tokio::sync::Semaphore;
use weir_events::{
    registry::{Event, Mask},
    timestamp::Timestamp,
};

use super::{super::testing::rule, *};
use crate::registry::{
    cache::{CacheKey, CachePlugin},
    download::Room,
};

const FILE: &str = "/files/six/six-1.16.0.tar.gz";
const UPSTREAM: &str = "/packages/six-1.16.0.tar.gz";

/// Waits until a fact holds.
async fn until(weir: &Weir, what: &str, fact: impl Fn() -> bool) {
    crate::registry::testing::until(|| weir.events(), what, fact).await;
}

async fn six() -> Weir {
    let weir = Weir::start().await;
    weir.upstream.project("six", &["1.16.0", "1.17.0"]);
    weir
}

#[tokio::test]
async fn a_file_that_is_used_is_kept_for_so_long_again() {
    let weir = six().await;
    let day = Duration::from_hours(24).as_secs();
    let hour = |n: i64| Timestamp::from_micros(1_767_225_600_000_000).plus_seconds(n * 3_600);
    let key = CacheKey::new(Ecosystem::Pypi, "six", "six-1.16.0.tar.gz").unwrap();
    weir.set_hour(0);
    body(weir.get(FILE).await).await.unwrap();
    until(&weir, "kept", || weir.recorded().contains(&"stored")).await;
    let cache = weir.plugin.cache();
    let kept = cache.get(&key).await.unwrap().unwrap();
    assert_eq!((kept.meta.ttl, kept.used_at), (Some(day), hour(0)));
    weir.set_hour(20);
    body(weir.get(FILE).await).await.unwrap();
    assert_eq!(cache.get(&key).await.unwrap().unwrap().used_at, hour(20));
    assert_eq!(cache.purge_expired(hour(43)).await.unwrap(), 0);
    assert_eq!(cache.purge_expired(hour(44)).await.unwrap(), 1);
}

/// A page whose one file promises these bytes.
fn promise(weir: &Weir, bytes: &[u8], size: Option<usize>) {
    let hash = hex::encode(Sha256::digest(bytes));
    weir.upstream.page(
        "six",
        &serde_json::json!({"files": [{
            "filename": "six-1.16.0.tar.gz", "url": format!("../..{UPSTREAM}"),
            "hashes": {"sha256": hash}, "size": size,
        }]}),
    );
}

#[tokio::test]
async fn an_allowed_file_is_recorded_verified_kept_and_then_served_without_the_upstream() {
    let weir = six().await;
    let answer = weir.get(FILE).await;
    assert_eq!(answer.status, StatusCode::OK);
    // A file as short as this may be kept before its decision is on record, or after it.
    let events = weir.events();
    let decision = events.iter().enumerate().find_map(|(n, event)| match event {
        Event::PackageAllowed(allowed) => Some((n + 1, allowed)),
        _ => None,
    });
    let (position, allowed) = decision.expect("the decision is on record with the answer");
    assert_eq!(
        (allowed.version.as_deref(), allowed.file.as_str()),
        (Some("1.16.0"), "six-1.16.0.tar.gz")
    );
    assert_eq!(answer.headers["weir-position"], position.to_string().as_str());
    let size = content("six-1.16.0.tar.gz").len();
    assert_eq!(answer.headers[CONTENT_LENGTH], size.to_string().as_str());
    assert_eq!(body(answer).await.unwrap(), content("six-1.16.0.tar.gz"));
    until(&weir, "kept", || weir.recorded().contains(&"stored")).await;

    weir.upstream.remove(UPSTREAM);
    let again = weir.get(FILE).await;
    assert_eq!(body(again).await.unwrap(), content("six-1.16.0.tar.gz"));
    assert_eq!(weir.upstream.n_asked(UPSTREAM), 1);
    let mut recorded = weir.recorded();
    assert_eq!(recorded.pop(), Some("allowed"));
    recorded.sort_unstable();
    assert_eq!(recorded, ["allowed", "stored"]);
    assert_eq!(weir.plugin.cache().stats().entries, 1);
}

#[tokio::test]
async fn a_forbidden_file_is_refused_with_the_reason_even_when_it_is_here() {
    let weir = six().await;
    let path = "/files/six/six-1.17.0.tar.gz";
    body(weir.get(path).await).await.unwrap();
    until(&weir, "kept", || weir.recorded().contains(&"stored")).await;
    weir.rules(7, &[rule(1, "six", ">=1.17", Mask::DenyOnly)]);
    let head = weir.head(path).await;
    assert_eq!((head.status, weir.recorded().len()), (StatusCode::FORBIDDEN, 2));
    let refused = weir.get(path).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let told = "Blocked by Weir: too young (rule 019a0000-0000-7000-8000-000000000001)";
    assert_eq!(refused.reason.as_deref(), Some(told));
    assert_eq!(refused.headers["weir-position"], "3");
    let said = text(refused).await;
    for words in
        [told, "version 1.17.0 of `six` is not let through", "1.16.0 is allowed", "event 3"]
    {
        assert!(said.contains(words), "{said}");
    }
    let Event::PackageBlocked(blocked) = weir.events()[2].clone() else { panic!("no refusal") };
    assert_eq!((blocked.reason.as_str(), blocked.source.as_str()), ("too young", "rules"));
    assert_eq!((blocked.policy_revision, blocked.mask), (7, Mask::DenyOnly));
    assert_eq!(weir.plugin.stats().blocked, 2);
}

#[tokio::test]
async fn a_refused_file_is_not_even_fetched() {
    let weir = six().await;
    weir.rules(1, &[rule(1, "six", "*", Mask::Hide)]);
    let refused = weir.get(FILE).await;
    assert_eq!((refused.status, weir.upstream.n_asked(UPSTREAM)), (StatusCode::FORBIDDEN, 0));
    assert!(text(refused).await.contains("no version of it is allowed"));
}

#[tokio::test]
async fn parts_of_a_file_can_be_asked_for_before_and_after_it_is_kept() {
    let weir = six().await;
    let whole = content("six-1.16.0.tar.gz");
    for _ in 0..2 {
        let part = weir.get_with(FILE, RANGE, "bytes=4-10").await;
        assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
        assert_eq!(part.headers[CONTENT_RANGE], format!("bytes 4-10/{}", whole.len()).as_str());
        assert_eq!(
            (&part.headers[CONTENT_LENGTH], &part.headers[ACCEPT_RANGES]),
            (&"7".parse().unwrap(), &"bytes".parse().unwrap())
        );
        assert_eq!(body(part).await.unwrap(), whole[4..11]);
        let last = weir.get_with(FILE, RANGE, "bytes=-7").await;
        assert_eq!(body(last).await.unwrap(), whole[whole.len() - 7..]);
        until(&weir, "kept", || weir.recorded().contains(&"stored")).await;
    }
    let outside = weir.get_with(FILE, RANGE, "bytes=999-").await;
    assert_eq!(outside.status, StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(outside.headers[CONTENT_RANGE], format!("bytes */{}", whole.len()).as_str());
    let other = [(RANGE, "bytes=0-1"), (IF_RANGE, "\"other\"")];
    assert_eq!(weir.ask(Method::GET, FILE, &other).await.status, StatusCode::OK);
    let several = weir.get_with(FILE, RANGE, "bytes=0-1,3-4").await;
    assert_eq!((several.status, body(several).await.unwrap().len()), (StatusCode::OK, whole.len()));
}

#[tokio::test]
async fn head_tells_the_true_size_without_fetching_and_a_known_file_is_not_sent_again() {
    let weir = six().await;
    let head = weir.head(FILE).await;
    let size = content("six-1.16.0.tar.gz").len().to_string();
    assert_eq!(
        (head.status, &head.headers[CONTENT_LENGTH]),
        (StatusCode::OK, &size.parse().unwrap())
    );
    assert_eq!((weir.upstream.n_asked(UPSTREAM), weir.events().len()), (0, 0));
    let etag = head.headers[ETAG].to_str().unwrap().to_owned();
    let same = weir.get_with(FILE, IF_NONE_MATCH, &etag).await;
    assert_eq!((same.status, weir.events().len()), (StatusCode::NOT_MODIFIED, 0));
    promise(&weir, b"x", None);
    let weir = Weir::start().await;
    promise(&weir, b"x", None);
    weir.upstream.put(UPSTREAM, Canned::new("12345"));
    let head = weir.head(FILE).await;
    assert_eq!(
        (&head.headers[CONTENT_LENGTH], weir.upstream.n_asked(UPSTREAM)),
        (&"5".parse().unwrap(), 1)
    );
}

#[tokio::test]
async fn bytes_that_do_not_fit_never_end_cleanly_and_are_not_kept() {
    for pieces in [&[b"evil!".as_slice()][..], &[b"ev".as_slice(), b"il", b"!"]] {
        let weir = Weir::start().await;
        promise(&weir, b"good!", Some(5));
        let gate = Arc::new(Semaphore::new(9));
        weir.upstream.put(UPSTREAM, Canned::gated(pieces, &gate));
        for part in [None, Some("bytes=0-0"), Some("bytes=-1")] {
            let answer = match part {
                None => weir.get(FILE).await,
                Some(part) => weir.get_with(FILE, RANGE, part).await,
            };
            // Either before the first byte, or in the middle of the body.
            if answer.status == StatusCode::BAD_GATEWAY {
                assert!(text(answer).await.contains("do not fit"));
            } else {
                let broken = body(answer).await.unwrap_err();
                assert!(broken.contains("do not fit its index"), "{broken}");
            }
            gate.add_permits(9);
        }
        assert!(weir.recorded().contains(&"rejected") && !weir.recorded().contains(&"stored"));
        assert_eq!(weir.plugin.cache().stats().entries, 0);
        // The upstream comes to its senses.
        weir.upstream.put(UPSTREAM, Canned::new("good!"));
        assert_eq!(body(weir.get(FILE).await).await.unwrap(), "good!");
    }
}

#[tokio::test]
async fn a_size_that_does_not_fit_is_refused_before_the_first_byte() {
    let weir = Weir::start().await;
    promise(&weir, b"good!", Some(5));
    weir.upstream.put(UPSTREAM, Canned::new("good! and more"));
    let answer = weir.get(FILE).await;
    assert_eq!((answer.status, weir.recorded()), (StatusCode::BAD_GATEWAY, vec!["rejected"]));
}

#[tokio::test]
async fn a_download_that_breaks_off_is_an_error_and_leaves_nothing() {
    let weir = Weir::start().await;
    promise(&weir, b"good!", Some(5));
    let gate = Arc::new(Semaphore::new(9));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"o"], &gate).breaking_off());
    let answer = weir.get(FILE).await;
    if answer.status == StatusCode::OK {
        assert!(body(answer).await.is_err());
    } else {
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    }
    assert!(!weir.recorded().contains(&"rejected"), "a cut cable is nobody's lie");
    assert_eq!(weir.plugin.cache().stats().entries, 0);
}

#[tokio::test]
async fn many_cold_clients_make_one_fetch_and_read_while_it_comes() {
    let weir = Weir::start().await;
    let (first, second) = (vec![b'a'; 300_000], vec![b'b'; 300_000]);
    let whole = [first.clone(), second.clone()].concat();
    promise(&weir, &whole, Some(whole.len()));
    let gate = Arc::new(Semaphore::new(2));
    weir.upstream.put(UPSTREAM, Canned::gated(&[&first, &second[..1], &second[1..]], &gate));
    let answers = join_all((0..64).map(|_| weir.get(FILE))).await;
    // The end is still at the upstream, and the beginning is here already.
    let mut bodies = Vec::new();
    for answer in answers {
        let Body::Stream(mut stream) = answer.body else { panic!("no stream") };
        let piece = stream.next().await.unwrap().unwrap();
        assert!(piece.iter().all(|b| *b == b'a'));
        bodies.push((piece.len(), stream));
    }
    gate.add_permits(1);
    for (n_read, stream) in bodies {
        let rest: usize =
            stream.map(|piece| piece.unwrap().len()).collect::<Vec<_>>().await.iter().sum();
        assert_eq!(n_read + rest, whole.len());
    }
    assert_eq!(weir.upstream.n_asked(UPSTREAM), 1);
    assert_eq!(weir.upstream.n_asked("/simple/six/"), 1);
}

#[tokio::test]
async fn a_client_that_goes_away_does_not_stop_the_download() {
    let weir = Weir::start().await;
    promise(&weir, b"good!", Some(5));
    let gate = Arc::new(Semaphore::new(2));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"od", b"!"], &gate));
    drop(weir.get(FILE).await);
    gate.add_permits(1);
    until(&weir, "kept", || weir.recorded().contains(&"stored")).await;
    assert_eq!(body(weir.get(FILE).await).await.unwrap(), "good!");
    assert_eq!(weir.upstream.n_asked(UPSTREAM), 1);
}

#[tokio::test]
async fn a_rule_that_comes_while_the_upstream_is_asked_still_bites() {
    let weir = Weir::start().await;
    promise(&weir, b"good!", Some(5));
    let gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"od!"], &gate));
    let changing = async {
        until(&weir, "asked", || weir.upstream.n_asked(UPSTREAM) == 1).await;
        weir.rules(2, &[rule(1, "six", "*", Mask::Mark)]);
        gate.add_permits(2);
    };
    let (answer, ()) = tokio::join!(weir.get(FILE), changing);
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(!weir.recorded().contains(&"allowed"));
}

#[tokio::test]
async fn core_metadata_and_signatures_are_gated_like_their_file_and_verified_by_their_own_hash() {
    let weir = Weir::start().await;
    let wheel = "six-1.0-py3-none-any.whl";
    let hash = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
    let page = |metadata: serde_json::Value| {
        serde_json::json!({"files": [
            {"filename": wheel, "url": format!("../../packages/{wheel}"), "hashes": {"sha256": hash(b"wheel")},
             "core-metadata": metadata, "gpg-sig": true},
            {"filename": "six-1.0.tar.gz", "url": "../../packages/six-1.0.tar.gz", "hashes": {}, "gpg-sig": false}
        ]})
    };
    weir.upstream.page("six", &page(serde_json::json!({"sha256": hash(b"Name: six")})));
    weir.upstream.put(&format!("/packages/{wheel}.metadata"), Canned::new("Name: six"));
    weir.upstream.put(&format!("/packages/{wheel}.asc"), Canned::new("signed"));
    let metadata = format!("/files/six/{wheel}.metadata");
    assert_eq!(text(weir.get(&metadata).await).await, "Name: six");
    until(&weir, "kept", || weir.recorded().contains(&"stored")).await;
    assert_eq!(text(weir.get(&format!("/files/six/{wheel}.asc")).await).await, "signed");
    for missing in ["/files/six/six-1.0.tar.gz.asc", "/files/six/six-1.0.tar.gz.metadata"] {
        assert_eq!(weir.get(missing).await.status, StatusCode::NOT_FOUND, "{missing}");
    }
    weir.rules(1, &[rule(1, "six", "==1.0", Mask::Mark)]);
    for path in [metadata, format!("/files/six/{wheel}.asc")] {
        assert_eq!(weir.get(&path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn a_file_that_is_newer_than_the_page_is_found_by_asking_again() {
    let newer = "/files/six/six-1.17.0.tar.gz";
    let weir = six().await;
    assert_eq!(weir.get("/files/six/six-9.tar.gz").await.status, StatusCode::NOT_FOUND);
    assert_eq!(weir.upstream.n_asked("/simple/six/"), 1, "a page this fresh is believed");

    let weir = Weir::start_with(|config| config.keeping.recent = Duration::ZERO).await;
    weir.upstream.project("six", &["1.16.0"]);
    assert_eq!(weir.get(FILE).await.status, StatusCode::OK);
    assert_eq!(weir.get(newer).await.status, StatusCode::NOT_FOUND);
    weir.upstream.project("six", &["1.16.0", "1.17.0"]);
    assert_eq!(weir.get(newer).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_file_without_a_promised_hash_passes_through_and_is_not_kept() {
    let weir = Weir::start().await;
    weir.upstream.page(
        "six",
        &serde_json::json!({"files": [{"filename": "six-1.16.0.tar.gz", "url": format!("../..{UPSTREAM}")}]}),
    );
    weir.upstream.put(UPSTREAM, Canned::new("whatever").with(CONTENT_ENCODING, "gzip"));
    let answer = weir.get(FILE).await;
    assert!(!answer.headers.contains_key(ETAG) && !answer.headers.contains_key(CONTENT_ENCODING));
    assert!(answer.headers[WARNING].to_str().unwrap().contains("promises no hash"));
    assert!(weir.head(FILE).await.headers.contains_key(WARNING));
    assert_eq!(text(answer).await, "whatever", "artifacts are never decoded");
    assert_eq!(weir.plugin.cache().stats().entries, 0);
    assert_eq!(weir.recorded(), ["allowed"]);
    weir.upstream.remove(UPSTREAM);
    assert_eq!(weir.get(FILE).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn stopping_breaks_what_is_still_coming() {
    let weir = Weir::start().await;
    promise(&weir, b"good!", Some(5));
    let gate = Arc::new(Semaphore::new(2));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"od", b"!"], &gate));
    let answer = weir.get(FILE).await;
    weir.lifecycle.stop(Duration::from_millis(1)).await;
    assert!(body(answer).await.is_err());
}

#[tokio::test]
async fn an_upstream_that_breaks_off_before_anything_was_sent_is_told_with_a_status() {
    let weir = Weir::start().await;
    promise(&weir, b"good!", Some(5));
    let gate = Arc::new(Semaphore::new(9));
    for pieces in [&[][..], &[b"go".as_slice()]] {
        let broken = Canned::gated(pieces, &gate).announcing(5).breaking_off();
        weir.upstream.put(UPSTREAM, broken);
        let answer = weir.get(FILE).await;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "after {} pieces", pieces.len());
        assert!(answer.reason.as_deref().unwrap().contains("could not fetch"), "{answer:?}");
        assert!(text(answer).await.contains("could not fetch"));
    }
    assert!(weir.recorded().is_empty(), "nothing was let through");
}

#[tokio::test]
async fn an_upstream_whose_first_bytes_do_not_come_is_told_and_the_download_goes_on() {
    let weir = Weir::start_with(|config| config.bounds.first = Duration::from_millis(50)).await;
    promise(&weir, b"good!", Some(5));
    let gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"od!"], &gate));
    let answer = weir.get(FILE).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    assert_eq!(answer.reason.as_deref(), Some("the upstream has sent nothing for 50ms"));
    gate.add_permits(2);
    until(&weir, "kept", || weir.recorded().contains(&"stored")).await;
    assert_eq!(body(weir.get(FILE).await).await.unwrap(), "good!");
    assert_eq!(weir.upstream.n_asked(UPSTREAM), 1);
}

#[tokio::test]
async fn what_does_not_fit_beside_what_is_coming_is_told_so_and_comes_later() {
    let weir = Weir::start_with(|config| {
        config.bounds.first = Duration::from_secs(2);
        config.bounds.room = Room::of(100);
    })
    .await;
    let file = |name: &str, size: usize| {
        let hash = hex::encode(Sha256::digest(b"good!"));
        serde_json::json!({"filename": name, "url": format!("../../packages/{name}"),
            "hashes": {"sha256": hash}, "size": size})
    };
    let files = [file("six-1.16.0.tar.gz", 5), file("six-1.17.0.tar.gz", 5)];
    let large = file("six-1.18.0.tar.gz", 101);
    weir.upstream.page("six", &serde_json::json!({"files": [files[0], files[1], large]}));
    let gate = Arc::new(Semaphore::new(1));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"od!"], &gate));
    let (other, at) = ("/files/six/six-1.17.0.tar.gz", "/packages/six-1.17.0.tar.gz");
    weir.upstream.put(at, Canned::new("good!"));
    weir.upstream.put("/packages/six-1.18.0.tar.gz", Canned::new("x".repeat(101)));
    // All of so small a room is one place.
    let meanwhile = async {
        weir.until("asked", || weir.upstream.n_asked(UPSTREAM) == 1).await;
        let refused = weir.get(other).await;
        gate.add_permits(1);
        refused
    };
    let (coming, refused) = tokio::join!(weir.get(FILE), meanwhile);
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers[RETRY_AFTER], "1");
    let told = text(refused).await;
    assert!(told.contains("may take 100 bytes at once (cache.max_staging)"), "{told}");
    assert_eq!(body(coming).await.unwrap(), "good!");
    until(&weir, "kept", || weir.recorded().contains(&"stored")).await;
    assert_eq!(body(weir.get(other).await).await.unwrap(), "good!");
    let never = weir.get("/files/six/six-1.18.0.tar.gz").await;
    assert_eq!(never.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(!never.headers.contains_key(RETRY_AFTER));
}

/// A page whose one file promises this hash and no other.
fn promise_by(weir: &Weir, name: &str, digits: &str) {
    weir.upstream.page(
        "six",
        &serde_json::json!({"files": [{
            "filename": "six-1.16.0.tar.gz", "url": format!("../..{UPSTREAM}"),
            "hashes": {name: digits},
        }]}),
    );
}

#[tokio::test]
async fn another_strong_hash_verifies_a_file_as_well() {
    let weir = Weir::start().await;
    promise_by(&weir, "sha512", &hex::encode(Sha512::digest(b"good!")));
    weir.upstream.put(UPSTREAM, Canned::new("evil!"));
    let refused = weir.get(FILE).await;
    assert_eq!((refused.status, weir.recorded()), (StatusCode::BAD_GATEWAY, vec!["rejected"]));
    weir.upstream.put(UPSTREAM, Canned::new("good!"));
    for _ in 0..2 {
        let answer = weir.get(FILE).await;
        assert!(!answer.headers.contains_key(WARNING));
        assert_eq!(body(answer).await.unwrap(), "good!");
        until(&weir, "kept", || weir.recorded().contains(&"stored")).await;
    }
    assert_eq!(weir.upstream.n_asked(UPSTREAM), 2, "the good one was kept");
    let stored = weir.events().into_iter().find_map(|event| match event {
        Event::CacheStored(stored) => Some(stored.sha256),
        _ => None,
    });
    assert_eq!(stored, Some(hex::encode(Sha256::digest(b"good!"))));
    // Another promise is another file, and no other file takes the place of one.
    let newer = hex::encode(Sha512::digest(b"newer"));
    let other = Weir::start_with(|config| config.keeping.ttl = Duration::ZERO).await;
    promise_by(&other, "sha512", &hex::encode(Sha512::digest(b"good!")));
    other.upstream.put(UPSTREAM, Canned::new("good!"));
    assert_eq!(body(other.get(FILE).await).await.unwrap(), "good!");
    promise_by(&other, "sha512", &newer);
    other.upstream.put(UPSTREAM, Canned::new("newer"));
    let refused = other.get(FILE).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(text(refused).await.contains("its digest changed"));
}

#[tokio::test]
async fn a_weak_hash_is_verified_but_nothing_is_kept_by_it() {
    let weir = Weir::start().await;
    // Of `abc`.
    promise_by(&weir, "md5", "900150983cd24fb0d6963f7d28e17f72");
    let gate = Arc::new(Semaphore::new(9));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"ab", b"d"], &gate));
    let answer = weir.get(FILE).await;
    let told = match answer.status {
        StatusCode::BAD_GATEWAY => text(answer).await,
        _ => body(answer).await.unwrap_err(),
    };
    assert!(told.contains("do not fit its index: md5"), "{told}");
    for n in 2..=3 {
        weir.upstream.put(UPSTREAM, Canned::new("abc"));
        let answer = weir.get(FILE).await;
        assert!(answer.headers[WARNING].to_str().unwrap().contains("only a weak hash"));
        assert_eq!(body(answer).await.unwrap(), "abc");
        assert_eq!(weir.upstream.n_asked(UPSTREAM), n);
    }
    assert_eq!(weir.plugin.cache().stats().entries, 0);
}

#[tokio::test]
async fn a_file_whose_digest_changes_or_is_lost_is_refused_with_both_digests() {
    let weir = Weir::start_with(|config| config.keeping.ttl = std::time::Duration::ZERO).await;
    let path = "/files/six/six-1.0.tar.gz";
    let page = |hashes: serde_json::Value| {
        let file = serde_json::json!({"filename": "six-1.0.tar.gz", "hashes": hashes,
            "url": "../../packages/six-1.0.tar.gz"});
        weir.upstream.page("six", &serde_json::json!({"name": "six", "files": [file]}));
    };
    weir.upstream.project("six", &["1.0"]);
    assert_eq!(text(weir.get(path).await).await.as_bytes(), content("six-1.0.tar.gz"));
    weir.until("kept", || weir.recorded().contains(&"stored")).await;
    let other = hex::encode([7; 32]);
    for hashes in [serde_json::json!({"sha256": other}), serde_json::json!({})] {
        page(hashes);
        let refused = weir.get(path).await;
        assert_eq!(refused.status, http::StatusCode::FORBIDDEN);
        assert!(refused.reason.as_deref().unwrap().contains("its digest changed"));
        let told = text(refused).await;
        assert!(told.contains("then (integrity)"), "{told}");
    }
    let events = weir.events();
    let blocked = events.iter().find_map(|event| match event {
        weir_events::registry::Event::PackageBlocked(blocked) => Some(blocked),
        _ => None,
    });
    let blocked = blocked.unwrap();
    assert_eq!(blocked.source, "integrity");
    assert!(blocked.reason.contains(&format!("sha256 {other} now")), "{}", blocked.reason);
    // What it was before, it may be again.
    weir.upstream.project("six", &["1.0"]);
    assert_eq!(weir.get(path).await.status, http::StatusCode::OK);
}

#[tokio::test]
async fn a_digest_that_no_bytes_had_binds_nobody() {
    let weir = Weir::start_with(|config| config.keeping.ttl = Duration::ZERO).await;
    // For a minute the index promises something else: at once it is seen, or in the middle.
    for pieces in [&[&b"good!"[..]][..], &[b"go", b"od", b"!"]] {
        promise(&weir, b"wrong", None);
        let gate = Arc::new(Semaphore::new(9));
        weir.upstream.put(UPSTREAM, Canned::gated(pieces, &gate));
        let answer = weir.get(FILE).await;
        match answer.status {
            StatusCode::BAD_GATEWAY => {}
            StatusCode::OK => assert!(body(answer).await.is_err()),
            other => panic!("{other}: the index may be repaired"),
        }
    }
    promise(&weir, b"good!", None);
    weir.upstream.put(UPSTREAM, Canned::new("good!"));
    assert_eq!(body(weir.get(FILE).await).await.unwrap(), "good!");
    until(&weir, "pinned", || !weir.pinned().is_empty()).await;
    assert_eq!(weir.pinned(), ["sha256 ".to_owned() + &hex::encode(Sha256::digest(b"good!"))]);
}

#[tokio::test]
async fn a_file_that_comes_slowly_is_pinned_when_it_is_whole_also_without_its_client() {
    let weir = Weir::start_with(|config| config.keeping.ttl = Duration::ZERO).await;
    promise(&weir, b"good!", None);
    let gate = Arc::new(Semaphore::new(2));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"od", b"!"], &gate));
    let answer = weir.get(FILE).await;
    assert_eq!((answer.status, weir.pinned().len()), (StatusCode::OK, 0));
    drop(answer);
    gate.add_permits(9);
    until(&weir, "pinned", || weir.pinned().len() == 1).await;
    promise(&weir, b"wrong", None);
    assert_eq!(weir.get(FILE).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn who_only_asks_about_a_file_is_told_what_who_downloads_it_is_told() {
    let weir = Weir::start_with(|config| config.keeping.ttl = Duration::ZERO).await;
    promise(&weir, b"good!", None);
    weir.upstream.put(UPSTREAM, Canned::new("good!"));
    assert_eq!(weir.head(FILE).await.status, StatusCode::OK);
    assert_eq!(weir.pinned(), Vec::<String>::new(), "to ask is not to be let through");
    assert_eq!(body(weir.get(FILE).await).await.unwrap(), "good!");
    promise(&weir, b"wrong", None);
    let tag = format!("\"{}\"", hex::encode(Sha256::digest(b"wrong")));
    assert_eq!(weir.head(FILE).await.status, StatusCode::FORBIDDEN);
    let unchanged = weir.get_with(FILE, IF_NONE_MATCH, &tag).await;
    assert_eq!(unchanged.status, StatusCode::FORBIDDEN);
}
