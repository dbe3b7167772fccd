//! Pages: what clients see of a project.

use http::{
    StatusCode,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY},
};
use serde_json::Value;
use weir_events::registry::{Event, Mask};

use super::{super::testing::rule, *};

const JSON: &str = "application/vnd.pypi.simple.v1+json";

async fn json(weir: &Weir) -> Value {
    serde_json::from_str(&text(weir.get_with("/simple/six/", ACCEPT, JSON).await).await).unwrap()
}

#[tokio::test]
async fn a_forbidden_version_is_marked_and_the_answer_is_on_record_once() {
    let weir = Weir::start().await;
    weir.upstream.project("six", &["1.16.0", "1.17.0"]);
    let clean = json(&weir).await;
    assert_eq!(clean["files"][0]["url"], "../../files/six/six-1.16.0.tar.gz");
    assert_eq!(clean["files"][1].get("yanked"), None);
    assert!(weir.events().is_empty(), "an answer that changes nothing is only counted");

    weir.rules(7, &[rule(1, "six", ">=1.17", Mask::Mark)]);
    let marked = json(&weir).await;
    assert_eq!(marked["files"][0].get("yanked"), None);
    assert!(marked["files"][1]["yanked"].as_str().unwrap().contains("too young"));
    json(&weir).await;
    let [Event::MetadataFiltered(filtered)] = &weir.events()[..] else { panic!("one event") };
    assert_eq!((&filtered.marked[..], filtered.policy_revision), (&["1.17.0".to_owned()][..], 7));
    assert_eq!(weir.upstream.n_asked("/simple/six/"), 1);
    assert_eq!(weir.plugin.stats().filtered, 2);

    weir.rules(8, &[rule(1, "six", ">=1.17", Mask::Hide)]);
    let hidden = json(&weir).await;
    assert_eq!(hidden["files"].as_array().unwrap().len(), 1);
    assert_eq!(hidden["versions"], serde_json::json!(["1.16.0"]));
    assert_eq!(weir.recorded(), ["filtered", "filtered"]);
}

#[tokio::test]
async fn a_page_is_revalidated_and_never_unchanged_across_policies() {
    let weir = Weir::start().await;
    weir.upstream.project("six", &["1.16.0"]);
    let page = weir.get_with("/simple/six/", ACCEPT, JSON).await;
    assert_eq!(page.headers[CONTENT_TYPE], JSON);
    assert_eq!(page.headers[VARY], "Accept, Accept-Encoding");
    assert_eq!(page.headers[CACHE_CONTROL], "no-cache");
    let etag = page.headers[ETAG].to_str().unwrap().to_owned();
    let accept = [(ACCEPT, JSON), (IF_NONE_MATCH, etag.as_str())];
    let again = weir.ask(Method::GET, "/simple/six/", &accept).await;
    assert_eq!(
        (again.status, &again.headers[ETAG]),
        (StatusCode::NOT_MODIFIED, &page.headers[ETAG])
    );
    assert!(matches!(again.body, Body::Empty));
    let html = weir.get_with("/simple/six/", IF_NONE_MATCH, &etag).await;
    assert_eq!(html.status, StatusCode::OK);
    weir.rules(9, &[rule(1, "seven", "*", Mask::Mark)]);
    let other = weir.ask(Method::GET, "/simple/six/", &accept).await.status;
    assert_eq!(other, StatusCode::NOT_MODIFIED, "what is not about six changes nothing");
    // Another policy for six, even if it does not touch any version there is.
    weir.rules(10, &[rule(1, "six", "==9.9", Mask::Mark)]);
    assert_eq!(weir.ask(Method::GET, "/simple/six/", &accept).await.status, StatusCode::OK);
}

#[tokio::test]
async fn head_has_the_headers_of_get() {
    let weir = Weir::start().await;
    weir.upstream.project("six", &["1.16.0"]);
    let get = weir.get("/simple/six/").await;
    let head = weir.head("/simple/six/").await;
    assert_eq!((head.status, &head.headers), (get.status, &get.headers));
    let length: usize = head.headers[CONTENT_LENGTH].to_str().unwrap().parse().unwrap();
    assert_eq!(length, text(get).await.len());
    assert!(matches!(head.body, Body::Empty));
}

#[tokio::test]
async fn an_upstream_that_knows_only_html_is_served_in_every_form() {
    let weir = Weir::start().await;
    let html = r#"<a href="../../packages/six-1.0.tar.gz#sha256=00">six-1.0.tar.gz</a>"#;
    let canned = Canned::new(html).with(CONTENT_TYPE, "text/html; charset=utf-8");
    weir.upstream.put("/simple/six/", canned);
    assert_eq!(json(&weir).await["files"][0]["filename"], "six-1.0.tar.gz");
    let page = text(weir.get("/simple/six/").await).await;
    assert!(page.contains("href=\"../../files/six/six-1.0.tar.gz#sha256=00\""), "{page}");
}

#[tokio::test]
async fn a_disabled_ecosystem_names_the_key_to_set() {
    let weir = Weir::start_with(|config| config.upstream = None).await;
    for path in ["/simple/six/", "/files/six/six-1.0.tar.gz"] {
        let answer = weir.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_IMPLEMENTED);
        assert!(answer.reason.as_deref().unwrap().contains("registries.pypi.upstream"));
        assert!(text(answer).await.contains("registries.pypi.upstream"));
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_pass() {
    let weir = Weir::start().await;
    weir.upstream.project("six", &["1.16.0", "1.17.0"]);
    weir.rules(1, &[rule(1, "six", ">=1.17", Mask::Mark)]);
    weir.plugin.gate.ledger().break_down();
    for path in ["/simple/six/", "/files/six/six-1.16.0.tar.gz", "/files/six/six-1.17.0.tar.gz"] {
        let answer = weir.get(path).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert!(answer.headers.contains_key(http::header::RETRY_AFTER));
    }
}

#[tokio::test]
async fn what_is_reserved_is_refused_and_nobody_outside_hears_of_it() {
    let weir = Weir::start().await;
    (weir.set_facts)(crate::registry::testing::reserving(Ecosystem::Pypi, "Acme-*"));
    weir.keeps_to_itself(&["/simple/acme-tools/", "/files/acme-tools/acme_tools-1.0.tar.gz"]).await;
}
