//! How the firewall judges, as the configuration of whoever started last has it. Stream
//! `registry/settings`: what was gone by on a day stands in the log, as everything else does.

use weir_events::{
    kind::Subsystem,
    registry::{
        Ecosystem, Event,
        policy::{EcosystemSettings, Licences, Reserved, Settings, SettingsChanged},
    },
};

use super::{
    licence::{self, MAX_NAMES},
    lookalike::{self, MAX_PROTECTED},
    name::pattern::Pattern,
    reserved::MAX_RESERVED,
    short,
};

use crate::machine::{Context, Decision, Machine};

/// The machine that keeps the settings.
#[derive(Debug)]
pub struct Keeping;

/// The settings; those of a new Weir are the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// What is gone by.
    pub settings: Settings,
}

/// Go by these from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Apply(pub Settings);

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// An ecosystem stands there twice.
    #[error("the settings of {0} are given twice")]
    Twice(Ecosystem),
    /// A reserved name is none.
    #[error("`{package}` of {ecosystem} cannot be reserved: {cause}")]
    BadReserved {
        /// The ecosystem.
        ecosystem: Ecosystem,
        /// The pattern.
        package: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// A licence that is allowed or denied is none.
    #[error("`{name}` cannot be allowed or denied: {cause}")]
    BadLicence {
        /// What it is called.
        name: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// There are too many licences.
    #[error("more than {MAX_NAMES} licences are allowed, or denied; use patterns")]
    TooManyLicences,
    /// A name that is to be looked after is none.
    #[error("`{package}` of {ecosystem} cannot be looked after: {cause}")]
    BadProtected {
        /// The ecosystem.
        ecosystem: Ecosystem,
        /// The name.
        package: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// There are too many names to look after.
    #[error("there are {0} names to look after, and {MAX_PROTECTED} at most")]
    TooManyProtected(usize),
    /// There are too many reserved names.
    #[error("there are {0} reserved names, and {MAX_RESERVED} at most; use patterns")]
    TooManyReserved(usize),
}

impl Machine for Keeping {
    type State = State;
    type Command = Apply;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, Apply(settings): &Apply, _: &Context) -> Decision<Event, Refusal> {
        let all = &settings.ecosystems;
        let twice = all.iter().enumerate().find(|(at, one)| {
            all.iter().skip(at + 1).any(|other| other.ecosystem == one.ecosystem)
        });
        let n_reserved = settings.reserved.len();
        let bad = settings.reserved.iter().find_map(|Reserved { ecosystem, package }| {
            let cause = Pattern::objection(*ecosystem, package)?;
            Some(Refusal::BadReserved { ecosystem: *ecosystem, package: short(package), cause })
        });
        let Licences { allow, deny, .. } = &settings.licences;
        let bad = bad.or_else(|| {
            let mut names = allow.iter().chain(deny);
            names.find_map(|name| {
                let cause = licence::objection(name)?;
                Some(Refusal::BadLicence { name: short(name), cause })
            })
        });
        let protect = &settings.lookalikes.protect;
        let bad = bad.or_else(|| {
            protect.iter().find_map(|Reserved { ecosystem, package }| {
                let cause = lookalike::objection(*ecosystem, package)?;
                let package = short(package);
                Some(Refusal::BadProtected { ecosystem: *ecosystem, package, cause })
            })
        });
        match twice {
            Some((_, one)) => Decision::refuse(Refusal::Twice(one.ecosystem)),
            None if n_reserved > MAX_RESERVED => {
                Decision::refuse(Refusal::TooManyReserved(n_reserved))
            }
            None if allow.len().max(deny.len()) > MAX_NAMES => {
                Decision::refuse(Refusal::TooManyLicences)
            }
            None if protect.len() > MAX_PROTECTED => {
                Decision::refuse(Refusal::TooManyProtected(protect.len()))
            }
            None if bad.is_some() => Decision { events: Vec::new(), refusal: bad },
            None if state.settings == *settings => Decision::nothing(),
            None => Decision::accept(SettingsChanged { settings: settings.clone() }),
        }
    }

    fn apply(state: &mut State, event: &Event) {
        if let Event::SettingsChanged(SettingsChanged { settings }) = event {
            state.settings = settings.clone();
        }
    }
}

/// What holds for an ecosystem.
#[must_use]
pub fn of(settings: &Settings, ecosystem: Ecosystem) -> EcosystemSettings {
    let own = settings.ecosystems.iter().find(|own| own.ecosystem == ecosystem);
    own.copied().unwrap_or_else(|| default_of(ecosystem))
}

/// What holds where nothing else is said: enforced, at any age, and a fix may be younger.
#[must_use]
pub fn default_of(ecosystem: Ecosystem) -> EcosystemSettings {
    let mode = weir_events::registry::policy::Mode::Enforce;
    EcosystemSettings { ecosystem, mode, min_age_hours: 0, fix_exemption: true }
}

#[cfg(test)]
mod tests {
    use weir_events::timestamp::Timestamp;

    use super::*;
    use crate::machine::fold;

    const NOW: Context = Context { now: Timestamp::EPOCH };

    #[test]
    fn settings_are_recorded_when_they_are_others_and_only_then() {
        let strict = EcosystemSettings { min_age_hours: 72, ..default_of(Ecosystem::Npm) };
        let settings = Settings { ecosystems: vec![strict], ..Settings::default() };
        let none = State::default();
        assert_eq!(Keeping::decide(&none, &Apply(Settings::default()), &NOW), Decision::nothing());
        let changed = SettingsChanged { settings: settings.clone() };
        let first = Keeping::decide(&none, &Apply(settings.clone()), &NOW);
        assert_eq!(first, Decision::accept(changed));
        let state = fold::<Keeping>(&first.events);
        assert_eq!(Keeping::decide(&state, &Apply(settings.clone()), &NOW), Decision::nothing());
        assert_eq!(of(&state.settings, Ecosystem::Npm), strict);
        assert_eq!(of(&state.settings, Ecosystem::Go), default_of(Ecosystem::Go));
        let twice = Settings { ecosystems: vec![strict, strict], ..settings };
        let refused = Keeping::decide(&state, &Apply(twice), &NOW);
        assert_eq!(refused, Decision::refuse(Refusal::Twice(Ecosystem::Npm)));
    }

    #[test]
    fn only_what_spdx_names_is_allowed_or_denied_and_not_too_much_of_it() {
        let denying = |names: &[&str]| {
            let deny = names.iter().map(|&name| name.to_owned()).collect();
            let licences = Licences { deny, ..Licences::default() };
            let settings = Settings { licences, ..Settings::default() };
            Keeping::decide(&State::default(), &Apply(settings), &NOW).refusal
        };
        assert_eq!(denying(&["GPL-*", "MIT"]), None);
        assert_eq!(denying(&["MIT"; MAX_NAMES + 1]), Some(Refusal::TooManyLicences));
        let refused = denying(&["MIT", "MTI"]).unwrap();
        assert!(matches!(refused, Refusal::BadLicence { ref name, .. } if name == "MTI"));
    }

    #[test]
    fn only_what_can_be_a_name_is_reserved_and_not_too_much_of_it() {
        let reserving = |packages: &[&str]| {
            let of = |package: &&str| {
                let package = (*package).to_owned();
                Reserved { ecosystem: Ecosystem::Npm, package }
            };
            let reserved = packages.iter().map(of).collect();
            let settings = Settings { reserved, ..Settings::default() };
            Keeping::decide(&State::default(), &Apply(settings), &NOW).refusal
        };
        assert_eq!(reserving(&["@acme/*", "acme-*"]), None);
        assert_eq!(reserving(&["x"; MAX_RESERVED]), None);
        let too_many = MAX_RESERVED + 1;
        assert_eq!(reserving(&["x"; MAX_RESERVED + 1]), Some(Refusal::TooManyReserved(too_many)));
        let refused = reserving(&["@acme/*", "@acme"]).unwrap();
        assert!(matches!(refused, Refusal::BadReserved { ref package, .. } if package == "@acme"));
    }
}
