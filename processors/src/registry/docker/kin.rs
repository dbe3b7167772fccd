//! What belongs to what: which tags a manifest was seen under, which index names it, which manifests
//! name a blob. So that what is said of a tag holds for everything behind it.
//!
//! A manifest passes when nothing is said against its own digest, and either some tag or index that
//! it was seen under passes, or it was seen under none. A tag by which only who takes no index got it, and
//! which means to others what does not name it, is a weaker way: it leads past no index that is refused by
//! its digest. All this is remembered for as long as the process lives and there is room; what was forgotten
//! is as good as never seen. Whether a manifest passes is not known where more leads to it than is looked at.

mod ways;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use self::ways::{Found, MAX_WAYS, Ways};
use super::{
    manifest::Manifest,
    name::{Digest, Name, Reference, Tag},
};
use crate::registry::lru::Lru;

/// How many names and digests are remembered, of manifests and of blobs.
const MAX_REMEMBERED: u64 = 400_000;

/// How deep indexes may stand in indexes.
pub const MAX_DEPTH: usize = 4;

/// How many names are asked about for one thing. What leads past more of them does not pass.
pub const MAX_ASKED: usize = 4_096;

type Key = (Name, Digest);

/// What was seen.
#[derive(Debug)]
pub struct Kin(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    manifests: Lru<Key, Arc<Seen>>,
    blobs: Lru<Key, Ways<Digest, u64>>,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    tags: Ways<Tag, ()>,
    /// Tags by which only who takes no index got it: to others they meant what does not name it.
    narrow: Ways<Tag, ()>,
    indexes: Ways<Digest, ()>,
}

/// How a manifest stands with the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It passes, by this name.
    Passes(Reference),
    /// It passes as far as is known, by this tag, by which only who takes no index gets it: no index that it
    /// is known to stand in is refused by its digest.
    Narrow(Reference),
    /// It passes as far as is known: it, or an index that names it, was seen under no tag.
    Nameless(Reference),
    /// It does not pass, because this name does not.
    Refused(Reference),
    /// It does not pass, because this much is not looked at: nothing is said against any name that is.
    Unknown(Beyond),
}

/// What is beyond all that is looked at for one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// Indexes that stand deeper in indexes, or in a circle.
    Depth,
    /// More names.
    Names,
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

    /// Remembers a manifest that passes, the tag it was seen under, and what it names.
    pub fn learn(&self, name: &Name, digest: Digest, tag: Option<&Tag>, manifest: &Manifest) {
        self.all().learn(name, (digest, tag), manifest, Found::Passing);
    }

    /// Remembers one that passes, and a tag by which only who takes no index gets it: to others that tag
    /// means what does not name it.
    pub fn learn_narrow(&self, name: &Name, digest: Digest, tag: &Tag, manifest: &Manifest) {
        let mut all = self.all();
        all.learn(name, (digest, None), manifest, Found::Passing);
        all.see(name, digest, |seen| seen.narrow.add(tag.clone(), (), Found::Passing));
    }

    /// Remembers one that was only looked at, because it is blocked or behind what is. It takes the place
    /// of none that passes.
    pub fn learn_behind(
        &self,
        name: &Name,
        digest: Digest,
        tag: Option<&Tag>,
        manifest: &Manifest,
    ) {
        self.all().learn(name, (digest, tag), manifest, Found::Behind);
    }

    /// Which of these manifests stands best, and how; `None` where there are none. Each name is asked
    /// about once, by however many ways it is reached, and nobody waits for that.
    ///
    /// `passes` says whether a name does; `asked` is the tag that passes by which they are asked for, by who
    /// takes no index.
    pub fn best(
        &self,
        name: &Name,
        manifests: &[Digest],
        asked: Option<&Tag>,
        passes: &impl Fn(&Reference) -> bool,
    ) -> Option<(Digest, Standing)> {
        let (mut nameless, mut refused, mut n_asked) = (None, None, 0);
        // By which tag only who takes no index gets a manifest, and what no such tag leads past.
        let mut narrow: BTreeMap<Digest, Reference> = BTreeMap::new();
        let mut forbidden = BTreeSet::new();
        if let Some(tag) = asked {
            narrow.extend(manifests.iter().map(|it| (*it, Reference::Tag(tag.clone()))));
        }
        let mut reached: BTreeSet<Digest> = manifests.iter().copied().collect();
        // What is asked about next, and for the sake of which manifest.
        let mut layer: Vec<_> = manifests.iter().map(|manifest| (*manifest, *manifest)).collect();
        // What stands too deep, or in a circle, is reached by nothing.
        let mut beyond = manifests.first().map(|first| (*first, Beyond::Depth));
        // The indexes that a manifest stands in may stand as deep themselves.
        'rounds: for _ in 0..=MAX_DEPTH {
            let mut above = Vec::new();
            for (digest, of) in std::mem::take(&mut layer) {
                let own = Reference::Digest(digest);
                n_asked += 1;
                if n_asked > MAX_ASKED {
                    beyond = Some((of, Beyond::Names));
                    break 'rounds;
                }
                if !passes(&own) {
                    forbidden.insert(digest);
                    refused.get_or_insert((of, own));
                    continue;
                }
                let seen = self.seen(name, digest);
                for tag in seen.tags.keys() {
                    let tag = Reference::Tag(tag.clone());
                    n_asked += 1;
                    if passes(&tag) {
                        return Some((of, Standing::Passes(tag)));
                    }
                    refused.get_or_insert((of, tag));
                }
                for tag in seen.narrow.keys() {
                    let tag = Reference::Tag(tag.clone());
                    n_asked += 1;
                    if passes(&tag) {
                        narrow.entry(of).or_insert(tag);
                        break;
                    }
                    refused.get_or_insert((of, tag));
                }
                if seen.tags.is_empty() && seen.narrow.is_empty() && seen.indexes.is_empty() {
                    nameless.get_or_insert((of, own));
                }
                let indexes = seen.indexes.keys().filter(|index| reached.insert(**index));
                above.extend(indexes.map(|index| (*index, of)));
            }
            layer = above;
        }
        let mut narrow = narrow.into_iter();
        if let Some((of, by)) =
            narrow.find(|(of, _)| self.is_clear(name, *of, &forbidden, &mut n_asked))
        {
            return Some((of, Standing::Narrow(by)));
        }
        if let Some((of, by)) = nameless {
            return Some((of, Standing::Nameless(by)));
        }
        if let Some((of, by)) = refused {
            return Some((of, Standing::Refused(by)));
        }
        beyond.map(|(of, beyond)| (of, Standing::Unknown(beyond)))
    }

    /// Whether neither a manifest nor an index that it stands in is one of these. Not where there are more of
    /// them than are asked about, which `n_asked` goes on counting.
    fn is_clear(
        &self,
        name: &Name,
        manifest: Digest,
        forbidden: &BTreeSet<Digest>,
        n_asked: &mut usize,
    ) -> bool {
        let (mut reached, mut layer) = (BTreeSet::from([manifest]), vec![manifest]);
        for _ in 0..=MAX_DEPTH {
            let mut above = Vec::new();
            for digest in layer {
                *n_asked += 1;
                if *n_asked > MAX_ASKED || forbidden.contains(&digest) {
                    return false;
                }
                let seen = self.seen(name, digest);
                above.extend(seen.indexes.keys().copied().filter(|index| reached.insert(*index)));
            }
            layer = above;
        }
        layer.is_empty()
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
                    for index in self.seen(name, *digest).indexes.keys() {
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
        let mut all = self.all();
        match all.blobs.get(&(name.clone(), blob)) {
            Some(named_by) => named_by.pairs().map(|(by, size)| (*by, *size)).collect(),
            None => BTreeMap::new(),
        }
    }

    /// What a manifest was seen under.
    fn seen(&self, name: &Name, digest: Digest) -> Arc<Seen> {
        let key = (name.clone(), digest);
        self.all().manifests.get(&key).cloned().unwrap_or_default()
    }
}

impl Inner {
    fn learn(
        &mut self,
        name: &Name,
        (digest, tag): (Digest, Option<&Tag>),
        manifest: &Manifest,
        found: Found,
    ) {
        self.see(name, digest, |seen| {
            if let Some(tag) = tag {
                seen.tags.add(tag.clone(), (), found);
            }
        });
        for child in &manifest.manifests {
            self.see(name, *child, |seen| seen.indexes.add(digest, (), found));
        }
        for (blob, size) in &manifest.blobs {
            let key = (name.clone(), *blob);
            let mut named_by = self.blobs.remove(&key).unwrap_or_default();
            named_by.add(digest, *size, found);
            let weight = 1 + named_by.len() as u64;
            self.blobs.put(key, named_by, weight);
        }
    }

    fn see(&mut self, name: &Name, digest: Digest, add: impl FnOnce(&mut Seen)) {
        let key = (name.clone(), digest);
        let mut seen = self.manifests.remove(&key).unwrap_or_default();
        add(Arc::make_mut(&mut seen));
        let weight = 1 + (seen.tags.len() + seen.narrow.len() + seen.indexes.len()) as u64;
        self.manifests.put(key, seen, weight);
    }
}

#[cfg(test)]
mod tests;
