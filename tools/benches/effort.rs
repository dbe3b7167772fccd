//! How long and how often something is measured, and what is made of it.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use crate::Fault;

/// How much work a run puts into each line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Pairs that a ratio is the median of.
    pub(crate) n_rounds: usize,
    /// How long one side of a pair is measured.
    pub(crate) span: Duration,
    /// Events in the log that is read, replayed and verified.
    pub(crate) n_events: usize,
    /// Whether what takes minutes is left out.
    pub(crate) quick: bool,
    /// Whether what takes many minutes is measured too.
    pub(crate) long: bool,
}

impl Effort {
    pub(crate) const fn new(quick: bool, long: bool) -> Self {
        let (n_rounds, millis, n_events) =
            if quick { (5, 300, 60_000) } else { (9, 1_500, 600_000) };
        Self { n_rounds, span: Duration::from_millis(millis), n_events, quick, long }
    }
}

/// Two things measured alternately.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// The median of ours.
    pub(crate) ours: f64,
    /// The median of theirs.
    pub(crate) theirs: f64,
    /// The median of each round's ours by theirs: what else the machine did in a round happened
    /// to both.
    pub(crate) ratio: f64,
}

/// Measures two things in turn, the other one first in every second round.
pub(crate) async fn alternate<A, B>(
    n_rounds: usize,
    mut ours: impl FnMut() -> A,
    mut theirs: impl FnMut() -> B,
) -> Result<Pair, Fault>
where
    A: Future<Output = Result<f64, Fault>>,
    B: Future<Output = Result<f64, Fault>>,
{
    let (mut all_ours, mut all_theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..n_rounds {
        let (one, other);
        if round.is_multiple_of(2) {
            one = ours().await?;
            other = theirs().await?;
        } else {
            other = theirs().await?;
            one = ours().await?;
        }
        all_ours.push(one);
        all_theirs.push(other);
        ratios.push(one / other);
    }
    Ok(Pair {
        ours: median(&mut all_ours),
        theirs: median(&mut all_theirs),
        ratio: median(&mut ratios),
    })
}

/// The middle one.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value that this share of the values does not exceed; sorts them.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "an index into a list of measurements, rounded"
    )]
    let nth = (last as f64 * share).round() as usize;
    values.get(nth.min(last)).copied().unwrap_or(f64::NAN)
}

/// How many a second.
#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
pub(crate) fn rate(n: usize, since: Instant) -> f64 {
    n as f64 / since.elapsed().as_secs_f64()
}
