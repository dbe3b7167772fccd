//! Seals: signed, chained roots over contiguous leaves. Who rewrites an event must also rewrite its
//! leaf, its seal and every later one, and sign them with a key he does not have. Seals can be
//! printed or published: then not even the key helps him.

use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey};
use futures_util::TryStreamExt;
use sqlx::{Row, postgres::PgRow};
use weir_events::{
    position::{Position, StreamVersion},
    timestamp::Timestamp,
};

use crate::{
    Log,
    database::{Database, DatabaseFault},
    open::ask_head,
};

/// The most events one seal covers.
pub const MAX_SEALED: i64 = 1_000;

const DOMAIN: &[u8] = b"weir.seal.v1\0";

/// The key seals are signed with. Never shown, never stored in the database.
#[derive(Clone)]
pub struct SealKey(SigningKey);

impl SealKey {
    /// The key from its 32 secret bytes.
    pub fn from_bytes(secret: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(secret))
    }

    /// The public half, which is safe to show and to pin.
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SealKey(public {})", hex::encode(self.public()))
    }
}

/// A seal over the events `first..=last`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// The first position it covers.
    pub first: Position,
    /// The last position it covers.
    pub last: Position,
    /// BLAKE3 over position, version and leaf of each event.
    pub root: [u8; 32],
    /// The chain value of the seal before; zeros for the first.
    pub previous: [u8; 32],
    /// What the next seal builds on, and what is signed.
    pub chain: [u8; 32],
    /// The signer's public key (ed25519).
    pub public_key: [u8; 32],
    /// The signature over the chain value.
    pub signature: [u8; 64],
    /// When it was made, by the sealer's clock.
    pub sealed_at: Timestamp,
}

impl Seal {
    fn chain_value(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(DOMAIN)
            .update(&self.previous)
            .update(&self.first.0.to_be_bytes())
            .update(&self.last.0.to_be_bytes())
            .update(&self.root)
            .update(&self.public_key)
            .update(&self.sealed_at.micros().to_be_bytes());
        *hasher.finalize().as_bytes()
    }

    fn sign(mut self, key: &SealKey) -> Self {
        self.chain = self.chain_value();
        self.signature = key.0.sign(&self.chain).to_bytes();
        self
    }

    /// Whether its chain value and signature fit its content.
    pub fn holds(&self) -> bool {
        let signature = Signature::from_bytes(&self.signature);
        self.chain == self.chain_value()
            && VerifyingKey::from_bytes(&self.public_key)
                .is_ok_and(|key| key.verify(&self.chain, &signature).is_ok())
    }
}

/// Folds leaves into a root.
#[derive(Debug, Clone, Default)]
pub struct Fold(blake3::Hasher);

impl Fold {
    /// Adds the next event.
    pub fn add(&mut self, position: Position, version: StreamVersion, leaf: &[u8; 32]) {
        let mut bytes = [0; 48];
        let (place, rest) = bytes.split_at_mut(8);
        let (nth, hash) = rest.split_at_mut(8);
        place.copy_from_slice(&position.0.to_be_bytes());
        nth.copy_from_slice(&version.0.to_be_bytes());
        hash.copy_from_slice(leaf);
        self.0.update(&bytes);
    }

    /// The root over what was added.
    pub fn root(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

/// A seal could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SealFault {
    /// The database could not be asked.
    #[error(transparent)]
    Database(#[from] DatabaseFault),
    /// The events to seal are not contiguous: sealing them would hide that.
    #[error("position {missing} is missing: it will not be sealed over; run `weir verify`")]
    Hole {
        /// The first missing position.
        missing: Position,
    },
}

/// One sealer at a time in the whole system; the lock ends with the transaction.
const LOCK: &str = "SELECT pg_try_advisory_xact_lock(hashtext('weir.log.seal')) AS held";

const LAST: &str = "
    SELECT first_position, last_position, root, previous, chain, public_key, signature, sealed_at
    FROM log.seals ORDER BY last_position DESC LIMIT 1";

const AFTER: &str = "
    SELECT first_position, last_position, root, previous, chain, public_key, signature, sealed_at
    FROM log.seals WHERE last_position > $1 ORDER BY last_position LIMIT $2";

const LEAVES: &str = "
    SELECT position, version, hash FROM log.events
    WHERE position > $1 AND position <= $2 ORDER BY position";

const INSERT: &str = "
    INSERT INTO log.seals (first_position, last_position, root, previous, chain, public_key,
        signature, sealed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

/// Seals the next events, at most [`MAX_SEALED`]. `None` when there is nothing to seal, or another
/// process is sealing.
pub async fn seal_next(
    database: &Database,
    key: &SealKey,
    now: Timestamp,
) -> Result<Option<Seal>, SealFault> {
    let fault = DatabaseFault::of("seal the log");
    let head = ask_head(database).await?.position;
    let mut tx = database.begin().await?;
    let held = sqlx::query(LOCK).fetch_all(&mut *tx).await.map_err(&fault)?;
    if !held.first().is_some_and(|row| row.try_get("held").unwrap_or(false)) {
        return Ok(None);
    }
    let last = sqlx::query(LAST).fetch_all(&mut *tx).await.map_err(&fault)?;
    let last = last.first().map(from_row).transpose().map_err(&fault)?;
    let (after, previous) = last.map_or((Position::START, [0; 32]), |seal| (seal.last, seal.chain));
    let upto = head.min(after.plus(MAX_SEALED));
    if upto <= after {
        return Ok(None);
    }
    let mut fold = Fold::default();
    let mut reached = after;
    {
        let mut rows = sqlx::query(LEAVES).bind(after.0).bind(upto.0).fetch(&mut *tx);
        while let Some(row) = rows.try_next().await.map_err(&fault)? {
            let position = Position(row.try_get("position").map_err(&fault)?);
            if position != reached.next() {
                return Err(SealFault::Hole { missing: reached.next() });
            }
            let leaf: [u8; 32] = row.try_get("hash").map_err(&fault)?;
            fold.add(position, StreamVersion(row.try_get("version").map_err(&fault)?), &leaf);
            reached = position;
        }
    }
    if reached != upto {
        return Err(SealFault::Hole { missing: reached.next() });
    }
    let seal = Seal {
        first: after.next(),
        last: upto,
        root: fold.root(),
        previous,
        chain: [0; 32],
        public_key: key.public(),
        signature: [0; 64],
        sealed_at: now,
    }
    .sign(key);
    sqlx::query(INSERT)
        .bind(seal.first.0)
        .bind(seal.last.0)
        .bind(seal.root.as_slice())
        .bind(seal.previous.as_slice())
        .bind(seal.chain.as_slice())
        .bind(seal.public_key.as_slice())
        .bind(seal.signature.as_slice())
        .bind(seal.sealed_at.datetime())
        .execute(&mut *tx)
        .await
        .map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    Ok(Some(seal))
}

/// At most `limit` seals after a position, in order.
pub(crate) async fn seals_after(
    database: &Database,
    after: Position,
    limit: i64,
) -> Result<Vec<Seal>, DatabaseFault> {
    let fault = DatabaseFault::of("read seals");
    let mut tx = database.begin().await?;
    let rows =
        sqlx::query(AFTER).bind(after.0).bind(limit).fetch_all(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    rows.iter().map(|row| from_row(row).map_err(&fault)).collect()
}

impl Log {
    /// The last seal.
    pub async fn last_seal(&self) -> Result<Option<Seal>, DatabaseFault> {
        let fault = DatabaseFault::of("read the last seal");
        let mut tx = self.database().begin().await?;
        let rows = sqlx::query(LAST).fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        rows.first().map(from_row).transpose().map_err(fault)
    }
}

fn from_row(row: &PgRow) -> Result<Seal, sqlx::Error> {
    let sealed_at: time::OffsetDateTime = row.try_get("sealed_at")?;
    let signature: Vec<u8> = row.try_get("signature")?;
    Ok(Seal {
        first: Position(row.try_get("first_position")?),
        last: Position(row.try_get("last_position")?),
        root: row.try_get("root")?,
        previous: row.try_get("previous")?,
        chain: row.try_get("chain")?,
        public_key: row.try_get("public_key")?,
        signature: signature
            .try_into()
            .map_err(|_| sqlx::Error::Decode("a signature of another length".into()))?,
        sealed_at: sealed_at.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(key: &SealKey) -> Seal {
        let mut fold = Fold::default();
        fold.add(Position(1), StreamVersion(1), &[1; 32]);
        Seal {
            first: Position(1),
            last: Position(1),
            root: fold.root(),
            previous: [0; 32],
            chain: [0; 32],
            public_key: key.public(),
            signature: [0; 64],
            sealed_at: Timestamp::from_micros(5),
        }
        .sign(key)
    }

    #[test]
    fn a_seal_holds_until_any_of_it_is_changed() {
        let key = SealKey::from_bytes(&[7; 32]);
        assert!(seal(&key).holds());
        let changes: [fn(&mut Seal); 7] = [
            |s| s.first = Position(2),
            |s| s.last = Position(2),
            |s| s.root[0] ^= 1,
            |s| s.previous[0] ^= 1,
            |s| s.public_key = SealKey::from_bytes(&[8; 32]).public(),
            |s| s.signature[0] ^= 1,
            |s| s.sealed_at = Timestamp::from_micros(6),
        ];
        for (nth, change) in changes.into_iter().enumerate() {
            let mut changed = seal(&key);
            change(&mut changed);
            assert!(!changed.holds(), "change {nth}");
        }
    }

    #[test]
    fn the_secret_half_of_a_key_is_not_printed() {
        let key = SealKey::from_bytes(&[0x5a; 32]);
        assert!(!format!("{key:?}").contains("5a5a"));
    }
}
