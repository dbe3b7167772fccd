//! The files whose bytes are still coming, and whose digest is pinned when they are here: one waits for
//! each, however many read it.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::registry::gate::Artifact;

/// A file of a package, and the digest that is promised of it.
type Key = (Box<str>, Box<str>, Option<String>);

/// Those of an ecosystem.
#[derive(Debug, Clone, Default)]
pub struct Coming(Arc<Mutex<HashSet<Key>>>);

impl Coming {
    fn all(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to wait for a file, unless somebody does already.
    #[must_use]
    pub fn begin(&self, artifact: &Artifact) -> Option<Waiting> {
        let Artifact { package, file, wanted, .. } = artifact;
        let key = (package.as_str().into(), file.as_str().into(), wanted.pinned());
        let new = self.all().insert(key.clone());
        new.then(|| Waiting { key, coming: self.clone() })
    }
}

/// That somebody waits for a file. Ends when it is dropped.
#[derive(Debug)]
pub struct Waiting {
    key: Key,
    coming: Coming,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.coming.all().remove(&self.key);
    }
}
