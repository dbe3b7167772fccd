//! Several instances share lists of versions in a real Redis: what one fetched serves all, is judged
//! when it is given, and forgotten when somebody says so. Nobody is believed who can write there, and
//! nobody waits for it.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::Value;
use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::advisory,
    database::TestDatabase,
    deadline::{promise, until},
    redis::{RedisServer, StallingLine},
    upstream::Index,
    weir::{Answer, Client, Part, Place, Weir},
};

const GHSA: &str = "GHSA-w31r-w31r-w31r";
const SIX: &str = "/pypi/simple/six/";
/// Where the upstream has the first of them.
const LIST: &str = "/simple/six/";
const ATTRS: &str = "/pypi/simple/attrs/";

/// A place of its own for an instance, with the log of another.
fn place(index: &Index, redis: &str, log: Option<&Place>) -> Place {
    let mut place = Place::with_a_private_postgres().upstream(&index.simple).setting(&format!(
        "server:\n  secret: \"{}\"\ncache:\n  redis:\n    url: \"{redis}\"\n    timeout: 10s\n",
        "5a".repeat(32)
    ));
    place.database = log
        .and_then(|log| log.database.as_ref())
        .map(|database| TestDatabase { name: database.name.clone(), url: database.url.clone() });
    place
}

/// What lies in a Redis, by its keys.
type Values = Vec<(String, Vec<u8>)>;

/// Two instances with nothing in common but the log and the Redis.
struct Two {
    index: Index,
    redis: RedisServer,
    places: [Place; 2],
    one: Weir,
    other: Weir,
    clients: [Client; 2],
}

impl Two {
    async fn start() -> Self {
        let (index, redis) = (Index::start().await, RedisServer::start().await);
        index.project("six", &["1.16.0", "1.17.0"]);
        index.project("attrs", &["1.0"]);
        let mut near = place(&index, &redis.url(), None);
        near.database = Some(TestDatabase::create().await);
        let far = place(&index, &redis.url(), Some(&near));
        let one = near.start(Part::Up).await;
        let other = far.start(Part::Api).await;
        let clients = [one.client.clone(), one.client.at(&other.url)];
        Self { index, redis, places: [near, far], one, other, clients }
    }
}

async fn page(client: &Client, path: &str) -> Answer {
    client.get(path).await.expect(200)
}

/// The files that a list names.
fn files(answer: &Answer) -> BTreeSet<String> {
    let words = answer.body.split(|c: char| !(c.is_ascii_alphanumeric() || "-.".contains(c)));
    words.filter(|word| word.ends_with(".tar.gz")).map(str::to_owned).collect()
}

/// How often looking for lists in Redis, or putting them there, has come to this.
async fn outcome(client: &Client, outcome: &str) -> u64 {
    let series = format!("weir_registry_redis_total{{outcome=\"{outcome}\"}} ");
    measured(client, &series).await
}

async fn measured(client: &Client, series: &str) -> u64 {
    let text = client.with_token(None).get("/metrics").await.expect(200).body;
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {series} in {text}"))
}

/// Waits until an instance has put so many lists into Redis.
async fn stored(client: &Client, n: u64) {
    until(&format!("{n} lists are shared"), async || {
        let stored = outcome(client, "stored").await;
        if stored >= n { Ok(()) } else { Err(stored) }
    })
    .await;
}

async fn is_up(client: &Client, up: bool) {
    until(&format!("Redis is up: {up}"), async || {
        let measured = measured(client, "weir_registry_redis_up ").await;
        if measured == u64::from(up) { Ok(()) } else { Err(measured) }
    })
    .await;
}

/// What `/readyz` says of Redis; the instance is ready whatever that is.
async fn told(client: &Client) -> Option<String> {
    let ready = client.get("/readyz").await.expect(200).json();
    let checks = ready["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["name"] == "redis").expect("a check of Redis");
    assert_eq!(check["ok"], true, "{check}");
    check["detail"].as_str().map(str::to_owned)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_instance_fetched_serves_all_of_them_and_whoever_starts_later() {
    let Two { index, redis, places, one, other, clients } = Two::start().await;
    let first = page(&clients[0], SIX).await;
    stored(&clients[0], 1).await;
    let second = page(&clients[1], SIX).await;
    let both = ["six-1.16.0.tar.gz", "six-1.17.0.tar.gz"].map(str::to_owned);
    assert_eq!((files(&first), files(&second)), (BTreeSet::from(both.clone()), both.into()));
    assert_eq!(first.header("etag").is_some(), second.header("etag").is_some());
    assert_eq!(index.asked(LIST), 1, "asked once for both");
    assert_eq!((outcome(&clients[1], "hit").await, outcome(&clients[1], "stored").await), (1, 0));
    assert_eq!(told(&clients[1]).await, None);
    // From memory, without looking there again.
    page(&clients[1], SIX).await;
    assert_eq!(outcome(&clients[1], "hit").await, 1);
    other.stop().await;
    let other = places[1].start(Part::Api).await;
    let again = clients[0].at(&other.url);
    page(&again, SIX).await;
    assert_eq!(index.asked(LIST), 1, "an instance that starts is warm");
    // Also where the upstream is down; and a file is judged and fetched as ever.
    one.stop().await;
    index.down(true);
    let one = places[0].start(Part::Up).await;
    assert_eq!(files(&page(&one.client, SIX).await), files(&first));
    index.down(false);
    one.client.get("/pypi/files/six/six-1.16.0.tar.gz").await.has(200);
    assert_eq!(index.asked(LIST), 1);
    let keys = redis.keys().await;
    assert_eq!(keys.len(), 2, "a list, and when it was confirmed: {keys:?}");
    assert!(keys[0].starts_with("weir:1:page:pypi:six:"), "{keys:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_advisory_bites_within_a_second_on_every_instance_also_on_a_shared_list() {
    let two = Two::start().await;
    let file = "/pypi/files/six/six-1.17.0.tar.gz";
    page(&two.clients[0], SIX).await;
    stored(&two.clients[0], 1).await;
    for client in &two.clients {
        page(client, SIX).await;
        client.get(file).await.has(200);
    }
    let (advisory, published) =
        (advisory(Ecosystem::Pypi, GHSA, "six", "1.17.0", Some("1.18.0")), Instant::now());
    two.places[0].publish(&advisory).await;
    for client in &two.clients {
        until("the file is refused", async || {
            let answer = client.get(file).await;
            if answer.status == 403 { Ok(()) } else { Err(answer.status) }
        })
        .await;
    }
    let took = published.elapsed();
    assert!(took < promise(Duration::from_secs(1)), "it took {took:?}");
    for client in &two.clients {
        let marked = page(client, SIX).await;
        assert!(marked.body.contains(GHSA), "{}", marked.body);
    }
    // Whoever takes the list out later judges it by what is known then.
    two.other.stop().await;
    let other = two.places[1].start(Part::Api).await;
    let later = two.clients[0].at(&other.url);
    assert!(page(&later, SIX).await.body.contains(GHSA));
    later.get(file).await.has(403);
    assert_eq!(two.index.asked(LIST), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purge_on_one_instance_reaches_all_and_redis_and_what_is_put_back_stays_forgotten() {
    let two = Two::start().await;
    let [one, other] = &two.clients;
    for path in [SIX, ATTRS] {
        page(one, path).await;
    }
    stored(one, 2).await;
    for path in [SIX, ATTRS] {
        page(other, path).await;
    }
    assert_eq!(two.index.asked(LIST), 1);
    let before = two.redis.all().await;
    two.index.project("six", &["1.16.0", "1.17.0", "1.18.0"]);
    let purged = one.delete("/api/cache?ecosystem=pypi&package=six").await.expect(200);
    until("the other has forgotten too", async || {
        let stats = other.get("/api/cache/stats").await.expect(200).json();
        let n = &stats["total"]["documents"]["n"];
        if *n == 1 { Ok(()) } else { Err(n.clone()) }
    })
    .await;
    let left = two.redis.keys().await;
    assert!(left.len() == 2 && left.iter().all(|key| key.contains(":attrs:")), "{left:?}");
    // Somebody with a copy puts it back: well signed, and from before.
    two.redis.put(&before).await;
    for client in &two.clients {
        assert!(page(client, SIX).await.body.contains("six-1.18.0"));
    }
    assert!(two.index.asked(LIST) >= 2, "asked anew");
    // Also for an instance that was not there when it was purged.
    two.redis.put(&before).await;
    two.other.stop().await;
    let other = two.places[1].start(Part::Api).await;
    let later = one.at(&other.url);
    assert!(page(&later, SIX).await.body.contains("six-1.18.0"));
    page(&later, ATTRS).await;
    assert_eq!(two.index.asked("/simple/attrs/"), 1, "what was not meant stays");
    assert_eq!(outcome(&later, "rejected").await, 0);
    assert!(purged.position() > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_can_write_to_redis_feeds_nobody_a_list() {
    let two = Two::start().await;
    let [one, _] = &two.clients;
    for path in [SIX, ATTRS] {
        page(one, path).await;
    }
    stored(one, 2).await;
    two.other.stop().await;
    let good = two.redis.all().await;
    let (pages, words): (Vec<_>, Vec<_>) =
        good.iter().cloned().partition(|(key, _)| key.contains(":page:"));
    assert_eq!((pages.len(), words.len()), (2, 2));
    let evil = |value: &[u8]| -> Values {
        pages.iter().map(|(key, _)| (key.clone(), value.to_vec())).collect()
    };
    let touched = |change: fn(&mut Vec<u8>)| -> Values {
        let each = pages.iter().cloned();
        each.map(|(key, mut value)| {
            change(&mut value);
            (key, value)
        })
        .collect()
    };
    let swapped = pages.iter().zip(pages.iter().rev());
    let swapped = swapped.map(|((key, _), (_, value))| (key.clone(), value.clone())).collect();
    let forgeries: [(&str, Values); 7] = [
        ("a byte is another", touched(|value| value[40] ^= 1)),
        ("the time is another", touched(|value| value[7] ^= 1)),
        ("it is cut off", touched(|value| value.truncate(value.len() - 1))),
        ("it belongs elsewhere", swapped),
        ("garbage", evil(b"garbage \xff\x00 that is long enough to be looked at")),
        ("what a list looks like", evil(br#"{"meta":{"api-version":"1.1"},"files":[]}"#)),
        ("more than anybody reads", evil(&vec![b'x'; 6 << 20])),
    ];
    for (what, forged) in forgeries {
        two.redis.put(&good).await;
        two.redis.put(&forged).await;
        let asked = two.index.asked(LIST);
        let fresh = two.places[1].start(Part::Api).await;
        let client = one.at(&fresh.url);
        let listed = page(&client, SIX).await;
        assert!(listed.body.contains("six-1.17.0") && !listed.body.contains("attrs"), "{what}");
        assert!(page(&client, ATTRS).await.body.contains("attrs-1.0"), "{what}");
        assert_eq!(two.index.asked(LIST), asked + 1, "{what}: the upstream is asked");
        assert_eq!(outcome(&client, "hit").await, 0, "{what}");
        assert_eq!(outcome(&client, "rejected").await, 2, "{what}");
        stored(&client, 2).await;
        fresh.stop().await;
    }
    let log = two.places[1].log("api");
    let n_told = log.matches("is not signed by an instance of this Weir").count();
    assert_eq!(n_told, 7, "told once a process: {log}");
    // A forged confirmation does not make an old list new, and harms nothing.
    two.redis.put(&good).await;
    let words: Vec<_> = words.into_iter().map(|(key, _)| (key, vec![7; 56])).collect();
    two.redis.put(&words).await;
    let fresh = two.places[1].start(Part::Api).await;
    let client = one.at(&fresh.url);
    assert!(page(&client, SIX).await.body.contains("six-1.17.0"));
    assert_eq!((outcome(&client, "hit").await, outcome(&client, "rejected").await), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_dies_and_comes_back_is_told_and_nobody_fails_for_it() {
    let mut two = Two::start().await;
    let [one, other] = two.clients.clone();
    page(&one, SIX).await;
    stored(&one, 1).await;
    two.redis.kill();
    page(&other, SIX).await;
    assert_eq!(two.index.asked(LIST), 2, "each asks by itself");
    for client in [&one, &other] {
        page(client, ATTRS).await;
        is_up(client, false).await;
        let told = told(client).await.expect("that it is down");
        assert!(told.contains("down since"), "{told}");
    }
    let doctor = two.places[0].run(&["doctor", "--offline", "--json"]);
    let said: Value = serde_json::from_slice(&doctor.stdout).expect("its JSON");
    let checks = said["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["what"] == "redis").expect("a check of Redis");
    assert_eq!(check["verdict"], "warn", "{check}");
    assert!(!said.to_string().contains("open-sesame"), "{said}");
    // Purged while it is down, and what it has when it comes back is not given.
    one.delete("/api/cache?all=true").await.has(200);
    two.redis.run().await;
    for client in [&one, &other] {
        is_up(client, true).await;
        assert_eq!(told(client).await, None);
    }
    let before = outcome(&one, "stored").await;
    page(&one, SIX).await;
    stored(&one, before + 1).await;
    for name in ["up", "api"] {
        let log = two.places[usize::from(name == "api")].log(name);
        for words in ["Redis is down, lists are kept", "Redis answers, lists are shared"] {
            let n = log.matches(words).count();
            let wanted = if words.contains("answers") { 2 } else { 1 };
            assert_eq!(n, wanted, "{name}: a line for each change: {words}: {log}");
        }
        assert!(!log.contains("open-sesame"), "{log}");
    }
    let doctor = two.places[0].run(&["doctor", "--offline", "--json"]);
    let said: Value = serde_json::from_slice(&doctor.stdout).expect("its JSON");
    let checks = said["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["what"] == "redis").expect("a check of Redis");
    assert_eq!(check["verdict"], "ok", "{check}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_stalls_costs_one_command_and_then_nothing() {
    const N: usize = 40;
    let (index, redis) = (Index::start().await, RedisServer::start().await);
    let line = StallingLine::to(&redis).await;
    let names: Vec<String> = (0..3 * N).map(|n| format!("p{n}")).collect();
    for name in &names {
        index.project(name, &["1.0"]);
    }
    let mut place = place(&index, &line.url(), None);
    place.database = Some(TestDatabase::create().await);
    // As long as it may take where nothing is configured.
    let bound = [("WEIR__CACHE__REDIS__TIMEOUT", "100ms")];
    let weir = place.start_with(Part::Up, "127.0.0.1:0", &bound).await;
    let each = |names: &[String]| {
        let paths: Vec<_> = names.iter().map(|name| format!("/pypi/simple/{name}/")).collect();
        let client = weir.client.clone();
        async move {
            let asked = paths.iter().map(|path| async {
                let began = Instant::now();
                page(&client, path).await;
                began.elapsed()
            });
            join_all(asked).await.into_iter().max().expect("a time")
        }
    };
    let well = each(&names[..N]).await;
    stored(&weir.client, 1).await;
    line.stall(true);
    let stalled = each(&names[N..2 * N]).await;
    is_up(&weir.client, false).await;
    let failed = outcome(&weir.client, "failed").await;
    let after = each(&names[2 * N..]).await;
    println!(
        "{N} cold lists at once, the slowest: {well:?} with Redis, {stalled:?} when it stalls, \
         {after:?} after that; {failed} commands failed"
    );
    assert!(stalled < well + promise(Duration::from_millis(400)), "{stalled:?}");
    assert!(after < well + promise(Duration::from_millis(300)), "{after:?}");
    assert_eq!(outcome(&weir.client, "failed").await, failed, "nobody waits again");
    let log = place.log("up");
    assert_eq!(log.matches("Redis is down, lists are kept").count(), 1, "{log}");
    line.stall(false);
    is_up(&weir.client, true).await;
    assert_eq!(index.asked("/simple/p0/"), 1);
}
