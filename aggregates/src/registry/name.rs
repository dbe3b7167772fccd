//! Names of packages: which texts are names, and when two of them name the same package.
//!
//! The normal form is for comparing, never for asking an upstream.
//!
//! | ecosystem | normal form | follows |
//! | --- | --- | --- |
//! | pypi | lower case, runs of `-`, `_` and `.` as one `-` | the packaging specifications |
//! | npm | lower case, also of the scope | packages from before names had to be lower case |
//! | cargo | lower case, `_` as `-` | what its registry takes for the same name |
//! | go | as it is: upper case is another module | the module reference |
//! | docker | `library/` before a name without `/` | the distribution specification |

pub mod go;
pub mod pattern;

use std::borrow::Cow;

use weir_events::registry::Ecosystem;

/// The longest name of a package, in characters. Python and Go set no bound of their own.
#[must_use]
pub const fn max_chars(ecosystem: Ecosystem) -> usize {
    match ecosystem {
        Ecosystem::Pypi => 200,
        Ecosystem::Npm => 214,
        Ecosystem::Cargo => 64,
        Ecosystem::Go => 500,
        Ecosystem::Docker => 255,
    }
}

/// The form in which an ecosystem compares its names.
#[must_use]
pub fn normalise(ecosystem: Ecosystem, name: &str) -> Cow<'_, str> {
    let mixed = || name.bytes().any(|b| b.is_ascii_uppercase());
    match ecosystem {
        Ecosystem::Pypi => normalise_pypi(name),
        Ecosystem::Npm if mixed() => Cow::Owned(name.to_ascii_lowercase()),
        Ecosystem::Cargo if mixed() || name.contains('_') => {
            Cow::Owned(name.to_ascii_lowercase().replace('_', "-"))
        }
        Ecosystem::Docker if !name.contains('/') => Cow::Owned(format!("library/{name}")),
        Ecosystem::Npm | Ecosystem::Cargo | Ecosystem::Go | Ecosystem::Docker => {
            Cow::Borrowed(name)
        }
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

/// Whether the text can be the name of a package that the ecosystem's tools would ask for, in any
/// spelling, of a bounded length.
#[must_use]
pub fn valid(ecosystem: Ecosystem, name: &str) -> bool {
    name.len() <= max_chars(ecosystem) && well_formed(ecosystem, name)
}

/// Whether a text is spelt as names are, whatever its length.
fn well_formed(ecosystem: Ecosystem, name: &str) -> bool {
    match ecosystem {
        Ecosystem::Pypi => pypi(name),
        Ecosystem::Npm => npm(name),
        Ecosystem::Cargo => cargo(name),
        Ecosystem::Go => go::path(name),
        Ecosystem::Docker => name.split('/').all(docker_component),
    }
}

/// Letters, digits, and separators inside.
fn pypi(name: &str) -> bool {
    let bytes = name.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// What needs no escape in an address, but no `*`, which no package has in its name; with a scope
/// or without.
fn npm(name: &str) -> bool {
    let mark = |b: u8| matches!(b, b'-' | b'_' | b'.' | b'!' | b'~' | b'\'' | b'(' | b')');
    let word = |text: &str| {
        !text.is_empty()
            && !text.starts_with('.')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || mark(b))
    };
    match name.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some((scope, name)) => word(scope) && word(name),
        None => word(name) && !name.starts_with('_'),
    }
}

/// A letter, then letters, digits, `-` and `_`.
fn cargo(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Lower-case letters and digits, with `.`, `_`, `__` or dashes between them.
fn docker_component(text: &str) -> bool {
    let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(|b| word(*b));
    edge(bytes.first())
        && edge(bytes.last())
        && text.split(|c: char| u8::try_from(c).is_ok_and(word)).all(|separator| {
            matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|b| b == b'-')
        })
}

#[cfg(test)]
pub(super) mod testing {
    use proptest::prelude::*;

    use super::*;

    /// A valid name of some ecosystem.
    pub(in crate::registry) fn any_name() -> impl Strategy<Value = (Ecosystem, String)> {
        let of = |ecosystem, names: &'static str| (Just(ecosystem), names);
        prop_oneof![
            of(Ecosystem::Pypi, "[a-zA-Z0-9]([a-zA-Z0-9._-]{0,18}[a-zA-Z0-9])?"),
            of(Ecosystem::Npm, "(@[a-zA-Z-][a-z0-9.-]{0,6}/)?[a-zA-Z0-9~-][a-zA-Z0-9._-]{0,12}"),
            of(Ecosystem::Cargo, "[a-zA-Z][a-zA-Z0-9_-]{0,20}"),
            of(Ecosystem::Go, "[a-z]{1,5}\\.[a-z]{1,3}(/[A-Za-z]([A-Za-z0-9_.-]{0,6}[A-Zd-z])?){0,3}(/v[2-9][0-9]?)?")
                .prop_filter("a name of a device", |(_, name)| go::path(name)),
            of(Ecosystem::Docker, "([a-z0-9]{1,4}((\\.|_|__|-{1,3})[a-z0-9]{1,3}){0,2}/){0,2}[a-z0-9]{1,4}((\\.|_|__|-)[a-z0-9]{1,3}){0,2}"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{testing::any_name, *};

    #[test]
    fn only_names_of_packages_are_names() {
        for (ecosystem, good, bad) in [
            (
                Ecosystem::Pypi,
                &["six", "A", "zope.interface", "a-b_c.d", "0", "Flask-SQLAlchemy"][..],
                &["", "-a", "a-", ".", "..", "a/b", "a b", "ä", "a\0", "a%2e"][..],
            ),
            (
                Ecosystem::Npm,
                &["left-pad", "JSONStream", "@types/node", "@a/_b", "-", "a~b", "lodash.get", "0"],
                &["", ".a", "_a", "..", "a/b", "@a", "@/a", "@a/", "@a/b/c", "@a/..", "@.a/b"],
            ),
            (
                Ecosystem::Cargo,
                &["serde", "serde_json", "Inflector", "a1-b"],
                &["", "1a", "-a", "_a", "a.b", "a/b", "ä", "a b"],
            ),
            (
                Ecosystem::Go,
                &["golang.org/x/text", "github.com/Azure/go-autorest/v14"],
                &["", "fmt", "golang.org/x/", "a.b/..", "a.b/v1", "a.b/c!d"],
            ),
            (
                Ecosystem::Docker,
                &["alpine", "library/alpine", "a/b/c", "a.b", "a__b", "a--b", "a_b-c.d"],
                &["", "Alpine", "a//b", "/a", "a/", "a..b", "a___b", "a._b", "-a", "a:1", "a@b"],
            ),
        ] {
            for name in good {
                assert!(valid(ecosystem, name), "{ecosystem}: {name}");
            }
            for name in bad {
                assert!(!valid(ecosystem, name), "{ecosystem}: {name:?}");
            }
            let longest = "a".repeat(max_chars(ecosystem));
            let domain = if ecosystem == Ecosystem::Go { "a." } else { "" };
            let longest = format!("{domain}{}", &longest[domain.len()..]);
            assert!(valid(ecosystem, &longest) && !valid(ecosystem, &format!("{longest}a")));
            assert!(!valid(ecosystem, &"a/".repeat(8 << 10)), "{ecosystem}");
        }
    }

    #[test]
    fn each_ecosystem_has_its_own_normal_form() {
        for (ecosystem, name, normal) in [
            (Ecosystem::Pypi, "Zope.__Interface", "zope-interface"),
            (Ecosystem::Npm, "JSONStream", "jsonstream"),
            (Ecosystem::Npm, "@Scope/a_B.c", "@scope/a_b.c"),
            (Ecosystem::Cargo, "Serde_JSON", "serde-json"),
            (Ecosystem::Cargo, "serde-json", "serde-json"),
            (Ecosystem::Cargo, "a__b", "a--b"),
            (Ecosystem::Go, "example.com/Mod", "example.com/Mod"),
            (Ecosystem::Docker, "alpine", "library/alpine"),
            (Ecosystem::Docker, "acme/tool", "acme/tool"),
        ] {
            assert_eq!(normalise(ecosystem, name), normal, "{ecosystem}");
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_is_normalising_once(name in "\\PC{0,30}") {
            for ecosystem in Ecosystem::ALL {
                let once = normalise(ecosystem, &name).into_owned();
                prop_assert_eq!(normalise(ecosystem, &once), once.clone());
            }
            let once = normalise(Ecosystem::Pypi, &name);
            prop_assert!(!once.contains("--") && !once.contains('_') && !once.contains('.'));
        }

        #[test]
        fn the_normal_form_of_a_name_is_a_name((ecosystem, name) in any_name()) {
            prop_assert!(valid(ecosystem, &normalise(ecosystem, &name)));
        }
    }
}
