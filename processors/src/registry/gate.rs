//! How any ecosystem lets a file through: judged when it is served, whether it was here or not, and
//! its decision in the log before its first byte leaves. What differs between ecosystems is the
//! [`Voice`] that refuses.

mod artifact;
mod delivered;
mod faults;
mod file;
mod holds;
mod known;
mod licence;
mod list;
mod pins;
mod quota;
mod reserved;
mod verdict;

use std::{marker::PhantomData, sync::Arc};

pub use artifact::{Artifact, Part, Role};
use http::{HeaderName, StatusCode};
pub use list::{Changed, Listed};
use uuid::Uuid;
pub use verdict::Judged;
use weir_events::registry::Ecosystem;
use weir_log::lifecycle::Lifecycle;

use super::{
    answer::Answer,
    asking::Asking,
    cache::ArtifactCache,
    download::{Bounds, Downloads},
    known::Known,
    ledger::Ledger,
    patience::Patience,
    pins::{Pins, coming::Coming},
    policy::Policy,
    setup::Parts,
    sightings::Sightings,
    stats::Counters,
    tellings::Tellings,
};

/// Where an answer stands in the log.
const POSITION: HeaderName = HeaderName::from_static("weir-position");

/// What stands for a package's list where something else has a file's name.
pub const LIST: &str = "its list";

/// An answer that is not what was asked for.
pub type Otherwise = Box<Answer>;

/// How an ecosystem's clients are told what is wrong.
pub trait Voice: Send + Sync + 'static {
    /// An answer with this text, one or more lines, in whose reason phrase or headers the reason
    /// stands, for clients that show nothing else.
    fn say(status: StatusCode, text: &str, reason: &str) -> Answer;
}

/// Plain text, and the reason as the reason phrase: what pip, uv, cargo and go print.
#[derive(Debug)]
pub struct Plain;

impl Voice for Plain {
    fn say(status: StatusCode, text: &str, reason: &str) -> Answer {
        Answer::text(status, text).because(reason)
    }
}

/// The gate of one ecosystem.
#[derive(Debug)]
pub struct Gate<C, V> {
    ecosystem: Ecosystem,
    downloads: Downloads<C>,
    policy: Policy,
    ledger: Arc<Ledger>,
    counters: Arc<Counters>,
    sightings: Sightings,
    pins: Pins,
    pins_coming: Coming,
    tellings: Tellings,
    known: Known,
    patience: Patience,
    lifecycle: Lifecycle,
    instance: Uuid,
    voice: PhantomData<V>,
}

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// A gate in front of a cache and an outside.
    pub fn new(parts: Parts<'_, C>, counters: Arc<Counters>, bounds: Bounds) -> Self {
        let Parts { policy, ledger, outbound, cache, patience, lifecycle, .. } = parts;
        let ledger = Arc::new(ledger);
        Self {
            ecosystem: ledger.ecosystem(),
            instance: outbound.instance(),
            downloads: Downloads::new(
                cache,
                outbound,
                Arc::clone(&ledger),
                Arc::clone(&counters),
                lifecycle.clone(),
                bounds,
            ),
            policy,
            ledger,
            counters,
            sightings: Sightings::default(),
            pins: Pins::default(),
            pins_coming: Coming::default(),
            tellings: Tellings::default(),
            known: Known::default(),
            patience,
            lifecycle: lifecycle.clone(),
            voice: PhantomData,
        }
    }

    /// The ways files come.
    pub const fn downloads(&self) -> &Downloads<C> {
        &self.downloads
    }

    /// The way into the log.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What happened.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Refuses what has come through this very Weir before.
    pub fn not_again(&self, asking: &Asking) -> Result<(), Otherwise> {
        if !asking.trail.closes_a_circle_at(self.instance) {
            return Ok(());
        }
        let why = format!(
            "the upstream of this Weir is this Weir; set registries.{}.upstream to a registry",
            self.ecosystem
        );
        Err(Self::no(StatusCode::LOOP_DETECTED, &why))
    }

    /// The answer of an ecosystem that has no upstream.
    pub fn disabled(&self) -> Otherwise {
        let why =
            format!("packages of {0} are disabled: set registries.{0}.upstream", self.ecosystem);
        Self::no(StatusCode::NOT_IMPLEMENTED, &why)
    }
}
