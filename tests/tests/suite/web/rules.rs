//! The rules about hosts, at a running Weir: what holds at first, what an address is judged by however
//! it is spelled, and that a change counts on every instance at once.

use std::{
    fs,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use weir_events::timestamp::Timestamp;
use weir_tests::{
    deadline,
    weir::{Answer, Client, Part, Place, Weir},
};

/// A path with one parameter.
fn with(path: &str, name: &str, value: &str) -> String {
    let mut address: reqwest::Url = format!("http://weir.example{path}").parse().expect("a URL");
    address.query_pairs_mut().append_pair(name, value);
    format!("{path}?{}", address.query().expect("a query"))
}

async fn asked(client: &Client, url: &str) -> Answer {
    client.get(&with("/api/web/check", "url", url)).await
}

/// What becomes of an address.
async fn check(client: &Client, url: &str) -> Value {
    asked(client, url).await.expect(200).json()
}

async fn set(client: &Client, pattern: &str, action: &str) -> Answer {
    let rule = json!({"pattern": pattern, "action": action, "category": "test",
        "reason": format!("because of {pattern}")});
    client.send("PUT", "/api/web/rules", &[], Some(&rule)).await.expect("an answer")
}

async fn listed(client: &Client, query: &str, position: impl std::fmt::Display) -> Vec<Value> {
    let path = format!("/api/web/rules?min_position={position}{query}");
    let page = client.get(&path).await.expect(200).json();
    page["rules"].as_array().expect("rules").clone()
}

/// Waits until an instance says something else of an address; answers when that was.
async fn says(client: &Client, url: &str, action: &str) -> Instant {
    deadline::until("the instance goes by it", async || {
        let said = check(client, url).await;
        if said["action"] == action { Ok(Instant::now()) } else { Err(said) }
    })
    .await
}

/// Somebody who may change the rules of the gateway.
async fn person(weir: &Weir, name: &str) -> Client {
    let (_, secret) = weir.client.issue(name, &["web:read", "web:write"]).await;
    weir.client.with_token(Some(&secret))
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    Timestamp::from_micros(i64::try_from(since.as_micros()).expect("a time of today"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rules_of_the_start_judge_an_address_however_it_is_spelled() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let client = &weir.client;
    let rule = Some("github.com");
    for (url, action, named) in [
        ("https://docs.rs/serde", "allow", Some("docs.rs")),
        ("http://DOCS.rs./", "allow", Some("docs.rs")),
        ("https://www.docs.rs/", "block", None),
        ("https://nobody.example/", "block", None),
        ("https://arxiv.org/abs/1", "allow", Some("arxiv.org")),
        ("https://x.com/", "block", Some("x.com")),
        ("https://netflix.com/", "block", None),
        ("https://github.com/", "block", rule),
        ("https://github.com./", "block", rule),
        ("https://GITHUB.com/", "block", rule),
        ("https://%67ithub.com/", "block", rule),
        ("https://git\u{ad}hub.com/", "block", rule),
        ("https://ｇｉｔｈｕｂ.com/", "block", rule),
        ("https://codeload.github.com/a", "block", rule),
        ("https://github.com:443/", "block", rule),
        ("https://g\u{456}thub.com/", "block", None),
        ("https://docs.rs.evil.example/", "block", None),
        ("https://docs.rs:8443/", "block", Some("docs.rs")),
    ] {
        let said = check(client, url).await;
        assert_eq!(
            (said["action"].as_str(), said["rule"].as_str()),
            (Some(action), named),
            "{url}"
        );
        if named.is_none() {
            assert_eq!(said["reason"], "no rule", "{url}");
        }
    }
    assert_eq!(check(client, "http:/DOCS.rs./a%62?q#x").await["url"], "http://docs.rs/a%62?q");
    for url in [
        "https://docs.rs@github.com/",
        "https://.github.com/",
        "https://docs.rs:0/",
        "docs.rs",
        "ftp://docs.rs/",
        "https://docs.rs\\@github.com/",
    ] {
        let refused = asked(client, url).await.expect(400).json();
        assert_eq!(refused["errors"][0]["field"], "url", "{url}: {refused}");
    }
    client.get("/api/web/check").await.has(400);

    // What Weir brings along is in the log once, whoever starts how often, and stays away once removed.
    let all = listed(client, "", "head").await;
    assert_eq!(all.len(), 16, "{all:?}");
    assert!(all.iter().all(|rule| rule["source"] == "default"), "{all:?}");
    let changed = set(client, "x.com", "block").await.expect(200);
    let operators = listed(client, "&search=x.com", changed.position()).await;
    assert_eq!(operators[0]["source"], "operator", "its words are others");
    client.delete(&with("/api/web/rules", "pattern", "X.com.")).await.has(204);
    client.delete(&with("/api/web/rules", "pattern", "x.com")).await.has(404);
    let again = place.start(Part::Api).await;
    assert_eq!(check(&again.client, "https://x.com/").await["rule"], Value::Null);
    let begun = client.get("/api/events?kind=DomainRuleUpdated&limit=1000").await.expect(200);
    assert_eq!(begun.json()["events"].as_array().expect("events").len(), 18);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_counts_on_every_instance_within_a_second() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let other = place.start(Part::Api).await;
    let (url, odd) = ("https://wiki.example/", "https://wiki.example:8443/");
    for (pattern, action) in
        [("Wiki.Example.", "allow"), ("*ki.example", "block"), ("wiki.example", "block")]
    {
        let set = set(&weir.client, pattern, action).await.expect(200);
        let since = Instant::now();
        assert_eq!(check(&weir.client, url).await["action"], action, "here before it is answered");
        let took = says(&other.client, url, action).await.duration_since(since);
        assert!(took < deadline::promise(Duration::from_secs(1)), "it took {took:?}");
        assert!(set.position() > 0);
    }
    let said = check(&other.client, url).await;
    let matching = said["matching"].as_array().expect("rules");
    let patterns: Vec<_> = matching.iter().map(|rule| rule["pattern"].as_str()).collect();
    assert_eq!(patterns, [Some("*ki.example"), Some("wiki.example")], "{said}");
    for pattern in ["*ki.example", "wiki.example"] {
        weir.client.delete(&with("/api/web/rules", "pattern", pattern)).await.has(204);
    }
    set(&weir.client, "wiki.example", "allow").await.has(200);
    assert_eq!(check(&weir.client, odd).await["action"], "block", "a port that no rule names");
    let last = set(&weir.client, "wiki.example:8443", "allow").await.expect(200).position();
    says(&other.client, odd, "allow").await;

    let rules = listed(&weir.client, "&search=WIKI.Ex", last).await;
    let patterns: Vec<_> = rules.iter().map(|rule| rule["pattern"].as_str()).collect();
    assert_eq!(patterns, [Some("wiki.example:8443"), Some("wiki.example")]);
    assert_eq!(rules[0]["updated_by"], "admin");
    let page = weir
        .client
        .get("/api/web/rules?min_position=head&limit=1&search=wiki.ex")
        .await
        .expect(200)
        .json();
    let next = page["next"].as_str().expect("there is more");
    let rest = listed(&weir.client, &format!("&limit=1&search=wiki.ex&cursor={next}"), 0).await;
    assert_eq!(rest[0]["pattern"], "wiki.example");

    let (_, reader) = weir.client.issue("reader", &["web:read"]).await;
    let reader = weir.client.with_token(Some(&reader));
    check(&reader, url).await;
    set(&reader, "docs.rs", "block").await.has(403);
    for (pattern, words) in [
        ("re:(", "unclosed group"),
        ("https://docs.rs/", "host alone"),
        ("a..b", "part that is empty"),
    ] {
        let refused = set(&weir.client, pattern, "block").await.expect(422).json();
        assert_eq!(refused["errors"][0]["field"], "pattern", "{refused}");
        assert!(refused["detail"].as_str().is_some_and(|told| told.contains(words)), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_rule_opens_a_package_registry_and_a_default_of_allow_does_not_either() {
    let place = Place::on_a_test_database().await.setting(
        "registries: {npm: {upstream: 'https://index.packages.example/'}}\n\
         web: {default_action: allow, ports: [443]}\n",
    );
    let weir = place.start(Part::Up).await;
    assert!(place.log("up").contains("agents reach every host that no rule blocks"));
    assert_eq!(check(&weir.client, "https://nobody.example/").await["action"], "allow");
    assert_eq!(check(&weir.client, "http://nobody.example/").await["action"], "block");
    set(&weir.client, "**.packages.example", "allow").await.has(200);
    for host in ["packages.example", "index.packages.example", "files.packages.example"] {
        let said = check(&weir.client, &format!("https://{host}/")).await;
        let found = (said["action"].as_str(), said["category"].as_str());
        assert_eq!(found, (Some("block"), Some("package_mgr")), "{said}");
    }
    assert_eq!(check(&weir.client, "https://otherpackages.example/").await["action"], "allow");
    let derived = async |query: &str| {
        let page = weir
            .client
            .get(&format!("/api/web/rules?min_position=head&limit=1{query}"))
            .await
            .expect(200);
        (page.json()["derived"].clone(), page.json()["next"].as_str().map(str::to_owned))
    };
    let (first, next) = derived("").await;
    let patterns: Vec<&str> = first
        .as_array()
        .expect("rules")
        .iter()
        .filter_map(|rule| rule["pattern"].as_str())
        .collect();
    assert!(patterns.contains(&"**.packages.example"), "{first}");
    let next = format!("/api/web/rules?limit=1&cursor={}", next.expect("there are more"));
    let second = weir.client.get(&next).await.expect(200).json();
    assert_eq!(second["derived"], json!([]), "they stand on the first page");
    assert_eq!(derived("&action=allow").await.0, json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiver_of_two_persons_gets_past_a_block_until_it_ends() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let other = place.start(Part::Api).await;
    let (ann, bob) = (person(&weir, "ann").await, person(&weir, "bob").await);
    let (url, path) = ("https://api.github.com/", "/api/web/waivers");
    let wanted = |more: Value| {
        let mut waiver = json!({"permits": "host", "pattern": "api.github.com",
            "reason": "its documentation is there", "owner": "team blue", "days": 7});
        let fields = more.as_object().expect("an object").clone();
        waiver.as_object_mut().expect("an object").extend(fields);
        waiver
    };
    for (more, field) in [
        (json!({"pattern": "re:("}), "pattern"),
        (json!({"pattern": null}), "pattern"),
        (json!({"agent": "07".repeat(32)}), "agent"),
        (json!({"permits": "code", "pattern": null}), "agent"),
        (json!({"owner": " "}), "reason"),
        (json!({"days": 367}), "expires_at"),
    ] {
        let refused = ann.post(path, &wanted(more)).await.expect(422).json();
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
    }
    let end = now().plus_seconds(10);
    let until = json!({"days": null, "expires_at": end.to_string()});
    let waiver = ann.post(path, &wanted(until)).await.expect(201).json();
    let id = waiver["id"].as_str().expect("its id");
    assert_eq!(waiver["state"], "waiting");
    assert_eq!(check(&ann, url).await["action"], "block");
    let grant = format!("{path}/{id}/grant");
    ann.post(&grant, &json!({})).await.has(409);
    bob.post(&grant, &json!({})).await.has(204);
    let said = check(&bob, url).await;
    assert_eq!((&said["action"], &said["waived_by"]), (&json!("allow"), &json!(id)));
    assert_eq!(said["category"], "code_repo", "it still says what it is");
    says(&other.client, url, "allow").await;
    assert_eq!(check(&bob, "https://github.com/").await["action"], "block");
    assert_eq!(check(&bob, "https://api.github.com:22/").await["action"], "block");

    for client in [&weir.client, &other.client] {
        says(client, url, "block").await;
        assert!(now() >= end, "not before its end");
    }
    deadline::until("its end is on record", async || {
        let answer = weir.client.get("/api/events?kind=WebWaiverExpired").await.expect(200);
        let events = answer.json()["events"].as_array().cloned().unwrap_or_default();
        if events.len() == 1 { Ok(()) } else { Err(events) }
    })
    .await;

    // Code is previewed only where an agent could have it.
    let page = json!({"content": "<title>T</title><p>How to open it: <code>open(x)</code>.", "url": url,
        "filter": {"strip_inline_code": false, "strip_code_blocks": false}});
    let (preview, code) = ("/api/web/preview", json!({"permits": "code"}));
    let refused = ann.post(preview, &page).await.expect(403).json();
    assert_eq!(refused["errors"][0]["field"], "filter.strip_code_blocks", "{refused}");
    let waiver = ann.post(path, &wanted(code)).await.expect(201).json();
    let id = waiver["id"].as_str().expect("its id");
    bob.post(&format!("{path}/{id}/grant"), &json!({})).await.has(204);
    let seen = ann.post(preview, &page).await.expect(200).json();
    assert!(seen["content"].as_str().expect("text").contains("<code>open(x)</code>"), "{seen}");
    assert_eq!((&seen["title"], &seen["removed"]), (&json!("T"), &json!([])));
    let stripped = json!({"content": page["content"], "filter": {"format": "summary"}});
    let seen = ann.post(preview, &stripped).await.expect(200).json();
    assert_eq!(seen["content"], "T\nHow to open it: [code].\n");
    let gone =
        json!([{"kind": "inline", "language": null, "lines": 1, "text": "open(x)", "cut": false}]);
    assert_eq!(seen["removed"], gone);
    let misspelt = json!({"content": "x", "filter": {"strip_codeblocks": true}});
    ann.post(preview, &misspelt).await.has(400);
    let nowhere = json!({"content": "x", "url": "docs.rs"});
    ann.post(preview, &nowhere).await.has(400);

    let lasting = ann.post(path, &wanted(json!({}))).await.expect(201).json();
    let id = lasting["id"].as_str().expect("its id");
    bob.post(&format!("{path}/{id}/grant"), &json!({})).await.has(204);
    let open = weir.client.get(path).await.expect(200).json();
    assert_eq!(open["waivers"][0]["granted_by"], "bob", "{open}");
    let reason = json!({"reason": "it was read"});
    ann.post(&format!("{path}/{id}/revoke"), &reason).await.has(204);
    assert_eq!(check(&ann, url).await["action"], "block");
    ann.post(&format!("{path}/{id}/revoke"), &reason).await.has(404);
}

/// So many who are about to send a page to be previewed, and take their time.
async fn slow_senders(n_senders: usize, place: &Place, weir: &Weir) -> Vec<TcpStream> {
    let token = place.token().expect("a token");
    let address = weir.url.trim_start_matches("http://");
    let head = format!(
        "POST /api/web/preview HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n"
    );
    let mut slow = Vec::new();
    for _ in 0..n_senders {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(head.as_bytes()).await.expect("sent");
        // That is said when the page is waited for.
        let mut said = [0; 12];
        stream.read_exact(&mut said).await.expect("an answer");
        assert_eq!(String::from_utf8_lossy(&said), "HTTP/1.1 100");
        slow.push(stream);
    }
    slow
}

/// Two of them once kept everybody from a preview for as long as they liked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_slow_to_send_a_page_keeps_nobody_from_a_preview() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let slow = slow_senders(4, &place, &weir).await;
    let page = json!({"content": "<p>A weir regulates a flow.</p>"});
    weir.client.post("/api/web/preview", &page).await.has(200);
    drop(slow);
    weir.stop().await;
}

/// Each of them may fill four megabytes before it is known whether there is a place for its page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_so_many_pages_are_on_their_way_to_a_preview_and_the_next_is_told_at_once() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let slow = slow_senders(32, &place, &weir).await;
    let page = json!({"content": "<p>A weir regulates a flow.</p>"});
    let preview = || weir.client.post("/api/web/preview", &page);
    let busy = preview().await.expect(503);
    assert_eq!(busy.json()["code"], "busy");
    assert_eq!(busy.header("retry-after"), Some("1"));
    drop(slow);
    deadline::until("those who left make room", async || match preview().await {
        Answer { status: 200, .. } => Ok(()),
        busy => Err(busy),
    })
    .await;
    weir.stop().await;
}

/// It once saw a broken connection: it writes all of its page before it reads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sends_one_page_too_many_reads_that_it_is_one_whatever_its_size() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let slow = slow_senders(32, &place, &weir).await;
    let token = place.token().expect("a token");
    let address = weir.url.trim_start_matches("http://");
    // More than what lies between the two of them holds, and less than the largest body.
    let page = json!({"content": "x".repeat(4_000_000)}).to_string();
    let request = format!(
        "POST /api/web/preview HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{page}",
        page.len()
    );
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("all of it goes");
    let mut said = [0; 12];
    stream.read_exact(&mut said).await.expect("an answer");
    assert_eq!(String::from_utf8_lossy(&said), "HTTP/1.1 503");
    drop(slow);
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_sets_imports_and_explains() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let run = |arguments: &[&str]| {
        let output = place.run(&[&["web"], arguments, &["--server", &weir.url]].concat());
        let said =
            [output.stdout, output.stderr].map(|said| String::from_utf8(said).expect("UTF-8"));
        (output.status.code(), said.concat())
    };
    let words = ["--category", "wiki", "--reason", "our own"];
    let (code, said) = run(&[&["rules", "set", "allow", "Wiki.example"][..], &words].concat());
    assert!(code == Some(0) && said.contains("wiki.example is allowed"), "{said}");
    let (code, said) = run(&["why", "https://WIKI.example/x"]);
    assert!(
        code == Some(0) && said.contains("wiki.example port 443 is allowed: our own"),
        "{said}"
    );
    let (code, said) = run(&["why", "https://a@wiki.example/"]);
    assert!(code != Some(0) && said.contains("user name"), "{said}");

    let file = place.path().join("rules.jsonl");
    let rule = |n: u32| {
        json!({"pattern": format!("*.n{n}.example"), "action": "block",
        "category": "test", "reason": "imported"})
    };
    let lines: Vec<String> = (0..4_500).map(|n| rule(n).to_string()).collect();
    fs::write(&file, lines.join("\n")).expect("write the rules");
    let path = file.to_str().expect("a path");
    let (code, said) = run(&["rules", "import", path, "--yes"]);
    assert!(code == Some(0) && said.contains("4500 rules are in force, 4500 are new"), "{said}");
    let (_, said) = run(&["rules", "import", path, "--yes"]);
    assert!(said.contains("4500 rules are in force, 0 are new"), "{said}");
    let (_, said) = run(&["why", "https://a.n4499.example/"]);
    assert!(said.contains("imported") && said.contains("*.n4499.example"), "{said}");
    fs::write(&file, format!("{}\n{{\"pattern\": \"re:(\"}}", rule(9))).expect("write the rules");
    let (code, said) = run(&["rules", "import", path, "--yes"]);
    assert!(code != Some(0) && said.contains("line 2"), "{said}");

    let (code, said) = run(&["rules", "remove", "*.N9.example", "--yes"]);
    assert!(code == Some(0), "{said}");
    deadline::until("the list goes by it", async || {
        let (_, said) = run(&["rules", "list", "n9.exam"]);
        if said.contains("*.n9.example") { Err(said) } else { Ok(()) }
    })
    .await;
    assert!(run(&["rules", "list", "n99.exam"]).1.contains("*.n99.example"));
    let (code, said) = run(&["rules", "remove", "*.n9.example", "--yes"]);
    assert!(code != Some(0) && said.contains("there is no rule"), "{said}");
}
