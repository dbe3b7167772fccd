//! Ranges of semantic versions: alternatives, each of bounds that all hold.
//!
//! Bounds are compared by precedence and nothing else. The rule by which npm and cargo keep
//! prereleases out of ranges does not apply: a rule that forbids must not miss one. It does apply to
//! what is permitted ([`Range::permits`]), which must not hold more than its author reads in it.

use super::{Identifier, Key, Number, Place, Stage, Version, split_digits};

/// Which versions, as bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::registry) struct Range(pub(super) Vec<Vec<Bound>>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bound {
    Exactly(Place),
    AtLeast(Place),
    More(Place),
    AtMost(Place),
    Less(Place),
}

/// What stands before a version in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Exactly,
    AtLeast,
    /// The lower end of a hyphen range, which node lets begin with the prereleases of a release.
    From,
    More,
    AtMost,
    Less,
    Tilde,
    Caret,
}

/// A version in a range, of which numbers may be missing: `1.2`, `1.x`, `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Partial {
    numbers: Vec<Number>,
    stage: Stage,
    /// Whether a wildcard stands for the missing numbers.
    pub(super) wild: bool,
}

impl Range {
    /// Whether one alternative has no bounds.
    pub(in crate::registry) fn everything(&self) -> bool {
        self.0.iter().any(Vec::is_empty)
    }

    pub(in crate::registry) fn contains(&self, version: &Version) -> bool {
        self.0.iter().any(|bounds| bounds.iter().all(|bound| bound.holds(&version.place)))
    }

    /// Whether a version is in it for npm and cargo too: a prerelease only where an alternative names
    /// one of the same release. What cannot be read is in no range.
    pub(in crate::registry) fn permits(&self, version: &Version) -> bool {
        let Place::Semver(key) = &version.place else { return self.everything() };
        let meant = |bounds: &[Bound]| {
            bounds.is_empty()
                || key.stage == Stage::Release
                || bounds.iter().any(|bound| bound.names_prerelease_of(&key.release))
        };
        let alternatives = self.0.iter();
        alternatives
            .filter(|bounds| meant(bounds))
            .any(|bounds| bounds.iter().all(|bound| bound.holds(&version.place)))
    }
}

impl Bound {
    /// Whether a prerelease of a release was written there.
    fn names_prerelease_of(&self, release: &[Number; 3]) -> bool {
        let (Self::Exactly(place)
        | Self::AtLeast(place)
        | Self::More(place)
        | Self::AtMost(place)
        | Self::Less(place)) = self;
        match place {
            Place::Semver(Key { release: own, stage: Stage::Before(written) }) => {
                own == release && !written.is_empty()
            }
            Place::Semver(_) | Place::Unreadable(_) => false,
        }
    }

    fn holds(&self, place: &Place) -> bool {
        match self {
            Self::Exactly(bound) => place == bound,
            Self::AtLeast(bound) => place >= bound,
            Self::More(bound) => place > bound,
            Self::AtMost(bound) => place <= bound,
            Self::Less(bound) => place < bound,
        }
    }
}

impl Sign {
    /// The bounds that a sign and a version stand for, or nothing where no version could fit.
    ///
    /// A version with missing numbers stands for all that begin with it, prereleases included:
    /// `>=1.2` begins at the first of them, `<=1.2` ends after the last of them. Only `<1.2` ends
    /// at `1.2.0` itself, for a rule below it is meant to forbid `1.2.0-beta` as `<1.2.0` does.
    pub(super) fn bounds(self, partial: &Partial) -> Option<Vec<Bound>> {
        let Some(last) = partial.numbers.len().checked_sub(1) else {
            return match self {
                Self::More | Self::Less => None,
                _ => Some(Vec::new()),
            };
        };
        let at_least = || Bound::AtLeast(partial.first());
        let before = |n| Bound::Less(partial.after(n));
        let full = partial.full();
        Some(match self {
            Self::Exactly if full => vec![Bound::Exactly(partial.place())],
            Self::Exactly => vec![at_least(), before(last)],
            Self::From if partial.stage == Stage::Release => {
                vec![Bound::AtLeast(floor(partial.key().release))]
            }
            Self::AtLeast | Self::From => vec![at_least()],
            Self::More if full => vec![Bound::More(partial.place())],
            Self::More => vec![Bound::AtLeast(partial.after(last))],
            Self::AtMost if full => vec![Bound::AtMost(partial.place())],
            Self::AtMost => vec![before(last)],
            Self::Less => vec![Bound::Less(partial.place())],
            Self::Tilde => vec![at_least(), before(last.min(1))],
            Self::Caret => {
                let telling = partial.numbers.iter().position(|number| *number != Number::ZERO);
                vec![at_least(), before(telling.unwrap_or(last))]
            }
        })
    }
}

impl Partial {
    /// Reads one to three numbers; after three, a prerelease and build metadata may follow.
    /// With `wildcards`, `x`, `X` or `*` may stand for numbers at the end.
    pub(super) fn parse(text: &str, wildcards: bool) -> Option<Self> {
        let (text, build) = text.split_once('+').map_or((text, None), |(t, b)| (t, Some(b)));
        let (core, pre) = text.split_once('-').map_or((text, None), |(c, p)| (c, Some(p)));
        let mut numbers = Vec::with_capacity(3);
        let mut n_parts = 0;
        for part in core.split('.') {
            n_parts += 1;
            if wildcards && matches!(part, "x" | "X" | "*") {
                continue;
            }
            // A number after a wildcard would be one that nobody heeds.
            if !number(part) || numbers.len() + 1 != n_parts {
                return None;
            }
            numbers.push(Number::parse(part));
        }
        let full = numbers.len() == 3;
        let stage = match pre {
            None => Stage::Release,
            Some(pre) if full && pre.split('.').all(prerelease) => {
                Stage::Before(pre.split('.').map(Identifier::parse).collect())
            }
            Some(_) => return None,
        };
        let built = build.is_none_or(|build| full && build.split('.').all(identifier));
        let wild = numbers.len() < n_parts;
        (n_parts <= 3 && built).then_some(Self { numbers, stage, wild })
    }

    /// Whether no number is missing.
    pub(super) const fn full(&self) -> bool {
        self.numbers.len() == 3
    }

    /// The version itself, with zeros for what is missing.
    pub(super) fn key(&self) -> Key {
        let number = |n| self.numbers.get(n).cloned().unwrap_or(Number::ZERO);
        Key { release: [number(0), number(1), number(2)], stage: self.stage.clone() }
    }

    fn place(&self) -> Place {
        Place::Semver(self.key())
    }

    /// The first version that begins with it.
    fn first(&self) -> Place {
        if self.full() { self.place() } else { floor(self.key().release) }
    }

    /// The first version whose `n`-th number is larger than here.
    fn after(&self, n: usize) -> Place {
        let mut release = self.key().release;
        for (at, number) in release.iter_mut().enumerate().skip(n) {
            *number = if at == n { number.next() } else { Number::ZERO };
        }
        floor(release)
    }
}

/// Below every prerelease of a release.
const fn floor(release: [Number; 3]) -> Place {
    Place::Semver(Key { release, stage: Stage::Before(Vec::new()) })
}

fn number(text: &str) -> bool {
    split_digits(text).is_some_and(|(_, rest)| rest.is_empty())
        && (text.len() == 1 || !text.starts_with('0'))
}

fn identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn prerelease(text: &str) -> bool {
    identifier(text) && (number(text) || !text.bytes().all(|b| b.is_ascii_digit()))
}
