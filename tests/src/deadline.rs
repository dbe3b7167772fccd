//! Bounded waits for facts: what is not true in time fails with where things stood.

use std::{
    fmt::Debug,
    time::{Duration, Instant},
};

/// How long a fact may take to become true.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What a promise of time is held to where the machine is busy with other things.
const GENEROUS: Duration = Duration::from_secs(10);

/// How long something that is promised within `promised` may take here. Only the long counts, which
/// have the machine to themselves, hold it to the promise itself.
pub fn promise(promised: Duration) -> Duration {
    if crate::database::long() { promised } else { promised.max(GENEROUS) }
}

/// How often it is asked for.
const PAUSE: Duration = Duration::from_millis(20);

/// Asks until the fact is there, at most [`PATIENCE`].
///
/// # Panics
/// When it is not there in time, with the last thing that was said instead.
pub async fn until<T, S: Debug>(what: &str, ask: impl AsyncFnMut() -> Result<T, S>) -> T {
    within(PATIENCE, what, ask).await
}

/// Asks until the fact is there, at most `patience`.
///
/// # Panics
/// When it is not there in time, with the last thing that was said instead.
pub async fn within<T, S: Debug>(
    patience: Duration,
    what: &str,
    mut ask: impl AsyncFnMut() -> Result<T, S>,
) -> T {
    let start = Instant::now();
    loop {
        match ask().await {
            Ok(fact) => return fact,
            Err(instead) => {
                assert!(start.elapsed() < patience, "not in {patience:?}: {what}; {instead:?}");
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
