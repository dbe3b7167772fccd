//! Waivers: permissions to pass in spite of a "no", for a while, with a name under each.
//! Stream `registry/waivers`.

use weir_events::{
    kind::Subsystem,
    registry::{
        Event,
        advisory::Class,
        hold::{Hold, HoldAnswered},
        policy::{WAIVERS, Waiver, WaiverExpired, WaiverGranted, WaiverRequested, WaiverRevoked},
    },
    timestamp::Timestamp,
};

use super::{
    constraint::{Constraint, ConstraintFault},
    name::pattern::Pattern,
    short,
    verdict::{Candidate, INTEGRITY},
    version::Version,
};
use crate::{
    machine::{Context, Decision, Machine},
    waiver::{self, Book, Change, Keeps, Waives},
};

/// How many rules and advisories one may name.
pub const MAX_WAIVED: usize = 50;

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

    /// Whether it lets a version pass in spite of something with these names. Its versions are those
    /// that it says however it is read. Malware is waived by name and by two persons only, also what
    /// turned out to be malware later. A version that cannot be told is waived only where every version
    /// is.
    #[must_use]
    pub fn covers(&self, candidate: &Candidate<'_>, names: &[&str], class: Class) -> bool {
        let Some(constraint) = &self.constraint else { return false };
        let version = match candidate.version {
            Some(version) if self.exactly.is_some() => self.exactly.as_ref() == Some(version),
            None if self.exactly.is_some() => false,
            Some(version) => constraint.permits(version),
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

/// The waivers that are in force or wait for a second person.
pub type State = Book<Waiver>;

type Known = waiver::Known<Waiver>;

impl Known {
    /// Ready to be asked, where it is in force.
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
        self.all().filter_map(Known::compiled)
    }
}

/// What can be asked.
pub type Command = waiver::Command<Waiver>;

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// For a reason that any waiver may be refused for.
    #[error(transparent)]
    Any(#[from] waiver::Refusal),
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
    /// It names too much, or names what no rule or advisory is called.
    #[error("a waiver names at most {MAX_WAIVED} rules and advisories, each by its id")]
    BadNames,
    /// The token is none.
    #[error("`{0}` is not the id of a token: 16 hexadecimal digits in lower case")]
    BadToken(String),
}

impl Waives for Waiver {
    fn id(&self) -> &str {
        &self.id
    }

    fn reason(&self) -> &str {
        &self.reason
    }

    fn owner(&self) -> &str {
        &self.owner
    }

    fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

impl From<Change<Waiver>> for Event {
    fn from(change: Change<Waiver>) -> Self {
        match change {
            Change::Stands(Known { waiver, requested_by, granted_by: None }) => {
                WaiverRequested { waiver, requested_by }.into()
            }
            Change::Stands(Known { waiver, requested_by, granted_by: Some(granted_by) }) => {
                WaiverGranted { waiver, requested_by, granted_by }.into()
            }
            Change::Revoked { id, by, reason } => {
                WaiverRevoked { id, revoked_by: by, reason }.into()
            }
            Change::Expired { id } => WaiverExpired { id }.into(),
        }
    }
}

impl Machine for Waivers {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, command: &Command, context: &Context) -> Decision<Event, Refusal> {
        let grave = |id: &String| id.starts_with("MAL-") || id == INTEGRITY;
        state.decide(command, context, check, |waiver| waiver.waives.iter().any(grave))
    }

    fn apply(state: &mut State, event: &Event) {
        if let Some(change) = Self::change(event) {
            state.apply(change);
        }
    }
}

impl Keeps for Waivers {
    type Waiver = Waiver;

    const STREAM: &'static str = WAIVERS;

    fn change(event: &Event) -> Option<Change<Waiver>> {
        // Only what concerns waivers is copied: most of what is folded does not.
        Some(match event {
            Event::WaiverRequested(WaiverRequested { waiver, requested_by }) => {
                Change::stands(waiver, requested_by, None)
            }
            Event::WaiverGranted(WaiverGranted { waiver, requested_by, granted_by }) => {
                Change::stands(waiver, requested_by, Some(granted_by))
            }
            Event::WaiverRevoked(WaiverRevoked { id, revoked_by, reason }) => {
                Change::revoked(id, revoked_by, reason)
            }
            Event::WaiverExpired(WaiverExpired { id }) => Change::Expired { id: id.clone() },
            _ => return None,
        })
    }
}

/// What a waiver of packages must say beside what every waiver says.
fn check(waiver: &Waiver) -> Result<(), Refusal> {
    if let Some(cause) = Pattern::objection(waiver.ecosystem, &waiver.package) {
        return Err(Refusal::BadPattern { pattern: short(&waiver.package), cause });
    }
    if let Err(cause) = Constraint::parse(waiver.ecosystem, &waiver.versions) {
        return Err(Refusal::BadConstraint { constraint: short(&waiver.versions), cause });
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
    Ok(())
}

/// Whether a text has the form of a token's id.
fn is_token(id: &str) -> bool {
    id.len() == 16 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests;
