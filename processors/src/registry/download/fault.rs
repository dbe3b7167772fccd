//! Why an artifact could not be had.

use std::{io, time::Duration};

use http::StatusCode;

use super::{MAX_DOWNLOADS, NoRoom};
use crate::outbound::{OutboundFault, Url};

/// An artifact could not be had.
#[derive(Debug, thiserror::Error)]
pub enum DownloadFault {
    /// The upstream does not have it.
    #[error("the upstream does not have `{0}`")]
    NotFound(Url),
    /// The upstream answers with a status that is no answer.
    #[error("the upstream answers {status} for `{url}`")]
    Status {
        /// The address.
        url: Url,
        /// The status.
        status: StatusCode,
    },
    /// The upstream cannot be reached, or its answer breaks off.
    #[error(transparent)]
    Outbound(#[from] OutboundFault),
    /// The upstream's bytes are not what its index promised.
    #[error("the upstream's bytes do not fit its index: {0}")]
    Mismatch(String),
    /// The place for files does not work.
    #[error("could not keep what the upstream sends")]
    Disk(#[from] io::Error),
    /// What was kept of it, and was on its way out already, is not what it was.
    #[error("the kept file is not what it was, and is kept no more: ask again")]
    Broken,
    /// Its first bytes are long in coming.
    #[error("the upstream has sent nothing for {0:?}")]
    NothingCame(Duration),
    /// It takes too long.
    #[error("the download took longer than {0:?}")]
    TooSlow(Duration),
    /// How large it is must be known, and is not known soon enough.
    #[error(
        "the upstream does not say how large the file is, which a quota of bytes and a client of \
         HTTP/1.0 must know; it is being fetched, and was not here after {0:?}: ask again"
    )]
    Unmeasured(Duration),
    /// As many come as may at once.
    #[error("{MAX_DOWNLOADS} downloads are under way already")]
    Busy,
    /// As much of files on their way lies here as may.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// This process is stopping.
    #[error("this instance is stopping")]
    Stopping,
}
