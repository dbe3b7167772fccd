//! How old a version is, by the index's clock and by our own.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use weir_aggregates::registry::facts::Facts;
use weir_events::registry::advisory::{
    Advisory, AdvisoryPublished, Affected, Class, End, Severity, Window,
};

use super::*;
use crate::registry::testing::aged;

/// A file of a page, with what the index says of when it was uploaded.
fn file(name: &str, uploaded: Option<&str>) -> Value {
    match uploaded {
        Some(at) => json!({"filename": name, "url": name, "upload-time": at}),
        None => json!({"filename": name, "url": name}),
    }
}

/// The files of a page that may be chosen.
async fn chosen(weir: &Weir) -> Vec<String> {
    let accept = "application/vnd.pypi.simple.v1+json";
    let page = text(weir.get_with("/simple/six/", http::header::ACCEPT, accept).await).await;
    let page: Value = serde_json::from_str(&page).unwrap();
    let free = |file: &&Value| file["yanked"].as_str().is_none();
    let files = page["files"].as_array().unwrap().iter().filter(free);
    files.map(|file| file["filename"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_version_is_as_young_as_its_newest_file_and_forged_times_count_for_nothing() {
    let weir = Weir::start_with(|config| config.keeping.ttl = Duration::ZERO).await;
    let put = |files: &[Value]| {
        let page = json!({"meta": {"api-version": "1.1"}, "name": "six", "files": files});
        weir.upstream.page("six", &page);
    };
    (weir.set_facts)(aged(Ecosystem::Pypi, 72));
    weir.set_hour(240);
    let old = Some("2021-05-05T14:18:18Z");
    let mut files = vec![
        file("six-1.0.tar.gz", old),
        file("six-1.1.tar.gz", Some("2026-01-10T12:00:00Z")),
        file("six-1.2.tar.gz", Some("2099-01-01T00:00:00Z")),
        file("six-1.3.tar.gz", Some("1980-01-01T00:00:00Z")),
        file("six-1.4.tar.gz", None),
    ];
    put(&files);
    assert_eq!(chosen(&weir).await, ["six-1.0.tar.gz"]);
    let told = text(weir.get("/files/six/six-1.2.tar.gz").await).await;
    assert!(told.contains("first seen here at 2026-01-11"), "{told}");
    let told = text(weir.get("/files/six/six-1.1.tar.gz").await).await;
    assert!(told.contains("published at 2026-01-10"), "{told}");
    // A wheel that comes later to an old version, and says that it is old too.
    weir.set_hour(241);
    files.push(file("six-1.0-py3-none-any.whl", old));
    put(&files);
    assert_eq!(chosen(&weir).await, Vec::<String>::new());
    let told = weir.get("/files/six/six-1.0.tar.gz").await;
    assert_eq!(told.status, StatusCode::FORBIDDEN);
    weir.set_hour(240 + 72);
    let ripe = ["six-1.1.tar.gz", "six-1.2.tar.gz", "six-1.3.tar.gz", "six-1.4.tar.gz"];
    assert_eq!(chosen(&weir).await, ripe);
    weir.set_hour(241 + 72);
    assert_eq!(chosen(&weir).await.len(), 6);
    assert_eq!(weir.recorded().iter().filter(|name| **name == "seen").count(), 2);
}

/// A minimum age of 72 hours, and an advisory that says that 2.2.2 fixes what was wrong with `six`.
fn fixed() -> Facts {
    let affected = Affected {
        package: "six".to_owned(),
        severity: Severity::High,
        versions: vec![],
        windows: vec![Window { introduced: None, end: End::Fixed("2.2.2".to_owned()) }],
        widened: false,
    };
    let advisory = Advisory {
        source: "osv".to_owned(),
        ecosystem: Ecosystem::Pypi,
        id: "GHSA-1".to_owned(),
        aliases: vec![],
        class: Class::Vulnerability,
        summary: "six times seven is not always 42".to_owned(),
        modified: None,
        affected: vec![affected],
        digest: String::new(),
    };
    let mut facts = aged(Ecosystem::Pypi, 72);
    facts.apply(2, &AdvisoryPublished { advisory }.into());
    facts.settle();
    facts
}

#[tokio::test]
async fn a_wheel_added_to_a_fix_a_year_later_waits_as_everything_else_does() {
    for told in [true, false] {
        let weir = Weir::start_with(|config| config.keeping.ttl = Duration::ZERO).await;
        (weir.set_facts)(fixed());
        let put = |files: &[Value]| {
            let page = json!({"meta": {"api-version": "1.1"}, "name": "six", "files": files});
            weir.upstream.page("six", &page);
        };
        let time = |at| Some(at).filter(|_| told);
        weir.set_hour(240);
        let mut files = vec![file("six-2.2.2.tar.gz", time("2026-01-10T23:00:00Z"))];
        put(&files);
        assert_eq!(chosen(&weir).await, ["six-2.2.2.tar.gz"], "the fix itself may be young");
        weir.set_hour(240 + 9_000);
        let added = "six-2.2.2.0-1-py3-none-any.whl";
        files.push(file(added, time("2027-01-21T00:00:00Z")));
        put(&files);
        assert_eq!(chosen(&weir).await, ["six-2.2.2.tar.gz"], "{told}");
        let refused = weir.get(&format!("/files/six/{added}")).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        let blocked = weir.events().into_iter().find_map(|event| match event {
            weir_events::registry::Event::PackageBlocked(blocked) => Some(blocked),
            _ => None,
        });
        assert!(blocked.is_some_and(|blocked| blocked.late), "what-if judges it alike");
        weir.set_hour(240 + 9_000 + 72);
        assert_eq!(chosen(&weir).await.len(), 2);
    }
}

#[tokio::test]
async fn without_a_minimum_age_nothing_is_noted() {
    let weir = Weir::start().await;
    weir.upstream.project("six", &["1.0"]);
    weir.get("/simple/six/").await;
    assert_eq!(weir.recorded(), Vec::<&str>::new());
}

#[tokio::test]
async fn what_cannot_be_noted_does_not_pass() {
    let weir = Weir::start().await;
    weir.upstream.project("six", &["1.0"]);
    (weir.set_facts)(aged(Ecosystem::Pypi, 72));
    weir.set_hour(0);
    weir.plugin.ledger().break_down();
    for path in ["/simple/six/", "/files/six/six-1.0.tar.gz"] {
        assert_eq!(weir.get(path).await.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
    }
}
