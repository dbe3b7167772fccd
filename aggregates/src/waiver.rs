//! Waivers, whatever they are about: permissions to pass in spite of a "no", for a while, with a name
//! under each. How one is asked for, granted by a second person, taken back and over, is the same for
//! packages and for hosts, and stands here; what one says is for those who keep it.

use std::collections::BTreeMap;

use uuid::Uuid;
use weir_events::timestamp::Timestamp;

use crate::{
    machine::{Context, Decision, Machine},
    words::{MAX_REASON_CHARS, short, words},
};

/// How many waivers of a kind there may be at once, in force or waiting.
pub const MAX_WAIVERS: usize = 1_000;

/// The longest time one may be in force, in days: what is waived for longer is a rule to change.
pub const MAX_DAYS: i64 = 366;

const SECONDS_A_DAY: f64 = 86_400.0;

/// What every waiver says.
pub trait Waives: Clone {
    /// Its id (UUID version 7).
    fn id(&self) -> &str;
    /// Why.
    fn reason(&self) -> &str;
    /// Who answers for it.
    fn owner(&self) -> &str;
    /// When it ends.
    fn expires_at(&self) -> Timestamp;
}

/// The machine that keeps the waivers of a kind.
pub trait Keeps:
    Machine<State = Book<<Self as Keeps>::Waiver>, Command = Command<<Self as Keeps>::Waiver>>
{
    /// What is waived.
    type Waiver: Waives + Send + Sync + 'static;

    /// The stream they stand in.
    const STREAM: &'static str;

    /// What came of a command, as an event says it; none where it is about something else.
    fn change(event: &Self::Event) -> Option<Change<Self::Waiver>>;
}

/// A waiver, and who stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known<W> {
    /// The waiver.
    pub waiver: W,
    /// The principal that asked.
    pub requested_by: String,
    /// The principal that said yes.
    pub granted_by: Option<String>,
}

/// The waivers that are in force or wait for a second person, by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Book<W> {
    waivers: BTreeMap<String, Known<W>>,
}

impl<W> Default for Book<W> {
    fn default() -> Self {
        Self { waivers: BTreeMap::new() }
    }
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command<W> {
    /// Grant a waiver, or ask a second person to.
    Request {
        /// What is wanted.
        waiver: W,
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

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change<W> {
    /// It waits for a second person, or, where somebody granted it, is in force.
    Stands(Known<W>),
    /// It was taken back.
    Revoked {
        /// The waiver's id.
        id: String,
        /// The principal that took it back.
        by: String,
        /// Why.
        reason: String,
    },
    /// Its time is over.
    Expired {
        /// The waiver's id.
        id: String,
    },
}

impl<W: Waives> Change<W> {
    pub(crate) fn stands(waiver: &W, requested_by: &str, granted_by: Option<&String>) -> Self {
        let (waiver, requested_by) = (waiver.clone(), requested_by.to_owned());
        Self::Stands(Known { waiver, requested_by, granted_by: granted_by.cloned() })
    }

    pub(crate) fn revoked(id: &str, by: &str, reason: &str) -> Self {
        let (id, by, reason) = (id.to_owned(), by.to_owned(), reason.to_owned());
        Self::Revoked { id, by, reason }
    }
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The id is no UUID.
    #[error("`{0}` is not the id of a waiver: a UUID in lower case")]
    BadId(String),
    /// The reason or the owner is empty, too long or not printable.
    #[error("reason and owner have 1 to {MAX_REASON_CHARS} characters and no control characters")]
    BadWords,
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

impl<W: Waives> Book<W> {
    /// All of them, those that wait too, the oldest first.
    pub fn all(&self) -> impl ExactSizeIterator<Item = &Known<W>> {
        self.waivers.values()
    }

    /// When the next one is over, whether it is in force or waits.
    #[must_use]
    pub fn next_end(&self) -> Option<Timestamp> {
        self.waivers.values().map(|known| known.waiver.expires_at()).min()
    }

    /// The ids of those whose time is over.
    pub fn overdue(&self, now: Timestamp) -> Vec<String> {
        let over = self.waivers.iter().filter(|(_, known)| known.waiver.expires_at() <= now);
        over.map(|(id, _)| id.clone()).collect()
    }

    /// Judges a command. What a waiver says is judged by `check`, and whether its kind always needs a
    /// second person by `grave`.
    pub fn decide<E: From<Change<W>>, R: From<Refusal>>(
        &self,
        command: &Command<W>,
        context: &Context,
        check: impl FnOnce(&W) -> Result<(), R>,
        grave: impl FnOnce(&W) -> bool,
    ) -> Decision<E, R> {
        let change = match command {
            Command::Request { waiver, by, second_person } => {
                let needs_second = *second_person || grave(waiver);
                self.begin(waiver, by, needs_second, *context, check).map(Some)
            }
            Command::Grant { id, by } => self.grant(id, by, *context).map_err(R::from),
            Command::Revoke { id, by, reason } => {
                self.revoke(id, by, reason).map(Some).map_err(R::from)
            }
            Command::Expire { id } => self.expire(id, *context).map_err(R::from),
        };
        match change {
            Ok(Some(change)) => Decision::accept(change),
            Ok(None) => Decision::nothing(),
            Err(refusal) => Decision::refuse(refusal),
        }
    }

    fn begin<R: From<Refusal>>(
        &self,
        waiver: &W,
        by: &str,
        needs_second: bool,
        context: Context,
        check: impl FnOnce(&W) -> Result<(), R>,
    ) -> Result<Change<W>, R> {
        if self.waivers.contains_key(waiver.id()) {
            return Err(Refusal::DuplicateId(waiver.id().to_owned()).into());
        }
        if Uuid::try_parse(waiver.id()).map_or(true, |id| id.to_string() != waiver.id()) {
            return Err(Refusal::BadId(short(waiver.id())).into());
        }
        check(waiver)?;
        if !words(waiver.reason()) || !words(waiver.owner()) {
            return Err(Refusal::BadWords.into());
        }
        let days = context.now.seconds_until(waiver.expires_at()) / SECONDS_A_DAY;
        #[expect(clippy::cast_precision_loss, reason = "a number of days is small")]
        let fits = days > 0.0 && days <= MAX_DAYS as f64;
        if !fits {
            return Err(Refusal::BadTime.into());
        }
        if self.waivers.len() >= MAX_WAIVERS {
            return Err(Refusal::TooMany.into());
        }
        let granted_by = (!needs_second).then(|| by.to_owned());
        Ok(Change::stands(waiver, by, granted_by.as_ref()))
    }

    fn grant(&self, id: &str, by: &str, context: Context) -> Result<Option<Change<W>>, Refusal> {
        let known = self.waivers.get(id).ok_or_else(|| Refusal::Unknown(short(id)))?;
        if known.granted_by.is_some() {
            Ok(None)
        } else if known.requested_by == by {
            Err(Refusal::SamePerson(id.to_owned()))
        } else if known.waiver.expires_at() <= context.now {
            Err(Refusal::BadTime)
        } else {
            let granted_by = Some(by.to_owned());
            Ok(Some(Change::Stands(Known { granted_by, ..known.clone() })))
        }
    }

    fn revoke(&self, id: &str, by: &str, reason: &str) -> Result<Change<W>, Refusal> {
        if !self.waivers.contains_key(id) {
            Err(Refusal::Unknown(short(id)))
        } else if words(reason) {
            Ok(Change::revoked(id, by, reason))
        } else {
            Err(Refusal::BadWords)
        }
    }

    fn expire(&self, id: &str, context: Context) -> Result<Option<Change<W>>, Refusal> {
        match self.waivers.get(id) {
            // Another instance was quicker.
            None => Ok(None),
            Some(known) if known.waiver.expires_at() <= context.now => {
                Ok(Some(Change::Expired { id: id.to_owned() }))
            }
            Some(_) => Err(Refusal::NotYet(id.to_owned())),
        }
    }

    /// Folds what came of a command.
    pub fn apply(&mut self, change: Change<W>) {
        match change {
            Change::Stands(known) => {
                self.waivers.insert(known.waiver.id().to_owned(), known);
            }
            Change::Revoked { id, .. } | Change::Expired { id } => {
                self.waivers.remove(&id);
            }
        }
    }
}
