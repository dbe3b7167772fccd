//! Operators' commands reach whoever holds the lease through the log, and count once.

use std::time::Duration;

use weir_events::{
    log::{DeadLetterRedelivered, Event, ReplayCancelled, ReplayRequested},
    position::Position,
};
use weir_log::append::Outcome as Appended;
use weir_projections::engine::{operations::Outcome, rebuild::ReplayEnd};
use weir_tests::{deadline::PATIENCE, events::facts, readmodels::Keeper};

use super::Stage;

async fn command(stage: &Stage, event: impl Into<Event>) -> Position {
    let append = facts("log/projections/keeper", &[event.into()]);
    match stage.log.log.append(append).await.expect("append") {
        Appended::Appended(at) => at.last,
        other => panic!("{other:?}"),
    }
}

fn replay() -> ReplayRequested {
    ReplayRequested { projection: "keeper".to_owned(), from: Position::START }
}

async fn outcome(stage: &Stage, at: Position) -> Option<Outcome> {
    stage.asking.await_operation("keeper", at, PATIENCE).await.expect("an answer")
}

#[tokio::test]
async fn a_replay_requested_through_the_log_is_made_once_even_if_every_worker_is_new() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let worker = stage.worker(&keeper).await;
    stage.append(50).await;
    stage.is_live().await;
    let asked = command(&stage, replay()).await;
    let Some(Outcome::Done { build: Some(build) }) = outcome(&stage, asked).await else {
        panic!("the replay was not begun");
    };
    let end = stage.asking.follow_replay("keeper", build, |_| ()).await.expect("an end");
    assert_eq!(end, ReplayEnd::Swapped);
    worker.kill();

    let next = stage.worker(&keeper).await;
    let last = stage.append(1).await;
    stage.reaches("keeper", last).await;
    // A command that is handled after it shows that the old one was looked at and left alone.
    let cancel = ReplayCancelled { projection: "keeper".to_owned() };
    let later = command(&stage, cancel).await;
    let refused = outcome(&stage, later).await;
    assert!(
        matches!(&refused, Some(Outcome::Refused(why)) if why.contains("no replay")),
        "{refused:?}"
    );
    let newest = stage.numbers("SELECT max(id) FROM projections.builds").await;
    assert_eq!(newest, [build], "the replay was made again");
    stage.reaches("keeper", later).await;
    stage.keeps(1..=later.0).await;
    next.stop().await;
}

#[tokio::test]
async fn a_dead_letter_redelivered_through_the_log_counts_once() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    keeper.poison([Position(3)]);
    let worker = stage.worker(&keeper).await;
    let last = stage.append(10).await;
    stage.reaches("keeper", last).await;
    let redeliver =
        || DeadLetterRedelivered { projection: "keeper".to_owned(), position: Position(3) };
    let first = command(&stage, redeliver()).await;
    let failed = outcome(&stage, first).await;
    assert_eq!(failed, Some(Outcome::Refused("position 3 is bad".to_owned())));
    keeper.poison([]);
    let second = command(&stage, redeliver()).await;
    assert_eq!(outcome(&stage, second).await, Some(Outcome::Done { build: None }));
    stage.reaches("keeper", second).await;
    stage.keeps(1..=second.0).await;
    worker.stop().await;
}

#[tokio::test]
async fn a_command_nobody_can_handle_yet_is_handled_by_the_next_worker() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    stage.append(10).await;
    let asked = command(&stage, replay()).await;
    let short = Duration::from_millis(100);
    let unheard = stage.asking.await_operation("keeper", asked, short).await.expect("an answer");
    assert_eq!(unheard, None);
    let worker = stage.worker(&keeper).await;
    assert!(matches!(outcome(&stage, asked).await, Some(Outcome::Done { .. })));
    stage.reaches("keeper", asked).await;
    stage.keeps(1..=asked.0).await;
    worker.stop().await;
}
