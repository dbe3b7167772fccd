//! A ledger in memory, which judges as a door does.

use weir_aggregates::machine::{Context, Machine as _, fold};

use super::*;

pub(super) fn broken() -> LedgerFault {
    DoorFault::from(weir_log::append::AppendFault::Busy).into()
}

impl Ledger {
    /// A ledger for tests of what is recorded, without a database.
    pub(crate) fn in_memory() -> Self {
        Self::in_memory_of(Ecosystem::Pypi)
    }

    /// The same, of any ecosystem.
    pub(crate) fn in_memory_of(ecosystem: Ecosystem) -> Self {
        let book = Book::Memory(Mutex::new(Some(Vec::new())), std::sync::atomic::AtomicI64::new(0));
        Self {
            ecosystem,
            book,
            recorded: Mutex::new(Lru::new(MAX_REMEMBERED)),
            pinned: Mutex::default(),
        }
    }

    /// The digests that were pinned, in order.
    pub(crate) fn digests(&self) -> Vec<String> {
        let digest = |event: &Event| match event {
            Event::DigestPinned(pinned) => Some(pinned.digest.clone()),
            _ => None,
        };
        locked(&self.pinned).iter().filter_map(digest).collect()
    }

    /// What was recorded.
    pub(crate) fn events(&self) -> Vec<Event> {
        let Book::Memory(events, _) = &self.book else { panic!("a ledger with a door") };
        locked(events).clone().unwrap_or_default()
    }

    /// From now on nothing can be recorded.
    pub(crate) fn break_down(&self) {
        let Book::Memory(events, _) = &self.book else { panic!("a ledger with a door") };
        *locked(events) = None;
    }

    /// From now on it is this time.
    pub(crate) fn set_now(&self, now: Timestamp) {
        let Book::Memory(_, at) = &self.book else { panic!("a ledger with a door") };
        at.store(now.micros(), std::sync::atomic::Ordering::SeqCst);
    }
}

/// Judges a pin as a door does.
pub(super) fn pin(events: &mut Vec<Event>, pin: &Pin) -> Option<pins::Refusal> {
    let state = pinned(events, &pin.package);
    let decision = Pinning::decide(&state, pin, &Context { now: Timestamp::EPOCH });
    events.extend(decision.events);
    decision.refusal
}

/// What was pinned of a package.
pub(super) fn pinned(events: &[Event], package: &str) -> pins::State {
    let ours =
        |event: &&Event| matches!(event, Event::DigestPinned(pinned) if pinned.package == package);
    fold::<Pinning>(events.iter().filter(ours))
}

/// Whether a file of one of these versions was delivered.
pub(super) fn known(events: &[Event], package: &str, is_it: impl Fn(&str) -> bool) -> bool {
    let known = |event: &Event| match event {
        Event::FileDelivered(it) => {
            it.package == package && is_it(it.version.as_deref().unwrap_or_default())
        }
        _ => false,
    };
    events.iter().any(known)
}

/// What was told of a package's files.
pub(super) fn told(events: &[Event], package: &str) -> told::State {
    let ours =
        |event: &&Event| matches!(event, Event::VersionTold(told) if told.package == package);
    fold::<Telling>(events.iter().filter(ours))
}

/// Judges what is told as a door does.
pub(super) fn tell(events: &mut Vec<Event>, tell: &Tell) {
    let state = told(events, &tell.package);
    events.extend(Telling::decide(&state, tell, &Context { now: Timestamp::EPOCH }).events);
}

/// Judges a look as a door does.
pub(super) fn look(events: &mut Vec<Event>, look: &Look, now: Timestamp) -> State {
    let ours =
        |event: &&Event| matches!(event, Event::VersionsSeen(seen) if seen.package == look.package);
    let state = fold::<Watching>(events.iter().filter(ours));
    events.extend(Watching::decide(&state, look, &Context { now }).events);
    fold::<Watching>(events.iter().filter(ours))
}
