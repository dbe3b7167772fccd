//! What becomes of a tag whose version is not to be chosen. A tag never jumps: it steps down to what
//! its users had before, or it is dropped.

use std::cmp::Reverse;

use weir_aggregates::registry::version::Version;

/// The tag that installers take where nobody says which version.
pub const LATEST: &str = "latest";

/// How a version stands in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may be installed.
    Allowed,
    /// It is listed as it is, and refused when it is asked for.
    Denied,
    /// It is listed as "do not choose".
    Marked,
    /// It is not listed.
    Hidden,
}

/// What becomes of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// It stays.
    Keep,
    /// It stands for another version.
    To(usize),
    /// It goes.
    Drop,
}

/// The versions of a package in order, each with its standing. Versions are told by numbers.
#[derive(Debug)]
pub struct Ladder<'a> {
    /// Ascending.
    rungs: Vec<Rung<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct Rung<'a> {
    at: usize,
    version: &'a Version,
    standing: Standing,
}

impl<'a> Ladder<'a> {
    /// Puts versions in order.
    #[must_use]
    pub fn new(versions: impl IntoIterator<Item = (usize, &'a Version, Standing)>) -> Self {
        let rungs =
            versions.into_iter().map(|(at, version, standing)| Rung { at, version, standing });
        let mut rungs: Vec<_> = rungs.collect();
        rungs.sort_by(|a, b| (a.version, a.at).cmp(&(b.version, b.at)));
        Self { rungs }
    }

    /// What becomes of a tag that stands for a version.
    ///
    /// `latest` is the highest release at or below what it was; only where there is none, a
    /// prerelease. It is never above what it was and never dropped, as long as anything at or below
    /// is listed. Where only higher versions are, it is the lowest of them: installers do not work
    /// without it. Any other tag stays within its major version, and a prerelease within its channel.
    #[must_use]
    pub fn repair(&self, tag: &str, target: usize) -> Repair {
        let Some(place) = self.rungs.iter().position(|rung| rung.at == target) else {
            return Repair::Keep;
        };
        let (below, above) = self.rungs.split_at(place + 1);
        let Some(old) = below.last().copied() else { return Repair::Keep };
        if matches!(old.standing, Standing::Allowed | Standing::Denied) {
            return Repair::Keep;
        }
        let better = if tag == LATEST { latest(below) } else { beside(below, old) };
        match (better, old.standing) {
            (Some(rung), _) => Repair::To(rung.at),
            // Still listed: who asks for it is told why not.
            (None, Standing::Marked) => Repair::Keep,
            (None, _) if tag == LATEST => listed_at_all(below, above),
            (None, _) => Repair::Drop,
        }
    }

    /// The highest version that may be installed, a release where there is one.
    #[must_use]
    pub fn best(&self) -> Option<usize> {
        latest(&self.rungs).map(|rung| rung.at)
    }
}

fn latest<'a, 'b>(below: &'a [Rung<'b>]) -> Option<&'a Rung<'b>> {
    let mut allowed = below.iter().rev().filter(|rung| rung.standing == Standing::Allowed);
    let mut releases = allowed.clone().filter(|rung| !rung.version.prerelease());
    releases.next().or_else(|| allowed.next())
}

fn beside<'a, 'b>(below: &'a [Rung<'b>], old: Rung<'b>) -> Option<&'a Rung<'b>> {
    below
        .iter()
        .rev()
        .take_while(|rung| major(rung.version) == major(old.version))
        .filter(|rung| rung.standing == Standing::Allowed)
        .find(|rung| channel(rung.version) == channel(old.version))
}

/// What is left for `latest` where nothing at or below it may be installed.
fn listed_at_all(below: &[Rung<'_>], above: &[Rung<'_>]) -> Repair {
    let listed = |rung: &&Rung<'_>| rung.standing != Standing::Hidden;
    let lower = below.iter().filter(listed).max_by_key(|rung| !rung.version.prerelease());
    let higher = || {
        let preferred = |rung: &&Rung<'_>| {
            Reverse((rung.standing == Standing::Allowed, !rung.version.prerelease()))
        };
        above.iter().filter(listed).min_by_key(preferred)
    };
    lower.or_else(higher).map_or(Repair::Drop, |rung| Repair::To(rung.at))
}

/// The first number of a version, as it is written.
fn major(version: &Version) -> &str {
    let numbers = version.as_str().trim_start_matches(['v', 'V', '=', ' ']);
    numbers.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
}

/// `beta` in `1.0.0-beta.2`; nothing in a release.
fn channel(version: &Version) -> &str {
    if !version.prerelease() {
        return "";
    }
    let (_, stage) = version.as_str().split_once('-').unwrap_or_default();
    stage.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::registry::Ecosystem;

    use super::{Standing::*, *};

    fn repair(tag: &str, target: &str, versions: &[(&str, Standing)]) -> Option<String> {
        let read: Vec<_> =
            versions.iter().map(|(text, _)| Version::parse(Ecosystem::Npm, text)).collect();
        let standings = versions.iter().map(|(_, standing)| *standing);
        let ladder =
            Ladder::new(read.iter().zip(standings).enumerate().map(|(at, (v, s))| (at, v, s)));
        let at = versions.iter().position(|(text, _)| *text == target).unwrap();
        match ladder.repair(tag, at) {
            Repair::Keep => Some(target.to_owned()),
            Repair::To(at) => Some(versions[at].0.to_owned()),
            Repair::Drop => None,
        }
    }

    #[test]
    fn latest_steps_down_within_its_major_version_and_never_up() {
        for blocked in [Hidden, Marked] {
            for (versions, wanted) in [
                (&[("1.9.0", Allowed), ("2.0.0", Allowed), ("2.1.0", blocked)][..], "2.0.0"),
                (&[("2.1.0", blocked), ("1.10.0", Allowed), ("1.9.0", Allowed)], "1.10.0"),
                (&[("2.0.0-rc.1", Allowed), ("1.0.0", Allowed), ("2.1.0", blocked)], "1.0.0"),
                (&[("2.1.0-rc.1", Allowed), ("2.1.0", blocked), ("3.0.0", Allowed)], "2.1.0-rc.1"),
                (&[("2.0.0", Denied), ("1.0.0", Allowed), ("2.1.0", blocked)], "1.0.0"),
            ] {
                assert_eq!(
                    repair(LATEST, "2.1.0", versions).as_deref(),
                    Some(wanted),
                    "{versions:?}"
                );
            }
        }
    }

    #[test]
    fn latest_is_there_as_long_as_anything_is_listed() {
        for (versions, wanted) in [
            (&[("2.1.0", Marked), ("2.0.0", Hidden), ("3.0.0", Allowed)][..], Some("2.1.0")),
            (&[("2.1.0", Hidden), ("2.0.0", Marked), ("3.0.0", Allowed)], Some("2.0.0")),
            (&[("2.1.0", Hidden), ("1.0.0", Denied), ("2.1.0-a", Marked)], Some("1.0.0")),
            (&[("2.1.0", Hidden), ("4.0.0", Allowed), ("3.0.0", Allowed)], Some("3.0.0")),
            (&[("2.1.0", Hidden), ("3.0.0", Marked), ("4.0.0-a", Allowed)], Some("4.0.0-a")),
            (&[("2.1.0", Hidden), ("2.0.0", Hidden)], None),
            (&[("2.1.0", Denied), ("2.0.0", Allowed)], Some("2.1.0")),
            (&[("2.1.0", Allowed), ("2.2.0", Allowed)], Some("2.1.0")),
        ] {
            assert_eq!(repair(LATEST, "2.1.0", versions).as_deref(), wanted, "{versions:?}");
        }
    }

    #[test]
    fn another_tag_steps_down_in_its_channel_or_goes() {
        let canary = "3.0.0-canary.9";
        for (versions, wanted) in [
            (
                &[(canary, Hidden), ("3.0.0-canary.8", Allowed), ("3.0.0-rc.1", Allowed)][..],
                Some("3.0.0-canary.8"),
            ),
            (&[(canary, Hidden), ("2.0.0", Allowed), ("3.0.0-beta.1", Allowed)], None),
            (&[(canary, Marked), ("2.0.0", Allowed)], Some(canary)),
            (&[(canary, Denied), ("3.0.0-canary.8", Allowed)], Some(canary)),
        ] {
            assert_eq!(repair("next", canary, versions).as_deref(), wanted, "{versions:?}");
        }
        let old = [("1.9.0", Allowed), ("1.9.1-a", Allowed), ("1.9.2", Hidden), ("2.0.0", Allowed)];
        assert_eq!(repair("old", "1.9.2", &old).as_deref(), Some("1.9.0"));
        assert_eq!(repair("old", "1.9.2", &old[1..]), None);
    }

    proptest! {
        #[test]
        fn no_tag_ever_stands_for_what_is_not_listed_and_latest_stays(
            versions in prop::collection::vec(
                ("[0-3]\\.[0-2]\\.[0-2](-(a|b)\\.[0-2])?",
                 prop::sample::select(vec![Allowed, Denied, Marked, Hidden])), 1..12),
            target in 0_usize..12,
            tag in prop::sample::select(vec![LATEST, "next"]),
        ) {
            let mut versions = versions;
            versions.sort_by(|a, b| a.0.cmp(&b.0));
            versions.dedup_by(|a, b| a.0 == b.0);
            let listed: Vec<_> = versions.iter().map(|(text, s)| (text.as_str(), *s)).collect();
            let (target, _) = listed[target % listed.len()];
            let parse = |text: &str| Version::parse(Ecosystem::Npm, text);
            let standing = |text: &str| listed.iter().find(|(v, _)| *v == text).unwrap().1;
            match repair(tag, target, &listed) {
                Some(now) => {
                    prop_assert_ne!(standing(&now), Hidden);
                    let lower = listed.iter().any(|(v, s)| parse(v) <= parse(target) && *s != Hidden);
                    prop_assert!(parse(&now) <= parse(target) || (tag == LATEST && !lower));
                }
                None => prop_assert!(tag != LATEST || listed.iter().all(|(_, s)| *s == Hidden)),
            }
        }
    }
}
