//! Files that are to be what they were when they were first let through.

use weir_events::registry::Ecosystem;

use super::{Artifact, Gate, Otherwise, Voice};
use crate::{
    caller::Caller,
    registry::{cache::ArtifactCache, download::Opened, pins::Standing},
};

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// Whether something else was promised of a file when it was first let through. Nothing is recorded.
    /// What is called by its digest cannot change, and of a Go module only what a checksum database says
    /// is compared.
    pub(super) async fn standing(&self, artifact: &Artifact) -> Result<Standing, Otherwise> {
        let told = artifact.wanted.pinned().is_some();
        match self.ecosystem {
            Ecosystem::Docker => return Ok(Standing::Settled),
            Ecosystem::Go if !told => return Ok(Standing::Settled),
            Ecosystem::Go | Ecosystem::Pypi | Ecosystem::Npm | Ecosystem::Cargo => {}
        }
        let standing = self.pins.standing(&self.ledger, artifact).await;
        standing.map_err(|fault| Self::unrecorded(&fault))
    }

    /// Pins the digest of a file that is let through, once its bytes are known to have it: what an index
    /// promises is no more than a promise. Nobody waits for that, and what breaks off is pinned the next
    /// time.
    pub(super) fn pin_when_whole(&self, artifact: &Artifact, opened: &Opened, caller: &Caller) {
        if opened.is_whole() {
            self.pins.remember(artifact);
        }
        // Of many readers one waits for all.
        let Some(waiting) = self.pins_coming.begin(artifact) else { return };
        let (pins, ledger) = (self.pins.clone(), self.ledger.clone());
        let (artifact, caller) = (artifact.clone(), caller.clone());
        let opened = opened.clone();
        self.lifecycle.run("pin", async move {
            if opened.whole().await {
                pins.pin(&ledger, &artifact, &caller).await;
            }
            drop(waiting);
        });
    }
}
