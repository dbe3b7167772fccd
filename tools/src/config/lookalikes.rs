//! `policy.lookalikes`: names that look like one that is used here.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use weir_aggregates::registry::lookalike;
use weir_events::registry::{
    Ecosystem,
    policy::{self, Reaction, Reserved},
};

use super::reaction::Consequence;
use super::section::section;

section! {
    /// Names that are a slip of the finger, or of the eye, away from one that is looked after: one letter
    /// more, less or other, two neighbours exchanged, letters that look alike, other separators, a scope
    /// like another's.
    Lookalikes at "policy.lookalikes" {
        /// What becomes of such a name: `off`; `warn`, the first time that anybody here gets something
        /// of it; or `block`, until it is waived or looked after itself.
        reaction: Consequence = Consequence::OFF,
        /// The names that are looked after, beside those that are reserved: those you use, as
        /// `[npm:lodash, "npm:@acme/*", pypi:requests]`. A name that stands here looks like none.
        protect: Vec<Protected> = Vec::new(),
    }
}

/// A name of an ecosystem: `npm:lodash`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Protected(Reserved);

impl FromStr for Protected {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (ecosystem, package) = text.split_once(':').unwrap_or_default();
        let Some(ecosystem) = Ecosystem::find(ecosystem) else {
            let all = Ecosystem::ALL.map(Ecosystem::as_str).join(", ");
            return Err(format!("`{text}` is not `ecosystem:name`; there are {all}"));
        };
        match lookalike::objection(ecosystem, package) {
            Some(cause) => {
                Err(format!("`{package}` of {ecosystem} cannot be looked after: {cause}"))
            }
            None => Ok(Self(Reserved { ecosystem, package: package.to_owned() })),
        }
    }
}

impl fmt::Display for Protected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.ecosystem, self.0.package)
    }
}

super::value::as_text!(Protected);

impl Lookalikes {
    /// What is recorded of it: nothing, where nothing is looked for.
    pub(super) fn settings(&self) -> policy::Lookalikes {
        let Self { reaction: Consequence(reaction), protect } = self;
        if *reaction == Reaction::Off {
            return policy::Lookalikes::default();
        }
        let protect = protect.iter().map(|Protected(name)| name.clone()).collect();
        policy::Lookalikes { reaction: *reaction, protect }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_a_scope_is_looked_after() {
        for text in ["npm:lodash", "npm:@acme/*", "go:example.com/x"] {
            assert_eq!(text.parse::<Protected>().unwrap().to_string(), text);
        }
        for (text, why) in [
            ("lodash", "is not `ecosystem:name`"),
            ("npm:lo*", "no other pattern"),
            ("npm:@acme", "no package can have such a name"),
        ] {
            let fault = text.parse::<Protected>().unwrap_err();
            assert!(fault.contains(why), "{fault}");
        }
        let protect = vec!["npm:lodash".parse().unwrap()];
        let quiet = Lookalikes { protect, ..Lookalikes::default() };
        assert!(quiet.settings().is_off());
        let loud = Lookalikes { reaction: Consequence::BLOCK, ..quiet };
        assert_eq!(loud.settings().protect.len(), 1);
    }
}
