//! Names of packages, and patterns over them.
//!
//! Python names are compared in their normal form: lower case, runs of `-`, `_` and `.` as one `-`.

use std::borrow::Cow;

use weir_events::registry::Ecosystem;

/// The longest name of a package, or pattern over names, in characters.
pub const MAX_NAME_CHARS: usize = 200;

/// The form in which an ecosystem compares its names.
#[must_use]
pub fn normalise(ecosystem: Ecosystem, name: &str) -> Cow<'_, str> {
    match ecosystem {
        Ecosystem::Pypi => normalise_pypi(name),
        Ecosystem::Npm | Ecosystem::Cargo if name.bytes().any(|b| b.is_ascii_uppercase()) => {
            Cow::Owned(name.to_ascii_lowercase())
        }
        _ => Cow::Borrowed(name),
    }
}

fn normalise_pypi(name: &str) -> Cow<'_, str> {
    let separator = |b: u8| matches!(b, b'-' | b'_' | b'.');
    let normal = name.bytes().all(|b| !b.is_ascii_uppercase() && b != b'_' && b != b'.')
        && !name.contains("--");
    if normal {
        return Cow::Borrowed(name);
    }
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        let part_of_run = u8::try_from(c).is_ok_and(separator);
        if !part_of_run {
            normal.push(c.to_ascii_lowercase());
        } else if !normal.ends_with('-') {
            normal.push('-');
        }
    }
    Cow::Owned(normal)
}

/// Whether the text can be the name of a Python project: letters, digits and single separators
/// inside, ASCII, of a bounded length.
#[must_use]
pub fn valid_pypi(name: &str) -> bool {
    let bytes = name.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    name.len() <= MAX_NAME_CHARS
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// A package name with `*` for any run of characters, in the ecosystem's normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(Box<str>);

impl Pattern {
    /// Normalises a pattern. Whether it makes sense is [`Pattern::objection`]'s business: a
    /// pattern that stands in the log is always read.
    #[must_use]
    pub fn new(ecosystem: Ecosystem, text: &str) -> Self {
        Self(normalise(ecosystem, text.trim()).into())
    }

    /// Why a text should not become a pattern, if so.
    #[must_use]
    pub fn objection(ecosystem: Ecosystem, text: &str) -> Option<&'static str> {
        let allowed = |b: u8| match ecosystem {
            Ecosystem::Pypi => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'*'),
            _ => b.is_ascii_graphic(),
        };
        if text.is_empty() {
            Some("it is empty; write `*` for every package")
        } else if text.len() > MAX_NAME_CHARS {
            Some("it is longer than 200 characters")
        } else if !text.bytes().all(allowed) {
            Some("it holds a character that no package name has")
        } else if text.bytes().filter(|b| *b == b'*').count() > 8 {
            Some("it holds more than eight `*`")
        } else {
            None
        }
    }

    /// The name itself, when it holds no `*`.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        (!self.0.contains('*')).then_some(&self.0)
    }

    /// Whether a name in normal form fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = parts.next().and_then(|head| name.strip_prefix(head)) else {
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        Pattern::new(Ecosystem::Pypi, pattern).matches(name)
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
            assert!(fits(pattern, name), "{pattern} must fit {name}");
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
            assert!(!fits(pattern, name), "{pattern} must not fit {name}");
        }
    }

    #[test]
    fn patterns_that_make_no_sense_are_objected_to() {
        let objection = |text: &str| Pattern::objection(Ecosystem::Pypi, text);
        for bad in ["", "a b", "a/b", "six\n", "ä", &"x".repeat(201), "*********"] {
            assert!(objection(bad).is_some(), "{bad:?}");
        }
        for good in ["six", "*", "Foo_Bar.*", "a*b*c"] {
            assert_eq!(objection(good), None, "{good}");
        }
        assert_eq!(Pattern::objection(Ecosystem::Npm, "@scope/*"), None);
    }

    #[test]
    fn only_names_of_projects_are_names() {
        for good in ["six", "A", "zope.interface", "a-b_c.d", "0", "Flask-SQLAlchemy"] {
            assert!(valid_pypi(good), "{good}");
        }
        for bad in ["", "-a", "a-", ".", "..", "a/b", "a b", "ä", "a\0", "a%2e", &"x".repeat(201)]
        {
            assert!(!valid_pypi(bad), "{bad:?}");
        }
    }

    #[test]
    fn each_ecosystem_has_its_own_normal_form() {
        assert_eq!(normalise(Ecosystem::Pypi, "Zope.__Interface"), "zope-interface");
        assert_eq!(normalise(Ecosystem::Npm, "JSONStream"), "jsonstream");
        assert_eq!(normalise(Ecosystem::Go, "example.com/Mod"), "example.com/Mod");
    }

    proptest! {
        #[test]
        fn normalising_twice_is_normalising_once(name in "\\PC{0,30}") {
            let once = normalise(Ecosystem::Pypi, &name).into_owned();
            prop_assert_eq!(normalise(Ecosystem::Pypi, &once), once.clone());
            prop_assert!(!once.contains("--") && !once.contains('_') && !once.contains('.'));
        }

        #[test]
        fn a_name_fits_itself_and_every_hole_made_in_it(
            name in "[a-z0-9-]{1,20}", from in 0_usize..20, length in 0_usize..20
        ) {
            let name = normalise(Ecosystem::Pypi, &name).into_owned();
            prop_assert!(fits(&name, &name));
            let from = from.min(name.len());
            let to = (from + length).min(name.len());
            let holed = format!("{}*{}", &name[..from], &name[to..]);
            prop_assert!(Pattern(holed.into()).matches(&name));
        }
    }
}
