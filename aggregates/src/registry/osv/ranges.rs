//! Ranges of OSV: events along the order of versions, and the windows they open and close.
//!
//! A version is affected if the walk over the events up to it ends switched on: `introduced`
//! switches on at its version, `fixed` off at its version, `last_affected` off behind it. `limit`
//! bounds the whole range: what is not below any of its limits is not affected.
//!
//! OSV leaves open what events at one and the same version mean. Here, where one window ends and
//! another begins, the range goes on (`fixed` 1.0 and `introduced` 1.0: 1.0 is affected), and where
//! a window ends at the very place it begins, it is empty, or with `last_affected` one version.

use std::borrow::Cow;

use serde::Deserialize;
use weir_events::registry::{
    Ecosystem,
    advisory::{End, Window},
};

use crate::registry::version::Version;

/// What happens at a version of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// From here on affected; `0` is before every version.
    Introduced,
    /// From here on no longer.
    Fixed,
    /// Beyond here no longer.
    LastAffected,
    /// From here on the range says nothing; `*` is no limit.
    Limit,
}

/// A range over versions, in the order of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// Its events: what happens, and at which version.
    pub marks: Vec<(Mark, String)>,
}

/// A range as it stands in JSON.
#[derive(Deserialize)]
pub(super) struct RawRange<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    events: Option<Vec<RawEvent>>,
}

/// One event; OSV says that it has one member, which is not relied upon.
#[derive(Deserialize)]
struct RawEvent {
    introduced: Option<String>,
    fixed: Option<String>,
    last_affected: Option<String>,
    limit: Option<String>,
}

/// The ranges over versions. Those of commits (`GIT`), and those of kinds yet unknown, cannot be
/// compared with a version: they are passed over, one by one.
pub(super) fn read(ranges: Vec<RawRange<'_>>) -> Vec<Range> {
    let of_versions = |kind: &str| matches!(kind, "SEMVER" | "ECOSYSTEM");
    ranges
        .into_iter()
        .filter(|range| range.kind.as_deref().is_none_or(of_versions))
        .map(|range| {
            let marks = range.events.into_iter().flatten().flat_map(|event| {
                [
                    (Mark::Introduced, event.introduced),
                    (Mark::Fixed, event.fixed),
                    (Mark::LastAffected, event.last_affected),
                    (Mark::Limit, event.limit),
                ]
            });
            Range { marks: marks.filter_map(|(mark, text)| Some((mark, text?))).collect() }
        })
        .collect()
}

/// The windows of affected versions, in ascending order, none touching another.
pub(super) fn windows(ecosystem: Ecosystem, range: &Range) -> Vec<Window> {
    let mut walk = Vec::with_capacity(range.marks.len());
    for (mark, text) in &range.marks {
        let at = match (mark, text.as_str()) {
            (Mark::Limit, _) => continue,
            (Mark::Introduced, "0") => None,
            (_, text) => Some(Version::parse(ecosystem, text)),
        };
        walk.push((at, *mark, text.as_str()));
    }
    walk.sort_by(|a, b| a.0.cmp(&b.0));
    let mut windows = Vec::new();
    let mut open: Option<Option<String>> = None;
    for place in walk.chunk_by(|a, b| a.0 == b.0) {
        let has = |wanted: Mark| place.iter().any(|(_, mark, _)| *mark == wanted);
        let (on, begins) = (open.is_some(), has(Mark::Introduced));
        let (fixed, ends) = (has(Mark::Fixed), has(Mark::Fixed) || has(Mark::LastAffected));
        let here = if fixed { on && begins } else { on || begins };
        let beyond = if ends { on && begins } else { on || begins };
        let Some((at, _, text)) = place.first() else { continue };
        let text = (*text).to_owned();
        if here && open.is_none() {
            open = Some(at.as_ref().map(|_| text.clone()));
        }
        let end = match (here, beyond) {
            (false, _) => End::Fixed(text),
            (true, false) => End::LastAffected(text),
            (true, true) => continue,
        };
        windows.extend(open.take().map(|introduced| Window { introduced, end }));
    }
    windows.extend(open.map(|introduced| Window { introduced, end: End::Open }));
    if let Some((limit, text)) = limit(ecosystem, range) {
        windows.retain_mut(|window| cut(ecosystem, window, &limit, text));
    }
    windows
}

/// The highest limit, unless there is none.
fn limit(ecosystem: Ecosystem, range: &Range) -> Option<(Version, &str)> {
    let limits = || range.marks.iter().filter(|(mark, _)| *mark == Mark::Limit);
    if limits().any(|(_, text)| text == "*") {
        return None;
    }
    let parsed = limits().map(|(_, text)| (Version::parse(ecosystem, text), text.as_str()));
    parsed.max_by(|a, b| a.0.cmp(&b.0))
}

/// Ends a window before the limit; whether anything is left of it.
fn cut(ecosystem: Ecosystem, window: &mut Window, limit: &Version, text: &str) -> bool {
    let parse = |text: &String| Version::parse(ecosystem, text);
    let reaches_limit = match &window.end {
        End::Open => true,
        End::Fixed(end) | End::Limit(end) => parse(end) > *limit,
        End::LastAffected(end) => parse(end) >= *limit,
    };
    if reaches_limit {
        window.end = End::Limit(text.to_owned());
    }
    window.introduced.as_ref().is_none_or(|introduced| parse(introduced) < *limit)
}

#[cfg(test)]
mod tests;
