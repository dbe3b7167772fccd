//! Reads the streams that something is judged by, and goes on following them: what any instance
//! records counts here a moment later. What cannot be read is said to everybody, and nothing passes
//! then.

use std::{collections::HashMap, time::Duration};

use tracing::{error, warn};
use weir_events::{
    codec::{CodecFault, EventSet},
    envelope::Recorded,
    position::{Cursor, Position, StreamVersion},
    stream::{StreamName, StreamNameFault},
};
use weir_log::{
    Log,
    read::ReadFault,
    tail::{Tail, TailFault},
};

const PAGE: usize = 1_000;
const RETRY: Duration = Duration::from_millis(500);

/// What cannot be known.
#[derive(Debug, thiserror::Error)]
pub enum FollowFault {
    /// The log could not be read.
    #[error("could not read the {name}")]
    Read {
        /// What was to be read.
        name: &'static str,
        /// Why it could not.
        #[source]
        cause: ReadFault,
    },
    /// An event of them cannot be read by this build.
    #[error("could not read the event of {name} at position {position}")]
    Undecodable {
        /// What it is about.
        name: &'static str,
        /// Where it stands.
        position: Position,
        /// What is wrong with it.
        #[source]
        cause: CodecFault,
    },
    /// A stream of them has no name.
    #[error(transparent)]
    Stream(#[from] StreamNameFault),
}

impl FollowFault {
    pub(crate) fn passing(&self) -> bool {
        matches!(self, Self::Read { cause: ReadFault::Database(fault), .. } if fault.passing())
    }
}

/// What something is judged by, as it is read at the start.
pub(crate) trait Folds: Sized + Send {
    /// What happens to it.
    type Event: EventSet;
    /// What it is ready as.
    type Known: Send;

    /// What it is called, in the plural.
    const NAME: &'static str;

    /// The streams it stands in, in the order in which they are read.
    fn streams() -> Result<Vec<StreamName>, StreamNameFault>;

    /// Whether a stream is one of them.
    fn concerns(stream: &StreamName) -> bool;

    /// Nothing, as it was before anything was recorded.
    fn begin(log: &Log) -> Self;

    /// Folds an event that stands at a position.
    fn fold(&mut self, position: Position, event: Self::Event);

    /// Makes ready what was folded.
    fn finish(self) -> Self::Known;
}

/// Who goes by it: what all who ask share.
pub(crate) trait Follows: Sync {
    /// What is followed.
    type Folds: Folds;

    /// Goes on by what happened, which is something.
    fn hear(&self, news: &[(Position, <Self::Folds as Folds>::Event)]);

    /// Goes on by something else.
    fn replace(&self, fresh: <Self::Folds as Folds>::Known);

    /// From now on it cannot be read: nothing passes.
    fn unreadable(&self, cause: &str);
}

/// Who follows the log.
pub(crate) struct Follower {
    log: Log,
    /// How far each stream was read at the start. What follows is seen by the tail.
    read: HashMap<StreamName, Position>,
    tail: Tail,
}

impl Follower {
    /// Reads all that is known.
    pub(crate) async fn load<F: Folds>(log: Log) -> Result<(Self, F::Known), FollowFault> {
        // From before the streams are read: what comes in between is seen twice, and folded once.
        let tail = log.tail(Cursor { incarnation: Some(log.incarnation()), position: log.head() });
        let mut folded = F::begin(&log);
        let mut read = HashMap::new();
        for stream in F::streams()? {
            let mut version = StreamVersion::NONE;
            loop {
                let page = log.read_stream(&stream, version, PAGE).await.map_err(fault::<F>)?;
                for event in &page {
                    folded.fold(event.position, decoded::<F>(event)?);
                    version = event.version;
                    read.insert(stream.clone(), event.position);
                }
                if page.len() < PAGE {
                    break;
                }
            }
        }
        Ok((Self { log, read, tail }, folded.finish()))
    }

    /// Follows until the log stops. What cannot be read is said to everybody: nothing passes then.
    pub(crate) async fn follow<L: Follows>(mut self, live: &L) {
        let name = L::Folds::NAME;
        loop {
            let fault = match self.advance(live).await {
                Ok(()) => return,
                Err(fault) => fault,
            };
            if matches!(fault, FollowFault::Undecodable { .. }) {
                error!(error = %fault, "{name} are unreadable, nothing passes");
                live.unreadable(&fault.to_string());
            } else {
                warn!(error = %fault, "{name} are not followed, trying again");
            }
            self = self.reload(live).await;
        }
    }

    /// Loads everything again, as often as it takes: going on from here would skip what was missed.
    async fn reload<L: Follows>(self, live: &L) -> Self {
        loop {
            tokio::time::sleep(RETRY).await;
            match Self::load::<L::Folds>(self.log.clone()).await {
                Ok((fresh, known)) => {
                    live.replace(known);
                    return fresh;
                }
                Err(fault) => {
                    warn!(error = %fault, "{} cannot be loaded again", L::Folds::NAME);
                }
            }
        }
    }

    /// Follows as long as nothing goes wrong; ends well when the log stops.
    async fn advance<L: Follows>(&mut self, live: &L) -> Result<(), FollowFault> {
        loop {
            let batch = match self.tail.next(PAGE).await {
                Ok(batch) => batch,
                Err(TailFault::Stopped) => return Ok(()),
                Err(TailFault::Read(cause)) => return Err(fault::<L::Folds>(cause)),
                Err(fault @ TailFault::Resync { .. }) => {
                    // Another life of the log: what stands in it may be something else.
                    warn!(error = %fault, "{} are loaded again", L::Folds::NAME);
                    let known;
                    (*self, known) = Self::load::<L::Folds>(self.log.clone()).await?;
                    live.replace(known);
                    continue;
                }
            };
            let news = batch.iter().filter(|event| self.is_news::<L::Folds>(event));
            let news = news.map(|event| Ok((event.position, decoded::<L::Folds>(event)?)));
            let news = news.collect::<Result<Vec<_>, FollowFault>>()?;
            if !news.is_empty() {
                live.hear(&news);
            }
        }
    }

    fn is_news<F: Folds>(&self, event: &Recorded) -> bool {
        F::concerns(&event.stream)
            && self.read.get(&event.stream).is_none_or(|read| event.position > *read)
    }
}

fn fault<F: Folds>(cause: ReadFault) -> FollowFault {
    FollowFault::Read { name: F::NAME, cause }
}

fn decoded<F: Folds>(event: &Recorded) -> Result<F::Event, FollowFault> {
    let fault = |cause| FollowFault::Undecodable { name: F::NAME, position: event.position, cause };
    match event.decode::<F::Event>() {
        Some(decoded) => decoded.map_err(fault),
        // A kind that this build does not know may be a rule of a newer one.
        None => Err(fault(CodecFault::UnknownKind(event.kind.0))),
    }
}
