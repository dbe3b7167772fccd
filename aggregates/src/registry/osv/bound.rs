//! An advisory is one event, and an event has a bound.
//!
//! What is too large to keep is said less precisely, and never says less: a list of versions becomes
//! the window from its lowest to its highest, and if that is not enough, all windows of a package
//! become the one that holds every version. It is marked as widened, so that whoever reads a
//! refusal can see why. The largest package is widened first.

use std::cmp::Reverse;

use weir_events::registry::advisory::{Advisory, Affected, End, Window};

/// How much of an event an advisory may take, in bytes. An event has 256 KiB.
pub const MAX_ADVISORY_BYTES: usize = 200 << 10;

/// What a text costs beside its bytes, and what a map costs for the names of its fields.
const TEXT: usize = 5;
const FIELDS: usize = 80;

/// Widens what is affected until the advisory fits its event.
pub fn fit(advisory: &mut Advisory) {
    let mut size = size(advisory);
    for (part, widen) in
        [(listed as fn(&Affected) -> usize, spread as fn(&mut Affected)), (windows, everything)]
    {
        let mut largest_first: Vec<&mut Affected> = advisory.affected.iter_mut().collect();
        largest_first.sort_by_key(|affected| Reverse(part(affected)));
        for affected in largest_first {
            if size <= MAX_ADVISORY_BYTES {
                return;
            }
            size -= package(affected);
            widen(affected);
            size += package(affected);
        }
    }
}

/// How much of an event an advisory takes, in bytes; it may be less.
#[must_use]
pub fn size(advisory: &Advisory) -> usize {
    let texts = [&advisory.source, &advisory.id, &advisory.summary];
    let frame: usize = texts.into_iter().chain(&advisory.aliases).map(|t| text(t)).sum();
    frame + 3 * FIELDS + advisory.affected.iter().map(package).sum::<usize>()
}

/// Puts the window from the lowest listed version to the highest in the place of the list.
fn spread(affected: &mut Affected) {
    let mut versions = std::mem::take(&mut affected.versions);
    if let Some(highest) = versions.pop() {
        let lowest = versions.into_iter().next().unwrap_or_else(|| highest.clone());
        let end = End::LastAffected(highest);
        affected.windows.push(Window { introduced: Some(lowest), end });
        affected.widened = true;
    }
}

fn everything(affected: &mut Affected) {
    affected.windows = vec![Window::EVERYTHING];
    affected.widened = true;
}

fn text(text: &str) -> usize {
    text.len() + TEXT
}

fn package(affected: &Affected) -> usize {
    FIELDS + text(&affected.package) + listed(affected) + windows(affected)
}

fn listed(affected: &Affected) -> usize {
    affected.versions.iter().map(|version| text(version)).sum()
}

fn windows(affected: &Affected) -> usize {
    let window = |window: &Window| {
        let end = match &window.end {
            End::Open => 0,
            End::Fixed(end) | End::LastAffected(end) | End::Limit(end) => text(end),
        };
        40 + window.introduced.as_deref().map_or(1, text) + end
    };
    affected.windows.iter().map(window).sum()
}
