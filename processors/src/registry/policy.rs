//! The rules as this process knows them: folded from the log at the start, followed from then on,
//! so that a rule added on any instance counts here a moment later.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;
use tracing::{error, info, warn};
use weir_aggregates::{
    machine::Machine,
    registry::{Firewall, STREAM, State, rule::RuleSet},
};
use weir_events::{
    codec::CodecFault,
    envelope::Recorded,
    position::{Position, StreamVersion},
    registry::Event,
    stream::{StreamName, StreamNameFault},
};
use weir_log::{
    Log,
    database::patiently,
    lifecycle::Lifecycle,
    read::ReadFault,
    tail::{Tail, TailFault},
};

const PAGE: usize = 1_000;
const RETRY: Duration = Duration::from_millis(500);

/// The live policy of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Policy {
    known: watch::Receiver<Known>,
}

#[derive(Debug, Clone)]
enum Known {
    Rules(Arc<RuleSet>),
    Unreadable(Arc<str>),
}

/// The rules cannot be known.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFault {
    /// The log could not be read.
    #[error("could not read the rules")]
    Read(#[from] ReadFault),
    /// A rule event cannot be read by this build.
    #[error("could not read the rule event at position {position}")]
    Undecodable {
        /// Where it stands.
        position: Position,
        /// What is wrong with it.
        #[source]
        cause: CodecFault,
    },
    /// The stream of rules has no name.
    #[error(transparent)]
    Stream(#[from] StreamNameFault),
}

impl PolicyFault {
    fn passing(&self) -> bool {
        matches!(self, Self::Read(ReadFault::Database(fault)) if fault.passing())
    }
}

/// The rules cannot be applied, because one of them cannot be read by this build: nothing may pass.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the rules cannot be read by this build of Weir: {0}")]
pub struct Unreadable(pub Arc<str>);

/// The policy did not come so far in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the policy of this instance has not reached position {0} yet")]
pub struct NotThereYet(pub Position);

impl Policy {
    /// Reads the rules, and goes on following them until the process stops.
    pub async fn start(log: &Log, lifecycle: &Lifecycle) -> Result<Self, PolicyFault> {
        let follower =
            patiently(PolicyFault::passing, || async { Follower::load(log.clone()).await }).await?;
        let rules = Arc::new(follower.compile());
        info!(n_rules = rules.len(), position = rules.revision, "package rules loaded");
        let (sender, known) = watch::channel(Known::Rules(rules));
        let soft = lifecycle.soft().clone();
        lifecycle.run("registry policy", async move {
            tokio::select! {
                () = soft.cancelled() => {}
                () = follower.follow(&sender) => {}
            }
        });
        Ok(Self { known })
    }

    /// The rules of now.
    pub fn current(&self) -> Result<Arc<RuleSet>, Unreadable> {
        match &*self.known.borrow() {
            Known::Rules(rules) => Ok(Arc::clone(rules)),
            Known::Unreadable(cause) => Err(Unreadable(Arc::clone(cause))),
        }
    }

    /// Waits until a rule event counts here: for answers to those who just added a rule.
    pub async fn reaches(&self, position: Position, bound: Duration) -> Result<(), NotThereYet> {
        let mut known = self.known.clone();
        let there = known.wait_for(|known| match known {
            Known::Rules(rules) => rules.revision >= position.0,
            Known::Unreadable(_) => false,
        });
        match tokio::time::timeout(bound, there).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(NotThereYet(position)),
        }
    }

    /// A policy that a test changes by hand.
    #[cfg(test)]
    pub(crate) fn by_hand(rules: RuleSet) -> (Self, impl Fn(RuleSet)) {
        let (sender, known) = watch::channel(Known::Rules(Arc::new(rules)));
        (Self { known }, move |rules| drop(sender.send_replace(Known::Rules(Arc::new(rules)))))
    }
}

struct Follower {
    log: Log,
    stream: StreamName,
    state: State,
    revision: Position,
    tail: Tail,
}

impl Follower {
    async fn load(log: Log) -> Result<Self, PolicyFault> {
        let stream = StreamName::new(STREAM)?;
        // From before the stream is read: what comes in between is seen twice, and folded once.
        let tail = log.tail(weir_events::position::Cursor {
            incarnation: Some(log.incarnation()),
            position: log.head(),
        });
        let mut follower =
            Self { log, stream, state: State::default(), revision: Position::START, tail };
        let mut version = StreamVersion::NONE;
        loop {
            let page = follower.log.read_stream(&follower.stream, version, PAGE).await?;
            for event in &page {
                follower.fold(event)?;
                version = event.version;
            }
            if page.len() < PAGE {
                return Ok(follower);
            }
        }
    }

    fn compile(&self) -> RuleSet {
        self.state.compile(self.revision.0)
    }

    /// Folds an event; says whether it was a new one about rules.
    fn fold(&mut self, event: &Recorded) -> Result<bool, PolicyFault> {
        if event.stream != self.stream || event.position <= self.revision {
            return Ok(false);
        }
        let position = event.position;
        let fault = |cause| PolicyFault::Undecodable { position, cause };
        let event = match event.decode::<Event>() {
            Some(event) => event.map_err(fault)?,
            // A kind that this build does not know may be a rule of a newer one.
            None => return Err(fault(CodecFault::UnknownKind(event.kind.0))),
        };
        Firewall::apply(&mut self.state, &event);
        self.revision = position;
        Ok(true)
    }

    /// Follows until the log stops. What cannot be read is said to everybody: nothing passes then.
    async fn follow(mut self, known: &watch::Sender<Known>) {
        loop {
            let fault = match self.advance(known).await {
                Ok(()) => return,
                Err(fault) => fault,
            };
            if matches!(fault, PolicyFault::Undecodable { .. }) {
                error!(error = %fault, "package rules are unreadable, nothing passes");
                known.send_replace(Known::Unreadable(fault.to_string().into()));
            } else {
                warn!(error = %fault, "package rules are not followed, trying again");
            }
            self = self.reload().await;
            known.send_replace(Known::Rules(Arc::new(self.compile())));
        }
    }

    /// Loads the rules again, as often as it takes: going on from here would skip what was missed.
    async fn reload(self) -> Self {
        loop {
            tokio::time::sleep(RETRY).await;
            match Self::load(self.log.clone()).await {
                Ok(fresh) => return fresh,
                Err(fault) => warn!(error = %fault, "package rules cannot be loaded again"),
            }
        }
    }

    /// Follows as long as nothing goes wrong; ends well when the log stops.
    async fn advance(&mut self, known: &watch::Sender<Known>) -> Result<(), PolicyFault> {
        loop {
            let batch = match self.tail.next(PAGE).await {
                Ok(batch) => batch,
                Err(TailFault::Stopped) => return Ok(()),
                Err(TailFault::Read(fault)) => return Err(fault.into()),
                Err(fault @ TailFault::Resync { .. }) => {
                    // Another life of the log: its rules may be others.
                    warn!(error = %fault, "package rules are loaded again");
                    *self = Self::load(self.log.clone()).await?;
                    known.send_replace(Known::Rules(Arc::new(self.compile())));
                    continue;
                }
            };
            let mut changed = false;
            for event in &batch {
                changed |= self.fold(event)?;
            }
            if changed {
                known.send_replace(Known::Rules(Arc::new(self.compile())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_events::registry::Mask;

    use super::*;
    use crate::registry::pypi::testing::rule;

    #[tokio::test]
    async fn who_added_a_rule_can_wait_until_it_counts() {
        let (policy, set) = Policy::by_hand(RuleSet::default());
        assert!(policy.current().unwrap().is_empty());
        let waiting = policy.reaches(Position(7), Duration::from_secs(5));
        let adding = async { set(RuleSet::compile(7, &[rule(1, "six", "*", Mask::Mark)])) };
        let (reached, ()) = tokio::join!(waiting, adding);
        assert_eq!(reached, Ok(()));
        assert_eq!(policy.current().unwrap().revision, 7);
        let never = policy.reaches(Position(8), Duration::from_millis(1)).await;
        assert_eq!(never, Err(NotThereYet(Position(8))));
    }
}
