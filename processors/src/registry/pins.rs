//! Pins the digests of files that were let through, and remembers the ones that it pinned: the log
//! is asked once for each file.

pub mod coming;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::{error, warn};
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

/// How what is promised of a file compares with what it was when it was first let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is the same, or nothing is ever pinned of it.
    Settled,
    /// It was never pinned.
    Unpinned,
    /// It was something else.
    Changed(Refusal),
}

/// What is remembered of an ecosystem: the digest of each file. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pins(Arc<Mutex<Lru<Key, Box<str>>>>);

impl Default for Pins {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Lru::new(MAX_REMEMBERED))))
    }
}

impl Pins {
    fn all(&self) -> MutexGuard<'_, Lru<Key, Box<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares what is promised of a file with what was pinned. Nothing is recorded.
    pub async fn standing(
        &self,
        ledger: &Ledger,
        artifact: &Artifact,
    ) -> Result<Standing, LedgerFault> {
        let (key, now) = (key(artifact), artifact.wanted.pinned());
        let known = self.all().get(&key).cloned();
        if let Some(first) = known {
            let (same, first) = (Some(&*first) == now.as_deref(), String::from(first));
            let changed = |now| Standing::Changed(Refusal::Changed { first, now });
            return Ok(if same { Standing::Settled } else { changed(now) });
        }
        let (package, file) = (artifact.package.clone(), artifact.file.clone());
        let standing = match ledger.pinned(package, file, now.clone()).await? {
            Err(refusal) => Standing::Changed(refusal),
            Ok(true) => Standing::Settled,
            Ok(false) => Standing::Unpinned,
        };
        if let (Standing::Settled, Some(now)) = (&standing, now) {
            self.all().put(key, now.into(), 1);
        }
        Ok(standing)
    }

    /// Goes by the digest of a file from now on, whose bytes are known to have it.
    pub fn remember(&self, artifact: &Artifact) {
        if let Some(digest) = artifact.wanted.pinned() {
            self.all().put(key(artifact), digest.into(), 1);
        }
    }

    /// Pins the digest of a file that was let through, whose bytes are known to have it. What cannot be
    /// recorded is pinned when the file is let through once more.
    pub async fn pin(&self, ledger: &Ledger, artifact: &Artifact, caller: &Caller) {
        self.remember(artifact);
        let Artifact { package, file, wanted, .. } = artifact;
        let pinned = ledger.pin(package.clone(), file.clone(), wanted.pinned(), caller).await;
        match pinned {
            Ok(None) => return,
            Ok(Some(refusal)) => {
                let cause = refusal.to_string();
                error!(package, file, cause, "a file was let through as two things at once");
            }
            Err(fault) => {
                warn!(package, file, error = %fault, "a digest could not be pinned");
            }
        }
        // The log knows better, or is asked once more.
        self.all().remove(&key(artifact));
    }
}

fn key(artifact: &Artifact) -> Key {
    (artifact.package.as_str().into(), artifact.file.as_str().into())
}
