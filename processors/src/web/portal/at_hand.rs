//! Pages that were fetched and are still worked with: until what they give is in the cache, whoever
//! wants the same is given them, and the outside is not asked twice.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use weir_events::web::request::{AgentId, Hash256};

use super::{
    outside::Page,
    work::{Fetched, Wanted},
};

/// How many are known before those that nobody works with are forgotten.
const MAX_KNOWN: usize = 100;

/// A page, as long as somebody works with it, and for whom it was fetched.
type Known = ((AgentId, Hash256), Weak<Page>);

/// The pages that are worked with.
#[derive(Debug, Default)]
pub(super) struct AtHand(Mutex<HashMap<Wanted, Known>>);

impl AtHand {
    /// One that is still worked with.
    pub(super) fn of(&self, wanted: &Wanted) -> Option<Fetched> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (by, page) = all.get(wanted)?;
        Some(Fetched { by: *by, outcome: Ok(page.upgrade()?) })
    }

    /// One that has come.
    pub(super) fn put(&self, wanted: Wanted, fetched: &Fetched) {
        let Ok(page) = &fetched.outcome else { return };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_KNOWN {
            all.retain(|_, (_, page)| page.strong_count() > 0);
        }
        all.insert(wanted, (fetched.by, Arc::downgrade(page)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(n: u8) -> Wanted {
        Wanted { key: Hash256::new([n; 32]), headers: Vec::new() }
    }

    fn fetched() -> Fetched {
        let by = (AgentId::new([7; 32]), Hash256::new([8; 32]));
        Fetched { by, outcome: Ok(Arc::new(Page::empty())) }
    }

    #[test]
    fn a_page_is_at_hand_as_long_as_somebody_works_with_it() {
        let (at_hand, one) = (AtHand::default(), fetched());
        at_hand.put(wanted(1), &one);
        assert_eq!(at_hand.of(&wanted(1)).unwrap().by, one.by);
        assert!(at_hand.of(&wanted(2)).is_none());
        drop(one);
        assert!(at_hand.of(&wanted(1)).is_none());
    }

    #[test]
    fn what_nobody_works_with_takes_no_room() {
        let (at_hand, one) = (AtHand::default(), fetched());
        at_hand.put(wanted(0), &one);
        for n in 1..=255 {
            at_hand.put(wanted(n), &fetched());
        }
        assert!(at_hand.0.lock().unwrap().len() <= MAX_KNOWN);
        assert!(at_hand.of(&wanted(0)).is_some());
    }
}
