//! Events that cannot be applied stand apart, alone, with their error.

use weir_events::position::Position;
use weir_projections::engine::{
    EngineFault, PoisonPolicy,
    rebuild::{ReplayEnd, ReplayOptions},
    status::State,
    wait::WaitFault,
};
use weir_tests::{deadline::PATIENCE, readmodels::Keeper};

use super::Stage;

async fn parked(stage: &Stage) -> Vec<i64> {
    let letters = stage.asking.dead_letters("keeper", Position::START, 1_000).await;
    letters.expect("the dead letters").iter().map(|letter| letter.position.0).collect()
}

#[tokio::test]
async fn a_poison_event_is_parked_with_its_error_and_the_projection_goes_on() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    keeper.poison([Position(5), Position(400)]);
    let worker = stage.worker(&keeper).await;
    stage.is_live().await;
    let last = stage.append(1_000).await;
    stage.reaches("keeper", last).await;
    stage.keeps((1..=last.0).filter(|p| *p != 5 && *p != 400)).await;
    let letters = stage.asking.dead_letters("keeper", Position(5), 10).await.expect("a list");
    let [letter] = &letters[..] else { panic!("{letters:?}") };
    assert_eq!(letter.actor, "pekko://weir/system/projections/keeper");
    assert_eq!((letter.position, letter.attempts), (Position(400), 3));
    assert_eq!((letter.stream.as_str(), letter.kind.name()), ("facts", "PackageBlocked".into()));
    assert_eq!(letter.error, "position 400 is bad");
    assert_eq!(stage.status().await.dead_letters, 2);
    worker.stop().await;
}

#[tokio::test]
async fn what_a_deferred_constraint_says_of_an_event_parks_that_event_alone() {
    let keeper = Keeper::default().late();
    let stage = Stage::with(&keeper).await;
    keeper.poison([Position(5)]);
    let worker = stage.worker(&keeper).await;
    stage.is_live().await;
    let last = stage.append(10).await;
    stage.reaches("keeper", last).await;
    stage.keeps((1..=last.0).filter(|p| *p != 5)).await;
    assert_eq!(parked(&stage).await, [5]);
    worker.stop().await;
}

#[tokio::test]
async fn more_poison_than_one_batch_may_park_is_parked_all_the_same() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    keeper.poison((101..=400).map(Position));
    let last = stage.append(1_500).await;
    let worker = stage.worker(&keeper).await;
    stage.reaches("keeper", last).await;
    stage.keeps((1..=100).chain(401..=last.0)).await;
    assert_eq!(parked(&stage).await, (101..=400).collect::<Vec<_>>());
    worker.stop().await;
}

#[tokio::test]
async fn where_the_policy_says_so_it_halts_before_the_event_and_a_replay_heals_it() {
    let keeper = Keeper::default().policy(PoisonPolicy::Halt);
    let stage = Stage::with(&keeper).await;
    let worker = stage.worker(&keeper).await;
    stage.is_live().await;
    keeper.poison([Position(7)]);
    let last = stage.append(10).await;
    let halted = stage.asking.wait_for("keeper", last, PATIENCE).await;
    assert!(matches!(halted, Err(WaitFault::Halted { position: Position(6), .. })), "{halted:?}");
    let status = stage.status().await;
    assert_eq!((status.state, status.lag_events), (State::Halted, 4));
    assert_eq!(status.halted_by.as_deref(), Some("position 7: position 7 is bad"));
    stage.keeps(1..=6).await;
    assert_eq!(parked(&stage).await, Vec::<i64>::new());

    // The same in a rebuild, which stands still and leaves the live build alone.
    let replay = stage.asking.replay("keeper", ReplayOptions::default()).await.expect("asked");
    let end = stage.asking.follow_replay("keeper", replay.build, |_| ()).await.expect("an end");
    assert_eq!(end, ReplayEnd::Halted("position 7: position 7 is bad".to_owned()));
    stage.keeps(1..=6).await;

    keeper.poison([]);
    let again = stage.asking.replay("keeper", ReplayOptions::default()).await.expect("asked");
    assert_eq!((again.build, again.resumed), (replay.build, true));
    let end = stage.asking.follow_replay("keeper", again.build, |_| ()).await.expect("an end");
    assert_eq!(end, ReplayEnd::Swapped);
    let last = stage.append(5).await;
    stage.reaches("keeper", last).await;
    stage.keeps(1..=15).await;
    assert_eq!(stage.status().await.state, State::Live);
    worker.stop().await;
}

#[tokio::test]
async fn a_dead_letter_is_redelivered_once_and_stays_when_it_fails_again() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    keeper.poison([Position(3)]);
    let worker = stage.worker(&keeper).await;
    let last = stage.append(10).await;
    stage.reaches("keeper", last).await;
    assert_eq!(parked(&stage).await, [3]);

    let failed = stage.asking.redeliver("keeper", Position(3)).await;
    let still = matches!(&failed, Err(EngineFault::Poison { error, .. }) if error.contains("bad"));
    assert!(still, "{failed:?}");
    let letters = stage.asking.dead_letters("keeper", Position::START, 10).await.expect("a list");
    assert_eq!(letters[0].attempts, 4);
    stage.keeps((1..=10).filter(|p| *p != 3)).await;

    keeper.poison([]);
    // Twice at once: one of them does it.
    let (one, two) = tokio::join!(
        stage.asking.redeliver("keeper", Position(3)),
        stage.asking.redeliver("keeper", Position(3)),
    );
    assert_eq!([&one, &two].iter().filter(|done| done.is_ok()).count(), 1, "{one:?} {two:?}");
    stage.keeps(1..=10).await;
    let gone = stage.asking.redeliver("keeper", Position(3)).await;
    assert!(matches!(gone, Err(EngineFault::NotParked { .. })), "{gone:?}");
    worker.stop().await;
}

#[tokio::test]
async fn poison_met_in_a_rebuild_belongs_to_the_new_build() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    keeper.poison([Position(3)]);
    let worker = stage.worker(&keeper).await;
    let last = stage.append(10).await;
    stage.reaches("keeper", last).await;
    keeper.poison([Position(8)]);
    let replay = stage.asking.replay("keeper", ReplayOptions::default()).await.expect("asked");
    stage.asking.follow_replay("keeper", replay.build, |_| ()).await.expect("an end");
    stage.keeps((1..=10).filter(|p| *p != 8)).await;
    assert_eq!(parked(&stage).await, [8]);
    worker.stop().await;
}
