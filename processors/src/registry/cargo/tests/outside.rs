//! The upstream: what it is asked, and what becomes of its faults.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use http::{
    StatusCode,
    header::{
        ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH,
        LAST_MODIFIED, LOCATION,
    },
};
use tokio::sync::Semaphore;

use super::{super::testing::list, *};
use crate::outbound::INSTANCE_HEADER;

const SERDE: &str = "/se/rd/serde";
const FILE: &str = "/crates/serde/1.0.0/download";

async fn forgetful() -> Weir {
    Weir::open_with(|config| {
        config.keeping.ttl = Duration::ZERO;
        config.keeping.retry_after = Duration::ZERO;
    })
    .await
}

#[tokio::test]
async fn a_list_is_asked_for_again_with_its_validator() {
    let weir = forgetful().await;
    let at = list_at("serde");
    let bytes = list("serde", &["1.0.0"]);
    weir.upstream.put(&at, Canned::new(bytes.clone()).with(ETAG, "\"v1\""));
    for n in 1..=2 {
        assert_eq!(text(weir.get(SERDE).await).await, bytes);
        assert_eq!(weir.upstream.n_asked(&at), n);
    }
    assert_eq!(weir.upstream.last_headers(&at)[IF_NONE_MATCH], "\"v1\"");
    let date = "Sat, 28 Nov 2026 04:00:00 GMT";
    weir.upstream.put(&at, Canned::new(bytes).with(LAST_MODIFIED, date));
    for _ in 0..2 {
        assert_eq!(weir.get(SERDE).await.status, StatusCode::OK);
    }
    assert_eq!(weir.upstream.last_headers(&at)[IF_MODIFIED_SINCE], date);
}

#[tokio::test]
async fn an_old_list_is_given_while_the_upstream_fails_and_a_failure_is_no_missing_crate() {
    let weir = forgetful().await;
    let broken = Canned::status(StatusCode::INTERNAL_SERVER_ERROR);
    weir.upstream.put(&list_at("serde"), broken.clone());
    assert_eq!(weir.get(SERDE).await.status, StatusCode::BAD_GATEWAY);
    weir.publish("serde", &["1.0.0"]);
    assert_eq!(weir.get(SERDE).await.status, StatusCode::OK);
    for canned in [broken, Canned::new("nonsense")] {
        weir.upstream.put(&list_at("serde"), canned);
        assert_eq!(text(weir.get(SERDE).await).await, list("serde", &["1.0.0"]));
    }
    weir.upstream.remove(&list_at("serde"));
    assert_eq!(weir.get(SERDE).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn many_cold_clients_make_one_request_for_a_list_and_one_for_a_file() {
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0"]);
    let gate = Arc::new(Semaphore::new(1));
    let bytes = content("serde", "1.0.0");
    weir.upstream.put(&file_at("serde", "1.0.0"), Canned::gated(&[&bytes], &gate));
    let answers = join_all((0..64).map(|_| weir.get(FILE))).await;
    for answer in answers {
        assert_eq!(body(answer).await.unwrap(), bytes);
    }
    for asked in [list_at("serde"), file_at("serde", "1.0.0"), "/index/config.json".to_owned()] {
        assert_eq!(weir.upstream.n_asked(&asked), 1, "{asked}");
    }
}

#[tokio::test]
async fn an_index_says_where_its_files_are_in_any_form() {
    let weir = Weir::open_with(|config| config.keeping.ttl = Duration::ZERO).await;
    weir.publish("serde", &["1.0.0"]);
    for (dl, path) in [
        ("/elsewhere/{crate}-{version}.crate", "/elsewhere/serde-1.0.0.crate"),
        ("/by/{prefix}/{crate}/{version}", "/by/se/rd/serde/1.0.0"),
        ("/plain/", "/plain/serde/1.0.0/download"),
    ] {
        // Not `url`, which would encode the braces.
        weir.dl(&format!("{}{dl}", weir.upstream.url("/").as_str().trim_end_matches('/')));
        weir.upstream.put(path, Canned::new(content("serde", "1.0.0")));
        assert_eq!(weir.head(FILE).await.status, StatusCode::OK, "{dl}");
        assert_eq!(weir.upstream.n_asked(path), 1, "{dl}");
    }
}

#[tokio::test]
async fn an_index_without_settings_has_no_files() {
    for canned in [None, Some(Canned::new("{}")), Some(Canned::new(r#"{"dl":"nowhere"}"#))] {
        let weir = Weir::open().await;
        weir.publish("serde", &["1.0.0"]);
        match canned {
            Some(canned) => weir.upstream.put("/index/config.json", canned),
            None => weir.upstream.remove("/index/config.json"),
        }
        let answer = weir.get(FILE).await;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
        assert!(text(answer).await.contains("config.json"));
        assert_eq!(weir.get(SERDE).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn redirects_are_followed_inside_the_reach_and_nowhere_else() {
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0"]);
    let moved = |to: &str| Canned::status(StatusCode::FOUND).with(LOCATION, to);
    weir.upstream.put("/elsewhere", Canned::new(content("serde", "1.0.0")));
    let port = weir.upstream.url("/").port().unwrap();
    let away = format!("http://localhost:{port}/elsewhere");
    weir.upstream.put(&file_at("serde", "1.0.0"), moved(&away));
    let refused = weir.get(FILE).await;
    assert_eq!(refused.status, StatusCode::BAD_GATEWAY);
    assert!(text(refused).await.contains("refused to fetch"));
    weir.upstream.put(&file_at("serde", "1.0.0"), moved("/elsewhere"));
    assert_eq!(body(weir.get(FILE).await).await.unwrap(), content("serde", "1.0.0"));
}

#[tokio::test]
async fn an_index_does_not_lead_into_our_own_network_unless_an_operator_says_so() {
    let outside = Weir::open().await;
    let files = outside.upstream.url("/files");
    outside.publish("serde", &["1.0.0"]);
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0"]);
    weir.dl(files.as_str());
    let answer = weir.get(FILE).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    assert!(text(answer).await.contains("is not a public address"));
    let origin = files.clone();
    let weir = Weir::open_with(move |config| config.trusted_origins = vec![origin]).await;
    weir.publish("serde", &["1.0.0"]);
    weir.dl(files.as_str());
    assert_eq!(weir.get(FILE).await.status, StatusCode::OK);
}

#[tokio::test]
async fn nothing_of_a_client_is_passed_on_and_lists_are_decoded_once() {
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0"]);
    let answer = weir.ask(Method::GET, FILE, &[(AUTHORIZATION, "rf_secret")]).await;
    body(answer).await.unwrap();
    let at = [list_at("serde"), "/index/config.json".to_owned(), file_at("serde", "1.0.0")];
    for (asked, encoding) in at.iter().zip(["gzip", "gzip", "identity"]) {
        let headers = weir.upstream.last_headers(asked);
        assert!(!headers.contains_key(AUTHORIZATION), "{asked}");
        assert_eq!(headers[ACCEPT_ENCODING], encoding, "{asked}");
    }
    // gzip of `{"name":"a"}`, which is no line of a list.
    let packed =
        hex::decode("1f8b0800000000000203ab56ca4bcc4d55b2524a54aa0500962b768d0c000000").unwrap();
    weir.upstream.put(&list_at("a"), Canned::new(packed).with(CONTENT_ENCODING, "gzip"));
    let told = text(weir.get("/1/a").await).await;
    assert!(told.contains("no line of the list can be read"), "{told}");
}

#[tokio::test]
async fn a_weir_that_is_its_own_upstream_says_so() {
    let weir = Weir::open().await;
    let name = INSTANCE_HEADER.parse().unwrap();
    let answer = weir.ask(Method::GET, SERDE, &[(name, &INSTANCE.to_string())]).await;
    assert_eq!(answer.status, StatusCode::LOOP_DETECTED);
    assert!(text(answer).await.contains("registries.cargo.upstream"));
}
