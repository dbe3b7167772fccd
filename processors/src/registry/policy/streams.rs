//! The streams that packages are judged by.

use weir_aggregates::registry::{STREAM as RULES, canary::signature, facts::Facts};
use weir_events::{
    position::Position,
    registry::{
        Ecosystem, Event,
        advisory::{self, SOURCES},
        blocklist::STREAM as BLOCKLIST,
        hold::HOLDS,
        policy::{RESERVED, SETTINGS, WAIVERS},
        profile::PROFILES,
        sync,
    },
    stream::{StreamName, StreamNameFault},
};
use weir_log::Log;

use super::{Known, Shared};
use crate::follower::{Folds, Follows};

impl Folds for Facts {
    type Event = Event;
    type Known = Self;

    const NAME: &'static str = "package rules";

    fn streams() -> Result<Vec<StreamName>, StreamNameFault> {
        streams()
    }

    fn concerns(stream: &StreamName) -> bool {
        concerns(stream)
    }

    fn begin(log: &Log) -> Self {
        Self::default().signed(signature(log.incarnation().0))
    }

    fn fold(&mut self, position: Position, event: Event) {
        self.apply(position.0, &event);
    }

    fn finish(mut self) -> Self {
        self.settle();
        self
    }
}

impl Follows for Shared {
    type Folds = Facts;

    fn hear(&self, news: &[(Position, Event)]) {
        self.change(|facts| {
            for (position, event) in news {
                facts.apply(position.0, event);
            }
        });
    }

    fn replace(&self, fresh: Facts) {
        self.change(|facts| *facts = fresh);
    }

    fn unreadable(&self, cause: &str) {
        self.known.send_replace(Known::Unreadable(cause.into()));
    }
}

/// All of them: settings first, advisories last.
fn streams() -> Result<Vec<StreamName>, StreamNameFault> {
    let named =
        [SETTINGS, RESERVED, PROFILES, HOLDS, RULES, BLOCKLIST, WAIVERS].map(StreamName::new);
    let syncs = SOURCES.map(sync::stream);
    let of_source =
        |source| Ecosystem::ALL.map(move |ecosystem| advisory::stream(source, ecosystem));
    let advisories = SOURCES.into_iter().flat_map(of_source);
    named.into_iter().chain(syncs).chain(advisories).collect()
}

/// Whether a stream is one of them.
fn concerns(stream: &StreamName) -> bool {
    let name = stream.as_str();
    [SETTINGS, RESERVED, PROFILES, HOLDS, RULES, BLOCKLIST, WAIVERS].contains(&name)
        || name.starts_with(sync::FOLDER)
        || name.starts_with(advisory::FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stream_that_is_read_at_the_start_is_followed_and_no_other() {
        let all = streams().unwrap();
        assert!(all.iter().all(concerns) && all.len() > 10, "{all:?}");
        for other in ["registry/decisions/2026-01-01/npm", "access/tokens", "registry/rulesets"] {
            assert!(!concerns(&StreamName::new(other).unwrap()), "{other}");
        }
    }
}
