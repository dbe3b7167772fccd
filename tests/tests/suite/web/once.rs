//! Nothing is fetched or charged twice, whoever asks at the same time and whatever is killed.

use std::time::Duration;

use serde_json::Value;
use weir_tests::{
    agent::Agent,
    deadline,
    outside::Outside,
    weir::{Answer, Client, Part},
};

use super::portal::{code, events, open, place, refused, tick};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_at_once_on_two_instances_and_a_kill_let_exactly_the_quota_through() {
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 100000, at_once: 100, per_host: 100").await;
    let one = place.start(Part::Up).await;
    let two = place.start(Part::Api).await;
    open(&one, 3).await;
    let agent = Agent::with_spark(&one.client, "ann", 1_000).await;
    let now = tick(&one.client, 1).await;
    let gate = outside.hold();
    let (first, second) = (agent.client.clone(), agent.client.at(&two.url));
    let mut asking = tokio::task::JoinSet::new();
    for n in 0..1_000 {
        let client = if n % 2 == 0 { first.clone() } else { second.clone() };
        let url = format!("{}/{n}", outside.url);
        let request = agent.sign(agent.asks(&url, &url, now));
        asking.spawn(async move {
            let body = serde_json::to_value(request).expect("JSON");
            client.send("POST", "/api/web/requests", &[], Some(&body)).await
        });
    }
    deadline::until("five have left", async || match outside.n_asked() {
        5 => Ok(()),
        n => Err(n),
    })
    .await;
    // One instance dies while its requests wait for the outside.
    two.kill();
    gate.add_permits(1_000);
    let mut statuses = Vec::new();
    while let Some(answer) = asking.join_next().await {
        statuses.push(answer.expect("no panic").map_or(0, |answer| answer.status));
    }
    let admin = &one.client;
    deadline::within(Duration::from_mins(1), "everything is settled", async || {
        let account = agent.account(admin).await;
        if account.1 == 0 { Ok(()) } else { Err(account) }
    })
    .await;
    assert_eq!(outside.n_asked(), 5, "no more than the quota left");
    let submitted = events(admin, "WebRequestSubmitted").await.len();
    let completed = events(admin, "WebRequestCompleted").await.len();
    let failed = events(admin, "WebRequestFailed").await.len();
    assert_eq!((submitted, completed + failed), (5, 5), "{statuses:?}");
    let n_through = statuses.iter().filter(|status| **status == 200).count();
    assert!(n_through <= completed, "{n_through} of {completed}");
    // 2 and a tax of 1 for an answer, 1 and a tax of 1 for what the kill cut off.
    let paid = i64::try_from(completed * 3 + failed * 2).expect("a number");
    assert_eq!(agent.account(admin).await, (1_000 - paid, 0));
    assert_eq!(events(admin, "SparkTransferred").await.len(), 5, "each was charged once");
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_kill_cuts_off_is_settled_after_the_restart() {
    let outside = Outside::start().await;
    let place = place(&outside, ", timeout: 1s").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 3).await;
    let agent = Agent::with_spark(&weir.client, "ann", 100).await;
    let now = tick(&weir.client, 1).await;
    outside.hold();
    let url = format!("{}/slow", outside.url);
    let request = agent.sign(agent.asks("cut", &url, now));
    let body = serde_json::to_value(&request).expect("JSON");
    let client = agent.client.clone();
    let sent = body.clone();
    let asking =
        tokio::spawn(
            async move { client.send("POST", "/api/web/requests", &[], Some(&sent)).await },
        );
    deadline::until("it has left", async || match outside.n_asked() {
        1 => Ok(()),
        n => Err(n),
    })
    .await;
    weir.kill();
    assert!(asking.await.expect("no panic").is_err());
    outside.release();
    let weir = place.start(Part::Up).await;
    deadline::within(Duration::from_mins(1), "it is settled", async || {
        let account = agent.account(&weir.client).await;
        if account == (98, 0) { Ok(()) } else { Err(account) }
    })
    .await;
    assert_eq!(events(&weir.client, "WebRequestFailed").await.len(), 1);
    // Asked again, it has the answer it has: nothing leaves, nothing is charged.
    let agent = agent.at(&weir.url);
    let answer = agent.client.post("/api/web/requests", &body).await;
    assert_eq!(code(&answer), refused(502, "portal_failed"));
    assert_eq!((outside.n_asked(), agent.account(&weir.client).await), (1, (98, 0)));
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_again_gets_its_first_answer() {
    let outside = Outside::start().await;
    let place = place(&outside, "").await;
    let one = place.start(Part::Up).await;
    let two = place.start(Part::Api).await;
    open(&one, 3).await;
    let agent = Agent::with_spark(&one.client, "ann", 100).await;
    let now = tick(&one.client, 1).await;
    let url = format!("{}/once", outside.url);
    let gate = outside.hold();
    let request = agent.asks("once", &url, now);
    let elsewhere = agent.at(&two.url);
    // At the same time, here and on another instance.
    let asks = [&agent, &agent, &elsewhere, &elsewhere].map(|from| from.send(request.clone()));
    let release = async {
        deadline::until("it has left", async || match outside.n_asked() {
            0 => Err(0),
            n => Ok(n),
        })
        .await;
        gate.add_permits(10);
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(asks), release);
    let answers: Vec<Value> = answers.into_iter().map(|answer| answer.expect(200).json()).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    // And later.
    assert_eq!(elsewhere.send(request.clone()).await.expect(200).json(), answers[0]);
    assert_eq!((outside.n_asked(), agent.account(&one.client).await), (1, (97, 0)));
    // Another request under the same id is a mistake.
    let other = agent.asks("once", &format!("{}/other", outside.url), now);
    assert_eq!(code(&agent.send(other).await), refused(422, "portal_invalid"));
    // A refusal is an answer too.
    let blocked = agent.asks("blocked", "https://github.com/", now + 1);
    tick(&one.client, 1).await;
    let first = agent.send(blocked.clone()).await;
    assert_eq!(code(&first), refused(403, "portal_domain_blocked"));
    let again = elsewhere.send(blocked).await;
    assert_eq!((code(&again), &again.json()["detail"]), (code(&first), &first.json()["detail"]));
    assert_eq!(events(&one.client, "WebRequestBlocked").await.len(), 1);
    two.stop().await;
    one.stop().await;
}

/// So many agents with spark, whose tokens and keys are known by now: to look all of them up at once takes
/// longer than anybody waits.
async fn agents(admin: &Client, n: usize, spark: u64) -> Vec<Agent> {
    let mut agents = Vec::new();
    for n in 0..n {
        let agent = Agent::with_spark(admin, &format!("agent {n}"), spark).await;
        agent.get(&format!("known {n}"), "https://github.com/", 0).await.has(403);
        agents.push(agent);
    }
    agents
}

/// Every agent asks for the same, once under each seed.
fn crowd<'a>(
    agents: &'a [Agent],
    seeds: &'a [String],
    url: &'a str,
    now: u64,
) -> impl Iterator<Item = impl Future<Output = Answer> + 'a> + 'a {
    agents.iter().flat_map(move |agent| seeds.iter().map(move |seed| agent.get(seed, url, now)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_who_want_the_same_wait_for_one_fetch() {
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 1000, timeout: 2m").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 3).await;
    let admin = &weir.client;
    let agents = agents(admin, 40, 100).await;
    let now = tick(admin, 1).await;
    let gate = outside.hold();
    let url = format!("{}/popular", outside.url);
    let seeds: Vec<String> = (0..5).map(|n| format!("ask {n}")).collect();
    let asks = crowd(&agents, &seeds, &url, now);
    let release = async {
        deadline::until("all are admitted", async || {
            let n = events(admin, "WebRequestSubmitted").await.len();
            if n == 200 { Ok(()) } else { Err(n) }
        })
        .await;
        gate.add_permits(1_000);
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(asks), release);
    let answers: Vec<Value> = answers.into_iter().map(|answer| answer.expect(200).json()).collect();
    assert_eq!(outside.n_asked(), 1, "one fetch for all");
    let cached = answers.iter().filter(|answer| answer["cached"] == true).count();
    assert_eq!(cached, 199, "who waited pays for a hit");
    let mut paid = 0;
    for agent in &agents {
        paid += 100 - agent.account(admin).await.0;
    }
    assert_eq!(paid, 3);
    weir.stop().await;
}

/// Some come while it is fetched, some while it is stored, and some when it is in the cache.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whenever_a_crowd_comes_it_has_a_page_fetched_once() {
    const ROUNDS: usize = 8;
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 1000").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 20).await;
    let admin = &weir.client;
    let agents = agents(admin, 20, 100).await;
    let now = tick(admin, 1).await;
    for round in 0..ROUNDS {
        let url = format!("{}/crowd/{round}", outside.url);
        let seeds: Vec<String> = (0..5).map(|n| format!("{round} {n}")).collect();
        let answers = futures_util::future::join_all(crowd(&agents, &seeds, &url, now)).await;
        let answers: Vec<Value> = answers.into_iter().map(|it| it.expect(200).json()).collect();
        assert!(answers.iter().all(|it| it["content"] == answers[0]["content"]), "{answers:?}");
        let paid = answers.iter().filter(|it| it["cached"] == false).count();
        assert_eq!((outside.n_asked(), paid), (round + 1, 1), "round {round}");
    }
    weir.stop().await;
}

/// What was known of a page before, that it has expired or was purged, once had it fetched twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_has_the_same_page_fetched_once_more_when_it_is_over_and_when_it_was_purged() {
    const ROUNDS: usize = 8;
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 1000, cache: {ttl: 1}").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 40).await;
    let admin = &weir.client;
    let agents = agents(admin, 20, 200).await;
    let (url, witness) = (format!("{}/crowd", outside.url), format!("{}/witness", outside.url));
    let mut now = tick(admin, 1).await;
    for round in 0..ROUNDS {
        match round {
            0 => {}
            // The next cycle: it has expired.
            n if n % 2 == 0 => now = tick(admin, 100).await,
            n => {
                // The page first: when the other one is known to be gone, so is this.
                agents[0].get(&format!("witness {n}"), &witness, now).await.has(200);
                for gone in [&url, &witness] {
                    purged(admin, gone).await;
                }
                let mut looks = 0;
                deadline::until("it is known that both are gone", async || {
                    looks += 1;
                    let seed = format!("witness {n}, look {looks}");
                    let page = agents[0].get(&seed, &witness, now).await.expect(200).json();
                    if page["cached"] == false { Ok(()) } else { Err(page) }
                })
                .await;
            }
        }
        let seeds: Vec<String> = (0..3).map(|n| format!("{round} {n}")).collect();
        let answers = futures_util::future::join_all(crowd(&agents, &seeds, &url, now)).await;
        let answers: Vec<Value> = answers.into_iter().map(|it| it.expect(200).json()).collect();
        let paid = answers.iter().filter(|it| it["cached"] == false).count();
        assert_eq!((outside.asked("/crowd"), paid), (round + 1, 1), "round {round}");
    }
    weir.stop().await;
}

/// Has a page forgotten that is cached.
async fn purged(admin: &Client, url: &str) {
    let head = admin.get("/api/nexus").await.position();
    admin.reaches("cache", head).await;
    let purged = admin.delete(&format!("/api/web/cache?url={url}")).await.expect(200).json();
    assert_eq!(purged["n_pages"], 1, "{purged}");
}
