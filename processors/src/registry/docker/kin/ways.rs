//! The ways by which one thing is reached: a bounded number. Those by which something passed stay before
//! those that were only looked at, or what is blocked would leave no room for what is not.

use std::collections::BTreeMap;

/// How many ways to one thing are remembered.
pub(super) const MAX_WAYS: usize = 256;

/// How a way was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Something passed by it.
    Passing,
    /// It was looked at, behind what is blocked.
    Behind,
}

/// What leads to one thing, and what is known of each way.
#[derive(Debug, Clone)]
pub(super) struct Ways<K, V> {
    ways: BTreeMap<K, Way<V>>,
    /// How often something passed by any of them.
    n_passed: u64,
}

#[derive(Debug, Clone)]
struct Way<V> {
    value: V,
    /// When something passed by it last, as counted here; 0 where nothing did.
    passed: u64,
}

impl<K, V> Default for Ways<K, V> {
    fn default() -> Self {
        Self { ways: BTreeMap::new(), n_passed: 0 }
    }
}

impl<K: Ord + Clone, V> Ways<K, V> {
    /// Remembers a way. Where there is no more room, one that passes takes the place of one that was only
    /// looked at, or of the one that passed first: whoever is let through has what belongs to it.
    pub(super) fn add(&mut self, key: K, value: V, found: Found) {
        let passed = match found {
            Found::Passing => {
                self.n_passed += 1;
                self.n_passed
            }
            Found::Behind => 0,
        };
        if let Some(known) = self.ways.get_mut(&key) {
            known.passed = known.passed.max(passed);
            known.value = value;
            return;
        }
        if self.ways.len() >= MAX_WAYS {
            if found == Found::Behind {
                return;
            }
            let least = self.ways.iter().min_by_key(|(_, way)| way.passed);
            if let Some(least) = least.map(|(key, _)| key.clone()) {
                self.ways.remove(&least);
            }
        }
        self.ways.insert(key, Way { value, passed });
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.ways.keys()
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (&K, &V)> {
        self.ways.iter().map(|(key, way)| (key, &way.value))
    }

    pub(super) fn len(&self) -> usize {
        self.ways.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_takes_the_place_of_what_was_looked_at_and_then_of_what_passed_first() {
        let mut ways = Ways::default();
        let has = |ways: &Ways<usize, ()>, key: usize| ways.keys().any(|known| *known == key);
        for key in 0..=MAX_WAYS {
            ways.add(key, (), Found::Behind);
        }
        assert!(!has(&ways, MAX_WAYS), "there was no room");
        // Something passed by it since.
        ways.add(0, (), Found::Passing);
        ways.add(0, (), Found::Behind);
        for key in 1_000..1_000 + MAX_WAYS - 1 {
            ways.add(key, (), Found::Passing);
            assert_eq!(ways.len(), MAX_WAYS);
        }
        assert!(has(&ways, 0) && !(1..MAX_WAYS).any(|key| has(&ways, key)));
        ways.add(1, (), Found::Behind);
        assert!(!has(&ways, 1));
        ways.add(2, (), Found::Passing);
        assert!(has(&ways, 2) && !has(&ways, 0) && has(&ways, 1_000));
    }

    #[test]
    fn what_is_known_of_a_way_is_what_was_told_last() {
        let mut ways = Ways::default();
        assert!(ways.is_empty());
        ways.add("a", 1, Found::Passing);
        ways.add("a", 2, Found::Behind);
        assert_eq!(ways.pairs().collect::<Vec<_>>(), [(&"a", &2)]);
    }
}
