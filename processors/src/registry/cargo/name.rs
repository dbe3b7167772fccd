//! Names of crates in addresses: which are taken at all, and the folder in which an index keeps one.

use std::fmt;

use weir_aggregates::registry::name::{normalise, valid};
use weir_events::registry::Ecosystem;

/// The name of a crate in lower case, as its list is found by. `-` and `_` are kept: the other
/// spelling is another list, even if no two crates may differ in that alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Box<str>);

impl Name {
    /// Checks a name in any case.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        valid(Ecosystem::Cargo, name).then(|| Self(name.to_ascii_lowercase().into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form in which rules and events name the crate.
    #[must_use]
    pub fn normalised(&self) -> String {
        normalise(Ecosystem::Cargo, &self.0).into_owned()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The folder of a name in an index: `1`, `2`, `3/s`, `se/rd`.
#[must_use]
pub fn folder(name: &str) -> String {
    match (name.len(), name.get(..1), name.get(..2), name.get(2..4)) {
        (3, Some(first), ..) => format!("3/{first}"),
        (4.., _, Some(first), Some(second)) => format!("{first}/{second}"),
        (length, ..) => length.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_lies_in_the_folder_of_its_name() {
        for (name, wanted) in [
            ("a", "1"),
            ("cc", "2"),
            ("syn", "3/s"),
            ("rand", "ra/nd"),
            ("serde", "se/rd"),
            ("Inflector", "In/fl"),
        ] {
            assert_eq!(folder(name), wanted, "{name}");
        }
    }

    #[test]
    fn only_names_of_crates_are_names() {
        assert_eq!(Name::new("Serde_JSON").unwrap().as_str(), "serde_json");
        assert_eq!(Name::new("Serde_JSON").unwrap().normalised(), "serde-json");
        for bad in ["", "..", "1a", "a.b", "a/b", "a b", "ä", "config.json", &"a".repeat(65)] {
            assert_eq!(Name::new(bad), None, "{bad}");
        }
    }
}
