//! Decisions of the firewall on their way into the log. Nothing passes unrecorded: who gets a fault
//! here lets nothing through.

use std::{
    convert::Infallible,
    sync::{Mutex, MutexGuard, PoisonError},
};

use weir_aggregates::{
    machine::{Context, Machine as _},
    registry::{
        hold::{self, Holds, Known},
        pins::{self, Pin, Pinning},
        quota::{Refusal, Spend, Spending},
        seen::{self, Look, State, Watching},
        told::{self, Tell, Telling, Told},
    },
};
use weir_events::{
    position::Position,
    registry::{
        Ecosystem, Event, FileDelivered, MetadataFiltered, PackageAllowed,
        hold::{HOLDS, Hold},
        profile::{Quota, quota_stream},
    },
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
};
use weir_log::{append::AppendFault, idempotency::CommandKey};
use weir_projections::{query::QueryFault, registry::known_versions};

use super::lru::Lru;
use crate::{
    caller::Caller,
    door::{Door, DoorFault, ExecuteFault},
};

/// How many filtered answers are remembered as recorded, to spare the log the question.
const MAX_REMEMBERED: u64 = 100_000;

/// The most text that versions take in one event.
const MAX_VERSIONS_BYTES: usize = 64 << 10;

/// The way of one ecosystem's decisions into the log.
#[derive(Debug)]
pub struct Ledger {
    ecosystem: Ecosystem,
    book: Book,
    recorded: Mutex<Lru<CommandKey, ()>>,
    /// What a test need not look at.
    #[cfg(test)]
    pinned: Mutex<Vec<Event>>,
}

#[derive(Debug)]
enum Book {
    Door(Door),
    /// What a test looks at; `None` is a log that cannot be written.
    #[cfg(test)]
    Memory(Mutex<Option<Vec<Event>>>, std::sync::atomic::AtomicI64),
}

/// What is filtered: a package's answers in the one say nothing of those in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// The versions of one package.
    Versions,
    /// The results of a search.
    Search,
}

/// A decision could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum LedgerFault {
    /// The door could not do its work.
    #[error("could not record a decision about packages")]
    Door(#[from] DoorFault),
    /// What was seen could not be recorded.
    #[error("could not record what is seen or told of versions")]
    Seen(#[from] ExecuteFault<Infallible>),
    /// What a file is could not be recorded.
    #[error("could not record the digest of a file")]
    Pinned(#[source] Box<ExecuteFault<pins::Refusal>>),
    /// The read model could not be asked.
    #[error(transparent)]
    Query(#[from] QueryFault),
    /// No stream has this name.
    #[error(transparent)]
    Stream(#[from] StreamNameFault),
}

/// A file is not let through.
#[derive(Debug, thiserror::Error)]
pub enum SpendFault {
    /// The quota is used up.
    #[error(transparent)]
    Spent(Refusal),
    /// It could not be recorded.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
}

/// A person cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum HoldFault {
    /// Too much is asked already.
    #[error(transparent)]
    Refused(hold::Refusal),
    /// It could not be recorded.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
}

fn busy() -> LedgerFault {
    DoorFault::from(AppendFault::Busy).into()
}

impl Ledger {
    /// The way through a door.
    pub fn new(ecosystem: Ecosystem, door: Door) -> Self {
        Self {
            ecosystem,
            book: Book::Door(door),
            recorded: Mutex::new(Lru::new(MAX_REMEMBERED)),
            #[cfg(test)]
            pinned: Mutex::default(),
        }
    }

    /// Whose decisions they are.
    pub const fn ecosystem(&self) -> Ecosystem {
        self.ecosystem
    }

    /// The time, by the door's clock.
    pub fn now(&self) -> Timestamp {
        match &self.book {
            Book::Door(door) => door.now(),
            #[cfg(test)]
            Book::Memory(_, now) => {
                Timestamp::from_micros(now.load(std::sync::atomic::Ordering::SeqCst))
            }
        }
    }

    /// A fresh id, by the door's clock.
    pub fn new_id(&self) -> String {
        match &self.book {
            Book::Door(door) => door.new_id().to_string(),
            #[cfg(test)]
            Book::Memory(events, _) => {
                format!("after {} events", locked(events).as_ref().map_or(0, Vec::len))
            }
        }
    }

    /// Records a fact, and says where it stands.
    pub async fn record(
        &self,
        event: impl Into<Event> + Send,
        caller: &Caller,
    ) -> Result<Position, LedgerFault> {
        let event = event.into();
        match &self.book {
            Book::Door(door) => Ok(door.record(self.stream()?, &[event], caller).await?.last),
            #[cfg(test)]
            Book::Memory(events, _) => {
                let mut events = locked(events);
                let events = events.as_mut().ok_or_else(testing::broken)?;
                events.push(event);
                Ok(Position(i64::try_from(events.len()).unwrap_or(i64::MAX)))
            }
        }
    }

    /// Records what is there of a package and was not seen before, and says all that was ever seen.
    pub async fn look(
        &self,
        package: &str,
        names: Vec<String>,
        caller: &Caller,
    ) -> Result<State, LedgerFault> {
        let (ecosystem, package) = (self.ecosystem, package.to_owned());
        let stream = seen::stream(ecosystem, &package)?;
        let look = Look { ecosystem, package, names };
        match &self.book {
            Book::Door(door) => {
                door.execute::<Watching>(&stream, &look, caller, None).await?;
                Ok(door.load::<Watching>(&stream).await?.0)
            }
            #[cfg(test)]
            Book::Memory(events, _) => {
                let mut events = locked(events);
                let events = events.as_mut().ok_or_else(testing::broken)?;
                Ok(testing::look(events, &look, self.now()))
            }
        }
    }

    /// Records that a file is let through, where its token's quota leaves room for it: in one append
    /// with what that costs.
    pub async fn spend(
        &self,
        quota: Quota,
        bytes: u64,
        allowed: PackageAllowed,
        caller: &Caller,
    ) -> Result<Position, SpendFault> {
        let token_id = caller.token().unwrap_or_default().to_owned();
        let at = self.now();
        let spend = Spend { token_id, quota, bytes, at };
        let fact = Event::from(allowed);
        match &self.book {
            Book::Door(door) => {
                let quota = quota_stream(&spend.token_id, &at.date()).map_err(LedgerFault::from)?;
                let decisions = self.stream().map_err(LedgerFault::from)?;
                let facts = (&decisions, [fact]);
                let spent =
                    door.execute_with::<Spending>(&quota, &spend, (facts.0, &facts.1), caller);
                spent.await.map_err(|fault| match fault {
                    ExecuteFault::Refused(refusal) => SpendFault::Spent(refusal),
                    ExecuteFault::Fault(fault) => SpendFault::Ledger(fault.into()),
                    // Only commands with a key are told so.
                    ExecuteFault::RefusedBefore(_) | ExecuteFault::KeyReused => busy().into(),
                })
            }
            #[cfg(test)]
            Book::Memory(events, _) => {
                let mut events = locked(events);
                let events = events.as_mut().ok_or_else(testing::broken)?;
                let state = weir_aggregates::machine::fold::<Spending>(events.iter());
                let decision = Spending::decide(&state, &spend, &Context { now: at });
                if let Some(refusal) = decision.refusal {
                    return Err(SpendFault::Spent(refusal));
                }
                events.extend(decision.events);
                events.push(fact);
                Ok(Position(i64::try_from(events.len()).unwrap_or(i64::MAX)))
            }
        }
    }

    /// What became of pinning this digest of a file before: whether nothing is left to pin, or why it
    /// cannot be. Nothing is recorded.
    pub async fn pinned(
        &self,
        package: String,
        file: String,
        digest: Option<String>,
    ) -> Result<Result<bool, pins::Refusal>, LedgerFault> {
        let ecosystem = self.ecosystem;
        let stream = pins::stream(ecosystem, &package)?;
        let state = match &self.book {
            Book::Door(door) => door.load::<Pinning>(&stream).await?.0,
            #[cfg(test)]
            Book::Memory(_, _) => testing::pinned(&locked(&self.pinned), &package),
        };
        let pin = Pin { ecosystem, package, file, digest };
        let decision = Pinning::decide(&state, &pin, &Context { now: self.now() });
        Ok(decision.refusal.map_or(Ok(decision.events.is_empty()), Err))
    }

    /// Records the digest of a file where it is the first, and says so where it was another.
    pub async fn pin(
        &self,
        package: String,
        file: String,
        digest: Option<String>,
        caller: &Caller,
    ) -> Result<Option<pins::Refusal>, LedgerFault> {
        let ecosystem = self.ecosystem;
        let stream = pins::stream(ecosystem, &package)?;
        let pin = Pin { ecosystem, package, file, digest };
        match &self.book {
            Book::Door(door) => match door.execute::<Pinning>(&stream, &pin, caller, None).await {
                Ok(_) => Ok(None),
                Err(ExecuteFault::Refused(refusal)) => Ok(Some(refusal)),
                Err(fault) => Err(LedgerFault::Pinned(Box::new(fault))),
            },
            #[cfg(test)]
            Book::Memory(_, _) => Ok(testing::pin(&mut locked(&self.pinned), &pin)),
        }
    }

    /// Whether anything of a package is known: delivered in full to anybody. What the read model has not
    /// seen yet counts as new.
    pub async fn is_known(&self, package: &str) -> Result<bool, LedgerFault> {
        match &self.book {
            Book::Door(door) => {
                let database = door.log().database();
                Ok(known_versions::is_known(database, self.ecosystem, package).await?)
            }
            #[cfg(test)]
            Book::Memory(_, _) => Ok(testing::known(&locked(&self.pinned), package, |_| true)),
        }
    }

    /// Whether any of these versions of a package is; the empty one is that which no file's name tells.
    pub async fn any_is_known(
        &self,
        package: &str,
        versions: &[&str],
    ) -> Result<bool, LedgerFault> {
        match &self.book {
            Book::Door(door) => {
                let (database, ecosystem) = (door.log().database(), self.ecosystem);
                Ok(known_versions::any_is_known(database, ecosystem, package, versions).await?)
            }
            #[cfg(test)]
            Book::Memory(_, _) => {
                let is_it = |version: &str| versions.contains(&version);
                Ok(testing::known(&locked(&self.pinned), package, is_it))
            }
        }
    }

    /// Records that a file was delivered in full.
    pub async fn delivered(
        &self,
        delivered: FileDelivered,
        caller: &Caller,
    ) -> Result<(), LedgerFault> {
        match &self.book {
            Book::Door(door) => {
                door.record(self.stream()?, &[Event::from(delivered)], caller).await?;
            }
            #[cfg(test)]
            Book::Memory(_, _) => locked(&self.pinned).push(delivered.into()),
        }
        Ok(())
    }

    /// Asks a person, unless the same was asked, and says what there is of it now.
    pub async fn hold(&self, hold: Hold, caller: &Caller) -> Result<Known, HoldFault> {
        let now = hold.requested_at;
        let command = hold::Command::Request(hold.clone());
        let state = match &self.book {
            Book::Door(door) => {
                let stream = StreamName::new(HOLDS).map_err(LedgerFault::from)?;
                let asked = door.execute::<Holds>(&stream, &command, caller, None).await;
                asked.map_err(|fault| match fault {
                    ExecuteFault::Refused(refusal) => HoldFault::Refused(refusal),
                    ExecuteFault::Fault(fault) => HoldFault::Ledger(fault.into()),
                    // Only commands with a key are told so.
                    ExecuteFault::RefusedBefore(_) | ExecuteFault::KeyReused => busy().into(),
                })?;
                let loaded = door.load::<Holds>(&stream).await;
                loaded.map_err(LedgerFault::from)?.0
            }
            #[cfg(test)]
            Book::Memory(events, _) => {
                let mut events = locked(events);
                let events = events.as_mut().ok_or_else(testing::broken)?;
                let mut state = weir_aggregates::machine::fold::<Holds>(events.iter());
                let decision = Holds::decide(&state, &command, &Context { now });
                if let Some(refusal) = decision.refusal {
                    return Err(HoldFault::Refused(refusal));
                }
                for event in decision.events {
                    Holds::apply(&mut state, &event);
                    events.push(event);
                }
                state
            }
        };
        // Gone only where its time was over in this moment.
        state.same(&hold, now).cloned().ok_or_else(|| busy().into())
    }

    /// Records what is told of a file, where that is news.
    pub async fn tell(&self, tell: Tell, caller: &Caller) -> Result<(), LedgerFault> {
        let stream = told::stream(self.ecosystem, &tell.package)?;
        match &self.book {
            Book::Door(door) => {
                door.execute::<Telling>(&stream, &tell, caller, None).await?;
            }
            #[cfg(test)]
            Book::Memory(_, _) => testing::tell(&mut locked(&self.pinned), &tell),
        }
        Ok(())
    }

    /// What was told of a file before.
    pub async fn told(&self, package: &str, file: &str) -> Result<Option<Told>, LedgerFault> {
        let stream = told::stream(self.ecosystem, package)?;
        let state = match &self.book {
            Book::Door(door) => door.load::<Telling>(&stream).await?.0,
            #[cfg(test)]
            Book::Memory(_, _) => testing::told(&locked(&self.pinned), package),
        };
        Ok(state.file(file).cloned())
    }

    /// Records that a list was filtered: once for each principal, kind of list, package and what is
    /// known of it (its key), on whichever instance, before or after a restart. Says whether this was the first
    /// time, as far as this process knows.
    pub async fn filtered(
        &self,
        list: List,
        mut filtered: MetadataFiltered,
        known_by: &blake3::Hash,
        caller: &Caller,
    ) -> Result<bool, LedgerFault> {
        let key = CommandKey::of(
            // Names do not tell principals apart: two tokens may have the same.
            &caller.actor,
            // With what no client can send, so that no client's own key is ever this one.
            &format!(
                "\0{} filtered {list:?}/{}/{}",
                self.ecosystem,
                filtered.package,
                known_by.to_hex()
            ),
        );
        let known = || locked(&self.recorded);
        if known().get(&key).is_some() {
            return Ok(false);
        }
        shorten(&mut filtered.hidden);
        shorten(&mut filtered.marked);
        match &self.book {
            Book::Door(door) => {
                door.record_once(self.stream()?, &[Event::from(filtered)], caller, key).await?;
            }
            #[cfg(test)]
            Book::Memory(events, _) => {
                locked(events).as_mut().ok_or_else(testing::broken)?.push(filtered.into());
            }
        }
        known().put(key, (), 1);
        Ok(true)
    }

    fn stream(&self) -> Result<StreamName, StreamNameFault> {
        StreamName::new(format!("registry/decisions/{}/{}", self.now().date(), self.ecosystem))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps as many versions as an event may hold; the document they are of stands beside them.
fn shorten(versions: &mut Vec<String>) {
    let mut n_bytes = 0;
    let fits = |version: &&String| {
        n_bytes += version.len() + 5;
        n_bytes <= MAX_VERSIONS_BYTES
    };
    let n_kept = versions.iter().take_while(fits).count();
    versions.truncate(n_kept);
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
