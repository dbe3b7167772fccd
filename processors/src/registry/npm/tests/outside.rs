//! What we are to the upstream, and what it can do to us.

use std::time::Duration;

use futures_util::future::join_all;
use http::{
    StatusCode,
    header::{
        ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG,
        IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER, USER_AGENT,
    },
};
use serde_json::json;
use tokio::sync::Semaphore;

use super::*;
use crate::{outbound::INSTANCE_HEADER, registry::testing::aged};

const PAGE: &str = "/registry/pad";

/// Packuments are never fresh.
async fn forgetful() -> Weir {
    Weir::start_with(|config| {
        config.keeping.ttl = Duration::ZERO;
        config.keeping.retry_after = Duration::ZERO;
    })
    .await
}

#[tokio::test]
async fn a_packument_is_asked_for_again_with_its_validator_if_it_has_one() {
    let weir = forgetful().await;
    weir.upstream.put(PAGE, Canned::new("{}").with(ETAG, "\"v1\""));
    for n in 1..=2 {
        assert_eq!(weir.get("/pad").await.status, StatusCode::OK);
        assert_eq!(weir.upstream.n_asked(PAGE), n);
    }
    assert_eq!(weir.upstream.last_headers(PAGE)[IF_NONE_MATCH], "\"v1\"");
    let plain = "/registry/plain";
    weir.upstream.put(plain, Canned::new("{}").with(LAST_MODIFIED, "yesterday"));
    for _ in 0..2 {
        assert_eq!(weir.get("/plain").await.status, StatusCode::OK);
    }
    assert_eq!(weir.upstream.last_headers(plain)["if-modified-since"], "yesterday");
}

#[tokio::test]
async fn an_old_packument_is_given_while_the_upstream_fails() {
    let weir = forgetful().await;
    weir.upstream.package("pad", &["1.0.0"]);
    assert_eq!(weir.get("/pad").await.status, StatusCode::OK);
    let broken = [
        Canned::status(StatusCode::INTERNAL_SERVER_ERROR),
        Canned::status(StatusCode::TOO_MANY_REQUESTS),
        Canned::new("{"),
        Canned::new("<html>"),
        Canned::new(r#"{"name":"other"}"#),
        Canned::new("{}").breaking_off(),
    ];
    let n_broken = broken.len() as u64;
    for canned in broken {
        weir.upstream.put(PAGE, canned);
        assert!(text(weir.get("/pad").await).await.contains("pad-1.0.0"));
    }
    let stats = weir.plugin.stats();
    assert_eq!((stats.stale, stats.upstream_failures), (n_broken, n_broken));
    weir.upstream.remove(PAGE);
    let gone = weir.get("/pad").await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    assert_eq!(error(gone).await, "the upstream has no package `pad`");
}

/// A packument, with the times of its versions or without.
fn dated(versions: &[&str], told: bool) -> Value {
    let listed = versions.iter().map(|version| ((*version).to_owned(), json!({"dist": {}})));
    let listed: serde_json::Map<_, _> = listed.collect();
    let mut packument = json!({"name": "pad", "versions": listed,
        "time": {"modified": "2022-02-02T00:00:00Z"}});
    for version in versions.iter().filter(|_| told) {
        packument["time"][*version] = json!("2021-05-05T14:18:18Z");
    }
    packument
}

/// An age counts from now on, and what is `dated` is older.
fn counting_age(weir: &Weir) {
    (weir.set_facts)(aged(Ecosystem::Npm, 72));
    weir.set_hour(240);
}

/// From now on the registry has another version only, with its tarball, and tells no times.
fn half_up(weir: &Weir) {
    let (path, tarball) = ("/tarballs/pad/-/pad-1.1.0.tgz", content("pad-1.1.0.tgz"));
    let mut packument = dated(&["1.1.0"], false);
    packument["versions"]["1.1.0"]["dist"] =
        json!({"integrity": integrity(&tarball), "tarball": weir.upstream.url(path).as_str()});
    weir.upstream.put(path, Canned::new(tarball));
    weir.upstream.packument("pad", &packument);
}

/// A registry that is half up answers with packuments that are fine, but for the times of their
/// versions: by those alone everything is too young.
#[tokio::test]
async fn a_packument_without_times_does_not_displace_one_that_tells_them() {
    let weir = Weir::start_with(|config| {
        config.keeping.ttl = Duration::ZERO;
        config.keeping.negative_ttl = Duration::ZERO;
    })
    .await;
    counting_age(&weir);
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    assert_eq!(weir.json("/pad").await["time"]["1.0.0"], "2021-05-05T14:18:18Z");
    weir.upstream.packument("pad", &dated(&["1.0.0", "1.1.0"], false));
    for n in 1..=2 {
        let page = weir.json("/pad").await;
        assert_eq!(page["time"]["1.0.0"], "2021-05-05T14:18:18Z", "{page}");
        assert_eq!((page["versions"].get("1.1.0"), weir.plugin.stats().stale), (None, n));
    }
    weir.upstream.packument("pad", &dated(&["1.0.0", "1.1.0"], true));
    assert!(weir.json("/pad").await["versions"].get("1.1.0").is_some());
    // Not longer than anything old is given on.
    let weir = Weir::start_with(|config| {
        config.keeping.ttl = Duration::ZERO;
        config.keeping.stale_for = Duration::ZERO;
    })
    .await;
    counting_age(&weir);
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    weir.json("/pad").await;
    weir.upstream.packument("pad", &dated(&["1.0.0", "1.1.0"], false));
    assert!(weir.json("/pad").await["versions"].get("1.1.0").is_some());
}

/// Its tarball once did not exist, and what the registry had removed was listed, for a day.
#[tokio::test]
async fn where_no_age_counts_a_packument_without_times_is_taken_before_one_that_tells_them() {
    let weir = forgetful().await;
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    weir.json("/pad").await;
    half_up(&weir);
    let tarball = weir.get("/pad/-/pad-1.1.0.tgz").await;
    assert_eq!(tarball.status, StatusCode::OK);
    assert_eq!(body(tarball).await.unwrap(), content("pad-1.1.0.tgz"));
    let page = weir.json("/pad").await;
    let lists = |version: &str| page["versions"].get(version).is_some();
    assert!(lists("1.1.0") && !lists("1.0.0"), "{page}");
    assert_eq!(weir.get("/pad/-/pad-1.0.0.tgz").await.status, StatusCode::NOT_FOUND);
    assert_eq!(weir.upstream.n_asked(PAGE), 2, "it is left in peace");
    // Whoever counts an age has lost nothing by that.
    counting_age(&weir);
    assert_eq!(weir.json("/pad").await["time"]["1.0.0"], "2021-05-05T14:18:18Z");
}

#[tokio::test]
async fn where_an_age_counts_a_tarball_of_a_packument_without_times_is_not_said_to_be_missing() {
    let weir = forgetful().await;
    counting_age(&weir);
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    weir.json("/pad").await;
    half_up(&weir);
    let later = weir.get("/pad/-/pad-1.1.0.tgz").await;
    assert_eq!(later.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(later.headers[RETRY_AFTER], "30");
    let told = error(later).await;
    assert!(told.contains("does not say at this moment when"), "{told}");
    assert_eq!(weir.get("/pad/-/pad-9.9.9.tgz").await.status, StatusCode::NOT_FOUND);
    assert_eq!(weir.json("/pad").await["time"]["1.0.0"], "2021-05-05T14:18:18Z");
}

/// It was once said not to exist, where its tarball was not.
#[tokio::test]
async fn where_an_age_counts_a_version_of_a_packument_without_times_is_not_said_to_be_missing() {
    let weir = forgetful().await;
    counting_age(&weir);
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    weir.json("/pad").await;
    half_up(&weir);
    let later = weir.get("/pad/1.1.0").await;
    assert_eq!(later.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(later.headers[RETRY_AFTER], "30");
    let told = error(later).await;
    assert!(told.contains("has version `1.1.0` of `pad`, but does not say"), "{told}");
    assert_eq!(weir.get("/pad/9.9.9").await.status, StatusCode::NOT_FOUND);
}

/// Each answer once counted as an old one, and each question as one that the upstream failed to answer.
#[tokio::test]
async fn a_packument_without_times_is_no_failure_and_counts_as_old_only_where_an_old_one_is_given()
{
    let weir = forgetful().await;
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    weir.json("/pad").await;
    half_up(&weir);
    let counts = || {
        let stats = weir.plugin.stats();
        (stats.stale, stats.upstream_failures)
    };
    for _ in 0..3 {
        assert!(weir.json("/pad").await["versions"].get("1.1.0").is_some());
        assert_eq!(counts(), (0, 0));
    }
    counting_age(&weir);
    assert_eq!(weir.json("/pad").await["time"]["1.0.0"], "2021-05-05T14:18:18Z");
    assert_eq!(counts(), (1, 0));
}

#[tokio::test]
async fn an_upstream_that_tells_no_times_any_more_is_left_in_peace_and_does_not_fail() {
    let weir = forgetful().await;
    counting_age(&weir);
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    weir.json("/pad").await;
    weir.upstream.packument("pad", &dated(&["1.0.0"], false));
    for _ in 0..3 {
        assert_eq!(weir.json("/pad").await["time"]["1.0.0"], "2021-05-05T14:18:18Z");
    }
    assert_eq!(weir.upstream.n_asked(PAGE), 2);
    assert!(!weir.plugin.stats().upstream_fails);
}

#[tokio::test]
async fn a_packument_that_tells_no_times_any_more_is_kept_briefly_even_where_no_age_counts() {
    let weir = Weir::start_with(|config| {
        config.keeping.recent = Duration::ZERO;
        config.keeping.negative_ttl = Duration::ZERO;
        config.keeping.stale_for = Duration::ZERO;
    })
    .await;
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    weir.json("/pad").await;
    weir.upstream.packument("pad", &dated(&["1.0.0"], false));
    // Before a tarball is said not to exist, the upstream is asked.
    assert_eq!(weir.get("/pad/-/pad-9.9.9.tgz").await.status, StatusCode::NOT_FOUND);
    assert_eq!(weir.upstream.n_asked(PAGE), 2);
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    for _ in 0..2 {
        assert_eq!(weir.json("/pad").await["time"]["1.0.0"], "2021-05-05T14:18:18Z");
        assert_eq!(weir.upstream.n_asked(PAGE), 3);
    }
}

#[tokio::test]
async fn a_packument_without_times_is_kept_briefly_and_by_no_client_where_an_age_counts() {
    let weir = Weir::start_with(|config| config.keeping.negative_ttl = Duration::ZERO).await;
    let kept = async |cache_control: &str, deprecated: bool| {
        let answer = weir.get("/pad").await;
        assert_eq!(answer.headers[CACHE_CONTROL], cache_control);
        let page: Value = serde_json::from_str(&text(answer).await).unwrap();
        assert_eq!(page["versions"]["1.0.0"].get("deprecated").is_some(), deprecated, "{page}");
    };
    weir.upstream.packument("pad", &dated(&["1.0.0"], false));
    for _ in 0..2 {
        kept("no-cache", false).await;
    }
    assert_eq!(weir.upstream.n_asked(PAGE), 1, "where none counts it is kept as any other");
    counting_age(&weir);
    kept("no-store", true).await;
    let n_asked = weir.upstream.n_asked(PAGE);
    weir.upstream.packument("pad", &dated(&["1.0.0"], true));
    for _ in 0..2 {
        kept("no-cache", false).await;
    }
    assert_eq!(weir.upstream.n_asked(PAGE), n_asked + 1, "one that tells is kept as ever");
}

#[tokio::test]
async fn without_an_old_packument_a_failure_is_ours_to_report_and_not_a_missing_package() {
    let weir = Weir::start().await;
    for (canned, words) in [
        (Canned::status(StatusCode::INTERNAL_SERVER_ERROR), "the upstream answers 500"),
        (Canned::new("<html>"), "the packument cannot be read"),
        (Canned::new(r#"{"name":"other"}"#), "about `other`"),
        (Canned::new(r#"{"versions":{"1.0.0":{},"1.0.0":{}}}"#), "names `1.0.0` twice"),
    ] {
        weir.upstream.put(PAGE, canned);
        let failed = weir.get("/pad").await;
        assert_eq!(failed.status, StatusCode::BAD_GATEWAY);
        let said = error(failed).await;
        assert!(said.contains(words), "{said}");
    }
    weir.upstream.package("pad", &["1.0.0"]);
    assert_eq!(weir.get("/pad").await.status, StatusCode::OK, "a failure is not remembered");
    for _ in 0..3 {
        assert_eq!(weir.get("/missing").await.status, StatusCode::NOT_FOUND);
    }
    assert_eq!(weir.upstream.n_asked("/registry/missing"), 1, "a missing package is, briefly");
}

#[tokio::test]
async fn a_packument_larger_than_the_bound_is_refused() {
    let weir = Weir::start_with(|config| config.keeping.max_page_bytes = 100).await;
    weir.upstream.put(PAGE, Canned::new(" ".repeat(101)));
    assert!(error(weir.get("/pad").await).await.contains("more than 100 bytes"));
}

#[tokio::test]
async fn an_upstream_that_hangs_or_leaves_is_given_up_in_time() {
    let weir = Weir::start_with(|config| config.keeping.bound = Duration::from_millis(50)).await;
    let gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(PAGE, Canned::gated(&[b"{}"], &gate));
    assert_eq!(weir.get("/pad").await.status, StatusCode::BAD_GATEWAY);
    let gone = Weir::start_with(|config| config.upstream = Some(url("http://127.0.0.1:1/"))).await;
    for path in ["/pad", "/-/npm/v1/keys", "/-/v1/search?text=x"] {
        assert_eq!(gone.get(path).await.status, StatusCode::BAD_GATEWAY, "{path}");
    }
}

#[tokio::test]
async fn many_cold_clients_make_one_request_for_a_packument() {
    let weir = Weir::start().await;
    let gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(PAGE, Canned::gated(&[b"{}"], &gate));
    let opening = async { gate.add_permits(1) };
    let (answers, ()) = tokio::join!(join_all((0..64).map(|_| weir.get("/pad"))), opening);
    assert!(answers.iter().all(|answer| answer.status == StatusCode::OK));
    assert_eq!(weir.upstream.n_asked(PAGE), 1);
}

#[tokio::test]
async fn redirects_are_followed_inside_the_reach_and_nowhere_else() {
    let weir = Weir::start().await;
    let moved = |to: &str| Canned::status(StatusCode::FOUND).with(LOCATION, to);
    weir.upstream.package("pad", &["1.0.0"]);
    weir.upstream.put("/registry/Pad", moved("pad"));
    assert_eq!(weir.get("/Pad").await.status, StatusCode::OK);
    weir.upstream.put("/registry/away", moved("http://localhost:9/away"));
    let away = weir.get("/away").await;
    assert_eq!(away.status, StatusCode::BAD_GATEWAY);
    assert!(error(away).await.contains("refused to fetch"));
    weir.upstream.put("/registry/round", moved("/registry/round"));
    assert_eq!(weir.get("/round").await.status, StatusCode::BAD_GATEWAY);
    assert_eq!(weir.upstream.n_asked("/registry/round"), 6);
    weir.upstream.put("/tarballs/pad/-/pad-1.0.0.tgz", moved("/elsewhere/pad.tgz"));
    weir.upstream.put("/elsewhere/pad.tgz", Canned::new(content("pad-1.0.0.tgz")));
    let tarball = weir.get("/pad/-/pad-1.0.0.tgz").await;
    assert_eq!(body(tarball).await.unwrap(), content("pad-1.0.0.tgz"));
}

#[tokio::test]
async fn nothing_of_a_client_is_passed_on_and_weir_says_who_it_is() {
    let weir = Weir::start().await;
    weir.upstream.package("pad", &["1.0.0"]);
    weir.upstream.put(
        "/registry/-/v1/search",
        Canned::new(r#"{"objects":[]}"#).with(CONTENT_TYPE, "application/json"),
    );
    let path = "/pad/-/pad-1.0.0.tgz";
    body(weir.get_with(path, AUTHORIZATION, "Bearer rf_secret").await).await.unwrap();
    weir.get_with("/-/v1/search?text=x", AUTHORIZATION, "Bearer rf_secret").await;
    for (asked, encoding) in [
        (PAGE, "gzip"),
        ("/tarballs/pad/-/pad-1.0.0.tgz", "identity"),
        ("/registry/-/v1/search", "gzip"),
    ] {
        let headers = weir.upstream.last_headers(asked);
        assert!(!headers.contains_key(AUTHORIZATION), "{asked}");
        assert_eq!(headers[ACCEPT_ENCODING], encoding, "{asked}");
        assert_eq!(headers[INSTANCE_HEADER], INSTANCE.to_string().as_str(), "{asked}");
        assert!(headers[USER_AGENT].to_str().unwrap().starts_with("weir/"), "{asked}");
    }
}

#[tokio::test]
async fn a_weir_that_is_its_own_upstream_says_so() {
    let weir = Weir::start().await;
    let name = || INSTANCE_HEADER.parse().unwrap();
    for path in ["/pad", "/pad/-/pad-1.0.0.tgz", "/-/npm/v1/keys"] {
        let answer = weir.get_with(path, name(), &INSTANCE.to_string()).await;
        assert_eq!(answer.status, StatusCode::LOOP_DETECTED, "{path}");
        assert!(error(answer).await.contains("registries.npm.upstream"));
    }
}

#[tokio::test]
async fn a_compressed_packument_is_decoded_exactly_once() {
    let weir = Weir::start().await;
    // gzip of `{"files":[]}`
    let packed =
        hex::decode("1f8b0800000000000203ab564acbcc492d56b28a8ead0500fab4676a0c000000").unwrap();
    weir.upstream.put(PAGE, Canned::new(packed).with(CONTENT_ENCODING, "gzip"));
    assert_eq!(text(weir.get("/pad").await).await, r#"{"files":[]}"#);
}

#[tokio::test]
async fn a_packument_does_not_lead_into_our_own_network() {
    let weir = Weir::start().await;
    let port = weir.upstream.url("/").port().unwrap();
    let path = "/inside/pad-1.0.0.tgz";
    weir.upstream.put(path, Canned::new("secret"));
    for host in
        [format!("localhost:{port}"), "127.0.0.1:1".to_owned(), "169.254.169.254".to_owned()]
    {
        let weir = Weir::start().await;
        let dist = json!({"tarball": format!("http://{host}{path}")});
        weir.upstream.packument("pad", &json!({"versions": {"1.0.0": {"dist": dist}}}));
        let answer = weir.get("/pad/-/pad-1.0.0.tgz").await;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{host}");
        let said = error(answer).await;
        assert!(said.contains("refused to fetch"), "{said}");
        assert!(weir.recorded().is_empty(), "{host}");
    }
    assert_eq!(weir.upstream.n_asked(path), 0);
}

#[tokio::test]
async fn a_large_packument_gives_its_room_back() {
    let weir = Weir::start_with(|config| config.keeping.max_bytes = 8 << 20).await;
    for n in 1..=4 {
        let body = format!(r#"{{"versions":{{}},"x":"{}"}}"#, "x".repeat(2 << 20));
        weir.upstream.put(&format!("/registry/large{n}"), Canned::new(body));
        assert_eq!(weir.get(&format!("/large{n}")).await.status, StatusCode::OK);
    }
    drop(weir.outbound.fill());
}
