//! What the sources of advisories say comes onto the log, once, whatever happens on the way.

mod large;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use serde_json::{Value, json};
use weir_aggregates::registry::advisory::{difference::Sight, digest};
use weir_events::registry::{Ecosystem, advisory::AdvisoryPublished};
use weir_processors::{
    clock::SystemClock,
    door::Door,
    registry::sources::archive::{Archive, LogArchive},
};
use weir_tests::{
    advisories::advisory,
    bucket::{Bucket, record},
    database::{TestDatabase, long},
    deadline, memory,
    weir::{Client, Part, Place, Weir},
};

use super::said;

/// The configuration of OSV alone.
fn osv(bucket: &Bucket) -> String {
    format!(
        "sources:\n  openssf:\n    enabled: false\n  osv:\n    address: {}\n    \
         ecosystems: [npm, pypi]\n    rate_limit: 0s\n    retry_tries: 1\n",
        bucket.url
    )
}

/// A repository of malicious packages, in a folder.
struct Repository(PathBuf);

impl Repository {
    fn new(place: &Place) -> Self {
        let this = Self(place.path().join("malicious"));
        fs::create_dir(&this.0).expect("a folder");
        this.git(&["init", "--quiet", "--initial-branch=main"]);
        this
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.0).args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
        assert!(git.args(arguments).status().expect("git").success(), "{arguments:?}");
    }

    fn put(&self, id: &str, package: &str) {
        let folder = self.0.join("osv/malicious/npm").join(package);
        fs::create_dir_all(&folder).expect("a folder");
        let (_, body) = record(id, "npm", package, json!({}));
        fs::write(folder.join(format!("{id}.json")), body).expect("a record");
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=more"]);
    }
}

/// How the sources stand, by name.
async fn sources(client: &Client) -> BTreeMap<String, Value> {
    let answer = client.get("/api/security-sources").await.json();
    let all = answer["sources"].as_array().cloned().unwrap_or_default();
    all.into_iter().map(|it| (it["name"].as_str().unwrap_or_default().to_owned(), it)).collect()
}

/// Asks for a visit that believes losses.
async fn insist(client: &Client) {
    let body = json!({"believe_losses": true});
    client.post("/api/security-sources/osv/sync", &body).await.has(202);
}

/// Waits until a source stands as it should, with so many parts.
async fn stands(client: &Client, name: &str, state: &str, n_parts: usize) -> Value {
    deadline::until(&format!("{name} is {state}"), async || {
        let source = sources(client).await.remove(name).unwrap_or_default();
        let parts = source["parts"].as_array().map_or(0, Vec::len);
        if source["state"] == state && parts == n_parts { Ok(source) } else { Err(source) }
    })
    .await
}

/// Everything of some kinds that is on the log, in order.
async fn events(client: &Client, kinds: &str) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let path = format!("/api/events?kind={kinds}&limit=1000&after={after}");
        let page = client.get(&path).await.expect(200).json();
        let page = page["events"].as_array().cloned().unwrap_or_default();
        let Some(last) = page.last().and_then(|event| event["position"].as_i64()) else {
            return all;
        };
        after = last;
        all.extend(page);
    }
}

const NEWS: &str = "AdvisoryPublished,AdvisoryChanged,AdvisoryWithdrawn";

/// What the advisories on the log amount to since the n-th one: a sign and the id.
async fn news(client: &Client, since: &mut usize) -> Vec<String> {
    let all = events(client, NEWS).await;
    let news = all[*since..].iter().map(|event| {
        let payload = &event["payload"];
        let id = payload["advisory"]["id"].as_str().or_else(|| payload["id"].as_str());
        let sign = match event["kind"].as_str() {
            Some("AdvisoryPublished") => '+',
            Some("AdvisoryChanged") => '~',
            _ => '-',
        };
        format!("{sign}{}", id.unwrap_or_default())
    });
    let mut news: Vec<_> = news.collect();
    *since = all.len();
    news.sort();
    news
}

/// Asks for a visit, and waits until one that began after that has ended in each part.
async fn sync(place: &Place, weir: &Weir, name: &str, arguments: &[&str], n_parts: usize) {
    let ends = "SyncSucceeded,SyncFailed";
    let of = |all: &[Value]| all.iter().filter(|e| e["payload"]["source"] == name).count();
    let before = of(&events(&weir.client, ends).await);
    let server = ["sources", "sync", name, "--server", &weir.url];
    let output = place.run(&[&server, arguments].concat());
    assert!(output.status.success(), "{}", said(&output));
    let last = deadline::until(&format!("{name} is synced"), async || {
        let all = events(&weir.client, ends).await;
        let ended = of(&all) - before;
        let last = all.last().and_then(|event| event["position"].as_i64());
        last.filter(|_| ended >= n_parts).ok_or(ended)
    })
    .await;
    // What is asked next is asked of the read model.
    weir.client.reaches("sync_status", last).await;
}

fn list(path: &Path, packages: &[&str]) {
    let rule = |name: &&str| format!("- {{ecosystem: npm, package: {name}, reason: not ours}}\n");
    // Put in the place of the old one in one step, as an editor does.
    let fresh = path.with_extension("new");
    fs::write(&fresh, packages.iter().map(rule).collect::<String>()).expect("a list");
    fs::rename(fresh, path).expect("put it there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_sources_say_stands_on_the_log_once_and_then_only_what_is_news() {
    let bucket = Bucket::start().await;
    let place = Place::on_a_test_database().await;
    let (repository, blocklist) = (Repository::new(&place), place.path().join("blocklist.yaml"));
    let [a, b] = ["A", "B"].map(|id| record(id, "npm", &id.to_lowercase(), json!({})));
    bucket.put("npm", &[a.clone(), b, ("C".to_owned(), "garbage".to_owned())]);
    bucket.put("PyPI", &[record("P", "PyPI", "p", json!({}))]);
    repository.put("MAL-1", "evil");
    repository.commit();
    list(&blocklist, &["x", "y"]);
    let settings = format!(
        "sources:\n  osv:\n    address: {}\n    ecosystems: [npm, pypi]\n    rate_limit: 0s\n  \
         openssf:\n    address: file://{}\n    rate_limit: 0s\n  blocklist:\n    file: {}\n",
        bucket.url,
        repository.0.display(),
        blocklist.display()
    );
    let place = place.setting(&settings);
    let weir = place.start(Part::Up).await;
    let client = &weir.client;

    let osv = stands(client, "osv", "ok", 2).await;
    assert_eq!((&osv["n_advisories"], &osv["enabled"]), (&json!(3), &json!(true)), "{osv}");
    let npm = &osv["parts"][0];
    assert_eq!((&npm["ecosystem"], &npm["n_records"]), (&json!("npm"), &json!(3)), "{osv}");
    assert_eq!(npm["n_unreadable"], 1, "{osv}");
    assert!(npm["revision"].is_string() && npm["next_due_at"].is_string(), "{osv}");
    let openssf = stands(client, "openssf-malicious", "ok", 1).await;
    assert_eq!(openssf["n_advisories"], 1, "{openssf}");
    let rules = stands(client, "blocklist", "ok", 1).await;
    assert_eq!(rules["n_advisories"], 2, "{rules}");
    let mut seen = 0;
    assert_eq!(news(client, &mut seen).await, ["+A", "+B", "+MAL-1", "+P"]);

    // Nothing has changed: all is read again, and nothing appended.
    sync(&place, &weir, "osv", &[], 2).await;
    sync(&place, &weir, "openssf-malicious", &[], 1).await;
    assert_eq!(news(client, &mut seen).await, Vec::<String>::new());

    // Exactly the difference.
    let changed = record("A", "npm", "a", json!({"summary": "worse than we thought"}));
    let withdrawn = record("B", "npm", "b", json!({"withdrawn": "2026-11-02T00:00:00Z"}));
    bucket.put("npm", &[changed, withdrawn, record("D", "npm", "d", json!({}))]);
    repository.put("MAL-2", "worse");
    repository.commit();
    sync(&place, &weir, "osv", &[], 2).await;
    sync(&place, &weir, "openssf-malicious", &[], 1).await;
    assert_eq!(news(client, &mut seen).await, ["+D", "+MAL-2", "-B", "~A"]);

    // The list is followed by itself.
    list(&blocklist, &["y", "z"]);
    let rules = deadline::until("the new list is in force", async || {
        let events = events(client, "BlocklistRuleAdded,BlocklistRuleRemoved").await;
        if events.len() == 4 { Ok(events) } else { Err(events.len()) }
    })
    .await;
    assert_eq!(rules[2]["payload"]["rule"]["package"], "z");
    let x = rules.iter().find(|event| event["payload"]["rule"]["package"] == "x").expect("x");
    assert_eq!(rules[3]["payload"]["id"], x["payload"]["rule"]["id"]);
    client.judges_by(rules[3]["position"].as_i64().expect("a position")).await;
    for (package, source) in [("z", Some("blocklist")), ("x", None), ("worse", Some("MAL-2"))] {
        let path = format!("/api/registry/explain?ecosystem=npm&package={package}&version=1.0.0");
        let verdict = client.get(&path).await.expect(200).body;
        let refused = verdict.contains("\"verdict\":\"block\"");
        assert_eq!(refused, source.is_some(), "{package}: {verdict}");
        assert!(source.is_none_or(|source| verdict.contains(source)), "{package}: {verdict}");
    }
    fs::write(&blocklist, "- {ecosystem: npm, package: w, reason: x}\n- {ecosystem: gems}\n")
        .expect("a bad list");
    let failing = stands(client, "blocklist", "failing", 1).await;
    let cause = failing["parts"][0]["cause"].as_str().unwrap_or_default();
    assert!(cause.contains("blocklist.yaml:2:") && failing["n_advisories"] == 2, "{failing}");

    let visits = client.get("/api/security-sources/osv/history?limit=2").await.expect(200).json();
    assert_eq!(visits["visits"].as_array().map(Vec::len), Some(2), "{visits}");
    let next = visits["next"].as_str().expect("a cursor");
    let path = format!("/api/security-sources/osv/history?limit=2&cursor={next}");
    let older = client.get(&path).await.expect(200).json();
    assert!(older["visits"][0]["position"].as_i64() < visits["visits"][1]["position"].as_i64());
    let shown = place.run(&["sources", "--server", &weir.url]);
    assert!(said(&shown).contains("openssf-malicious"), "{}", said(&shown));
    let metrics = client.get("/metrics").await.body;
    let line = "weir_registry_advisories{ecosystem=\"npm\",source=\"osv\"} 2";
    assert!(metrics.lines().any(|l| l == line), "{metrics}");
    drop(a);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_fails_or_shrinks_keeps_what_it_said_and_says_so() {
    let bucket = Bucket::start().await;
    let all: Vec<_> =
        (0..200).map(|n| record(&format!("M-{n}"), "npm", &format!("p{n}"), json!({}))).collect();
    bucket.put("npm", &all);
    bucket.put("PyPI", &[]);
    let place = Place::on_a_test_database().await.setting(&osv(&bucket));
    let weir = place.start(Part::Up).await;
    let client = &weir.client;
    stands(client, "osv", "ok", 2).await;
    let mut seen = 0;
    assert_eq!(news(client, &mut seen).await.len(), 200);

    bucket.breaks(Some(503));
    sync(&place, &weir, "osv", &[], 2).await;
    let failing = stands(client, "osv", "failing", 2).await;
    let cause = failing["parts"][0]["cause"].as_str().unwrap_or_default();
    assert!(cause.contains("503"), "{failing}");
    assert!(failing["parts"][0]["succeeded_at"].is_string(), "{failing}");

    bucket.breaks(None);
    bucket.put("npm", &all[..50]);
    sync(&place, &weir, "osv", &[], 2).await;
    let failing = stands(client, "osv", "failing", 2).await;
    let cause = failing["parts"][0]["cause"].as_str().unwrap_or_default();
    assert!(cause.contains("--believe-losses"), "{failing}");
    assert_eq!((news(client, &mut seen).await.len(), &failing["n_advisories"]), (0, &json!(200)));

    sync(&place, &weir, "osv", &["--believe-losses"], 2).await;
    let ok = stands(client, "osv", "ok", 2).await;
    assert_eq!((news(client, &mut seen).await.len(), &ok["n_advisories"]), (150, &json!(50)));

    for (name, status) in [("nothing", 404), ("blocklist", 409)] {
        let path = format!("/api/security-sources/{name}/sync");
        client.post(&path, &json!({})).await.has(status);
    }
    let (_, secret) = client.issue("reader", &["rules:read"]).await;
    let reader = client.with_token(Some(&secret));
    reader.get("/api/security-sources").await.has(200);
    reader.post("/api/security-sources/osv/sync", &json!({})).await.has(403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visit_that_kill_9_cuts_off_ends_in_the_same_state_as_one_that_it_did_not() {
    const N: usize = 12_000;
    let bucket = Bucket::start().await;
    let all: Vec<_> =
        (0..N).map(|n| record(&format!("M-{n}"), "npm", &format!("p{n}"), json!({}))).collect();
    bucket.put("npm", &all);
    bucket.put("PyPI", &[]);
    let place = Place::on_a_test_database().await.setting(&osv(&bucket));
    let mut n_cut_off = 0;
    for _ in 0..2 {
        let weir = place.start(Part::Up).await;
        let head =
            || async { weir.client.get("/api/status").await.json()["head"].as_i64().unwrap_or(0) };
        let start = head().await;
        deadline::until("a part of it is on the log", async || {
            let head = head().await;
            if head >= start + 1_500 { Ok(()) } else { Err(head) }
        })
        .await;
        let ended = events(&weir.client, "SyncSucceeded").await;
        n_cut_off += usize::from(ended.is_empty());
        weir.kill();
    }
    assert!(n_cut_off > 0, "the visit was too quick to be cut off");
    let weir = place.start(Part::Up).await;
    let osv = stands(&weir.client, "osv", "ok", 2).await;
    assert_eq!(osv["n_advisories"], N, "{osv}");
    let mut news = news(&weir.client, &mut 0).await;
    let n_events = news.len();
    news.dedup();
    assert_eq!((n_events, news.len()), (N, N), "nothing stands there twice");
    assert!(news.iter().all(|event| event.starts_with('+')));
    let database = &place.database.as_ref().expect("a test database").url;
    let report = place.run(&["replay", "sync_status", "--check", "--database-url", database]);
    assert!(report.status.success(), "{}", said(&report));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_visit_once_and_one_takes_over_from_the_other() {
    let bucket = Bucket::start().await;
    bucket.put("npm", &[record("A", "npm", "a", json!({}))]);
    bucket.put("PyPI", &[]);
    let place = Place::on_a_test_database().await.setting(&osv(&bucket));
    let up = place.start(Part::Up).await;
    stands(&up.client, "osv", "ok", 2).await;
    up.stop().await;

    let api = place.start(Part::Api).await;
    let (one, two) = (place.start(Part::Worker).await, place.start(Part::Worker).await);
    let started = async || events(&api.client, "SyncStarted").await.len();
    deadline::until("one of them has visited", async || match started().await {
        4 => Ok(()),
        n => Err(n),
    })
    .await;
    // A visit is on record before the feed is asked.
    deadline::until("what has not changed is not sent again", async || {
        match bucket.n_answered(304) {
            2 => Ok(()),
            n => Err(n),
        }
    })
    .await;
    sync(&place, &api, "osv", &[], 2).await;
    deadline::until("the request is answered by one of them, once", async || {
        match started().await {
            6 => Ok(()),
            n => Err(n),
        }
    })
    .await;
    one.kill();
    two.kill();
    let three = place.start(Part::Worker).await;
    deadline::until("another one goes on", async || match started().await {
        8 => Ok(()),
        n => Err(n),
    })
    .await;
    assert_eq!(news(&api.client, &mut 0).await, ["+A"]);
    drop(three);
}

/// The long count is that of all that is known to be malicious: `sync.300k`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_feed_is_read_in_little_memory() {
    let n_records = if long() { 300_000 } else { 20_000 };
    let bucket = Bucket::start().await;
    let one = |n| {
        let details = "What it does, at some length. ".repeat(20);
        record(&format!("MAL-2026-{n}"), "npm", &format!("helper-{n}"), json!({"details": details}))
    };
    bucket.put("npm", &(0..n_records).map(one).collect::<Vec<_>>());
    bucket.put("PyPI", &[]);
    let settings = format!("{}    sync_interval: 10h\n", osv(&bucket));
    let place = Place::on_a_test_database().await.setting(&settings);
    let weir = place.start(Part::Up).await;
    let began = std::time::Instant::now();
    let synced = deadline::within(deadline::PATIENCE * 20, "the feed is read", async || {
        let ended = events(&weir.client, "SyncSucceeded,SyncFailed").await;
        if ended.len() == 2 { Ok(ended) } else { Err(ended) }
    });
    let synced = synced.await;
    let payload = &synced[0]["payload"];
    assert_eq!(payload["n_published"], n_records, "{payload}");
    weir.client.judges_by(synced[0]["position"].as_i64().expect("a position")).await;
    let (took, peak) = (began.elapsed(), memory::most(&weir) >> 10);
    println!("{n_records} records: {payload}; queryable after {took:?}, {peak} MiB at most");
    assert!(peak <= 400, "{peak} MiB");
}

#[tokio::test]
async fn who_lost_the_lease_without_noticing_appends_nothing_after_the_new_holder_did() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let door = Door::new(log.log.clone(), Arc::new(SystemClock));
    let archive = || LogArchive::new("osv", door.clone());
    let (old, new) = (archive(), archive());
    let publish = |id: &str| {
        let advisory = advisory(Ecosystem::Npm, id, "x", "1", None);
        vec![AdvisoryPublished { advisory }.into()]
    };
    drop(old.difference(Ecosystem::Npm).await.expect("what is known"));
    drop(new.difference(Ecosystem::Npm).await.expect("what is known"));
    new.append(Ecosystem::Npm, publish("A")).await.expect("the holder appends");
    let refused = old.append(Ecosystem::Npm, publish("A")).await.expect_err("it is too late");
    assert!(refused.passing(), "{refused}");
    // It looks again, and finds that it is known.
    let mut difference = old.difference(Ecosystem::Npm).await.expect("what is known");
    let digest = digest::carried(&advisory(Ecosystem::Npm, "A", "x", "1", None));
    assert_eq!(difference.see("A", digest), Sight::Same);
    old.append(Ecosystem::Npm, publish("B")).await.expect("it holds the lease again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_while_a_visit_is_under_way_is_answered_by_the_next() {
    let bucket = Bucket::start().await;
    let all: Vec<_> =
        (0..200).map(|n| record(&format!("M-{n}"), "npm", &format!("p{n}"), json!({}))).collect();
    bucket.put("npm", &all);
    bucket.put("PyPI", &[]);
    let place = Place::on_a_test_database().await.setting(&osv(&bucket));
    let weir = place.start(Part::Up).await;
    stands(&weir.client, "osv", "ok", 2).await;
    bucket.put("npm", &all[..50]);

    let (held, n_asked) = (bucket.holds().await, bucket.n_asked());
    weir.client.post("/api/security-sources/osv/sync", &json!({})).await.has(202);
    deadline::until("the bucket is asked", async || {
        if bucket.n_asked() > n_asked { Ok(()) } else { Err(bucket.n_asked()) }
    })
    .await;
    insist(&weir.client).await;
    // Twice is not more than once.
    insist(&weir.client).await;
    drop(held);
    deadline::until("what is gone is withdrawn", async || {
        let gone = events(&weir.client, "AdvisoryWithdrawn").await.len();
        if gone == 150 { Ok(()) } else { Err(gone) }
    })
    .await;
    stands(&weir.client, "osv", "ok", 2).await;
    // npm: at first, doubting, believing. PyPI: at first, believing with the rest of that round, and
    // once more with npm.
    let started = events(&weir.client, "SyncStarted").await;
    let of = |name: &str| started.iter().filter(|e| e["payload"]["ecosystem"] == name).count();
    assert_eq!((of("npm"), of("pypi")), (3, 3), "{started:?}");
    assert_eq!(events(&weir.client, "SyncRequested").await.len(), 2);
}

/// An address that nobody listens at.
async fn dead() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    format!("http://{}/", listener.local_addr().expect("its address"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_out_of_reach_is_switched_off_in_the_file_that_is_written() {
    let place = Place::on_a_test_database().await;
    let wanted = format!(
        "sources:\n  osv:\n    address: {}\n  openssf:\n    address: file:///nowhere\n",
        dead().await
    );
    let place = place.setting(&wanted);
    let output = place.run(&["init", "--dry-run", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for key in ["sources.osv.enabled", "sources.openssf.enabled"] {
        assert_eq!(found[key], false, "{found}");
        assert!(said(&output).contains(&format!("set {key} to true")), "{}", said(&output));
    }
    let text = found["text"].as_str().unwrap_or_default();
    assert_eq!(text.matches("\n    enabled: false\n").count(), 2, "{text}");

    // The same at the first start, where no file names them yet.
    let place = Place::on_a_test_database().await;
    let database = place.database.as_ref().expect("a test database").url.clone();
    let arguments = ["up", "--listen", "127.0.0.1:0", "--database-url", &database];
    let mut up = place.command(&arguments);
    up.env("WEIR__SOURCES__OSV__ADDRESS", dead().await).env_remove("WEIR__SOURCES__OSV__ENABLED");
    let quiet = || std::process::Stdio::null();
    let mut child = up.stdout(quiet()).stderr(quiet()).spawn().expect("start it");
    let written = place.data_dir().join("weir.yaml");
    let text = deadline::until("the configuration is written", async || {
        let text = fs::read_to_string(&written).unwrap_or_default();
        if text.contains("cache:") { Ok(text) } else { Err(text) }
    })
    .await;
    child.kill().expect("kill it");
    child.wait().expect("its end");
    let osv = text.split("  osv:").nth(1).expect("its section");
    assert!(
        osv.split_once("enabled: false").is_some_and(|(before, _)| before.len() < 120),
        "{text}"
    );
}
