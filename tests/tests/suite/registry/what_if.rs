//! A policy tried on what was asked for, before it is switched on.

use std::fs;

use serde_json::{Value, json};
use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::advisory,
    weir::{Part, Place, Weir},
};

use super::{impact::address, pypi::upstream, said};

/// The last line of the answer: what was found.
pub(super) async fn what_if(weir: &Weir, policy: &str, facts: &str) -> Value {
    let body = json!({"days": 1, "policy": policy, "facts": facts});
    let answer = weir.client.post("/api/registry/what-if", &body).await.expect(200);
    let lines: Vec<Value> =
        answer.body.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    let (last, before) = lines.split_last().expect("lines");
    assert!(before.iter().all(|line| line["progress"].is_object()), "{lines:?}");
    last["result"].clone()
}

/// What was judged, what would be refused, and what would pass.
fn counts(told: &Value) -> [u64; 3] {
    ["n_judged", "n_newly_blocked", "n_newly_allowed"]
        .map(|key| told[key].as_u64().unwrap_or_else(|| panic!("no {key}: {told}")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_is_tried_on_what_was_asked_for_and_changes_nothing() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let old = address(&weir, "six-1.16.0-py2.py3-none-any.whl").await;
    let new = address(&weir, "six-1.17.0-py2.py3-none-any.whl").await;
    let (id, ci) = weir.client.issue("ci", &["registry:pypi"]).await;
    let ci = weir.client.with_token(Some(&ci));
    for path in [&old, &new, &new] {
        ci.get(path).await.has(200);
    }
    weir.client.get(&new).await.has(200);
    // From now on the old one is refused; it was let through once.
    let high = advisory(Ecosystem::Pypi, "GHSA-high", "six", "1.16", Some("1.17"));
    weir.client.judges_by(place.publish(&high).await).await;
    ci.get(&old).await.has(403);
    let head = weir.client.get("/api/status").await.expect(200).json()["head"].clone();

    // Nothing is tried: nothing is other, but what was let through and is refused by now is told.
    let told = what_if(&weir, "", "today").await;
    assert_eq!((counts(&told), &told["n_answered_otherwise"]), ([5, 0, 0], &json!(1)), "{told}");
    assert_eq!((&told["complete"], &told["by_one_policy"]), (&json!(true), &json!(true)));
    let told = what_if(&weir, "", "then").await;
    assert_eq!((counts(&told), &told["n_answered_otherwise"]), ([5, 0, 0], &json!(0)), "{told}");

    // A rule, by who and what and when; it adds nothing to what is refused already.
    let rule = "rules: [{ecosystem: pypi, package: s*, versions: '>=1.16', reason: no}]\n";
    let told = what_if(&weir, rule, "today").await;
    assert_eq!(counts(&told), [5, 3, 0], "{told}");
    let version = &told["by_version"]["rows"][0];
    assert_eq!((&version["version"], &version["n_newly_blocked"]), (&json!("1.17.0"), &json!(3)));
    assert_eq!((&version["id"], &told["by_version"]["n_rows"]), (&json!("new-1"), &json!(1)));
    let tokens = told["by_token"]["rows"].as_array().expect("rows");
    assert_eq!((&tokens[0]["principal"], &tokens[0]["token"]), (&json!("ci"), &json!(id)));
    let of_token: Vec<_> = tokens.iter().map(|row| row["n_newly_blocked"].clone()).collect();
    assert_eq!(of_token, [json!(2), json!(1)], "{told}");
    let day = told["by_day"].as_array().expect("days").iter();
    let of_days: u64 = day.map(|day| day["n_newly_blocked"].as_u64().expect("a number")).sum();
    assert_eq!(of_days, 3, "{told}");
    // By what was known then, the old one passed once, and was refused once.
    assert_eq!(counts(&what_if(&weir, rule, "then").await), [5, 4, 0]);

    // A floor above the advisory lets pass what it refuses; an age refuses what is younger.
    let lax = "policy: {severity_floor: critical}";
    assert_eq!(counts(&what_if(&weir, lax, "today").await), [5, 0, 2]);
    assert_eq!(counts(&what_if(&weir, lax, "then").await), [5, 0, 1]);
    let young = "registries: {pypi: {min_age_hours: 876000}}";
    let told = what_if(&weir, young, "then").await;
    assert_eq!((counts(&told), &told["n_age_unknown"]), ([5, 4, 0], &json!(0)), "{told}");
    let audited = "registries: {pypi: {mode: audit}}";
    let told = what_if(&weir, audited, "today").await;
    assert_eq!((counts(&told), &told["tried"]["warned"]), ([5, 0, 2], &json!(2)), "{told}");

    // The difference is what switching it on makes of the same questions.
    let added = weir.client.rule("s*", ">=1.16", "no", "mark").await.expect(201);
    for path in [&new, &old] {
        ci.get(path).await.has(403);
    }
    assert_eq!(counts(&what_if(&weir, rule, "today").await), [7, 0, 0]);
    let rules = format!("/api/rules?min_position={}", added.position());
    let rules = weir.client.get(&rules).await.expect(200).json();
    let without = format!("without: [{}]", rules["rules"][0]["id"].as_str().expect("an id"));
    assert_eq!(counts(&what_if(&weir, &without, "today").await), [7, 0, 4]);
    assert_eq!(counts(&what_if(&weir, &without, "then").await), [7, 0, 1]);

    // Nothing is quietly left out: what is no rule is said to be none.
    let none = "without: [019a0000-0000-7000-8000-000000000009]";
    let body = json!({"days": 1, "policy": none});
    let refused = weir.client.post("/api/registry/what-if", &body).await.expect(422).json();
    assert_eq!(refused["errors"][0]["field"], json!("without"), "{refused}");
    let body = json!({"days": 1, "policy": none, "facts": "then"});
    let lines = weir.client.post("/api/registry/what-if", &body).await.expect(200);
    assert!(lines.body.contains("no rule that ever was has the id `019a0000-"), "{}", lines.body);

    // A trial is no event.
    let news = weir.client.get(&format!("/api/events?after={head}&limit=100")).await.expect(200);
    let news = news.json()["events"].as_array().cloned().unwrap_or_default();
    let kinds: Vec<_> = news.iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(kinds, [json!("RuleAdded"), json!("PackageBlocked"), json!("PackageBlocked")]);

    for (body, status, words) in [
        (json!({"days": 0}), 400, "days: 0 is not within 1 to 366"),
        (json!({"days": 1, "limit": 0}), 400, "limit: 0 is not within 1 to 10000"),
        (json!({"days": 1, "facts": "tomorrow"}), 400, "facts: there are: today, then"),
        (json!({"days": 1, "policy": "x".repeat(300_000)}), 400, "policy: 300000 is not within"),
        (
            json!({"days": 1, "policy": "rules:\n- {ecosystem: npm, package: a, versions: '>>1', reason: no}"}),
            422,
            "policy:2:42: ",
        ),
    ] {
        let refused = weir.client.post("/api/registry/what-if", &body).await.expect(status).json();
        assert!(refused["detail"].as_str().is_some_and(|it| it.contains(words)), "{refused}");
    }

    // On the command line, from a file.
    let file = place.path().join("stricter.yaml");
    let tried = |text: &str, arguments: &[&str]| {
        fs::write(&file, text).expect("a file");
        let file = file.to_str().expect("a path of text");
        let ends = ["--days", "1", "--server", &weir.url];
        place.run(&[&["registry", "what-if", file], arguments, &ends[..]].concat())
    };
    let output = tried(&without, &[]);
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    for words in ["7 decisions since", "0 newly blocked, 4 newly allowed", " decisions a second"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let output = tried(&without, &["--json", "--facts", "then"]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((counts(&told), &told["facts"]), ([7, 0, 1], &json!("then")));
    let output = tried("policy:\n  severity_floor: awful\n", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("stricter.yaml:2:19: `awful` is none of"), "{}", said(&output));
}
