//! A policy that may come to be, tried on the past: the decisions of the last days are read from the
//! log in their order, and each is judged once more, by what is in force and by what is tried. Nothing
//! is recorded.
//!
//! By the facts of now, it says what switching the policy on would have meant for what was asked for.
//! By the facts as they stood, it says what the policy would have done then: the facts are folded from
//! the first event on, beside the decisions.
//!
//! Each is judged as the door judges: under the profile that bound who asked, and by our own clock where
//! an age counts. A decision that is older than its field for the profile is judged under none. What a
//! quota refuses is not looked at; an image that was asked for by a tag is judged by that tag, which has
//! no age, and where it was asked for by its digest, by that.

pub mod candidate;
mod glance;
mod memory;

use std::{collections::BTreeSet, time::Duration};

use tokio::time::Instant;
use weir_aggregates::registry::{
    facts::Facts,
    name::normalise,
    profile::Asker,
    what_if::{About, Decision, Replay, difference::Difference, trial::Trial},
};
use weir_events::{
    codec::CodecFault,
    envelope::Recorded,
    position::Position,
    registry::{Event, RuleAdded, blocklist::BlocklistRuleAdded},
    timestamp::Timestamp,
};
use weir_log::{
    Log,
    read::{ReadFault, kinds::Sparse},
};

use self::{
    glance::{Glance, Seen},
    memory::Memory,
};
use super::{
    policy::{Policy, Unreadable},
    written::shown,
};
use crate::door::{Door, DoorFault};

/// How much earlier than asked for the log is looked at: clocks of instances differ.
const SKEW_SECONDS: i64 = 600;

/// How long one piece of work takes, about, before it is told how far it came.
const PIECE: Duration = Duration::from_millis(250);

const DECISIONS: (i32, i32) = (0x4002, 0x4003);

/// Decisions, and all that may be a fact: the whole subsystem, but what lists looked like and what
/// became of files in the cache, of which there is most.
const DECISIONS_AND_FACTS: [(i32, i32); 3] = [DECISIONS, (0x4005, 0x4007), (0x400a, 0x4fff)];

/// By which facts the past is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// By what is known now.
    #[default]
    Today,
    /// By what was known when each was asked for.
    Then,
}

impl By {
    /// The name used in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Today => "today",
            Self::Then => "then",
        }
    }

    /// Finds one by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        [Self::Today, Self::Then].into_iter().find(|it| it.as_str() == name)
    }
}

/// What is tried, and on what.
#[derive(Debug, Clone)]
pub struct WhatIf {
    /// The policy.
    pub trial: Trial,
    /// By which facts.
    pub by: By,
    /// From when on decisions count.
    pub since: Timestamp,
    /// As of when waivers count, by the facts of now.
    pub now: Timestamp,
    /// How many rows of each table are kept.
    pub max_rows: usize,
}

/// The past cannot be read, or what it is judged by.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfFault {
    /// The log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadFault),
    /// The policy cannot be read.
    #[error(transparent)]
    Policy(#[from] Unreadable),
    /// A fact of then cannot be read by this build.
    #[error("could not read the policy event at position {position}")]
    Undecodable {
        /// Where it stands.
        position: Position,
        /// What is wrong with it.
        #[source]
        cause: CodecFault,
    },
    /// What our own clock said cannot be read.
    #[error("could not read when versions were seen first")]
    Sightings(#[from] DoorFault),
    /// Rules that would go are none.
    #[error(
        "no rule {when} has the id `{id}`: `without` names rules of an operator or of the blocklist"
    )]
    NoSuchRule {
        /// The first of them.
        id: String,
        /// Where it was looked for.
        when: &'static str,
    },
    /// The judging broke off.
    #[error("the judging broke off")]
    Broken,
}

impl WhatIfFault {
    fn no_such_rule(id: &str, when: &'static str) -> Self {
        Self::NoSuchRule { id: shown(id), when }
    }
}

/// How far a trial came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The position before the first event that is looked at.
    pub first: Position,
    /// How far the log was looked at.
    pub upto: Position,
    /// How far it will be.
    pub last: Position,
}

impl Reached {
    /// Whether that is all.
    #[must_use]
    pub fn done(&self) -> bool {
        self.upto >= self.last
    }
}

/// A trial under way. To drop it is to end it.
#[derive(Debug)]
pub struct Trying {
    log: Log,
    ranges: Vec<(i32, i32)>,
    reached: Reached,
    /// Read, and not judged yet.
    page: Option<Sparse>,
    work: Work,
}

impl Trying {
    /// Begins: up to what the log holds now.
    pub async fn begin(door: &Door, policy: &Policy, what: WhatIf) -> Result<Self, WhatIfFault> {
        let WhatIf { trial, by, since, now, max_rows } = what;
        let (log, memory) = (door.log(), Memory::of(door));
        let last = log.head();
        let missing: BTreeSet<String> = {
            let facts = policy.facts()?;
            trial.without().iter().filter(|id| !facts.has_rule(id)).cloned().collect()
        };
        if by == By::Today
            && let Some(id) = missing.first()
        {
            return Err(WhatIfFault::no_such_rule(id, "in force"));
        }
        let (facts, first, ranges) = match by {
            By::Today => {
                let first = log.before(since.plus_seconds(-SKEW_SECONDS)).await?;
                (Known::Today(policy.clone(), now), first, vec![DECISIONS])
            }
            By::Then => {
                let then = Known::Then(Box::default());
                (then, Position::START, DECISIONS_AND_FACTS.to_vec())
            }
        };
        let work =
            Work { replay: Replay::of(trial, max_rows), known: facts, memory, since, missing };
        let reached = Reached { first, upto: first, last };
        Ok(Self { log: log.clone(), ranges, reached, page: None, work })
    }

    /// How far it came.
    #[must_use]
    pub const fn reached(&self) -> Reached {
        self.reached
    }

    /// What was found so far.
    #[must_use]
    pub const fn difference(&self) -> &Difference {
        self.work.replay.difference()
    }

    /// Goes on for a moment.
    pub async fn go_on(self) -> Result<Self, WhatIfFault> {
        let Self { log, ranges, mut reached, mut page, mut work } = self;
        let ends = Instant::now() + PIECE;
        while !reached.done() && Instant::now() < ends {
            let Sparse { events, upto } = match page.take() {
                Some(page) => page,
                None => log.read_kinds(reached.upto, reached.last, &ranges).await?,
            };
            // The next page is on its way while this one is judged.
            let next = async {
                let more = upto < reached.last;
                let read = more.then(|| log.read_kinds(upto, reached.last, &ranges));
                match read {
                    Some(read) => read.await.map(Some),
                    None => Ok(None),
                }
            };
            let (next, judged) = tokio::join!(next, work.judge(events));
            (page, work) = (next?, judged?);
            reached.upto = upto;
        }
        if reached.done()
            && let Some(id) = work.missing.first()
        {
            return Err(WhatIfFault::no_such_rule(id, "that ever was"));
        }
        Ok(Self { log, ranges, reached, page, work })
    }
}

/// What is judged, and by what.
#[derive(Debug)]
struct Work {
    replay: Replay,
    known: Known,
    memory: Memory,
    since: Timestamp,
    /// Rules that would go, and were not met so far.
    missing: BTreeSet<String>,
}

/// What is known.
#[derive(Debug)]
enum Known {
    /// Now.
    Today(Policy, Timestamp),
    /// At each moment of the past.
    Then(Box<Past>),
}

/// Facts as they stood, and whether they wait to be made ready.
#[derive(Debug, Default)]
struct Past {
    facts: Facts,
    unsettled: bool,
}

impl Work {
    /// Judges decisions, away from the threads that serve.
    async fn judge(self, page: Vec<Recorded>) -> Result<Self, WhatIfFault> {
        let judging = tokio::task::spawn_blocking(move || self.judged(&page));
        judging.await.map_err(|_| WhatIfFault::Broken)?
    }

    fn judged(mut self, page: &[Recorded]) -> Result<Self, WhatIfFault> {
        for event in page {
            if (DECISIONS.0..=DECISIONS.1).contains(&event.kind.0) {
                if event.recorded_at >= self.since {
                    self.look_at(event)?;
                }
            } else if let Known::Then(past) = &mut self.known
                && past.fold(event, &mut self.missing)?
            {
                self.replay.forget();
            }
        }
        Ok(self)
    }

    fn look_at(&mut self, event: &Recorded) -> Result<(), WhatIfFault> {
        let payload = Glance::payload(event);
        let seen = payload.as_deref().and_then(|payload| Glance::of(event, payload));
        let Some(seen) = seen else {
            self.replay.difference_mut().n_unreadable += 1;
            return Ok(());
        };
        let decision = match seen {
            Seen::Outside => {
                self.replay.difference_mut().n_outside += 1;
                return Ok(());
            }
            Seen::Decision(decision) => decision,
        };
        let Self { replay, known, memory, .. } = self;
        let ages = replay.trial().counts_age(decision.ecosystem);
        replay.judge(&decision, || {
            let about = known.about(&decision)?;
            if !ages && !about.dossier.counts_age() {
                return Ok(about);
            }
            Ok(match known {
                Known::Today(..) => memory.by_today(about, &decision)?,
                Known::Then(_) => memory.by_then(about, &decision)?,
            })
        })
    }
}

impl Known {
    fn about(&mut self, decision: &Decision<'_>) -> Result<About, WhatIfFault> {
        match self {
            Self::Today(policy, now) => {
                let facts = policy.facts()?;
                let (from, until) = (Timestamp::EPOCH, Timestamp::from_micros(i64::MAX));
                Ok(about(&facts, decision, *now, from, until))
            }
            Self::Then(past) => {
                let (facts, at) = (past.settled(), decision.at);
                let until = facts.holds_until(at).unwrap_or(Timestamp::from_micros(i64::MAX));
                Ok(about(facts, decision, at, at, until))
            }
        }
    }
}

fn about(
    facts: &Facts,
    decision: &Decision<'_>,
    now: Timestamp,
    from: Timestamp,
    until: Timestamp,
) -> About {
    let Decision { ecosystem, package, token, profile, .. } = *decision;
    let dossier = facts.about_for(ecosystem, package, Asker { token, profile }, now);
    let tells_tokens_apart = facts.tells_tokens_apart(ecosystem, &normalise(ecosystem, package));
    About { dossier, tells_tokens_apart, from, until }
}

impl Past {
    /// Folds an event, and says whether something else is known by it. The rule that it is about is not
    /// missing any more.
    fn fold(
        &mut self,
        event: &Recorded,
        missing: &mut BTreeSet<String>,
    ) -> Result<bool, WhatIfFault> {
        let undecodable = |cause| WhatIfFault::Undecodable { position: event.position, cause };
        let decoded = event.decode::<Event>();
        let decoded = decoded.unwrap_or(Err(CodecFault::UnknownKind(event.kind.0)));
        let before = self.facts.revision();
        let decoded = decoded.map_err(undecodable)?;
        if let Event::RuleAdded(RuleAdded { rule })
        | Event::BlocklistRuleAdded(BlocklistRuleAdded { rule }) = &decoded
        {
            missing.remove(&rule.id);
        }
        self.facts.apply(event.position.0, &decoded);
        let changed = self.facts.revision() != before;
        self.unsettled |= changed;
        Ok(changed)
    }

    fn settled(&mut self) -> &Facts {
        if std::mem::take(&mut self.unsettled) {
            self.facts.settle();
        }
        &self.facts
    }
}

#[cfg(test)]
mod tests;
