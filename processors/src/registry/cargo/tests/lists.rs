//! Lists: what cargo sees of a crate, and of the index itself.

use http::{
    StatusCode,
    header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, ETAG, IF_NONE_MATCH},
};
use serde_json::Value;
use weir_events::registry::Mask;

use super::{
    super::testing::{line, list, rule},
    *,
};
use crate::registry::answer::Body;

const SERDE: &str = "/se/rd/serde";

#[tokio::test]
async fn the_index_says_where_its_files_are_and_never_the_upstreams() {
    let weir = Weir::open().await;
    let config = weir.get("/config.json").await;
    let etag = config.headers[ETAG].to_str().unwrap().to_owned();
    let read: Value = serde_json::from_str(&text(config).await).unwrap();
    let wanted = serde_json::json!({
        "dl": "https://weir.example/cargo/crates", "auth-required": false,
    });
    assert_eq!(read, wanted);
    let again = weir.ask(Method::GET, "/config.json", &[(IF_NONE_MATCH, &etag)]).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    let closed = weir.ask(Method::GET, "/config.json", &[(AUTHORIZATION, "rf_1")]).await;
    assert!(text(closed).await.contains("\"auth-required\":true"));
    assert_eq!(weir.upstream.n_asked("/index/config.json"), 0);
}

#[tokio::test]
async fn a_forbidden_version_is_marked_or_left_out_and_all_else_stays_byte_for_byte() {
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0", "1.1.0"]);
    assert_eq!(text(weir.get(SERDE).await).await, list("serde", &["1.0.0", "1.1.0"]));
    assert!(weir.events().is_empty(), "an answer that changes nothing is only counted");

    weir.rules(7, &[rule(1, "serde", ">=1.1", Mask::Mark)]);
    let marked = format!("{}\n{}\n", line("serde", "1.0.0", false), line("serde", "1.1.0", true));
    for _ in 0..2 {
        assert_eq!(text(weir.get(SERDE).await).await, marked);
    }
    let [Event::MetadataFiltered(filtered)] = &weir.events()[..] else { panic!("one event") };
    let wanted = (Ecosystem::Cargo, "serde", &["1.1.0".to_owned()][..], 7);
    let (package, marked) = (filtered.package.as_str(), &filtered.marked[..]);
    assert_eq!((filtered.ecosystem, package, marked, filtered.policy_revision), wanted);

    weir.rules(8, &[rule(1, "serde", ">=1.1", Mask::Hide)]);
    assert_eq!(text(weir.get(SERDE).await).await, list("serde", &["1.0.0"]));
    weir.rules(9, &[rule(1, "serde", "*", Mask::Hide)]);
    let none = weir.get(SERDE).await;
    assert_eq!((none.status, text(none).await.as_str()), (StatusCode::OK, ""));
    assert_eq!(weir.upstream.n_asked(&list_at("serde")), 1);
}

#[tokio::test]
async fn a_list_is_revalidated_and_never_unchanged_across_policies() {
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0"]);
    let list = weir.get(SERDE).await;
    assert_eq!(list.headers[CACHE_CONTROL], "no-cache");
    let etag = list.headers[ETAG].to_str().unwrap().to_owned();
    let known = [(IF_NONE_MATCH, etag.as_str())];
    let again = weir.ask(Method::GET, SERDE, &known).await;
    assert_eq!(
        (again.status, &again.headers[ETAG]),
        (StatusCode::NOT_MODIFIED, &list.headers[ETAG])
    );
    assert!(matches!(again.body, Body::Empty));
    weir.rules(9, &[rule(1, "syn", "*", Mask::Mark)]);
    let other = weir.ask(Method::GET, SERDE, &known).await.status;
    assert_eq!(other, StatusCode::NOT_MODIFIED, "what is not about serde changes nothing");
    // Another policy for serde, even if it does not touch any version there is.
    weir.rules(10, &[rule(1, "serde", "=9.9.9", Mask::Mark)]);
    assert_eq!(weir.ask(Method::GET, SERDE, &known).await.status, StatusCode::OK);
}

#[tokio::test]
async fn head_has_the_headers_of_get() {
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0"]);
    for path in [SERDE, "/config.json"] {
        let (get, head) = (weir.get(path).await, weir.head(path).await);
        assert_eq!((head.status, &head.headers), (get.status, &get.headers), "{path}");
        let length: usize = head.headers[CONTENT_LENGTH].to_str().unwrap().parse().unwrap();
        assert_eq!(length, text(get).await.len(), "{path}");
        assert!(matches!(head.body, Body::Empty), "{path}");
    }
}

#[tokio::test]
async fn what_does_not_exist_is_not_found() {
    let weir = Weir::open().await;
    weir.publish("serde_json", &["1.0.0"]);
    // The other spelling is another list, which this upstream does not have.
    for path in ["/se/rd/serde", "/se/rd/serde-json", "/index.html", "/1/x"] {
        assert_eq!(weir.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(weir.get("/se/rd/serde_json").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_disabled_ecosystem_names_the_key_to_set() {
    let weir = Weir::open_with(|config| config.upstream = None).await;
    for path in ["/config.json", SERDE, "/crates/serde/1.0.0/download"] {
        let answer = weir.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_IMPLEMENTED, "{path}");
        assert!(text(answer).await.contains("registries.cargo.upstream"), "{path}");
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_pass() {
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0", "1.1.0"]);
    weir.rules(1, &[rule(1, "serde", ">=1.1", Mask::Mark)]);
    weir.plugin.gate.ledger().break_down();
    for path in [SERDE, "/crates/serde/1.0.0/download", "/crates/serde/1.1.0/download"] {
        assert_eq!(weir.get(path).await.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
    }
}

#[test]
fn who_is_not_known_is_told_where_tokens_are_to_be_had() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let weir = runtime.block_on(Weir::open());
    let challenge = weir.plugin.challenge("https://weir.example");
    assert_eq!(challenge, "Cargo login_url=\"https://weir.example/\"");
}

#[tokio::test]
async fn what_is_reserved_is_refused_and_nobody_outside_hears_of_it() {
    let weir = Weir::start().await;
    (weir.set_facts)(crate::registry::testing::reserving(Ecosystem::Cargo, "acme-*"));
    weir.keeps_to_itself(&["/ac/me/acme_core", "/crates/acme_core/1.0.0/download"]).await;
}
