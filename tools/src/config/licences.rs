//! `policy.licences`: under which licences packages may be used.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use weir_aggregates::registry::licence;
use weir_events::registry::{
    Ecosystem,
    policy::{self, Reaction},
};

use super::reaction::Consequence;
use super::section::section;

section! {
    /// Under which licences packages may be used, by what npm's packuments and the metadata files of
    /// PyPI tell. Of `MIT OR GPL-3.0-only` one is enough, of `MIT AND GPL-3.0-only` both count.
    Licences at "policy.licences" {
        /// Licences that may be used, by their names in SPDX, with `*` for any run of characters:
        /// `[MIT, Apache-2.0, BSD-*]`; without any, all that are not denied.
        allow: Vec<LicenceName> = Vec::new(),
        /// Licences that may not be used: `[AGPL-*, SSPL-1.0]`. A text of more than 4 KiB is not read,
        /// and taken as one of them.
        deny: Vec<LicenceName> = Vec::new(),
        /// What becomes of a version under another licence: `off`, `warn` or `block`.
        violation: Consequence = Consequence::BLOCK,
        /// What becomes of a version of which the licence is not told, or cannot be read: `off`, `warn`
        /// or `block`. Without it: with `allow`, what becomes of any that is not allowed, but for what
        /// cargo, Go and registries of images serve; with `deny` alone, nothing.
        unknown: Option<Consequence> = None,
        /// Of which ecosystems licences are looked at. What cargo, Go and registries of images serve
        /// tells none: all that is theirs is `unknown`.
        ecosystems: Vec<Ecosystem> = vec![Ecosystem::Pypi, Ecosystem::Npm],
    }
}

/// The name of a licence, or of many: `GPL-*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LicenceName(String);

impl FromStr for LicenceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match licence::objection(text) {
            Some(cause) => Err(format!("`{text}` is no licence: {cause}")),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for LicenceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

super::value::as_text!(LicenceName);

impl Licences {
    /// What is recorded of it: nothing, where nothing is looked at.
    pub(super) fn settings(&self) -> policy::Licences {
        let Self { allow, deny, violation, unknown, ecosystems } = self;
        let Consequence(violation) = *violation;
        let unknown = unknown.map(|Consequence(unknown)| unknown);
        let names = |all: &[LicenceName]| all.iter().map(ToString::to_string).collect();
        let named = !(allow.is_empty() && deny.is_empty()) && violation != Reaction::Off;
        if !named && unknown.is_none_or(|unknown| unknown == Reaction::Off) {
            return policy::Licences::default();
        }
        policy::Licences {
            allow: names(allow),
            deny: names(deny),
            violation,
            unknown,
            ecosystems: ecosystems.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_recorded_where_something_is_looked_at() {
        let none = Licences::default();
        assert!(none.settings().is_off());
        let deny = vec!["AGPL-*".parse().unwrap()];
        let some = Licences { deny, ..Licences::default() };
        assert_eq!(
            (some.settings().deny, some.settings().unknown),
            (vec!["AGPL-*".to_owned()], None)
        );
        assert!(Licences { violation: Consequence::OFF, ..some }.settings().is_off());
        let unknown = Licences { unknown: Some(Consequence(Reaction::Warn)), ..none };
        assert_eq!(unknown.settings().ecosystems, [Ecosystem::Pypi, Ecosystem::Npm]);
        let fault = "MTI".parse::<LicenceName>().unwrap_err();
        assert!(fault.contains("SPDX knows no licence"), "{fault}");
    }
}
