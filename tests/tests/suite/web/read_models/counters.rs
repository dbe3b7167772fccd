//! What a cycle came to, counted and proven.

use super::*;

/// What a few agents do in a few cycles, so that everything that can happen happens.
fn busy() -> Vec<Event> {
    (0..240)
        .flat_map(|n: u64| -> Vec<Event> {
            let who = agent(u8::try_from(n % 7 * n % 5).expect("an agent"));
            let asked = asked(n, who, n / 60);
            let admitted = submitted(&asked).into();
            match n % 8 {
                0 | 1 => vec![
                    admitted,
                    completed(&asked, hash(n), u32::from(n.is_multiple_of(3))).into(),
                ],
                2 => vec![shown(&asked, hash(n)).into()],
                3 if n % 24 == 3 => vec![too_early(&asked).into(), too_early(&asked).into()],
                3 if n % 24 == 11 => {
                    // It comes again, a few requests and perhaps a cycle later.
                    let before = too_early(&weir_events::web::Asked {
                        cycle: asked.cycle.saturating_sub(n % 2),
                        ..asked.clone()
                    });
                    vec![before.into(), admitted, completed(&asked, hash(n), 0).into()]
                }
                3 => vec![blocked(&asked, Cost::NONE).into()],
                4 => vec![admitted, failed(&asked, Cost::FAILED).into()],
                5 => vec![admitted, failed(&asked, Cost::NONE).into()],
                6 => vec![admitted, blocked(&asked, Cost::FAILED).into()],
                _ if n % 16 == 7 => vec![admitted],
                _ => vec![admitted, shown(&asked, hash(n)).into()],
            }
        })
        .collect()
}

/// Counted again from the log of requests, row by row: what of it the counters do not say.
pub(in crate::web) const RECOUNTED: [&str; 3] = [
    "SELECT count(*) FROM (
        SELECT cycle, count(*) AS n, count(*) FILTER (WHERE state = 'completed') AS n_completed,
            count(*) FILTER (WHERE cached) AS n_cached, count(*) FILTER (WHERE blocked) AS n_blocked,
            count(*) FILTER (WHERE state = 'failed') AS n_failed,
            count(*) FILTER (WHERE code_blocks_removed > 0) AS n_stripped,
            sum(tick_cost) AS ticks, sum(spark_cost) AS spark, sum(tax) AS tax
        FROM portal.request_log GROUP BY cycle
        EXCEPT ALL SELECT cycle, n_requests, n_completed, n_cached, n_blocked, n_failed, n_stripped,
            ticks, spark, tax FROM portal.cycle_totals) AS wrong",
    "SELECT count(*) FROM (
        SELECT cycle, agent, count(*) AS n,
            count(*) FILTER (WHERE strips_code IS NOT NULL AND NOT cached
                AND (state IN ('submitted', 'completed') OR tick_cost > 0)) AS n_used,
            count(*) FILTER (WHERE cached) AS n_cached, count(*) FILTER (WHERE blocked) AS n_blocked,
            count(*) FILTER (WHERE state = 'failed') AS n_failed,
            sum(tick_cost) AS ticks, sum(spark_cost) AS spark, sum(tax) AS tax
        FROM portal.request_log GROUP BY cycle, agent
        EXCEPT ALL SELECT cycle, agent, n_requests, n_used, n_cached, n_blocked, n_failed, ticks,
            spark, tax FROM portal.cycle_agents) AS wrong",
    "SELECT count(*) FROM (
        SELECT cycle, host, count(*) AS n FROM (
            SELECT cycle, id, agent, unnest(hosts) AS host FROM portal.request_log
            UNION SELECT cycle, id, agent, host FROM portal.request_log WHERE cached) AS accessed
        GROUP BY cycle, host
        EXCEPT ALL SELECT cycle, host, n_requests FROM portal.cycle_hosts) AS wrong",
];

#[tokio::test]
async fn counters_are_what_a_count_of_all_requests_gives() {
    let mut stage = Stage::new().await;
    let events = busy();
    // In batches of odd sizes, so that requests begin in one and end in another.
    for part in events.chunks(7) {
        stage.append(part).await;
    }
    stage.reached(stage.log.log.head()).await;
    for recount in RECOUNTED {
        assert_eq!(stage.numbers(recount).await, [0], "{recount}");
    }
    let tables = ["cycle_totals", "cycle_agents", "cycle_hosts"];
    assert_eq!(stage.numbers("SELECT count(*) FROM portal.cycle_totals").await, [4], "{tables:?}");
    let so_far = reports::so_far(stage.log.log.database(), 2).await.expect("a report");
    assert_eq!((so_far.cycle, so_far.total_requests), (2, 60));
    assert_eq!(so_far.domains_accessed, ["docs0.example", "docs1.example", "docs2.example"]);
    let asked: Vec<_> = so_far.top_users.iter().map(|user| user.requests).collect();
    assert!(asked.is_sorted_by(|a, b| a >= b) && asked.iter().sum::<u64>() == 60, "{asked:?}");
    let nothing = reports::so_far(stage.log.log.database(), 99).await.expect("a report");
    assert_eq!((nothing.total_requests, nothing.cache_hit_rate.to_bits()), (0, 0));
    stage.rest().await;
}

#[tokio::test]
async fn an_agent_has_used_what_has_left_and_its_quota_is_the_greatest_it_was_judged_by() {
    let mut stage = Stage::new().await;
    let database = stage.log.log.database();
    let ann = agent(1);
    let quota = |n, quota| {
        let asked = asked(n, ann, 3);
        weir_events::web::WebRequestSubmitted { quota, ..submitted(&asked) }
    };
    let exhausted = QuotaExhausted { agent: ann, cycle: 3, tick: 800, used: 2, max: 2 };
    stage
        .web(&[
            quota(1, 7).into(),
            completed(&asked(1, ann, 3), hash(1), 0).into(),
            quota(2, 5).into(),
            failed(&asked(2, ann, 3), Cost::NONE).into(),
            quota(3, 5).into(),
            exhausted.into(),
            blocked(&asked(4, ann, 3), Cost::NONE).into(),
        ])
        .await;
    stage.web(&[shown(&asked(5, ann, 4), hash(1)).into()]).await;
    let rows = reports::quotas_of(database, &ann, None, 10).await.expect("rows");
    let said: Vec<_> =
        rows.iter().map(|r| (r.cycle, r.n_requests, r.n_used, r.quota, r.exhausted)).collect();
    assert_eq!(said, [(4, 1, 0, 0, false), (3, 4, 2, 7, true)]);
    let before = reports::quotas_of(database, &ann, Some(4), 10).await.expect("rows");
    assert_eq!(before, rows[1..]);
    assert_eq!(reports::quotas_in(database, 3, None, 10).await.expect("rows"), rows[1..]);
    assert_eq!(reports::quotas_in(database, 3, Some(&ann), 10).await.expect("rows"), []);
    stage.rest().await;
}

/// A report once said that a request was made, and neither what it came to nor what it cost.
#[tokio::test]
async fn a_report_waits_for_what_was_admitted_and_says_anew_what_comes_later() {
    let mut stage = Stage::new().await;
    let database = stage.log.log.database();
    let ann = agent(1);
    let of = |n, cycle| asked(n, ann, cycle);
    let done = |n, cycle| Event::from(completed(&of(n, cycle), hash(n), 0));
    let report = async |cycle| reports::find(database, cycle).await.expect("an answer");
    let said = |row: &reports::ReportRow| {
        let report = &row.report;
        (row.revision, report.total_requests, report.blocked_requests, report.total_cost.spark)
    };
    stage.web(&[submitted(&of(1, 0)).into(), submitted(&of(2, 0)).into(), done(1, 0)]).await;
    let ended_at = stage.begin(1, Some(0)).await;
    stage.web(&[submitted(&of(3, 1)).into(), shown(&of(4, 1), hash(1)).into()]).await;
    assert_eq!(report(0).await, None, "one of its requests is under way");
    stage.web(&[done(2, 0)]).await;
    let first = report(0).await.expect("a report");
    assert_eq!((said(&first), first.ended_at), ((0, 2, 0, 4), ended_at));

    // Judged before the cycle's end, and on record behind it.
    stage.web(&[blocked(&of(5, 0), Cost::NONE).into()]).await;
    let second = report(0).await.expect("a report");
    assert_eq!((said(&second), second.state_hash), ((1, 3, 1, 4), first.state_hash));
    let published = |row: &reports::ReportRow| PortalReportPublished {
        report: row.report.clone(),
        state_hash: row.state_hash,
        revision: row.revision,
    };
    // The first one is published late: the second one stands.
    stage.web(&[published(&first).into()]).await;
    assert_eq!(report(0).await.as_ref(), Some(&second));
    assert_eq!(reports::unpublished(database, 9).await.expect("rows").len(), 1);
    stage.web(&[published(&second).into()]).await;
    let proven = report(0).await.expect("a report");
    assert!(proven.published_at.is_some() && proven.report == second.report);

    // What never seems to end is not waited for for ever, and counts when it does.
    stage.begin(2, Some(1)).await;
    assert_eq!(report(1).await, None);
    stage.begin(3, Some(2)).await;
    assert_eq!(report(1).await.as_ref().map(said), Some((0, 2, 0, 0)));
    assert_eq!(report(2).await.as_ref().map(said), Some((0, 0, 0, 0)));
    stage.web(&[failed(&of(3, 1), Cost::FAILED).into()]).await;
    assert_eq!(report(1).await.as_ref().map(said), Some((1, 2, 0, 1)));
    let checked = stage.asking.check("reports", |_| ()).await.expect("a report");
    assert!(checked.equal(), "{checked:#?}");
    stage.rest().await;
}

/// What a log of these events says at the end of three cycles.
async fn hashes(events: &[Event]) -> Vec<Hash256> {
    let mut stage = Stage::new().await;
    for (cycle, part) in (1..).zip(events.chunks(events.len().div_ceil(3))) {
        stage.append(part).await;
        stage.begin(cycle, (cycle > 1).then_some(cycle - 1)).await;
    }
    // Some of them never end: they are waited for until the end of the next cycle.
    stage.begin(4, Some(3)).await;
    let rows = reports::list(stage.log.log.database(), None, 10).await.expect("rows");
    for name in NAMES {
        let report = stage.asking.check(name, |_| ()).await.expect("a report");
        assert!(report.equal(), "{name}: {report:#?}");
    }
    stage.rest().await;
    rows.iter().rev().map(|row| row.state_hash).collect()
}

#[tokio::test]
async fn the_state_hash_is_the_same_for_the_same_log_and_another_from_the_first_difference_on() {
    let mut events = busy();
    let page = asked(1, agent(1), 0);
    events.insert(0, stored(&page, None, hash(1)).into());
    let one = hashes(&events).await;
    assert_eq!(one.len(), 3);
    assert_eq!(hashes(&events).await, one);
    // One more tick, in the middle.
    let mut other = events.clone();
    let rest = &mut other[events.len() / 2..];
    let done = rest.iter_mut().find_map(|event| match event {
        Event::WebRequestCompleted(done) => Some(done),
        _ => None,
    });
    done.expect("an answer").cost.ticks += 1;
    let other = hashes(&other).await;
    assert_eq!(other[0], one[0]);
    assert!(other[1] != one[1] && other[2] != one[2], "{other:?}");
    // Another page in the cache.
    events[0] = stored(&page, None, hash(2)).into();
    let cached = hashes(&events).await;
    assert!((0..3).all(|nth| cached[nth] != one[nth]), "{cached:?}");
}

/// Ruling A38: it is the state, and not only most of it.
#[tokio::test]
async fn the_state_hash_covers_how_a_page_was_wanted_given_and_come_by() {
    let (open, answered) = (asked(1, agent(1), 0), asked(2, agent(1), 0));
    let page = stored(&answered, None, hash(1));
    let of = async |filter: ContentFilter, variant: u64, redirected: Vec<String>| {
        let done = completed(&answered, hash(1), 0);
        let events: [Event; 4] = [
            WebRequestSubmitted { filter, ..submitted(&open) }.into(),
            submitted(&answered).into(),
            WebRequestCompleted { variant: Some(hash(variant)), ..done }.into(),
            WebCacheStored { redirected, ..page.clone() }.into(),
        ];
        hashes(&events).await
    };
    let plain = ContentFilter::default();
    let mut all = BTreeSet::from([of(plain, 1, Vec::new()).await]);
    all.insert(of(ContentFilter { max_size: 65_535, ..plain }, 1, Vec::new()).await);
    all.insert(of(ContentFilter { strip_inline_code: false, ..plain }, 1, Vec::new()).await);
    all.insert(of(plain, 2, Vec::new()).await);
    all.insert(of(plain, 1, vec!["https://docs.example/".to_owned()]).await);
    assert_eq!(all.len(), 5, "{all:?}");
}

/// Ruling A34.
#[tokio::test]
async fn a_report_names_ten_agents_at_most_and_those_that_asked_as_often_by_their_ids() {
    let mut stage = Stage::new().await;
    // The last one asked most, all others once.
    let who = (1..=13).rev().chain([13]).map(agent);
    let asked = who.zip(0..).map(|(who, n)| shown(&asked(n, who, 0), hash(n)).into());
    let events: Vec<Event> = asked.collect();
    stage.web(&events).await;
    stage.begin(1, None).await;
    let database = stage.log.log.database();
    let wanted: Vec<_> = [(13, 2)].into_iter().chain((1..=9).map(|n| (n, 1))).collect();
    let so_far = reports::so_far(database, 0).await.expect("a report");
    let ended = reports::find(database, 0).await.expect("a report").expect("it has ended");
    for report in [so_far, ended.report] {
        let named = report.top_users.iter().map(|user| (user.agent, user.requests));
        let wanted = wanted.iter().map(|(n, requests)| (agent(*n), *requests));
        assert!(named.eq(wanted), "{:?}", report.top_users);
        assert_eq!(report.domains_accessed, ["docs0.example", "docs1.example", "docs2.example"]);
    }
    stage.rest().await;
}
