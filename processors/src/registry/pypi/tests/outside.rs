//! What we are to the upstream, and what it can do to us.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use http::{
    StatusCode,
    header::{
        ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
        LOCATION, USER_AGENT,
    },
};
use tokio::sync::Semaphore;

use super::*;
use crate::outbound::INSTANCE_HEADER;

const PAGE: &str = "/simple/six/";
const JSON: &str = "application/vnd.pypi.simple.v1+json";

/// Pages are never fresh.
async fn forgetful() -> Weir {
    Weir::start_with(|config| {
        config.keeping.ttl = Duration::ZERO;
        config.keeping.retry_after = Duration::ZERO;
    })
    .await
}

#[tokio::test]
async fn a_page_is_asked_for_again_with_its_validator() {
    let weir = forgetful().await;
    let page = Canned::new(r#"{"files":[]}"#).with(CONTENT_TYPE, JSON).with(ETAG, "\"v1\"");
    weir.upstream.put(PAGE, page);
    for n in 1..=2 {
        assert_eq!(weir.get(PAGE).await.status, StatusCode::OK);
        assert_eq!(weir.upstream.n_asked(PAGE), n);
    }
    assert_eq!(weir.upstream.last_headers(PAGE)[IF_NONE_MATCH], "\"v1\"");
}

#[tokio::test]
async fn an_old_page_is_given_while_the_upstream_fails() {
    let weir = forgetful().await;
    weir.upstream.project("six", &["1.16.0"]);
    assert_eq!(weir.get(PAGE).await.status, StatusCode::OK);
    let broken = [
        Canned::status(StatusCode::INTERNAL_SERVER_ERROR),
        Canned::status(StatusCode::TOO_MANY_REQUESTS),
        Canned::new("{").with(CONTENT_TYPE, JSON),
        Canned::new("?").with(CONTENT_TYPE, "image/png"),
        Canned::new("{}").with(CONTENT_TYPE, JSON).breaking_off(),
    ];
    for canned in broken {
        weir.upstream.put(PAGE, canned);
        assert!(text(weir.get(PAGE).await).await.contains("six-1.16.0"));
    }
    let stats = weir.plugin.stats();
    assert_eq!((stats.stale, stats.upstream_failures), (5, 5));
    assert!(stats.upstream_fails);
    // A project that is gone is gone, and who says so has answered.
    weir.upstream.remove(PAGE);
    assert_eq!(weir.get(PAGE).await.status, StatusCode::NOT_FOUND);
    assert!(!weir.plugin.stats().upstream_fails);
}

#[tokio::test]
async fn without_an_old_page_a_failure_is_ours_to_report_and_not_a_missing_project() {
    let weir = Weir::start().await;
    weir.upstream.put(PAGE, Canned::status(StatusCode::INTERNAL_SERVER_ERROR));
    let failed = weir.get(PAGE).await;
    assert_eq!(failed.status, StatusCode::BAD_GATEWAY);
    assert!(failed.reason.as_deref().unwrap().contains("the upstream answers 500"));
    weir.upstream.project("six", &["1.16.0"]);
    assert_eq!(weir.get(PAGE).await.status, StatusCode::OK, "a failure is not remembered");

    for _ in 0..3 {
        assert_eq!(weir.get("/simple/seven/").await.status, StatusCode::NOT_FOUND);
    }
    assert_eq!(weir.upstream.n_asked("/simple/seven/"), 1, "a missing project is, briefly");
}

#[tokio::test]
async fn an_upstream_that_leaves_is_a_bad_gateway() {
    let weir =
        Weir::start_with(|config| config.upstream = Some(url("http://127.0.0.1:1/simple/"))).await;
    assert_eq!(weir.get(PAGE).await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn a_page_larger_than_the_bound_is_refused() {
    let weir = Weir::start_with(|config| config.keeping.max_page_bytes = 100).await;
    weir.upstream.put(PAGE, Canned::new(" ".repeat(101)).with(CONTENT_TYPE, JSON));
    let answer = weir.get(PAGE).await;
    assert!(answer.reason.as_deref().unwrap().contains("more than 100 bytes"), "{answer:?}");
}

#[tokio::test]
async fn an_upstream_that_hangs_is_given_up_in_time() {
    let weir = Weir::start_with(|config| config.keeping.bound = Duration::from_millis(50)).await;
    let gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(PAGE, Canned::gated(&[b"{}"], &gate).with(CONTENT_TYPE, JSON));
    assert_eq!(weir.get(PAGE).await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn many_cold_clients_make_one_request_for_a_page() {
    let weir = Weir::start().await;
    let gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(PAGE, Canned::gated(&[b"{}"], &gate).with(CONTENT_TYPE, JSON));
    let opening = async { gate.add_permits(1) };
    let (answers, ()) = tokio::join!(join_all((0..64).map(|_| weir.get(PAGE))), opening);
    assert!(answers.iter().all(|answer| answer.status == StatusCode::OK));
    assert_eq!(weir.upstream.n_asked(PAGE), 1);
}

#[tokio::test]
async fn redirects_are_followed_inside_the_reach_and_nowhere_else() {
    let weir = Weir::start().await;
    let moved = |to: &str| Canned::status(StatusCode::FOUND).with(LOCATION, to);
    weir.upstream.project("six", &["1.16.0"]);
    weir.upstream.put("/simple/old/", moved("../six/"));
    // The page that comes is of another name, which is refused as such.
    let renamed = weir.get("/simple/old/").await;
    assert!(renamed.reason.as_deref().unwrap().contains("about `six`"), "{renamed:?}");

    weir.upstream.put("/simple/away/", moved("http://localhost:9/simple/away/"));
    let away = weir.get("/simple/away/").await;
    assert_eq!(away.status, StatusCode::BAD_GATEWAY);
    assert!(away.reason.as_deref().unwrap().contains("refused to fetch"), "{away:?}");

    weir.upstream.put("/simple/round/", moved("/simple/round/"));
    assert_eq!(weir.get("/simple/round/").await.status, StatusCode::BAD_GATEWAY);
    assert_eq!(weir.upstream.n_asked("/simple/round/"), 6);

    weir.upstream.put("/packages/six-1.16.0.tar.gz", moved("/elsewhere/six.tar.gz"));
    weir.upstream.put("/elsewhere/six.tar.gz", Canned::new(content("six-1.16.0.tar.gz")));
    let file = weir.get("/files/six/six-1.16.0.tar.gz").await;
    assert_eq!(body(file).await.unwrap(), content("six-1.16.0.tar.gz"));
}

#[tokio::test]
async fn nothing_of_a_client_is_passed_on_and_weir_says_who_it_is() {
    let weir = Weir::start().await;
    weir.upstream.project("six", &["1.16.0"]);
    let path = "/files/six/six-1.16.0.tar.gz";
    let secret = weir.get_with(path, AUTHORIZATION, "Bearer rf_secret").await;
    body(secret).await.unwrap();
    for (asked, encoding) in [(PAGE, "gzip"), ("/packages/six-1.16.0.tar.gz", "identity")] {
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
    let name = INSTANCE_HEADER.parse().unwrap();
    let answer = weir.get_with(PAGE, name, &INSTANCE.to_string()).await;
    assert_eq!(answer.status, StatusCode::LOOP_DETECTED);
    assert!(text(answer).await.contains("registries.pypi.upstream"));
}

#[tokio::test]
async fn a_compressed_page_is_decoded_exactly_once() {
    let weir = Weir::start().await;
    // gzip of `{"files":[]}`
    let packed =
        hex::decode("1f8b0800000000000203ab564acbcc492d56b28a8ead0500fab4676a0c000000").unwrap();
    weir.upstream
        .put(PAGE, Canned::new(packed).with(CONTENT_TYPE, JSON).with(CONTENT_ENCODING, "gzip"));
    assert_eq!(weir.get(PAGE).await.status, StatusCode::OK);
}

#[tokio::test]
async fn an_index_does_not_lead_into_our_own_network() {
    let weir = Weir::start().await;
    let port = weir.upstream.url("/").port().unwrap();
    let path = "/packages/six-1.0.tar.gz";
    weir.upstream.put(path, Canned::new("secret"));
    let named = |url: &str| {
        let file = serde_json::json!({"filename": "six-1.0.tar.gz", "url": url, "hashes": {}});
        serde_json::json!({"files": [file]})
    };
    for (host, words) in [
        (format!("localhost:{port}"), "`localhost` resolves to an address that is not public"),
        (format!("[::ffff:127.0.0.1]:{port}"), "is not a public address"),
        ("127.0.0.1:1".to_owned(), "is not a public address"),
        ("169.254.169.254".to_owned(), "is not a public address"),
    ] {
        let weir = Weir::start().await;
        weir.upstream.page("six", &named(&format!("http://{host}{path}")));
        for answer in [
            weir.get("/files/six/six-1.0.tar.gz").await,
            weir.get("/files/six/six-1.0.tar.gz.asc").await,
        ] {
            assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{host}");
            let told = text(answer).await;
            assert!(told.contains("refused to fetch") && told.contains(words), "{told}");
        }
        assert!(weir.recorded().is_empty(), "{host}");
    }
    assert_eq!(weir.upstream.n_asked(path), 0);
    // The upstream's own origin may stand where it likes.
    weir.upstream.page("six", &named(weir.upstream.url(path).as_str()));
    assert_eq!(text(weir.get("/files/six/six-1.0.tar.gz").await).await, "secret");
}

/// A page of about so many bytes.
fn page_of(n_bytes: usize) -> Canned {
    Canned::new(format!(r#"{{"files":[],"x":"{}"}}"#, "x".repeat(n_bytes))).with(CONTENT_TYPE, JSON)
}

#[tokio::test]
async fn large_pages_wait_for_room_and_small_ones_for_nothing() {
    let weir = Weir::start_with(|config| config.keeping.bound = Duration::from_millis(500)).await;
    weir.upstream.put("/simple/large/", page_of(2 << 20));
    let never = Arc::new(Semaphore::new(0));
    weir.upstream.put("/simple/never/", Canned::gated(&[b"x"], &never));
    let small: Vec<_> = (0..50).map(|n| format!("/simple/small{n}/")).collect();
    for path in &small {
        weir.upstream.put(path, page_of(100));
    }
    let full = weir.outbound.fill();
    let meanwhile = async {
        let small = join_all(small.iter().map(|path| weir.get(path))).await;
        assert!(small.iter().all(|answer| answer.status == StatusCode::OK));
        weir.until("asked", || weir.upstream.n_asked("/simple/large/") == 1).await;
        // The time that an upstream has is over.
        let slow = weir.get("/simple/never/").await;
        assert!(slow.reason.as_deref().unwrap().contains("took longer than"), "{slow:?}");
        assert_eq!(weir.upstream.n_asked("/simple/large/"), 1);
        drop(full);
    };
    let (large, ()) = tokio::join!(weir.get("/simple/large/"), meanwhile);
    assert_eq!(large.status, StatusCode::OK, "{large:?}");
    assert_eq!(weir.upstream.n_asked("/simple/large/"), 2, "it was not kept waiting");
    for n in 1..=4 {
        // More than there is room for at once, so that each must have given its room back.
        let path = format!("/simple/large{n}/");
        weir.upstream.put(&path, page_of(2 << 20));
        assert_eq!(weir.get(&path).await.status, StatusCode::OK);
    }
    drop(weir.outbound.fill());
}

#[tokio::test]
async fn what_a_client_says_of_its_way_here_concerns_nobody_else() {
    let weir = Weir::start().await;
    let gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(PAGE, Canned::gated(&[b"["], &gate).with(CONTENT_TYPE, JSON));
    let forged = [uuid::Uuid::from_u128(7); 7].map(|id| id.to_string()).join(",");
    let name = INSTANCE_HEADER.parse().unwrap();
    let meanwhile = async {
        weir.until("asked", || weir.upstream.n_asked(PAGE) == 1).await;
        weir.upstream.put(PAGE, page_of(10));
        // Not what comes of the other one, be it the refusal of the next Weir.
        assert_eq!(weir.get(PAGE).await.status, StatusCode::OK);
        let told = &weir.upstream.last_headers(PAGE)[INSTANCE_HEADER];
        assert_eq!(told, INSTANCE.to_string().as_str());
        gate.add_permits(1);
    };
    let (other, ()) = tokio::join!(weir.get_with(PAGE, name, &forged), meanwhile);
    assert_eq!(other.status, StatusCode::BAD_GATEWAY, "no page");
}

#[tokio::test]
async fn who_invents_ways_here_shares_one_fetch_with_others_who_do() {
    let weir = Weir::start().await;
    let (file, packages) = ("/files/six/six-1.16.0.tar.gz", "/packages/six-1.16.0.tar.gz");
    weir.upstream.project("six", &["1.16.0"]);
    let page_gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(
        "/simple/held/",
        Canned::new(r#"{"files":[]}"#).with(CONTENT_TYPE, JSON).held(&page_gate),
    );
    let gate = Arc::new(Semaphore::new(0));
    let content = content("six-1.16.0.tar.gz");
    weir.upstream.put(packages, Canned::gated(&[&content], &gate));
    let ways: Vec<_> = (0..130).map(|n| uuid::Uuid::from_u128(n + 7).to_string()).collect();
    let name = || INSTANCE_HEADER.parse::<http::HeaderName>().unwrap();
    let files = join_all(ways.iter().map(|way| weir.get_with(file, name(), way)));
    let pages = join_all(ways.iter().map(|way| weir.get_with("/simple/held/", name(), way)));
    let honest = weir.get(file);
    let opening = async {
        weir.until("asked", || weir.upstream.n_asked(packages) == 2).await;
        weir.until("asked", || weir.upstream.n_asked("/simple/held/") == 1).await;
        page_gate.add_permits(ways.len());
        gate.add_permits(ways.len());
    };
    let (files, pages, honest, ()) = tokio::join!(files, pages, honest, opening);
    for answer in files.into_iter().chain([honest]) {
        assert_eq!(body(answer).await.unwrap(), content);
    }
    assert!(pages.iter().all(|page| page.status == StatusCode::OK));
    assert_eq!(weir.upstream.n_asked("/simple/held/"), 1);
    // Who came through no Weir shares nothing with those who say they did.
    assert_eq!(weir.upstream.n_asked(packages), 2);
}

#[tokio::test]
async fn a_page_too_large_to_be_kept_is_served_and_leaves_nothing() {
    let weir = Weir::start_with(|config| config.keeping.max_bytes = 8 << 20).await;
    weir.upstream.put(PAGE, page_of(2 << 20));
    for n in 1..=2 {
        assert_eq!(weir.get(PAGE).await.status, StatusCode::OK);
        assert_eq!(weir.upstream.n_asked(PAGE), n);
    }
    drop(weir.outbound.fill());
}

#[tokio::test]
async fn that_there_is_no_project_is_remembered_for_a_while_and_then_asked_again() {
    let weir = Weir::start().await;
    let after = async |seconds: u64, n_asked: usize| {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(seconds)).await;
        tokio::time::resume();
        assert_eq!(weir.get(PAGE).await.status, StatusCode::NOT_FOUND);
        assert_eq!(weir.upstream.n_asked(PAGE), n_asked, "{seconds}");
    };
    after(0, 1).await;
    after(29, 1).await;
    after(2, 2).await;
    weir.upstream.project("six", &["1.16.0"]);
    assert_eq!(weir.get(PAGE).await.status, StatusCode::NOT_FOUND, "still remembered");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    assert_eq!(weir.get(PAGE).await.status, StatusCode::OK);
}

#[tokio::test]
async fn what_is_refused_to_who_has_no_credentials_is_not_there_and_to_others_a_failure() {
    for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
        let weir = forgetful().await;
        weir.upstream.put(PAGE, Canned::status(status));
        assert_eq!(weir.get(PAGE).await.status, StatusCode::NOT_FOUND, "pip looks elsewhere then");
        // One that was there did not vanish because it is refused.
        weir.upstream.project("six", &["1.16.0"]);
        assert_eq!(weir.get(PAGE).await.status, StatusCode::OK);
        weir.upstream.put(PAGE, Canned::status(status));
        assert_eq!(weir.get(PAGE).await.status, StatusCode::OK);
        let known = Weir::start_with(|config| {
            let url = config.upstream.as_mut().unwrap();
            url.set_username("ann").unwrap();
        });
        let known = known.await;
        known.upstream.put(PAGE, Canned::status(status));
        assert_eq!(known.get(PAGE).await.status, StatusCode::BAD_GATEWAY);
    }
}
