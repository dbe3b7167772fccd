//! Versions that less vouches for than for versions before them, and versions published by somebody
//! new: what real npm and real pip get of them, and what is on record.

use serde_json::{Value, json};
use weir_tests::weir::{Part, Place, Weir};

use super::{home::Home, npm::client::Client, pypi::pip_at, said};

fn attested() -> Value {
    let predicate = json!({"predicateType": "https://slsa.dev/provenance/v1"});
    json!({"dist": {"attestations": {"provenance": predicate}}, "_npmUser": {"name": "ann"}})
}

fn bare(by: &str) -> Value {
    json!({"_npmUser": {"name": by}, "maintainers": [{"name": "ann"}]})
}

async fn weir(home: &Home, policy: &str) -> (Place, Weir) {
    let settings = format!("{}policy:\n{policy}", home.setting());
    let place = Place::on_a_test_database().await.setting(&settings);
    let weir = place.start(Part::Up).await;
    (place, weir)
}

async fn last(weir: &Weir, kind: &str) -> Value {
    let page = weir.client.get(&format!("/api/events?kind={kind}&limit=1000")).await.expect(200);
    let page = page.json();
    let last = page["events"].as_array().and_then(|events| events.last().cloned());
    last.unwrap_or_else(|| panic!("no {kind}: {page}"))["payload"].clone()
}

fn packages() -> [(&'static str, Value); 4] {
    [("1.0.0", bare("ann")), ("1.1.0", attested()), ("1.1.1", attested()), ("1.2.0", bare("ann"))]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn npm_takes_the_last_version_with_a_provenance_and_is_told_who_lost_it() {
    let home = Home::start().await;
    home.npm("pad", &packages());
    let (place, weir) = weir(&home, "  provenance: block\n").await;
    let registry = format!("{}/npm/", weir.url);
    let free = Client::Npm.project(&place, "free", &[("pad", "latest")]);
    let output = free.install(&registry);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(free.installed("pad"), "1.1.1");
    // What never had one has nothing to lose.
    let old = Client::Npm.project(&place, "old", &[("pad", "1.0.0")]);
    let output = old.install(&registry);
    assert!(output.status.success(), "{}", said(&output));
    let pinned = || Client::Npm.project(&place, "pinned", &[("pad", "1.2.0")]).install(&registry);
    let refused = pinned();
    let words = "1.1.0, published before it, had a provenance, and it has nothing";
    assert!(!refused.status.success() && said(&refused).contains(words), "{}", said(&refused));
    let blocked = last(&weir, "PackageBlocked").await;
    assert_eq!((&blocked["source"], &blocked["version"]), (&json!("provenance"), &json!("1.2.0")));
    let explained = place.run(&["explain", "npm", "pad", "1.2.0"]);
    assert!(said(&explained).contains(words), "{}", said(&explained));
    let told = last(&weir, "VersionTold").await;
    assert_eq!(told["lost"], json!({"has": "nothing", "had": "provenance", "earlier": "1.1.0"}));

    let waiver = json!({"ecosystem": "npm", "package": "pad", "versions": "1.2.0", "days": 1,
        "waives": ["provenance"], "reason": "built by hand, once", "owner": "ann"});
    weir.client.post("/api/registry/waivers", &waiver).await.has(201);
    let passed = pinned();
    assert!(passed.status.success(), "{}", said(&passed));
    let allowed = last(&weir, "PackageAllowed").await;
    assert_eq!(allowed["excuse"]["waiver"]["grounds"]["source"], json!("provenance"), "{allowed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn npm_is_warned_of_somebody_new_and_gets_what_it_asks_for() {
    let home = Home::start().await;
    let eve = json!({"_npmUser": {"name": "eve"}, "maintainers": [{"name": "eve"}]});
    home.npm("pad", &[("1.0.0", bare("ann")), ("1.1.0", bare("ann")), ("1.2.0", eve)]);
    // A mirror that tells of nobody is nobody's fault.
    home.npm("cut", &[("1.0.0", json!({})), ("1.1.0", json!({}))]);
    let (place, weir) = weir(&home, "  provenance: block\n  publisher: warn\n").await;
    let project = Client::Npm.project(&place, "p", &[("pad", "latest"), ("cut", "latest")]);
    let output = project.install(&format!("{}/npm/", weir.url));
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(
        (project.installed("pad"), project.installed("cut")),
        ("1.2.0".into(), "1.1.0".into())
    );
    let words = "published by `eve`, who had nothing to do with it before";
    let tarball = weir.client.get("/npm/pad/-/pad-1.2.0.tgz").await;
    tarball.has(200);
    assert!(tarball.header("warning").is_some_and(|it| it.contains(words)), "{tarball:?}");
    let allowed = last(&weir, "PackageAllowed").await;
    assert_eq!(allowed["warning"]["source"], json!("publisher"), "{allowed}");
    let told = weir.client.get("/npm/pad/-/pad-1.1.0.tgz").await;
    assert!(told.header("warning").is_none(), "{told:?}");
    let explained =
        weir.client.get("/api/registry/explain?ecosystem=npm&package=pad&version=1.2.0");
    let explained = explained.await.expect(200).json();
    assert_eq!(explained["verdict"], json!("warn"), "{explained}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pip_takes_the_last_version_with_a_provenance_and_is_told_who_lost_it() {
    let home = Home::start().await;
    let has = json!({"provenance": "https://index.example/p"});
    home.pypi(
        "padded",
        &[("1.0", json!({}), ""), ("1.1", has, ""), ("1.2", json!({"provenance": null}), "")],
    );
    home.pypi("plain", &[("1.0", json!({}), ""), ("1.1", json!({}), "")]);
    let (place, weir) = weir(&home, "  provenance: block\n").await;
    for (wanted, version) in [("padded", "1.1"), ("plain", "1.1"), ("padded==1.0", "1.0")] {
        let output = pip_at(&weir.url, &place, wanted, wanted);
        assert!(output.status.success(), "{wanted}: {}", said(&output));
        let name = wanted.split('=').next().unwrap_or_default();
        let file = place.path().join(wanted).join(format!("{name}.py"));
        let module = std::fs::read_to_string(file).expect("its module");
        assert!(module.contains(&format!("\"{version}\"")), "{wanted}: {module}");
    }
    let refused = pip_at(&weir.url, &place, "pinned", "padded==1.2");
    let words = "1.1, published before it, had a provenance";
    assert!(!refused.status.success() && said(&refused).contains(words), "{}", said(&refused));
    assert_eq!(last(&weir, "PackageBlocked").await["source"], json!("provenance"));
}
