//! Whether less vouches for a version than for one before it, and whether somebody published it who
//! had nothing to do with the package before: how a stolen token looks from outside.
//!
//! A version is before another if it is lower and was published earlier: so a correction of an old
//! line of versions is not measured by a newer line. What only prereleases had was a trial. Where a
//! list does not tell a version's time, or tells of nobody who vouches, nothing is said: a mirror that
//! leaves things out is no theft.

use std::{
    array,
    collections::{HashSet, VecDeque},
};

use weir_events::{
    registry::sighting::{TrustLost, Vouched},
    timestamp::Timestamp,
};

use super::version::Version;
use crate::words::is_hidden;

/// The longest name of a publisher that is repeated, in characters.
const MAX_NAME_CHARS: usize = 60;

/// How long a version of somebody new has to stand before those who stand behind it are no news any
/// more. What a thief publishes is mostly gone within days.
const STANDS_SECONDS: i64 = 30 * 86_400;

/// What can be lost, the most first.
const LEVELS: [Vouched; 2] = [Vouched::TrustedPublisher, Vouched::Provenance];

/// A version, and what vouches for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release<'a> {
    /// The version.
    pub version: &'a Version,
    /// When it was published, where that is told.
    pub published_at: Option<Timestamp>,
    /// What vouches for it.
    pub vouched: Vouched,
}

/// The versions of a package for which something vouches, ready to be compared with.
#[derive(Debug, Default)]
pub struct Witnesses<'a> {
    /// One for each of [`LEVELS`]: its versions, the lowest first.
    levels: [Vec<Step<'a>>; LEVELS.len()],
}

/// A version, and which of it and those below was published first.
#[derive(Debug, Clone, Copy)]
struct Step<'a> {
    version: &'a Version,
    first_at: Timestamp,
    first: &'a Version,
}

impl<'a> Witnesses<'a> {
    /// Of these versions those that count.
    pub fn among(releases: impl Iterator<Item = Release<'a>>) -> Self {
        let counts = |release: &Release<'_>| {
            release.vouched != Vouched::Nothing && !release.version.prerelease()
        };
        let counting: Vec<_> = releases.filter(counts).collect();
        let level = |at: usize| {
            let steps = counting.iter().filter(|release| release.vouched >= LEVELS[at]);
            let mut steps: Vec<_> = steps
                .filter_map(|&Release { version, published_at, .. }| {
                    Some(Step { version, first_at: published_at?, first: version })
                })
                .collect();
            steps.sort_by(|a, b| a.version.cmp(b.version));
            let mut before: Option<Step<'_>> = None;
            for step in &mut steps {
                if let Some(before) = before.filter(|before| before.first_at <= step.first_at) {
                    (step.first_at, step.first) = (before.first_at, before.first);
                }
                before = Some(*step);
            }
            steps
        };
        Self { levels: array::from_fn(level) }
    }

    /// Whether less vouches for a version than for one before it.
    #[must_use]
    pub fn lost(&self, release: &Release<'_>) -> Option<TrustLost> {
        let published_at = release.published_at?;
        let missing = LEVELS.iter().zip(&self.levels).filter(|(had, _)| release.vouched < **had);
        missing.into_iter().find_map(|(had, steps)| {
            let below = steps.partition_point(|step| step.version < release.version);
            let step = steps.get(below.checked_sub(1)?)?;
            (step.first_at < published_at).then(|| TrustLost {
                has: release.vouched,
                had: *had,
                earlier: step.first.as_str().to_owned(),
            })
        })
    }
}

/// Who published a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published<'a> {
    /// When, where that is told.
    pub at: Option<Timestamp>,
    /// Who, where that is told and it was a person.
    pub by: Option<&'a str>,
    /// Who may have, as of that version.
    pub maintainers: Vec<&'a str>,
}

impl<'a> Published<'a> {
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.by.into_iter().chain(self.maintainers.iter().copied())
    }
}

/// Of each version, in the order given, who published it without having published, or been allowed to
/// publish, any before it. A version of somebody new makes nobody known until it has stood for
/// [`STANDS_SECONDS`]: a thief's second version is as much his as the first, and whom he lets in is
/// as new as he is.
#[must_use]
pub fn newcomers(published: &[Published<'_>]) -> Vec<Option<String>> {
    let mut order: Vec<_> = published
        .iter()
        .enumerate()
        .filter_map(|(at, version)| Some((version.at?, at, version)))
        .collect();
    order.sort_by_key(|(time, at, _)| (*time, *at));
    let mut known: HashSet<&str> = HashSet::new();
    let mut waiting: VecDeque<(Timestamp, &Published<'_>)> = VecDeque::new();
    let mut newcomers = vec![None; published.len()];
    for (time, at, version) in order {
        while let Some((_, stood)) = waiting.pop_front_if(|(until, _)| *until <= time) {
            known.extend(stood.names());
        }
        match version.by.filter(|by| !known.is_empty() && !known.contains(by)) {
            Some(by) => {
                newcomers[at] = Some(shown(by));
                waiting.push_back((time.plus_seconds(STANDS_SECONDS), version));
            }
            None => known.extend(version.names()),
        }
    }
    newcomers
}

/// A name as it can be repeated.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !is_hidden(*c)).take(MAX_NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::registry::Ecosystem;

    use super::*;

    const LEVEL: [Vouched; 3] = [Vouched::Nothing, Vouched::Provenance, Vouched::TrustedPublisher];

    fn parsed(version: &str) -> Version {
        Version::parse(Ecosystem::Npm, version)
    }

    fn at(hour: i64) -> Option<Timestamp> {
        (hour >= 0).then(|| Timestamp::EPOCH.plus_seconds(hour * 3_600))
    }

    /// What the last of `(version, hour, level)` lost to the others: the earlier version.
    fn last_lost(all: &[(&str, i64, usize)]) -> Option<String> {
        let versions: Vec<_> = all.iter().map(|(version, _, _)| parsed(version)).collect();
        let releases = all.iter().zip(&versions).map(|((_, hour, level), version)| Release {
            version,
            published_at: at(*hour),
            vouched: LEVEL[*level],
        });
        let releases: Vec<_> = releases.collect();
        let lost = Witnesses::among(releases.iter().copied()).lost(releases.last().unwrap());
        lost.map(|lost| lost.earlier)
    }

    #[test]
    fn what_a_lower_and_earlier_version_had_is_missed() {
        for (all, earlier) in [
            (&[("1.0.0", 1, 1), ("1.1.0", 2, 0)][..], Some("1.0.0")),
            (&[("1.0.0", 1, 2), ("1.1.0", 2, 1)], Some("1.0.0")),
            (&[("1.0.0", 1, 1), ("1.1.0", 2, 1)], None),
            (&[("1.0.0", 1, 1), ("1.1.0", 2, 2)], None),
            (&[("1.0.0", 1, 0), ("1.1.0", 2, 0)], None),
            // Of several the first; what lies between does not matter.
            (&[("1.0.0", 1, 1), ("1.1.0", 2, 1), ("1.2.0", 3, 0), ("1.3.0", 4, 0)], Some("1.0.0")),
            // A correction of an older line.
            (&[("2.0.0", 1, 1), ("1.9.1", 2, 0)], None),
            // Lower, but published later.
            (&[("1.0.0", 3, 1), ("1.1.0", 2, 0)], None),
            (&[("1.0.0", 2, 1), ("1.1.0", 2, 0)], None),
            // A trial is no promise; a prerelease is measured all the same.
            (&[("1.0.0-rc.1", 1, 1), ("1.1.0", 2, 0)], None),
            (&[("1.0.0", 1, 1), ("1.1.0-rc.1", 2, 0)], Some("1.0.0")),
            // Times that nobody tells.
            (&[("1.0.0", -1, 1), ("1.1.0", 2, 0)], None),
            (&[("1.0.0", 1, 1), ("1.1.0", -1, 0)], None),
        ] {
            assert_eq!(last_lost(all).as_deref(), earlier, "{all:?}");
        }
    }

    #[test]
    fn who_comes_anew_is_told_of_each_version_but_the_first_of_all() {
        let of = |all: &[(i64, Option<&str>, &[&str])]| {
            let published = all.iter().map(|(hour, by, maintainers)| Published {
                at: at(*hour),
                by: *by,
                maintainers: maintainers.to_vec(),
            });
            newcomers(&published.collect::<Vec<_>>())
        };
        let eve = Some("eve".to_owned());
        let told = of(&[
            (3, Some("eve"), &["ann", "eve"]),
            (1, Some("ann"), &["ann", "bob"]),
            (2, Some("bob"), &["ann", "bob"]),
            (4, Some("eve"), &["eve"]),
            (5, None, &[]),
        ]);
        assert_eq!(told, [eve.clone(), None, None, eve, None]);
        // Who told nothing before is compared with nobody.
        assert_eq!(of(&[(1, None, &[]), (2, Some("eve"), &["eve"])]), [None, None]);
        assert_eq!(of(&[(1, Some("ann"), &[]), (-1, Some("eve"), &[])]), [None, None]);
        // Neither he nor whom he lets in is known by what he did, until that has stood for long.
        let days = |days: i64| days * 24;
        let told = of(&[
            (0, Some("ann"), &["ann"]),
            (days(1), Some("eve"), &["eve", "mallory"]),
            (days(2), Some("mallory"), &["eve", "mallory"]),
            (days(31) - 1, Some("eve"), &[]),
            (days(31), Some("eve"), &[]),
            (days(31), Some("mallory"), &[]),
        ]);
        let new: Vec<_> = told.iter().map(Option::is_some).collect();
        assert_eq!(new, [false, true, true, true, false, false]);
        // Whom somebody known lets in is known.
        let told = of(&[
            (1, Some("ann"), &["ann"]),
            (2, Some("ann"), &["ann", "bob"]),
            (3, Some("bob"), &["bob"]),
        ]);
        assert_eq!(told, [None, None, None]);
        let long = "\u{202e}".to_owned() + &"x".repeat(100) + "\n";
        let told = of(&[(1, Some("ann"), &[]), (2, Some(&long), &[])]);
        assert_eq!(told[1].as_ref().map(String::len), Some(MAX_NAME_CHARS));
    }

    proptest! {
        #[test]
        fn it_comes_to_the_same_as_looking_at_every_pair(
            all in prop::collection::vec(("[0-2]\\.[0-2]\\.0(-a)?", -1_i64..6, 0_usize..3), 1..25)
        ) {
            let versions: Vec<_> = all.iter().map(|(version, _, _)| parsed(version)).collect();
            let releases: Vec<_> = all
                .iter()
                .zip(&versions)
                .map(|((_, hour, level), version)| Release {
                    version,
                    published_at: at(*hour),
                    vouched: LEVEL[*level],
                })
                .collect();
            let witnesses = Witnesses::among(releases.iter().copied());
            for release in &releases {
                let before = |other: &&Release<'_>| {
                    other.version < release.version
                        && !other.version.prerelease()
                        && other.published_at.zip(release.published_at).is_some_and(|(a, b)| a < b)
                };
                let most = releases.iter().filter(before).map(|other| other.vouched).max();
                let missed = most.filter(|most| *most > release.vouched);
                let lost = witnesses.lost(release);
                prop_assert_eq!(lost.as_ref().map(|lost| lost.had), missed);
                if let Some(lost) = lost {
                    let earlier = |other: &&Release<'_>| other.version.as_str() == lost.earlier;
                    let mut earlier = releases.iter().filter(before).filter(earlier);
                    prop_assert!(earlier.any(|other| other.vouched >= lost.had));
                }
            }
        }
    }
}
