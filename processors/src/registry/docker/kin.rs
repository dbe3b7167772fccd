//! What belongs to what: which tags a manifest was seen under, which index names it, which manifests
//! name a blob. So that what is said of a tag holds for everything behind it.
//!
//! A manifest passes when nothing is said against its own digest, and either some tag or index that
//! it was seen under passes, or it was seen under none. It is remembered for as long as the process
//! lives and there is room; what was forgotten is as good as never seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
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
const MAX_DEPTH: usize = 4;

type Key = (Name, Digest);

/// What was seen.
#[derive(Debug)]
pub struct Kin(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    manifests: Lru<Key, Seen>,
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
            let mut named_by = all.blobs.get(&key).cloned().unwrap_or_default();
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
        self.all().standing(name, digest, passes, MAX_DEPTH)
    }

    /// The indexes that a manifest stands in, and those that they stand in: the outermost first.
    pub fn within(&self, name: &Name, digest: Digest) -> Vec<Digest> {
        let mut all = self.all();
        let (mut found, mut layer) = (Vec::new(), BTreeSet::from([digest]));
        for _ in 0..MAX_DEPTH {
            let mut above = BTreeSet::new();
            for digest in layer {
                above.extend(
                    all.manifests
                        .get(&(name.clone(), digest))
                        .into_iter()
                        .flat_map(|seen| seen.indexes.iter().copied()),
                );
            }
            layer = above.into_iter().filter(|it| *it != digest && !found.contains(it)).collect();
            found.extend(layer.iter().copied().take(MAX_WAYS - found.len().min(MAX_WAYS)));
        }
        found.reverse();
        found
    }

    /// The manifests that name a blob, with the size each says it has.
    pub fn named_by(&self, name: &Name, blob: Digest) -> BTreeMap<Digest, u64> {
        self.all().blobs.get(&(name.clone(), blob)).cloned().unwrap_or_default()
    }
}

impl Inner {
    fn see(&mut self, name: &Name, digest: Digest, add: impl FnOnce(&mut Seen)) {
        let key = (name.clone(), digest);
        let mut seen = self.manifests.get(&key).cloned().unwrap_or_default();
        add(&mut seen);
        let weight = 1 + (seen.tags.len() + seen.indexes.len()) as u64;
        self.manifests.put(key, seen, weight);
    }

    fn standing(
        &mut self,
        name: &Name,
        digest: Digest,
        passes: &impl Fn(&Reference) -> bool,
        depth: usize,
    ) -> Standing {
        let own = Reference::Digest(digest);
        if !passes(&own) {
            return Standing::Refused(own);
        }
        let Some(depth) = depth.checked_sub(1) else { return Standing::Refused(own) };
        let seen = self.manifests.get(&(name.clone(), digest)).cloned().unwrap_or_default();
        let (mut refused, mut nameless) = (None, None);
        for tag in seen.tags {
            let tag = Reference::Tag(tag);
            if passes(&tag) {
                return Standing::Passes(tag);
            }
            refused.get_or_insert(tag);
        }
        for index in seen.indexes {
            match self.standing(name, index, passes, depth) {
                Standing::Passes(by) => return Standing::Passes(by),
                Standing::Nameless(by) => {
                    nameless.get_or_insert(by);
                }
                Standing::Refused(by) => {
                    refused.get_or_insert(by);
                }
            }
        }
        match (nameless, refused) {
            (Some(by), _) => Standing::Nameless(by),
            (None, Some(by)) => Standing::Refused(by),
            (None, None) => Standing::Nameless(own),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(manifests: &[Digest], blobs: &[Digest]) -> Manifest {
        Manifest {
            media_type: "",
            manifests: manifests.to_vec(),
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
}
