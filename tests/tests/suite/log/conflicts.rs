//! Expected versions: the database is the authority, and what a process remembers only saves work.

use weir_events::position::{Position, StreamVersion};
use weir_log::append::{Append, AppendFault, Outcome};
use weir_tests::{
    database::TestDatabase,
    events::{allowed, at_version, facts},
};

#[tokio::test]
async fn of_twenty_appends_of_one_version_exactly_one_succeeds_on_two_instances() {
    let database = TestDatabase::create().await;
    let instances = [database.log().await, database.log().await];
    let rivals: Vec<_> = (0..20)
        .map(|n| {
            let log = instances[n % 2].log.clone();
            tokio::spawn(async move { log.append(at_version("one", 0, &[allowed(1)])).await })
        })
        .collect();
    let mut n_appended = 0;
    for rival in rivals {
        match rival.await.expect("a rival ends").expect("an answer") {
            Outcome::Appended(_) => n_appended += 1,
            Outcome::Conflict { actual, .. } => assert_eq!(actual, StreamVersion(1)),
            Outcome::Duplicate(_) => panic!("nobody sent a key"),
        }
    }
    assert_eq!(n_appended, 1);
}

#[tokio::test]
async fn an_instance_whose_memory_is_stale_is_refused() {
    let database = TestDatabase::create().await;
    let (stale, other) = (database.log().await, database.log().await);
    stale.log.append(at_version("s", 0, &[allowed(1)])).await.expect("append");
    other.log.append(at_version("s", 1, &[allowed(2)])).await.expect("append");
    // Its memory says version 1, and so does the caller: only the database knows better.
    let outcome = stale.log.append(at_version("s", 1, &[allowed(3)])).await.expect("an answer");
    assert!(
        matches!(outcome, Outcome::Conflict { actual: StreamVersion(2), .. }),
        "a stale writer was let through: {outcome:?}"
    );
    let head = stale.log.ask_head().await.expect("the head").position;
    assert_eq!(head, Position(2), "nothing was written for it");
}

#[tokio::test]
async fn what_a_conflict_told_is_not_held_against_who_has_read_on_since() {
    let database = TestDatabase::create().await;
    let (behind, ahead) = (database.log().await, database.log().await);
    behind.log.append(at_version("s", 0, &[allowed(1)])).await.expect("append");
    ahead.log.append(at_version("s", 1, &[allowed(2)])).await.expect("append");
    let refused = behind.log.append(at_version("s", 1, &[allowed(3)])).await.expect("an answer");
    assert!(matches!(refused, Outcome::Conflict { .. }), "{refused:?}");
    ahead.log.append(at_version("s", 2, &[allowed(4)])).await.expect("append");
    let outcome = behind.log.append(at_version("s", 3, &[allowed(5)])).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Appended(_)), "{outcome:?}");
}

#[tokio::test]
async fn one_conflict_never_fails_its_neighbours_in_the_batch() {
    let database = TestDatabase::create().await;
    let (log, other) = (database.log().await, database.log().await);
    other.log.append(at_version("taken", 0, &[allowed(1)])).await.expect("append");
    let appends: Vec<_> = (0..50)
        .map(|n| {
            let log = log.log.clone();
            let append = if n % 10 == 0 {
                at_version("taken", 0, &[allowed(n)])
            } else {
                at_version(&format!("free/{n}"), 0, &[allowed(n)])
            };
            tokio::spawn(async move { (n, log.append(append).await) })
        })
        .collect();
    for append in appends {
        let (n, outcome) = append.await.expect("it ends");
        let conflict = matches!(outcome, Ok(Outcome::Conflict { .. }));
        assert_eq!(conflict, n % 10 == 0, "{n}: {outcome:?}");
    }
}

#[tokio::test]
async fn several_streams_go_together_or_not_at_all() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    log.log.append(at_version("b", 0, &[allowed(1)])).await.expect("append");
    let both = |a, b| Append {
        writes: [at_version("a", a, &[allowed(2)]), at_version("b", b, &[allowed(3)])]
            .into_iter()
            .flat_map(|append| append.writes)
            .collect(),
        ..at_version("unused", 0, &[allowed(0)])
    };
    let refused = log.log.append(both(0, 0)).await.expect("an answer");
    assert!(matches!(&refused, Outcome::Conflict { stream, .. } if stream.as_str() == "b"));
    let a = log.log.read_stream(&weir_tests::events::stream("a"), StreamVersion::NONE, 10).await;
    assert_eq!(a.expect("read").len(), 0, "half of a refused append was written");
    let done = log.log.append(both(0, 1)).await.expect("an answer");
    let Outcome::Appended(at) = done else { panic!("{done:?}") };
    assert_eq!(at.versions, [StreamVersion(1), StreamVersion(2)]);
    assert_eq!((at.first, at.last), (Position(2), Position(3)));
}

#[tokio::test]
async fn what_breaks_a_bound_is_refused_before_it_reaches_the_database() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let mut huge = facts("f", &[allowed(1)]);
    huge.writes[0].events[0].payload = vec![0; 300 << 10].into();
    let mut empty = facts("f", &[allowed(1)]);
    empty.writes[0].events.clear();
    let mut twice = facts("f", &[allowed(1)]);
    twice.writes.push(twice.writes[0].clone());
    let many = facts("f", &(0..1_001).map(allowed).collect::<Vec<_>>());
    for (what, append) in [("huge", huge), ("empty", empty), ("twice", twice), ("many", many)] {
        let refused = log.log.append(append).await.expect_err(what);
        assert!(matches!(refused, AppendFault::Invalid(_)), "{what}: {refused}");
    }
    assert_eq!(log.log.ask_head().await.expect("the head").position, Position::START);
}

#[tokio::test]
async fn an_archived_stream_takes_no_more_events() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    log.log.append(facts("old", &[allowed(1)])).await.expect("append");
    sqlx::query("UPDATE log.streams SET archived = true WHERE name = 'old'")
        .execute(&mut database.intruder().await)
        .await
        .expect("archive it");
    let refused = log.log.append(facts("old", &[allowed(2)])).await.expect_err("it is archived");
    assert!(matches!(refused, AppendFault::Archived(_)), "{refused}");
}

#[tokio::test]
async fn an_archived_stream_fails_the_appends_that_name_it_and_not_their_neighbours() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    log.log.append(facts("old", &[allowed(1)])).await.expect("append");
    sqlx::query("UPDATE log.streams SET archived = true WHERE name = 'old'")
        .execute(&mut database.intruder().await)
        .await
        .expect("archive it");
    // First with a stream the writer has never seen, then with streams it knows: two ways through
    // the database.
    for round in 2..4 {
        let both = {
            let mut both = facts("live", &[allowed(round)]);
            both.writes.extend(facts("old", &[allowed(round)]).writes);
            both
        };
        // Handed over before the writer has its turn: one batch.
        let (alone, beside, both) = tokio::join!(
            log.log.append(facts("old", &[allowed(round)])),
            log.log.append(facts("live", &[allowed(round)])),
            log.log.append(both),
        );
        for refused in [alone, both] {
            let refused = refused.expect_err("it is archived");
            let named = matches!(&refused, AppendFault::Archived(name) if name.as_str() == "old");
            assert!(named, "round {round}: {refused}");
        }
        let beside = beside.expect("it has nothing to do with the archived one");
        assert!(matches!(beside, Outcome::Appended(_)), "round {round}: {beside:?}");
    }
    assert_eq!(log.log.ask_head().await.expect("the head").position, Position(3));
}
