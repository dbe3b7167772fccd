//! Requests, as they came and as they ended.

use super::*;

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
