//! Pages that were fetched and are still worked with: until what they give is in the cache, whoever
//! wants the same is given them, and the outside is not asked twice.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use weir_events::web::request::{AgentId, Hash256};

use super::fetch::Wanted;

/// How many are known before those that nobody works with are forgotten.
const MAX_KNOWN: usize = 100;

/// For whom a page was fetched: the agent and its request.
type By = (AgentId, Hash256);

/// The pages that are worked with.
#[derive(Debug)]
pub(super) struct AtHand<P>(Mutex<HashMap<Wanted, (By, Weak<P>)>>);

impl<P> Default for AtHand<P> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<P> AtHand<P> {
    /// One that is still worked with, and for whom it was fetched.
    pub(super) fn of(&self, wanted: &Wanted) -> Option<(By, Arc<P>)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (by, page) = all.get(wanted)?;
        Some((*by, page.upgrade()?))
    }

    /// One that is in the cache by now, or will never be.
    pub(super) fn forget(&self, wanted: &Wanted) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(wanted);
    }

    /// One that has come.
    pub(super) fn put(&self, wanted: Wanted, by: By, page: &Arc<P>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_KNOWN {
            all.retain(|_, (_, page)| page.strong_count() > 0);
        }
        all.insert(wanted, (by, Arc::downgrade(page)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: By = (AgentId::new([7; 32]), Hash256::new([8; 32]));

    fn wanted(n: u8) -> Wanted {
        Wanted { key: Hash256::new([n; 32]), headers: Vec::new() }
    }

    #[test]
    fn a_page_is_at_hand_as_long_as_somebody_works_with_it() {
        let (at_hand, page) = (AtHand::default(), Arc::new("page"));
        at_hand.put(wanted(1), BY, &page);
        assert_eq!(at_hand.of(&wanted(1)), Some((BY, Arc::clone(&page))));
        assert_eq!(at_hand.of(&wanted(2)), None);
        drop(page);
        assert_eq!(at_hand.of(&wanted(1)), None);
        let page = Arc::new("another");
        at_hand.put(wanted(1), BY, &page);
        at_hand.forget(&wanted(1));
        assert_eq!(at_hand.of(&wanted(1)), None);
    }

    #[test]
    fn what_nobody_works_with_takes_no_room() {
        let (at_hand, page) = (AtHand::default(), Arc::new("page"));
        at_hand.put(wanted(0), BY, &page);
        for n in 1..=255 {
            at_hand.put(wanted(n), BY, &Arc::new("gone"));
        }
        assert!(at_hand.0.lock().unwrap().len() <= MAX_KNOWN);
        assert!(at_hand.of(&wanted(0)).is_some());
    }
}
