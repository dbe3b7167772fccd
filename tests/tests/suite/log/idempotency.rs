//! One key, one effect, one answer: on any instance, at any time.

use std::sync::Arc;

use weir_aggregates::access::{Binding, Command, Grantor, Standing, Token};
use weir_events::{access::TokenIssued, position::Position};
use weir_log::idempotency::CommandKey;
use weir_processors::{
    caller::Caller,
    clock::SystemClock,
    door::{Door, ExecuteFault, IdempotencyKey},
};
use weir_tests::{
    database::{TestDatabase, TestLog},
    events::stream,
};

fn issue(name: &str) -> Command {
    let token = TokenIssued {
        token_id: "0123456789abcdef".to_owned(),
        name: name.to_owned(),
        scopes: vec!["admin".to_owned()],
        expires_at: None,
        profile: None,
        agent: None,
    };
    Command::Issue {
        token: Box::new(token),
        by: Grantor::admin(),
        binding: Binding::Stricter,
        standing: Standing::Nobody,
    }
}

fn door(log: &TestLog) -> Door {
    Door::new(log.log.clone(), Arc::new(SystemClock))
}

fn key(request: u8) -> IdempotencyKey {
    IdempotencyKey { key: CommandKey::of("somebody", "one"), request_hash: [request; 32] }
}

#[tokio::test]
async fn twenty_equal_commands_at_once_on_two_instances_are_one_event_and_twenty_equal_answers() {
    let database = TestDatabase::create().await;
    let logs = [database.log().await, database.log().await];
    let doors = logs.each_ref().map(door);
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let door = doors[n % 2].clone();
            tokio::spawn(async move {
                let caller = Caller::principal("somebody", "somebody");
                door.execute::<Token>(
                    &stream("access/token/one"),
                    &issue("ci"),
                    &caller,
                    Some(key(1)),
                )
                .await
            })
        })
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        let answer = call.await.expect("a call ends").expect("an answer");
        answers.push((answer.position, answer.events, answer.replayed));
    }
    let first = answers[0].clone();
    assert!(answers.iter().all(|a| (a.0, &a.1) == (first.0, &first.1)), "{answers:#?}");
    assert_eq!(answers.iter().filter(|a| !a.2).count(), 1, "one is the first");
    assert_eq!(logs[0].log.ask_head().await.expect("the head").position, Position(1));
}

#[tokio::test]
async fn the_same_key_with_another_request_is_refused_and_without_a_key_the_command_is_judged() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let (door, caller) = (door(&log), Caller::principal("somebody", "somebody"));
    let token = stream("access/token/one");
    door.execute::<Token>(&token, &issue("ci"), &caller, Some(key(1))).await.expect("issued");
    let other = door.execute::<Token>(&token, &issue("other"), &caller, Some(key(2))).await;
    assert!(matches!(other, Err(ExecuteFault::KeyReused)), "{other:?}");
    let again = door.execute::<Token>(&token, &issue("ci"), &caller, None).await;
    assert!(matches!(again, Err(ExecuteFault::Refused(_))), "{again:?}");
}

#[tokio::test]
async fn facts_recorded_once_are_recorded_once_whoever_does_it() {
    let database = TestDatabase::create().await;
    let logs = [database.log().await, database.log().await];
    let doors = logs.each_ref().map(door);
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let door = doors[n % 2].clone();
            tokio::spawn(async move {
                let caller = Caller::processor("registry");
                let key = CommandKey::of("registry", "six at revision 1");
                let facts = [weir_tests::events::allowed(1)];
                door.record_once(stream("facts"), &facts, &caller, key).await.expect("an answer")
            })
        })
        .collect();
    let mut n_recorded = 0;
    for call in calls {
        n_recorded += usize::from(call.await.expect("a call ends").is_some());
    }
    assert_eq!(n_recorded, 1);
}

#[tokio::test]
async fn old_commands_are_forgotten_however_many_and_younger_ones_are_kept() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let fill = "INSERT INTO log.commands
        (key, request_hash, answer, first_position, n_events, recorded_at)
        SELECT sha256(int4send(n)), sha256(''), '', n, 1,
            now() - CASE WHEN n <= 25000 THEN interval '8 days' ELSE interval '6 days' END
        FROM generate_series(1, 25010) n";
    let mut tx = log.log.database().begin().await.expect("begin");
    sqlx::query(fill).execute(&mut *tx).await.expect("fill");
    tx.commit().await.expect("commit");
    let forgotten = weir_log::partition::forget_old_commands(&log.log, 7).await.expect("forget");
    assert_eq!(forgotten, 25_000);
    let mut tx = log.log.database().begin().await.expect("begin");
    let kept: Vec<i64> = sqlx::query_scalar("SELECT first_position FROM log.commands ORDER BY 1")
        .fetch_all(&mut *tx)
        .await
        .expect("look");
    assert_eq!(kept, (25_001..=25_010).collect::<Vec<i64>>());
}
