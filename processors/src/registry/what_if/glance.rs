//! A look at a decision that reads no more of it than judging it once more takes.

use std::borrow::Cow;

use serde::Deserialize;
use weir_aggregates::registry::{
    canary,
    verdict::{AS_OF, INTEGRITY, PROFILE, QUOTA},
    what_if::{Decision, Outcome},
};
use weir_events::{envelope::Recorded, registry::Ecosystem, timestamp::Timestamp, upcast};

use crate::caller::Caller;

/// Sources whose refusals no policy is about: what was not there as of a time, the end of a quota, a
/// digest that changed, and what only proves that a client asks here.
const OUTSIDE: [&str; 4] = [AS_OF, QUOTA, INTEGRITY, canary::SOURCE];

/// What of `PackageAllowed` and `PackageBlocked` counts.
#[derive(Debug, Deserialize)]
pub(super) struct Glance<'a> {
    ecosystem: Ecosystem,
    package: &'a str,
    version: Option<&'a str>,
    #[serde(default)]
    published_at: Option<Timestamp>,
    #[serde(default)]
    late: bool,
    #[serde(default)]
    profile: Option<&'a str>,
    /// Of a refusal.
    #[serde(default)]
    source: Option<&'a str>,
}

#[derive(Debug, Deserialize)]
struct Named<'a> {
    principal: &'a str,
    actor: &'a str,
}

/// What was seen.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen<'a> {
    /// A decision.
    Decision(Decision<'a>),
    /// A refusal that no policy is about.
    Outside,
}

impl Glance<'_> {
    /// The payload in today's schema, if this build can read it.
    pub(super) fn payload(event: &Recorded) -> Option<Cow<'_, [u8]>> {
        upcast::to_current(event.kind.info()?, event.schema, &event.payload).ok()
    }

    /// What stands in a decision, if this build can read it.
    pub(super) fn of<'a>(event: &'a Recorded, payload: &'a [u8]) -> Option<Seen<'a>> {
        let glance: Glance<'a> = rmp_serde::from_slice(payload).ok()?;
        let Named { principal, actor } = rmp_serde::from_slice(&event.meta).ok()?;
        let Glance { ecosystem, package, version, published_at, late, profile, source } = glance;
        // Before decisions told it, nobody knows which profile was gone.
        let unnamed = source == Some(PROFILE) && profile.is_none();
        if unnamed || source.is_some_and(|source| OUTSIDE.contains(&source)) {
            return Some(Seen::Outside);
        }
        Some(Seen::Decision(Decision {
            ecosystem,
            package,
            version,
            published_at,
            late,
            at: event.recorded_at,
            principal,
            token: Caller::token_of(actor),
            profile,
            outcome: if source.is_none() { Outcome::Allowed } else { Outcome::Blocked },
        }))
    }
}
