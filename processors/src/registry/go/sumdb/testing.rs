//! A checksum database of a test's own: its key, its records, its tiles. All hashes are worked out from
//! the records by the definition, and not as in the code that is tested.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer as _, SigningKey};
use sha2::{Digest as _, Sha256};

use super::tree::Hash;

/// A database.
pub(crate) struct Sums {
    name: String,
    key: SigningKey,
    /// The text of each record.
    pub(crate) records: Vec<String>,
}

impl Sums {
    /// An empty one of this name; a seed stands for a key.
    pub(crate) fn new(name: &str, seed: u8) -> Self {
        Self {
            name: name.to_owned(),
            key: SigningKey::from_bytes(&[seed; 32]),
            records: Vec::new(),
        }
    }

    /// One that has so many records of other modules.
    pub(crate) fn holding(name: &str, n_records: usize) -> Self {
        let record =
            |n| format!("example.org/m{n} v1.0.0 h1:x\nexample.org/m{n} v1.0.0/go.mod h1:y\n");
        Self { records: (0..n_records).map(record).collect(), ..Self::new(name, 7) }
    }

    fn key_bytes(&self) -> Vec<u8> {
        [&[1][..], self.key.verifying_key().as_bytes()].concat()
    }

    fn key_hash(&self) -> Vec<u8> {
        let name = format!("{}\n", self.name);
        Sha256::digest([name.as_bytes(), &self.key_bytes()].concat())[..4].to_vec()
    }

    /// `NAME+HASH+KEY`.
    pub(crate) fn public(&self) -> String {
        let (hash, key) = (hex::encode(self.key_hash()), STANDARD.encode(self.key_bytes()));
        format!("{}+{hash}+{key}", self.name)
    }

    /// The state of the first so many records, signed.
    pub(crate) fn signed(&self, n_records: usize) -> String {
        let root = STANDARD.encode(tree_hash(&self.records[..n_records]));
        self.sign(&format!("go.sum database tree\n{n_records}\n{root}\n"))
    }

    /// Any text, signed.
    pub(crate) fn sign(&self, text: &str) -> String {
        let signature = self.key.sign(text.as_bytes()).to_bytes();
        let signature = STANDARD.encode([self.key_hash(), signature.to_vec()].concat());
        format!("{text}\n\u{2014} {} {signature}\n", self.name)
    }

    /// The answer about a record, in the tree of so many.
    pub(crate) fn answer(&self, id: usize, n_records: usize) -> String {
        format!("{id}\n{}\n{}", self.records[id], self.signed(n_records))
    }

    /// The hashes of a tile, by its level, number and width.
    pub(crate) fn tile(&self, level: u32, n: usize, width: usize) -> Vec<u8> {
        let n_records = 256_usize.pow(level);
        let of = |at: usize| tree_hash(&self.records[at * n_records..(at + 1) * n_records]);
        (n * 256..n * 256 + width).flat_map(of).collect()
    }

    /// Every tile of the tree of so many records, whole or not, by its path below `tile/`.
    pub(crate) fn tiles(&self, n_records: usize) -> Vec<(String, Vec<u8>)> {
        let mut tiles = Vec::new();
        for level in 0..4 {
            let n_there = n_records / 256_usize.pow(level);
            for n in 0..n_there.div_ceil(256) {
                let width = (n_there - n * 256).min(256);
                let end = if width < 256 { format!(".p/{width}") } else { String::new() };
                tiles.push((format!("8/{level}/{n:03}{end}"), self.tile(level, n, width)));
            }
        }
        tiles
    }
}

/// As RFC 6962 defines it.
fn tree_hash(records: &[String]) -> Hash {
    match records {
        [] => Sha256::digest("").into(),
        [one] => Sha256::digest([&[0], one.as_bytes()].concat()).into(),
        many => {
            let (left, right) = many.split_at(many.len().next_power_of_two() / 2);
            let halves = [tree_hash(left), tree_hash(right)].concat();
            Sha256::digest([&[1][..], &halves].concat()).into()
        }
    }
}
