//! What is news in a source's records: an advisory that says the same as before appends nothing.
//!
//! Records are shown one after the other, as they stream by. What was not shown at the end is missing:
//! feeds lose records by accident, and a warning that is lost lets pass what it warned of. So it is gone
//! only when the next edition of the feed does not show it either. What a source declares withdrawn is
//! withdrawn at once, and so is what a record that is there says no more.

use std::collections::{HashMap, HashSet};

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

/// What the last edition of a feed did not show, although it was known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing {
    edition: Box<str>,
    ids: HashSet<Box<str>>,
}

impl Missing {
    /// How many advisories.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether nothing was missing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether an advisory was missing in another edition than this.
    fn in_another_than(&self, edition: &str, id: &str) -> bool {
        *self.edition != *edition && self.ids.contains(id)
    }
}

/// What a comparison came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// What is to be withdrawn, by id.
    pub withdrawn: Vec<(Box<str>, Withdrawal)>,
    /// What is missing now, for the next comparison.
    pub missing: Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Unseen(Hash),
    /// Its record was shown without it.
    Dropped(Hash),
    Seen,
    Declared,
}

impl Known {
    /// Whether nothing says that it holds on, or that it is withdrawn.
    const fn is_open(self) -> bool {
        matches!(self, Self::Unseen(_) | Self::Dropped(_))
    }

    /// The same; seen, where nothing was shown.
    const fn unless_unseen(self) -> Self {
        if matches!(self, Self::Unseen(_)) { Self::Seen } else { self }
    }
}

/// A comparison in progress, of one source and one ecosystem.
#[derive(Debug, Default)]
pub struct Difference {
    known: HashMap<Box<str>, Known>,
    n_known: usize,
    missing: Missing,
}

impl Difference {
    /// Starts from what is known: ids and digests.
    pub fn new<I: Into<Box<str>>>(known: impl IntoIterator<Item = (I, Hash)>) -> Self {
        let known: HashMap<_, _> =
            known.into_iter().map(|(id, digest)| (id.into(), Known::Unseen(digest))).collect();
        Self { n_known: known.len(), known, missing: Missing::default() }
    }

    /// The same, after a comparison in which this was missing.
    #[must_use]
    pub fn after(self, missing: Missing) -> Self {
        Self { missing, ..self }
    }

    /// How many advisories were known.
    #[must_use]
    pub const fn n_known(&self) -> usize {
        self.n_known
    }

    /// Whether some that were known have not been shown, nor the records they are of.
    #[must_use]
    pub fn misses_some(&self) -> bool {
        self.known.values().any(|known| matches!(known, Known::Unseen(_)))
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
                Known::Unseen(old) | Known::Dropped(old) if old != digest => Sight::Changed,
                Known::Declared => {
                    *known = Known::Declared;
                    Sight::Same
                }
                Known::Unseen(_) | Known::Dropped(_) | Known::Seen => Sight::Same,
            },
        }
    }

    /// Says that a record was shown whole: of its parts those that were not seen are not in it any
    /// more. Should another record of this id show them, they are.
    pub fn shown(&mut self, id: &str) {
        self.settle(id, |known| match known {
            Known::Unseen(digest) => Known::Dropped(digest),
            Known::Dropped(_) | Known::Seen | Known::Declared => known,
        });
    }

    /// Shows that a record is declared withdrawn. What was never known needs no withdrawal.
    pub fn see_withdrawn(&mut self, id: &str) {
        self.settle(id, |known| if known.is_open() { Known::Declared } else { known });
    }

    /// Says that something stands there under this id that cannot be read: what was said before
    /// holds on.
    pub fn keep(&mut self, id: &str) {
        self.settle(id, |known| if known.is_open() { Known::Seen } else { known });
    }

    /// Says that the source has a record of this id, though it may not have shown it: if it did not,
    /// what was said before holds on.
    pub fn stands(&mut self, id: &str) {
        self.settle(id, Known::unless_unseen);
    }

    /// Says that nobody knows whether what was not shown is gone: all of that holds on.
    pub fn keep_unseen(&mut self) {
        for known in self.known.values_mut() {
            *known = known.unless_unseen();
        }
    }

    /// Says what became of a record, in all of its parts.
    fn settle(&mut self, id: &str, become_of: impl Fn(Known) -> Known) {
        for part in 1.. {
            let Some(known) = self.known.get_mut(&*part_id(id, part)) else { return };
            *known = become_of(*known);
        }
    }

    /// Ends the comparison with an edition of the feed, by any name that no other edition has. Only for
    /// a feed that shows all it has.
    pub fn finish(self, losses: Losses, edition: &str) -> Result<Ended, Shrunk> {
        let Self { known, n_known, missing: before } = self;
        let n_unseen = known.values().filter(|known| known.is_open()).count();
        if losses == Losses::Doubt
            && n_known >= MIN_KNOWN
            && n_unseen * 100 > n_known * MAX_LOSS_PERCENT
        {
            return Err(Shrunk { n_known, n_gone: n_unseen });
        }
        let mut withdrawn = Vec::new();
        let mut missing = Missing { edition: edition.into(), ids: HashSet::new() };
        for (id, known) in known {
            match known {
                Known::Seen => {}
                Known::Declared => withdrawn.push((id, Withdrawal::Declared)),
                Known::Dropped(_) => withdrawn.push((id, Withdrawal::Gone)),
                Known::Unseen(_)
                    if losses == Losses::Believe || before.in_another_than(edition, &id) =>
                {
                    withdrawn.push((id, Withdrawal::Gone));
                }
                Known::Unseen(_) => drop(missing.ids.insert(id)),
            }
        }
        withdrawn.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(Ended { withdrawn, missing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Hash {
        blake3::hash(text.as_bytes())
    }

    /// What is withdrawn by an edition that is the second to lack what it lacks.
    fn gone(difference: Difference) -> Vec<(Box<str>, Withdrawal)> {
        let ids = difference.known.keys().cloned().collect();
        let before = Missing { edition: "before".into(), ids };
        difference.after(before).finish(Losses::Doubt, "now").unwrap().withdrawn
    }

    #[test]
    fn a_record_is_kept_or_withdrawn_in_all_of_its_parts() {
        let parts = ["A", "A#2", "A#3", "B"];
        let mut kept = known(&parts);
        kept.keep("A");
        assert_eq!(gone(kept), [("B".into(), Withdrawal::Gone)]);
        let mut withdrawn = known(&parts);
        withdrawn.see_withdrawn("A");
        let withdrawn = gone(withdrawn);
        let declared = withdrawn.iter().filter(|(_, cause)| *cause == Withdrawal::Declared);
        assert_eq!(declared.count(), 3);
        let mut shrunk = known(&parts);
        assert_eq!(shrunk.see("A", digest("A")), Sight::Same);
        assert_eq!(gone(shrunk).len(), 3);
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
        assert_eq!(
            gone(difference),
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
        assert_eq!(gone(difference), [("B".into(), Withdrawal::Declared)] as [(Box<str>, _); 1]);
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
        assert_eq!(gone(shown(80)).len(), 20);
        let shrunk = shown(79).finish(Losses::Doubt, "1").unwrap_err();
        assert_eq!(shrunk, Shrunk { n_known: 100, n_gone: 21 });
        let believed = shown(0).finish(Losses::Believe, "1").unwrap();
        assert_eq!((believed.withdrawn.len(), believed.missing.len()), (100, 0));
        // A small source may well take everything back.
        assert_eq!(gone(known(&ids[..99])).len(), 99);
    }

    #[test]
    fn what_one_edition_lacks_stands_until_the_next_one_lacks_it_too() {
        let ids = ["A", "B", "C"];
        let edition = |name: &str, shown: &[&str], missing: &Missing| {
            let mut difference = known(&ids).after(missing.clone());
            for id in shown {
                assert_eq!(difference.see(id, digest(id)), Sight::Same);
            }
            difference.finish(Losses::Doubt, name).unwrap()
        };
        let first = edition("1", &["A"], &Missing::default());
        assert_eq!((first.withdrawn.len(), first.missing.len()), (0, 2));
        // To read the same again says nothing more.
        let again = edition("1", &["A"], &first.missing);
        assert_eq!(again, first);
        // One is back, and another is missing now.
        let second = edition("2", &["B"], &again.missing);
        let of_c: [(Box<str>, _); 1] = [("C".into(), Withdrawal::Gone)];
        assert_eq!((&*second.withdrawn, second.missing.len()), (&of_c[..], 1));
        // Twice, but not one after the other.
        let third = edition("3", &ids, &second.missing);
        assert!(third.withdrawn.is_empty() && third.missing.is_empty());
        assert!(edition("4", &["B", "C"], &third.missing).withdrawn.is_empty());
    }

    #[test]
    fn what_is_there_and_cannot_be_read_is_neither_gone_nor_news() {
        let mut difference = known(&["A", "B"]);
        difference.keep("A");
        difference.keep("never known");
        assert_eq!(gone(difference), [("B".into(), Withdrawal::Gone)] as [(Box<str>, _); 1]);
    }

    #[test]
    fn what_a_record_says_no_more_is_withdrawn_at_once_wherever_the_record_is_listed() {
        let mut difference = known(&["A", "A#2", "A#3", "B", "C", "D"]);
        assert_eq!(difference.see("A", digest("shorter")), Sight::Changed);
        difference.shown("A");
        difference.shown("B");
        difference.shown("never known");
        assert!(difference.misses_some(), "C and D");
        for id in ["A", "B", "C"] {
            difference.stands(id);
        }
        let ended = difference.finish(Losses::Doubt, "1").unwrap();
        let gone: Vec<_> = ended.withdrawn.iter().map(|(id, _)| &**id).collect();
        assert_eq!((&gone[..], ended.missing.len()), (&["A#2", "A#3", "B"][..], 1));
    }

    #[test]
    fn what_a_record_says_no_more_holds_on_where_another_of_its_id_says_it_or_cannot_be_read() {
        let mut difference = known(&["A", "A#2", "B", "C"]);
        for id in ["A", "B", "C"] {
            difference.shown(id);
        }
        assert!(!difference.misses_some());
        assert_eq!(difference.see("A", digest("A")), Sight::Same);
        assert_eq!(difference.see("A#2", digest("other")), Sight::Changed);
        difference.keep("B");
        difference.see_withdrawn("C");
        let ended = difference.finish(Losses::Doubt, "1").unwrap();
        let declared: [(Box<str>, _); 1] = [("C".into(), Withdrawal::Declared)];
        assert_eq!((&ended.withdrawn[..], ended.missing.len()), (&declared[..], 0));
    }

    #[test]
    fn half_a_feed_of_records_that_say_nothing_any_more_is_doubted_too() {
        let ids: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let mut difference = Difference::new(ids.iter().map(|id| (id.as_str(), digest(id))));
        for id in &ids[..21] {
            difference.shown(id);
        }
        difference.keep_unseen();
        assert!(!difference.misses_some());
        let shrunk = difference.finish(Losses::Doubt, "1").unwrap_err();
        assert_eq!(shrunk, Shrunk { n_known: 100, n_gone: 21 });
    }

    #[test]
    fn where_nobody_knows_what_is_gone_nothing_is_but_what_is_declared_or_corrected() {
        let mut difference = known(&["A", "B", "C"]);
        difference.see_withdrawn("A");
        difference.shown("B");
        difference.keep_unseen();
        let ended = difference.finish(Losses::Doubt, "1").unwrap();
        let gone: [(Box<str>, _); 2] =
            [("A".into(), Withdrawal::Declared), ("B".into(), Withdrawal::Gone)];
        assert_eq!((&ended.withdrawn[..], ended.missing.len()), (&gone[..], 0));
    }

    #[test]
    fn what_is_declared_withdrawn_is_no_loss() {
        let ids: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let mut difference = Difference::new(ids.iter().map(|id| (id.as_str(), digest(id))));
        for id in &ids {
            difference.see_withdrawn(id);
        }
        assert_eq!(difference.finish(Losses::Doubt, "1").unwrap().withdrawn.len(), 100);
    }
}
