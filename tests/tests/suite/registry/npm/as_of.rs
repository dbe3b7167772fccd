//! Behind a day, npm resolves to what it resolved to on that day, and to what it resolves to where it is
//! told that day itself (`--before`). The registry is one of this test's own, with the times of all
//! versions: the one that this machine asks may be a mirror that tells none.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    sync::Arc,
};

use axum::{Router, extract::Request, response::IntoResponse as _};
use http::{StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};
use weir_tests::{
    site,
    weir::{Part, Place},
};

use super::client::{Client, Project};
use crate::registry::said;

const DAY: &str = "2026-03-31";
/// The first moment after it.
const BEFORE: &str = "2026-04-01T00:00:00.000Z";

/// Name, version, what of `leaf` it asks for, and since when it is there.
type Published = (&'static str, &'static str, &'static str, &'static str);

const THEN: [Published; 4] = [
    ("leaf", "1.0.0", "", "2026-01-02T03:04:05.000Z"),
    ("leaf", "1.1.0", "", "2026-03-31T23:59:59.000Z"),
    ("middle", "2.0.0", "^1.0.0", "2026-02-02T03:04:05.000Z"),
    ("@team/top", "0.1.0", "^1.0.0", "2026-02-03T03:04:05.000Z"),
];
const LATER: [Published; 3] = [
    ("leaf", "1.2.0", "", "2026-04-01T00:00:01.000Z"),
    ("middle", "2.1.0", "^1.2.0", "2026-05-02T03:04:05.000Z"),
    ("leaf", "2.0.0", "", "2026-06-02T03:04:05.000Z"),
];

/// Serves a registry until the test ends, and answers its address, with a slash at its end. The version
/// of a package that comes last is its latest.
async fn registry(of: impl Iterator<Item = &Published>) -> String {
    let (listener, address) = site::listen().await;
    let address = address + "/";
    let mut packages: HashMap<String, Value> = HashMap::new();
    for (name, version, needs, time) in of {
        let path = format!("/{}", name.replace('/', "%2f"));
        let new = || json!({"name": name, "versions": {}, "time": {"created": time}});
        let package = packages.entry(path).or_insert_with(new);
        let file = name.rsplit('/').next().unwrap_or_default();
        let mut dependencies = json!({});
        if !needs.is_empty() {
            dependencies["leaf"] = json!(needs);
        }
        package["versions"][version] = json!({
            "name": name, "version": version, "dependencies": dependencies,
            "dist": {
                "tarball": format!("{address}{name}/-/{file}-{version}.tgz"),
                "shasum": "7".repeat(40),
                "integrity": format!("sha512-{}==", "7".repeat(86)),
            },
        });
        package["time"][version] = json!(time);
        package["time"]["modified"] = json!(time);
        package["dist-tags"] = json!({"latest": version});
    }
    let packages = Arc::new(packages);
    let answer = move |request: Request| {
        let package = packages.get(&request.uri().path().replace("%2F", "%2f")).cloned();
        async move {
            match package {
                Some(package) => {
                    ([(CONTENT_TYPE, "application/json")], package.to_string()).into_response()
                }
                None => (StatusCode::NOT_FOUND, "not found").into_response(),
            }
        }
    };
    site::serve(listener, Router::new().fallback(answer));
    address
}

/// What a project is locked to: each place in its tree with its version and what its bytes hash to.
fn locked(project: &Project, more: &[&str], registry: &str) -> BTreeMap<String, (String, String)> {
    let question = [&["install", "--package-lock-only", "--no-audit", "--no-fund"], more].concat();
    let output = project.npm(&question, registry);
    assert!(output.status.success(), "{}", said(&output));
    let lock = fs::read(project.folder().join("package-lock.json")).expect("a lock file");
    let lock: Value = serde_json::from_slice(&lock).expect("JSON");
    let packages = lock["packages"].as_object().expect("packages").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |(place, it): (&String, &Value)| {
        (place.clone(), (text(&it["version"]), text(&it["integrity"])))
    };
    packages.map(of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_day_a_project_is_locked_to_what_it_was_locked_to_then() {
    let place = Place::on_a_test_database().await;
    let asked = [("@team/top", "*"), ("leaf", "latest"), ("middle", "^2.0.0")];
    let project = |name: &str| Client::Npm.project(&place, name, &asked);
    let then = registry(THEN.iter()).await;
    let wanted = locked(&project("then"), &[], &then);
    assert_eq!(wanted["node_modules/leaf"].0, "1.1.0", "{wanted:?}");
    let now = registry(THEN.iter().chain(&LATER)).await;
    let before = locked(&project("before"), &[&format!("--before={BEFORE}")], &now);
    assert_eq!(before, wanted, "npm itself");
    let (weir, place) = {
        let settings = format!("registries:\n  npm:\n    upstream: {now}\n");
        let place = Place::on_a_test_database().await.setting(&settings);
        (place.start(Part::Up).await, place)
    };
    let project = |name: &str| Client::Npm.project(&place, name, &asked);
    for name in ["cold", "warm"] {
        let again = locked(&project(name), &[], &format!("{}/@{DAY}/npm/", weir.url));
        assert_eq!(again, wanted, "{name}");
    }
    let today = locked(&project("today"), &[], &format!("{}/npm/", weir.url));
    assert_eq!(today["node_modules/leaf"].0, "2.0.0", "{today:?}");
}
