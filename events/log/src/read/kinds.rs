//! Reading some kinds of events out of the whole order, and finding where a time begins.

use std::ops::ControlFlow;

use weir_events::{envelope::Recorded, position::Position, timestamp::Timestamp};

use super::{COLUMNS, MAX_READ, MAX_READ_BYTES, ReadFault, copy_out};
use crate::Log;

/// A page of some kinds of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sparse {
    /// The events, in order.
    pub events: Vec<Recorded>,
    /// How far the log was looked at for them: the next page is read after it.
    pub upto: Position,
}

impl Log {
    /// Reads the events of some ranges of kinds (inclusive) that stand among the next [`MAX_READ`]
    /// positions after one, and not beyond another; fewer where they are large (see
    /// [`MAX_READ_BYTES`]).
    pub async fn read_kinds(
        &self,
        after: Position,
        last: Position,
        ranges: &[(i32, i32)],
    ) -> Result<Sparse, ReadFault> {
        let span = i64::try_from(MAX_READ).unwrap_or(i64::MAX);
        let mut upto = Position(after.0.saturating_add(span)).min(last);
        let range = |&(low, high): &(i32, i32)| format!("kind BETWEEN {low} AND {high}");
        let ranges = ranges.iter().map(range).collect::<Vec<_>>().join(" OR ");
        let statement = format!(
            "COPY (SELECT {COLUMNS} FROM log.events WHERE position > {after} AND position <= {upto} \
             AND ({ranges}) ORDER BY position) TO STDOUT (FORMAT binary)"
        );
        let (mut events, mut n_bytes) = (Vec::new(), 0);
        let mut cut = false;
        copy_out(self.database(), &statement, after, |event: Recorded| {
            n_bytes += event.payload.len() + event.meta.len();
            events.push(event);
            cut = n_bytes >= MAX_READ_BYTES;
            Ok(if cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .await?;
        if let Some(event) = events.last().filter(|_| cut) {
            upto = event.position;
        }
        Ok(Sparse { events, upto })
    }

    /// The position before the first event that was appended at a time or later, as far as clocks go
    /// forward: a few looks at the log, however long it is.
    pub async fn before(&self, at: Timestamp) -> Result<Position, ReadFault> {
        let (mut below, mut above) = (0, self.head().0 + 1);
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            // What is not kept any more is older than all that is.
            let event = self.event(Position(middle)).await?;
            if event.is_some_and(|event| event.recorded_at >= at) {
                above = middle;
            } else {
                below = middle;
            }
        }
        Ok(Position(below))
    }
}
