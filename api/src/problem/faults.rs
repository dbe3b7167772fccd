//! Accidents as problems. Here is where they are handled, so here is where they are logged, with
//! their whole chain; the document tells the caller what to do, not how we are built.

use std::{error::Error, fmt::Write as _};

use tracing::{error, warn};
use weir_events::codec::CodecFault;
use weir_log::{append::AppendFault, database::DatabaseFault, read::ReadFault};
use weir_processors::{
    access::Denied,
    door::{DoorFault, ExecuteFault},
};
use weir_projections::{
    engine::{EngineFault, wait::WaitFault},
    query::QueryFault,
};

use super::{
    Problem,
    table::{
        BAD_TOKEN, BUSY, CONTENDED, DATABASE_AWAY, IDEMPOTENCY_KEY_REUSED, INTERNAL, LOCKED_OUT,
        LOG_DAMAGED, NO_REPLAY, NO_SUCH_DEAD_LETTER, NO_SUCH_PROJECTION, NOT_BUILT, NOT_REACHED,
        OPERATION_REFUSED, OUTCOME_UNKNOWN, PROJECTION_HALTED, REFUSED_BEFORE, REPLAY_RUNNING,
    },
};

/// A fault and everything behind it, in one line.
pub(crate) fn chain(fault: &dyn Error) -> String {
    let mut line = fault.to_string();
    let mut cause = fault.source();
    while let Some(deeper) = cause {
        // Writing to a string does not fail.
        let _infallible = write!(line, ": {deeper}");
        cause = deeper.source();
    }
    line
}

impl Problem {
    /// Something that must not happen did. Logged with its chain, told without.
    pub(crate) fn internal(fault: &dyn Error) -> Self {
        error!(error = chain(fault), "a request came to nothing");
        Self::new(&INTERNAL, "something broke inside; the server's log says more")
    }

    /// The database is away.
    pub(crate) fn away(fault: &dyn Error) -> Self {
        warn!(error = chain(fault), "a request came to nothing, the database does not answer");
        Self::new(&DATABASE_AWAY, "the database does not answer; try again in a moment")
            .retry_after(1)
    }
}

impl From<DatabaseFault> for Problem {
    fn from(fault: DatabaseFault) -> Self {
        if fault.passing() { Self::away(&fault) } else { Self::internal(&fault) }
    }
}

impl From<ReadFault> for Problem {
    fn from(fault: ReadFault) -> Self {
        match fault {
            ReadFault::Database(fault) => fault.into(),
            ReadFault::Hole { .. } | ReadFault::Malformed { .. } => {
                error!(error = %fault, "the log is damaged");
                Self::new(&LOG_DAMAGED, format!("{fault}; run `weir verify`"))
            }
        }
    }
}

impl From<AppendFault> for Problem {
    fn from(fault: AppendFault) -> Self {
        match &fault {
            AppendFault::Busy => {
                Self::new(&BUSY, "too many commands are waiting to be written").retry_after(1)
            }
            AppendFault::Unavailable(_) => Self::away(&fault),
            AppendFault::Unknown(_) => {
                warn!(error = %fault, "a command's outcome is unknown");
                let detail = "repeat it with the same Idempotency-Key to learn what became of it";
                Self::new(&OUTCOME_UNKNOWN, detail).retry_after(1)
            }
            AppendFault::Invalid(_) | AppendFault::Archived(_) => Self::internal(&fault),
        }
    }
}

impl From<CodecFault> for Problem {
    fn from(fault: CodecFault) -> Self {
        Self::internal(&fault)
    }
}

impl From<DoorFault> for Problem {
    fn from(fault: DoorFault) -> Self {
        match fault {
            DoorFault::Read(fault) => fault.into(),
            DoorFault::Append(fault) => fault.into(),
            DoorFault::Codec(fault) => fault.into(),
            DoorFault::Contended(_) => Self::new(&CONTENDED, fault.to_string()).retry_after(1),
        }
    }
}

impl<R> From<ExecuteFault<R>> for Problem
where
    R: Error + Into<Self> + 'static,
{
    fn from(fault: ExecuteFault<R>) -> Self {
        match fault {
            ExecuteFault::Refused(refusal) => refusal.into(),
            ExecuteFault::RefusedBefore(words) => Self::new(&REFUSED_BEFORE, words),
            ExecuteFault::KeyReused => Self::new(
                &IDEMPOTENCY_KEY_REUSED,
                "this key came before with another request; use a fresh one",
            ),
            ExecuteFault::Fault(fault) => fault.into(),
        }
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Bad => Self::new(&BAD_TOKEN, denied.to_string()),
            Denied::LockedOut { retry_after } => {
                let seconds = retry_after.as_secs().max(1);
                Self::new(&LOCKED_OUT, format!("{denied}; try again in {seconds} s"))
                    .retry_after(seconds)
            }
            Denied::Busy => Self::new(&BUSY, denied.to_string()).retry_after(1),
            Denied::Fault(fault) => fault.into(),
        }
    }
}

impl From<WaitFault> for Problem {
    fn from(fault: WaitFault) -> Self {
        let words = fault.to_string();
        match fault {
            WaitFault::Unknown(_) => Self::new(&NO_SUCH_PROJECTION, words),
            WaitFault::TimedOut { .. } => Self::new(&NOT_REACHED, words).retry_after(1),
            WaitFault::Halted { .. } => Self::new(&PROJECTION_HALTED, words).retry_after(30),
            WaitFault::Database(fault) => fault.into(),
        }
    }
}

impl From<QueryFault> for Problem {
    fn from(fault: QueryFault) -> Self {
        match fault {
            QueryFault::NotBuilt(_) => Self::new(&NOT_BUILT, fault.to_string()).retry_after(5),
            QueryFault::Database(fault) => fault.into(),
        }
    }
}

impl From<EngineFault> for Problem {
    fn from(fault: EngineFault) -> Self {
        let words = fault.to_string();
        match fault {
            EngineFault::Unknown(_) => Self::new(&NO_SUCH_PROJECTION, words),
            EngineFault::NotBuilt(_) => Self::new(&NOT_BUILT, words).retry_after(5),
            EngineFault::Replaying { .. } => Self::new(&REPLAY_RUNNING, words),
            EngineFault::NotReplaying(_) => Self::new(&NO_REPLAY, words),
            EngineFault::NotParked { .. } => Self::new(&NO_SUCH_DEAD_LETTER, words),
            EngineFault::Poison { .. } | EngineFault::Interrupted(_) => {
                Self::new(&OPERATION_REFUSED, words)
            }
            EngineFault::Read(fault) => fault.into(),
            EngineFault::Database(fault) => fault.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use weir_events::position::Position;

    use super::*;

    fn away() -> DatabaseFault {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        DatabaseFault::of("read secrets")(refused.into())
    }

    #[derive(Debug, thiserror::Error)]
    #[error("no")]
    struct No;

    impl From<No> for Problem {
        fn from(no: No) -> Self {
            Self::new(&crate::problem::table::RULE_REFUSED, no.to_string())
        }
    }

    #[test]
    fn every_accident_has_its_own_code_and_says_when_to_come_back() {
        let hole = ReadFault::Hole { last: Position(3), found: Position(5) };
        let reused: ExecuteFault<No> = ExecuteFault::KeyReused;
        let lockout = Denied::LockedOut { retry_after: Duration::from_secs(290) };
        let told: Vec<String> = [
            Problem::from(away()),
            hole.into(),
            AppendFault::Busy.into(),
            AppendFault::Unavailable("connection refused".to_owned()).into(),
            AppendFault::Unknown("broken pipe".to_owned()).into(),
            AppendFault::Invalid("too large".to_owned()).into(),
            reused.into(),
            ExecuteFault::Refused(No).into(),
            ExecuteFault::<No>::RefusedBefore("no".to_owned()).into(),
            Denied::Bad.into(),
            Denied::Busy.into(),
            lockout.into(),
            WaitFault::Unknown("x".to_owned()).into(),
            WaitFault::Halted { name: "x".to_owned(), position: Position(4) }.into(),
            QueryFault::NotBuilt("registry.block_log").into(),
            EngineFault::NotReplaying("x".to_owned()).into(),
            EngineFault::Replaying { name: "x".to_owned(), build: 7 }.into(),
        ]
        .iter()
        .map(|problem| {
            let (code, retry) = (problem.kind().code, problem.retry_after_seconds());
            format!("{} {code} {retry:?}: {}", problem.status().as_u16(), problem.detail())
        })
        .collect();
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn what_broke_is_not_told_to_strangers() {
        let problem = Problem::from(away());
        assert!(!problem.detail().contains("secrets"), "{}", problem.detail());
        assert!(chain(&away()).contains("connection refused"), "{}", chain(&away()));
    }
}
