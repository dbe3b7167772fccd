//! Ranges of OSV: events along the order of versions, and the windows they open and close.
//!
//! A version is affected if the walk over the events up to it ends switched on: `introduced`
//! switches on at its version, `fixed` off at its version, `last_affected` off behind it. `limit`
//! bounds the whole range: what is not below any of its limits is not affected.
//!
//! Where the version of an event cannot be read, nobody can say where the range ends or begins there:
//! it becomes one window that leaves nothing out (fail closed), and is told to be widened.
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

/// What a range comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The windows of affected versions, in ascending order, none touching another.
    pub(super) windows: Vec<Window>,
    /// Whether they hold more than the range says, because not all of it can be read.
    pub(super) widened: bool,
}

/// Something that happens, and where: `None` is before every version.
type Event = (Option<Version>, Mark);

/// The windows of affected versions.
pub(super) fn windows(ecosystem: Ecosystem, range: &Range) -> Found {
    let mut walk: Vec<Event> = Vec::with_capacity(range.marks.len());
    for (mark, text) in &range.marks {
        match (mark, text.as_str()) {
            (Mark::Limit, _) => {}
            (Mark::Introduced, "0") => walk.push((None, *mark)),
            (_, text) => walk.push((Some(Version::said(ecosystem, text)), *mark)),
        }
    }
    walk.sort_by(|a, b| a.0.cmp(&b.0));
    let readable = |(at, _): &Event| at.as_ref().is_none_or(Version::readable);
    let mut widened = !walk.iter().all(readable);
    let mut windows = if widened { widest(&walk) } else { exact(&walk) };
    match limit(ecosystem, range) {
        Ok(None) => {}
        Ok(Some(limit)) => windows.retain_mut(|window| cut(ecosystem, window, &limit)),
        Err(Unplaced) => widened = true,
    }
    Found { windows, widened }
}

/// The one window that leaves out nothing of a range of which not every event has a place.
fn widest(walk: &[Event]) -> Vec<Window> {
    let placed = |at: &Option<Version>| at.as_ref().is_none_or(Version::readable);
    let begins = |mark: Mark| mark == Mark::Introduced;
    let text = |at: &Option<Version>| at.as_ref().map(|at| at.as_str().to_owned());
    let Some(lowest) = walk.iter().find(|(_, mark)| begins(*mark)) else { return Vec::new() };
    let introduced = if placed(&lowest.0) { text(&lowest.0) } else { None };
    let ends_placed = walk.iter().all(|(at, mark)| begins(*mark) || placed(at));
    // What ends it ends all of it where nothing begins there or behind it.
    let last = walk.chunk_by(|a, b| a.0 == b.0).last().unwrap_or_default();
    let goes_on = !ends_placed || last.iter().any(|(_, mark)| begins(*mark));
    let end = last.first().and_then(|(at, _)| text(at)).filter(|_| !goes_on);
    let fixed = last.iter().all(|(_, mark)| *mark == Mark::Fixed);
    let end = match end {
        Some(at) if fixed => End::Fixed(at),
        Some(at) => End::LastAffected(at),
        None => End::Open,
    };
    vec![Window { introduced, end }]
}

/// The windows of a range that can be read.
fn exact(walk: &[Event]) -> Vec<Window> {
    let mut windows = Vec::new();
    let mut open: Option<Option<String>> = None;
    for place in walk.chunk_by(|a, b| a.0 == b.0) {
        let has = |wanted: Mark| place.iter().any(|(_, mark)| *mark == wanted);
        let (on, begins) = (open.is_some(), has(Mark::Introduced));
        let (fixed, ends) = (has(Mark::Fixed), has(Mark::Fixed) || has(Mark::LastAffected));
        let here = if fixed { on && begins } else { on || begins };
        let beyond = if ends { on && begins } else { on || begins };
        let Some((at, _)) = place.first() else { continue };
        let at = at.as_ref().map(|at| at.as_str().to_owned());
        if here && open.is_none() {
            open = Some(at.clone());
        }
        let text = at.unwrap_or_default();
        let end = match (here, beyond) {
            (false, _) => End::Fixed(text),
            (true, false) => End::LastAffected(text),
            (true, true) => continue,
        };
        windows.extend(open.take().map(|introduced| Window { introduced, end }));
    }
    windows.extend(open.map(|introduced| Window { introduced, end: End::Open }));
    windows
}

/// A limit has no place: it limits nothing.
struct Unplaced;

/// The highest limit, unless there is none.
fn limit(ecosystem: Ecosystem, range: &Range) -> Result<Option<Version>, Unplaced> {
    let limits = || range.marks.iter().filter(|(mark, _)| *mark == Mark::Limit);
    if limits().any(|(_, text)| text == "*") {
        return Ok(None);
    }
    let parsed = limits().map(|(_, text)| Version::said(ecosystem, text));
    let readable = |limit: Version| if limit.readable() { Ok(limit) } else { Err(Unplaced) };
    Ok(parsed.map(readable).collect::<Result<Vec<_>, _>>()?.into_iter().max())
}

/// Ends a window before the limit; whether anything is left of it.
fn cut(ecosystem: Ecosystem, window: &mut Window, limit: &Version) -> bool {
    let parse = |text: &String| Version::parse(ecosystem, text);
    let reaches_limit = match &window.end {
        End::Open => true,
        End::Fixed(end) | End::Limit(end) => parse(end) > *limit,
        End::LastAffected(end) => parse(end) >= *limit,
    };
    if reaches_limit {
        window.end = End::Limit(limit.as_str().to_owned());
    }
    window.introduced.as_ref().is_none_or(|introduced| parse(introduced) < *limit)
}

#[cfg(test)]
mod tests;
