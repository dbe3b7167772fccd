//! What a file costs of its asker's quota, and what is told to who has none of it left.

use http::{HeaderValue, StatusCode, header::RETRY_AFTER};
use weir_aggregates::registry::{
    dossier::Dossier,
    verdict::{Objection, Verdict},
};
use weir_events::{position::Position, registry::Ecosystem};

use super::{Artifact, Gate, Otherwise, POSITION, Voice};
use crate::{
    caller::Caller,
    registry::{
        asking::Asking,
        cache::ArtifactCache,
        decisions::{self, Extent},
        download::Opened,
        ledger::SpendFault,
        stats::Count,
    },
};

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// How large an opened file is, where that is told. Where bytes are counted, or the client must be
    /// told, it is waited for, but not long: nothing is charged that is not known to be there.
    pub(super) async fn measured(
        &self,
        opened: &Opened,
        dossier: &Dossier,
        asking: &Asking,
    ) -> Result<Option<u64>, Otherwise> {
        let profile = dossier.profile();
        let counts = profile.is_some_and(|profile| profile.quota.bytes_per_day.is_some());
        if !counts && !asking.needs_size {
            return Ok(opened.size());
        }
        let size = self.downloads.measured(opened).await;
        size.map(Some).map_err(|fault| Self::no_file(&fault))
    }

    /// Puts on record that a file is let through, and what of a quota that costs.
    pub(super) async fn let_through(
        &self,
        artifact: &Artifact,
        dossier: &Dossier,
        verdict: &Verdict,
        (extent, bytes): (Extent, u64),
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Position, Otherwise> {
        let quota = dossier.profile().map(|profile| profile.quota).unwrap_or_default();
        let allowed = decisions::allowed(artifact, dossier, verdict, extent);
        if quota.is_none() {
            let position = self.ledger.record(allowed, caller).await;
            return position.map_err(|fault| Self::unrecorded(&fault));
        }
        let refusal = match self.ledger.spend(quota, bytes, allowed, caller).await {
            Ok(position) => return Ok(position),
            Err(SpendFault::Ledger(fault)) => return Err(Self::unrecorded(&fault)),
            Err(SpendFault::Spent(refusal)) => refusal,
        };
        self.counters.count(Count::Blocked);
        let objection = Objection::used_up(&refusal);
        let blocked = decisions::blocked(artifact, dossier, &objection);
        let at = self.ledger.record(blocked, caller).await;
        let Position(at) = at.map_err(|fault| Self::unrecorded(&fault))?;
        let told = objection.to_string();
        let seconds = refusal.retry_after(self.ledger.now());
        let text = format!("{told}\nagain in {seconds} seconds\nrecorded as event {at}");
        let status = used_up(self.ecosystem);
        let answer = V::say(status, &text, &told).with(POSITION, at.into());
        let says_when = status == StatusCode::TOO_MANY_REQUESTS && !asking.sleeps;
        let retry_after = || HeaderValue::from(seconds);
        Err(Box::new(if says_when { answer.with(RETRY_AFTER, retry_after()) } else { answer }))
    }
}

/// The status of an answer to who has used up a quota. Clients that ask again and again after a 429,
/// half a minute and longer, and say nothing meanwhile, are told that it is forbidden: npm, cargo, skopeo.
const fn used_up(ecosystem: Ecosystem) -> StatusCode {
    match ecosystem {
        Ecosystem::Pypi | Ecosystem::Go => StatusCode::TOO_MANY_REQUESTS,
        Ecosystem::Npm | Ecosystem::Cargo | Ecosystem::Docker => StatusCode::FORBIDDEN,
    }
}
