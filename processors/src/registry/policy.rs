//! What is gone by, as this process knows it: folded from the log at the start, followed from then on,
//! so that a rule added on any instance, or an advisory that a source published, counts here a moment
//! later.

mod streams;

use std::{
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
    time::Duration,
};

use tokio::sync::watch;
use tracing::info;
use weir_aggregates::registry::{dossier::Dossier, facts::Facts, hold};
use weir_events::{position::Position, registry::Ecosystem, timestamp::Timestamp};
use weir_log::{Log, database::patiently, lifecycle::Lifecycle};

use crate::{
    caller::Caller,
    follower::{FollowFault, Follower},
};

/// The live policy of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Policy {
    shared: Arc<Shared>,
    known: watch::Receiver<Known>,
}

/// What the policy and who follows the log for it share.
#[derive(Debug)]
struct Shared {
    facts: RwLock<Facts>,
    known: watch::Sender<Known>,
}

/// How far the policy came.
#[derive(Debug, Clone)]
enum Known {
    Upto(Position),
    Unreadable(Arc<str>),
}

/// The policy cannot be applied, because this build cannot read all of it: nothing may pass.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the rules cannot be read by this build of Weir: {0}")]
pub struct Unreadable(pub Arc<str>);

/// The policy did not come so far in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the policy of this instance has not reached position {0} yet")]
pub struct NotThereYet(pub Position);

impl Policy {
    /// Reads the policy, and goes on following it until the process stops.
    pub async fn start(log: &Log, lifecycle: &Lifecycle) -> Result<Self, FollowFault> {
        let (follower, facts) =
            patiently(FollowFault::passing, || Follower::load::<Facts>(log.clone())).await?;
        info!(
            n_rules = facts.rules().rules().len(),
            n_advisories = facts.advisories().len(),
            position = facts.revision(),
            "package policy loaded"
        );
        let shared = Arc::new(Shared::new(facts));
        let known = shared.known.subscribe();
        let (soft, ours) = (lifecycle.soft().clone(), Arc::clone(&shared));
        lifecycle.run("registry policy", async move {
            tokio::select! {
                () = soft.cancelled() => {}
                () = follower.follow(&*ours) => {}
            }
        });
        Ok(Self { shared, known })
    }

    /// What is known about a package, given by its name in any spelling, for who asks at a time.
    pub fn about(
        &self,
        ecosystem: Ecosystem,
        package: &str,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Arc<Dossier>, Unreadable> {
        let facts = self.facts()?;
        Ok(Arc::new(facts.about_for(ecosystem, package, caller.asker(), now)))
    }

    /// All that is known, for as long as nothing new may come in.
    pub fn facts(&self) -> Result<RwLockReadGuard<'_, Facts>, Unreadable> {
        if let Known::Unreadable(cause) = &*self.known.borrow() {
            return Err(Unreadable(Arc::clone(cause)));
        }
        Ok(self.shared.facts.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until an event counts here: for answers to those who just added a rule.
    pub async fn reaches(&self, position: Position, bound: Duration) -> Result<(), NotThereYet> {
        let mut known = self.known.clone();
        let there = known.wait_for(|known| match known {
            Known::Upto(upto) => *upto >= position,
            Known::Unreadable(_) => false,
        });
        match tokio::time::timeout(bound, there).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(NotThereYet(position)),
        }
    }

    /// From now on it cannot be read.
    #[cfg(test)]
    pub(crate) fn break_down(&self) {
        self.shared.known.send_replace(Known::Unreadable("an event of the future".into()));
    }

    /// Waits until a hold is known here.
    pub async fn holds(&self, hold: &str) -> Result<(), Unreadable> {
        self.until(|holds| holds.has(hold)).await
    }

    /// Waits until a person has answered a hold, as far as is known here.
    pub async fn answered(&self, hold: &str) -> Result<(), Unreadable> {
        self.until(|holds| holds.is_answered(hold)).await
    }

    async fn until(&self, come: impl Fn(&hold::State) -> bool) -> Result<(), Unreadable> {
        let mut known = self.known.clone();
        loop {
            // Before it is looked at: what comes in from here on is another change.
            known.mark_unchanged();
            if come(self.facts()?.holds()) {
                return Ok(());
            }
            if known.changed().await.is_err() {
                // Nothing comes in any more, as the process stops.
                std::future::pending::<()>().await;
            }
        }
    }

    /// A policy that a test changes by hand.
    #[cfg(test)]
    pub(crate) fn by_hand(facts: Facts) -> (Self, impl Fn(Facts)) {
        let shared = Arc::new(Shared::new(facts));
        let known = shared.known.subscribe();
        (Self { shared: Arc::clone(&shared), known }, move |fresh| {
            shared.change(|facts| *facts = fresh);
        })
    }
}

impl Shared {
    fn new(mut facts: Facts) -> Self {
        facts.settle();
        let known = watch::Sender::new(Known::Upto(Position(facts.revision())));
        Self { facts: RwLock::new(facts), known }
    }

    /// Changes what is known, and says how far it came.
    fn change(&self, change: impl FnOnce(&mut Facts)) {
        let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut facts);
        facts.settle();
        let upto = Position(facts.revision());
        drop(facts);
        self.known.send_replace(Known::Upto(upto));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt as _;
    use weir_aggregates::registry::{rule::RuleSet, verdict::Candidate};
    use weir_events::registry::{
        Event, Mask,
        hold::{Ground, Hold, HoldAnswered, PackageRequested, Word},
    };

    use super::*;
    use crate::registry::pypi::testing::rule;

    fn hold(id: &str) -> Hold {
        Hold {
            id: id.to_owned(),
            token_id: "0123456789abcdef".to_owned(),
            principal: "robot".to_owned(),
            ecosystem: Ecosystem::Pypi,
            package: "six".to_owned(),
            version: Some(id.to_owned()),
            file: "six.whl".to_owned(),
            ground: Ground::NewVersion,
            advisory: None,
            requested_at: Timestamp::EPOCH,
            expires_at: Timestamp::EPOCH.plus_seconds(9),
        }
    }

    #[tokio::test]
    async fn who_waits_for_an_answer_hears_of_it_and_of_no_other() {
        let (policy, set) = Policy::by_hand(Facts::default());
        let answer = |id: &str| HoldAnswered {
            id: id.to_owned(),
            word: Word::Deny,
            answered_by: "ann".to_owned(),
            reason: "no".to_owned(),
            until: Timestamp::EPOCH.plus_seconds(9),
        };
        let asked = ["a", "b"].map(|id| Event::from(PackageRequested { hold: hold(id) }));
        let go_by = |answered: &[&str]| {
            let mut facts = Facts::default();
            let answers = answered.iter().map(|id| answer(id).into());
            for (position, event) in (1..).zip(asked.iter().cloned().chain(answers)) {
                facts.apply(position, &event);
            }
            set(facts);
        };
        go_by(&[]);
        let mut waiting = pin!(policy.answered("a"));
        assert!(waiting.as_mut().now_or_never().is_none());
        go_by(&["b"]);
        assert!(waiting.as_mut().now_or_never().is_none());
        go_by(&["b", "a"]);
        assert!(waiting.await.is_ok());
        assert!(policy.answered("a").await.is_ok(), "also who comes later");
    }

    #[tokio::test]
    async fn who_added_a_rule_can_wait_until_it_counts() {
        let (policy, set) = Policy::by_hand(Facts::default());
        let ann = Caller::principal("ann", "1");
        let six = || policy.about(Ecosystem::Pypi, "Six", &ann, Timestamp::EPOCH).unwrap();
        assert!(six().judge(&Candidate::default()).allowed());
        let waiting = policy.reaches(Position(7), Duration::from_secs(5));
        let rules = RuleSet::compile(7, &[rule(1, "six", "*", Mask::Mark)]);
        let adding = async { set(Facts::of_rules(rules)) };
        let (reached, ()) = tokio::join!(waiting, adding);
        assert_eq!(reached, Ok(()));
        assert!(!six().judge(&Candidate::default()).allowed());
        let never = policy.reaches(Position(8), Duration::from_millis(1)).await;
        assert_eq!(never, Err(NotThereYet(Position(8))));
    }
}
