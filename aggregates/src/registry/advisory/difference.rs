//! What is news in a source's records: an advisory that says the same as before appends nothing.
//!
//! Records are shown one after the other, as they stream by; what was not shown at the end is gone.

use std::collections::HashMap;

use blake3::Hash;
use weir_events::registry::advisory::Withdrawal;

use crate::registry::osv::part_id;

/// A source that loses more than this share of what it said has probably lost it by accident.
const MAX_LOSS_PERCENT: usize = 20;

/// A source with fewer advisories than this may lose any share of them.
const MIN_KNOWN: usize = 100;

/// What a record is, against what was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Sight {
    /// Nothing was known under this id: it is published.
    New,
    /// Something else was known under this id: it has changed.
    Changed,
    /// The same was known, or this id was shown before.
    Same,
}

/// Whether to believe that a source really takes back a large part of what it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Losses {
    /// Refuse to: a half-written dump looks just like that.
    Doubt,
    /// Believe it: a person has looked.
    Believe,
}

/// A source no longer has a large part of what it had, and does not say that it withdrew it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{n_gone} of {n_known} advisories are gone without being withdrawn, which looks like half a \
     feed; nothing was withdrawn"
)]
pub struct Shrunk {
    /// How many advisories were known.
    pub n_known: usize,
    /// How many of them were not shown.
    pub n_gone: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Unseen(Hash),
    Seen,
    Declared,
}

/// A comparison in progress, of one source and one ecosystem.
#[derive(Debug, Default)]
pub struct Difference {
    known: HashMap<Box<str>, Known>,
    n_known: usize,
}

impl Difference {
    /// Starts from what is known: ids and digests.
    pub fn new<I: Into<Box<str>>>(known: impl IntoIterator<Item = (I, Hash)>) -> Self {
        let known: HashMap<_, _> =
            known.into_iter().map(|(id, digest)| (id.into(), Known::Unseen(digest))).collect();
        Self { n_known: known.len(), known }
    }

    /// Shows an advisory, and says at once whether it is news. Of several under one id the first
    /// counts.
    pub fn see(&mut self, id: &str, digest: Hash) -> Sight {
        match self.known.get_mut(id) {
            None => {
                self.known.insert(id.into(), Known::Seen);
                Sight::New
            }
            Some(known) => match std::mem::replace(known, Known::Seen) {
                Known::Unseen(old) if old != digest => Sight::Changed,
                Known::Declared => {
                    *known = Known::Declared;
                    Sight::Same
                }
                Known::Unseen(_) | Known::Seen => Sight::Same,
            },
        }
    }

    /// Shows that a record is declared withdrawn. What was never known needs no withdrawal.
    pub fn see_withdrawn(&mut self, id: &str) {
        self.settle(id, Known::Declared);
    }

    /// Says that something stands there under this id that cannot be read: what was said before
    /// holds on.
    pub fn keep(&mut self, id: &str) {
        self.settle(id, Known::Seen);
    }

    /// Says what became of a record, in all of its parts, as far as they were not shown.
    fn settle(&mut self, id: &str, to: Known) {
        for part in 1.. {
            let Some(known) = self.known.get_mut(&*part_id(id, part)) else { return };
            if matches!(known, Known::Unseen(_)) {
                *known = to;
            }
        }
    }

    /// Ends the comparison: what is to be withdrawn, by id. Only for a feed that shows all it has.
    pub fn finish(self, losses: Losses) -> Result<Vec<(Box<str>, Withdrawal)>, Shrunk> {
        let mut withdrawn: Vec<_> = self
            .known
            .into_iter()
            .filter_map(|(id, known)| match known {
                Known::Unseen(_) => Some((id, Withdrawal::Gone)),
                Known::Declared => Some((id, Withdrawal::Declared)),
                Known::Seen => None,
            })
            .collect();
        let n_gone = withdrawn.iter().filter(|(_, cause)| *cause == Withdrawal::Gone).count();
        if losses == Losses::Doubt
            && self.n_known >= MIN_KNOWN
            && n_gone * 100 > self.n_known * MAX_LOSS_PERCENT
        {
            return Err(Shrunk { n_known: self.n_known, n_gone });
        }
        withdrawn.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(withdrawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Hash {
        blake3::hash(text.as_bytes())
    }

    #[test]
    fn a_record_is_kept_or_withdrawn_in_all_of_its_parts() {
        let parts = ["A", "A#2", "A#3", "B"];
        let mut kept = known(&parts);
        kept.keep("A");
        let gone = kept.finish(Losses::Believe).unwrap();
        assert_eq!(gone, [("B".into(), Withdrawal::Gone)]);
        let mut withdrawn = known(&parts);
        withdrawn.see_withdrawn("A");
        let gone = withdrawn.finish(Losses::Believe).unwrap();
        let declared = gone.iter().filter(|(_, cause)| *cause == Withdrawal::Declared);
        assert_eq!(declared.count(), 3);
        let mut shrunk = known(&parts);
        assert_eq!(shrunk.see("A", digest("A")), Sight::Same);
        assert_eq!(shrunk.finish(Losses::Believe).unwrap().len(), 3);
    }

    fn known(ids: &[&str]) -> Difference {
        Difference::new(ids.iter().map(|id| (*id, digest(id))))
    }

    #[test]
    fn what_is_new_changed_and_gone_is_told_and_the_rest_is_silent() {
        let mut difference = known(&["A", "B", "C", "D"]);
        assert_eq!(difference.see("A", digest("A")), Sight::Same);
        assert_eq!(difference.see("B", digest("other")), Sight::Changed);
        assert_eq!(difference.see("E", digest("E")), Sight::New);
        difference.see_withdrawn("C");
        difference.see_withdrawn("never known");
        let gone = difference.finish(Losses::Doubt).unwrap();
        assert_eq!(
            gone,
            [("C".into(), Withdrawal::Declared), ("D".into(), Withdrawal::Gone)]
                as [(Box<str>, _); 2]
        );
    }

    #[test]
    fn of_two_records_under_one_id_the_first_counts() {
        let mut difference = known(&["A", "B"]);
        assert_eq!(difference.see("A", digest("A")), Sight::Same);
        assert_eq!(difference.see("A", digest("other")), Sight::Same);
        difference.see_withdrawn("A");
        difference.see_withdrawn("B");
        assert_eq!(difference.see("B", digest("other")), Sight::Same);
        assert_eq!(difference.see("C", digest("C")), Sight::New);
        assert_eq!(difference.see("C", digest("other")), Sight::Same);
        let gone = difference.finish(Losses::Doubt).unwrap();
        assert_eq!(gone, [("B".into(), Withdrawal::Declared)] as [(Box<str>, _); 1]);
    }

    #[test]
    fn half_a_feed_withdraws_nothing_unless_a_person_says_so() {
        let ids: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let shown = |n: usize| {
            let mut difference = known(&ids);
            for id in &ids[..n] {
                assert_eq!(difference.see(id, digest(id)), Sight::Same);
            }
            difference
        };
        assert_eq!(shown(80).finish(Losses::Doubt).unwrap().len(), 20);
        let shrunk = shown(79).finish(Losses::Doubt).unwrap_err();
        assert_eq!(shrunk, Shrunk { n_known: 100, n_gone: 21 });
        assert_eq!(shown(0).finish(Losses::Believe).unwrap().len(), 100);
        // A small source may well take everything back.
        assert_eq!(known(&ids[..99]).finish(Losses::Doubt).unwrap().len(), 99);
    }

    #[test]
    fn what_is_there_and_cannot_be_read_is_neither_gone_nor_news() {
        let mut difference = known(&["A", "B"]);
        difference.keep("A");
        difference.keep("never known");
        let gone = difference.finish(Losses::Doubt).unwrap();
        assert_eq!(gone, [("B".into(), Withdrawal::Gone)] as [(Box<str>, _); 1]);
    }

    #[test]
    fn what_is_declared_withdrawn_is_no_loss() {
        let ids: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let mut difference = Difference::new(ids.iter().map(|id| (id.as_str(), digest(id))));
        for id in &ids {
            difference.see_withdrawn(id);
        }
        assert_eq!(difference.finish(Losses::Doubt).unwrap().len(), 100);
    }
}
