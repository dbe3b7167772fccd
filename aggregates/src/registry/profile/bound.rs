//! A profile at work: who asks is judged by settings that are the stricter of two.

use std::sync::Arc;

use blake3::{Hash, Hasher};
use weir_events::{
    registry::{
        Ecosystem, Mask,
        policy::{EcosystemSettings, Floor, Settings},
        profile::Profile,
    },
    timestamp::Timestamp,
};

use crate::registry::{
    dossier::Dossier,
    facts::Facts,
    name::normalise,
    settings,
    verdict::{Objection, PROFILE},
};

/// Who asks, as far as the policy is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asker<'a> {
    /// The id of its token.
    pub token: Option<&'a str>,
    /// The profile that its token names.
    pub profile: Option<&'a str>,
}

/// A profile made ready for judging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledProfile {
    /// What it says.
    pub profile: Profile,
    /// The settings without it.
    own: Arc<Settings>,
    settings: Arc<Settings>,
    digest: Hash,
}

impl CompiledProfile {
    /// Makes a profile ready, over these settings.
    #[must_use]
    pub fn new(profile: &Profile, own: &Arc<Settings>) -> Self {
        let settings = tightened(own, profile);
        let digest = blake3::hash(format!("{profile:?} {settings:?}").as_bytes());
        let (profile, own) = (profile.clone(), Arc::clone(own));
        Self { profile, own, settings: Arc::new(settings), digest }
    }

    /// The settings as they would hold under it, if they were others without it.
    pub(in crate::registry) fn over(&self, change: impl FnOnce(&Settings) -> Settings) -> Settings {
        tightened(&change(&self.own), &self.profile)
    }
}

/// The settings as they hold under a profile: each the stricter of the two, but for the mode, which
/// is the profile's where it has one.
fn tightened(own: &Settings, profile: &Profile) -> Settings {
    let under = |ecosystem| {
        let own = settings::of(own, ecosystem);
        EcosystemSettings {
            mode: profile.mode.unwrap_or(own.mode),
            min_age_hours: own.min_age_hours.max(profile.min_age_hours),
            ..own
        }
    };
    let floor = profile
        .severity_floor
        .map_or(own.severity_floor.0, |floor| floor.min(own.severity_floor.0));
    Settings {
        severity_floor: Floor(floor),
        ecosystems: Ecosystem::ALL.map(under).to_vec(),
        ..own.clone()
    }
}

impl Facts {
    /// What is known about a package, given by its name in any spelling, as it holds for who asks.
    #[must_use]
    pub fn about_for(
        &self,
        ecosystem: Ecosystem,
        package: &str,
        asker: Asker<'_>,
        now: Timestamp,
    ) -> Dossier {
        let dossier = self.about(ecosystem, package, asker.token, now);
        let Some(name) = asker.profile else { return dossier };
        match self.compiled_profile(name) {
            Some(profile) => {
                let token = asker.token.unwrap_or_default();
                let package = normalise(ecosystem, package);
                let holds = self.holds().of(token, ecosystem, &package, now).cloned().collect();
                dossier.under(profile).with_holds(holds)
            }
            None => dossier.under_nothing(name),
        }
    }
}

impl Dossier {
    /// The profile that binds who asks.
    #[must_use]
    pub fn profile(&self) -> Option<&Profile> {
        self.bound.as_ref().map(|bound| &bound.profile)
    }

    /// The name of the profile that binds who asks, whether there is such a profile or not.
    #[must_use]
    pub fn asked_under(&self) -> Option<&str> {
        self.profile().map(|profile| profile.name.as_str()).or(self.gone.as_deref())
    }

    /// The same, by a profile's settings.
    fn under(mut self, profile: &Arc<CompiledProfile>) -> Self {
        self.settings = Arc::clone(&profile.settings);
        self.bound = Some(Arc::clone(profile));
        self.rekeyed(b"profile", profile.digest.as_bytes())
    }

    /// The same, where the profile that binds is gone: nothing passes (fail closed).
    fn under_nothing(mut self, name: &str) -> Self {
        let reason = format!(
            "the profile `{name}` of this token does not exist, so nothing is let through: see \
             `weir profiles ls`"
        );
        let (source, mask) = (PROFILE.to_owned(), Mask::DenyOnly);
        self.unread =
            Some(Arc::new(Objection { source, reason, mask, rule_id: None, cited: None }));
        self.gone = Some(name.into());
        self.rekeyed(b"no profile", name.as_bytes())
    }

    /// The same under another key, made of the one before and of what is known more.
    pub(in crate::registry) fn rekeyed(mut self, what: &[u8], more: &[u8]) -> Self {
        let mut hasher = Hasher::new_derive_key("weir registry dossier for an asker v1");
        hasher.update(self.key.as_bytes()).update(what).update(more);
        self.key = hasher.finalize();
        self
    }
}
