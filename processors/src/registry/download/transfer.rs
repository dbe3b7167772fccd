//! A download under way, as its readers see it.

use std::{fs::File, sync::Arc};

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

/// How far a download is.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// The upstream is being asked.
    Asking,
    /// Somebody else had kept it meanwhile.
    Kept(Cached),
    /// So much of it may be read.
    Coming { file: Arc<File>, size: Option<u64>, available: u64 },
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

    /// Whether there is something to send, or nothing more to wait for.
    pub(super) const fn can_be_answered(&self) -> bool {
        match self {
            Self::Asking => false,
            Self::Coming { available, .. } => *available > 0,
            Self::Kept(_) | Self::Done { .. } | Self::Failed(_) => true,
        }
    }
}

impl Transfer {
    /// How large it is, where that is told; otherwise when all of it is here. `None` where it fails.
    pub async fn measured(&self) -> Option<u64> {
        let mut state = self.state.clone();
        let known = |state: &State| match state {
            State::Asking => false,
            State::Coming { size, .. } => size.is_some(),
            State::Kept(_) | State::Done { .. } | State::Failed(_) => true,
        };
        drop(state.wait_for(known).await.ok()?);
        self.size()
    }

    /// Its size, where the index or the upstream told it.
    pub fn size(&self) -> Option<u64> {
        match &*self.state.borrow() {
            State::Coming { size, .. } => *size,
            State::Done { size, .. } => Some(*size),
            State::Kept(cached) => Some(cached.meta.size),
            State::Asking | State::Failed(_) => None,
        }
    }
}
