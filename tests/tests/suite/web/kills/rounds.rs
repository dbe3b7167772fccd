//! Kill -9 at random, under load, of one of two instances after the other.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::Value;
use weir_tests::{
    agent::Agent,
    database::long,
    deadline,
    outside::Outside,
    weir::{Client, Part},
};

use super::{
    super::portal::{advance, place, tick},
    agree, all_events, body,
};

/// Sends a request, to one instance and the other, until it has an end.
async fn insist(client: &Client, urls: &[String; 2], nth: usize, body: &Value) -> u16 {
    let start = Instant::now();
    let mut pause = tokio::time::interval(Duration::from_millis(20));
    for attempt in nth.. {
        pause.tick().await;
        let client = client.at(&urls[attempt % 2]);
        let instead = match client.send("POST", "/api/web/requests", &[], Some(body)).await {
            Ok(answer) if matches!(answer.status, 200 | 403 | 502) => return answer.status,
            Ok(answer) => answer.body,
            Err(broken) => broken,
        };
        assert!(start.elapsed() < deadline::PATIENCE * 2, "no end: {instead}");
    }
    unreachable!("it is tried for ever")
}

/// Asks for one page after another, each until it has an end, at whichever instance answers. Answers
/// what each request came to.
async fn load(
    agent: Agent,
    urls: [String; 2],
    (website, now): (String, u64),
    stop: Arc<AtomicBool>,
) -> BTreeMap<String, u16> {
    let mut ends = BTreeMap::new();
    for n in 0_usize.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let mut request = agent.asks(&format!("{} {n}", agent.id), "", now);
        let url = match n % 7 {
            3 => format!("{website}/cached"),
            5 => "https://github.com/".to_owned(),
            _ => format!("{website}/{}", request.id),
        };
        request.url = url.into_bytes().into();
        let body = body(&agent, &request);
        let status = insist(&agent.client, &urls, n, &body).await;
        ends.insert(request.id.to_string(), status);
    }
    ends
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_killed_at_random_under_load_charge_what_they_recorded() {
    let rounds = if long() { 200 } else { 50 };
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 100000, timeout: 2s").await;
    let database = place.database.as_ref().expect("a test database");
    let mut instances = [place.start(Part::Up).await, place.start(Part::Api).await].map(Some);
    let urls = [0, 1].map(|nth: usize| instances[nth].as_ref().expect("it runs").url.clone());
    let admin = instances[0].as_ref().expect("it runs").client.clone();
    // So that nobody's quota is used up.
    // A quota that nobody reaches; an epoch advances by 100 at most.
    for epoch in (100..=2_000).step_by(100) {
        advance(&admin, epoch).await;
    }
    let now = tick(&admin, 1).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut agents = Vec::new();
    let mut loads = Vec::new();
    for name in ["ann", "bob", "cyd", "dan", "eve", "fay"] {
        let agent = Agent::with_spark(&admin, name, 1_000_000).await;
        agents.push(agent.clone());
        let asking = load(agent, urls.clone(), (outside.url.clone(), now), Arc::clone(&stop));
        loads.push(tokio::spawn(asking));
    }
    for round in 0..rounds {
        let before = outside.n_asked();
        deadline::until(&format!("progress in round {round}"), async || {
            let now = outside.n_asked();
            if now > before + 3 { Ok(()) } else { Err(now) }
        })
        .await;
        // Not in step with anything.
        let jitter = Duration::from_micros(u64::from(rand::random::<u16>()));
        tokio::time::timeout(jitter, std::future::pending::<()>()).await.expect_err("jitter");
        let nth = usize::from(rand::random::<bool>());
        drop(instances[nth].take());
        let listen = urls[nth].trim_start_matches("http://");
        let part = [Part::Up, Part::Api][nth];
        instances[nth] = Some(place.start_at(part, listen).await);
    }
    stop.store(true, Ordering::SeqCst);
    let mut told = BTreeMap::new();
    for load in loads {
        told.extend(load.await.expect("the load ends"));
    }
    for agent in &agents {
        deadline::within(Duration::from_mins(1), "all is settled", async || {
            let account = agent.account(&admin).await;
            if account.1 == 0 { Ok(()) } else { Err(account) }
        })
        .await;
    }
    accounted(&admin, &agents, &outside, &told).await;
    agree(&place, database, &admin).await;
    println!("{rounds} rounds, {} requests, {} fetches", told.len(), outside.n_asked());
    drop(instances);
}

/// From the log alone: each request has one end, each that was admitted paid what its end says, once.
async fn accounted(
    admin: &Client,
    agents: &[Agent],
    outside: &Outside,
    told: &BTreeMap<String, u16>,
) {
    let text = |event: &Value, key: &str| {
        event["payload"]["asked"][key].as_str().expect("asked").to_owned()
    };
    let number = |value: &Value| value.as_i64().expect("a number");
    let submitted = all_events(admin, "WebRequestSubmitted").await;
    let admitted: BTreeSet<String> = submitted.iter().map(|it| text(it, "request")).collect();
    assert_eq!(admitted.len(), submitted.len(), "admitted twice");
    let (mut ends, mut owed) = (BTreeMap::new(), BTreeMap::<String, i64>::new());
    for (kind, status) in
        [("WebRequestCompleted", 200), ("WebRequestFailed", 502), ("WebRequestBlocked", 403)]
    {
        for event in all_events(admin, kind).await {
            let payload = &event["payload"];
            let before = ends.insert(text(&event, "request"), status);
            assert_eq!(before, None, "two ends: {event}");
            *owed.entry(text(&event, "agent")).or_default() +=
                number(&payload["cost"]["spark"]) + number(&payload["tax"]);
        }
    }
    assert_eq!(&ends, told, "each agent was told what is on record");
    assert!(admitted.iter().all(|request| ends.contains_key(request)));
    let (mut transfers, mut paid) = (BTreeSet::new(), BTreeMap::<String, i64>::new());
    for event in all_events(admin, "SparkTransferred").await {
        let payload = &event["payload"];
        let transfer = payload["transfer"].as_str().expect("a transfer").to_owned();
        assert!(transfers.insert(transfer), "charged twice: {event}");
        let from = payload["from"].as_str().expect("an account").to_owned();
        *paid.entry(from).or_default() += number(&payload["amount"]) + number(&payload["tax"]);
    }
    assert_eq!(paid, owed);
    for agent in agents {
        assert_eq!(agent.account(admin).await, (1_000_000 - paid[&agent.id.to_string()], 0));
    }
    for request in told.keys() {
        let hits = outside.asked(&format!("/{request}"));
        assert!(hits <= usize::from(admitted.contains(request)), "{request}: {hits}");
    }
}
