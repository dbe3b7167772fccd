//! Trying again what may pass by itself: after pauses that grow, and are never the same for two
//! instances.

use std::time::Duration;

use tracing::warn;

use super::SyncFault;

/// How often something is tried, and after what pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How often it is tried at all.
    pub tries: u32,
    /// The pause after the first try; each one after is twice as long.
    pub first: Duration,
    /// The longest pause.
    pub max: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { tries: 3, first: Duration::from_secs(5), max: Duration::from_mins(5) }
    }
}

impl Retry {
    /// Tries until it works, the fault is one that waiting does not heal, or it was tried often
    /// enough. `chance` gives numbers from 0 to 1: a pause is between half and all of its length.
    /// Who asks for a longer pause gets it, unless it is longer than the longest.
    pub async fn run<T, F: Future<Output = Result<T, SyncFault>>>(
        self,
        source: &str,
        mut chance: impl FnMut() -> f64,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, SyncFault> {
        let mut pause = self.first.min(self.max);
        let mut n_tried = 0;
        loop {
            let fault = match attempt().await {
                Ok(done) => return Ok(done),
                Err(fault) => fault,
            };
            n_tried += 1;
            let asked = fault.retry_after().unwrap_or(Duration::ZERO);
            if n_tried >= self.tries || !fault.passing() || asked > self.max {
                return Err(fault);
            }
            let shortened = pause.mul_f64(chance().clamp(0.0, 1.0).mul_add(0.5, 0.5));
            let wait = shortened.max(asked);
            warn!(source, error = %fault, "source not synced, trying again in {wait:?}");
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(self.max);
        }
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use tokio::time::Instant;

    use super::*;

    fn answered(status: u16, retry_after: Option<u64>) -> SyncFault {
        let (url, retry_after) = ("x".to_owned(), retry_after.map(Duration::from_secs));
        SyncFault::Status { url, status: StatusCode::from_u16(status).unwrap(), retry_after }
    }

    /// How often it was tried, and when after the start, in seconds.
    async fn times(retry: Retry, chance: f64, fault: impl Fn() -> SyncFault) -> Vec<f64> {
        let (start, mut times) = (Instant::now(), Vec::new());
        let attempt = || {
            times.push(start.elapsed().as_secs_f64().round());
            std::future::ready(Err::<(), _>(fault()))
        };
        retry.run("osv", || chance, attempt).await.unwrap_err();
        times
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_up_to_a_bound_and_are_shortened_by_up_to_half() {
        let often = Retry { tries: 9, ..Retry::default() };
        let full = times(often, 1.0, || answered(503, None)).await;
        assert_eq!(full, [0., 5., 15., 35., 75., 155., 315., 615., 915.]);
        assert_eq!(times(Retry::default(), 1.0, || answered(500, None)).await, [0., 5., 15.]);
        assert_eq!(times(Retry::default(), 0.0, || answered(429, None)).await, [0., 3., 8.]);
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_can_pass_is_tried_again() {
        assert_eq!(times(Retry::default(), 1.0, || answered(404, None)).await, [0.]);
        let slow = || SyncFault::TimedOut(Duration::from_secs(1));
        assert_eq!(times(Retry::default(), 1.0, slow).await, [0., 5., 15.]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_for_a_longer_pause_gets_it_or_is_left_alone() {
        assert_eq!(times(Retry::default(), 1.0, || answered(429, Some(30))).await, [0., 30., 60.]);
        assert_eq!(times(Retry::default(), 1.0, || answered(429, Some(301))).await, [0.]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_works_the_second_time_has_worked() {
        let mut n_tried = 0;
        let attempt = || {
            n_tried += 1;
            std::future::ready(if n_tried == 2 { Ok(()) } else { Err(answered(502, None)) })
        };
        Retry::default().run("osv", || 0.5, attempt).await.unwrap();
        assert_eq!(n_tried, 2);
    }
}
