//! Checks what readers saw against what was acknowledged. It knows nothing of how either came
//! about, so that a naive log can be held to the same.

use std::collections::{BTreeSet, HashMap};

/// What one reader saw, in the order it saw it.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    positions: Vec<i64>,
    versions: HashMap<String, i64>,
    faults: Vec<String>,
}

impl Seen {
    /// The reader saw an event.
    pub fn event(&mut self, position: i64, stream: &str, version: i64) {
        let last = self.positions.last().copied().unwrap_or(0);
        if position != last + 1 {
            self.faults.push(format!("position {position} after {last}"));
        }
        self.positions.push(position);
        let before = self.versions.insert(stream.to_owned(), version).unwrap_or(0);
        if version != before + 1 {
            self.faults.push(format!("{stream} went from version {before} to {version}"));
        }
    }

    /// How many events it saw.
    pub const fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether it saw nothing.
    pub const fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// What is wrong with what it saw: holes, wrong order, broken versions, and every acknowledged
    /// position it did not see exactly once.
    pub fn violations(&self, acknowledged: &[i64]) -> Vec<String> {
        let mut found: Vec<String> = self.faults.iter().take(10).cloned().collect();
        let seen: BTreeSet<i64> = self.positions.iter().copied().collect();
        if seen.len() != self.positions.len() {
            found.push(format!("{} seen twice", self.positions.len() - seen.len()));
        }
        let once: BTreeSet<i64> = acknowledged.iter().copied().collect();
        if once.len() != acknowledged.len() {
            found.push(format!("{} acknowledged twice", acknowledged.len() - once.len()));
        }
        let lost = once.difference(&seen).count();
        if lost > 0 {
            found.push(format!("{lost} acknowledged events were never seen"));
        }
        found
    }
}
