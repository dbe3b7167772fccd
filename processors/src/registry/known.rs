//! What is known here, because a file of it was delivered in full to anybody: the one answer to what is
//! new, and to which names are used.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::warn;
use weir_events::registry::FileDelivered;

use super::{
    ledger::{Ledger, LedgerFault},
    lru::Lru,
};
use crate::caller::Caller;

/// How many versions are remembered as known.
const MAX_REMEMBERED: u64 = 50_000;

/// The package, and the version; none stands for anything of the package.
type Key = (Box<str>, Option<Box<str>>);

/// What of an ecosystem is known. Once known, always known. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Known(Arc<Mutex<Lru<Key, ()>>>);

impl Default for Known {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Lru::new(MAX_REMEMBERED))))
    }
}

fn key(package: &str, version: Option<&str>) -> Key {
    (package.into(), version.map(Into::into))
}

impl Known {
    fn all(&self) -> MutexGuard<'_, Lru<Key, ()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anything of a package, given by its normalised name, is known.
    pub async fn package(&self, ledger: &Ledger, package: &str) -> Result<bool, LedgerFault> {
        let key = key(package, None);
        if self.all().get(&key).is_some() {
            return Ok(true);
        }
        let known = ledger.is_known(package).await?;
        if known {
            self.all().put(key, (), 1);
        }
        Ok(known)
    }

    /// Whether any of these versions of a package is known.
    pub async fn any_version(
        &self,
        ledger: &Ledger,
        package: &str,
        versions: &[&str],
    ) -> Result<bool, LedgerFault> {
        let remembered = |version: &&str| self.all().get(&key(package, Some(version))).is_some();
        if versions.is_empty() || versions.iter().any(remembered) {
            return Ok(!versions.is_empty());
        }
        ledger.any_is_known(package, versions).await
    }

    /// Puts on record that a file was delivered in full, where that makes its version known. What cannot
    /// be recorded is so when a file of it is delivered once more.
    pub async fn delivered(&self, ledger: &Ledger, delivered: FileDelivered, caller: &Caller) {
        let (package, version) = (delivered.package.clone(), delivered.version.clone());
        let key = key(&package, Some(version.as_deref().unwrap_or_default()));
        {
            let mut all = self.all();
            if all.get(&key).is_some() {
                return;
            }
            // Before it is on record: of many who deliver it at once, one records it.
            all.put(key.clone(), (), 1);
        }
        let recorded = async {
            let version = version.as_deref().unwrap_or_default();
            if !ledger.any_is_known(&package, &[version]).await? {
                ledger.delivered(delivered, caller).await?;
            }
            Ok::<_, LedgerFault>(())
        };
        if let Err(fault) = recorded.await {
            warn!(package, version, error = %fault, "that a file was delivered is not on record");
            self.all().remove(&key);
        } else {
            self.all().put((package.into(), None), (), 1);
        }
    }
}
