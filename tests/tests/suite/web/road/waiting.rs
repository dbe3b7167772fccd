//! Who waits for whom, how long a pause is, and what becomes of a request whose sender left.

use std::time::Duration;

use weir_tests::{deadline, outside::Page};

use super::{Road, code, refused};

/// Who waited for another one's page, which was not for him, was once sent away where his queue was full.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_was_let_in_without_a_seat_waits_for_one() {
    let road = Road::start(", at_once: 2, timeout: 1m").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let session = Page::html("<p>You are signed in.</p>").with("set-cookie", "sid=1");
    road.outside.put("/session", session);
    let now = road.tick(1).await;
    let (gate, url) = (road.outside.hold(), road.at("/session"));
    let urls: Vec<String> = (0..40).map(|n| road.at(&format!("/{n}"))).collect();
    let anns = async {
        road.asked("/session", 1).await;
        // Hers needs no seat: it waits for bob's. Then all her seats are taken.
        let waits = async { ann.get("session", &url, now).await };
        let others = async {
            road.admitted(2).await;
            futures_util::future::join_all(urls.iter().map(|url| ann.get(url, url, now))).await
        };
        tokio::join!(waits, others)
    };
    let bobs = async {
        let answer = bob.get("session", &url, now).await;
        // She has been sent away by now, or waits for a seat.
        gate.add_permits(1_000);
        answer
    };
    let release = async {
        // Two at once, and 32 who wait.
        road.admitted(2 + 34).await;
        gate.add_permits(1);
    };
    let ((hers, others), his, ()) = tokio::join!(anns, bobs, release);
    his.has(200);
    assert_eq!(hers.expect(200).json()["cached"], false);
    let sent_away = others.iter().filter(|it| code(it) == refused(429, "portal_rate")).count();
    assert_eq!((sent_away, road.outside.asked("/session")), (40 - 34, 2));
    road.weir.stop().await;
}

/// What was fetched once is rendered once, stored once, and a hit for all who waited; also a failure.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_the_same_shares_an_answer_of_any_status() {
    let road = Road::start(", timeout: 1m").await;
    road.outside.put("/broken", Page { status: 500, ..Page::html("<p>It broke.</p>") });
    let mut agents = Vec::new();
    for n in 0..20 {
        agents.push(road.agent(&format!("agent {n}")).await);
    }
    let now = road.tick(1).await;
    let mut n_before = 0;
    for (path, n_stored) in [("/broken", 0), ("/whole", 1)] {
        let gate = road.outside.hold();
        let url = road.at(path);
        let asks = agents.iter().map(|agent| agent.get(path, &url, now));
        let release = async {
            road.admitted(n_before + 20).await;
            gate.add_permits(100);
        };
        let (answers, ()) = tokio::join!(futures_util::future::join_all(asks), release);
        let mut n_cached = 0;
        for answer in answers {
            n_cached += usize::from(answer.expect(200).json()["cached"] == true);
        }
        assert_eq!((road.outside.asked(path), n_cached), (1, 19), "{path}");
        assert_eq!(road.events("WebCacheStored").await.len(), n_stored, "{path}");
        n_before += 20;
        assert_eq!(road.events("WebCacheHit").await.len(), n_before / 20 * 19, "{path}");
    }
    road.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_finds_the_queue_full_may_come_again_under_the_same_id() {
    let road = Road::start(", at_once: 1, timeout: 1m").await;
    let ann = road.agent("ann").await;
    let now = road.tick(1).await;
    let gate = road.outside.hold();
    let urls: Vec<String> = (0..40).map(|n| road.at(&format!("/{n}"))).collect();
    let asks = urls.iter().map(|url| ann.get(url, url, now));
    let release = async {
        // One is under way, and 32 wait.
        road.admitted(33).await;
        deadline::until("the others are refused", async || {
            let n = road.events("WebRequestBlocked").await.len();
            if n == 7 { Ok(()) } else { Err(n) }
        })
        .await;
        gate.add_permits(1_000);
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(asks), release);
    let full: Vec<usize> = (0..40).filter(|n| answers[*n].status != 200).collect();
    assert_eq!(full.len(), 7);
    let spent = ann.account(road.admin()).await;
    assert_eq!(spent, (1_000 - 33 * 3, 0), "nothing is reserved for who is refused");
    for n in full {
        assert_eq!(code(&answers[n]), refused(429, "portal_rate"));
        ann.get(&urls[n], &urls[n], now).await.has(200);
    }
    assert_eq!(road.outside.n_asked(), 40);
    road.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_wants_to_be_left_alone_is_not_reserved_for() {
    let road = Road::under("nexus: {tick: 1h}\n", "allow", ", signature_window: 60").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let busy = Page { status: 503, ..Page::html("<p>Not now.</p>") };
    road.outside.put("/busy", busy.with("retry-after", "3000"));
    let now = road.now().await;
    ann.get("cached", &road.at("/a"), now).await.has(200);
    ann.get("busy", &road.at("/busy"), now).await.has(200);
    let early = bob.get("early", &road.at("/b"), now).await;
    assert_eq!(code(&early), refused(429, "portal_rate"));
    assert_eq!(early.header("retry-after"), Some("3600"), "a tick is an hour");
    assert_eq!(bob.account(road.admin()).await, (1_000, 0));
    assert_eq!(road.events("WebRequestSubmitted").await.len(), 2);
    // What is cached is answered: nothing leaves for it.
    let cached = bob.get("hit", &road.at("/a"), now).await.expect(200).json();
    assert_eq!(cached["cached"], true);
    road.weir.stop().await;
}

/// The first refusal of a new cycle once ended the pause, and the next pause began at one tick.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_outlives_its_cycle_and_the_next_one_is_longer() {
    let nexus = "nexus: {clock: driven, ticks_per_cycle: 5}\n";
    let road = Road::under(nexus, "allow", "").await;
    let ann = road.agent("ann").await;
    let busy = Page { status: 429, ..Page::html("<p>Too many requests for today.</p>") };
    road.outside.put("/busy", busy);
    let mut now = road.tick(1).await;
    for (n, pause) in [(2, 1), (3, 2), (4, 4), (5, 8), (6, 16), (7, 16)] {
        // Each time another host, for hosts are left alone by the clock on the wall.
        let there = road.outside.also_at(&format!("127.0.0.{n}")).await;
        let page = ann.get(&format!("busy {n}"), &format!("{there}/busy"), now).await;
        assert_eq!(page.expect(200).json()["status"], 429);
        for early in 0..=pause {
            for turn in ["first", "second"] {
                let seed = format!("early {n} {early} {turn}");
                let answer = ann.get(&seed, &road.at("/a"), now).await;
                assert_eq!(code(&answer), refused(429, "portal_rate"), "{seed}");
            }
            now = road.tick(1).await;
        }
    }
    ann.get("late", &road.at("/a"), now).await.has(200);
    road.weir.stop().await;
}

/// Between the judgement and the work nobody once looked after a request but the one who had sent it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_hangs_up_the_request_goes_on() {
    let road = Road::start("").await;
    let ann = road.agent("ann").await;
    let now = road.tick(1).await;
    for n in 0..60 {
        let url = road.at(&format!("/{n}"));
        let asking = ann.get(&url, &url, now);
        drop(tokio::time::timeout(Duration::from_millis(n), asking).await);
    }
    // One that waits for its answer is admitted after all of them.
    ann.get("last", &road.at("/last"), now).await.has(200);
    deadline::until("all are answered", async || {
        let admitted = road.events("WebRequestSubmitted").await.len();
        let answered = road.events("WebRequestCompleted").await.len();
        if admitted == answered { Ok(()) } else { Err((admitted, answered)) }
    })
    .await;
    assert!(road.events("WebRequestFailed").await.is_empty());
    road.weir.stop().await;
}
