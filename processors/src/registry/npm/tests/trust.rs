//! Packages of which less vouches for the newest version than for one before it.

use std::time::Duration;

use http::{StatusCode, header::WARNING};
use serde_json::json;
use weir_aggregates::registry::facts::Facts;
use weir_events::registry::policy::{Reaction, Settings, SettingsChanged, Trust};

use super::*;

const NEW: &str = "/pad/-/pad-1.2.0.tgz";

async fn weir(trust: Trust) -> Weir {
    let weir = Weir::start().await;
    weir.upstream.packument("pad", &losing(&weir));
    look_for(&weir, trust);
    weir
}

/// A package of which the first version had no provenance, the second had one, and the third lost it.
fn losing(weir: &Weir) -> Value {
    weir.upstream.package("pad", &["1.0.0", "1.1.0", "1.2.0"]);
    let mut packument = json!({"name": "pad", "versions": {}, "dist-tags": {"latest": "1.2.0"}});
    for (day, version) in ["1.0.0", "1.1.0", "1.2.0"].iter().enumerate() {
        let file = format!("pad-{version}.tgz");
        let tarball = weir.upstream.url(&format!("/tarballs/pad/-/{file}"));
        let promised = integrity(&content(&file));
        packument["versions"][version] =
            json!({"dist": {"tarball": tarball.as_str(), "integrity": promised}});
        packument["time"][version] = json!(format!("2026-01-0{}T00:00:00Z", day + 1));
    }
    let predicate = json!({"provenance": {"predicateType": "https://slsa.dev/provenance/v1"}});
    packument["versions"]["1.1.0"]["dist"]["attestations"] = predicate;
    packument
}

/// This is looked for from now on.
fn look_for(weir: &Weir, trust: Trust) {
    let mut facts = Facts::default();
    let settings = Settings { trust, ..Settings::default() };
    facts.apply(7, &SettingsChanged { settings }.into());
    facts.settle();
    (weir.set_facts)(facts);
}

#[tokio::test]
async fn a_lost_provenance_is_marked_refused_and_on_record_with_who_had_one() {
    let weir = weir(Trust { provenance: Reaction::Block, ..Trust::default() }).await;
    let listed = weir.json("/pad").await;
    let told = "Blocked by Weir: 1.1.0, published before it, had a provenance, and it has nothing";
    let mark = listed["versions"]["1.2.0"]["deprecated"].as_str().unwrap();
    assert!(mark.starts_with(told), "{mark}");
    assert_eq!(listed["dist-tags"]["latest"], "1.1.0");
    let refused = weir.get(NEW).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(error(refused).await.contains("1.1.0 is allowed"));
    for version in ["1.0.0", "1.1.0"] {
        let passed = weir.get(&format!("/pad/-/pad-{version}.tgz")).await;
        assert_eq!(passed.status, StatusCode::OK, "{version}");
    }
    let refused = weir.events().into_iter().find_map(|event| match event {
        Event::PackageBlocked(blocked) => Some(blocked),
        _ => None,
    });
    assert_eq!(refused.map(|it| it.source).as_deref(), Some("provenance"));
}

/// It once passed, unmarked and as the latest, as long as the registry was half up: without times no version
/// is before another.
#[tokio::test]
async fn a_lost_provenance_stays_refused_when_the_upstream_tells_no_times_any_more() {
    let weir = Weir::start_with(|config| config.keeping.ttl = Duration::ZERO).await;
    let mut packument = losing(&weir);
    weir.upstream.packument("pad", &packument);
    look_for(&weir, Trust { provenance: Reaction::Block, ..Trust::default() });
    weir.json("/pad").await;
    packument.as_object_mut().unwrap().remove("time");
    weir.upstream.packument("pad", &packument);
    for _ in 0..2 {
        let listed = weir.json("/pad").await;
        let mark = listed["versions"]["1.2.0"]["deprecated"].as_str().unwrap();
        assert!(mark.contains("1.1.0, published before it, had a provenance"), "{mark}");
        assert_eq!(listed["dist-tags"]["latest"], "1.1.0");
        assert_eq!(weir.get(NEW).await.status, StatusCode::FORBIDDEN);
    }
    assert_eq!(weir.upstream.n_asked("/registry/pad"), 2, "it was asked, and is left in peace");
    // Where nobody asks for that, what the registry says now is taken.
    look_for(&weir, Trust::default());
    let listed = weir.json("/pad").await;
    assert!(listed.get("time").is_none(), "{listed}");
    assert_eq!(weir.get(NEW).await.status, StatusCode::OK);
}

#[tokio::test]
async fn who_is_only_warned_gets_the_file_and_is_told_in_its_headers() {
    let weir = weir(Trust { provenance: Reaction::Warn, ..Trust::default() }).await;
    assert_eq!(weir.json("/pad").await["versions"]["1.2.0"].get("deprecated"), None);
    let words = "Weir warns: 1.1.0, published before it, had a provenance";
    let warned = weir.get(NEW).await;
    assert_eq!(warned.status, StatusCode::OK);
    assert!(warned.headers[WARNING].to_str().unwrap().contains(words), "{warned:?}");
    let silent = weir.get("/pad/-/pad-1.1.0.tgz").await;
    assert!(!silent.headers.contains_key(WARNING));
    let warnings: Vec<_> = weir
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::PackageAllowed(allowed) => Some(allowed.warning.map(|grounds| grounds.id)),
            _ => None,
        })
        .collect();
    assert_eq!(warnings, [Some("provenance".to_owned()), None]);
}

#[tokio::test]
async fn nobody_is_told_of_it_where_nobody_asks() {
    let weir = weir(Trust::default()).await;
    let passed = weir.get(NEW).await;
    assert!(passed.status == StatusCode::OK && !passed.headers.contains_key(WARNING));
    assert!(weir.recorded().contains(&"allowed"));
}
