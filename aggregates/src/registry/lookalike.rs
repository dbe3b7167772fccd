//! Names that look like another one that people here use: a slip of the finger, or of the eye, away
//! from it. Whoever waits for such slips publishes under such a name.
//!
//! What is looked after is what the settings name and what is reserved; no list of popular packages is
//! built in. A name that is looked after itself looks like none. Alike are names
//!
//! - of which one becomes the other by one letter more, less or other, or two neighbours exchanged;
//!   names of fewer than five letters are too close to each other for that, and of what differs in a
//!   number alone (`boto2`, `boto3`) both are usually meant;
//! - that differ in nothing but `-`, `_` and `.`, or in letters that look alike (`0` and `o`; `1`, `i`
//!   and `l`; `rn` and `m`; `vv` and `w`);
//! - of npm, in a scope that looks like another's, or holds its name between dashes (`@types-x/node`),
//!   where the rest is the same, or all of that scope is looked after.
//!
//! Each name is found by itself and by itself with one letter left out, so that a question costs a few
//! looks into a table, however many names there are; most of them end at a bit that is not set, in a
//! table that stays in the processor's own memory.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use weir_events::registry::{
    Ecosystem, Mask,
    policy::{Lookalikes as Settings, Reaction, Reserved},
};

use super::{
    name::{normalise, valid},
    verdict::{LOOKALIKE, Objection},
};

/// How many names the settings may have looked after.
pub const MAX_PROTECTED: usize = 2_000;

/// The shortest name that is compared by letters that differ.
const MIN_LETTERS: usize = 5;

/// The shortest name that is compared by letters that look alike.
const MIN_ALIKE: usize = 4;

/// The longest name that is looked at, in bytes: nobody types a longer one.
const MAX_BYTES: usize = 64;

/// Names that are looked after, ready to be compared with.
#[derive(Debug, Clone, Default)]
pub struct Lookalikes {
    names: Vec<(Ecosystem, Box<str>)>,
    /// Hashes of what names are found by, each with the place of its name; sorted.
    keys: Vec<(u64, u32)>,
    /// A bit for each of these hashes: where none is set, there is no such hash.
    hints: Hints,
    known: HashSet<(Ecosystem, Box<str>)>,
}

impl Lookalikes {
    /// Makes names ready: those that settings have looked after, and those that are reserved. A scope of
    /// npm is looked after as `@scope/*`; of other patterns nobody can say what looks like them.
    #[must_use]
    pub fn new<'a>(
        settings: &'a Settings,
        reserved: impl IntoIterator<Item = &'a Reserved>,
    ) -> Self {
        if settings.reaction == Reaction::Off {
            return Self::default();
        }
        let mut all = Self::default();
        for Reserved { ecosystem, package } in settings.protect.iter().chain(reserved) {
            let text = match package.strip_suffix("/*").filter(|it| it.starts_with('@')) {
                Some(scope) if *ecosystem == Ecosystem::Npm => scope.to_ascii_lowercase(),
                _ => normalise(*ecosystem, package.trim()).into_owned(),
            };
            let name = (*ecosystem, text.into_boxed_str());
            if name.1.len() > MAX_BYTES || name.1.contains('*') || !all.known.insert(name.clone()) {
                continue;
            }
            let Ok(place) = u32::try_from(all.names.len()) else { break };
            each_key(*ecosystem, &name.1, |key| all.keys.push((key, place)));
            all.names.push(name);
        }
        all.keys.sort_unstable();
        all.keys.dedup();
        all.hints = Hints::of(&all.keys);
        all
    }

    /// Which name a name, given in its normal form, looks like.
    #[must_use]
    pub fn like(&self, ecosystem: Ecosystem, package: &str) -> Option<&str> {
        if self.names.is_empty() || package.len() > MAX_BYTES || self.knows(ecosystem, package) {
            return None;
        }
        let scope =
            package.split_once('/').map(|(scope, _)| scope).filter(|it| it.starts_with('@'));
        if scope.is_some_and(|scope| self.knows(ecosystem, scope)) {
            return None;
        }
        self.close(ecosystem, package)
            .or_else(|| self.close(ecosystem, scope?))
            .or_else(|| self.within(package))
    }

    fn knows(&self, ecosystem: Ecosystem, name: &str) -> bool {
        self.known.contains(&(ecosystem, Box::from(name)))
    }

    /// Which name looks like this one as a whole.
    fn close(&self, ecosystem: Ecosystem, name: &str) -> Option<&str> {
        let mut found: Option<&str> = None;
        each_key(ecosystem, name, |key| {
            if !self.hints.may_have(key) {
                return;
            }
            let from = self.keys.partition_point(|(other, _)| *other < key);
            let same = self.keys.iter().skip(from).take_while(|(other, _)| *other == key);
            let names = same.filter_map(|(_, place)| self.names.get(*place as usize));
            let ours = names.filter(|(of, _)| *of == ecosystem).map(|(_, known)| &**known);
            // Of several the first by name, so that it is always the same.
            for known in ours {
                if found.is_none_or(|found| known < found) && alike(known, name) {
                    found = Some(known);
                }
            }
        });
        found
    }

    /// Which name, or whole scope, of npm has a scope that stands between dashes in this one's.
    fn within(&self, package: &str) -> Option<&str> {
        let (scope, name) = package.strip_prefix('@')?.split_once('/')?;
        let cuts = scope.char_indices().filter(|(_, c)| SEPARATORS.contains(c));
        let parts = cuts.filter_map(|(at, _)| Some([scope.get(..at)?, scope.get(at + 1..)?]));
        parts.flatten().filter(|part| part.len() >= MIN_ALIKE).find_map(|part| {
            let wanted = [format!("@{part}/{name}"), format!("@{part}")];
            let known = |wanted: &String| self.known.get(&(Ecosystem::Npm, Box::from(&**wanted)));
            wanted.iter().find_map(known).map(|(_, known)| &**known)
        })
    }

    /// What is said against a name that looks like another.
    #[must_use]
    pub fn objection(&self, ecosystem: Ecosystem, package: &str) -> Option<Arc<Objection>> {
        let known = self.like(ecosystem, package)?;
        let reason = format!("its name looks like `{known}`, which is looked after here");
        Some(Arc::new(Objection::of_setting(LOOKALIKE, reason, Mask::Mark)))
    }
}

/// Bits, at places that hashes name: sixteen to thirty-two for each, so that few are set.
#[derive(Debug, Clone, Default)]
struct Hints(Box<[u64]>);

impl Hints {
    fn of(keys: &[(u64, u32)]) -> Self {
        let n_words = (keys.len() / 4).next_power_of_two();
        let mut words = vec![0; n_words].into_boxed_slice();
        for (key, _) in keys {
            let (word, bit) = place(*key, n_words);
            if let Some(word) = words.get_mut(word) {
                *word |= bit;
            }
        }
        Self(words)
    }

    fn may_have(&self, key: u64) -> bool {
        let (word, bit) = place(key, self.0.len());
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Where the bit of a hash stands, among so many words, a power of two.
fn place(key: u64, n_words: usize) -> (usize, u64) {
    let word = usize::try_from(key >> 32).unwrap_or_default() & n_words.wrapping_sub(1);
    (word, 1 << (key % 64))
}

/// Why a text cannot be looked after, if so.
#[must_use]
pub fn objection(ecosystem: Ecosystem, text: &str) -> Option<&'static str> {
    let scope =
        text.strip_suffix("/*").filter(|it| ecosystem == Ecosystem::Npm && it.starts_with('@'));
    let name = scope.map(|scope| format!("{scope}/x"));
    let name = name.as_deref().unwrap_or(text);
    if name.contains('*') {
        Some("a name is looked after, or a whole scope of npm (`@scope/*`), no other pattern")
    } else if name.len() > MAX_BYTES {
        Some("nobody types a name as long as this")
    } else if valid(ecosystem, name) {
        None
    } else {
        Some("no package can have such a name")
    }
}

const SEPARATORS: [char; 3] = ['-', '_', '.'];

/// What a name is found by: how it looks, itself, and itself with any one letter left out.
fn each_key(ecosystem: Ecosystem, name: &str, mut each: impl FnMut(u64)) {
    let mut key = |parts: [&str; 2]| {
        let mut hasher = DefaultHasher::new();
        ecosystem.hash(&mut hasher);
        for part in parts {
            hasher.write(part.as_bytes());
        }
        each(hasher.finish());
    };
    key([&looks(name), ""]);
    key([name, ""]);
    for (at, c) in name.char_indices() {
        let (before, after) = (name.get(..at), name.get(at + c.len_utf8()..));
        key([before.unwrap_or_default(), after.unwrap_or_default()]);
    }
}

/// How a name looks at a glance.
fn looks(name: &str) -> String {
    let mut looks = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !SEPARATORS.contains(c)) {
        let before = looks.chars().next_back();
        match (before, c) {
            (Some('r'), 'n') => replaced(&mut looks, 'm'),
            (Some('v'), 'v') => replaced(&mut looks, 'w'),
            (_, '0') => looks.push('o'),
            (_, '1' | 'i') => looks.push('l'),
            (_, c) => looks.push(c),
        }
    }
    looks
}

fn replaced(text: &mut String, last: char) {
    text.pop();
    text.push(last);
}

/// Whether two names look alike, and are two.
fn alike(a: &str, b: &str) -> bool {
    let n_letters = |name: &str| name.chars().filter(char::is_ascii_alphanumeric).count();
    let shorter = n_letters(a).min(n_letters(b));
    a != b
        && ((shorter >= MIN_LETTERS && one_slip(a.as_bytes(), b.as_bytes()))
            || (shorter >= MIN_ALIKE && looks(a) == looks(b)))
}

/// Whether one letter more, less or other, or two exchanged neighbours, make one of the other; but for
/// a digit in the place of a digit.
fn one_slip(a: &[u8], b: &[u8]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let same = |(a, b): &(&u8, &u8)| a == b;
    let head = short.iter().zip(long).take_while(same).count();
    let tail = short.iter().rev().zip(long.iter().rev()).take_while(same).count();
    let tail = tail.min(short.len() - head);
    match (short.get(head..short.len() - tail), long.get(head..long.len() - tail)) {
        (Some([]), Some([_])) => true,
        (Some([a]), Some([b])) => !(a.is_ascii_digit() && b.is_ascii_digit()),
        (Some([a, b]), Some([c, d])) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn looking_after(names: &[(Ecosystem, &str)]) -> Lookalikes {
        let own = |(ecosystem, package): &(Ecosystem, &str)| Reserved {
            ecosystem: *ecosystem,
            package: (*package).to_owned(),
        };
        let protect = names.iter().map(own).collect();
        Lookalikes::new(&Settings { reaction: Reaction::Warn, protect }, [])
    }

    #[test]
    fn a_slip_away_from_a_name_looks_like_it_and_everything_else_like_nothing() {
        let npm =
            ["lodash", "react", "vue", "@types/node", "@acme/*", "rnicro", "boto3", "express"];
        let npm = looking_after(&npm.map(|name| (Ecosystem::Npm, name)));
        for (name, like) in [
            ("lodahs", Some("lodash")),
            ("lodas", Some("lodash")),
            ("lodashs", Some("lodash")),
            ("1odash", Some("lodash")),
            ("lo-dash", Some("lodash")),
            ("l0-dash", Some("lodash")),
            ("iodash", Some("lodash")),
            ("micro", Some("rnicro")),
            ("preact", Some("react")),
            ("boto2", None),
            ("boto", None),
            ("botoo3", Some("boto3")),
            ("ladosh", None),
            ("lodash", None),
            ("lodash-es", None),
            ("vuee", None),
            ("vie", None),
            ("expres", Some("express")),
            ("@types/nod", Some("@types/node")),
            ("@type/node", Some("@types/node")),
            ("@types-x/node", Some("@types/node")),
            ("@x.types/node", Some("@types/node")),
            ("@types-x/react", None),
            ("@typesx-y/node", None),
            ("@acme/anything", None),
            ("@acrne/tool", Some("@acme")),
            ("@acne/tool", None),
            ("@acme-labs/tool", Some("@acme")),
            ("acme", None),
        ] {
            assert_eq!(npm.like(Ecosystem::Npm, name), like, "{name}");
        }
        assert_eq!(npm.like(Ecosystem::Pypi, "lodahs"), None, "each ecosystem by itself");
        let others = looking_after(&[
            (Ecosystem::Pypi, "Python_DateUtil"),
            (Ecosystem::Go, "github.com/stretchr/testify"),
            (Ecosystem::Docker, "alpine"),
            (Ecosystem::Cargo, "serde_json"),
        ]);
        for (ecosystem, name, like) in [
            (Ecosystem::Pypi, "python-dateutils", Some("python-dateutil")),
            (Ecosystem::Pypi, "pythondateutil", Some("python-dateutil")),
            (Ecosystem::Go, "github.com/strechr/testify", Some("github.com/stretchr/testify")),
            (Ecosystem::Docker, "library/alpin", Some("library/alpine")),
            (Ecosystem::Cargo, "serde-jsom", Some("serde-json")),
            (Ecosystem::Cargo, "serde-json", None),
        ] {
            assert_eq!(others.like(ecosystem, name), like, "{name}");
        }
    }

    #[test]
    fn what_is_reserved_is_looked_after_too_and_nothing_is_where_nobody_asks() {
        let reserved = [("acme-internal", Ecosystem::Npm), ("acme-*", Ecosystem::Npm)];
        let reserved = reserved
            .map(|(package, ecosystem)| Reserved { ecosystem, package: package.to_owned() });
        let warn = Settings { reaction: Reaction::Warn, ..Settings::default() };
        let all = Lookalikes::new(&warn, &reserved);
        assert_eq!(all.like(Ecosystem::Npm, "acme-lnternal"), Some("acme-internal"));
        assert_eq!(all.like(Ecosystem::Npm, "acne-x"), None, "nobody knows what fits a pattern");
        let off = Lookalikes::new(&Settings { reaction: Reaction::Off, ..warn }, &reserved);
        assert_eq!(off.like(Ecosystem::Npm, "acme-lnternal"), None);
        let objection = all.objection(Ecosystem::Npm, "acmeinternal").unwrap();
        assert_eq!(
            objection.advice(),
            "Weir warns: its name looks like `acme-internal`, which is looked after here (lookalike)"
        );
    }

    #[test]
    fn only_names_and_scopes_are_looked_after() {
        for (ecosystem, text, why) in [
            (Ecosystem::Npm, "lodash", None),
            (Ecosystem::Npm, "@acme/*", None),
            (Ecosystem::Npm, "@acme/tool", None),
            (Ecosystem::Go, "example.com/x", None),
            (Ecosystem::Npm, "acme-*", Some("no other pattern")),
            (Ecosystem::Pypi, "@acme/*", Some("no other pattern")),
            (Ecosystem::Npm, "@acme", Some("no package")),
            (Ecosystem::Cargo, "serde.json", Some("no package")),
            (Ecosystem::Go, &format!("example.com/{}", "x".repeat(60)), Some("as long as this")),
        ] {
            let cause = objection(ecosystem, text);
            assert_eq!(cause.is_some(), why.is_some(), "{text}: {cause:?}");
            assert!(why.is_none_or(|why| cause.is_some_and(|it| it.contains(why))), "{cause:?}");
        }
    }

    #[test]
    fn as_many_names_as_may_be_take_a_bounded_place() {
        let names: Vec<_> =
            (0..MAX_PROTECTED).map(|n| format!("{}{n:04}", "x".repeat(MAX_BYTES - 4))).collect();
        let names: Vec<_> = names.iter().map(|name| (Ecosystem::Npm, &**name)).collect();
        let all = looking_after(&names);
        assert_eq!(all.names.len(), MAX_PROTECTED);
        assert!(all.keys.len() <= MAX_PROTECTED * (MAX_BYTES + 2), "{}", all.keys.len());
        // Sixteen to thirty-two bits a key, at most one of sixteen set: 512 KiB for the most there may be.
        let n_bits: u32 = all.hints.0.iter().map(|word| word.count_ones()).sum();
        assert!(all.hints.0.len() * 8 <= 512 << 10, "{}", all.hints.0.len());
        assert!((1..=all.keys.len()).contains(&(n_bits as usize)), "{n_bits}");
        let long = "y".repeat(MAX_BYTES + 1);
        assert_eq!(looking_after(&[(Ecosystem::Npm, &long)]).names.len(), 0);
    }

    /// Optimal string alignment, as it is defined.
    fn distance(a: &[u8], b: &[u8]) -> usize {
        let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                d[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let other = usize::from(a[i - 1] != b[j - 1]);
                    let least = (d[i - 1][j] + 1).min(d[i][j - 1] + 1).min(d[i - 1][j - 1] + other);
                    let exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if exchanged { least.min(d[i - 2][j - 2] + 1) } else { least }
                };
            }
        }
        d[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn one_slip_is_a_distance_of_one(a in "[ab3]{0,8}", b in "[ab3]{0,8}") {
            let (a, b) = (a.as_bytes(), b.as_bytes());
            let digits = a.len() == b.len() && {
                let mut others = a.iter().zip(b).filter(|(a, b)| a != b);
                others.all(|(a, b)| a.is_ascii_digit() && b.is_ascii_digit())
            };
            prop_assert_eq!(one_slip(a, b), distance(a, b) == 1 && !digits);
        }

        #[test]
        fn the_table_finds_what_looking_at_every_name_finds(
            known in prop::collection::vec("[a-c1l-]{4,8}", 1..12), asked in "[a-c1l-]{3,9}",
        ) {
            let names: Vec<_> = known.iter().map(|name| (Ecosystem::Npm, name.as_str())).collect();
            let all = looking_after(&names);
            let by_hand = known.iter().filter(|name| alike(name, &asked)).min();
            let by_hand = by_hand.filter(|_| !known.contains(&asked)).map(String::as_str);
            prop_assert_eq!(all.like(Ecosystem::Npm, &asked), by_hand);
        }

        #[test]
        fn to_look_alike_is_mutual(a in "[a-cmnr01-]{0,9}", b in "[a-cmnr01-]{0,9}") {
            prop_assert_eq!(alike(&a, &b), alike(&b, &a));
            prop_assert!(!alike(&a, &a));
        }
    }
}
