//! Waivers: permissions to pass in spite of a "no", for a while, with a name under each.
//! Stream `registry/waivers`.

use std::collections::BTreeMap;

use uuid::Uuid;
use weir_events::{
    kind::Subsystem,
    registry::{
        Event,
        advisory::Class,
        hold::{Hold, HoldAnswered},
        policy::{Waiver, WaiverExpired, WaiverGranted, WaiverRequested, WaiverRevoked},
    },
    timestamp::Timestamp,
};

use super::{
    MAX_REASON_CHARS,
    constraint::{Constraint, ConstraintFault},
    name::pattern::Pattern,
    short,
    verdict::{Candidate, INTEGRITY},
    version::Version,
};
use crate::{
    machine::{Context, Decision, Machine},
    words::are_plain,
};

/// How many waivers there may be at once, in force or waiting.
pub const MAX_WAIVERS: usize = 1_000;

/// How many rules and advisories one may name.
pub const MAX_WAIVED: usize = 50;

/// The longest time one may be in force, in days: what is waived for longer is a rule to change.
pub const MAX_DAYS: i64 = 366;

const SECONDS_A_DAY: f64 = 86_400.0;

/// A waiver that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledWaiver {
    /// The waiver as it stands in the log.
    pub waiver: Waiver,
    pub(super) pattern: Pattern,
    constraint: Option<Constraint>,
    persons: Persons,
    /// The one version it is about, where it is none that a constraint could name.
    exactly: Option<Version>,
}

/// How many stand behind a waiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persons {
    /// Who asked for it has it.
    One,
    /// Somebody else said yes.
    Two,
}

impl CompiledWaiver {
    /// Makes a waiver ready. One whose constraint this build cannot read waives nothing.
    #[must_use]
    pub fn new(waiver: &Waiver, persons: Persons) -> Self {
        Self {
            persons,
            exactly: None,
            pattern: Pattern::new(waiver.ecosystem, &waiver.package),
            constraint: Constraint::parse(waiver.ecosystem, &waiver.versions).ok(),
            waiver: waiver.clone(),
        }
    }

    /// What a person allowed to one token: one version, in spite of one advisory. None where it is about
    /// something else.
    #[must_use]
    pub fn of_hold(hold: &Hold, answer: &HoldAnswered) -> Option<Self> {
        let (advisory, version) = (hold.advisory.clone()?, hold.version.as_deref()?);
        let waiver = Waiver {
            id: hold.id.clone(),
            ecosystem: hold.ecosystem,
            package: hold.package.clone(),
            versions: "*".to_owned(),
            waives: vec![advisory],
            token: Some(hold.token_id.clone()),
            reason: answer.reason.clone(),
            owner: answer.answered_by.clone(),
            expires_at: answer.until,
        };
        let exactly = Some(Version::parse(hold.ecosystem, version));
        Some(Self { exactly, ..Self::new(&waiver, Persons::One) })
    }

    /// Whether it lets a version pass in spite of something with these names. Malware is waived by
    /// name and by two persons only, also what turned out to be malware later. A version that cannot be told is waived only where every version is.
    #[must_use]
    pub fn covers(&self, candidate: &Candidate<'_>, names: &[&str], class: Class) -> bool {
        let Some(constraint) = &self.constraint else { return false };
        let version = match candidate.version {
            Some(version) if self.exactly.is_some() => self.exactly.as_ref() == Some(version),
            None if self.exactly.is_some() => false,
            Some(version) => constraint.matches(version),
            None => constraint.everything(),
        };
        let waives = &self.waiver.waives;
        let named = waives.iter().any(|waived| names.contains(&waived.as_str()));
        version
            && match class {
                Class::Malware => named && self.persons == Persons::Two,
                Class::Vulnerability | Class::Notice => named || waives.is_empty(),
            }
    }
}

/// The machine that keeps the waivers.
#[derive(Debug)]
pub struct Waivers;

/// The waivers that are in force or wait for a second person, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    waivers: BTreeMap<String, Known>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    waiver: Waiver,
    requested_by: String,
    granted_by: Option<String>,
}

impl Known {
    fn compiled(&self) -> Option<CompiledWaiver> {
        let granted_by = self.granted_by.as_ref()?;
        let alone = *granted_by == self.requested_by;
        let persons = if alone { Persons::One } else { Persons::Two };
        Some(CompiledWaiver::new(&self.waiver, persons))
    }
}

impl State {
    /// The waivers that were granted and not taken back, ready to be asked.
    pub fn granted(&self) -> impl Iterator<Item = CompiledWaiver> {
        self.waivers.values().filter_map(Known::compiled)
    }

    /// When the next one is over, whether it is in force or waits.
    #[must_use]
    pub fn next_end(&self) -> Option<Timestamp> {
        self.waivers.values().map(|known| known.waiver.expires_at).min()
    }

    /// The ids of those whose time is over.
    pub fn overdue(&self, now: Timestamp) -> Vec<String> {
        let over = self.waivers.iter().filter(|(_, known)| known.waiver.expires_at <= now);
        over.map(|(id, _)| id.clone()).collect()
    }
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Grant a waiver, or ask a second person to.
    Request {
        /// What is wanted.
        waiver: Waiver,
        /// The principal that asks.
        by: String,
        /// Whether a second person is needed whatever it waives.
        second_person: bool,
    },
    /// Grant what somebody else asked for.
    Grant {
        /// The waiver's id.
        id: String,
        /// The principal that says yes.
        by: String,
    },
    /// Take a waiver back, or say no to one that was asked for.
    Revoke {
        /// The waiver's id.
        id: String,
        /// The principal that takes it back.
        by: String,
        /// Why.
        reason: String,
    },
    /// End a waiver whose time is over.
    Expire {
        /// The waiver's id.
        id: String,
    },
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The id is no UUID.
    #[error("`{0}` is not the id of a waiver: a UUID in lower case")]
    BadId(String),
    /// The package pattern makes no sense.
    #[error("`{pattern}` is no package pattern: {cause}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// The constraint cannot be read.
    #[error("`{constraint}` is no constraint on versions: {cause}")]
    BadConstraint {
        /// The constraint.
        constraint: String,
        /// What the parser said.
        #[source]
        cause: ConstraintFault,
    },
    /// The reason or the owner is empty, too long or not printable.
    #[error(
        "reason and owner have 1 to {MAX_REASON_CHARS} characters, none of them hidden or a control character"
    )]
    BadWords,
    /// It names too much, or names what no rule or advisory is called.
    #[error("a waiver names at most {MAX_WAIVED} rules and advisories, each by its id")]
    BadNames,
    /// The token is none.
    #[error("`{0}` is not the id of a token: 16 hexadecimal digits in lower case")]
    BadToken(String),
    /// It ends in the past, or too late.
    #[error("a waiver ends in the future, within {MAX_DAYS} days")]
    BadTime,
    /// There are too many waivers.
    #[error("there are {MAX_WAIVERS} waivers already; revoke some")]
    TooMany,
    /// There is no such waiver.
    #[error("there is no waiver {0} in force or waiting")]
    Unknown(String),
    /// The id is taken.
    #[error("waiver {0} exists already")]
    DuplicateId(String),
    /// Who asked cannot be the second person.
    #[error("waiver {0} needs a second person: who asked for it cannot grant it")]
    SamePerson(String),
    /// Its time is not over yet.
    #[error("the time of waiver {0} is not over yet")]
    NotYet(String),
}

impl Machine for Waivers {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, command: &Command, context: &Context) -> Decision<Event, Refusal> {
        match command {
            Command::Request { waiver, by, second_person } => {
                request(state, waiver, by, *second_person, *context)
            }
            Command::Grant { id, by } => match state.waivers.get(id) {
                None => Decision::refuse(Refusal::Unknown(short(id))),
                Some(known) if known.granted_by.is_some() => Decision::nothing(),
                Some(known) if known.requested_by == *by => {
                    Decision::refuse(Refusal::SamePerson(id.clone()))
                }
                Some(known) if known.waiver.expires_at <= context.now => {
                    Decision::refuse(Refusal::BadTime)
                }
                Some(Known { waiver, requested_by, .. }) => Decision::accept(WaiverGranted {
                    waiver: waiver.clone(),
                    requested_by: requested_by.clone(),
                    granted_by: by.clone(),
                }),
            },
            Command::Revoke { id, by, reason } => {
                if !state.waivers.contains_key(id) {
                    Decision::refuse(Refusal::Unknown(short(id)))
                } else if are_plain(reason, MAX_REASON_CHARS) {
                    let (id, revoked_by) = (id.clone(), by.clone());
                    Decision::accept(WaiverRevoked { id, revoked_by, reason: reason.clone() })
                } else {
                    Decision::refuse(Refusal::BadWords)
                }
            }
            Command::Expire { id } => match state.waivers.get(id) {
                // Another instance was quicker.
                None => Decision::nothing(),
                Some(known) if known.waiver.expires_at <= context.now => {
                    Decision::accept(WaiverExpired { id: id.clone() })
                }
                Some(_) => Decision::refuse(Refusal::NotYet(id.clone())),
            },
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::WaiverRequested(WaiverRequested { waiver, requested_by }) => {
                let (waiver, requested_by) = (waiver.clone(), requested_by.clone());
                let id = waiver.id.clone();
                state.waivers.insert(id, Known { waiver, requested_by, granted_by: None });
            }
            Event::WaiverGranted(WaiverGranted { waiver, requested_by, granted_by }) => {
                let (waiver, requested_by) = (waiver.clone(), requested_by.clone());
                let (id, granted_by) = (waiver.id.clone(), Some(granted_by.clone()));
                state.waivers.insert(id, Known { waiver, requested_by, granted_by });
            }
            Event::WaiverRevoked(WaiverRevoked { id, .. })
            | Event::WaiverExpired(WaiverExpired { id }) => {
                state.waivers.remove(id);
            }
            _ => {}
        }
    }
}

fn request(
    state: &State,
    waiver: &Waiver,
    by: &str,
    second_person: bool,
    context: Context,
) -> Decision<Event, Refusal> {
    if state.waivers.contains_key(&waiver.id) {
        return Decision::refuse(Refusal::DuplicateId(waiver.id.clone()));
    }
    if let Err(refusal) = check(waiver, context) {
        return Decision::refuse(refusal);
    }
    if state.waivers.len() >= MAX_WAIVERS {
        return Decision::refuse(Refusal::TooMany);
    }
    let (waiver, requested_by) = (waiver.clone(), by.to_owned());
    let grave = |id: &String| id.starts_with("MAL-") || id == INTEGRITY;
    if second_person || waiver.waives.iter().any(grave) {
        Decision::accept(WaiverRequested { waiver, requested_by })
    } else {
        Decision::accept(WaiverGranted { waiver, granted_by: by.to_owned(), requested_by })
    }
}

/// What a waiver must be to become one.
fn check(waiver: &Waiver, context: Context) -> Result<(), Refusal> {
    if Uuid::try_parse(&waiver.id).map_or(true, |id| id.to_string() != waiver.id) {
        return Err(Refusal::BadId(short(&waiver.id)));
    }
    if let Some(cause) = Pattern::objection(waiver.ecosystem, &waiver.package) {
        return Err(Refusal::BadPattern { pattern: short(&waiver.package), cause });
    }
    if let Err(cause) = Constraint::parse(waiver.ecosystem, &waiver.versions) {
        return Err(Refusal::BadConstraint { constraint: short(&waiver.versions), cause });
    }
    let plain = |text: &str| are_plain(text, MAX_REASON_CHARS);
    if !plain(&waiver.reason) || !plain(&waiver.owner) {
        return Err(Refusal::BadWords);
    }
    let is_name = |id: &String| {
        (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
    };
    if waiver.waives.len() > MAX_WAIVED || !waiver.waives.iter().all(is_name) {
        return Err(Refusal::BadNames);
    }
    if let Some(token) = waiver.token.as_ref().filter(|token| !is_token(token)) {
        return Err(Refusal::BadToken(short(token)));
    }
    let days = context.now.seconds_until(waiver.expires_at) / SECONDS_A_DAY;
    #[expect(clippy::cast_precision_loss, reason = "a number of days is small")]
    let fits = days > 0.0 && days <= MAX_DAYS as f64;
    if fits { Ok(()) } else { Err(Refusal::BadTime) }
}

/// Whether a text has the form of a token's id.
fn is_token(id: &str) -> bool {
    id.len() == 16 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests;
