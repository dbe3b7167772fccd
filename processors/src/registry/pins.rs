//! Pins the digests of files that are let through, and remembers the ones that it pinned: the log
//! is asked once for each file.

use std::sync::{Mutex, PoisonError};

use weir_aggregates::registry::pins::Refusal;

use super::{
    gate::Artifact,
    ledger::{Ledger, LedgerFault},
    lru::Lru,
};
use crate::caller::Caller;

/// How many files are remembered.
const MAX_REMEMBERED: u64 = 50_000;

type Key = (Box<str>, Box<str>);

/// What is remembered of an ecosystem: the digest of each file.
#[derive(Debug)]
pub struct Pins(Mutex<Lru<Key, Box<str>>>);

impl Default for Pins {
    fn default() -> Self {
        Self(Mutex::new(Lru::new(MAX_REMEMBERED)))
    }
}

impl Pins {
    /// Pins what is promised of a file, and says so where something else was promised before.
    pub async fn pin(
        &self,
        ledger: &Ledger,
        artifact: &Artifact,
        caller: &Caller,
    ) -> Result<Option<Refusal>, LedgerFault> {
        let key = (artifact.package.as_str().into(), artifact.file.as_str().into());
        let digest = artifact.wanted.pinned();
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known().get(&key).is_some_and(|first| Some(&**first) == digest.as_deref());
        if same {
            return Ok(None);
        }
        let (package, file) = (artifact.package.clone(), artifact.file.clone());
        let refusal = ledger.pin(package, file, digest.clone(), caller).await?;
        if let (None, Some(digest)) = (&refusal, digest) {
            known().put(key, digest.into(), 1);
        }
        Ok(refusal)
    }
}
