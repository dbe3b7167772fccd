//! The visits to one source of advisories, folded from its stream: what it said last, what went
//! wrong last, and what somebody still waits for. Stream `registry/source/<name>`.
//!
//! A request is answered by a visit that began after it and came to an end, whichever end: one that
//! was under way when it was made, or that a crash cut off, does not count. To ask again for what
//! nobody has begun yet says nothing new.

use std::{collections::BTreeMap, convert::Infallible};

use weir_events::{
    kind::Subsystem,
    registry::{Ecosystem, Event, sync::SyncRequested},
};

use super::advisory::difference::Losses;
use crate::machine::{Context, Decision, Machine};

/// A part of a source that is visited on its own: one ecosystem, or `None`: all it has.
pub type Part = Option<Ecosystem>;

/// The visits to a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visits {
    parts: BTreeMap<Part, Visited>,
    n_requests: u64,
    /// What the last request said.
    losses: Option<Losses>,
}

/// The machine that takes requests for visits.
#[derive(Debug)]
pub struct Schedule;

/// Somebody wants a source to be visited now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Which source.
    pub source: String,
    /// Whether to believe that much of it is gone.
    pub losses: Losses,
}

/// What is known of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Visited {
    revision: Option<String>,
    has_ended: bool,
    failure: Option<String>,
    /// How many requests had been made when the last visit began, and when the last one began that
    /// has come to an end.
    taken: u64,
    answered: u64,
}

impl Machine for Schedule {
    type State = Visits;
    type Command = Request;
    type Event = Event;
    type Refusal = Infallible;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &Visits, request: &Request, _: &Context) -> Decision<Event, Infallible> {
        let Request { source, losses } = request;
        let begun = state.parts.values().map(|part| part.taken).max().unwrap_or(0);
        if state.losses == Some(*losses) && begun < state.n_requests {
            return Decision::nothing();
        }
        let believe_losses = *losses == Losses::Believe;
        Decision::accept(SyncRequested { source: source.clone(), believe_losses })
    }

    fn apply(state: &mut Visits, event: &Event) {
        match event {
            Event::SyncRequested(asked) => {
                let losses = if asked.believe_losses { Losses::Believe } else { Losses::Doubt };
                state.losses = Some(losses);
                state.n_requests += 1;
            }
            Event::SyncStarted(started) => {
                let taken = state.n_requests;
                state.parts.entry(started.ecosystem).or_default().taken = taken;
            }
            Event::SyncSucceeded(ended) => {
                let part = state.parts.entry(ended.ecosystem).or_default();
                part.end(None);
                part.revision.clone_from(&ended.revision);
            }
            Event::SyncFailed(ended) => {
                let part = state.parts.entry(ended.ecosystem).or_default();
                part.end(Some(ended.cause.clone()));
            }
            _ => {}
        }
    }
}

impl Visits {
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

    /// Whether any visit has ended.
    #[must_use]
    pub fn has_ended(&self, part: Part) -> bool {
        self.parts.get(&part).is_some_and(|part| part.has_ended)
    }

    /// What somebody asked for that has not come to an end yet.
    #[must_use]
    pub fn asked(&self, part: Part) -> Option<Losses> {
        let answered = self.parts.get(&part).map_or(0, |part| part.answered);
        self.losses.filter(|_| answered < self.n_requests)
    }
}

impl Visited {
    fn end(&mut self, failure: Option<String>) {
        self.has_ended = true;
        self.failure = failure;
        self.answered = self.taken;
    }
}

#[cfg(test)]
mod tests {
    use weir_events::{
        registry::sync::{SyncFailed, SyncStarted, SyncSucceeded},
        timestamp::Timestamp,
    };

    use super::*;
    use crate::machine::fold;

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
        fold::<Schedule>(&events.into_iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_failure_is_told_until_a_success_and_leaves_the_revision_alone() {
        let ran = visits([started(PART), succeeded(PART), started(PART), failed(PART)]);
        assert_eq!(ran.revision(PART), Some("\"1\""));
        assert_eq!(ran.failure(PART), Some("no route"));
        assert!(ran.has_ended(PART));
        let ran = visits([started(PART), failed(PART), started(PART), succeeded(PART)]);
        assert_eq!(ran.failure(PART), None);
        assert_eq!(
            (ran.revision(None), ran.failure(None), ran.has_ended(None)),
            (None, None, false)
        );
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

    #[test]
    fn to_ask_again_for_what_nobody_has_begun_says_nothing_new() {
        let ask = |history: &[Event], losses| {
            let request = Request { source: "osv".to_owned(), losses };
            Schedule::decide(
                &visits(history.to_vec()),
                &request,
                &Context { now: Timestamp::EPOCH },
            )
        };
        let (doubting, believing) = (Losses::Doubt, Losses::Believe);
        assert_eq!(ask(&[], doubting).events, [asked(false)]);
        assert_eq!(ask(&[asked(false)], doubting), Decision::nothing());
        assert_eq!(ask(&[asked(false)], believing).events, [asked(true)]);
        assert_eq!(ask(&[asked(false), started(PART)], doubting).events, [asked(false)]);
        let done = [asked(false), started(PART), succeeded(PART)];
        assert_eq!(ask(&done, doubting).events, [asked(false)]);
    }
}
