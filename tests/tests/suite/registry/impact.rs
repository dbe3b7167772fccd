//! Who downloaded what an advisory of today is about, and what of it lies in the cache.

use serde_json::{Value, json};
use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::{advisory, sign},
    weir::{Part, Place, Weir},
};

use super::{pypi::upstream, said};

const GHSA: &str = "GHSA-w31r-w31r-w31r";

/// The address of a file, as the project's page has it.
pub(super) async fn address(weir: &Weir, name: &str) -> String {
    let page = weir.client.get("/pypi/simple/six/").await.expect(200);
    let file = page.body.split('"').find(|part| part.contains(name)).expect("the file");
    let file = file.split('#').next().expect("an address");
    let page = format!("{}/pypi/simple/six/", weir.url).parse::<reqwest::Url>().expect("a URL");
    page.join(file).expect("a link").path().to_owned()
}

async fn impact(weir: &Weir, name: &str, query: &str) -> Value {
    let path = format!("/api/registry/impact/{name}?min_position=head{query}");
    weir.client.get(&path).await.expect(200).json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_advisory_of_today_names_who_downloaded_what_it_is_about_and_what_lies_here() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let [old, new] = ["six-1.16.0-py2.py3-none-any.whl", "six-1.17.0-py2.py3-none-any.whl"];
    let (old, new) = (address(&weir, old).await, address(&weir, new).await);
    let (id, ci) = weir.client.issue("ci", &["registry:pypi"]).await;
    let ci = weir.client.with_token(Some(&ci));
    for path in [&old, &new, &new, &new] {
        ci.get(path).await.has(200);
    }
    weir.client.get(&new).await.has(200);

    let mut warned = advisory(Ecosystem::Pypi, GHSA, "six", "1.17", None);
    warned.aliases = vec!["CVE-2026-7".to_owned()];
    sign(&mut warned);
    let mut elsewhere = advisory(Ecosystem::Npm, "GHSA-else", "six", "0", None);
    elsewhere.aliases = vec!["CVE-2026-7".to_owned()];
    sign(&mut elsewhere);
    place.publish(&elsewhere).await;
    weir.client.judges_by(place.publish(&warned).await).await;

    for name in [GHSA, "CVE-2026-7"] {
        let told = impact(&weir, name, "").await;
        assert_eq!((&told["n_principals"], &told["n_downloads"]), (&json!(2), &json!(4)), "{told}");
        assert_eq!((&told["complete"], &told["n_cached"]), (&json!(true), &json!(1)), "{told}");
        let version = &told["versions"][0];
        assert_eq!(told["versions"].as_array().map(Vec::len), Some(1), "{told}");
        assert_eq!(
            (&version["version"], &version["hit"]),
            (&json!("1.17.0"), &json!("1.17 and later"))
        );
        let file = json!([{"file": "six-1.17.0-py2.py3-none-any.whl", "cached": true}]);
        assert_eq!(version["files"], file, "{told}");
        let downloads = told["downloads"].as_array().expect("a list");
        let who: Vec<_> = downloads.iter().map(|it| (&it["token"], &it["n_downloads"])).collect();
        assert_eq!(who[1], (&json!(id), &json!(3)), "{told}");
        assert_eq!((who.len(), who[0].1), (2, &json!(1)), "{told}");
        assert!(downloads[1]["first_at"].as_str() < downloads[1]["last_at"].as_str(), "{told}");
        let records = told["records"].as_array().expect("a list").iter();
        let ids: Vec<_> = records.map(|it| it["id"].as_str().expect("an id")).collect();
        assert_eq!(ids, [GHSA, "GHSA-else"]);
        let first = impact(&weir, name, "&limit=1").await;
        assert_eq!(first["downloads"][0], downloads[0]);
        let cursor = first["next"].as_str().expect("a cursor");
        let second = impact(&weir, name, &format!("&limit=1&cursor={cursor}")).await;
        assert_eq!(second["downloads"][0], downloads[1]);
    }

    // The same of a rule, also one with a pattern; what was published since is not in it.
    for (package, n_versions) in [("six", 2), ("s*x", 2), ("z*", 0)] {
        let rule = json!({"ecosystem": "pypi", "package": package, "versions": ">=1.16",
            "reason": "not reviewed", "mask": "mark"});
        let added = weir.client.post("/api/rules", &rule).await.expect(201).json();
        let told = impact(&weir, added["id"].as_str().expect("its id"), "").await;
        assert_eq!(told["versions"].as_array().map(Vec::len), Some(n_versions), "{told}");
        assert_eq!(told["n_downloads"], if n_versions == 0 { 0 } else { 5 }, "{told}");
    }

    let output = place.run(&["registry", "impact", GHSA, "--server", &weir.url]);
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("2 principals downloaded 4 files of 1 affected versions"), "{told}");
    assert!(told.contains(&id) && told.contains("1 of 1"), "{told}");
    let unknown = place.run(&["registry", "impact", "GHSA-none", "--server", &weir.url]);
    assert_eq!(unknown.status.code(), Some(3), "{}", said(&unknown));
    assert!(said(&unknown).contains("no advisory and no rule is called `GHSA-none`"));
}
