//! The licence of a file that does not stand in its list: fetched where it decides, and not before.

use std::sync::Arc;

use weir_aggregates::registry::dossier::Dossier;

use super::{Artifact, Gate, Judged, Otherwise, Voice};
use crate::{
    caller::Caller,
    registry::{asking::Asking, cache::ArtifactCache},
};

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// Adds the licence to what is told of a file, or refuses the file, on record, for what else is said
    /// against it. Who only asks about a file fetches nothing: it is judged by the licence that was told
    /// when somebody had it.
    pub async fn licensed<I, F>(
        &self,
        artifact: &mut Artifact,
        licence: impl FnOnce() -> F + Send,
        asking: &Asking,
        caller: &Caller,
        instead: &(impl Fn(Arc<Dossier>) -> I + Send + Sync),
    ) -> Result<(), Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
        F: Future<Output = Result<String, Otherwise>> + Send,
    {
        let dossier = self.about_used(&artifact.package, asking, caller).await?;
        let Judged { verdict, dossier } = Judged::by(dossier, artifact);
        let refused = verdict.refusal().is_some();
        let told = if refused || asking.head {
            let known = self.tellings.known(&self.ledger, artifact).await;
            known.map_err(|fault| Self::unrecorded(&fault))?.and_then(|told| told.licence)
        } else {
            Some(licence().await?)
        };
        if told.is_some() {
            artifact.told.get_or_insert_default().licence = told;
        }
        if refused {
            if !asking.head {
                let told = self.tellings.tell(&self.ledger, artifact, caller).await;
                told.map_err(|fault| Self::unrecorded(&fault))?;
            }
            self.passing(&verdict, artifact, &dossier, asking, caller, instead).await?;
        }
        Ok(())
    }
}
