//! Packuments: what clients see of a package.

use http::{
    StatusCode,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY},
};
use serde_json::json;
use weir_events::registry::Mask;

use super::{super::testing::rule, *};

const SHORT: &str = "application/vnd.npm.install-v1+json";
/// What npm itself sends.
const NPM: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
const TOLD: &str = "Blocked by Weir: too young (rule 019a0000-0000-7000-8000-000000000001)";

async fn pad() -> Weir {
    let weir = Weir::start().await;
    weir.upstream.package("pad", &["1.1.0", "1.2.0", "1.3.0"]);
    weir
}

#[tokio::test]
async fn a_forbidden_version_is_marked_and_the_answer_is_on_record_once() {
    let weir = pad().await;
    let clean = weir.json("/pad").await;
    let tarball = "https://weir.example/npm/pad/-/pad-1.3.0.tgz";
    assert_eq!(clean["versions"]["1.3.0"]["dist"]["tarball"], tarball);
    assert_eq!(clean["readme"], "long");
    assert!(weir.events().is_empty(), "an answer that changes nothing is only counted");

    weir.rules(7, &[rule(1, "pad", ">=1.3", Mask::Mark)]);
    let marked = weir.json("/pad").await;
    assert_eq!(marked["versions"]["1.3.0"]["deprecated"], TOLD);
    assert_eq!(marked["dist-tags"], json!({"latest": "1.2.0"}));
    assert_eq!(marked["time"], clean["time"]);
    weir.json("/pad").await;
    let short = weir.get_with("/pad", ACCEPT, NPM).await;
    assert!(text(short).await.contains(TOLD));
    let [Event::MetadataFiltered(filtered)] = &weir.events()[..] else { panic!("one event") };
    assert_eq!((filtered.ecosystem, filtered.package.as_str()), (Ecosystem::Npm, "pad"));
    assert_eq!((&filtered.marked[..], filtered.policy_revision), (&["1.3.0".to_owned()][..], 7));
    assert_eq!(weir.upstream.n_asked("/registry/pad"), 1);

    weir.rules(8, &[rule(1, "pad", ">=1.3", Mask::Hide)]);
    let hidden = weir.json("/pad").await;
    assert_eq!(hidden["versions"].as_object().unwrap().len(), 2);
    assert_eq!(hidden["dist-tags"], json!({"latest": "1.2.0"}));
    assert_eq!(hidden["time"]["modified"], clean["time"]["modified"]);
    assert_eq!(hidden["time"].get("1.3.0"), None);
    assert_eq!(weir.recorded(), ["filtered", "filtered"]);

    weir.rules(9, &[rule(1, "pad", ">=1.3", Mask::DenyOnly)]);
    let mut denied = weir.json("/pad").await;
    let step = "too-young-rule_019a0000-0000-7000-8000-000000000001";
    let refused = format!("https://weir.example/npm/pad/-/blocked/{step}/pad-1.3.0.tgz");
    let listed = &mut denied["versions"]["1.3.0"]["dist"]["tarball"];
    assert_eq!(*listed, refused);
    *listed = json!(tarball);
    assert_eq!(denied, clean);
    assert_eq!(weir.recorded().len(), 2);
}

#[tokio::test]
async fn each_form_is_revalidated_by_itself_and_never_unchanged_across_policies() {
    let weir = pad().await;
    let mut etags = Vec::new();
    for (accept, content_type) in [(NPM, SHORT), ("application/json", "application/json")] {
        let page = weir.get_with("/pad", ACCEPT, accept).await;
        assert_eq!(page.headers[CONTENT_TYPE], content_type);
        assert_eq!(page.headers[VARY], "Accept, Accept-Encoding");
        assert_eq!(page.headers[CACHE_CONTROL], "no-cache");
        let etag = page.headers[ETAG].to_str().unwrap().to_owned();
        let again = [(ACCEPT, accept), (IF_NONE_MATCH, etag.as_str())];
        let same = weir.ask(Method::GET, "/pad", &again).await;
        assert_eq!(same.status, StatusCode::NOT_MODIFIED);
        assert!(matches!(same.body, Body::Empty));
        assert!(!etags.contains(&etag), "both forms have one validator");
        etags.push(etag);
    }
    let other = [(ACCEPT, NPM), (IF_NONE_MATCH, etags[1].as_str())];
    assert_eq!(weir.ask(Method::GET, "/pad", &other).await.status, StatusCode::OK);
    let again = [(ACCEPT, NPM), (IF_NONE_MATCH, etags[0].as_str())];
    weir.rules(9, &[rule(1, "other", "*", Mask::Mark)]);
    let other = weir.ask(Method::GET, "/pad", &again).await.status;
    assert_eq!(other, StatusCode::NOT_MODIFIED, "what is not about pad changes nothing");
    // Another policy for pad, even if it does not touch any version there is.
    weir.rules(10, &[rule(1, "pad", "9.9.9", Mask::Mark)]);
    assert_eq!(weir.ask(Method::GET, "/pad", &again).await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_abbreviated_form_tells_how_old_versions_are() {
    let weir = pad().await;
    let short: Value =
        serde_json::from_str(&text(weir.get_with("/pad", ACCEPT, NPM).await).await).unwrap();
    assert_eq!(short["time"]["1.3.0"], "2021-05-05");
    assert_eq!(short["modified"], "2022-02-02");
    assert_eq!(short["versions"]["1.3.0"].get("readme"), None);
    // The full one is what the upstream is asked for.
    assert_eq!(weir.upstream.last_headers("/registry/pad")[ACCEPT], "application/json");
}

#[tokio::test]
async fn head_has_the_headers_of_get() {
    let weir = pad().await;
    for path in ["/pad", "/pad/latest", "/-/ping"] {
        let (get, head) = (weir.get(path).await, weir.head(path).await);
        assert_eq!((head.status, &head.headers), (get.status, &get.headers), "{path}");
        let length: usize = head.headers[CONTENT_LENGTH].to_str().unwrap().parse().unwrap();
        assert_eq!(length, text(get).await.len());
        assert!(matches!(head.body, Body::Empty));
    }
}

#[tokio::test]
async fn a_scoped_package_has_one_packument_in_every_spelling() {
    let weir = Weir::start().await;
    weir.upstream.package("@s/n", &["1.0.0"]);
    for path in ["/@s/n", "/@s%2fn", "/@s%2Fn", "/%40s%2fn", "/@s%252fn"] {
        let page = weir.json(path).await;
        let tarball = "https://weir.example/npm/@s/n/-/n-1.0.0.tgz";
        assert_eq!(page["versions"]["1.0.0"]["dist"]["tarball"], tarball, "{path}");
    }
    assert_eq!(weir.upstream.n_asked("/registry/@s%2fn"), 1);
    for path in ["/@s/n/-/n-1.0.0.tgz", "/@s%2fn/-/n-1.0.0.tgz"] {
        assert_eq!(body(weir.get(path).await).await.unwrap(), content("n-1.0.0.tgz"), "{path}");
    }
    weir.until("kept", || weir.recorded().contains(&"stored")).await;
    let Some(Event::CacheStored(stored)) =
        weir.events().into_iter().find(|event| matches!(event, Event::CacheStored(_)))
    else {
        panic!("nothing stored")
    };
    assert_eq!((stored.package.as_str(), stored.file.as_str()), ("@s/n", "n-1.0.0.tgz"));
}

#[tokio::test]
async fn an_old_package_is_asked_for_as_it_is_spelt_and_judged_without_case() {
    let weir = Weir::start().await;
    weir.upstream.package("JSONStream", &["1.0.0", "1.1.0"]);
    weir.rules(1, &[rule(1, "jsonstream", "1.1.0", Mask::Hide)]);
    let page = weir.json("/JSONStream").await;
    assert_eq!(page["versions"].as_object().unwrap().len(), 1);
    let refused = weir.get("/JSONStream/-/JSONStream-1.1.0.tgz").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert_eq!(weir.get("/jsonstream").await.status, StatusCode::NOT_FOUND, "another package");
}

#[tokio::test]
async fn one_version_is_given_as_the_rules_leave_it() {
    let weir = pad().await;
    for (path, version) in [("/pad/1.1.0", "1.1.0"), ("/pad/latest", "1.3.0")] {
        assert_eq!(weir.json(path).await["version"], version);
    }
    weir.rules(1, &[rule(1, "pad", "1.3.0", Mask::Mark)]);
    assert_eq!(weir.json("/pad/latest").await["version"], "1.2.0");
    let marked = weir.json("/pad/1.3.0").await;
    assert_eq!(marked["deprecated"], TOLD);
    assert!(marked["dist"]["tarball"].as_str().unwrap().contains("/-/blocked/too-young-rule_"));
    weir.rules(2, &[rule(1, "pad", "1.3.0", Mask::Hide)]);
    for path in ["/pad/1.3.0", "/pad/9.9.9", "/pad/next"] {
        let answer = weir.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(error(answer).await.starts_with("version not found"), "{path}");
    }
    assert_eq!(weir.recorded(), ["filtered", "filtered"]);
    let etag = weir.get("/pad/1.1.0").await.headers[ETAG].to_str().unwrap().to_owned();
    let same = weir.get_with("/pad/1.1.0", IF_NONE_MATCH, &etag).await;
    assert_eq!(same.status, StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn a_package_of_which_nothing_is_left_is_refused_with_the_reason() {
    let weir = pad().await;
    weir.rules(1, &[rule(1, "pad", "*", Mask::Hide)]);
    for accept in [NPM, "application/json"] {
        let refused = weir.get_with("/pad", ACCEPT, accept).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        assert_eq!(refused.reason.as_deref(), Some(TOLD));
        assert_eq!(refused.headers["npm-notice"], TOLD);
        assert_eq!(error(refused).await, format!("{TOLD}; no version of `pad` is allowed"));
    }
    assert_eq!(weir.recorded(), ["filtered"]);
    // What the upstream itself lists no version of is passed on as it is.
    weir.upstream.packument("gone", &json!({"name": "gone", "time": {"unpublished": {}}}));
    assert_eq!(weir.get("/gone").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_disabled_ecosystem_names_the_key_to_set() {
    let weir = Weir::start_with(|config| config.upstream = None).await;
    for path in ["/pad", "/pad/-/pad-1.0.0.tgz", "/-/v1/search?text=x"] {
        let answer = weir.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_IMPLEMENTED);
        assert!(error(answer).await.contains("registries.npm.upstream"), "{path}");
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_pass() {
    let weir = pad().await;
    weir.rules(1, &[rule(1, "pad", ">=1.3", Mask::Mark)]);
    weir.plugin.gate.ledger().break_down();
    for path in ["/pad", "/pad/1.1.0", "/pad/-/pad-1.1.0.tgz", "/pad/-/pad-1.3.0.tgz"] {
        let answer = weir.get(path).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert!(answer.headers.contains_key(http::header::RETRY_AFTER));
    }
}

#[tokio::test]
async fn a_rule_counts_at_once_and_each_policy_is_written_once() {
    let weir = pad().await;
    for revision in 1..=3 {
        let versions = format!("1.{revision}.0");
        weir.rules(revision, &[rule(1, "pad", &versions, Mask::Hide)]);
        let page = weir.json("/pad").await;
        assert_eq!(page["versions"].get(&versions), None);
    }
    assert_eq!(weir.upstream.n_asked("/registry/pad"), 1);
}

#[tokio::test]
async fn what_no_person_can_read_is_no_version_and_stands_in_no_event() {
    let weir = Weir::start().await;
    (weir.set_facts)(crate::registry::testing::reserving(Ecosystem::Npm, "@ours/*"));
    for path in ["/@ours%2fx/%00", "/pad/1.0%0a", "/pad/%1b[2J"] {
        assert_eq!(weir.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert!(weir.events().is_empty());
    weir.rules(7, &[rule(1, "pad", "*", Mask::Hide)]);
    let versions = json!({"1.1.0": {}, "1.2.0\u{0}": {}, "\u{7}": {}});
    weir.upstream.packument("pad", &json!({"name": "pad", "versions": versions}));
    weir.get("/pad").await;
    let [Event::MetadataFiltered(filtered)] = &weir.events()[..] else { panic!("one event") };
    assert_eq!(filtered.hidden, ["1.1.0"]);
}

#[tokio::test]
async fn what_is_reserved_is_refused_and_nobody_outside_hears_of_it() {
    let weir = Weir::start().await;
    (weir.set_facts)(crate::registry::testing::reserving(Ecosystem::Npm, "@acme/*"));
    weir.keeps_to_itself(&[
        "/@acme%2ftool",
        "/@acme/tool/1.0.0",
        "/@acme/tool/-/tool-1.0.0.tgz",
        "/-/npm/v1/attestations/@acme%2ftool@1.0.0",
        "/-/v1/search?text=@acme/tool",
        "/-/v1/search?size=3&text=some+scope%3Aacme",
    ])
    .await;
}
