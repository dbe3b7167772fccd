//! What operators say and ask about packages: the cache, holds, profiles, reserved names, sources.

use serde_json::{Value, json};
use weir_tests::{upstream::Index, weir::Place};

use super::{Desk, fed};

async fn behind(index: &Index) -> Desk {
    Desk::at(Place::on_a_test_database().await.upstream(&index.simple)).await
}

fn file(project: &str, version: &str) -> String {
    format!("/pypi/files/{project}/{project}-{version}.tar.gz")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_cached_is_counted_and_forgotten_by_who_means_it() {
    let index = Index::start().await;
    index.project("six", &["1.0", "2.0"]);
    index.project("urllib3", &["1.0"]);
    let desk = behind(&index).await;
    for (project, version) in [("six", "1.0"), ("six", "2.0"), ("urllib3", "1.0")] {
        desk.weir.client.get(&file(project, version)).await.has(200);
    }
    let n_files = || {
        let told = desk.run(&["cache", "stats", "--json"]).json();
        told["total"]["files"]["n"].as_u64().expect("a count")
    };
    assert_eq!(n_files(), 3);
    let told = desk.run(&["cache", "stats"]).done();
    assert!(told.contains(" used (0.0 %)"), "{told}");
    let row = told.lines().find(|line| line.starts_with("pypi")).expect("a row");
    assert_eq!(row.split_whitespace().nth(1), Some("3"), "{row}");
    assert!(told.lines().last().is_some_and(|line| line.starts_with("total")), "{told}");

    let purge = |more: &[&str]| desk.run(&[&["cache", "purge"], more].concat());
    let dry = purge(&["pypi", "six", "<2", "--dry-run"]).ends(0, &[]);
    assert_eq!(dry.err.trim_end(), "would forget what is cached of pypi six <2");
    purge(&["pypi", "six"]).ends(2, &["cannot ask whether to forget what is cached of pypi six"]);
    purge(&[]).ends(2, &["<ECOSYSTEM>"]);
    purge(&["pypi", "--all"]).ends(2, &["cannot be used with"]);
    purge(&["conda", "--yes"]).ends(2, &["there are: pypi, npm, cargo, go, docker"]);
    assert_eq!(n_files(), 3);
    let gone = purge(&["pypi", "six", "<2", "--yes"]).done();
    assert!(gone.starts_with("what is cached of pypi six <2: 1 files ("), "{gone}");
    assert_eq!(n_files(), 2);
    let gone = purge(&["pypi", "--yes", "--json"]).json();
    assert_eq!(gone["n_files"], 2, "{gone}");
    let gone = purge(&["--all", "--yes"]).done();
    assert!(
        gone.starts_with("everything in the cache, of all ecosystems: 0 files (0 B) and "),
        "{gone}"
    );
    desk.weir.client.get(&file("six", "1.0")).await.has(200);
    assert_eq!(n_files(), 1);
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_says_what_becomes_of_what_an_agent_asked_for() {
    let index = Index::start().await;
    index.project("six", &["1.0"]);
    index.project("left", &["1.0"]);
    let desk = behind(&index).await;
    let set = ["profiles", "set", "agent", "--hold", "new-package", "--min-age-hours", "1"];
    let set = [&set[..], &["--downloads-per-hour", "5", "--severity-floor", "low"]].concat();
    desk.run(&set).ends(0, &["profile agent is in force; `weir token create … --profile agent`"]);
    let listed = desk.run(&["profiles", "ls"]).ends(0, &["warning: an agent on this machine that"]);
    for words in ["agent", "1 h", "low", "5/h", "new-package"] {
        assert!(listed.out.contains(words), "{words}: {}", listed.out);
    }
    desk.run(&["profiles", "set", "x", "--hold", "everything"])
        .ends(2, &["there are: new-package"]);
    desk.run(&["profiles", "set", "x", "--severity-floor", "bad"]).ends(2, &["low, medium, high"]);
    desk.run(&["profiles", "set", "a b"]).ends(2, &["error: "]);
    // What is too young is refused at once: with an age of none, a person is asked.
    desk.run(&["profiles", "set", "agent", "--hold", "new-package"]).done();
    let create = ["token", "create", "robot", "--scope", "registry:pypi", "--profile", "agent"];
    let secret = desk.run(&create).done();
    let robot = desk.weir.client.with_token(Some(secret.trim_end()));
    for project in ["six", "left"] {
        let held = robot.get(&file(project, "1.0")).await.expect(403);
        assert!(held.body.contains("held for a human"), "{}", held.body);
    }
    let pending = desk.run(&["holds", "ls", "--state", "pending", "--json"]).json();
    let id = |package: &str| {
        let holds = pending["holds"].as_array().expect("holds").iter();
        let hold = holds.into_iter().find(|hold| hold["package"] == package).expect("a hold");
        hold["id"].as_str().expect("its id").to_owned()
    };
    let (six, left) = (id("six"), id("left"));
    let listed = desk.run(&["holds", "ls"]).done();
    let row = listed.lines().find(|line| line.starts_with(&six)).expect("a row");
    assert!(row.contains("pending") && row.contains("robot") && row.contains("six"), "{row}");

    let allow = ["holds", "allow", &six[six.len() - 6..], "--reason", "it was read"];
    let shown = format!("allow hold {six}: robot pypi six 1.0");
    desk.run(&allow).ends(2, &[&format!("cannot ask whether to {shown}")]);
    desk.run(&[&allow[..], &["--dry-run"]].concat()).ends(0, &[&format!("would {shown}")]);
    desk.run(&["holds", "allow", "", "--reason", "x", "--yes"]).ends(5, &["2 holds end with ``"]);
    desk.run(&["holds", "deny", "zzz", "--reason", "x", "--yes"])
        .ends(3, &["there is no hold `zzz`"]);
    desk.run(&["holds", "ls", "--state", "open"]).ends(2, &["pending, allowed, denied"]);
    robot.get(&file("six", "1.0")).await.has(403);
    let done = desk.run(&[&allow[..], &["--yes"]].concat()).done();
    assert_eq!(done.trim_end(), format!("hold {six} is allowed"));
    let deny = ["holds", "deny", &left, "--reason", "nobody needs it", "--yes"];
    desk.run(&deny).ends(0, &[&format!("hold {left} is denied")]);
    robot.get(&file("six", "1.0")).await.has(200);
    let denied = robot.get(&file("left", "1.0")).await.expect(403);
    assert!(denied.body.contains("nobody needs it"), "{}", denied.body);

    desk.run(&["profiles", "rm", "agent"]).ends(2, &["tokens that name it get nothing then"]);
    desk.run(&["profiles", "rm", "agent", "--yes"]).ends(0, &["profile agent is removed"]);
    robot.get(&file("six", "1.0")).await.has(403);
    desk.run(&["profiles", "rm", "agent", "--yes"]).ends(3, &["error: "]);
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_becomes_of_a_version_is_said_and_is_the_exit_code() {
    let desk = Desk::open().await;
    let add = ["rules", "add", "npm", "left-pad", "<1.3.0", "--reason", "unmaintained", "--json"];
    let rule = desk.run(&add).json();
    let id = rule["id"].as_str().expect("its id");
    let explain = |more: &[&str]| desk.run(&[&["explain", "npm", "left-pad"], more].concat());
    let blocked = explain(&["1.2.0"]).ends(4, &["npm left-pad 1.2.0: block", id, "unmaintained"]);
    assert!(blocked.out.contains("known of the package: 1 rules, 0 advisories"), "{}", blocked.out);
    assert_eq!(blocked.err, "", "a verdict is no failure");
    explain(&["1.3.0"]).ends(0, &["npm left-pad 1.3.0: allow"]);
    let dated = explain(&["1.3.0", "--published-at", "2026-01-02T03:04:05Z"]).done();
    assert!(dated.contains("published at: 2026-01-02T03:04:05"), "{dated}");
    explain(&["1.3.0", "--published-at", "yesterday"]).ends(2, &["published_at"]);

    let check = |more: &[&str], input: &str| {
        fed(&desk.place, &[&["check"], more].concat(), input.as_bytes())
    };
    let purls = ["--purl", "pkg:npm/left-pad@1.2.0", "--purl", "pkg:npm/left-pad@1.3.0"];
    let told = check(&purls, "").ends(4, &["package URLs: 2 versions; 1 blocked, 0 warned of"]);
    let row = told.out.lines().find(|line| line.starts_with("block")).expect("a row");
    assert!(row.contains("left-pad") && row.contains("unmaintained"), "{row}");
    check(&["--kind", "requirements", "-"], "six==1.17.0\n").ends(0, &["-: 1 versions; 0 blocked"]);
    check(&["-"], "\0\0").ends(2, &["-: "]);
    check(&["nowhere.lock"], "").ends(2, &["could not read nowhere.lock"]);
    check(&["--kind", "gemfile", "-"], "").ends(2, &["package-lock"]);
    check(&[], "").ends(2, &["FILE"]);
    std::fs::write(desk.place.path().join("b.lock"), [0xff, 0xfe]).expect("a file");
    check(&["b.lock"], "").ends(2, &["could not read b.lock: it is not UTF-8"]);

    let impact = desk.run(&["registry", "impact", id]).done();
    assert!(impact.contains(": 0 principals downloaded 0 files"), "{impact}");
    desk.run(&["registry", "impact", id, "--limit", "0"]).ends(2, &["0"]);
    let policy = |text: &str| fed(&desk.place, &["registry", "what-if", "-"], text.as_bytes());
    policy("policy: {severity_flor: low}\n").ends(2, &["severity_flor"]);
    policy("policy: {severity_floor: low}\n").ends(0, &["0 newly blocked, 0 newly allowed"]);
    desk.run(&["registry", "what-if", "nowhere.yaml"])
        .ends(2, &["could not read the policy `nowhere.yaml`"]);
    desk.run(&["registry", "what-if", "-", "--facts", "soon"]).ends(2, &["there are: today, then"]);
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_reserved_waivers_live_and_sources_are_visited_at_a_word() {
    let desk = Desk::open().await;
    desk.run(&["reserved", "add", "npm", "@acme/*"]).ends(0, &["npm @acme/* is reserved"]);
    let listed = desk.run(&["reserved", "ls"]).done();
    assert!(listed.lines().any(|line| line.contains("@acme/*")), "{listed}");
    let release = "release npm @acme/*: whoever asks gets what a public registry has";
    desk.run(&["reserved", "rm", "npm", "@acme/*", "--dry-run"])
        .ends(0, &[&format!("would {release}")]);
    desk.run(&["reserved", "rm", "npm", "@acme/*", "--yes"]).ends(0, &["npm @acme/* is released"]);
    assert_eq!(desk.run(&["reserved", "ls", "--json"]).json()["reserved"], json!([]));
    desk.run(&["reserved", "rm", "npm", "@acme/*", "--yes"]).ends(3, &["error: "]);

    let request = ["waivers", "request", "npm", "left-pad", "<2", "--waives", "GHSA-1"];
    let terms = ["--reason", "not reachable", "--owner", "team blue", "--days", "7"];
    let asked = desk.run(&[&request[..], &terms, &["--json"]].concat()).json();
    let id = asked["id"].as_str().expect("its id");
    let listed = desk.run(&["waivers", "ls"]).done();
    let row = listed.lines().find(|line| line.starts_with(id)).expect("a row");
    assert!(
        row.contains("GHSA-1") && row.contains("team blue") && row.ends_with("not reachable"),
        "{row}"
    );
    let revoke = ["waivers", "revoke", &id[id.len() - 6..], "--reason", "it was mended"];
    let shown = format!("revoke waiver {id} of admin: npm left-pad <2, GHSA-1 (not reachable)");
    desk.run(&[&revoke[..], &["--dry-run"]].concat()).ends(0, &[&format!("would {shown}")]);
    desk.run(&[&revoke[..], &["--yes"]].concat()).ends(0, &[&format!("waiver {id} is revoked")]);
    let gone = format!("no waiver with the id `{id}` is open");
    desk.run(&["waivers", "grant", id, "--yes"]).ends(3, &[&gone, "fix: `weir waivers ls`"]);
    let revoked = desk.run(&["waivers", "ls", "--state", "revoked", "--json"]).json();
    assert_eq!(revoked["waivers"][0]["id"], id, "{revoked}");
    desk.run(&["waivers", "ls", "--state", "open"])
        .ends(2, &["waiting, granted, revoked, expired"]);
    let endless = ["waivers", "request", "npm", "x", "--reason", "r", "--owner", "o"];
    desk.run(&endless).ends(2, &["--days"]);

    let sources = desk.run(&["sources"]).done();
    for words in ["SOURCE", "osv", "openssf-malicious", "blocklist", "disabled"] {
        assert!(sources.contains(words), "{words}: {sources}");
    }
    assert_eq!(desk.run(&["sources", "ls"]).done(), sources);
    desk.run(&["sources", "sync", "nowhere"]).ends(3, &["error: "]);
    desk.run(&["sources", "sync", "osv"]).ends(5, &["error: "]);
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worlds_time_and_its_accounts_go_where_they_are_told() {
    let place = Place::on_a_test_database().await.setting("nexus: {clock: driven}\n");
    let desk = Desk::at(place).await;
    let shown = desk.run(&["nexus", "show"]).done();
    assert!(shown.starts_with("EPOCH  CYCLE  TICK  CLOCK   NEXT CYCLE\n0"), "{shown}");
    let epoch = desk.run(&["nexus", "epoch", "3", "--reason", "rehearsed", "--json"]).json();
    assert_eq!(epoch["epoch"], 3);
    desk.run(&["nexus", "epoch", "2", "--reason", "too early"]).ends(2, &["epoch"]);
    desk.run(&["nexus", "epoch", "4"]).ends(2, &["--reason"]);
    desk.run(&["nexus", "tick", "7"]).ends(0, &["driven"]);
    assert_eq!(desk.run(&["nexus", "tick", "--json"]).json()["tick"], 8);

    let grant = ["mint", "grant", "ann", "5", "--reason", "a start"];
    let told = desk.run(&grant).done();
    assert_eq!(told.trim_end(), "ann has 5 spark now, 5 free");
    desk.run(&["mint", "grant", "a/b", "5", "--reason", "x"]).ends(2, &["account"]);
    desk.run(&["mint", "grant", "ann", "-5", "--reason", "x"]).ends(2, &["-5"]);
    desk.shows("accounts").await;
    let listed = desk.run(&["mint", "ls"]).done();
    let row = listed.lines().find(|line| line.starts_with("ann ")).expect("a row");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["ann", "5", "0", "5", "0", "0"]);
    let accounts: Value = desk.run(&["mint", "ls", "--json"]).json();
    assert_eq!(accounts["accounts"].as_array().map(Vec::len), Some(1), "{accounts}");
    desk.weir.stop().await;
}
