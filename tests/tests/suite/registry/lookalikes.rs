//! Names that look like one that is used here: what real npm gets of them, and when.

use serde_json::{Value, json};
use weir_tests::weir::{Part, Place, Weir};

use super::{home::Home, npm::client::Client, said};

async fn weir(home: &Home, policy: &str) -> (Place, Weir) {
    let settings = format!("{}policy:\n  lookalikes: {policy}\n", home.setting());
    let place = Place::on_a_test_database().await.setting(&settings);
    let weir = place.start(Part::Up).await;
    (place, weir)
}

async fn home() -> Home {
    let home = Home::start().await;
    for name in ["lodash", "lodahs", "lodash-es"] {
        home.npm(name, &[("1.0.0", json!({}))]);
    }
    home
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_gets_a_name_like_another_first_is_warned_and_nobody_after() {
    let home = home().await;
    let (place, weir) = weir(&home, "{reaction: warn, protect: ['npm:lodash']}").await;
    let words = "its name looks like `lodash`";
    let warned = async |name: &str| {
        let tarball = weir.client.get(&format!("/npm/{name}/-/{name}-1.0.0.tgz")).await;
        tarball.has(200);
        tarball.header("warning").is_some_and(|it| it.contains(words))
    };
    assert!(!warned("lodash").await && !warned("lodash-es").await);
    assert!(warned("lodahs").await, "the first time");
    let project = Client::Npm.project(&place, "p", &[("lodahs", "latest"), ("lodash", "latest")]);
    let output = project.install(&format!("{}/npm/", weir.url));
    assert!(output.status.success(), "{}", said(&output));
    assert!(!warned("lodahs").await, "it is used by now");
    let page = weir.client.get("/api/events?kind=PackageAllowed&limit=1000").await.expect(200);
    let page = page.json();
    let warned = page["events"].as_array().expect("events").iter();
    let warned = warned.filter(|it| it["payload"]["warning"]["source"] == json!("lookalike"));
    assert_eq!(warned.count(), 1, "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_like_another_is_refused_until_it_is_waived() {
    let home = home().await;
    let (place, weir) = weir(&home, "{reaction: block, protect: ['npm:lodash']}").await;
    let registry = format!("{}/npm/", weir.url);
    let slip = Client::Npm.project(&place, "slip", &[("lodahs", "1.0.0")]);
    let refused = slip.install(&registry);
    let words = "its name looks like `lodash`, which is looked after here";
    assert!(!refused.status.success() && said(&refused).contains(words), "{}", said(&refused));
    let explained = said(&place.run(&["explain", "npm", "lodahs", "1.0.0"]));
    assert!(explained.contains(words), "{explained}");
    let waiver = json!({"ecosystem": "npm", "package": "lodahs", "days": 1,
        "waives": ["lookalike"], "reason": "it is ours", "owner": "ann"});
    weir.client.post("/api/registry/waivers", &waiver).await.has(201);
    let passed = slip.install(&registry);
    assert!(passed.status.success(), "{}", said(&passed));

    // Tried on what was asked for: another name that is looked after.
    let policy = "policy: {lookalikes: {reaction: block, protect: ['npm:1odahs']}}";
    let body = json!({"days": 1, "policy": policy});
    let told = weir.client.post("/api/registry/what-if", &body).await.expect(200).body;
    let last: Value = serde_json::from_str(told.lines().last().expect("a line")).expect("JSON");
    // The waiver still holds: the name passes by both policies.
    assert_eq!(last["result"]["n_newly_blocked"], json!(0), "{last}");
    let direct = Client::Npm.project(&place, "direct", &[("lodash", "1.0.0")]);
    assert!(direct.install(&registry).status.success());
    let policy = "policy: {lookalikes: {reaction: block, protect: ['npm:1odash']}}";
    let body = json!({"days": 1, "policy": policy});
    let told = weir.client.post("/api/registry/what-if", &body).await.expect(200).body;
    let last: Value = serde_json::from_str(told.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["result"]["n_newly_blocked"], json!(1), "{last}");
}
