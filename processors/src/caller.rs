//! In whose name something is done, and in answer to what.

use std::sync::Arc;

use uuid::Uuid;
use weir_aggregates::registry::profile::Asker;
use weir_events::actor::{
    ActorPath, ActorPathParts, ActorPathScheme, GuardianSegments, SystemName, encode_segment,
};

/// Who asks: goes into the meta of every event that comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The principal's name.
    pub principal: Arc<str>,
    /// The canonical actor path of who acts.
    pub actor: Arc<str>,
    /// The profile that binds it, where one does.
    pub profile: Option<Arc<str>>,
    /// W3C trace context, as it came.
    pub traceparent: Option<Arc<str>>,
    /// The first cause this belongs to; a fresh one when absent.
    pub correlation_id: Option<Uuid>,
    /// The event this answers to.
    pub causation_id: Option<Uuid>,
}

impl Caller {
    /// Somebody at the API: `/user/agents/<id>`.
    pub fn principal(name: &str, id: &str) -> Self {
        Self::at(name, GuardianSegments::User, "agents", id)
    }

    /// A part of Weir itself: `/system/processors/<name>`.
    pub fn processor(name: &str) -> Self {
        Self::at("weir", GuardianSegments::System, "processors", name)
    }

    /// The id of the token that somebody at the API has shown.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        Self::token_of(&self.actor)
    }

    /// The same, by the actor path of who acted.
    #[must_use]
    pub fn token_of(actor: &str) -> Option<&str> {
        let (folder, id) = actor.rsplit_once('/')?;
        folder.ends_with("/user/agents").then_some(id)
    }

    /// It as the policy knows it.
    #[must_use]
    pub fn asker(&self) -> Asker<'_> {
        Asker { token: self.token(), profile: self.profile.as_deref() }
    }

    fn at(principal: &str, guardian: GuardianSegments, folder: &str, name: &str) -> Self {
        Self {
            principal: principal.into(),
            actor: address(guardian, &[folder, name]).into(),
            profile: None,
            traceparent: None,
            correlation_id: None,
            causation_id: None,
        }
    }

    /// The same caller, in answer to an event.
    #[must_use]
    pub fn answering(mut self, correlation_id: Uuid, causation_id: Uuid) -> Self {
        self.correlation_id = Some(correlation_id);
        self.causation_id = Some(causation_id);
        self
    }
}

/// The canonical local path of a name below a guardian. Names from outside are encoded; one that
/// cannot be (not ASCII, too long) stands as the hash of itself.
pub fn address(guardian: GuardianSegments, names: &[&str]) -> String {
    let Ok(system) = SystemName::new("weir") else { return String::new() };
    let parts = ActorPathParts::local(ActorPathScheme::Pekko, system);
    let mut path = ActorPath::guardian_of(parts, guardian);
    for name in names {
        let hashed = || blake3::hash(name.as_bytes()).to_hex();
        let segment = encode_segment(name).or_else(|_| encode_segment(&hashed()));
        if let Ok(child) = segment.and_then(|segment| path.child(&segment)) {
            path = child;
        }
    }
    path.to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_caller_has_an_address_whatever_its_name() {
        assert_eq!(&*Caller::processor("sealer").actor, "pekko://weir/system/processors/sealer");
        assert_eq!(Caller::principal("x", "0a1b").token(), Some("0a1b"));
        assert_eq!(Caller::processor("sealer").token(), None);
        let odd = Caller::principal("x", "a/b").actor;
        assert_eq!(&*odd, "pekko://weir/user/agents/a%2Fb");
        let foreign = Caller::principal("x", "Zoë").actor;
        assert!(foreign.starts_with("pekko://weir/user/agents/"), "{foreign}");
        assert!(foreign.parse::<ActorPath>().is_ok(), "{foreign}");
    }
}
