//! Files that are to be what they were when they were first let through.

use weir_aggregates::registry::pins::Refusal;
use weir_events::registry::Ecosystem;

use super::{Artifact, Gate, Otherwise, Voice};
use crate::{caller::Caller, registry::cache::CachePlugin};

impl<C: CachePlugin, V: Voice> Gate<C, V> {
    /// Whether something else was promised of a file when it was first let through. What is called by
    /// its digest cannot change, and of a Go module only what a checksum database says is compared.
    pub(super) async fn changed(
        &self,
        artifact: &Artifact,
        caller: &Caller,
    ) -> Result<Option<Refusal>, Otherwise> {
        let told = artifact.wanted.pinned().is_some();
        match self.ecosystem {
            Ecosystem::Docker => return Ok(None),
            Ecosystem::Go if !told => return Ok(None),
            Ecosystem::Go | Ecosystem::Pypi | Ecosystem::Npm | Ecosystem::Cargo => {}
        }
        let pinned = self.pins.pin(&self.ledger, artifact, caller).await;
        pinned.map_err(|fault| Self::unrecorded(&fault))
    }
}
