//! Pages that were fetched and are still worked with: until what they give is in the cache, whoever
//! wants the same, and may have it, is given them, and the outside is not asked twice. Each new one works
//! with it, too, so that has an end.

use std::{
    collections::HashMap,
    ptr,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::time::Instant;
use weir_events::web::request::{AgentId, Hash256};

use super::fetch::Wanted;

/// How many are known before those that nobody works with are forgotten.
const MAX_KNOWN: usize = 100;

/// For whom a page was fetched: the agent and its request.
type By = (AgentId, Hash256);

/// The pages that are worked with.
#[derive(Debug)]
pub(super) struct AtHand<P>(Mutex<HashMap<Wanted, Known<P>>>);

#[derive(Debug)]
struct Known<P> {
    by: By,
    page: Weak<P>,
    since: Instant,
}

impl<P> Default for AtHand<P> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<P> AtHand<P> {
    /// One that is still worked with and came no longer ago than that, and for whom it was fetched.
    pub(super) fn of(&self, wanted: &Wanted, longest: Duration) -> Option<(By, Arc<P>)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(wanted).filter(|known| known.since.elapsed() <= longest)?;
        Some((known.by, known.page.upgrade()?))
    }

    /// One that is in the cache by now, or will never be; not another that has come since.
    pub(super) fn forget(&self, wanted: &Wanted, page: &Arc<P>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(wanted).is_some_and(|known| ptr::eq(known.page.as_ptr(), Arc::as_ptr(page))) {
            all.remove(wanted);
        }
    }

    /// One that has come.
    pub(super) fn put(&self, wanted: Wanted, by: By, page: &Arc<P>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_KNOWN {
            all.retain(|_, known| known.page.strong_count() > 0);
        }
        all.insert(wanted, Known { by, page: Arc::downgrade(page), since: Instant::now() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::pages::Moment;

    const BY: By = (AgentId::new([7; 32]), Hash256::new([8; 32]));

    fn wanted(n: u8) -> Wanted {
        Wanted { key: Hash256::new([n; 32]), headers: Vec::new(), forgotten: Moment::default() }
    }

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn a_page_is_at_hand_as_long_as_somebody_works_with_it() {
        let (at_hand, page) = (AtHand::default(), Arc::new("page"));
        at_hand.put(wanted(1), BY, &page);
        assert_eq!(at_hand.of(&wanted(1), LONG), Some((BY, Arc::clone(&page))));
        assert_eq!(at_hand.of(&wanted(2), LONG), None);
        drop(page);
        assert_eq!(at_hand.of(&wanted(1), LONG), None);
    }

    #[test]
    fn it_is_let_go_but_not_for_another_that_came_since() {
        let (at_hand, old, new) = (AtHand::default(), Arc::new("old"), Arc::new("new"));
        at_hand.put(wanted(1), BY, &old);
        at_hand.put(wanted(1), BY, &new);
        at_hand.forget(&wanted(1), &old);
        assert_eq!(at_hand.of(&wanted(1), LONG), Some((BY, Arc::clone(&new))));
        at_hand.forget(&wanted(1), &new);
        assert_eq!(at_hand.of(&wanted(1), LONG), None);
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_not_at_hand_for_ever_however_many_come() {
        let (at_hand, page) = (AtHand::default(), Arc::new("page"));
        at_hand.put(wanted(1), BY, &page);
        tokio::time::advance(LONG).await;
        assert!(at_hand.of(&wanted(1), LONG).is_some());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(at_hand.of(&wanted(1), LONG).is_none());
    }

    #[test]
    fn what_nobody_works_with_takes_no_room() {
        let (at_hand, page) = (AtHand::default(), Arc::new("page"));
        at_hand.put(wanted(0), BY, &page);
        for n in 1..=255 {
            at_hand.put(wanted(n), BY, &Arc::new("gone"));
        }
        assert!(at_hand.0.lock().unwrap().len() <= MAX_KNOWN);
        assert!(at_hand.of(&wanted(0), LONG).is_some());
    }
}
