//! Whether what a checksum database is said to say is what it says: signed by it, and in its tree.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use futures_util::future::join_all;

use super::{
    Asked, Words,
    note::{Key, NoteFault},
    tree::{Record, Tile, Tree},
};
use crate::{
    outbound::Trail,
    registry::{
        documents::{Documents, DocumentsFault},
        lru::Lru,
    },
};

/// How many answers are remembered as verified.
const MAX_REMEMBERED: u64 = 20_000;

/// What was answered is not to be believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    /// It cannot be read.
    #[error("it is no {0}")]
    Unreadable(&'static str),
    /// It is not signed.
    #[error(transparent)]
    Note(#[from] NoteFault),
    /// It is about something else.
    #[error("it says nothing of {0}")]
    Other(String),
    /// It is no part of the tree beside it.
    #[error("it is said to be record {id}, in a tree of {n_records}")]
    Beyond {
        /// Which record.
        id: u64,
        /// How many there are.
        n_records: u64,
    },
    /// What would prove it is missing.
    #[error("the upstream does not have `tile/{0}` of its tree")]
    NoTile(String),
    /// The tree does not hold it.
    #[error("it is not in the tree that is signed")]
    Absent,
}

/// What was not believed, or could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ProofFault {
    /// It is not to be believed.
    #[error(transparent)]
    Unproven(#[from] Unproven),
    /// It could not be found out.
    #[error(transparent)]
    Documents(#[from] DocumentsFault),
}

/// Verifies what a database says, each answer once.
#[derive(Debug)]
pub(super) struct Prover {
    key: Key,
    /// By their hash with what was asked.
    proven: Mutex<Lru<[u8; 32], ()>>,
}

impl Prover {
    pub(super) fn new(key: Key) -> Self {
        Self { key, proven: Mutex::new(Lru::new(MAX_REMEMBERED)) }
    }

    /// Verifies an answer. What does not verify is forgotten with the tiles that it was looked up in, so
    /// that the upstream is asked anew.
    pub(super) async fn prove(
        &self,
        words: &Documents<Words>,
        asked: &Asked,
        answer: &Bytes,
        trail: &Trail,
    ) -> Result<(), ProofFault> {
        let proven = || self.proven.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hasher = blake3::Hasher::new();
        hasher.update(asked.path().as_bytes()).update(b"\0").update(answer);
        let hash: [u8; 32] = hasher.finalize().into();
        if proven().get(&hash).is_some() {
            return Ok(());
        }
        let mut looked_at = Vec::new();
        let found = self.look(words, asked, answer, trail, &mut looked_at).await;
        if let Err(ProofFault::Unproven(_)) = found {
            words.forget(asked);
            for tile in &looked_at {
                words.forget(tile);
            }
        }
        found?;
        proven().put(hash, (), 1);
        Ok(())
    }

    async fn look(
        &self,
        words: &Documents<Words>,
        asked: &Asked,
        answer: &Bytes,
        trail: &Trail,
        looked_at: &mut Vec<Asked>,
    ) -> Result<(), ProofFault> {
        let text = || str::from_utf8(answer).map_err(|_| Unproven::Unreadable("text"));
        let (module, version) = match asked {
            // They say nothing that is signed: who puts tiles together checks them. They are no text.
            Asked::Supported | Asked::Tile(_) => return Ok(()),
            Asked::Latest => {
                let tree = self.key.open(text()?).map_err(Unproven::Note)?;
                Tree::read(tree).ok_or(Unproven::Unreadable("tree"))?;
                return Ok(());
            }
            Asked::Lookup { module, version } => (module, version),
        };
        let record = Record::read(text()?).ok_or(Unproven::Unreadable("record"))?;
        let start = format!("{module} {version} ");
        if !record.text.lines().any(|line| line.starts_with(&start)) {
            return Err(Unproven::Other(format!("{module}@{version}")).into());
        }
        let tree = self.key.open(record.note).map_err(Unproven::Note)?;
        let tree = Tree::read(tree).ok_or(Unproven::Unreadable("tree"))?;
        let (id, n_records) = (record.id, tree.n_records);
        if n_records <= id {
            return Err(Unproven::Beyond { id, n_records }.into());
        }
        let tiles = tree.tiles(id);
        let asking = tiles.iter().map(|tile| fetch(words, tile, trail));
        let mut there = BTreeMap::new();
        for (tile, fetched) in tiles.iter().zip(join_all(asking).await) {
            let (asked, bytes) = fetched?;
            looked_at.push(asked);
            there.insert(*tile, bytes);
        }
        let there = there.iter().map(|(tile, bytes)| (*tile, &***bytes)).collect();
        if tree.has(id, record.text, &there) { Ok(()) } else { Err(Unproven::Absent.into()) }
    }
}

/// A tile as it was in a tree, or what it has become since.
async fn fetch(
    words: &Documents<Words>,
    tile: &Tile,
    trail: &Trail,
) -> Result<(Asked, Arc<Bytes>), ProofFault> {
    for tile in [Some(*tile), tile.whole()].into_iter().flatten() {
        let asked = Asked::Tile(tile.path().into());
        match words.get(&asked, words.keeping().ttl, trail).await {
            Ok(open) => return Ok((asked, open.document)),
            Err(DocumentsFault::NotFound(_)) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
    Err(Unproven::NoTile(tile.path()).into())
}
