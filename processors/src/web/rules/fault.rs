//! Why the rules are not there.

use weir_aggregates::web::rules::Refusal;
use weir_events::stream::StreamNameFault;
use weir_log::read::ReadFault;

use crate::{
    door::{DoorFault, ExecuteFault},
    follower::FollowFault,
};

/// The rules cannot be known.
#[derive(Debug, thiserror::Error)]
pub enum RulesFault {
    /// They could not be read.
    #[error(transparent)]
    Follow(#[from] FollowFault),
    /// The rules that Weir brings along could not be recorded.
    #[error("could not record the rules that Weir brings along")]
    Begin(#[source] ExecuteFault<Refusal>),
    /// Their stream has no name.
    #[error(transparent)]
    Stream(#[from] StreamNameFault),
}

impl RulesFault {
    pub(super) fn passing(&self) -> bool {
        match self {
            Self::Follow(fault) => fault.passing(),
            Self::Begin(ExecuteFault::Fault(DoorFault::Read(ReadFault::Database(fault)))) => {
                fault.passing()
            }
            Self::Begin(_) | Self::Stream(_) => false,
        }
    }
}
