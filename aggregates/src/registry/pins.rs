//! Which digest each file of a package had when it was first let through here. What an index promises
//! is pinned once the bytes are known to keep it: a promise that nothing kept binds nobody. A file
//! that was published never changes: whoever promises another digest under its name has put something
//! else in its place. One stream for each package, `registry/pins/<ecosystem>/<package>`.

use std::{collections::HashMap, sync::Arc};

use weir_events::{
    kind::Subsystem,
    registry::{
        Ecosystem, Event,
        sighting::{DigestPinned, PINS},
    },
    stream::{StreamName, StreamNameFault},
};

use super::seen;
use crate::machine::{Context, Decision, Machine};

/// How many files of one package are remembered.
pub const MAX_PINS: usize = 50_000;

/// The stream of a package, given by its normalised name.
pub fn stream(ecosystem: Ecosystem, package: &str) -> Result<StreamName, StreamNameFault> {
    seen::stream_in(PINS, ecosystem, package)
}

/// The machine that remembers the digests of one package's files.
#[derive(Debug)]
pub struct Pinning;

/// The digests, by file. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    digests: Arc<HashMap<Box<str>, Box<str>>>,
}

impl State {
    /// The digest of a file, if it was let through.
    #[must_use]
    pub fn digest(&self, file: &str) -> Option<&str> {
        self.digests.get(file).map(AsRef::as_ref)
    }
}

/// A file was let through, and its bytes are what its index promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The file's name.
    pub file: String,
    /// What its index promises now, as `sha256 …`; nothing, where it promises nothing strong.
    pub digest: Option<String>,
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It was another one.
    #[error("{}", words(first, now.as_deref()))]
    Changed {
        /// What was promised first.
        first: String,
        /// What is promised now.
        now: Option<String>,
    },
    /// Too many files are remembered already.
    #[error(
        "more than {MAX_PINS} files of this package were let through, and no more are remembered"
    )]
    TooMany,
}

/// What a person is told of a digest that changed: what matters first, for clients cut it off.
fn words(first: &str, now: Option<&str>) -> String {
    let now = now.unwrap_or("none is told");
    format!("its digest changed since it was first let through: {now} now, {first} then")
}

impl Machine for Pinning {
    type State = State;
    type Command = Pin;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, pin: &Pin, context: &Context) -> Decision<Event, Refusal> {
        let Pin { ecosystem, package, file, digest } = pin;
        match (state.digest(file), digest) {
            (Some(first), Some(now)) if first == now => Decision::nothing(),
            (Some(first), now) => {
                Decision::refuse(Refusal::Changed { first: first.to_owned(), now: now.clone() })
            }
            (None, None) => Decision::nothing(),
            (None, Some(_)) if state.digests.len() >= MAX_PINS => {
                Decision::refuse(Refusal::TooMany)
            }
            (None, Some(digest)) => Decision::accept(DigestPinned {
                ecosystem: *ecosystem,
                package: package.clone(),
                file: file.clone(),
                digest: digest.clone(),
                pinned_at: context.now,
            }),
        }
    }

    fn apply(state: &mut State, event: &Event) {
        if let Event::DigestPinned(DigestPinned { file, digest, .. }) = event {
            let all = Arc::make_mut(&mut state.digests);
            all.entry(file.as_str().into()).or_insert_with(|| digest.as_str().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::{
        registry::{
            Mask,
            policy::{EcosystemSettings, Mode, Settings, SettingsChanged, Waiver, WaiverGranted},
        },
        timestamp::Timestamp,
    };

    use super::*;
    use crate::{
        machine::fold,
        registry::{
            facts::Facts,
            settings::default_of,
            verdict::{Candidate, Excuse, INTEGRITY, Verdict},
        },
    };

    fn pin(state: &State, file: &str, digest: Option<&str>) -> Decision<Event, Refusal> {
        let pin = Pin {
            ecosystem: Ecosystem::Npm,
            package: "left-pad".to_owned(),
            file: file.to_owned(),
            digest: digest.map(str::to_owned),
        };
        Pinning::decide(state, &pin, &Context { now: Timestamp::EPOCH })
    }

    #[test]
    fn the_first_digest_of_a_file_stays_its_digest() {
        let none = State::default();
        assert_eq!(pin(&none, "a", None), Decision::nothing());
        let first = pin(&none, "a", Some("sha512 00"));
        assert_eq!((first.events.len(), &first.refusal), (1, &None));
        let state = fold::<Pinning>(&first.events);
        assert_eq!(pin(&state, "a", Some("sha512 00")), Decision::nothing());
        for now in [Some("sha512 01"), Some("sha256 00"), None] {
            let refused = pin(&state, "a", now);
            let (first, now) = ("sha512 00".to_owned(), now.map(str::to_owned));
            assert_eq!(refused, Decision::refuse(Refusal::Changed { first, now }));
        }
        assert!(pin(&state, "b", Some("sha512 01")).refusal.is_none());
    }

    #[test]
    fn a_changed_digest_is_waived_by_its_name_and_two_persons_only() {
        let changed =
            Refusal::Changed { first: "sha512 00".to_owned(), now: Some("sha512 01".to_owned()) };
        let judged = |waives: &[&str], granted_by: &str, mode| {
            let own = EcosystemSettings { mode, ..default_of(Ecosystem::Npm) };
            let settings = Settings { ecosystems: vec![own], ..Settings::default() };
            let waiver = Waiver {
                id: "0193a000-0000-7000-8000-000000000002".to_owned(),
                ecosystem: Ecosystem::Npm,
                package: "left-pad".to_owned(),
                versions: "*".to_owned(),
                waives: waives.iter().map(|&id| id.to_owned()).collect(),
                token: None,
                reason: "published again by mistake".to_owned(),
                owner: "ann".to_owned(),
                expires_at: Timestamp::from_micros(i64::MAX),
            };
            let (requested_by, granted_by) = ("ann".to_owned(), granted_by.to_owned());
            let mut facts = Facts::default();
            facts.apply(1, &SettingsChanged { settings }.into());
            facts.apply(2, &WaiverGranted { waiver, requested_by, granted_by }.into());
            facts.settle();
            let dossier = facts.about(Ecosystem::Npm, "left-pad", None, Timestamp::EPOCH);
            dossier.judge_changed(&Candidate::default(), &changed)
        };
        let refused = judged(&[], "bob", Mode::Enforce).refusal().cloned().unwrap();
        assert_eq!((refused.id(), refused.mask), (INTEGRITY, Mask::Hide));
        assert!(refused.reason.contains("sha512 01 now, sha512 00 then"), "{refused}");
        assert!(!judged(&[INTEGRITY], "ann", Mode::Enforce).allowed());
        let waived = judged(&[INTEGRITY], "bob", Mode::Enforce);
        assert!(matches!(waived, Verdict::Excused(Excuse::Waiver { .. })), "{waived:?}");
        assert!(matches!(judged(&[], "bob", Mode::Audit), Verdict::Warn(_)));
    }

    proptest! {
        #[test]
        fn whatever_is_asked_a_digest_never_changes(
            asked in prop::collection::vec(("[ab]", prop::option::of("[xy]")), 0..20)
        ) {
            let (mut state, mut firsts) = (State::default(), HashMap::<String, String>::new());
            for (file, digest) in &asked {
                let decision = pin(&state, file, digest.as_deref());
                let known = firsts.get(file).cloned();
                let passes = known.is_none() || known.as_ref() == digest.as_ref();
                prop_assert_eq!(decision.refusal.is_none(), passes);
                for event in &decision.events {
                    Pinning::apply(&mut state, event);
                }
                if let Some(digest) = digest {
                    firsts.entry(file.clone()).or_insert_with(|| digest.clone());
                }
                prop_assert_eq!(state.digest(file), firsts.get(file).map(String::as_str));
            }
        }
    }
}
