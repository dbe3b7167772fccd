//! Tarballs: judged when served, verified before kept, fetched once.

use futures_util::{StreamExt as _, future::join_all};
use http::{
    StatusCode,
    header::{
        ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
        IF_NONE_MATCH, RANGE, WARNING,
    },
};
use serde_json::json;
use tokio::sync::Semaphore;
use weir_events::registry::Mask;

use super::{super::testing::rule, *};
use crate::registry::cache::CachePlugin as _;

const FILE: &str = "/pad/-/pad-1.0.0.tgz";
const UPSTREAM: &str = "/tarballs/pad-1.0.0.tgz";

async fn promising(dist: Value) -> Weir {
    let weir = Weir::start().await;
    weir.upstream.promise(dist);
    weir
}

#[tokio::test]
async fn an_allowed_tarball_is_verified_kept_and_then_served_without_the_upstream() {
    let weir = promising(json!({"integrity": integrity(b"good!")})).await;
    weir.upstream.put(UPSTREAM, Canned::new("good!"));
    let answer = weir.get(FILE).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers[CONTENT_TYPE], "application/octet-stream");
    assert!(!answer.headers.contains_key(WARNING));
    assert_eq!(body(answer).await.unwrap(), "good!");
    weir.until("kept", || weir.recorded().contains(&"stored")).await;
    weir.upstream.remove(UPSTREAM);
    assert_eq!(body(weir.get(FILE).await).await.unwrap(), "good!");
    assert_eq!(weir.upstream.n_asked(UPSTREAM), 1);
    assert_eq!(weir.plugin.cache().stats().entries, 1);
    let allowed = weir.events().into_iter().find_map(|event| match event {
        Event::PackageAllowed(allowed) => Some(allowed),
        _ => None,
    });
    let allowed = allowed.expect("the decision is on record");
    assert_eq!(
        (allowed.ecosystem, allowed.package.as_str(), allowed.version.as_deref()),
        (Ecosystem::Npm, "pad", Some("1.0.0"))
    );
    assert_eq!(allowed.file, "pad-1.0.0.tgz");
}

#[tokio::test]
async fn a_forbidden_tarball_is_refused_with_the_reason_even_when_it_is_here() {
    let weir = Weir::start().await;
    weir.upstream.package("pad", &["1.0.0", "1.1.0"]);
    let path = "/pad/-/pad-1.1.0.tgz";
    body(weir.get(path).await).await.unwrap();
    weir.until("kept", || weir.recorded().contains(&"stored")).await;
    let told = "Blocked by Weir: too young (rule 019a0000-0000-7000-8000-000000000001)";
    for (revision, mask) in [(2, Mask::Mark), (3, Mask::DenyOnly), (4, Mask::Hide)] {
        weir.rules(revision, &[rule(1, "pad", ">=1.1", mask)]);
        for path in [path, "/pad/-/blocked/whatever/pad-1.1.0.tgz"] {
            let refused = weir.get(path).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN);
            assert_eq!(refused.reason.as_deref(), Some(told));
            assert_eq!(refused.headers["npm-notice"], told);
            assert_eq!(refused.headers[CONTENT_TYPE], "application/json");
            let said = error(refused).await;
            for words in [told, "version 1.1.0 of `pad`", "1.0.0 is allowed", "recorded as event"] {
                assert!(said.contains(words), "{said}");
            }
        }
    }
    let Some(Event::PackageBlocked(blocked)) = weir.events().pop() else { panic!("no refusal") };
    assert_eq!((blocked.reason.as_str(), blocked.mask), ("too young", Mask::Hide));
    assert_eq!((blocked.ecosystem, blocked.policy_revision), (Ecosystem::Npm, 4));
    // The step that said why does not stand in the way once the rule is gone.
    weir.rules(5, &[]);
    assert_eq!(weir.get("/pad/-/blocked/whatever/pad-1.1.0.tgz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_refused_tarball_is_not_even_fetched() {
    let weir = Weir::start().await;
    weir.upstream.package("pad", &["1.0.0"]);
    weir.rules(1, &[rule(1, "pad", "*", Mask::Mark)]);
    let refused = weir.get(FILE).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert_eq!(weir.upstream.n_asked("/tarballs/pad/-/pad-1.0.0.tgz"), 0);
    assert!(error(refused).await.contains("no version of it is allowed"));
}

#[tokio::test]
async fn bytes_that_do_not_fit_never_end_cleanly_and_are_not_kept() {
    for dist in [
        json!({"integrity": integrity(b"good!")}),
        json!({"integrity": format!("{} {}", integrity(b"good!"), integrity(b"also!"))}),
        // A weak hash that fits does not help.
        json!({"integrity": integrity(b"good!"), "shasum": "bebcb9caf9d57e3f14bb0a4c1de26ce8b0fe8f5b"}),
    ] {
        let weir = promising(dist).await;
        let gate = Arc::new(Semaphore::new(9));
        weir.upstream.put(UPSTREAM, Canned::gated(&[b"ev", b"il", b"!"], &gate));
        for part in [None, Some("bytes=0-0")] {
            let answer = match part {
                None => weir.get(FILE).await,
                Some(part) => weir.get_with(FILE, RANGE, part).await,
            };
            if answer.status == StatusCode::BAD_GATEWAY {
                assert!(error(answer).await.contains("do not fit"));
            } else {
                let broken = body(answer).await.unwrap_err();
                assert!(broken.contains("do not fit its index"), "{broken}");
            }
            gate.add_permits(9);
        }
        weir.until("rejected", || weir.recorded().contains(&"rejected")).await;
        assert_eq!(weir.plugin.cache().stats().entries, 0);
    }
}

#[tokio::test]
async fn one_of_several_integrities_is_enough_and_the_kept_bytes_go_on_fitting() {
    let weir = promising(json!({
        "integrity": format!("{} {}", integrity(b"other"), integrity(b"good!")),
    }))
    .await;
    weir.upstream.put(UPSTREAM, Canned::new("good!"));
    for _ in 0..2 {
        assert_eq!(body(weir.get(FILE).await).await.unwrap(), "good!");
        weir.until("kept", || weir.recorded().contains(&"stored")).await;
    }
    assert_eq!(weir.upstream.n_asked(UPSTREAM), 1);
}

#[tokio::test]
async fn a_sum_alone_is_verified_but_nothing_is_kept_by_it() {
    // Of `abc`.
    let weir = promising(json!({"shasum": "a9993e364706816aba3e25717850c26c9cd0d89d"})).await;
    weir.upstream.put(UPSTREAM, Canned::new("abd"));
    let refused = weir.get(FILE).await;
    assert_eq!(refused.status, StatusCode::BAD_GATEWAY);
    assert!(error(refused).await.contains("do not fit its index: sha1"));
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
async fn nothing_promised_passes_through_unpacked_by_nobody_and_is_not_kept() {
    let weir = promising(json!({})).await;
    weir.upstream.put(UPSTREAM, Canned::new("whatever").with(CONTENT_ENCODING, "gzip"));
    let answer = weir.get_with(FILE, ACCEPT_ENCODING, "gzip,deflate").await;
    assert!(!answer.headers.contains_key(CONTENT_ENCODING) && !answer.headers.contains_key(ETAG));
    assert!(answer.headers[WARNING].to_str().unwrap().contains("promises no hash"));
    assert_eq!(text(answer).await, "whatever");
    assert_eq!(weir.upstream.last_headers(UPSTREAM)[ACCEPT_ENCODING], "identity");
    assert_eq!((weir.plugin.cache().stats().entries, weir.recorded()), (0, vec!["allowed"]));
}

#[tokio::test]
async fn parts_heads_and_validators_of_a_tarball() {
    let weir = promising(json!({"integrity": integrity(b"0123456789")})).await;
    weir.upstream.put(UPSTREAM, Canned::new("0123456789"));
    let head = weir.head(FILE).await;
    assert_eq!(
        (head.status, &head.headers[CONTENT_LENGTH]),
        (StatusCode::OK, &"10".parse().unwrap())
    );
    assert!(weir.events().is_empty());
    for _ in 0..2 {
        let part = weir.get_with(FILE, RANGE, "bytes=4-6").await;
        assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
        assert_eq!(part.headers[CONTENT_RANGE], "bytes 4-6/10");
        assert_eq!(body(part).await.unwrap(), "456");
        weir.until("kept", || weir.recorded().contains(&"stored")).await;
    }
    let etag = head.headers[ETAG].to_str().unwrap().to_owned();
    let same = weir.get_with(FILE, IF_NONE_MATCH, &etag).await;
    assert_eq!(same.status, StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn many_cold_clients_make_one_fetch_and_read_while_it_comes() {
    let whole = [vec![b'a'; 300_000], vec![b'b'; 300_000]].concat();
    let weir = promising(json!({"integrity": integrity(&whole)})).await;
    let gate = Arc::new(Semaphore::new(2));
    let pieces = [&whole[..300_000], &whole[300_000..300_001], &whole[300_001..]];
    weir.upstream.put(UPSTREAM, Canned::gated(&pieces, &gate));
    let answers = join_all((0..64).map(|_| weir.get(FILE))).await;
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
    assert_eq!(weir.upstream.n_asked("/registry/pad"), 1);
}

#[tokio::test]
async fn a_tarball_is_found_by_its_usual_name_and_by_the_upstreams() {
    let weir = Weir::start().await;
    let dist = json!({"tarball": "/odd/pad.tgz", "integrity": integrity(b"good!")});
    weir.upstream.packument("pad", &json!({"versions": {"1.0.0": {"dist": dist}}}));
    weir.upstream.put("/odd/pad.tgz", Canned::new("good!"));
    let listed = weir.json("/pad").await["versions"]["1.0.0"]["dist"]["tarball"].clone();
    assert_eq!(listed, "https://weir.example/npm/pad/-/pad.tgz");
    for path in ["/pad/-/pad.tgz", "/pad/-/pad-1.0.0.tgz"] {
        assert_eq!(body(weir.get(path).await).await.unwrap(), "good!", "{path}");
        weir.until("kept", || weir.recorded().contains(&"stored")).await;
    }
    assert_eq!(weir.upstream.n_asked("/odd/pad.tgz"), 1);
    weir.rules(1, &[rule(1, "pad", "1.0.0", Mask::DenyOnly)]);
    for path in ["/pad/-/pad.tgz", "/pad/-/pad-1.0.0.tgz"] {
        assert_eq!(weir.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    let missing = weir.get("/pad/-/pad-9.9.9.tgz").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert_eq!(error(missing).await, "`pad` has no tarball `pad-9.9.9.tgz`");
}

#[tokio::test]
async fn a_tarball_that_is_newer_than_the_packument_is_found_by_asking_again() {
    let weir = Weir::start_with(|config| config.keeping.recent = std::time::Duration::ZERO).await;
    weir.upstream.package("pad", &["1.0.0"]);
    assert_eq!(weir.get(FILE).await.status, StatusCode::OK);
    assert_eq!(weir.get("/pad/-/pad-1.1.0.tgz").await.status, StatusCode::NOT_FOUND);
    weir.upstream.package("pad", &["1.0.0", "1.1.0"]);
    assert_eq!(weir.get("/pad/-/pad-1.1.0.tgz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_cut_down_mirror_that_does_not_say_where_its_tarballs_are_is_asked_at_the_usual_place() {
    let weir = Weir::start().await;
    weir.upstream.packument("@s%2fn", &json!({"versions": {"1.0.0": {}}}));
    weir.upstream.put("/registry/@s/n/-/n-1.0.0.tgz", Canned::new("there"));
    let listed = weir.json("/@s/n").await["versions"]["1.0.0"]["dist"]["tarball"].clone();
    assert_eq!(listed, "https://weir.example/npm/@s/n/-/n-1.0.0.tgz");
    assert_eq!(text(weir.get("/@s/n/-/n-1.0.0.tgz").await).await, "there");
}

#[tokio::test]
async fn a_rule_that_comes_while_the_upstream_is_asked_still_bites() {
    let weir = promising(json!({"integrity": integrity(b"good!")})).await;
    let gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"od!"], &gate));
    let changing = async {
        weir.until("asked", || weir.upstream.n_asked(UPSTREAM) == 1).await;
        weir.rules(2, &[rule(1, "pad", "*", Mask::Mark)]);
        gate.add_permits(2);
    };
    let (answer, ()) = tokio::join!(weir.get(FILE), changing);
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(!weir.recorded().contains(&"allowed"));
}

#[tokio::test]
async fn stopping_breaks_what_is_still_coming() {
    let weir = promising(json!({"integrity": integrity(b"good!")})).await;
    let gate = Arc::new(Semaphore::new(2));
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"od", b"!"], &gate));
    let answer = weir.get(FILE).await;
    weir.lifecycle.stop(std::time::Duration::from_millis(1)).await;
    assert!(body(answer).await.is_err());
}

#[tokio::test]
async fn a_length_that_lies_is_no_clean_end() {
    let weir = promising(json!({"integrity": integrity(b"good!")})).await;
    let gate = Arc::new(Semaphore::new(9));
    for announced in [3, 99] {
        let lying = Canned::gated(&[b"go", b"od!"], &gate).announcing(announced).breaking_off();
        weir.upstream.put(UPSTREAM, lying);
        let answer = weir.get(FILE).await;
        if answer.status == StatusCode::OK {
            assert!(body(answer).await.is_err(), "{announced}");
        } else {
            assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{announced}");
        }
        gate.add_permits(9);
    }
    assert_eq!(weir.plugin.cache().stats().entries, 0);
}

#[tokio::test]
async fn a_tarball_whose_integrity_changes_is_refused() {
    let weir = Weir::start_with(|config| config.keeping.ttl = std::time::Duration::ZERO).await;
    let path = "/left-pad/-/left-pad-1.0.0.tgz";
    let put = |bytes: &[u8]| {
        weir.upstream.put("/t.tgz", Canned::new(bytes.to_vec()));
        let url = weir.upstream.url("/t.tgz");
        let dist = serde_json::json!({"tarball": url.as_str(), "integrity": integrity(bytes)});
        let packument =
            serde_json::json!({"name": "left-pad", "versions": {"1.0.0": {"dist": dist}}});
        weir.upstream.packument("left-pad", &packument);
    };
    put(b"as it was published");
    assert_eq!(weir.get(path).await.status, http::StatusCode::OK);
    put(b"something else");
    let refused = weir.get(path).await;
    assert_eq!(refused.status, http::StatusCode::FORBIDDEN);
    let told = error(refused).await;
    assert!(told.contains("its digest changed") && told.contains("sha512"), "{told}");
}
