//! Commands on one stream wait for their turn in this process: they would only make each other try
//! again, and who tries too often is turned away. Between processes the log decides, as ever.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};
use weir_events::stream::StreamName;

/// How many are kept before those that nobody waits for are forgotten.
const MAX_KEPT: usize = 1_000;

/// A turn for each stream that is written to.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<StreamName, Arc<Turn<()>>>>);

impl Turns {
    /// Waits for the turn on a stream, first come, first served; it is over when the guard is dropped.
    pub(super) async fn of(&self, stream: &StreamName) -> OwnedMutexGuard<()> {
        self.turn(stream).lock_owned().await
    }

    fn turn(&self, stream: &StreamName) -> Arc<Turn<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.len() >= MAX_KEPT && !turns.contains_key(stream) {
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        }
        Arc::clone(turns.entry(stream.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn stream(n: usize) -> StreamName {
        StreamName::new(format!("registry/holds/{n}")).unwrap()
    }

    #[tokio::test]
    async fn a_turn_that_somebody_has_is_never_forgotten_and_nobody_else_gets_it() {
        let turns = Turns::default();
        let held = turns.of(&stream(0)).await;
        for n in 1..3 * MAX_KEPT {
            drop(turns.of(&stream(n)).await);
        }
        assert!(turns.of(&stream(0)).now_or_never().is_none());
        assert!(turns.0.lock().unwrap().len() <= MAX_KEPT + 1);
        drop(held);
        assert!(turns.of(&stream(0)).now_or_never().is_some());
    }
}
