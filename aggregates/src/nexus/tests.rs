use proptest::prelude::*;

use super::*;
use crate::machine::fold;

const SECOND: u64 = 1_000_000;

fn wall(ticks_per_cycle: u32) -> Schedule {
    Schedule { pace: Pace::Wall { tick_micros: SECOND }, ticks_per_cycle }
}

const DRIVEN: Schedule = Schedule { pace: Pace::Driven, ticks_per_cycle: 10 };

fn at(second: i64) -> Context {
    Context { now: Timestamp::EPOCH.plus_seconds(1_000 + second) }
}

fn done(state: &mut State, command: &Command, context: Context) -> Decision<Event, Refusal> {
    let decision = Nexus::decide(state, command, &context);
    for event in &decision.events {
        Nexus::apply(state, event);
    }
    decision
}

fn moment(state: &State, second: i64) -> (u64, u64) {
    let Moment { cycle, tick, .. } = state.at(at(second).now);
    (cycle, tick)
}

#[test]
fn the_epoch_only_advances_and_says_why() {
    let mut state = State::default();
    let advance = |to, reason: &str| Command::Advance { to, reason: reason.to_owned() };
    let advanced = EpochAdvanced { from: 0, to: 3, reason: "rehearsed".to_owned() };
    assert_eq!(done(&mut state, &advance(3, "rehearsed"), at(0)), Decision::accept(advanced));
    assert_eq!(state.at(at(0).now).epoch, 3);
    for to in [0, 3] {
        let refused = Decision::refuse(Refusal::NotAfter { now: 3, to });
        assert_eq!(done(&mut state, &advance(to, "why not"), at(0)), refused);
    }
    for to in [3 + MAX_EPOCHS + 1, u32::MAX] {
        let refused = Decision::refuse(Refusal::TooFar { now: 3, to });
        assert_eq!(done(&mut state, &advance(to, "a slip"), at(0)), refused);
    }
    for reason in ["", "  ", "a\nb", "a\u{202e}b", &"x".repeat(MAX_REASON_CHARS + 1)] {
        let refused = Decision::refuse(Refusal::BadReason);
        assert_eq!(done(&mut state, &advance(4, reason), at(0)), refused);
    }
    assert_eq!(done(&mut state, &advance(4, &"ö".repeat(MAX_REASON_CHARS)), at(0)).refusal, None);
}

#[test]
fn a_wall_clock_counts_from_its_beginning_and_never_before_it() {
    let mut state = State::default();
    assert_eq!(moment(&state, 5), (0, 0), "nobody has set a clock");
    assert_eq!(done(&mut state, &Command::Keep(wall(10)), at(0)).refusal, None);
    let moments = [-5, 0, 9, 10, 25].map(|second| moment(&state, second));
    assert_eq!(moments, [(0, 0), (0, 0), (0, 9), (1, 10), (2, 25)]);
    assert_eq!(state.next_cycle_at(at(9).now), Some(at(10).now));
    assert_eq!(state.next_cycle_at(at(10).now), Some(at(20).now));
    assert_eq!(done(&mut state, &Command::Keep(wall(10)), at(3)), Decision::nothing());
    let refused = Decision::refuse(Refusal::NotDriven);
    assert_eq!(done(&mut state, &Command::Drive { ticks: 1 }, at(3)), refused);
}

#[test]
fn another_clock_goes_on_where_the_last_one_stood_with_a_new_cycle() {
    let mut state = State::default();
    assert_eq!(done(&mut state, &Command::Keep(wall(10)), at(0)).refusal, None);
    assert_eq!(done(&mut state, &Command::Keep(wall(5)), at(12)).refusal, None);
    assert_eq!([12, 16, 17].map(|second| moment(&state, second)), [(2, 12), (2, 16), (3, 17)]);
    assert_eq!(done(&mut state, &Command::Keep(DRIVEN), at(18)).refusal, None);
    assert_eq!([18, 99].map(|second| moment(&state, second)), [(4, 18), (4, 18)]);
    assert_eq!(state.next_cycle_at(at(18).now), None);
}

#[test]
fn a_cycle_is_announced_once_and_those_that_nobody_saw_are_skipped() {
    let mut state = State::default();
    assert_eq!(done(&mut state, &Command::Announce, at(0)), Decision::nothing(), "no clock yet");
    assert_eq!(done(&mut state, &Command::Keep(wall(10)), at(0)).refusal, None);
    let started =
        |cycle, tick, after| Decision::accept(CycleStarted { cycle, tick, epoch: 0, after });
    assert_eq!(done(&mut state, &Command::Announce, at(3)), started(0, 0, None));
    assert_eq!(done(&mut state, &Command::Announce, at(9)), Decision::nothing());
    assert_eq!(done(&mut state, &Command::Announce, at(47)), started(4, 40, Some(0)));
    assert_eq!(
        done(&mut state, &Command::Announce, at(12)),
        Decision::nothing(),
        "a clock put back"
    );
    assert_eq!(state.announced(), Some(4));
}

#[test]
fn whoever_drives_a_clock_over_a_boundary_begins_the_cycle_in_the_same_breath() {
    let mut state = State::default();
    assert_eq!(done(&mut state, &Command::Keep(DRIVEN), at(0)).refusal, None);
    assert_eq!(done(&mut state, &Command::Announce, at(0)).events.len(), 1);
    let drive = |ticks| Command::Drive { ticks };
    assert_eq!(done(&mut state, &drive(9), at(0)), Decision::accept(ClockDriven { ticks: 9 }));
    let started = CycleStarted { cycle: 1, tick: 10, epoch: 0, after: Some(0) };
    let driven = Decision::accept(ClockDriven { ticks: 1 }).recording(started);
    assert_eq!(done(&mut state, &drive(1), at(0)), driven);
    for ticks in [0, MAX_DRIVEN_TICKS + 1] {
        assert_eq!(done(&mut state, &drive(ticks), at(0)), Decision::refuse(Refusal::BadTicks));
    }
}

#[test]
fn a_clock_that_nobody_could_reckon_with_is_refused() {
    let pace = |tick_micros| Schedule { pace: Pace::Wall { tick_micros }, ticks_per_cycle: 1 };
    for schedule in [pace(999), pace(86_400_000_001), wall(0), wall(1_000_001)] {
        let refused = Decision::refuse(Refusal::BadSchedule);
        assert_eq!(done(&mut State::default(), &Command::Keep(schedule), at(0)), refused);
    }
    for schedule in [pace(1_000), pace(86_400_000_000), wall(1), wall(1_000_000)] {
        assert_eq!(done(&mut State::default(), &Command::Keep(schedule), at(0)).refusal, None);
    }
}

proptest! {
    /// Whatever is set and driven, and however the wall clock goes on: time never runs backwards, and
    /// no cycle is announced twice.
    #[test]
    fn the_world_s_time_never_runs_backwards(
        steps in prop::collection::vec((0_u8..4, 1_u32..20, 0_i64..50), 0..60),
    ) {
        let (mut state, mut second, mut last) = (State::default(), 0, Moment::default());
        let (mut announced, mut history) = (Vec::new(), Vec::new());
        for (which, n, later) in steps {
            second += later;
            let command = match which {
                0 => Command::Keep(wall(n)),
                1 => Command::Keep(Schedule { pace: Pace::Driven, ticks_per_cycle: n }),
                2 => Command::Drive { ticks: u64::from(n) },
                _ => Command::Announce,
            };
            let decision = done(&mut state, &command, at(second));
            for event in decision.events {
                if let Event::CycleStarted(started) = &event {
                    announced.push(started.cycle);
                }
                history.push(event);
            }
            let now = state.at(at(second).now);
            prop_assert!(last.tick <= now.tick && last.cycle <= now.cycle);
            last = now;
            let next = state.next_cycle_at(at(second).now);
            prop_assert!(next.is_none_or(|next| state.at(next).cycle == now.cycle + 1));
        }
        prop_assert!(announced.windows(2).all(|two| two[0] < two[1]));
        prop_assert_eq!(fold::<Nexus>(&history), state);
    }
}
