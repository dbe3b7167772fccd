//! Patterns over names: a name with `*` for any run of characters.

use weir_events::registry::Ecosystem;

use super::{max_chars, normalise, well_formed};

/// How many `*` a pattern may hold.
pub const MAX_STARS: usize = 8;

/// A package name with `*` for any run of characters, in the ecosystem's normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern {
    text: Box<str>,
    /// Whether an official image is also meant by its short name.
    official: bool,
}

impl Pattern {
    /// Normalises a pattern. Whether it makes sense is [`Pattern::objection`]'s business: a
    /// pattern that stands in the log is always read.
    ///
    /// In a pattern over images that holds no `/`, the `library/` of official images may be left
    /// out, as in their names: `alp*` fits `library/alpine`, and `alp-tools/x` as well.
    #[must_use]
    pub fn new(ecosystem: Ecosystem, text: &str) -> Self {
        let text = text.trim();
        let holes = text.contains('*');
        if ecosystem == Ecosystem::Docker && holes {
            return Self { text: text.into(), official: !text.contains('/') };
        }
        Self { text: normalise(ecosystem, text).into(), official: false }
    }

    /// Why a text should not become a pattern, if so.
    #[must_use]
    pub fn objection(ecosystem: Ecosystem, text: &str) -> Option<&'static str> {
        let allowed = |b: u8| match ecosystem {
            Ecosystem::Pypi => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'*'),
            _ => b.is_ascii_graphic(),
        };
        let n_stars = text.bytes().filter(|b| *b == b'*').count();
        if text.is_empty() {
            Some("it is empty; write `*` for every package")
        } else if text.len() - n_stars > max_chars(ecosystem) {
            Some("it is longer than any package name")
        } else if !text.bytes().all(allowed) {
            Some("it holds a character that no package name has")
        } else if n_stars > MAX_STARS {
            Some("it holds more than eight `*`")
        } else if !can_match(ecosystem, text) {
            Some("no package can have such a name")
        } else {
            None
        }
    }

    /// The name itself, when it holds no `*`.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        (!self.text.contains('*')).then_some(&self.text)
    }

    /// What names in normal form look like that fit, with `*` for any run of characters: a name fits
    /// if it looks like one of these.
    #[must_use]
    pub fn spellings(&self) -> Vec<String> {
        let text = self.text.as_ref();
        let official = self.official.then(|| format!("library/{text}"));
        std::iter::once(text.to_owned()).chain(official).collect()
    }

    /// Whether a name in normal form fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let short = || name.strip_prefix("library/").filter(|_| self.official);
        fits(&self.text, name) || short().is_some_and(|name| fits(&self.text, name))
    }
}

/// Whether some name fits: proven by finding one. The holes are filled in the few ways in which
/// names of any ecosystem go on: the first one also as a name begins, and at most one of the others
/// with the `/` that some names have once.
fn can_match(ecosystem: Ecosystem, text: &str) -> bool {
    const FIRST: [&str; 6] = ["", "a", "a/a", "@a", "@a/a", "a.a/a"];
    const OTHERS: [&str; 2] = ["", "a"];
    let mut parts = text.split('*');
    let head = parts.next().unwrap_or_default();
    let Some(second) = parts.next() else { return well_formed(ecosystem, text) };
    let tail: Vec<&str> = parts.collect();
    let filled = |first: &str, other: &str, slash: Option<usize>| {
        let mut name = [head, first, second].concat();
        for (nth, part) in tail.iter().enumerate() {
            name.push_str(if slash == Some(nth) { "a/a" } else { other });
            name.push_str(part);
        }
        well_formed(ecosystem, &name)
    };
    let slashes = || std::iter::once(None).chain((0..tail.len()).map(Some));
    FIRST
        .iter()
        .any(|first| OTHERS.iter().any(|other| slashes().any(|slash| filled(first, other, slash))))
}

/// Whether a text fits a pattern of literal pieces with `*` between them.
pub(in crate::registry) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|head| text.strip_prefix(head)) else {
        return false;
    };
    let Some(tail) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        // The leftmost place is always good: it leaves the most for what follows.
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::registry::name::{testing::any_name, valid};

    fn matches(ecosystem: Ecosystem, pattern: &str, name: &str) -> bool {
        Pattern::new(ecosystem, pattern).matches(&normalise(ecosystem, name))
    }

    #[test]
    fn a_pattern_is_a_name_with_holes() {
        for (pattern, name) in [
            ("six", "six"),
            ("SIX", "six"),
            ("Foo__Bar", "foo-bar"),
            ("*", ""),
            ("*", "anything"),
            ("six*", "six"),
            ("six*", "sixty"),
            ("*six", "one-six"),
            ("a*b*c", "a-b-b-c"),
            ("a*b*c", "abc"),
            ("**", "x"),
            ("acme.*", "acme-tools"),
        ] {
            assert!(matches(Ecosystem::Pypi, pattern, name), "{pattern} must fit {name}");
        }
        for (pattern, name) in [
            ("six", "sixty"),
            ("six", "si"),
            ("*six", "six-x"),
            ("six*", "one-six"),
            ("a*a", "a"),
            ("a*b*c", "acb"),
            ("acme-*", "acme"),
        ] {
            assert!(!matches(Ecosystem::Pypi, pattern, name), "{pattern} must not fit {name}");
        }
    }

    #[test]
    fn a_name_fits_if_it_looks_like_one_of_the_spellings() {
        let of = |ecosystem, text| Pattern::new(ecosystem, text).spellings();
        assert_eq!(of(Ecosystem::Pypi, "Foo__*"), ["foo-*"]);
        assert_eq!(of(Ecosystem::Docker, "alp*"), ["alp*", "library/alp*"]);
        assert_eq!(of(Ecosystem::Docker, "a/b*"), ["a/b*"]);
    }

    #[test]
    fn a_pattern_fits_names_as_its_ecosystem_compares_them() {
        for (ecosystem, pattern, inside, outside) in [
            (Ecosystem::Npm, "@Acme/*", "@acme/Tool", "acme"),
            (Ecosystem::Npm, "JSONStream", "jsonstream", "json-stream"),
            (Ecosystem::Cargo, "Serde-*", "serde_json", "serde"),
            (Ecosystem::Cargo, "tokio_util", "tokio-util", "tokioutil"),
            (Ecosystem::Go, "github.com/Azure/*", "github.com/Azure/x", "github.com/azure/x"),
            (Ecosystem::Docker, "alpine", "library/alpine", "acme/alpine"),
            (Ecosystem::Docker, "alp*", "alpine", "acme/alpine"),
            (Ecosystem::Docker, "acme*", "acme/alpine", "library/x-acme"),
            (Ecosystem::Docker, "acme/*", "acme/alpine", "acme"),
            (Ecosystem::Docker, "library/*", "alpine", "acme/alpine"),
        ] {
            assert!(matches(ecosystem, pattern, inside), "{ecosystem}: {pattern} {inside}");
            assert!(!matches(ecosystem, pattern, outside), "{ecosystem}: {pattern} {outside}");
        }
        assert_eq!(Pattern::new(Ecosystem::Docker, " alpine ").exact(), Some("library/alpine"));
        assert_eq!(Pattern::new(Ecosystem::Docker, "alp*").exact(), None);
    }

    #[test]
    fn patterns_that_make_no_sense_are_objected_to() {
        let long = "x".repeat(max_chars(Ecosystem::Pypi) + 1);
        for (ecosystem, good, bad) in [
            (
                Ecosystem::Pypi,
                &["six", "*", "Foo_Bar.*", "a*b*c", "*-*", "a.*"][..],
                &["", "a b", "a/b", "six\n", "ä", &long, "*********", "..", "-", "-six*", "*."][..],
            ),
            (
                Ecosystem::Npm,
                &[
                    "*", "@scope/*", "@*", "@*/*", "*scope/x", "*/x-*", "*/x", "left-pad", "@a*b",
                    "*@*a*",
                ],
                &["@scope", "a/b", "@/x", "@a/*/c", ".x*", "a?b", "ä"],
            ),
            (
                Ecosystem::Cargo,
                &["*", "serde*", "*_derive", "a*-*b"],
                &["-*", "1*", "a.b", "a/b", "a@1"],
            ),
            (
                Ecosystem::Go,
                &["*", "github.com/acme/*", "*/x", "github.com*", "g*", "*.com/a*", "a.b/v1*"],
                &["Github.com/x", "*/v1", "a.b//*", "a.b/*/../c", "text", "a.b/c@v1", "https://*"],
            ),
            (
                Ecosystem::Docker,
                &["*", "alpine", "alp*", "acme/*", "*/nginx", "a__*", "a.*", "*-*"],
                &["Alpine", "a:1", "a//*", "/a", "a/", "a..*", "-*", "a___b", "*/"],
            ),
        ] {
            for text in good {
                assert_eq!(Pattern::objection(ecosystem, text), None, "{ecosystem}: {text}");
            }
            for text in bad {
                assert!(Pattern::objection(ecosystem, text).is_some(), "{ecosystem}: {text:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn a_name_fits_itself_and_every_hole_made_in_it(
            (ecosystem, name) in any_name(), from in 0_usize..40, length in 0_usize..40
        ) {
            prop_assert!(valid(ecosystem, &name), "{} {}", ecosystem, name);
            prop_assert_eq!(Pattern::objection(ecosystem, &name), None);
            prop_assert!(matches(ecosystem, &name, &name));
            // In the form that is compared: a hole inside `--` would ask for two separators, where
            // `-` and `--` are the same name.
            let name = normalise(ecosystem, &name).into_owned();
            let from = from.min(name.len());
            let to = (from + length).min(name.len());
            let holed = format!("{}*{}", &name[..from], &name[to..]);
            prop_assert!(matches(ecosystem, &holed, &name), "{} {}", holed, name);
            prop_assert_eq!(Pattern::objection(ecosystem, &holed), None, "{}", holed);
        }

        #[test]
        fn what_is_objected_to_fits_no_name(
            (ecosystem, name) in any_name(), pattern in "[a@./*V1-]{1,6}"
        ) {
            if Pattern::objection(ecosystem, &pattern).is_some() {
                prop_assert!(!matches(ecosystem, &pattern, &name), "{} {}", pattern, name);
            }
        }
    }
}
