//! The digest of an advisory: equal as long as a source says the same.

use blake3::{Hash, Hasher};
use weir_events::registry::advisory::{Advisory, Affected, End, Window};

/// The digest of an advisory whose digest nobody can read: no advisory has it.
pub const NONE: Hash = Hash::from_bytes([0; 32]);

/// BLAKE3 of all an advisory says, but for its digest and the time of its last change: sources
/// touch records without saying anything new. Every part goes in with its length, so that no two
/// advisories look alike.
#[must_use]
pub fn of(advisory: &Advisory) -> Hash {
    let Advisory {
        source,
        ecosystem,
        id,
        aliases,
        class,
        summary,
        modified: _,
        affected,
        digest: _,
    } = advisory;
    let mut hasher = Hasher::new();
    for part in [source, ecosystem.as_str(), id, class.as_str(), summary] {
        text(&mut hasher, part);
    }
    texts(&mut hasher, aliases);
    count(&mut hasher, affected.len());
    for Affected { package, severity, versions, windows, widened } in affected {
        text(&mut hasher, package);
        text(&mut hasher, severity.as_str());
        texts(&mut hasher, versions);
        count(&mut hasher, windows.len());
        for Window { introduced, end } in windows {
            count(&mut hasher, usize::from(introduced.is_some()));
            text(&mut hasher, introduced.as_deref().unwrap_or_default());
            let (kind, at) = match end {
                End::Open => ("open", ""),
                End::Fixed(at) => ("fixed", at.as_str()),
                End::LastAffected(at) => ("last_affected", at.as_str()),
                End::Limit(at) => ("limit", at.as_str()),
            };
            text(&mut hasher, kind);
            text(&mut hasher, at);
        }
        count(&mut hasher, usize::from(*widened));
    }
    hasher.finalize()
}

/// The digest an advisory carries; [`NONE`] where it is none.
#[must_use]
pub fn carried(advisory: &Advisory) -> Hash {
    Hash::from_hex(&advisory.digest).unwrap_or(NONE)
}

fn count(hasher: &mut Hasher, n: usize) {
    hasher.update(&(n as u64).to_le_bytes());
}

fn text(hasher: &mut Hasher, text: &str) {
    count(hasher, text.len());
    hasher.update(text.as_bytes());
}

fn texts(hasher: &mut Hasher, all: &[String]) {
    count(hasher, all.len());
    for one in all {
        text(hasher, one);
    }
}
