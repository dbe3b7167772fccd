//! Records what registries tell of files that are asked for, where a policy looks at it, and remembers
//! what it recorded: the log is asked once for each file.

use std::sync::{Arc, Mutex, PoisonError};

use weir_aggregates::registry::told::{self, Tell, Telling, Told};
use weir_events::registry::Ecosystem;

use super::{
    gate::Artifact,
    ledger::{Ledger, LedgerFault},
    lru::Lru,
};
use crate::{
    caller::Caller,
    door::{Door, DoorFault},
};

/// How many files are remembered.
const MAX_REMEMBERED: u64 = 50_000;

type Key = (Box<str>, Box<str>);

/// What is remembered of an ecosystem: what was told of each file.
#[derive(Debug)]
pub struct Tellings(Mutex<Lru<Key, Arc<Told>>>);

impl Default for Tellings {
    fn default() -> Self {
        Self(Mutex::new(Lru::new(MAX_REMEMBERED)))
    }
}

impl Tellings {
    /// Records what is told of a file, unless it is on record.
    pub async fn tell(
        &self,
        ledger: &Ledger,
        artifact: &Artifact,
        caller: &Caller,
    ) -> Result<(), LedgerFault> {
        let Some(told) = &artifact.told else { return Ok(()) };
        let key = (artifact.package.as_str().into(), artifact.file.as_str().into());
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known().get(&key).is_some_and(|recorded| **recorded == *told) {
            return Ok(());
        }
        ledger
            .tell(
                Tell {
                    ecosystem: ledger.ecosystem(),
                    package: artifact.package.clone(),
                    version: artifact.version.as_ref().map(ToString::to_string),
                    file: artifact.file.clone(),
                    told: told.clone(),
                },
                caller,
            )
            .await?;
        known().put(key, Arc::new(told.clone()), 1);
        Ok(())
    }
}

impl Tellings {
    /// What was told of a file before, as far as that is on record.
    pub async fn known(
        &self,
        ledger: &Ledger,
        artifact: &Artifact,
    ) -> Result<Option<Told>, LedgerFault> {
        let key = (artifact.package.as_str().into(), artifact.file.as_str().into());
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = known().get(&key).map(|told| Told::clone(told));
        match remembered {
            Some(told) => Ok(Some(told)),
            None => ledger.told(&artifact.package, &artifact.file).await,
        }
    }
}

/// What the log knows of what was told of a version of a package, given by its normalised name. For
/// those who explain: nothing is recorded.
pub async fn recall(
    door: &Door,
    ecosystem: Ecosystem,
    package: &str,
    version: &str,
) -> Result<Option<Told>, DoorFault> {
    // What can have no stream was never recorded in one.
    let Ok(stream) = told::stream(ecosystem, package) else { return Ok(None) };
    let (state, _) = door.load::<Telling>(&stream).await?;
    Ok(state.version(version))
}
