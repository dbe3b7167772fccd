//! Operators' commands on one projection. Stream `log/projections/<name>`.

use weir_events::{
    kind::Subsystem,
    log::{DeadLetterRedelivered, Event, ReplayCancelled, ReplayRequested},
    position::Position,
};

use crate::machine::{Context, Decision, Machine};

/// The machine of one projection's operations.
#[derive(Debug)]
pub struct Operations;

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Rebuild the read model beside the live one.
    Replay {
        /// The projection.
        projection: String,
        /// Rebuild from after this position.
        from: Position,
        /// Where the log's head is.
        head: Position,
    },
    /// Call the rebuild off.
    CancelReplay {
        /// The projection.
        projection: String,
    },
    /// Hand a parked event to its projection once more.
    Redeliver {
        /// The projection.
        projection: String,
        /// The position of the event.
        position: Position,
    },
}

/// Why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The start lies outside the log.
    #[error("position {from} is not in the log, whose head is {head}")]
    NotInTheLog {
        /// The start asked for.
        from: Position,
        /// The head of the log.
        head: Position,
    },
}

impl Machine for Operations {
    type State = ();
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Log;

    fn decide((): &(), command: &Command, _: &Context) -> Decision<Event, Refusal> {
        match command {
            &Command::Replay { from, head, .. } if from < Position::START || from > head => {
                Decision::refuse(Refusal::NotInTheLog { from, head })
            }
            Command::Replay { projection, from, .. } => {
                Decision::accept(ReplayRequested { projection: projection.clone(), from: *from })
            }
            Command::CancelReplay { projection } => {
                Decision::accept(ReplayCancelled { projection: projection.clone() })
            }
            Command::Redeliver { projection, position } => {
                let (projection, position) = (projection.clone(), *position);
                Decision::accept(DeadLetterRedelivered { projection, position })
            }
        }
    }

    fn apply((): &mut (), _: &Event) {}
}

#[cfg(test)]
mod tests {
    use weir_events::timestamp::Timestamp;

    use super::*;

    const NOW: Context = Context { now: Timestamp::EPOCH };

    #[test]
    fn a_replay_starts_inside_the_log() {
        let replay = |from, head| Command::Replay {
            projection: "block_log".to_owned(),
            from: Position(from),
            head: Position(head),
        };
        for (from, head) in [(-1, 3), (4, 3)] {
            let refused = Operations::decide(&(), &replay(from, head), &NOW);
            assert!(refused.refusal.is_some(), "{from} of {head}");
        }
        for (from, head) in [(0, 3), (3, 3)] {
            let wanted =
                ReplayRequested { projection: "block_log".to_owned(), from: Position(from) };
            assert_eq!(
                Operations::decide(&(), &replay(from, head), &NOW),
                Decision::accept(wanted)
            );
        }
    }

    #[test]
    fn what_an_operator_does_is_on_record() {
        let projection = "block_log".to_owned();
        let redelivered =
            DeadLetterRedelivered { projection: projection.clone(), position: Position(7) };
        let redeliver =
            Command::Redeliver { projection: projection.clone(), position: Position(7) };
        assert_eq!(Operations::decide(&(), &redeliver, &NOW), Decision::accept(redelivered));
        let cancelled = ReplayCancelled { projection: projection.clone() };
        let cancel = Command::CancelReplay { projection };
        assert_eq!(Operations::decide(&(), &cancel, &NOW), Decision::accept(cancelled));
    }
}
