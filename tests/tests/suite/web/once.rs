//! Nothing is fetched or charged twice, whoever asks at the same time and whatever is killed.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::task::JoinSet;
use weir_events::web::agent_stream;
use weir_tests::{
    agent::Agent,
    deadline,
    outside::Outside,
    weir::{Answer, Client, Part},
};

use super::{
    kills::holder::{Fate, Holder},
    portal::{code, events, open, place, refused, tick},
};

/// The kind of an admission.
const SUBMITTED: u16 = 0x6000;

/// Answers as they come, each with the instance that was asked.
type Asking = JoinSet<(usize, Result<Answer, String>)>;

/// Every page once, in one breath: a request's answer, and by which of the instances.
fn ask_for(
    pages: Range<usize>,
    (agents, outside, now): (&[Agent], &Outside, u64),
) -> (Asking, Arc<Vec<AtomicUsize>>) {
    let mut asking = JoinSet::new();
    let n_answered: Arc<Vec<_>> = Arc::new(agents.iter().map(|_| AtomicUsize::default()).collect());
    for n in pages {
        let nth = n % agents.len();
        let (agent, n_answered) = (agents[nth].clone(), Arc::clone(&n_answered));
        let url = format!("{}/{n}", outside.url);
        let request = agent.sign(agent.asks(&url, &url, now));
        let body = serde_json::to_value(request).expect("JSON");
        asking.spawn(async move {
            let answer = agent.client.send("POST", "/api/web/requests", &[], Some(&body)).await;
            n_answered[nth].fetch_add(usize::from(answer.is_ok()), Ordering::SeqCst);
            (nth, answer)
        });
    }
    (asking, n_answered)
}

/// What each instance has told, and how often.
async fn told(mut asking: Asking) -> BTreeMap<(usize, String), usize> {
    let mut told = BTreeMap::new();
    while let Some(answer) = asking.join_next().await {
        let (nth, answer) = answer.expect("no panic");
        let words = match &answer {
            Ok(answer) if answer.status == 200 => "200".to_owned(),
            Ok(answer) => format!("{} {}", answer.status, code(answer).1),
            Err(_) => "broken".to_owned(),
        };
        *told.entry((nth, words)).or_default() += 1;
    }
    told
}

/// Who is within the quota is answered, who is not is told so. Somebody may find the queue full before it
/// is known that the quota is used up. Nothing else is told by an instance that lives.
fn let_through(told: &BTreeMap<(usize, String), usize>, killed: usize) -> usize {
    for ((nth, words), n) in told {
        let known = ["200", "429 portal_quota", "429 portal_rate"].contains(&words.as_str());
        assert!(known || words == "broken" && *nth == killed, "{n} times {words} from {nth}");
    }
    told.iter().filter(|((_, words), _)| words == "200").map(|(_, n)| n).sum()
}

/// All is settled: so many were admitted, and paid for, each once. Answers how many came to something.
async fn accounted(admin: &Client, agent: &Agent, n_admitted: usize) -> usize {
    deadline::within(Duration::from_mins(1), "everything is settled", async || {
        let account = agent.account(admin).await;
        if account.1 == 0 { Ok(()) } else { Err(account) }
    })
    .await;
    let submitted = events(admin, "WebRequestSubmitted").await.len();
    let completed = events(admin, "WebRequestCompleted").await.len();
    let failed = events(admin, "WebRequestFailed").await.len();
    assert_eq!((submitted, completed + failed), (n_admitted, n_admitted));
    // 2 and a tax of 1 for an answer, 1 and a tax of 1 for what the kill cut off.
    let paid = i64::try_from(completed * 3 + failed * 2).expect("a number");
    assert_eq!(agent.account(admin).await, (1_000 - paid, 0));
    let charged = events(admin, "SparkTransferred").await.len();
    assert_eq!(charged, n_admitted, "each was charged once");
    completed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_at_once_on_two_instances_and_a_kill_let_exactly_the_quota_through() {
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 100000, at_once: 100, per_host: 100").await;
    let one = place.start(Part::Up).await;
    open(&one, 3).await;
    let admin = &one.client;
    let agent = Agent::with_spark(admin, "ann", 1_000).await;
    let now = tick(admin, 1).await;
    // It begins with all of this, which one that ran would hear of a moment later.
    let two = place.start(Part::Api).await;
    let gate = outside.hold();
    let agents = [agent.clone(), agent.at(&two.url)];
    let (asking, n_answered) = ask_for(0..1_000, (&agents, &outside, now));
    deadline::until("five have left, and both instances have refused others", async || {
        let n_left = outside.n_asked();
        let n_refused: Vec<_> = n_answered.iter().map(|n| n.load(Ordering::SeqCst)).collect();
        if n_left == 5 && n_refused.iter().all(|n| *n > 0) {
            Ok(())
        } else {
            Err((n_left, n_refused))
        }
    })
    .await;
    // One instance dies while its requests wait for the outside.
    two.kill();
    gate.add_permits(1_000);
    let told = told(asking).await;
    let n_through = let_through(&told, 1);
    assert_eq!(told.values().sum::<usize>(), 1_000);
    // What the instance that was killed had not told yet it tells nobody any more.
    let of =
        |nth: usize| told.iter().filter(move |((by, words), _)| *by == nth && words != "broken");
    let n_told = [0, 1].map(|nth| of(nth).map(|(_, n)| n).sum::<usize>());
    assert!(n_told[0] == 500 && n_told[1] > 0, "{told:?}");
    let n_quota = told.get(&(0, "429 portal_quota".to_owned())).copied().unwrap_or_default();
    assert!(n_quota > 0, "{told:?}");
    let completed = accounted(admin, &agent, 5).await;
    assert_eq!(outside.n_asked(), 5, "no more than the quota left");
    assert!(n_through <= completed, "{n_through} of {completed}: {told:?}");
    one.stop().await;
}

/// What was about to be written when the kill came stands, and has its place in the quota, or is lost, and
/// has none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_in_the_middle_of_an_admission_lets_exactly_the_quota_through() {
    for (fate, n_left) in [(Fate::Lost, 5), (Fate::Lands, 4)] {
        let outside = Outside::start().await;
        let more = ", requests_per_tick: 100000, at_once: 100, per_host: 100, timeout: 2s";
        let place = place(&outside, more).await;
        let mut holder = Holder::new(place.database.as_ref().expect("a test database")).await;
        let one = place.start(Part::Up).await;
        open(&one, 3).await;
        let admin = &one.client;
        let agent = Agent::with_spark(admin, "ann", 1_000).await;
        let now = tick(admin, 1).await;
        let two = place.start(Part::Api).await;
        let stream = agent_stream(&agent.id, 0).expect("a stream");
        holder.hold_append(stream.as_str(), SUBMITTED).await;
        let (at_two, _) = ask_for(0..100, (&[agent.at(&two.url)], &outside, now));
        let backend = holder.held("an admission is about to be written").await;
        let (at_one, _) = ask_for(100..200, (std::slice::from_ref(&agent), &outside, now));
        two.kill();
        holder.release(backend, fate).await;
        let (at_one, at_two) = (told(at_one).await, told(at_two).await);
        assert_eq!(at_two, BTreeMap::from([((0, "broken".to_owned()), 100)]), "{fate:?}");
        assert_eq!(let_through(&at_one, usize::MAX), n_left, "{fate:?}: {at_one:?}");
        let completed = accounted(admin, &agent, 5).await;
        assert_eq!((outside.n_asked(), completed), (n_left, n_left), "{fate:?}");
        one.stop().await;
    }
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
