//! How a live build keeps pace with the log: what comes while a batch is written, and a moment after
//! it, is the next batch. So a busy log costs each read model few transactions, and an idle one keeps
//! nobody waiting.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until, timeout_at};
use weir_events::{envelope::Recorded, position::Position};
use weir_log::tail::TailFault;

use super::{EngineOptions, Kinds, Slot, cursor::Cursor};

/// For so long events of which none is wanted are not looked at one by one.
const BREATHER: Duration = Duration::from_millis(10);

/// What a live build does next.
#[derive(Debug)]
pub(super) enum Next {
    /// Look again.
    Nothing,
    /// None of these events up to here is wanted: there is nothing to write but the offset, and that
    /// later.
    Passed(Position, usize),
    /// Move the offset to this event: so long nothing was wanted.
    Offset(Arc<Recorded>),
    /// Write what these events say.
    Rows(Vec<Arc<Recorded>>),
}

/// The pace of one live build.
#[derive(Debug)]
pub(super) struct Pace {
    live_batch: usize,
    gather: Duration,
    idle_gather: Duration,
    /// When it looks at events again.
    ready_at: Instant,
    /// The last event that was passed over since the offset moved.
    passed: Option<Arc<Recorded>>,
    /// When the offset moves over it.
    due_at: Instant,
    moved_at: Option<Instant>,
}

impl Pace {
    pub(super) fn new(options: &EngineOptions) -> Self {
        let EngineOptions { live_batch, gather, idle_gather, .. } = *options;
        let now = Instant::now();
        Self {
            live_batch,
            gather,
            idle_gather,
            ready_at: now,
            passed: None,
            due_at: now,
            moved_at: None,
        }
    }

    /// Waits until there is something to do. Safe to drop while waiting: nothing is lost.
    pub(super) async fn next(
        &mut self,
        cursor: &mut Cursor,
        kinds: Kinds,
        slot: &Slot,
    ) -> Result<Next, TailFault> {
        tokio::select! {
            () = sleep_until(self.ready_at) => {}
            () = slot.awaited.notified() => self.ready_at = Instant::now(),
        }
        let events = match &self.passed {
            Some(_) => match timeout_at(self.due_at, cursor.next()).await {
                Ok(events) => events?,
                Err(_) => return Ok(self.give_up()),
            },
            None => cursor.next().await?,
        };
        Ok(self.take(events, kinds, Instant::now()))
    }

    fn take(&mut self, events: Vec<Arc<Recorded>>, kinds: Kinds, now: Instant) -> Next {
        let Some(last) = events.last() else { return Next::Nothing };
        // Who is behind does not wait for more.
        let more = events.len() >= self.live_batch;
        if events.iter().any(|event| kinds.want(event.kind)) {
            self.passed = None;
            self.moved_at = Some(now);
            self.ready_at = if more { now } else { now + self.gather };
            return Next::Rows(events);
        }
        if self.passed.is_none() {
            // At once, unless it has just moved.
            let least = self.moved_at.map_or(now, |moved_at| moved_at + self.idle_gather);
            self.due_at = least.max(now + BREATHER);
        }
        self.ready_at = if more { now } else { (now + BREATHER).min(self.due_at) };
        let (position, n_events) = (last.position, events.len());
        self.passed = Some(Arc::clone(last));
        Next::Passed(position, n_events)
    }

    /// Has the offset moved to where it was passed over, without waiting for more.
    pub(super) fn give_up(&mut self) -> Next {
        let Some(last) = self.passed.take() else { return Next::Nothing };
        let now = Instant::now();
        (self.moved_at, self.ready_at) = (Some(now), now);
        Next::Offset(last)
    }
}

#[cfg(test)]
mod tests {
    use weir_events::{kind::Kind, position::StreamVersion, stream::StreamName};

    use super::*;

    const WANTED: Kind = Kind(0x6000);
    const OTHER: Kind = Kind(0x4000);
    const KINDS: Kinds = Kinds::These(&[WANTED]);

    fn event(position: i64, kind: Kind) -> Arc<Recorded> {
        Arc::new(Recorded {
            position: Position(position),
            stream: StreamName::new("registry/rules").unwrap(),
            version: StreamVersion(position),
            kind,
            schema: 1,
            payload: Vec::new().into(),
            meta: Vec::new().into(),
            recorded_at: weir_events::timestamp::Timestamp::EPOCH,
            hash: [0; 32],
        })
    }

    fn pace() -> Pace {
        Pace::new(&EngineOptions { live_batch: 2, ..EngineOptions::default() })
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_first_is_written_at_once_and_what_follows_gathers() {
        let (mut pace, now) = (pace(), Instant::now());
        assert!(pace.ready_at <= now);
        let next = pace.take(vec![event(1, WANTED)], KINDS, now);
        assert!(matches!(next, Next::Rows(events) if events.len() == 1));
        assert_eq!(pace.ready_at, now + pace.gather);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_behind_does_not_wait_for_more() {
        let (mut pace, now) = (pace(), Instant::now());
        let next = pace.take(vec![event(1, OTHER), event(2, WANTED)], KINDS, now);
        assert!(matches!(next, Next::Rows(events) if events.len() == 2));
        assert_eq!(pace.ready_at, now);
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_wants_is_passed_at_once_and_the_offset_moves_now_and_then() {
        let (mut pace, now) = (pace(), Instant::now());
        let next = pace.take(vec![event(1, OTHER)], KINDS, now);
        assert!(matches!(next, Next::Passed(Position(1), 1)));
        assert_eq!(pace.due_at, now + BREATHER, "an idle log has it moved soon");
        pace.take(vec![event(2, OTHER)], KINDS, now);
        assert_eq!(pace.due_at, now + BREATHER, "and more of them do not put it off");
        assert!(matches!(pace.give_up(), Next::Offset(last) if last.position == Position(2)));
        assert!(matches!(pace.give_up(), Next::Nothing));
        pace.take(vec![event(3, OTHER)], KINDS, now);
        assert_eq!(pace.due_at, now + pace.idle_gather, "it has just moved");
        let rows = pace.take(vec![event(4, WANTED)], KINDS, now);
        assert!(matches!(rows, Next::Rows(_)) && pace.passed.is_none(), "rows move it, too");
    }
}
