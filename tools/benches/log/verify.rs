//! Verifying: against the bare hash over the same bytes.

use std::time::Instant;

use weir_events::position::Position;
use weir_log::read::MAX_READ;

use super::read::{Filled, seal, verify};
use crate::{
    Fault,
    effort::{Effort, alternate},
    line::Line,
};

pub(super) async fn against_blake3(
    effort: Effort,
    filled: &Filled,
    line: Line,
) -> Result<Line, Fault> {
    seal(filled).await?;
    // The same bytes, event by event as anybody must who wants to know which one was changed.
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    let mut last = Position::START;
    loop {
        let events = filled.open.log.read(last, MAX_READ).await?;
        let Some(event) = events.last() else { break };
        last = event.position;
        for event in &events {
            // As many as a leaf covers: 51 bytes around stream, payload and meta.
            bytes.resize(bytes.len() + 51, 7);
            bytes.extend_from_slice(event.stream.as_str().as_bytes());
            bytes.extend_from_slice(&event.payload);
            bytes.extend_from_slice(&event.meta);
            ends.push(bytes.len());
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a size for people")]
    let megabytes = bytes.len() as f64 / 1e6;
    let pair = alternate(
        effort.n_rounds,
        async || {
            let began = Instant::now();
            verify(filled).await?;
            Ok(megabytes / began.elapsed().as_secs_f64())
        },
        async || {
            let began = Instant::now();
            let mut rest = 0;
            for &end in &ends {
                std::hint::black_box(blake3::hash(bytes.get(rest..end).unwrap_or_default()));
                rest = end;
            }
            Ok(megabytes / began.elapsed().as_secs_f64())
        },
    )
    .await?;
    #[expect(clippy::cast_precision_loss, reason = "a count for people")]
    let per_second = pair.ours / megabytes * effort.n_events as f64;
    Ok(line.pair(pair).noting(format!("{} events/s", crate::report::figure(per_second))))
}
