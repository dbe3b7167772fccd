//! The versions that anybody mentions for one package, in ascending order, as text.
//!
//! A place among them is a small number, so that hundreds of advisories are compared with a
//! version by comparing numbers. The versions are read again when a place is looked for: ten of
//! them for a thousand, which costs less than keeping all of them read.

use std::cmp::Ordering;

use crate::registry::version::Version;

/// A place in the order of a table: even numbers lie between its versions, odd ones on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u32);

impl Rank {
    /// Before every version.
    pub(super) const START: Self = Self(0);

    fn on(index: usize) -> Self {
        Self(u32::try_from(2 * index + 1).unwrap_or(u32::MAX))
    }

    fn before(index: usize) -> Self {
        Self(u32::try_from(2 * index).unwrap_or(u32::MAX))
    }

    /// Its number, from 0.
    pub(super) const fn place(self) -> usize {
        self.0 as usize
    }

    /// Which version it lies on, if on one.
    pub(super) const fn index(self) -> Option<usize> {
        if self.0 % 2 == 1 { Some(self.0 as usize / 2) } else { None }
    }

    /// The same place in a table whose versions have moved.
    pub(super) fn moved(self, moved: &[usize]) -> Self {
        self.index().and_then(|index| moved.get(index)).map_or(self, |to| Self::on(*to))
    }
}

/// Versions in ascending order, no two of them equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Table {
    texts: Box<str>,
    ends: Box<[u32]>,
}

impl Table {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let (mut all, mut ends) = (String::new(), Vec::new());
        for text in texts {
            all.push_str(text);
            ends.push(u32::try_from(all.len()).unwrap_or(u32::MAX));
        }
        Self { texts: all.into(), ends: ends.into() }
    }

    pub(super) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many places there are: the versions, and the gaps before, between and behind them.
    pub(super) const fn n_places(&self) -> usize {
        2 * self.len() + 1
    }

    fn get(&self, index: usize) -> &str {
        let end = |index: usize| self.ends.get(index).map_or(0, |end| *end as usize);
        let start = index.checked_sub(1).map_or(0, end);
        self.texts.get(start..end(index)).unwrap_or_default()
    }

    /// The version at a place; nothing between them.
    pub(super) fn text(&self, rank: Rank) -> &str {
        rank.index().map_or("", |index| self.get(index))
    }

    /// Where a version of this ecosystem lies.
    pub(super) fn rank(&self, version: &Version) -> Rank {
        let ecosystem = version.ecosystem();
        self.search(|index| Version::parse(ecosystem, self.get(index)).cmp(version))
    }

    /// Where something lies, by how the versions compare with it.
    fn search(&self, mut compare: impl FnMut(usize) -> Ordering) -> Rank {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match compare(middle) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Rank::on(middle),
                Ordering::Greater => high = middle,
            }
        }
        Rank::before(low)
    }

    /// The table with more versions in it, where its own have moved, and where those lie now. Of
    /// equal versions the spelling that came first stays.
    pub(super) fn with(&self, more: &[Version]) -> (Self, Vec<usize>, Vec<Rank>) {
        // Of a large table only what the searches pass is read, and each version once.
        let mut read: Vec<Option<Version>> = vec![None; self.len()];
        let mut find = |version: &Version| {
            self.search(|index| {
                let parse = || Version::parse(version.ecosystem(), self.get(index));
                let own = read.get_mut(index).map(|own| &*own.get_or_insert_with(parse));
                own.map_or(Ordering::Greater, |own| own.cmp(version))
            })
        };
        let found: Vec<Rank> = more.iter().map(&mut find).collect();
        let all = found.iter().zip(more).enumerate().map(|(which, (at, new))| (*at, new, which));
        let mut new: Vec<_> = all.filter(|(at, ..)| at.index().is_none()).collect();
        new.sort_by(|a, b| a.1.cmp(b.1));
        let mut new = new.chunk_by(|a, b| a.1 == b.1).peekable();
        let mut texts = Vec::with_capacity(self.len() + more.len());
        let mut moved = Vec::with_capacity(self.len());
        let mut ranks = found.clone();
        for index in 0..=self.len() {
            let here = Rank::before(index);
            while let Some(equal) = new.next_if(|equal| equal.iter().any(|(at, ..)| *at == here)) {
                for (_, _, which) in equal {
                    ranks
                        .get_mut(*which)
                        .into_iter()
                        .for_each(|rank| *rank = Rank::on(texts.len()));
                }
                texts.extend(equal.first().map(|(_, version, _)| version.as_str()));
            }
            if index < self.len() {
                moved.push(texts.len());
                texts.push(self.get(index));
            }
        }
        for (rank, old) in ranks.iter_mut().zip(found).filter(|(_, old)| old.index().is_some()) {
            *rank = old.moved(&moved);
        }
        (Self::of(texts.into_iter()), moved, ranks)
    }

    /// The table with only the versions of these places in it, and where they have moved.
    pub(super) fn only(&self, places: impl Iterator<Item = Rank>) -> (Self, Vec<usize>) {
        let mut used = vec![false; self.len()];
        for index in places.filter_map(Rank::index) {
            if let Some(used) = used.get_mut(index) {
                *used = true;
            }
        }
        let mut n_used = 0;
        let moved = used.iter().map(|used| {
            n_used += usize::from(*used);
            n_used.saturating_sub(1)
        });
        let moved = moved.collect();
        let kept = used.iter().enumerate().filter(|(_, used)| **used);
        (Self::of(kept.map(|(index, _)| self.get(index))), moved)
    }
}

#[cfg(test)]
mod tests {
    use weir_events::registry::Ecosystem;

    use super::*;

    fn v(text: &str) -> Version {
        Version::parse(Ecosystem::Pypi, text)
    }

    fn texts(table: &Table) -> Vec<&str> {
        (0..table.len()).map(|index| table.get(index)).collect()
    }

    #[test]
    fn places_follow_the_order_of_versions_and_move_with_them() {
        let (table, moved, ranks) = Table::default().with(&[v("2.0"), v("1.0"), v("2"), v("1.10")]);
        assert_eq!((texts(&table), moved), (vec!["1.0", "1.10", "2.0"], vec![]));
        assert_eq!(ranks, [5, 1, 5, 3].map(Rank));
        for (text, rank) in
            [("0.1", 0), ("1", 1), ("1.9", 2), ("1.10.0", 3), ("1.11", 4), ("2.0.0", 5), ("3", 6)]
        {
            assert_eq!(table.rank(&v(text)), Rank(rank), "{text}");
        }
        let (more, moved, ranks) = table.with(&[v("0.5"), v("1.0.0"), v("1.9")]);
        assert_eq!(texts(&more), ["0.5", "1.0", "1.9", "1.10", "2.0"]);
        assert_eq!(moved, [1, 3, 4]);
        assert_eq!(ranks, [1, 3, 5].map(Rank));
        assert_eq!(more.text(table.rank(&v("1.10")).moved(&moved)), "1.10");
        assert_eq!((more.text(more.rank(&v("1.5"))), Rank::START.moved(&moved)), ("", Rank(0)));

        let (less, moved) = more.only([more.rank(&v("1.9")), more.rank(&v("2"))].into_iter());
        assert_eq!(texts(&less), ["1.9", "2.0"]);
        assert_eq!(less.text(more.rank(&v("2")).moved(&moved)), "2.0");
    }
}
