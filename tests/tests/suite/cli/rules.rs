//! `weir rules`: added, listed, and removed by whoever means it.

use serde_json::json;

use weir_tests::weir::Part;

use super::{Desk, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_is_removed_by_the_end_of_its_id_and_only_by_who_means_it() {
    let desk = Desk::open().await;
    let add = ["rules", "add", "pypi", "Six", ">=1.17", "--reason", "not reviewed"];
    let added = desk.run(&add).done();
    let id = added.strip_prefix("rule ").and_then(|rest| rest.split(':').next()).expect("its id");
    assert!(added.trim_end().ends_with(": pypi Six >=1.17 is forbidden"), "{added}");
    let other = ["rules", "add", "npm", "left-pad", "*", "--reason", "why", "--mask", "hide"];
    let other = desk.run(&[&other[..], &["--json"]].concat()).json();
    assert_eq!((&other["ecosystem"], &other["mask"]), (&json!("npm"), &json!("hide")));

    let listed = desk.run(&["rules", "ls"]).done();
    let heading = listed.lines().next().expect("a heading");
    let columns: Vec<_> = heading.split_whitespace().collect();
    assert_eq!(columns, ["ID", "ECOSYSTEM", "PACKAGE", "VERSIONS", "MASK", "REASON"]);
    let row = listed.lines().find(|line| line.starts_with(id)).expect("its row");
    assert!(row.contains("Six") && row.ends_with("not reviewed"), "{row}");

    let tail = &id[id.len() - 6..];
    let shown = format!("remove rule {id}: pypi Six >=1.17 (not reviewed)");
    let dry = desk.run(&["rules", "rm", tail, "--dry-run"]).ends(0, &[]);
    assert_eq!((dry.out.as_str(), dry.err.trim_end()), ("", format!("would {shown}").as_str()));
    let unasked = format!("cannot ask whether to {shown}: there is no terminal");
    desk.run(&["rules", "rm", tail]).ends(2, &[&unasked, "fix: add --yes if you mean it"]);
    desk.run(&["rules", "rm", ""]).ends(5, &["2 rules end with ``", "fix: write more of the id"]);
    let none = ["there is no rule `nothing`", "fix: `weir rules ls` lists them"];
    desk.run(&["rules", "rm", "nothing", "--yes"]).ends(3, &none);
    assert_eq!(
        desk.run(&["rules", "ls", "--json"]).json()["rules"].as_array().map(Vec::len),
        Some(2)
    );

    let removed = desk.run(&["rules", "rm", tail, "--yes"]).done();
    assert_eq!(removed.trim_end(), format!("rule {id} is removed"));
    let left = desk.run(&["rules", "ls", "--json"]).json();
    assert_eq!(left["rules"].as_array().map(Vec::len), Some(1), "{left}");
    assert_eq!(left["rules"][0]["id"], other["id"]);
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_makes_no_sense_is_refused_with_the_word_that_does_not() {
    let desk = Desk::open().await;
    let add = |more: &[&str]| desk.run(&[&["rules", "add"], more, &["--reason", "why"]].concat());
    add(&["conda", "six", "*"]).ends(2, &["conda", "there are: pypi, npm, cargo, go, docker"]);
    add(&["pypi", "six", "*", "--mask", "grey"]).ends(2, &["there are: mark, hide, deny-only"]);
    // The server knows what it makes of these; its words and its document are passed on.
    add(&["pypi", "six", "newer please"]).ends(2, &["error: ", "versions"]);
    let told = add(&["pypi", "six", "newer please", "--json"]).ends(2, &[]);
    let told: serde_json::Value = serde_json::from_str(&told.err).expect("JSON");
    assert_eq!((&told["exit"], &told["problem"]["status"]), (&json!(2), &json!(422)), "{told}");
    desk.run(&["rules", "add", "pypi", "six", "*"]).ends(2, &["--reason"]);
    assert_eq!(desk.run(&["rules", "ls", "--json"]).json()["rules"], json!([]));
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_does_not_keep_up_is_shown_with_a_word_about_it() {
    let Desk { place, weir } = Desk::open().await;
    weir.stop().await;
    let api = place.start(Part::Api).await;
    let server = ["--server", &api.url];
    let add = ["rules", "add", "pypi", "six", "*", "--reason", "not reviewed"];
    run(&place, &[&add[..], &server].concat()).done();
    let listed = run(&place, &[&["rules", "ls", "--json"][..], &server].concat());
    let listed = listed.ends(0, &["note: the newest may be missing", "`custom_rules` stands at"]);
    assert_eq!(listed.json()["rules"], json!([]));
    let worker = place.start(Part::Worker).await;
    let status = api.client.get("/api/status").await.expect(200).json();
    api.client.reaches("custom_rules", status["head"].as_i64().expect("a position")).await;
    // What the list has nothing of does not keep it from being whole.
    api.client.issue("nobody", &["events:read"]).await;
    let listed = run(&place, &[&["rules", "ls"][..], &server].concat()).ends(0, &["not reviewed"]);
    assert_eq!(listed.err, "", "nothing is missing");
    worker.stop().await;
    api.stop().await;
}
