//! What clients are told when something is wrong.

use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_RANGE, RETRY_AFTER},
};
use tracing::{error, warn};

use super::{Gate, Otherwise, Voice};
use crate::chain::chain;
use crate::registry::{cache::ArtifactCache, documents::DocumentsFault, download::DownloadFault};

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// An answer that says why not.
    pub fn no(status: StatusCode, why: &str) -> Otherwise {
        let answer = V::say(status, why, why);
        Box::new(answer.with(CACHE_CONTROL, HeaderValue::from_static("no-store")))
    }

    /// This process is stopping.
    pub fn stopping() -> Otherwise {
        let answer = Self::no(StatusCode::SERVICE_UNAVAILABLE, "this Weir is stopping");
        Box::new(answer.with(RETRY_AFTER, 1.into()))
    }

    pub(super) fn unsatisfiable(size: u64) -> Otherwise {
        let why = format!("the file has {size} bytes");
        let answer = Self::no(StatusCode::RANGE_NOT_SATISFIABLE, &why);
        Box::new(match HeaderValue::try_from(format!("bytes */{size}")) {
            Ok(range) => answer.with(CONTENT_RANGE, range),
            Err(_) => *answer,
        })
    }

    /// Nothing passes unrecorded.
    pub(in crate::registry) fn unrecorded(fault: &dyn std::error::Error) -> Otherwise {
        error!(error = chain(fault), "a decision could not be recorded, nothing passes");
        let why = "Weir cannot record its decision now, so nothing passes; try again";
        let answer = Self::no(StatusCode::SERVICE_UNAVAILABLE, why);
        Box::new(answer.with(RETRY_AFTER, 1.into()))
    }

    /// There is no list.
    pub fn no_list(fault: &DocumentsFault) -> Otherwise {
        match fault {
            DocumentsFault::NotFound(_) => Self::no(StatusCode::NOT_FOUND, &fault.to_string()),
            DocumentsFault::Stopping => Self::stopping(),
            DocumentsFault::Status { .. }
            | DocumentsFault::Unreachable { .. }
            | DocumentsFault::Unreadable { .. }
            | DocumentsFault::Degraded(_) => {
                warn!(error = chain(fault), "no list from the upstream");
                Self::no(StatusCode::BAD_GATEWAY, &chain(fault))
            }
        }
    }

    /// As much is under way as may be.
    fn full(why: &str) -> Otherwise {
        let answer = Self::no(StatusCode::SERVICE_UNAVAILABLE, why);
        Box::new(answer.with(RETRY_AFTER, 1.into()))
    }

    /// There is no file.
    pub fn no_file(fault: &DownloadFault) -> Otherwise {
        match fault {
            DownloadFault::NotFound(_) => {
                let why = "the upstream lists this file, but does not have it";
                Self::no(StatusCode::NOT_FOUND, why)
            }
            DownloadFault::Stopping => Self::stopping(),
            // Soon, so that who asks again still meets the download of what is not kept.
            DownloadFault::Busy | DownloadFault::Broken | DownloadFault::Unmeasured(_) => {
                Self::full(&fault.to_string())
            }
            DownloadFault::NoRoom(no_room) if no_room.passes() => Self::full(&fault.to_string()),
            // To wait does not help: nobody is told to.
            DownloadFault::NoRoom(_) => {
                Self::no(StatusCode::SERVICE_UNAVAILABLE, &fault.to_string())
            }
            DownloadFault::Disk(_) => {
                error!(error = chain(fault), "the place for files does not work");
                let why = "Weir cannot keep files now; try again";
                Self::no(StatusCode::SERVICE_UNAVAILABLE, why)
            }
            DownloadFault::Status { .. }
            | DownloadFault::Outbound(_)
            | DownloadFault::Mismatch(_)
            | DownloadFault::NothingCame(_)
            | DownloadFault::TooSlow(_) => Self::no(StatusCode::BAD_GATEWAY, &chain(fault)),
        }
    }
}
