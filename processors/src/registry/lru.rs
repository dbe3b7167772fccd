//! A map with a bound on its weight, which forgets what was not used for longest.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

/// Forgets the least recently used entries when their weights exceed a bound. An entry heavier
/// than the bound is not kept at all.
#[derive(Debug)]
pub struct Lru<K, V> {
    max_weight: u64,
    weight: u64,
    clock: u64,
    entries: HashMap<K, Entry<V>>,
    by_use: BTreeMap<u64, K>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    weight: u64,
    used: u64,
}

impl<K: Hash + Eq + Clone, V> Lru<K, V> {
    /// Nothing kept yet.
    #[must_use]
    pub fn new(max_weight: u64) -> Self {
        Self { max_weight, weight: 0, clock: 0, entries: HashMap::new(), by_use: BTreeMap::new() }
    }

    /// The entry of a key, which counts as a use.
    pub fn get(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        self.clock += 1;
        if let Some(key) = self.by_use.remove(&entry.used) {
            self.by_use.insert(self.clock, key);
        }
        entry.used = self.clock;
        Some(&mut entry.value)
    }

    /// The entry of a key, without using it.
    pub fn peek(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// All entries with their weights, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V, u64)> {
        self.entries.iter().map(|(key, entry)| (key, &entry.value, entry.weight))
    }

    /// Keeps an entry, and says what had to go for it.
    pub fn put(&mut self, key: K, value: V, weight: u64) -> Vec<(K, V)> {
        let mut gone: Vec<_> =
            self.remove(&key).map(|old| (key.clone(), old)).into_iter().collect();
        if weight > self.max_weight {
            gone.push((key, value));
            return gone;
        }
        self.clock += 1;
        self.weight += weight;
        self.by_use.insert(self.clock, key.clone());
        self.entries.insert(key, Entry { value, weight, used: self.clock });
        while self.weight > self.max_weight {
            match self.by_use.first_key_value().map(|(_, key)| key.clone()) {
                Some(key) => gone.extend(self.remove(&key).map(|value| (key, value))),
                None => break,
            }
        }
        gone
    }

    /// Forgets an entry.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.by_use.remove(&entry.used);
        self.weight -= entry.weight;
        Some(entry.value)
    }

    /// The weight of all entries.
    #[must_use]
    pub const fn weight(&self) -> u64 {
        self.weight
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The keys, the least recently used first.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.by_use.values()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut lru = Lru::new(3);
        for key in ["a", "b", "c"] {
            assert!(lru.put(key, (), 1).is_empty());
        }
        lru.get(&"a");
        assert_eq!(lru.put("d", (), 2), [("b", ()), ("c", ())]);
        assert_eq!(lru.keys().collect::<Vec<_>>(), [&"a", &"d"]);
        assert_eq!((lru.weight(), lru.len(), lru.is_empty()), (3, 2, false));
    }

    #[test]
    fn what_is_too_heavy_is_not_kept_and_replaces_what_was_there() {
        let mut lru = Lru::new(3);
        lru.put("a", 1, 1);
        assert_eq!(lru.put("a", 2, 4), [("a", 1), ("a", 2)]);
        assert!(lru.is_empty() && lru.get(&"a").is_none());
    }

    proptest! {
        #[test]
        fn the_weight_is_that_of_the_entries_and_within_the_bound(
            steps in prop::collection::vec((0_u8..6, 0_u64..8), 0..60)
        ) {
            let mut lru = Lru::new(10);
            for (key, weight) in steps {
                match weight {
                    0 => drop(lru.remove(&key)),
                    1 => drop(lru.get(&key).copied()),
                    _ => drop(lru.put(key, weight, weight)),
                }
                let sum: u64 = lru.entries.values().map(|entry| entry.value).sum();
                prop_assert_eq!(sum, lru.weight());
                prop_assert!(lru.weight() <= 10);
                prop_assert_eq!(lru.keys().count(), lru.len());
            }
        }
    }
}
