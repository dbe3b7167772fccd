//! The tree of all records of a checksum database: whether a record is in it, by its tiles.
//!
//! Follows RFC 6962 for the hashes, and `golang.org/x/mod/sumdb/tlog` for what is written how. A tile is
//! 256 hashes side by side, at every eighth level of the tree.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

/// The levels that a tile stands for.
const HEIGHT: u32 = 8;

/// The hashes of a whole tile.
const WIDTH: u64 = 1 << HEIGHT;

/// The bytes of a hash.
const HASH_BYTES: usize = 32;

/// What a signed tree begins with.
const TREE: &str = "go.sum database tree";

/// A hash of a record, or of a part of the tree.
pub type Hash = [u8; HASH_BYTES];

/// A tree, as its database signs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tree {
    /// How many records there are.
    pub n_records: u64,
    /// The hash of them all.
    pub root: Hash,
}

/// A record, as a database answers with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Which one it is.
    pub id: u64,
    /// What it says.
    pub text: &'a str,
    /// The tree that it is in, signed.
    pub note: &'a str,
}

/// A tile, as wide as it was in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tile {
    level: u32,
    n: u64,
    width: u64,
}

/// Tiles as they came.
pub type Tiles<'a> = BTreeMap<Tile, &'a [u8]>;

/// A part of the tree that a record is not in: the records from one up to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Left(u64, u64),
    Right(u64, u64),
}

impl Tree {
    /// Reads the text of a signed note.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(TREE) {
            return None;
        }
        let n_records = number(lines.next()?)?;
        let root = STANDARD.decode(lines.next()?).ok()?.try_into().ok()?;
        Some(Self { n_records, root })
    }

    /// The tiles that say whether a record is in this tree.
    #[must_use]
    pub fn tiles(&self, id: u64) -> Vec<Tile> {
        let mut tiles = BTreeSet::new();
        for beside in self.beside(id) {
            let (Beside::Left(from, to) | Beside::Right(from, to)) = beside;
            // What stands in no tile is only gathered.
            let gather = |level, n| {
                tiles.insert(self.tile(level, n).0);
                Some([0; HASH_BYTES])
            };
            hash_of((from, to), gather);
        }
        tiles.into_iter().collect()
    }

    /// Whether a record of this text is in this tree, where these tiles are right: what is in them adds
    /// up to the signed hash then, and to no other.
    #[must_use]
    pub fn has(&self, id: u64, text: &str, tiles: &Tiles<'_>) -> bool {
        let stored = |level: u32, n: u64| {
            let (tile, first) = self.tile(level, n);
            let from = usize::try_from(first).ok()?.checked_mul(HASH_BYTES)?;
            let n_bytes = HASH_BYTES << (level % HEIGHT);
            let bytes = tiles.get(&tile)?.get(from..from.checked_add(n_bytes)?)?;
            let (hashes, _) = bytes.as_chunks::<HASH_BYTES>();
            let mut hashes = hashes.to_vec();
            while hashes.len() > 1 {
                let (pairs, _) = hashes.as_chunks::<2>();
                hashes = pairs.iter().map(|[left, right]| both(left, right)).collect();
            }
            hashes.first().copied()
        };
        let of_record = Sha256::new().chain_update([0]).chain_update(text).finalize().into();
        let root = self.beside(id).into_iter().rev().try_fold(of_record, |hash: Hash, beside| {
            Some(match beside {
                Beside::Left(from, to) => both(&hash_of((from, to), stored)?, &hash),
                Beside::Right(from, to) => both(&hash, &hash_of((from, to), stored)?),
            })
        });
        id < self.n_records && root == Some(self.root)
    }

    /// The parts of the tree beside the way to a record, from its root down.
    fn beside(&self, id: u64) -> Vec<Beside> {
        let (mut from, mut to, mut beside) = (0, self.n_records, Vec::new());
        while to - from > 1 {
            let middle = from + largest_below(to - from);
            if id < middle {
                beside.push(Beside::Right(middle, to));
                to = middle;
            } else {
                beside.push(Beside::Left(from, middle));
                from = middle;
            }
        }
        beside
    }

    /// The tile with a hash of a level, and which of its hashes is the first below that.
    fn tile(&self, level: u32, n: u64) -> (Tile, u64) {
        let first = n << (level % HEIGHT);
        let (level, n) = (level / HEIGHT, first / WIDTH);
        let n_there = self.n_records >> (level * HEIGHT);
        (Tile { level, n, width: WIDTH.min(n_there - n * WIDTH) }, first % WIDTH)
    }
}

impl<'a> Record<'a> {
    /// Reads an answer: a number, the lines of the record, an empty line, and a signed tree.
    #[must_use]
    pub fn read(answer: &'a str) -> Option<Self> {
        let (id, rest) = answer.split_once('\n')?;
        let end = rest.find("\n\n")? + 1;
        let (text, note) = (&rest[..end], &rest[end + 1..]);
        let printed = |c: char| c == '\n' || !c.is_ascii_control();
        let one = text.len() > 1 && text.chars().all(printed);
        one.then_some(Self { id: number(id)?, text, note })
    }
}

impl Tile {
    /// Where it lies below `tile/`.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = format!("{:03}", self.n % 1_000);
        let mut rest = self.n / 1_000;
        while rest > 0 {
            path = format!("x{:03}/{path}", rest % 1_000);
            rest /= 1_000;
        }
        let path = format!("{HEIGHT}/{}/{path}", self.level);
        if self.width == WIDTH { path } else { format!("{path}.p/{}", self.width) }
    }

    /// The same when it has filled up, unless it has.
    #[must_use]
    pub fn whole(&self) -> Option<Self> {
        (self.width < WIDTH).then_some(Self { width: WIDTH, ..*self })
    }
}

/// The hash of the records from one up to another, by the hashes that tiles have.
fn hash_of(
    (from, to): (u64, u64),
    mut stored: impl FnMut(u32, u64) -> Option<Hash>,
) -> Option<Hash> {
    // Parts of falling size, each of a power of two of records, the last one first.
    let (mut parts, mut at) = (Vec::new(), from);
    while at < to {
        let level = (to - at).ilog2();
        parts.push(stored(level, at >> level)?);
        at += 1 << level;
    }
    parts.into_iter().rev().reduce(|right, left| both(&left, &right))
}

fn both(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// The largest power of two that is smaller than this, which is more than one.
const fn largest_below(n: u64) -> u64 {
    1 << (n - 1).ilog2()
}

/// A number as it is written, and not otherwise; less than half of what fits, so that nothing overflows.
fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let plain = digits && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|n| plain && *n < 1 << 62)
}

#[cfg(test)]
mod tests;
