//! Where advisories come from: what fetches them, and puts what is news on the log.
//!
//! A source is a [`SecuritySourcePlugin`]; the [`scheduler`] visits it. Only the difference to what
//! the log already says is appended, in bounded batches, so that a visit that is cut off is gone on
//! with by the next one, and nothing stands there twice. A visit that fails withdraws nothing, nor does
//! one that only lacks something: what two editions of a feed lack, one after the other, is gone.
//! What a source says is not judged here: whether a version is blocked, and from which severity on,
//! is the verdict's business, which folds the same streams.

pub mod archive;
mod batches;
pub mod blocklist;
pub mod openssf;
pub mod osv;
pub mod probe;
mod retry;
pub mod scheduler;
mod zip;

#[cfg(test)]
pub(crate) mod testing;

use std::{io, time::Duration};

use futures_util::future::BoxFuture;
use http::StatusCode;
use weir_aggregates::registry::{
    advisory::difference::{Losses, Shrunk},
    visits::Part,
};
use weir_events::registry::Ecosystem;
use weir_log::{append::AppendFault, read::ReadFault};

pub use self::retry::Retry;
use self::{archive::Archive, blocklist::ListFault, zip::ZipFault};
use crate::{
    door::DoorFault,
    outbound::{OutboundFault, git::GitFault, polite::NotYet},
};

/// Every source there is, in the order in which they are shown.
pub const NAMES: [&str; 3] = [osv::NAME, openssf::NAME, blocklist::NAME];

/// A source of advisories. What it says about a package is asked of what the log folds into, not
/// of it.
pub trait SecuritySourcePlugin: Send + Sync + 'static {
    /// Its name in events, answers and streams.
    fn name(&self) -> &'static str;

    /// The ecosystems it is asked about.
    fn supported_ecosystems(&self) -> &[Ecosystem];

    /// Its parts that are visited each on its own.
    fn parts(&self) -> Vec<Part>;

    /// How long after a visit the next one is due.
    fn sync_interval(&self) -> Duration;

    /// How often, and after what pauses, a visit is tried again.
    fn retry(&self) -> Retry;

    /// How long one try may take.
    fn sync_timeout(&self) -> Duration;

    /// Whether visits without news stand in the log too.
    fn reports(&self) -> Reports {
        Reports::EveryVisit
    }

    /// Returns when the source may have changed before its interval is over.
    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Reads what the source has, and appends what is news. Cut off anywhere, it leaves nothing half
    /// done that another visit does not go on with.
    fn sync<'a>(
        &'a self,
        visit: &'a Visit,
        archive: &'a dyn Archive,
    ) -> BoxFuture<'a, Result<Synced, SyncFault>>;
}

/// Which visits stand in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reports {
    /// All of them.
    EveryVisit,
    /// Those that somebody asked for, that changed something, or that went another way than the one
    /// before: for what is looked at often and costs nothing.
    News,
}

/// What a visit is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Which part.
    pub part: Part,
    /// What the source called its state when it was read last; none when it is to be read anew.
    pub revision: Option<String>,
    /// Whether to believe that much of it is gone.
    pub losses: Losses,
}

/// What came of a visit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    /// What was counted.
    pub tally: Tally,
    /// What the source calls its state now.
    pub revision: Option<String>,
}

/// What was read, and what of it was news.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records that were read.
    pub n_records: u64,
    /// Those of them that cannot be read.
    pub n_unreadable: u64,
    /// Advisories that are new.
    pub n_published: u64,
    /// Advisories that say something else.
    pub n_changed: u64,
    /// Advisories that are withdrawn.
    pub n_withdrawn: u64,
    /// Advisories that were not there, and stand until the next edition lacks them too.
    pub n_missing: u64,
}

impl Tally {
    /// Whether nothing was appended.
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        self.n_published == 0 && self.n_changed == 0 && self.n_withdrawn == 0
    }
}

/// A visit came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum SyncFault {
    /// The way there, or the answer, broke.
    #[error(transparent)]
    Outbound(#[from] OutboundFault),
    /// The source answered with no feed.
    #[error("`{url}` answers {status}")]
    Status {
        /// What was asked for.
        url: String,
        /// What was answered.
        status: StatusCode,
        /// When to come back, if it said so.
        retry_after: Option<Duration>,
    },
    /// The source has asked us to stay away for a while.
    #[error(transparent)]
    NotYet(#[from] NotYet),
    /// The feed cannot be unpacked.
    #[error("could not read the feed of `{url}`")]
    Feed {
        /// Where it came from.
        url: String,
        /// What is wrong with it.
        #[source]
        cause: ZipFault,
    },
    /// Git could not fetch, or could not read what it fetched.
    #[error(transparent)]
    Git(#[from] GitFault),
    /// Too much is gone at once.
    #[error("{0}; if that is right, say so: `weir sources sync {1} --believe-losses`")]
    Shrunk(Shrunk, &'static str),
    /// The blocklist file cannot be taken.
    #[error(transparent)]
    List(#[from] ListFault),
    /// A file of our own cannot be read or written.
    #[error("could not {doing}")]
    Local {
        /// What was being done.
        doing: &'static str,
        /// What went wrong.
        #[source]
        cause: io::Error,
    },
    /// What is news could not be appended, or what is known could not be read.
    #[error(transparent)]
    Log(#[from] DoorFault),
    /// It took too long.
    #[error("the visit took longer than {0:?}")]
    TimedOut(Duration),
    /// A part of it ended before the whole did.
    #[error("the visit broke off: {0}")]
    BrokeOff(&'static str),
}

impl SyncFault {
    /// Whether trying again soon can help.
    #[must_use]
    pub fn passing(&self) -> bool {
        match self {
            Self::Outbound(
                OutboundFault::Broken { .. }
                | OutboundFault::TooSlow { .. }
                | OutboundFault::NoRoom { .. },
            )
            | Self::TimedOut(_)
            | Self::BrokeOff(_) => true,
            Self::Status { status, .. } => {
                *status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
            }
            // Cut short on the way, where the length was not told.
            Self::Feed { cause, .. } => matches!(cause, ZipFault::Malformed(_)),
            Self::Git(fault) => fault.passing(),
            Self::Log(fault) => match fault {
                DoorFault::Read(ReadFault::Database(fault)) => fault.passing(),
                DoorFault::Append(fault) => {
                    !matches!(fault, AppendFault::Invalid(_) | AppendFault::Archived(_))
                }
                DoorFault::Contended(_) => true,
                DoorFault::Read(_) | DoorFault::Codec(_) => false,
            },
            Self::Outbound(_)
            | Self::NotYet(_)
            | Self::Shrunk(..)
            | Self::List(_)
            | Self::Local { .. } => false,
        }
    }

    /// When the source wants to be asked again, if it said so.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// What OSV and its like have advisories about.
pub const WATCHED: [Ecosystem; 4] =
    [Ecosystem::Pypi, Ecosystem::Npm, Ecosystem::Cargo, Ecosystem::Go];
