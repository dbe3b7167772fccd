//! Reads the streams that packages are judged by, and goes on following them.

use std::{collections::HashMap, time::Duration};

use tracing::{error, warn};
use weir_aggregates::registry::{STREAM as RULES, canary::signature, facts::Facts};
use weir_events::{
    codec::CodecFault,
    envelope::Recorded,
    position::{Cursor, Position, StreamVersion},
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
use weir_log::{
    Log,
    tail::{Tail, TailFault},
};

use super::{PolicyFault, Shared};

const PAGE: usize = 1_000;
const RETRY: Duration = Duration::from_millis(500);

/// Who follows the log.
pub(super) struct Follower {
    log: Log,
    /// How far each stream was read at the start. What follows is seen by the tail.
    read: HashMap<StreamName, Position>,
    tail: Tail,
}

impl Follower {
    /// Reads all that is known.
    pub(super) async fn load(log: Log) -> Result<(Self, Facts), PolicyFault> {
        // From before the streams are read: what comes in between is seen twice, and folded once.
        let tail = log.tail(Cursor { incarnation: Some(log.incarnation()), position: log.head() });
        let mut facts = Facts::default().signed(signature(log.incarnation().0));
        let mut follower = Self { log, read: HashMap::new(), tail };
        for stream in streams()? {
            let mut version = StreamVersion::NONE;
            loop {
                let page = follower.log.read_stream(&stream, version, PAGE).await?;
                for event in &page {
                    facts.apply(event.position.0, &decoded(event)?);
                    version = event.version;
                    follower.read.insert(stream.clone(), event.position);
                }
                if page.len() < PAGE {
                    break;
                }
            }
        }
        facts.settle();
        Ok((follower, facts))
    }

    /// Follows until the log stops. What cannot be read is said to everybody: nothing passes then.
    pub(super) async fn follow(mut self, shared: &Shared) {
        loop {
            let fault = match self.advance(shared).await {
                Ok(()) => return,
                Err(fault) => fault,
            };
            if matches!(fault, PolicyFault::Undecodable { .. }) {
                error!(error = %fault, "package rules are unreadable, nothing passes");
                shared.unreadable(&fault);
            } else {
                warn!(error = %fault, "package rules are not followed, trying again");
            }
            let facts;
            (self, facts) = self.reload().await;
            shared.replace(facts);
        }
    }

    /// Loads everything again, as often as it takes: going on from here would skip what was missed.
    async fn reload(self) -> (Self, Facts) {
        loop {
            tokio::time::sleep(RETRY).await;
            match Self::load(self.log.clone()).await {
                Ok(fresh) => return fresh,
                Err(fault) => warn!(error = %fault, "package rules cannot be loaded again"),
            }
        }
    }

    /// Follows as long as nothing goes wrong; ends well when the log stops.
    async fn advance(&mut self, shared: &Shared) -> Result<(), PolicyFault> {
        loop {
            let batch = match self.tail.next(PAGE).await {
                Ok(batch) => batch,
                Err(TailFault::Stopped) => return Ok(()),
                Err(TailFault::Read(fault)) => return Err(fault.into()),
                Err(fault @ TailFault::Resync { .. }) => {
                    // Another life of the log: its rules may be others.
                    warn!(error = %fault, "package rules are loaded again");
                    let facts;
                    (*self, facts) = Self::load(self.log.clone()).await?;
                    shared.replace(facts);
                    continue;
                }
            };
            let news = batch.iter().filter(|event| self.is_news(event));
            let news = news.map(|event| Ok((event.position.0, decoded(event)?)));
            let news = news.collect::<Result<Vec<_>, PolicyFault>>()?;
            if !news.is_empty() {
                shared.change(|facts| {
                    for (position, event) in &news {
                        facts.apply(*position, event);
                    }
                });
            }
        }
    }

    fn is_news(&self, event: &Recorded) -> bool {
        concerns(&event.stream)
            && self.read.get(&event.stream).is_none_or(|read| event.position > *read)
    }
}

fn decoded(event: &Recorded) -> Result<Event, PolicyFault> {
    let fault = |cause| PolicyFault::Undecodable { position: event.position, cause };
    match event.decode::<Event>() {
        Some(decoded) => decoded.map_err(fault),
        // A kind that this build does not know may be a rule of a newer one.
        None => Err(fault(CodecFault::UnknownKind(event.kind.0))),
    }
}

/// The streams that packages are judged by: settings first, advisories last.
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
