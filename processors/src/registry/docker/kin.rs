//! What belongs to what: which tags a manifest was seen under, which index names it, which manifests
//! name a blob. So that what is said of a tag holds for everything behind it.
//!
//! A manifest passes when nothing is said against its own digest, and either some tag or index that
//! it was seen under passes, or it was seen under none. It is remembered for as long as the process
//! lives and there is room; what was forgotten is as good as never seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    manifest::Manifest,
    name::{Digest, Name, Reference, Tag},
};
use crate::registry::lru::Lru;

/// How many names and digests are remembered, of manifests and of blobs.
const MAX_REMEMBERED: u64 = 400_000;

/// Under how many tags, indexes or manifests one thing is remembered to have been seen.
const MAX_WAYS: usize = 256;

/// How deep indexes may stand in indexes.
pub const MAX_DEPTH: usize = 4;

/// How many names are asked about for one thing. What leads past more of them does not pass.
const MAX_ASKED: usize = 4_096;

type Key = (Name, Digest);

/// What was seen.
#[derive(Debug)]
pub struct Kin(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    manifests: Lru<Key, Arc<Seen>>,
    blobs: Lru<Key, BTreeMap<Digest, u64>>,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    tags: BTreeSet<Tag>,
    indexes: BTreeSet<Digest>,
}

/// How a manifest stands with the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It passes, by this name.
    Passes(Reference),
    /// It passes as far as is known: it, or an index that names it, was seen under no tag.
    Nameless(Reference),
    /// It does not pass, because this name does not.
    Refused(Reference),
}

impl Default for Kin {
    fn default() -> Self {
        let (manifests, blobs) = (Lru::new(MAX_REMEMBERED), Lru::new(MAX_REMEMBERED));
        Self(Mutex::new(Inner { manifests, blobs }))
    }
}

impl Kin {
    fn all(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a manifest, the tag it was seen under, and what it names.
    pub fn learn(&self, name: &Name, digest: Digest, tag: Option<&Tag>, manifest: &Manifest) {
        let mut all = self.all();
        all.see(name, digest, |seen| {
            if seen.tags.len() < MAX_WAYS {
                seen.tags.extend(tag.cloned());
            }
        });
        for child in &manifest.manifests {
            all.see(name, *child, |seen| {
                if seen.indexes.len() < MAX_WAYS {
                    seen.indexes.insert(digest);
                }
            });
        }
        for (blob, size) in &manifest.blobs {
            let key = (name.clone(), *blob);
            let mut named_by = all.blobs.remove(&key).unwrap_or_default();
            if named_by.len() < MAX_WAYS {
                named_by.insert(digest, *size);
            }
            let weight = 1 + named_by.len() as u64;
            all.blobs.put(key, named_by, weight);
        }
    }

    /// How a manifest stands; `passes` says whether a name does.
    pub fn standing(
        &self,
        name: &Name,
        digest: Digest,
        passes: &impl Fn(&Reference) -> bool,
    ) -> Standing {
        self.best(name, &[digest], passes)
            .map_or(Standing::Refused(Reference::Digest(digest)), |(_, standing)| standing)
    }

    /// Which of these manifests stands best, and how; `None` where there are none. Each name is asked
    /// about once, by however many ways it is reached, and nobody waits for that.
    pub fn best(
        &self,
        name: &Name,
        manifests: &[Digest],
        passes: &impl Fn(&Reference) -> bool,
    ) -> Option<(Digest, Standing)> {
        let (mut nameless, mut refused, mut n_asked) = (None, None, 0);
        let mut reached: BTreeSet<Digest> = manifests.iter().copied().collect();
        // What is asked about next, and for the sake of which manifest.
        let mut layer: Vec<_> = manifests.iter().map(|manifest| (*manifest, *manifest)).collect();
        for _ in 0..MAX_DEPTH {
            let mut above = Vec::new();
            for (digest, of) in layer {
                let own = Reference::Digest(digest);
                n_asked += 1;
                if n_asked > MAX_ASKED {
                    return Some((of, Standing::Refused(own)));
                }
                if !passes(&own) {
                    refused.get_or_insert((of, own));
                    continue;
                }
                let seen = self.seen(name, digest);
                for tag in &seen.tags {
                    let tag = Reference::Tag(tag.clone());
                    n_asked += 1;
                    if passes(&tag) {
                        return Some((of, Standing::Passes(tag)));
                    }
                    refused.get_or_insert((of, tag));
                }
                if seen.tags.is_empty() && seen.indexes.is_empty() {
                    nameless.get_or_insert((of, own));
                }
                let indexes = seen.indexes.iter().filter(|index| reached.insert(**index));
                above.extend(indexes.map(|index| (*index, of)));
            }
            layer = above;
        }
        if let Some((of, by)) = nameless {
            return Some((of, Standing::Nameless(by)));
        }
        // What stands too deep, or in a circle, is reached by nothing.
        let deep = || layer.first().map(|(index, of)| (*of, Reference::Digest(*index)));
        let round = || manifests.first().map(|first| (*first, Reference::Digest(*first)));
        let (of, by) = refused.or_else(deep).or_else(round)?;
        Some((of, Standing::Refused(by)))
    }

    /// The indexes that a manifest stands in, and those that they stand in: the outermost first.
    pub fn within(&self, name: &Name, digest: Digest) -> Vec<Digest> {
        let mut images = self.images(name, &[digest], MAX_WAYS);
        images.pop();
        images
    }

    /// These manifests, each behind the indexes that it stands in, the outermost of them first: so many at
    /// most, and none of them twice.
    pub fn images(&self, name: &Name, manifests: &[Digest], max: usize) -> Vec<Digest> {
        let (mut images, mut found) = (Vec::new(), BTreeSet::new());
        for manifest in manifests {
            if found.len() >= max {
                break;
            }
            if !found.insert(*manifest) {
                continue;
            }
            let (mut layers, mut layer) = (Vec::new(), vec![*manifest]);
            for _ in 0..MAX_DEPTH {
                let mut above = Vec::new();
                for digest in &layer {
                    for index in &self.seen(name, *digest).indexes {
                        if found.len() < max && found.insert(*index) {
                            above.push(*index);
                        }
                    }
                }
                layers.push(std::mem::replace(&mut layer, above));
            }
            layers.push(layer);
            images.extend(layers.into_iter().rev().flatten());
        }
        images
    }

    /// The manifests that name a blob, with the size each says it has.
    pub fn named_by(&self, name: &Name, blob: Digest) -> BTreeMap<Digest, u64> {
        self.all().blobs.get(&(name.clone(), blob)).cloned().unwrap_or_default()
    }

    /// What a manifest was seen under.
    fn seen(&self, name: &Name, digest: Digest) -> Arc<Seen> {
        let key = (name.clone(), digest);
        self.all().manifests.get(&key).cloned().unwrap_or_default()
    }
}

impl Inner {
    fn see(&mut self, name: &Name, digest: Digest, add: impl FnOnce(&mut Seen)) {
        let key = (name.clone(), digest);
        let mut seen = self.manifests.remove(&key).unwrap_or_default();
        add(Arc::make_mut(&mut seen));
        let weight = 1 + (seen.tags.len() + seen.indexes.len()) as u64;
        self.manifests.put(key, seen, weight);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn of(manifests: &[Digest], blobs: &[Digest]) -> Manifest {
        Manifest {
            media_type: "",
            manifests: manifests.to_vec(),
            indexes: Vec::new(),
            blobs: blobs.iter().map(|blob| (*blob, 1)).collect(),
        }
    }

    #[test]
    fn what_is_said_of_a_tag_holds_for_everything_behind_it() {
        let [index, child, blob, other] = [b"i", b"c", b"b", b"o"].map(|text| Digest::of(text));
        let name: Name = "a/b".parse().unwrap();
        let [bad, good] = ["bad", "good"].map(|tag| tag.parse::<Tag>().unwrap());
        let by = |tag: &Tag| Reference::Tag(tag.clone());
        let but = |refused: Reference| move |asked: &Reference| *asked != refused;
        let kin = Kin::default();
        let nameless = Standing::Nameless(Reference::Digest(child));
        assert_eq!(kin.standing(&name, child, &|_| true), nameless);
        kin.learn(&name, index, Some(&bad), &of(&[child], &[]));
        kin.learn(&name, child, None, &of(&[], &[blob]));
        assert_eq!(kin.standing(&name, child, &but(by(&bad))), Standing::Refused(by(&bad)));
        assert_eq!(kin.standing(&name, child, &|_| true), Standing::Passes(by(&bad)));
        assert_eq!(kin.named_by(&name, blob).into_keys().collect::<Vec<_>>(), [child]);
        // Forbidden by digest: the index, and so its child; or the child alone.
        let refused = Reference::Digest(index);
        assert_eq!(kin.standing(&name, child, &but(refused.clone())), Standing::Refused(refused));
        let refused = Reference::Digest(child);
        assert_eq!(kin.standing(&name, index, &but(refused.clone())), Standing::Passes(by(&bad)));
        assert_eq!(kin.standing(&name, child, &but(refused.clone())), Standing::Refused(refused));
        assert_eq!(kin.within(&name, child), [index]);
        assert!(kin.within(&name, index).is_empty() && kin.within(&name, other).is_empty());
        // Another way to it that is open.
        kin.learn(&name, other, Some(&good), &of(&[child], &[]));
        assert_eq!(kin.standing(&name, child, &but(by(&bad))), Standing::Passes(by(&good)));
        // Of another repository nothing was seen.
        let elsewhere: Name = "a/c".parse().unwrap();
        assert_eq!(kin.standing(&elsewhere, child, &but(by(&bad))), nameless);
    }

    #[test]
    fn indexes_that_name_each_other_do_not_go_on_forever() {
        let [a, b] = [b"a", b"b"].map(|text| Digest::of(text));
        let (kin, name) = (Kin::default(), "a/b".parse().unwrap());
        kin.learn(&name, a, None, &of(&[b], &[]));
        kin.learn(&name, b, None, &of(&[a], &[]));
        assert!(matches!(kin.standing(&name, a, &|_| true), Standing::Refused(_)));
        assert_eq!(kin.within(&name, a), [b]);
    }

    #[test]
    fn of_several_manifests_the_best_counts_and_the_outermost_indexes_are_told_first() {
        let [outer, inner, child, alone] = [b"o", b"i", b"c", b"a"].map(|text| Digest::of(text));
        let (kin, name) = (Kin::default(), "a/b".parse::<Name>().unwrap());
        let bad: Tag = "bad".parse().unwrap();
        kin.learn(&name, outer, Some(&bad), &of(&[inner], &[]));
        kin.learn(&name, inner, None, &of(&[child], &[]));
        let by = Reference::Tag(bad);
        let refuses = |asked: &Reference| *asked != by;
        assert_eq!(kin.best(&name, &[], &refuses), None);
        let refused = Some((child, Standing::Refused(by.clone())));
        assert_eq!(kin.best(&name, &[child], &refuses), refused);
        let nameless = Some((alone, Standing::Nameless(Reference::Digest(alone))));
        assert_eq!(kin.best(&name, &[child, alone], &refuses), nameless);
        let passes = Some((child, Standing::Passes(by.clone())));
        assert_eq!(kin.best(&name, &[alone, child], &|_| true), passes);
        assert_eq!(kin.images(&name, &[child, inner, alone], 9), [outer, inner, child, alone]);
        assert_eq!(kin.images(&name, &[alone, child], 2), [alone, child]);
    }

    /// Once, each way that leads to a manifest was gone by itself: there are n³ of them here.
    #[test]
    fn each_name_is_asked_about_once_and_not_too_many_of_them() {
        let layers: Vec<Vec<Digest>> = (0..MAX_DEPTH)
            .map(|layer| (0..64).map(|n| Digest::of(format!("{layer} {n}").as_bytes())).collect())
            .collect();
        let (kin, name) = (Kin::default(), "a/b".parse::<Name>().unwrap());
        let bad: Tag = "bad".parse().unwrap();
        for pair in layers.windows(2) {
            for index in &pair[1] {
                kin.learn(&name, *index, None, &of(&pair[0], &[]));
            }
        }
        for index in &layers[MAX_DEPTH - 1] {
            kin.learn(&name, *index, Some(&bad), &of(&[], &[]));
        }
        let n_asked = Cell::new(0);
        let refuses = |asked: &Reference| {
            n_asked.set(n_asked.get() + 1);
            matches!(asked, Reference::Digest(_))
        };
        let child = layers[0][0];
        let by = Standing::Refused(Reference::Tag(bad));
        assert_eq!(kin.standing(&name, child, &refuses), by);
        assert_eq!(n_asked.get(), 1 + 64 + 64 + 2 * 64);
        assert_eq!(kin.images(&name, &layers[0], 100).len(), 100);
        // Under more tags than are asked about: it does not pass, though nothing is against the last one.
        let tags: Vec<Tag> = (0..200).map(|n| format!("t{n}").parse().unwrap()).collect();
        for index in &layers[1] {
            for tag in &tags {
                kin.learn(&name, *index, Some(tag), &of(&[], &[]));
            }
        }
        n_asked.set(0);
        assert!(matches!(kin.standing(&name, child, &refuses), Standing::Refused(_)));
        assert!(n_asked.get() <= MAX_ASKED + MAX_WAYS, "{}", n_asked.get());
    }
}
