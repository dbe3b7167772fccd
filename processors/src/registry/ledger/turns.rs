//! Who counts for the same token waits for his turn.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Mutex as Turn;

/// How many are kept before those that nobody waits for are forgotten.
const MAX_KEPT: usize = 1_000;

/// A turn for each token.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<String, Arc<Turn<()>>>>);

impl Turns {
    /// The turn of a token.
    pub(super) fn of(&self, token_id: &str) -> Arc<Turn<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.len() >= MAX_KEPT {
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        }
        Arc::clone(turns.entry(token_id.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_somebody_waits_for_is_never_forgotten() {
        let turns = Turns::default();
        let held = turns.of("a");
        for n in 0..3 * MAX_KEPT {
            turns.of(&n.to_string());
        }
        assert!(Arc::ptr_eq(&held, &turns.of("a")));
        assert!(turns.0.lock().unwrap().len() <= MAX_KEPT + 1);
    }
}
