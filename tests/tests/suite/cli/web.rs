//! `weir fetch` and `weir web`: a page as an agent gets it, what is kept of it, and who may.

use std::fs;

use serde_json::{Value, json};
use weir_tests::{
    outside::{Outside, Page},
    weir::Place,
};

use super::{Desk, Ran, fed};

const HTML: &str = "<title>Weirs</title><h1>Weirs</h1><p>Water flows over <code>weir()</code> here.</p>\
                    <pre>let w = weir()?;\nw.flow();</pre><p>It is measured.</p>";

/// A Weir whose gateway reaches the test's own website, and an agent with a key in a file.
struct Scene {
    desk: Desk,
    outside: Outside,
    agent: String,
    token: String,
}

impl Scene {
    async fn open() -> Self {
        let outside = Outside::start().await;
        let place = Place::on_a_test_database().await.setting(&format!(
            "nexus: {{clock: driven, ticks_per_cycle: 100}}\n\
             web: {{allow_private: [127.0.0.0/8], ports: [80, 443, {}], requests_per_tick: 100}}\n",
            outside.port
        ));
        let desk = Desk::at(place).await;
        desk.run(&["nexus", "epoch", "40", "--reason", "a test"]).done();
        desk.run(&["agent", "keygen", "agent.pem"]).ends(0, &["the secret key is in `agent.pem`"]);
        let register = ["agent", "register", "reader", "--key", "agent.pem", "--with-token"];
        let made = desk.run(&[&register[..], &["--json"]].concat()).json();
        let text = |key: &str| made[key].as_str().expect(key).to_owned();
        let (agent, token) = (text("id"), text("secret"));
        desk.run(&["mint", "grant", &agent, "1000", "--reason", "a test"]).done();
        Self { desk, outside, agent, token }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.outside.url)
    }

    fn fetch(&self, arguments: &[&str]) -> Ran {
        let token = ["--token", self.token.as_str()];
        self.desk.run(&[&["fetch"], arguments, &token].concat())
    }

    fn web(&self, arguments: &[&str]) -> Ran {
        self.desk.run(&[&["web"], arguments].concat())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_comes_without_its_code_once_its_host_is_allowed_and_stands_on_record() {
    let scene = Scene::open().await;
    scene.outside.put("/weirs", Page::html(HTML));
    let (url, key) = (scene.at("/weirs"), ["--key", "agent.pem"]);
    let get = |more: &[&str]| scene.fetch(&[&[url.as_str()], &key[..], more].concat());
    let why = scene.web(&["why", &url]).done();
    assert!(why.contains("is blocked: no rule\nno rule names it"), "{why}");
    let blocked = get(&[]).ends(4, &["error: "]);
    assert!(!blocked.err.contains("use a token"), "another token does not help: {}", blocked.err);
    assert_eq!(scene.outside.n_asked(), 0);

    let rule = ["rules", "set", "allow", "127.0.0.1", "--category", "test", "--reason", "our own"];
    scene.web(&rule).ends(0, &["127.0.0.1 is allowed"]);
    let page = get(&["--purpose", "to learn about weirs"]).done();
    assert!(page.contains("Water flows over") && page.contains("It is measured."), "{page}");
    assert!(!page.contains("weir()") && !page.contains("w.flow"), "{page}");
    let parts = get(&["--format", "structured", "--json"]).json();
    let content: Value =
        serde_json::from_str(parts["content"].as_str().expect("text")).expect("JSON");
    assert_eq!(content["title"], "Weirs", "{content}");
    let short = get(&["--format", "summary", "--max-size", "30"]).done();
    assert!(short.trim_end().len() <= 30 && short.contains("Weirs"), "{short}");
    let n_asked = scene.outside.n_asked();
    assert_eq!(get(&["--purpose", "once more"]).done(), page);
    assert_eq!(scene.outside.n_asked(), n_asked, "it was kept");
    let head = get(&["--head"]).done();
    assert_eq!(head.trim_end(), "status 200, text/html");
    get(&["--format", "prose"]).ends(2, &["raw, structured, summary"]);
    get(&["--max-size", "0"]).ends(2, &["max_size"]);
    scene
        .fetch(&[&url, "--key", "nowhere.pem"])
        .ends(3, &["could not read a key from `nowhere.pem`"]);
    fs::write(scene.desk.place.path().join("bad.pem"), "no key").expect("a file");
    let bad = ["it is no ed25519 key as PKCS #8 in PEM", "fix: make one with `weir agent keygen`"];
    scene.fetch(&[&url, "--key", "bad.pem"]).ends(2, &bad);
    scene.fetch(&[&url]).ends(2, &["--key"]);

    for name in ["request_log", "cache"] {
        scene.desk.shows(name).await;
    }
    let requests = |more: &[&str]| {
        let told = scene.web(&[&["requests", "--json"], more].concat()).json();
        told["requests"].as_array().expect("requests").len()
    };
    let all = requests(&[]);
    assert!(all >= 4, "{all}");
    assert_eq!(requests(&["--state", "blocked"]), 1);
    assert_eq!(requests(&["--agent", &scene.agent]), all);
    assert_eq!(requests(&["--agent", &"0".repeat(64)]), 0);
    assert_eq!(requests(&["--host", "nowhere.example"]), 0);
    assert_eq!(requests(&["--cycle", "7"]), 0);
    assert_eq!(requests(&["learn about weirs"]), 1);
    assert!(0 < requests(&["--cached", "true"]) && requests(&["--limit", "1"]) == 1);
    let listed = scene.web(&["requests", "--state", "blocked"]).done();
    let row = listed.lines().nth(1).expect("a row");
    assert!(
        row.contains(&scene.agent[..12]) && row.contains("blocked") && row.contains(&url),
        "{row}"
    );
    scene.web(&["requests", "--state", "odd"]).ends(2, &["state"]);
    let cached = scene.web(&["cache", "--host", "127.0.0.1"]).done();
    assert!(cached.contains(&url) && cached.contains("Weirs"), "{cached}");
    let why = scene.web(&["why", &url, "--agent", &scene.agent]).done();
    assert!(why.contains("is allowed: our own") && why.contains("a GET now would pass"), "{why}");
    let purged = scene.web(&["purge", "--host", "127.0.0.1"]).done();
    assert!(purged.trim_end().ends_with("pages are forgotten"), "{purged}");
    scene.web(&["purge", &url, "--host", "127.0.0.1"]).ends(2, &["cannot be used with"]);
    scene.desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_persons_waive_a_block_and_one_takes_it_back() {
    let desk = Desk::open().await;
    let person = |name: &str| {
        let create = ["token", "create", name, "--scope", "web:read,web:write"];
        desk.run(&create).done().trim_end().to_owned()
    };
    let (ann, bob) = (person("ann"), person("bob"));
    let web =
        |token: &str, more: &[&str]| desk.run(&[&["web"], more, &["--token", token]].concat());
    let terms = ["--reason", "its manual is there", "--owner", "team blue", "--days", "7"];
    let request = ["waivers", "request", "host", "--pattern", "api.github.com"];
    let asked = web(&ann, &[&request[..], &terms].concat()).done();
    let id = asked.split_whitespace().nth(1).expect("its id").to_owned();
    let wait = format!("waiver {id} waits: somebody else runs `weir web waivers grant {id}`");
    assert_eq!(asked.trim_end(), wait);
    let listed = web(&ann, &["waivers", "list"]).done();
    let row = listed.lines().find(|line| line.starts_with(&id)).expect("a row");
    assert!(
        row.contains("waiting") && row.contains("api.github.com") && row.contains("team blue"),
        "{row}"
    );
    assert!(web(&ann, &["why", "https://api.github.com/"]).done().contains("is blocked"));

    let tail = &id[id.len() - 6..];
    web(&ann, &["waivers", "grant", tail, "--yes"]).ends(5, &["error: "]);
    let shown = format!("grant waiver {id} of ann: host of api.github.com for agent - (its manual");
    web(&bob, &["waivers", "grant", tail, "--dry-run"]).ends(0, &[&format!("would {shown}")]);
    web(&bob, &["waivers", "grant", tail, "--yes"]).ends(0, &[&format!("waiver {id} is granted")]);
    let why = web(&bob, &["why", "https://api.github.com/"]).done();
    assert!(why.contains("is allowed") && why.contains(&format!("by waiver {id}")), "{why}");
    let revoke = ["waivers", "revoke", tail, "--reason", "it was read"];
    web(&ann, &revoke).ends(2, &["cannot ask whether to revoke waiver"]);
    web(&ann, &[&revoke[..], &["--yes"]].concat()).ends(0, &[&format!("waiver {id} is revoked")]);
    assert!(web(&ann, &["why", "https://api.github.com/"]).done().contains("is blocked"));
    web(&ann, &[&revoke[..], &["--yes"]].concat()).ends(3, &["fix: `weir web waivers list`"]);
    web(&ann, &[&["waivers", "request", "code"], &terms[..]].concat()).ends(2, &["agent"]);
    web(&ann, &[&["waivers", "request", "all"], &terms[..]].concat()).ends(2, &["host, code"]);
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_about_hosts_are_listed_by_what_is_asked_and_imported_from_a_pipe() {
    let desk = Desk::open().await;
    let web = |more: &[&str]| desk.run(&[&["web", "rules"], more].concat());
    let rule = |pattern: &str| {
        json!({"pattern": pattern, "action": "block", "category": "ads", "reason": "adverts"})
            .to_string()
    };
    let lines = format!("{}\n\n{}\n", rule("a.ads.example"), rule("b.ads.example"));
    let import = ["web", "rules", "import", "-", "--yes"];
    fed(&desk.place, &import, lines.as_bytes()).ends(0, &["2 rules are in force, 2 are new"]);
    let again = fed(&desk.place, &[&import[..], &["--json"]].concat(), lines.as_bytes()).json();
    assert_eq!(again, json!({"rules": 2, "changed": 0}));
    fed(&desk.place, &import, b"{\"pattern\": 1}\n").ends(2, &["line 1"]);
    web(&["import", "nowhere.jsonl", "--yes"]).ends(1, &["could not read `nowhere.jsonl`"]);
    let file = desk.place.path().join("rules.jsonl");
    fs::write(&file, &lines).expect("a file");
    web(&["import", "rules.jsonl"]).ends(2, &["cannot ask whether to set 2 rules about hosts"]);

    desk.shows("domain_rules").await;
    let listed = |more: &[&str]| {
        let told = web(&[&["list", "--json"], more].concat()).json();
        let all = told["rules"].as_array().expect("rules").clone();
        all.iter()
            .map(|rule| rule["pattern"].as_str().expect("text").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&["--category", "ads"]), ["b.ads.example", "a.ads.example"]);
    assert_eq!(listed(&["--limit", "1", "--category", "ads"]).len(), 1);
    assert_eq!(listed(&["ads.example", "--action", "allow"]), [""; 0]);
    let told = web(&["list", "a.ads"]).done();
    let row = told.lines().nth(1).expect("a row");
    assert!(row.starts_with("a.ads.example") && row.ends_with("adverts"), "{row}");
    web(&["list", "--action", "deny"]).ends(2, &["there are: allow, block"]);
    web(&["set", "block", "re:(", "--category", "c", "--reason", "r"]).ends(2, &["pattern"]);
    web(&["remove", "a.ads.example"]).ends(2, &["cannot ask whether to remove the rule of"]);
    web(&["remove", "a.ads.example", "--yes"]).ends(0, &["no rule stands under `a.ads.example`"]);
    desk.shows("domain_rules").await;
    assert_eq!(listed(&["--category", "ads"]), ["b.ads.example"]);
    desk.weir.stop().await;
}
