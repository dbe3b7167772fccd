//! A download under way, as its readers see it.

use std::{fs::File, sync::Arc, time::Duration};

use tokio::sync::watch;

use super::{DownloadFault, room::Place};
use crate::registry::cache::Cached;

/// An artifact that is here, or coming.
#[derive(Debug, Clone)]
pub enum Opened {
    /// It was here.
    Kept(Cached),
    /// It is coming; its size where that is known.
    Coming(Transfer),
}

impl Opened {
    /// Whether all of it is here, and is known to be what its index promised.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Kept(_) => true,
            Self::Coming(transfer) => transfer.state.borrow().is_whole(),
        }
    }

    /// Its size, where the index or the upstream told it.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Kept(cached) => Some(cached.meta.size),
            Self::Coming(transfer) => transfer.size(),
        }
    }

    /// Waits until it is, and says whether it came to that.
    pub async fn whole(self) -> bool {
        let Self::Coming(Transfer { mut state }) = self else { return true };
        let ended = |state: &State| state.is_whole() || matches!(state, State::Failed(_));
        let ended = state.wait_for(ended).await;
        ended.is_ok_and(|state| state.is_whole())
    }
}

/// A running download, as its readers see it.
#[derive(Debug, Clone)]
pub struct Transfer {
    pub(super) state: watch::Receiver<State>,
}

/// Where the bytes are from that come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// They were here, and are being hashed.
    Kept,
    /// The upstream sends them.
    Upstream,
}

/// How far a download is.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// What is kept of it is being looked at.
    Looking,
    /// The upstream is being asked.
    Asking,
    /// It is kept, and is what it was.
    Kept(Cached),
    /// So much of it may be read.
    Coming { file: Arc<File>, size: Option<u64>, available: u64, origin: Origin },
    /// It is whole and fits.
    Done {
        file: Arc<File>,
        size: u64,
        /// What it takes of the room, where it is not kept: as long as somebody may read it.
        _place: Option<Arc<Place>>,
    },
    /// There is no more of it to be had.
    Failed(Arc<DownloadFault>),
}

impl State {
    const fn is_whole(&self) -> bool {
        matches!(self, Self::Kept(_) | Self::Done { .. })
    }

    /// Whether what is kept of it is all that is needed, as far as is known.
    pub(super) const fn is_of_what_is_kept(&self) -> bool {
        matches!(self, Self::Looking | Self::Kept(_) | Self::Coming { origin: Origin::Kept, .. })
    }

    /// Whether what is kept of it can be answered with, or is known not to be enough.
    pub(super) const fn is_looked_at(&self) -> bool {
        self.can_be_answered() || !self.is_of_what_is_kept()
    }

    /// Whether there is something to send, or nothing more to wait for.
    pub(super) const fn can_be_answered(&self) -> bool {
        match self {
            Self::Looking | Self::Asking => false,
            Self::Coming { available, .. } => *available > 0,
            Self::Kept(_) | Self::Done { .. } | Self::Failed(_) => true,
        }
    }
}

impl Transfer {
    /// How large it is, where that is told; otherwise when all of it is here, if that is soon. The
    /// download goes on, for when it is asked for again.
    pub(super) async fn measured(&self, bound: Duration) -> Result<u64, Arc<DownloadFault>> {
        let mut state = self.state.clone();
        let known = |state: &State| match state {
            State::Looking | State::Asking => false,
            State::Coming { size, .. } => size.is_some(),
            State::Kept(_) | State::Done { .. } | State::Failed(_) => true,
        };
        let waited = tokio::time::timeout(bound, state.wait_for(known)).await;
        let state = waited.map_err(|_| DownloadFault::Unmeasured(bound))?;
        match &*state.map_err(|_| DownloadFault::Stopping)? {
            State::Coming { size: Some(size), .. } | State::Done { size, .. } => Ok(*size),
            State::Kept(cached) => Ok(cached.meta.size),
            State::Failed(fault) => Err(Arc::clone(fault)),
            State::Looking | State::Asking | State::Coming { size: None, .. } => {
                Err(Arc::new(DownloadFault::Unmeasured(bound)))
            }
        }
    }

    /// Its size, where the index or the upstream told it.
    fn size(&self) -> Option<u64> {
        match &*self.state.borrow() {
            State::Coming { size, .. } => *size,
            State::Done { size, .. } => Some(*size),
            State::Kept(cached) => Some(cached.meta.size),
            State::Looking | State::Asking | State::Failed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coming(size: Option<u64>) -> State {
        let file = Arc::new(tempfile::tempfile().unwrap());
        State::Coming { file, size, available: 1, origin: Origin::Upstream }
    }

    #[tokio::test(start_paused = true)]
    async fn a_size_is_waited_for_only_so_long_and_a_failure_is_told() {
        let (sender, state) = watch::channel(coming(None));
        let transfer = Transfer { state };
        let measured = || transfer.measured(Duration::from_secs(8));
        let fault = measured().await.unwrap_err();
        assert!(matches!(&*fault, DownloadFault::Unmeasured(_)), "{fault}");
        sender.send_replace(coming(Some(7)));
        assert_eq!(measured().await.unwrap(), 7);
        sender.send_replace(State::Failed(Arc::new(DownloadFault::Mismatch("x".to_owned()))));
        let fault = measured().await.unwrap_err();
        assert!(matches!(&*fault, DownloadFault::Mismatch(_)), "{fault}");
        sender.send_replace(coming(None));
        drop(sender);
        let fault = measured().await.unwrap_err();
        assert!(matches!(&*fault, DownloadFault::Stopping), "{fault}");
    }
}
