//! Licences: what real npm and real pip get where some of them may not be used.

use serde_json::{Value, json};
use weir_tests::weir::{Part, Place, Weir};

use super::{home::Home, npm::client::Client, pypi::pip_at, said};

async fn weir(home: &Home, policy: &str) -> (Place, Weir) {
    let settings = format!("{}policy:\n  licences: {policy}\n", home.setting());
    let place = Place::on_a_test_database().await.setting(&settings);
    let weir = place.start(Part::Up).await;
    (place, weir)
}

async fn payloads(weir: &Weir, kind: &str) -> Vec<Value> {
    let page = weir.client.get(&format!("/api/events?kind={kind}&limit=1000")).await.expect(200);
    let page = page.json();
    let all = page["events"].as_array().expect("events").iter();
    all.map(|event| event["payload"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn npm_takes_the_last_version_whose_licence_may_be_used() {
    let home = Home::start().await;
    home.npm(
        "pad",
        &[
            ("1.0.0", json!({"license": "MIT"})),
            ("1.1.0", json!({"licenses": [{"type": "AGPL-3.0"}, {"type": "MIT"}]})),
            ("1.2.0", json!({"license": "AGPL-3.0"})),
        ],
    );
    home.npm("mute", &[("1.0.0", json!({}))]);
    let (place, weir) = weir(&home, "{deny: [AGPL-*], unknown: warn}").await;
    let registry = format!("{}/npm/", weir.url);
    let project = Client::Npm.project(&place, "p", &[("pad", "latest"), ("mute", "latest")]);
    let output = project.install(&registry);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(project.installed("pad"), "1.1.0");
    let mute = weir.client.get("/npm/mute/-/mute-1.0.0.tgz").await;
    let words = "nobody tells its licence";
    assert!(mute.header("warning").is_some_and(|it| it.contains(words)), "{mute:?}");
    let pinned = Client::Npm.project(&place, "pinned", &[("pad", "1.2.0")]);
    let refused = pinned.install(&registry);
    let words = "its licence, `AGPL-3.0-only`, is not one that may be used here";
    assert!(!refused.status.success() && said(&refused).contains(words), "{}", said(&refused));
    let explained = said(&place.run(&["explain", "npm", "pad", "1.2.0"]));
    assert!(explained.contains(words), "{explained}");
    let blocked = payloads(&weir, "PackageBlocked").await;
    assert!(blocked.iter().all(|it| it["source"] == json!("licence")), "{blocked:?}");
    let waiver = json!({"ecosystem": "npm", "package": "pad", "versions": "1.2.0", "days": 1,
        "waives": ["licence"], "reason": "for a test bench only", "owner": "ann"});
    weir.client.post("/api/registry/waivers", &waiver).await.has(201);
    let passed = pinned.install(&registry);
    assert!(passed.status.success(), "{}", said(&passed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pip_is_refused_a_wheel_whose_metadata_tell_another_licence() {
    let home = Home::start().await;
    let beside = json!({"core-metadata": true});
    let classified = "Classifier: License :: OSI Approved :: MIT License";
    home.pypi("free", &[("1.0", beside.clone(), "License-Expression: MIT OR GPL-3.0-only")]);
    home.pypi("classy", &[("1.0", beside.clone(), classified)]);
    home.pypi("viral", &[("1.0", beside.clone(), "License: GPLv3")]);
    home.pypi("mute", &[("1.0", beside, "Summary: nothing")]);
    home.pypi("bare", &[("1.0", json!({}), "License: MIT")]);
    // What is not known to be allowed is not, without a word about it.
    let (place, weir) = weir(&home, "{allow: [MIT]}").await;
    for (project, refused) in [
        ("free", None),
        ("classy", None),
        ("viral", Some("its licence, `GPL-3.0-only`, is not one")),
        ("mute", Some("nobody tells its licence")),
        // The index has no metadata beside its file.
        ("bare", Some("nobody tells its licence")),
    ] {
        let output = pip_at(&weir.url, &place, project, project);
        assert_eq!(output.status.success(), refused.is_none(), "{project}: {}", said(&output));
        assert!(refused.is_none_or(|words| said(&output).contains(words)), "{}", said(&output));
    }
    let told = payloads(&weir, "VersionTold").await;
    let licences: Vec<_> = told.iter().map(|it| it["licence"].clone()).collect();
    let none = "NOASSERTION";
    assert_eq!(json!(licences), json!(["MIT OR GPL-3.0-only", "MIT", "GPL-3.0-only", none, none]));
    let path = "/api/registry/explain?ecosystem=pypi&package=viral&version=1.0";
    let explained = weir.client.get(path).await.expect(200).json();
    assert_eq!(explained["objections"][0]["source"], json!("licence"), "{explained}");
}
