//! What is known, shared by who follows the log and who asks. Streams `web/rules` and `web/waivers`.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use tokio::sync::watch;
use tracing::error;
use weir_aggregates::{
    machine::Machine as _,
    web::{
        domain::{Index, Prepared},
        host::Host,
        waiver::{self, CompiledWaiver, Waivers},
    },
};
use weir_events::{
    position::Position,
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
    web::{
        Event,
        rule::{DomainRuleUpdated, Permits, RULES, WAIVERS},
    },
};
use weir_log::Log;

use crate::follower::{Folds, Follows};

/// Rules and waivers as of a position.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) index: Index,
    pub(super) waivers: Vec<Arc<CompiledWaiver>>,
    book: waiver::State,
    pub(super) position: Position,
}

impl Known {
    /// The waivers for a host at a port.
    pub(super) fn host_waivers(
        &self,
        host: &Host,
        port: u16,
        now: Timestamp,
    ) -> impl Iterator<Item = &CompiledWaiver> {
        let waivers = self.waivers.iter().map(|waiver| &**waiver);
        waivers.filter(move |waiver| waiver.covers(Permits::Host, None, (host, port), now))
    }

    /// What happened, made ready to be put in: all that takes long is done here.
    pub(super) fn prepare(&self, news: &[(Position, Event)]) -> News {
        let updates: Vec<&DomainRuleUpdated> = news
            .iter()
            .filter_map(|(_, event)| match event {
                Event::DomainRuleUpdated(update) => Some(update),
                _ => None,
            })
            .collect();
        let mut book = self.book.clone();
        for (_, event) in news {
            Waivers::apply(&mut book, event);
        }
        let positions = news.iter().map(|(position, _)| *position);
        let position = positions.fold(self.position, Position::max);
        News { rules: self.index.prepare(updates), book, position }
    }

    /// Puts in what happened.
    pub(super) fn put(&mut self, news: News) {
        self.index.put(news.rules);
        self.waivers = news.book.granted().collect();
        self.book = news.book;
        self.position = news.position;
    }
}

/// What happened until the start. The rules are made ready all at once.
#[derive(Debug, Default)]
pub(super) struct History(Vec<(Position, Event)>);

impl Folds for History {
    type Event = Event;
    type Known = Known;

    const NAME: &'static str = "domain rules";

    fn streams() -> Result<Vec<StreamName>, StreamNameFault> {
        [RULES, WAIVERS].into_iter().map(StreamName::new).collect()
    }

    fn concerns(stream: &StreamName) -> bool {
        [RULES, WAIVERS].contains(&stream.as_str())
    }

    fn begin(_: &Log) -> Self {
        Self::default()
    }

    fn fold(&mut self, position: Position, event: Event) {
        self.0.push((position, event));
    }

    fn finish(self) -> Known {
        let mut known = Known::default();
        let news = known.prepare(&self.0);
        known.put(news);
        known
    }
}

/// What happened, ready to be put in.
#[derive(Debug)]
pub(super) struct News {
    pub(super) rules: Prepared,
    book: waiver::State,
    position: Position,
}

/// How far it came.
#[derive(Debug, Clone)]
enum Upto {
    Position(Position),
    Unreadable(Arc<str>),
}

/// The rules did not come so far in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rules of this instance have not reached position {0} yet")]
pub struct NotThereYet(pub Position);

/// What is known now.
#[derive(Debug)]
pub(super) struct Live {
    known: RwLock<Known>,
    upto: watch::Sender<Upto>,
}

impl Live {
    pub(super) fn new(known: Known) -> Self {
        let upto = watch::Sender::new(Upto::Position(known.position));
        Self { known: RwLock::new(known), upto }
    }

    /// Reads what is known, or why it cannot be. Nothing may be waited for in between.
    pub(super) fn read<T>(&self, read: impl FnOnce(Result<&Known, &str>) -> T) -> T {
        if let Upto::Unreadable(cause) = &*self.upto.borrow() {
            return read(Err(cause));
        }
        read(Ok(&self.known.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Goes on by what happened. Only one does that, so nothing changes between the two steps.
    pub(super) fn advance(&self, news: &[(Position, Event)]) -> bool {
        let prepared = self.known.read().unwrap_or_else(PoisonError::into_inner).prepare(news);
        let (position, too_odd) = (prepared.position, prepared.rules.too_odd());
        self.known.write().unwrap_or_else(PoisonError::into_inner).put(prepared);
        self.upto.send_replace(Upto::Position(position));
        too_odd
    }

    pub(super) async fn reaches(
        &self,
        position: Position,
        bound: Duration,
    ) -> Result<(), NotThereYet> {
        let mut upto = self.upto.subscribe();
        let there = upto.wait_for(|upto| match upto {
            Upto::Position(upto) => *upto >= position,
            Upto::Unreadable(_) => false,
        });
        match tokio::time::timeout(bound, there).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(NotThereYet(position)),
        }
    }
}

impl Follows for Live {
    type Folds = History;

    fn hear(&self, news: &[(Position, Event)]) {
        if self.advance(news) {
            error!(
                "the regular expressions of domain rules are too large together: all that block do"
            );
        }
    }

    fn replace(&self, fresh: Known) {
        let position = fresh.position;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        self.upto.send_replace(Upto::Position(position));
    }

    fn unreadable(&self, cause: &str) {
        self.upto.send_replace(Upto::Unreadable(cause.into()));
    }
}
