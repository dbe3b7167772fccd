//! What the read models of the gateway say of what agents did.

use std::{collections::BTreeSet, sync::Arc};

use weir_events::{
    codec::EventSet,
    nexus,
    position::Position,
    timestamp::Timestamp,
    web::{
        Event, Invalidated, PortalReportPublished, QuotaExhausted, WebCacheInvalidated,
        WebCacheStored, WebEvictionCause, WebRequestCompleted, WebRequestSubmitted,
        content::ContentFilter,
        request::{AgentId, Cost, Hash256},
    },
};
use weir_log::append::Outcome;
use weir_projections::{
    engine::{Engine, Projection},
    web::{
        cache, reports,
        request_log::{self, Filter, LeftOver, RequestState, Unsettled},
    },
};
use weir_tests::{
    database::{TestDatabase, TestLog, fresh},
    deadline::PATIENCE,
    events::facts,
    process::{Process, options},
    web::{
        agent, asked, begun, blocked, completed, evicted, expired, failed, hash, hit, shown,
        stored, submitted, too_early,
    },
};

const NAMES: [&str; 3] = ["request_log", "cache", "reports"];

fn kept() -> Vec<Arc<dyn Projection>> {
    weir_projections::all().into_iter().filter(|it| NAMES.contains(&it.name())).collect()
}

/// A log whose read models are kept.
pub(super) struct Stage {
    pub(super) database: TestDatabase,
    pub(super) log: TestLog,
    pub(super) asking: Engine,
    worker: Option<Process>,
}

impl Stage {
    pub(super) async fn new() -> Self {
        let database = TestDatabase::create().await;
        let log = database.log().await;
        let asking = Engine::new(log.log.clone(), kept(), fresh(), options());
        let mut stage = Self { database, log, asking, worker: None };
        stage.work().await;
        stage
    }

    /// From now on the read models are kept.
    pub(super) async fn work(&mut self) {
        self.worker = Some(Process::start(&self.database, kept(), options()).await);
    }

    /// From now on they stay where they are.
    pub(super) async fn rest(&mut self) {
        self.worker.take().expect("it works").stop().await;
    }

    pub(super) async fn append<E: EventSet>(&self, events: &[E]) -> Position {
        match self.log.log.append(facts("facts", events)).await.expect("append") {
            Outcome::Appended(at) => at.last,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn reached(&self, position: Position) {
        for name in NAMES {
            self.asking.wait_for(name, position, PATIENCE).await.expect("it gets there");
        }
    }

    async fn web(&self, events: &[Event]) {
        let last = self.append(events).await;
        self.reached(last).await;
    }

    async fn begin(&self, cycle: u64, after: Option<u64>) -> Position {
        let event: nexus::Event = begun(cycle, after).into();
        let last = self.append(&[event]).await;
        self.reached(last).await;
        last
    }

    async fn numbers(&self, query: &'static str) -> Vec<i64> {
        let mut tx = self.log.log.database().begin().await.expect("begin");
        let numbers = sqlx::query_scalar(query).fetch_all(&mut *tx).await.expect(query);
        tx.commit().await.expect("commit");
        numbers
    }
}

#[tokio::test]
async fn a_request_stands_in_the_log_as_it_came_and_as_it_ended() {
    let mut stage = Stage::new().await;
    let database = stage.log.log.database();
    let (ann, bob) = (agent(1), agent(2));
    let (first, second, third) = (asked(1, ann, 3), asked(2, ann, 3), asked(3, bob, 4));
    // Bob chooses the id that Ann has chosen.
    let same = weir_events::web::Asked { request: first.request, ..asked(9, bob, 4) };
    stage
        .web(&[
            submitted(&first).into(),
            completed(&first, hash(7), 2).into(),
            submitted(&second).into(),
            submitted(&third).into(),
            failed(&third, Cost::FAILED).into(),
            blocked(&same, Cost::NONE).into(),
        ])
        .await;
    let all = request_log::list(database, &Filter::default(), None, 10).await.expect("rows");
    let said: Vec<_> = all.iter().map(|row| (row.agent, row.state, row.position.0)).collect();
    let wanted = [
        (bob, RequestState::Blocked, 6),
        (bob, RequestState::Failed, 4),
        (ann, RequestState::Submitted, 3),
        (ann, RequestState::Completed, 1),
    ];
    assert_eq!(said, wanted);
    let done = &all[3];
    assert_eq!((done.status_code, done.content, done.cost), (Some(200), Some(hash(7)), Cost::GET));
    assert_eq!((done.strips_code, done.interaction.as_deref()), (Some(true), Some("rest-get")));
    assert_eq!((done.tax, done.settled, done.epoch), (1, Some(Position(2)), Some(4)));
    assert_eq!(done.filtered.as_ref().map(|it| it.code_blocks_removed), Some(2));
    assert_eq!(
        (done.host.as_str(), &done.hosts),
        ("docs1.example", &vec!["docs1.example".to_owned()])
    );
    assert_eq!(all[1].error.as_ref().map(|error| error.code), Some(0x0703));
    assert_eq!(all[0].domain.as_deref(), Some("evil.example"));
    assert_eq!(request_log::find(database, &first.request, None).await.expect("rows").len(), 2);
    let bobs = request_log::find(database, &first.request, Some(&bob)).await.expect("rows");
    assert_eq!(bobs, all[..1]);

    let of = |filter: Filter| async move {
        let rows = request_log::list(database, &filter, None, 10).await.expect("rows");
        rows.iter().map(|row| row.position.0).collect::<Vec<_>>()
    };
    assert_eq!(of(Filter { agent: Some(ann), ..Filter::default() }).await, [3, 1]);
    assert_eq!(of(Filter { cycle: Some(4), ..Filter::default() }).await, [6, 4]);
    let host = Some("docs2.example".to_owned());
    assert_eq!(of(Filter { host, ..Filter::default() }).await, [3]);
    let state = Some(RequestState::Failed);
    assert_eq!(of(Filter { state, ..Filter::default() }).await, [4]);
    let q = Some("PAGE/1".to_owned());
    assert_eq!(of(Filter { q, ..Filter::default() }).await, [1]);
    let q = Some("%".to_owned());
    assert_eq!(of(Filter { q, ..Filter::default() }).await, [0; 0]);
    let fourth = asked(4, ann, 3);
    let hit = WebRequestCompleted { cached: true, ..completed(&fourth, hash(7), 0) };
    stage.web(&[hit.into()]).await;
    assert_eq!(of(Filter { cached: Some(true), ..Filter::default() }).await, [7]);
    assert_eq!(of(Filter { cached: Some(false), ..Filter::default() }).await, [6, 4, 3, 1]);

    let late = Timestamp::from_micros(9_000_000_000_000_000);
    let open = request_log::unsettled(database, late, 10).await.expect("rows");
    let of = Unsettled { agent: ann, request: second.request, cycle: 3 };
    let (method, url) = (second.method, second.url.clone());
    assert_eq!(open, [LeftOver { of, method, url }]);
    assert_eq!(request_log::unsettled(database, Timestamp::EPOCH, 10).await.expect("rows"), []);
    stage.rest().await;
}

#[tokio::test]
async fn a_request_that_was_too_early_and_came_again_ends_as_it_ended_at_last() {
    let mut stage = Stage::new().await;
    let database = stage.log.log.database();
    let early = asked(1, agent(1), 3);
    stage.web(&[too_early(&early).into()]).await;
    stage.web(&[too_early(&early).into()]).await;
    let again = weir_events::web::Asked { cycle: 4, tick: 1_030, ..early.clone() };
    let mut admitted = facts("facts", &[Event::from(submitted(&again))]);
    let refused_at = admitted.recorded_at;
    let admitted_at = Timestamp::from_micros(refused_at.micros() + 60_000_000);
    admitted.recorded_at = admitted_at;
    match stage.log.log.append(admitted).await.expect("append") {
        Outcome::Appended(at) => stage.reached(at.last).await,
        other => panic!("{other:?}"),
    }
    // It is under way since it was admitted, not since it was refused.
    let open = async |micros| {
        let before = Timestamp::from_micros(micros);
        request_log::unsettled(database, before, 10).await.expect("rows").len()
    };
    assert_eq!(open(admitted_at.micros()).await, 0);
    assert_eq!(open(admitted_at.micros() + 1).await, 1);
    stage.web(&[completed(&again, hash(1), 0).into()]).await;
    // It counts once, in the cycle it was answered in.
    let counted = "SELECT n_requests FROM portal.cycle_totals ORDER BY cycle";
    assert_eq!(stage.numbers(counted).await, [0, 1]);
    let blocked = "SELECT n_blocked FROM portal.cycle_agents ORDER BY cycle";
    assert_eq!(stage.numbers(blocked).await, [0, 0]);
    let rows = request_log::find(database, &early.request, None).await;
    let rows = rows.expect("rows");
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.state, row.error.as_ref()), (RequestState::Completed, None));
    assert_eq!((row.cycle, row.created_at, row.position), (4, 1_030, Position(1)));
    stage.rest().await;
}

/// They were once kept for good.
#[tokio::test]
async fn who_was_too_early_is_forgotten_when_he_cannot_come_again() {
    const DAY: i64 = 24 * 3_600;
    let mut stage = Stage::new().await;
    let start = facts("facts", &[Event::from(too_early(&asked(1, agent(1), 0)))]).recorded_at;
    let begin = async |cycle: u64, seconds: i64| {
        let event = nexus::Event::from(begun(cycle, Some(cycle - 1)));
        let mut begins = facts("facts", &[event]);
        begins.recorded_at = start.plus_seconds(seconds);
        match stage.log.log.append(begins).await.expect("append") {
            Outcome::Appended(at) => stage.reached(at.last).await,
            other => panic!("{other:?}"),
        }
    };
    let early = "SELECT cycle FROM portal.early_requests ORDER BY cycle, id";
    let of = |n, cycle| Event::from(too_early(&asked(n, agent(1), cycle)));
    stage.web(&[of(1, 0), of(2, 0)]).await;
    begin(1, DAY).await;
    stage.web(&[of(3, 1)]).await;
    begin(2, 2 * DAY).await;
    // Judged in the first cycle, and on record behind its end.
    stage.web(&[of(4, 2), of(5, 0)]).await;
    begin(3, 8 * DAY - 1).await;
    assert_eq!(stage.numbers(early).await, [0, 0, 0, 1, 2], "not a moment too soon");
    // The first cycle has ended seven days ago.
    begin(4, 8 * DAY).await;
    assert_eq!(stage.numbers(early).await, [1, 2]);
    // Who comes in time is not counted twice, who comes after that is another one.
    stage.web(&[shown(&asked(3, agent(1), 4), hash(1)).into()]).await;
    stage.web(&[shown(&asked(1, agent(1), 4), hash(1)).into()]).await;
    let counted = "SELECT n_requests FROM portal.cycle_totals ORDER BY cycle";
    assert_eq!(stage.numbers(counted).await, [3, 0, 1, 0, 2]);
    begin(5, 30 * DAY).await;
    assert_eq!(stage.numbers(early).await, [0; 0]);
    let checked = stage.asking.check("reports", |_| ()).await.expect("a report");
    assert!(checked.equal(), "{checked:#?}");
    stage.rest().await;
}

#[tokio::test]
async fn addresses_of_any_length_are_kept() {
    let mut stage = Stage::new().await;
    let mut long = asked(1, agent(1), 3);
    // Incompressible, so that no index gets away with it.
    long.url = (0..125)
        .map(hash)
        .fold("https://a.example/".to_owned(), |url, hash| format!("{url}{hash}"));
    let page = stored(&long, None, hash(1));
    stage.web(&[submitted(&long).into(), page.clone().into()]).await;
    let rows = request_log::find(stage.log.log.database(), &long.request, None).await;
    assert_eq!(rows.expect("rows")[0].url, long.url);
    let purge = cache::Purge::Url(long.url);
    let found = cache::purgeable(stage.log.log.database(), &purge, 10).await.expect("rows");
    assert_eq!(found, [cache::Identity::from(&page)]);
    stage.rest().await;
}

#[tokio::test]
async fn the_cache_has_a_rendering_for_everybody_and_one_for_each_owner() {
    let mut stage = Stage::new().await;
    let database = stage.log.log.database();
    let (ann, bob) = (agent(1), agent(2));
    let page = asked(1, ann, 3);
    let (everybodys, anns) = (stored(&page, None, hash(1)), stored(&page, Some(ann), hash(2)));
    let plain = weir_events::web::WebCacheStored { variant: hash(5), ..everybodys.clone() };
    stage.web(&[everybodys.clone().into(), anns.clone().into(), plain.into()]).await;
    stage.web(&[hit(&everybodys, &page).into(), hit(&everybodys, &page).into()]).await;
    let of = |agent| async move {
        let rows = cache::find(database, &everybodys.key, &everybodys.variant, &agent).await;
        let rows = rows.expect("rows").into_iter();
        rows.map(|row| (row.content, row.n_hits)).collect::<BTreeSet<_>>()
    };
    assert_eq!(of(ann).await, BTreeSet::from([(hash(1), 2), (hash(2), 2)]));
    let everybodys = stored(&page, None, hash(1));
    let rows = cache::find(database, &everybodys.key, &everybodys.variant, &bob).await;
    let rows = rows.expect("rows");
    assert_eq!(rows.iter().map(|row| row.content).collect::<Vec<_>>(), [hash(1)]);
    assert_eq!((rows[0].created_at, rows[0].expires_at), (3, 7));

    assert_eq!(cache::n_expired(database, 6).await.expect("a number"), 0);
    assert_eq!(cache::n_expired(database, 7).await.expect("a number"), 3);
    // What was not used for longest goes first.
    let beyond = cache::beyond(database, 20, 10).await.expect("rows");
    assert_eq!(beyond.iter().map(|it| it.variant).collect::<Vec<_>>(), [hash(5)]);
    // Stored again, it begins anew.
    stage.web(&[evicted(&anns, 4).into(), stored(&page, None, hash(3)).into()]).await;
    let rows = cache::find(database, &everybodys.key, &everybodys.variant, &ann).await;
    let rows: Vec<_> = rows.expect("rows").iter().map(|row| (row.content, row.n_hits)).collect();
    assert_eq!(rows, [(hash(3), 0)]);
    let totals = cache::totals(database).await.expect("totals");
    let bytes = stage.numbers("SELECT sum(content_size)::bigint FROM portal.cache").await;
    assert_eq!((totals.n_pages, vec![totals.n_bytes.cast_signed()]), (2, bytes));
    stage.rest().await;
}

/// One event forgets them all, however the log is cut into batches; what was stored after it stays.
#[tokio::test]
async fn all_whose_time_has_come_go_at_one_word() {
    for together in [true, false] {
        let mut stage = Stage::new().await;
        let database = stage.log.log.database();
        let (old, young) = (asked(1, agent(1), 3), asked(2, agent(1), 4));
        let anns = stored(&old, Some(agent(1)), hash(2));
        let again = weir_events::web::WebCacheStored { cycle: 5, ..anns.clone() };
        let events: [Event; 7] = [
            stored(&old, None, hash(1)).into(),
            anns.into(),
            stored(&young, None, hash(3)).into(),
            expired(2, 7).into(),
            hit(&stored(&old, None, hash(1)), &old).into(),
            again.into(),
            stored(&asked(3, agent(1), 3), None, hash(4)).into(),
        ];
        if together {
            stage.web(&events).await;
        } else {
            for event in events {
                stage.web(&[event]).await;
            }
        }
        let left = stage.numbers("SELECT expires_at FROM portal.cache ORDER BY expires_at").await;
        assert_eq!(left, [7, 8, 9], "late, young, and stored again");
        let totals = cache::totals(database).await.expect("totals");
        assert_eq!((totals.n_pages, totals.n_bytes), (3, 30));
        stage.rest().await;
    }
}

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
pub(super) const RECOUNTED: [&str; 3] = [
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

/// Whatever stands in one batch: what changed takes what was stored before it, and nothing after it.
#[tokio::test]
async fn what_changed_is_gone_with_all_that_comes_from_it_however_events_are_batched() {
    let (ann, keys) = (agent(1), |keys: &[u64]| {
        let keys = keys.iter().map(|key| hash(*key)).collect();
        WebCacheInvalidated {
            pages: Invalidated::Keys(keys),
            cause: WebEvictionCause::Changed,
            cycle: 3,
        }
    });
    let page = |n: u64, also: &[u64], owner: Option<AgentId>| {
        let also = also.iter().map(|key| hash(*key)).collect();
        WebCacheStored { key: hash(n), also, ..stored(&asked(n, ann, 3), owner, hash(100 + n)) }
    };
    let events: Vec<Event> = vec![
        page(1, &[], None).into(),
        page(2, &[1, 9], None).into(),
        page(3, &[9], Some(ann)).into(),
        page(4, &[8], None).into(),
        keys(&[1]).into(),
        // Again, with something else: that is newer.
        page(2, &[9], None).into(),
        page(5, &[], None).into(),
        keys(&[5, 7]).into(),
        page(6, &[], Some(ann)).into(),
        keys(&[9]).into(),
        page(1, &[], None).into(),
    ];
    let mut found = Vec::new();
    for size in [events.len(), 1, 4, 5] {
        let mut stage = Stage::new().await;
        for batch in events.chunks(size) {
            stage.web(batch).await;
        }
        let left =
            "SELECT ('x' || lpad(encode(substr(key, 1, 6), 'hex'), 16, '0'))::bit(64)::bigint
            FROM portal.cache ORDER BY 1";
        let digests =
            "SELECT ('x' || lpad(encode(substr(digest, 1, 6), 'hex'), 16, '0'))::bit(64)::bigint
            FROM portal.cache_digests ORDER BY 1";
        let totals = "SELECT unnest(ARRAY[n_pages, n_bytes]) FROM portal.cache_totals";
        let counted = "SELECT unnest(ARRAY[count(*), sum(content_size)::bigint]) FROM portal.cache";
        assert_eq!(stage.numbers(totals).await, stage.numbers(counted).await, "{size}");
        found.push((size, stage.numbers(left).await, stage.numbers(digests).await));
        stage.rest().await;
    }
    let (_, left, digests) = &found[0];
    assert_eq!(
        (left.len(), digests.len()),
        (3, 3),
        "the first, the fourth and the sixth: {found:?}"
    );
    for (size, of, their_digests) in &found[1..] {
        assert_eq!((of, their_digests), (left, digests), "{size} at once");
    }
}
