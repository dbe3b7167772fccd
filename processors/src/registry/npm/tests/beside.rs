//! What a registry has beside its packages.

use http::{
    StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER},
};
use serde_json::json;
use weir_events::registry::Mask;

use super::{super::testing::rule, *};

fn in_json(body: &Value) -> Canned {
    Canned::new(body.to_string()).with(CONTENT_TYPE, "application/json; charset=utf-8")
}

#[tokio::test]
async fn a_client_learns_that_somebody_is_there_and_who_it_is() {
    let weir = Weir::start().await;
    assert_eq!(weir.json("/-/ping").await, json!({}));
    assert_eq!(weir.json("/-/whoami").await, json!({"username": "ci"}));
    let unknown = weir.get("/-/npm/v1/user").await;
    assert_eq!((unknown.status, text(unknown).await.as_str()), (StatusCode::NOT_FOUND, "{}"));
}

#[tokio::test]
async fn a_search_finds_what_may_be_chosen() {
    let weir = Weir::start().await;
    let package = |name: &str| json!({"package": {"name": name, "version": "1.0.0"}});
    let results = json!({"objects": [package("good"), package("bad")], "total": 2});
    weir.upstream.put("/registry/-/v1/search", in_json(&results));
    weir.rules(1, &[rule(1, "bad", "*", Mask::Hide)]);
    let found = weir.json("/-/v1/search?text=a&size=20").await;
    assert_eq!(found, json!({"objects": [package("good")], "total": 1}));
    weir.upstream.put("/registry/-/v1/search", in_json(&json!({"error": "x"})));
    let broken = weir.get("/-/v1/search?text=a").await;
    assert_eq!(broken.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn keys_and_attestations_are_passed_through() {
    let weir = Weir::start().await;
    for path in ["/-/npm/v1/keys", "/-/npm/v1/attestations/@s%2fn@1.0.0"] {
        let missing = weir.get(path).await;
        assert_eq!((missing.status, text(missing).await.as_str()), (StatusCode::NOT_FOUND, "{}"));
        let keys = r#"{"keys": [ {"keyid":"k", "x":1e400} ]}"#;
        let canned = Canned::new(keys).with(CONTENT_TYPE, "application/json");
        weir.upstream.put(&format!("/registry{path}"), canned);
        assert_eq!(text(weir.get(path).await).await, keys, "{path}");
        let html = Canned::new("<html>").with(CONTENT_TYPE, "text/html");
        weir.upstream.put(&format!("/registry{path}"), html);
        assert_eq!(weir.get(path).await.status, StatusCode::BAD_GATEWAY, "{path}");
    }
    let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(5 << 20));
    let large = Canned::new(large).with(CONTENT_TYPE, "application/json");
    weir.upstream.put("/registry/-/npm/v1/keys", large);
    assert!(error(weir.get("/-/npm/v1/keys").await).await.contains("more than 4194304 bytes"));
}

#[tokio::test]
async fn an_audit_is_answered_from_the_rules_and_asks_nobody() {
    let weir = Weir::start().await;
    weir.rules(1, &[rule(1, "pad", "<1.3", Mask::Mark)]);
    let path = "/-/npm/v1/security/advisories/bulk";
    let question = r#"{"pad":["1.2.0"],"other":["1.0.0"]}"#;
    let answer = weir.send(Method::POST, path, &[], question.into()).await;
    assert_eq!(
        (answer.status, &answer.headers[CONTENT_TYPE]),
        (StatusCode::OK, &"application/json".parse().unwrap())
    );
    let answer: Value = serde_json::from_str(&text(answer).await).unwrap();
    assert_eq!(answer.as_object().unwrap().len(), 1);
    assert_eq!(answer["pad"][0]["vulnerable_versions"], "<1.3");
    assert_eq!(answer["pad"][0]["url"], "https://weir.example/");
    let packed = [(CONTENT_ENCODING, "gzip")];
    let broken = weir.send(Method::POST, path, &packed, question.into()).await;
    assert_eq!(broken.status, StatusCode::BAD_REQUEST);
    assert!(error(broken).await.contains("not packed as it says"));
    let quick = "/-/npm/v1/security/audits/quick";
    let tree = r#"{"dependencies":{"pad":{"version":"1.2.0"}}}"#;
    let answer = weir.send(Method::POST, quick, &[], tree.into()).await;
    assert!(text(answer).await.contains("too young"));
    assert_eq!(weir.upstream.n_asked(&format!("/registry{path}")), 0);
    assert_eq!(weir.upstream.n_asked(&format!("/registry{quick}")), 0);
}

#[tokio::test]
async fn an_audit_by_rules_that_cannot_be_read_says_so_and_not_that_all_is_well() {
    let weir = Weir::start().await;
    weir.plugin.gate.policy().break_down();
    for (path, question) in [
        ("/-/npm/v1/security/advisories/bulk", r#"{"pad":["1.2.0"]}"#),
        ("/-/npm/v1/security/audits/quick", r#"{"dependencies":{"pad":{"version":"1.2.0"}}}"#),
    ] {
        let answer = weir.send(Method::POST, path, &[], question.into()).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert!(error(answer).await.contains("cannot be read"), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_audit_whose_turn_does_not_come_is_sent_away() {
    let weir = Weir::start().await;
    let _busy = weir.plugin.auditing.acquire().await.unwrap();
    let path = "/-/npm/v1/security/advisories/bulk";
    let answer = weir.send(Method::POST, path, &[], "{}".into()).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.headers[RETRY_AFTER], "1");
}

#[tokio::test]
async fn nothing_is_published_here() {
    let weir = Weir::start().await;
    for method in [Method::PUT, Method::DELETE] {
        let answer = weir.send(method, "/pad", &[], "{}".into()).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
        assert!(error(answer).await.contains("read-only"));
    }
    let writing = weir.get("/pad?write=true").await;
    assert_eq!(writing.status, StatusCode::FORBIDDEN);
    assert!(error(writing).await.contains("read-only"));
}
