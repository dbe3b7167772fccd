//! Kill -9 of API, worker and Postgres at random moments under load: nothing acknowledged is lost,
//! nothing is doubled, and every projection equals its replay.

use std::{
    collections::HashMap,
    fs,
    io::{BufRead, BufReader},
    process::{Child, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::json;
use weir_tests::{
    database::{TestDatabase, long},
    deadline,
    weir::{Client, Part, Place, Weir, signal},
};

/// A private cluster that heals itself, as `weir up` has it.
pub(crate) struct Cluster {
    child: Child,
    place: Place,
}

impl Cluster {
    pub(crate) fn start() -> (Self, String) {
        let place = Place::with_a_private_postgres();
        let mut command = place.command(&["postgres"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("start it");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut url).expect("its address");
        (Self { child, place }, url.trim().to_owned())
    }

    fn postmaster(&self) -> Option<u32> {
        let mut folders = vec![self.place.data_dir()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).ok()?.flatten() {
                if entry.file_name() == "postmaster.pid" {
                    let text = fs::read_to_string(entry.path()).ok()?;
                    return text.lines().next()?.parse().ok();
                }
                if entry.path().join("PG_VERSION").exists() || entry.path().join("pgdata").exists()
                {
                    folders.push(entry.path());
                }
            }
        }
        None
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        signal(self.child.id(), "TERM");
        drop(self.child.wait());
    }
}

/// Adds rules with keys of their own, and insists on each until it is acknowledged.
async fn load(client: Client, name: usize, stop: Arc<AtomicBool>) -> HashMap<String, i64> {
    let mut acknowledged = HashMap::new();
    let mut n = 0;
    while !stop.load(Ordering::SeqCst) {
        n += 1;
        let reason = format!("load {name} number {n}");
        let rule = json!({"ecosystem": "pypi", "package": format!("package-{name}"),
            "versions": format!("=={n}"), "reason": reason, "mask": "mark"});
        let position = insist(&client, &reason, &rule).await;
        acknowledged.insert(reason, position);
    }
    acknowledged
}

/// Sends a command under one key until it is acknowledged, as every client should.
async fn insist(client: &Client, key: &str, rule: &serde_json::Value) -> i64 {
    let start = std::time::Instant::now();
    let mut pause = tokio::time::interval(std::time::Duration::from_millis(20));
    loop {
        pause.tick().await;
        let key = [("idempotency-key", key)];
        let instead = match client.send("POST", "/api/rules", &key, Some(rule)).await {
            Ok(answer) => match answer.status {
                201 => return answer.position(),
                503 if answer.header("retry-after").is_none() => {
                    panic!("503 without Retry-After: {answer:?}")
                }
                409 | 503 => answer.body,
                _ => panic!("{answer:?}"),
            },
            Err(broken) => broken,
        };
        assert!(start.elapsed() < deadline::PATIENCE * 2, "never acknowledged: {instead}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_random_under_load_nothing_is_lost_doubled_or_unequal_to_its_replay() {
    let rounds = if long() { 200 } else { 50 };
    let (cluster, url) = Cluster::start();
    let mut place = Place::with_a_private_postgres();
    place.database = Some(TestDatabase { name: "weir".to_owned(), url: url.clone() });
    let migrated = place.run(&["migrate", "--database-url", &url]);
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    let mut api: Option<Weir> = Some(place.start(Part::Api).await);
    let mut worker: Option<Weir> = Some(place.start(Part::Worker).await);
    let client = api.as_ref().expect("it runs").client.clone();
    let listen = client.url().trim_start_matches("http://").to_owned();
    let stop = Arc::new(AtomicBool::new(false));
    let loads: Vec<_> =
        (0..4).map(|n| tokio::spawn(load(client.clone(), n, Arc::clone(&stop)))).collect();

    let mut counts = [0; 3];
    for round in 0..rounds {
        let before = acknowledged_so_far(&client).await;
        match rand::random::<u8>() % 3 {
            0 => {
                counts[0] += 1;
                drop(api.take());
                api = Some(place.start_at(Part::Api, &listen).await);
            }
            1 => {
                counts[1] += 1;
                drop(worker.take());
                worker = Some(place.start(Part::Worker).await);
            }
            _ => {
                counts[2] += 1;
                let pid = deadline::until("the postmaster is there", async || {
                    cluster.postmaster().ok_or("no pid file")
                })
                .await;
                signal(pid, "KILL");
            }
        }
        // Life goes on before the next blow.
        deadline::until(&format!("progress in round {round}"), async || {
            let now = acknowledged_so_far(&client).await;
            if now > before { Ok(()) } else { Err(format!("head {now:?}, was {before:?}")) }
        })
        .await;
    }
    stop.store(true, Ordering::SeqCst);
    let mut acknowledged = HashMap::new();
    for load in loads {
        acknowledged.extend(load.await.expect("the load ends"));
    }
    println!(
        "{rounds} rounds (api {}, worker {}, postgres {}), {} acknowledged",
        counts[0],
        counts[1],
        counts[2],
        acknowledged.len()
    );

    // Every acknowledged rule is one event, at the position that was told; no rule is two.
    let mut found: HashMap<String, Vec<i64>> = HashMap::new();
    let mut after = 0;
    loop {
        let path = format!("/api/events?kind=RuleAdded&after={after}&limit=1000");
        let page = client.get(&path).await.expect(200).json();
        let events = page["events"].as_array().cloned().unwrap_or_default();
        for event in &events {
            let reason = event["payload"]["rule"]["reason"].as_str().expect("a reason");
            after = event["position"].as_i64().expect("a position");
            found.entry(reason.to_owned()).or_default().push(after);
        }
        if events.is_empty() {
            break;
        }
    }
    for (reason, position) in &acknowledged {
        assert_eq!(found.get(reason), Some(&vec![*position]), "{reason}");
    }
    assert_eq!(found.len(), acknowledged.len(), "events that nobody asked for");

    let head = acknowledged.values().max().copied().expect("something was acknowledged");
    client.reaches("custom_rules", head).await;
    for projection in ["custom_rules", "block_log", "blocked_packages", "causation", "api_tokens"] {
        let checked = place.run(&["replay", projection, "--check", "--database-url", &url]);
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(checked.status.success(), "{projection}: {said}");
    }
    let verified = place.run(&["verify", "--database-url", &url]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    drop((api, worker, cluster));
}

/// The head, as far as the API can tell; `None` while it cannot.
async fn acknowledged_so_far(client: &Client) -> Option<i64> {
    let answer = client.send("GET", "/api/status", &[], None).await.ok()?;
    answer.json()["head"].as_i64()
}
