//! The dashboard says what was decided, and what this instance counted beside that.

use serde_json::{Value, json};
use weir_tests::{
    deadline::until,
    weir::{Part, Place},
};

use super::pypi::upstream;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_dashboard_counts_what_passed_what_was_refused_and_what_changed_nothing() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let page = weir.client.get("/pypi/simple/six/").await.expect(200);
    weir.client.get("/pypi/simple/six/").await.has(200);
    let file = page.body.split('"').find(|part| part.contains("six-1.17.0-py2.py3-none-any.whl"));
    let file = file.expect("its wheel").split('#').next().expect("an address");
    let page = format!("{}/pypi/simple/six/", weir.url).parse::<reqwest::Url>().expect("a URL");
    let file = page.join(file).expect("a link").path().to_owned();
    weir.client.get(&file).await.has(200);
    let rule = weir.client.rule("six", ">=1.17", "not reviewed by security yet", "mark").await;
    weir.client.judges_by(rule.position()).await;
    weir.client.get(&file).await.has(403);
    weir.client.get(&file).await.has(403);
    weir.client.get("/pypi/simple/six/").await.has(200);

    for query in ["", "&range=7d", "&range=30d&ecosystem=pypi", "&range=90d&top=1"] {
        let path = format!("/api/dashboard?min_position=head{query}");
        let said = weir.client.get(&path).await.expect(200).json();
        let counts = |of: &Value| ["allowed", "blocked", "filtered"].map(|key| of[key].as_u64());
        let wanted = [Some(1), Some(2), Some(1)];
        assert_eq!(counts(&said["recorded"]), wanted, "{said}");
        assert_eq!(counts(&said["by_ecosystem"][0]), wanted, "{said}");
        let steps = said["over_time"].as_array().expect("steps");
        let blocked: u64 = steps.iter().filter_map(|step| step["blocked"].as_u64()).sum();
        assert_eq!(blocked, 2, "{said}");
        let top = &said["top_packages"][0];
        assert_eq!((top["package"].as_str(), top["blocked"].as_u64()), (Some("six"), Some(2)));
        let pypi = said["instance"]["ecosystems"].as_array().expect("ecosystems").iter();
        let pypi = pypi.clone().find(|it| it["ecosystem"] == "pypi").expect("pypi");
        assert_eq!((pypi["requests"].as_u64(), pypi["blocked"].as_u64()), (Some(6), Some(2)));
        assert!(said["instance"]["cache_hit_rate"].is_f64(), "{said}");
    }
    let none =
        weir.client.get("/api/dashboard?min_position=head&ecosystem=npm").await.expect(200).json();
    assert_eq!(none["recorded"]["allowed"], 0, "{none}");
    assert_eq!(none["top_packages"], serde_json::json!([]), "{none}");
}

#[tokio::test]
async fn a_dashboard_that_cannot_be_shown_says_why() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    for (query, words) in [
        ("range=1y", "range: `1y` is none of 24h, 7d, 30d, 90d"),
        ("ecosystem=gems", "ecosystem: no ecosystem is called `gems`"),
        ("top=101", "top: 101 is not within 1 to 100"),
        ("days=3", "days: nobody knows this parameter"),
    ] {
        let refused = weir.client.get(&format!("/api/dashboard?{query}")).await.expect(400).json();
        assert_eq!(refused["detail"], words, "{refused}");
    }
    let (_, reader) = weir.client.issue("reader", &["rules:read"]).await;
    let (_, installer) = weir.client.issue("installer", &["registry:pypi"]).await;
    weir.client.with_token(Some(&reader)).get("/api/dashboard").await.has(200);
    weir.client.with_token(Some(&installer)).get("/api/dashboard").await.has(403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_is_previewed_on_what_was_asked_for_and_then_does_as_it_said() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let page = weir.client.get("/pypi/simple/six/").await.expect(200);
    let base = format!("{}/pypi/simple/six/", weir.url).parse::<reqwest::Url>().expect("a URL");
    let files =
        ["six-1.16.0-py2.py3-none-any.whl", "six-1.17.0-py2.py3-none-any.whl"].map(|name| {
            let link = page.body.split('"').find(|part| part.contains(name)).expect("its wheel");
            let link = link.split('#').next().expect("an address");
            base.join(link).expect("a link").path().to_owned()
        });
    for file in &files {
        weir.client.get(file).await.has(200);
    }
    let path = "/api/registry/rules/preview";
    let rule = json!({"ecosystem": "pypi", "package": "S*", "versions": ">=1.17"});
    let said = until("both versions are known", async || {
        let said = weir.client.post(path, &rule).await.expect(200).json();
        let n = ["hit", "left"].map(|key| said[key].as_array().map_or(0, Vec::len));
        if n == [1, 1] { Ok(said) } else { Err(said) }
    })
    .await;
    assert_eq!((&said["of"], &said["complete"]), (&json!("asked_for_here"), &json!(true)));
    let hit = &said["hit"][0];
    assert_eq!((&hit["package"], &hit["version"]), (&json!("six"), &json!("1.17.0")), "{said}");
    assert_eq!((&hit["n_allowed"], &hit["n_blocked"]), (&json!(1), &json!(0)), "{said}");
    assert_eq!(said["left"][0]["version"], "1.16.0", "{said}");
    let rules = weir.client.get("/api/rules?min_position=head").await.expect(200).json();
    assert_eq!(rules["rules"], json!([]), "nothing is recorded");

    let added = weir.client.rule("six", ">=1.17", "not reviewed by security yet", "mark").await;
    weir.client.judges_by(added.position()).await;
    weir.client.get(&files[0]).await.has(200);
    weir.client.get(&files[1]).await.has(403);

    let wrong = json!({"ecosystem": "pypi", "package": "six", "versions": "^1"});
    let refused = weir.client.post(path, &wrong).await.expect(422).json();
    assert_eq!(refused["errors"][0]["field"], "versions", "{refused}");
    let (_, reader) = weir.client.issue("reader", &["rules:read"]).await;
    let (_, installer) = weir.client.issue("installer", &["registry:pypi"]).await;
    weir.client.with_token(Some(&reader)).post(path, &rule).await.has(200);
    weir.client.with_token(Some(&installer)).post(path, &rule).await.has(403);
}
