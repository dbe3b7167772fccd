//! Whether anything of a package was let through here before, by whoever asked: known by the digests
//! that were pinned then. Asked only of names that look like others, so the log is asked seldom.

use std::sync::{Mutex, PoisonError};

use super::{
    ledger::{Ledger, LedgerFault},
    lru::Lru,
};

/// How many packages are remembered as used.
const MAX_REMEMBERED: u64 = 1_000;

/// The packages of an ecosystem that are known to be used. Once used, always used.
#[derive(Debug)]
pub struct Used(Mutex<Lru<Box<str>, ()>>);

impl Default for Used {
    fn default() -> Self {
        Self(Mutex::new(Lru::new(MAX_REMEMBERED)))
    }
}

impl Used {
    /// Whether anything of a package, given by its normalised name, was let through.
    pub async fn is_used(&self, ledger: &Ledger, package: &str) -> Result<bool, LedgerFault> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known().get(&package.into()).is_some() {
            return Ok(true);
        }
        let used = ledger.has_pinned(package).await?;
        if used {
            known().put(package.into(), (), 1);
        }
        Ok(used)
    }
}
