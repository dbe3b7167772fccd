//! Names that are our own, and are never asked of a public registry.

use http::StatusCode;
use weir_aggregates::registry::name::normalise;
use weir_events::position::Position;

use super::{Gate, Otherwise, POSITION, Voice};
use crate::{
    caller::Caller,
    registry::{asking::Asking, cache::ArtifactCache, decisions, stats::Count},
};

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// Refuses a package that is reserved, on record, before anybody outside hears of it. `what` says
    /// what was asked for of it.
    pub async fn unreserved(
        &self,
        package: &str,
        what: &str,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        let Some(objection) = self.facts()?.reserved(self.ecosystem, package) else {
            return Ok(());
        };
        self.counters.count(Count::Blocked);
        let package = normalise(self.ecosystem, package);
        let dossier = self.about(&package, asking, caller)?;
        let told = objection.to_string();
        let mut text =
            format!("{told}\n`{package}` comes from a registry of your own, or not at all");
        let mut position = None;
        if !asking.head {
            let blocked = decisions::reserved(&package, what, &dossier, &objection);
            let at = self.ledger.record(blocked, caller).await;
            let at = at.map_err(|fault| Self::unrecorded(&fault))?;
            text = format!("{text}\nrecorded as event {at}");
            position = Some(at);
        }
        let answer = V::say(StatusCode::FORBIDDEN, &text, &told);
        Err(Box::new(match position {
            Some(Position(at)) => answer.with(POSITION, at.into()),
            None => answer,
        }))
    }
}
