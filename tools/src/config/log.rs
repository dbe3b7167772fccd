//! `log`: how this process uses the event log.

use weir_log::LogOptions;

use super::section::section;
use super::value::{Size, Span};

section! {
    /// How this process uses the event log.
    Log at "log" {
        /// Be woken by the database when another process appends; off, the poll alone must do, and read
        /// models wait for the disk, as it is not certain that a crash of the database is noticed.
        notify: bool = true,
        /// How often to look for what other processes appended, whatever notifications say.
        poll: Span = Span::millis(100),
        /// Memory for recent events, from which tails are served.
        ring_size: Size = Size(32 << 20),
        /// Appends that may wait; more are told to come back (503).
        queue: usize = 4096,
    }
}

impl Log {
    pub(crate) fn options(&self) -> LogOptions {
        LogOptions {
            notify: self.notify,
            poll: self.poll.0,
            ring_bytes: usize::try_from(self.ring_size.0).unwrap_or(usize::MAX),
            queue: self.queue,
            ..LogOptions::default()
        }
    }
}
