//! Holds: what waits for a person's word, and what persons said. Stream `registry/holds`.
//!
//! A hold ends when its time is over, whether it was answered or not; no event says so. What is over
//! is forgotten when the next one is asked.

mod question;

use std::collections::BTreeMap;

use weir_events::{
    kind::Subsystem,
    registry::{
        Ecosystem, Event,
        hold::{Ground, Hold, HoldAnswered, PackageRequested, Word},
    },
    timestamp::Timestamp,
};

pub use self::question::Question;
use super::{MAX_REASON_CHARS, short};
use crate::{
    access::Grantor,
    machine::{Context, Decision, Machine},
    words::are_plain,
};

/// How many may be there at once.
pub const MAX_HOLDS: usize = 10_000;

/// How many questions of one token may wait: as many as a large project has new packages, which are all
/// asked for at once.
pub const MAX_WAITING: usize = 256;

/// The longest time an answer holds, in days.
pub const MAX_DAYS: i64 = 366;

const SECONDS_A_DAY: i64 = 86_400;

/// The machine that keeps the holds.
#[derive(Debug)]
pub struct Holds;

/// A hold, and what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// What is asked.
    pub hold: Hold,
    /// What the last person said.
    pub answer: Option<HoldAnswered>,
}

impl Known {
    /// Until when it counts.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        self.answer.as_ref().map_or(self.hold.expires_at, |answer| answer.until)
    }

    /// What the last person said.
    #[must_use]
    pub fn word(&self) -> Option<Word> {
        self.answer.as_ref().map(|answer| answer.word)
    }

    /// Whether it is the answer to a question of its token about its package.
    fn is_of(&self, ground: Ground, advisory: Option<&str>, version: Option<&str>) -> bool {
        let Hold { ground: own, advisory: about, version: of, .. } = &self.hold;
        // Whether a package may come in at all is asked once, whatever the version.
        let same = *own == Ground::NewPackage || of.as_deref() == version;
        *own == ground && about.as_deref() == advisory && same
    }
}

/// The holds, by id: the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    holds: BTreeMap<String, Known>,
}

impl State {
    /// Those whose time is not over, the oldest first.
    pub fn at(&self, now: Timestamp) -> impl DoubleEndedIterator<Item = &Known> {
        self.holds.values().filter(move |known| known.until() > now)
    }

    /// Those of a token about a package.
    pub fn of<'a>(
        &'a self,
        token_id: &'a str,
        ecosystem: Ecosystem,
        package: &'a str,
        now: Timestamp,
    ) -> impl Iterator<Item = &'a Known> {
        self.at(now).filter(move |Known { hold, .. }| {
            hold.token_id == token_id && hold.ecosystem == ecosystem && hold.package == package
        })
    }

    /// Whether there is a hold, answered or not.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.holds.contains_key(id)
    }

    /// Whether somebody has answered a hold.
    #[must_use]
    pub fn is_answered(&self, id: &str) -> bool {
        self.holds.get(id).is_some_and(|known| known.answer.is_some())
    }

    /// The one that asks the same and counts.
    #[must_use]
    pub fn same<'a>(&'a self, hold: &'a Hold, now: Timestamp) -> Option<&'a Known> {
        let Hold { token_id, ecosystem, package, ground, advisory, version, .. } = hold;
        self.of(token_id, *ecosystem, package, now)
            .find(|known| known.is_of(*ground, advisory.as_deref(), version.as_deref()))
    }
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Ask a person, unless the same was asked.
    Request(Hold),
    /// Say a person's word.
    Answer {
        /// The hold's id.
        id: String,
        /// The word.
        word: Word,
        /// The principal's name.
        by: String,
        /// What binds him.
        grantor: Grantor,
        /// Why.
        reason: String,
        /// How long it holds.
        until: Timestamp,
        /// Whether it takes the place of an answer that stands.
        replace: bool,
    },
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too much waits.
    #[error("{MAX_WAITING} questions of this token wait for a person already")]
    TooManyWaiting,
    /// Too many are there.
    #[error("there are {MAX_HOLDS} holds already")]
    TooMany,
    /// There is no such hold.
    #[error("there is no hold {0}, or its time is over")]
    Unknown(String),
    /// Who is bound by a profile is no person.
    #[error("whoever is bound by a profile, as you are by `{0}`, cannot answer a hold")]
    Bound(String),
    /// Who asks does not answer.
    #[error("`{0}` asked, so somebody else has to answer")]
    SamePerson(String),
    /// The reason is none.
    #[error(
        "a reason has 1 to {MAX_REASON_CHARS} characters, none of them hidden or a control character"
    )]
    BadReason,
    /// Somebody has said otherwise.
    #[error(
        "`{}` has {} it until {}: {}; to have it otherwise, replace that answer",
        .0.answered_by, .0.word.done(), .0.until, .0.reason
    )]
    Answered(Box<HoldAnswered>),
    /// It ends in the past, or too late.
    #[error("an answer holds until a time in the future, within {MAX_DAYS} days")]
    BadTime,
}

impl Machine for Holds {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, command: &Command, context: &Context) -> Decision<Event, Refusal> {
        match command {
            Command::Request(hold) => request(state, hold),
            Command::Answer { id, word, by, grantor, reason, until, replace } => {
                let known = state.holds.get(id).filter(|known| known.until() > context.now);
                let Some(Known { hold, answer }) = known else {
                    return Decision::refuse(Refusal::Unknown(short(id)));
                };
                if let Some(profile) = &grantor.profile {
                    return Decision::refuse(Refusal::Bound(profile.clone()));
                }
                if hold.principal == *by {
                    return Decision::refuse(Refusal::SamePerson(by.clone()));
                }
                if !are_plain(reason, MAX_REASON_CHARS) {
                    return Decision::refuse(Refusal::BadReason);
                }
                let last = context.now.plus_seconds(MAX_DAYS * SECONDS_A_DAY);
                if *until <= context.now || *until > last {
                    return Decision::refuse(Refusal::BadTime);
                }
                // Two persons who answer at once may not know of each other: the first word stands
                // until somebody says that it is to be replaced.
                match answer.as_ref().filter(|_| !replace) {
                    Some(stands) if stands.word == *word => return Decision::nothing(),
                    Some(stands) => {
                        return Decision::refuse(Refusal::Answered(Box::new(stands.clone())));
                    }
                    None => {}
                }
                Decision::accept(HoldAnswered {
                    id: id.clone(),
                    word: *word,
                    answered_by: by.clone(),
                    reason: reason.clone(),
                    until: *until,
                })
            }
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::PackageRequested(PackageRequested { hold }) => {
                state.holds.retain(|_, known| known.until() > hold.requested_at);
                let known = Known { hold: hold.clone(), answer: None };
                state.holds.insert(hold.id.clone(), known);
            }
            Event::HoldAnswered(answer) => {
                if let Some(known) = state.holds.get_mut(&answer.id) {
                    known.answer = Some(answer.clone());
                }
            }
            _ => {}
        }
    }
}

fn request(state: &State, hold: &Hold) -> Decision<Event, Refusal> {
    let now = hold.requested_at;
    if state.same(hold, now).is_some() {
        return Decision::nothing();
    }
    let waits = |known: &&Known| known.answer.is_none() && known.hold.token_id == hold.token_id;
    if state.at(now).filter(waits).count() >= MAX_WAITING {
        return Decision::refuse(Refusal::TooManyWaiting);
    }
    if state.at(now).count() >= MAX_HOLDS {
        return Decision::refuse(Refusal::TooMany);
    }
    Decision::accept(PackageRequested { hold: hold.clone() })
}

#[cfg(test)]
mod tests;
