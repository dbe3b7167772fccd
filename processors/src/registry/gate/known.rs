//! What is known of a package when it is asked for: the live policy, and what this Weir saw of it.

use std::sync::{Arc, RwLockReadGuard};

use http::StatusCode;
use weir_aggregates::registry::{dossier::Dossier, facts::Facts, name::normalise, told::Told};

use super::{Gate, Otherwise, Voice};
use crate::{
    caller::Caller,
    registry::{
        asking::Asking,
        cache::ArtifactCache,
        policy::{Policy, Unreadable},
        sightings::There,
    },
};

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// What is known now about a package, given by its name in any spelling, for what is asked.
    pub fn about(
        &self,
        package: &str,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Arc<Dossier>, Otherwise> {
        let now = self.ledger.now();
        let about = self.policy.about(self.ecosystem, package, caller, now);
        let mut dossier = about.map_err(|unreadable| Self::unreadable(&unreadable))?;
        if dossier.counts_age() {
            dossier = self.remembering(&dossier, package);
        }
        Ok(match asking.as_of {
            Some(as_of) => Arc::new(Dossier::clone(&dossier).as_of(as_of)),
            None => dossier,
        })
    }

    /// The same, knowing whether anybody here uses it, where that matters.
    pub(super) async fn about_used(
        &self,
        package: &str,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Arc<Dossier>, Otherwise> {
        let dossier = self.about(package, asking, caller)?;
        if !dossier.warns_of_name() {
            return Ok(dossier);
        }
        let used = self.known.package(&self.ledger, package).await;
        let used = used.map_err(|fault| Self::unrecorded(&fault))?;
        Ok(if used { Arc::new(Dossier::clone(&dossier).used_here()) } else { dossier })
    }

    /// Looks at what is there of a package, given by its normalised name, where it matters when that
    /// was seen first: in a list, or by itself. To be done before anything asks [`Gate::about`] it.
    pub async fn look<'a>(
        &self,
        package: &str,
        list: Option<blake3::Hash>,
        there: impl FnOnce() -> There<'a> + Send,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        let known = list.is_some_and(|list| self.sightings.looked_at(package, &list));
        if known || !self.watches()? {
            return Ok(());
        }
        let looked = self.sightings.look(&self.ledger, package, list, &there(), caller).await;
        looked.map_err(|fault| Self::unrecorded(&fault))
    }

    /// Whether it matters when the versions of packages were seen first.
    pub fn watches(&self) -> Result<bool, Otherwise> {
        Ok(self.facts()?.watches(self.ecosystem))
    }

    /// What a list tells of a version beside its time, as far as it matters.
    pub fn telling<'a>(
        &self,
        told: impl FnOnce() -> Option<&'a Told>,
    ) -> Result<Option<Told>, Otherwise> {
        let (lists, licences) = {
            let facts = self.facts()?;
            (facts.reads_lists(), facts.reads_licences(self.ecosystem))
        };
        let told = if lists { told().cloned() } else { None };
        Ok(told.map(|told| Told { licence: told.licence.filter(|_| licences), ..told }))
    }

    /// Whether it matters under which licence packages are.
    pub fn reads_licences(&self) -> Result<bool, Otherwise> {
        Ok(self.facts()?.reads_licences(self.ecosystem))
    }

    /// Whether a version was seen, as far as is known here.
    pub fn has_seen(&self, package: &str, version: &str) -> bool {
        self.sightings.has_seen(package, version)
    }

    /// The same dossier, with what was seen meanwhile.
    pub fn remembering(&self, dossier: &Arc<Dossier>, package: &str) -> Arc<Dossier> {
        let package = normalise(self.ecosystem, package);
        Arc::new(Dossier::clone(dossier).seeing(self.sightings.known(&package)))
    }

    /// The live policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// All that is known now. Not to be held while anything is waited for.
    pub fn facts(&self) -> Result<RwLockReadGuard<'_, Facts>, Otherwise> {
        self.policy.facts().map_err(|unreadable| Self::unreadable(&unreadable))
    }

    /// Nothing passes by rules that cannot be read.
    pub fn unreadable(unreadable: &Unreadable) -> Otherwise {
        let text = unreadable.to_string();
        Box::new(V::say(StatusCode::SERVICE_UNAVAILABLE, &text, "Weir cannot read its rules"))
    }
}
