//! Reads the streams that hosts are judged by, and goes on following them.

use std::time::Duration;

use tracing::{error, warn};
use weir_aggregates::web::rules::Refusal;
use weir_events::{
    codec::CodecFault,
    envelope::Recorded,
    position::{Cursor, Position, StreamVersion},
    stream::{StreamName, StreamNameFault},
    web::{
        Event,
        rule::{RULES, WAIVERS},
    },
};
use weir_log::{
    Log,
    read::ReadFault,
    tail::{Tail, TailFault},
};

use super::live::{Known, Live};
use crate::door::{DoorFault, ExecuteFault};

const PAGE: usize = 1_000;
const RETRY: Duration = Duration::from_millis(500);

/// The rules cannot be known.
#[derive(Debug, thiserror::Error)]
pub enum RulesFault {
    /// The log could not be read.
    #[error("could not read the domain rules")]
    Read(#[from] ReadFault),
    /// An event of them cannot be read by this build.
    #[error("could not read the event of domain rules at position {position}")]
    Undecodable {
        /// Where it stands.
        position: Position,
        /// What is wrong with it.
        #[source]
        cause: CodecFault,
    },
    /// The rules that Weir brings along could not be recorded.
    #[error("could not record the rules that Weir brings along")]
    Begin(#[source] ExecuteFault<Refusal>),
    /// A stream of them has no name.
    #[error(transparent)]
    Stream(#[from] StreamNameFault),
}

impl RulesFault {
    pub(super) fn passing(&self) -> bool {
        match self {
            Self::Read(ReadFault::Database(fault))
            | Self::Begin(ExecuteFault::Fault(DoorFault::Read(ReadFault::Database(fault)))) => {
                fault.passing()
            }
            _ => false,
        }
    }
}

/// Who follows the log.
pub(super) struct Follower {
    log: Log,
    /// How far each stream was read at the start. What follows is seen by the tail.
    read: [(StreamName, Position); 2],
    tail: Tail,
}

impl Follower {
    /// Reads all that is known.
    pub(super) async fn load(log: Log) -> Result<(Self, Known), RulesFault> {
        // From before the streams are read: what comes in between is seen twice, and folded once.
        let tail = log.tail(Cursor { incarnation: Some(log.incarnation()), position: log.head() });
        let mut known = Known::default();
        let none = Position(0);
        let mut read = [(StreamName::new(RULES)?, none), (StreamName::new(WAIVERS)?, none)];
        for (stream, upto) in &mut read {
            let mut events = Vec::new();
            let mut version = StreamVersion::NONE;
            loop {
                let page = log.read_stream(stream, version, PAGE).await?;
                for event in &page {
                    events.push((event.position, decoded(event)?));
                    (version, *upto) = (event.version, event.position);
                }
                if page.len() < PAGE {
                    break;
                }
            }
            let news = known.prepare(&events);
            known.put(news);
        }
        Ok((Self { log, read, tail }, known))
    }

    /// Follows until the log stops. What cannot be read is said to everybody: nothing passes then.
    pub(super) async fn follow(mut self, live: &Live) {
        loop {
            let fault = match self.advance(live).await {
                Ok(()) => return,
                Err(fault) => fault,
            };
            if matches!(fault, RulesFault::Undecodable { .. }) {
                error!(error = %fault, "domain rules are unreadable, nothing passes");
                live.unreadable(&fault.to_string());
            } else {
                warn!(error = %fault, "domain rules are not followed, trying again");
            }
            self = self.reload(live).await;
        }
    }

    /// Loads everything again, as often as it takes: going on from here would skip what was missed.
    async fn reload(self, live: &Live) -> Self {
        loop {
            tokio::time::sleep(RETRY).await;
            match Self::load(self.log.clone()).await {
                Ok((fresh, known)) => {
                    live.replace(known);
                    return fresh;
                }
                Err(fault) => warn!(error = %fault, "domain rules cannot be loaded again"),
            }
        }
    }

    /// Follows as long as nothing goes wrong; ends well when the log stops.
    async fn advance(&mut self, live: &Live) -> Result<(), RulesFault> {
        loop {
            let batch = match self.tail.next(PAGE).await {
                Ok(batch) => batch,
                Err(TailFault::Stopped) => return Ok(()),
                Err(TailFault::Read(fault)) => return Err(fault.into()),
                Err(fault @ TailFault::Resync { .. }) => {
                    // Another life of the log: its rules may be others.
                    warn!(error = %fault, "domain rules are loaded again");
                    let (fresh, known) = Self::load(self.log.clone()).await?;
                    live.replace(known);
                    *self = fresh;
                    continue;
                }
            };
            let news = batch.iter().filter(|event| self.is_news(event));
            let news = news.map(|event| Ok((event.position, decoded(event)?)));
            let news = news.collect::<Result<Vec<_>, RulesFault>>()?;
            if !news.is_empty() && live.advance(&news) {
                error!(
                    "the regular expressions of domain rules are too large together: all that block do"
                );
            }
        }
    }

    fn is_news(&self, event: &Recorded) -> bool {
        self.read.iter().any(|(stream, read)| event.stream == *stream && event.position > *read)
    }
}

fn decoded(event: &Recorded) -> Result<Event, RulesFault> {
    let fault = |cause| RulesFault::Undecodable { position: event.position, cause };
    match event.decode::<Event>() {
        Some(decoded) => decoded.map_err(fault),
        // A kind that this build does not know may be a rule of a newer one.
        None => Err(fault(CodecFault::UnknownKind(event.kind.0))),
    }
}
