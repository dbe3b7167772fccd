//! What our own clock said of the packages of the past, read from the log where an age counts.

use std::sync::Arc;

use tokio::runtime::Handle;
use weir_aggregates::registry::{
    name::normalise,
    seen::State,
    what_if::{About, Decision},
};
use weir_events::timestamp::Timestamp;

use crate::{
    door::{Door, DoorFault},
    registry::sightings,
};

/// Where it is read. Not to be asked on a thread that serves.
#[derive(Debug)]
pub(super) enum Memory {
    /// In the log.
    Log(Door, Handle),
    /// What a test says was seen, of every package.
    #[cfg(test)]
    Given(State),
}

impl Memory {
    /// That of a door.
    pub(super) fn of(door: &Door) -> Self {
        Self::Log(door.clone(), Handle::current())
    }

    /// What is known of a package, with all that was seen of it until today.
    pub(super) fn by_today(
        &self,
        about: About,
        decision: &Decision<'_>,
    ) -> Result<About, DoorFault> {
        let state = self.state(decision)?;
        Ok(seeing(about, decision, state))
    }

    /// The same, with what was seen of it when it was asked for: that holds until more was seen.
    pub(super) fn by_then(
        &self,
        mut about: About,
        decision: &Decision<'_>,
    ) -> Result<About, DoorFault> {
        let state = self.state(decision)?;
        let more = state.next_after(decision.at).unwrap_or(Timestamp::from_micros(i64::MAX));
        about.until = about.until.min(more);
        Ok(seeing(about, decision, state.as_of(decision.at)))
    }

    fn state(&self, decision: &Decision<'_>) -> Result<State, DoorFault> {
        match self {
            Self::Log(door, runtime) => {
                let package = normalise(decision.ecosystem, decision.package);
                runtime.block_on(sightings::state(door, decision.ecosystem, &package))
            }
            #[cfg(test)]
            Self::Given(state) => Ok(state.clone()),
        }
    }
}

fn seeing(about: About, decision: &Decision<'_>, state: State) -> About {
    let seen = sightings::told(decision.ecosystem, decision.package, state);
    About { dossier: about.dossier.seeing(Arc::new(seen)), ..about }
}
