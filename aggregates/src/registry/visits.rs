//! The visits to one source of advisories, folded from its stream: what it said last, what went
//! wrong last, and what somebody still waits for.
//!
//! A request is answered by a visit that began after it and came to an end, whichever end: one that
//! was under way when it was made, or that a crash cut off, does not count.

use std::collections::BTreeMap;

use weir_events::{
    position::Position,
    registry::{Ecosystem, Event},
    timestamp::Timestamp,
};

use super::advisory::difference::Losses;

/// A part of a source that is visited on its own: one ecosystem, or `None`: all it has.
pub type Part = Option<Ecosystem>;

/// The visits to a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visits {
    parts: BTreeMap<Part, Visited>,
    asked: Option<(Position, Losses)>,
}

/// What is known of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Visited {
    revision: Option<String>,
    ended_at: Option<Timestamp>,
    failure: Option<String>,
    /// The last request made before the last visit began, and the last one that came to an end.
    taking: Position,
    answered: Position,
}

impl Visits {
    /// Folds an event of the source's stream.
    pub fn apply(&mut self, at: Position, recorded_at: Timestamp, event: &Event) {
        match event {
            Event::SyncRequested(asked) => {
                let losses = if asked.believe_losses { Losses::Believe } else { Losses::Doubt };
                self.asked = Some((at, losses));
            }
            Event::SyncStarted(started) => {
                let taking = self.asked.map_or(Position::START, |(at, _)| at);
                self.parts.entry(started.ecosystem).or_default().taking = taking;
            }
            Event::SyncSucceeded(ended) => {
                let part = self.parts.entry(ended.ecosystem).or_default();
                part.end(recorded_at);
                part.failure = None;
                part.revision.clone_from(&ended.revision);
            }
            Event::SyncFailed(ended) => {
                let part = self.parts.entry(ended.ecosystem).or_default();
                part.end(recorded_at);
                part.failure = Some(ended.cause.clone());
            }
            _ => {}
        }
    }

    /// What the source called its state when all of it was read last.
    #[must_use]
    pub fn revision(&self, part: Part) -> Option<&str> {
        self.parts.get(&part)?.revision.as_deref()
    }

    /// Why the last visit came to nothing, if it did.
    #[must_use]
    pub fn failure(&self, part: Part) -> Option<&str> {
        self.parts.get(&part)?.failure.as_deref()
    }

    /// When the last visit ended.
    #[must_use]
    pub fn ended_at(&self, part: Part) -> Option<Timestamp> {
        self.parts.get(&part)?.ended_at
    }

    /// What somebody asked for that has not come to an end yet.
    #[must_use]
    pub fn asked(&self, part: Part) -> Option<Losses> {
        let answered = self.parts.get(&part).map_or(Position::START, |part| part.answered);
        self.asked.filter(|(at, _)| *at > answered).map(|(_, losses)| losses)
    }
}

impl Visited {
    const fn end(&mut self, at: Timestamp) {
        self.ended_at = Some(at);
        self.answered = self.taking;
    }
}

#[cfg(test)]
mod tests {
    use weir_events::registry::sync::{SyncFailed, SyncRequested, SyncStarted, SyncSucceeded};

    use super::*;

    const PART: Part = Some(Ecosystem::Npm);

    fn asked(believe_losses: bool) -> Event {
        SyncRequested { source: "osv".to_owned(), believe_losses }.into()
    }

    fn started(ecosystem: Part) -> Event {
        SyncStarted { source: "osv".to_owned(), ecosystem }.into()
    }

    fn succeeded(ecosystem: Part) -> Event {
        SyncSucceeded {
            source: "osv".to_owned(),
            ecosystem,
            n_records: 1,
            n_unreadable: 0,
            n_published: 1,
            n_changed: 0,
            n_withdrawn: 0,
            duration_ms: 1,
            revision: Some("\"1\"".to_owned()),
        }
        .into()
    }

    fn failed(ecosystem: Part) -> Event {
        let cause = "no route".to_owned();
        SyncFailed { source: "osv".to_owned(), ecosystem, duration_ms: 1, cause }.into()
    }

    fn visits(events: impl IntoIterator<Item = Event>) -> Visits {
        let mut visits = Visits::default();
        for (position, event) in (1..).zip(events) {
            visits.apply(Position(position), Timestamp::from_micros(position), &event);
        }
        visits
    }

    #[test]
    fn a_failure_is_told_until_a_success_and_leaves_the_revision_alone() {
        let ran = visits([started(PART), succeeded(PART), started(PART), failed(PART)]);
        assert_eq!(ran.revision(PART), Some("\"1\""));
        assert_eq!(ran.failure(PART), Some("no route"));
        assert_eq!(ran.ended_at(PART), Some(Timestamp::from_micros(4)));
        let ran = visits([started(PART), failed(PART), started(PART), succeeded(PART)]);
        assert_eq!(ran.failure(PART), None);
        assert_eq!((ran.revision(None), ran.failure(None), ran.ended_at(None)), (None, None, None));
    }

    #[test]
    fn a_request_waits_until_a_visit_that_began_after_it_has_ended() {
        let (doubting, believing) = (Some(Losses::Doubt), Some(Losses::Believe));
        assert_eq!(visits([]).asked(PART), None);
        assert_eq!(visits([asked(false)]).asked(PART), doubting);
        assert_eq!(visits([asked(true), started(PART)]).asked(PART), believing);
        for end in [succeeded(PART), failed(PART)] {
            assert_eq!(visits([asked(true), started(PART), end.clone()]).asked(PART), None);
            // It came while another visit was under way, or that one was cut off.
            assert_eq!(visits([started(PART), asked(true), end.clone()]).asked(PART), believing);
            let cut_off = [asked(true), started(PART), started(PART), end];
            assert_eq!(visits(cut_off).asked(PART), None);
        }
        // Of several the last one counts, and each part answers for itself.
        let two = visits([asked(true), asked(false), started(None), succeeded(None)]);
        assert_eq!((two.asked(None), two.asked(PART)), (None, doubting));
    }
}
