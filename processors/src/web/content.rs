//! The content store: what agents were answered with, by the BLAKE3 of it, in the database, so that
//! every instance has it. What is read is what was stored, or it is not given out.

use bytes::Bytes;
use sqlx::Row;
use tracing::error;
use weir_events::web::request::Hash256;
use weir_log::database::{Database, DatabaseFault};

/// The largest content.
pub const MAX_BYTES: usize = 1_000_000;

/// So much of a text can be searched for words.
const MAX_SEARCHED_BYTES: usize = 128 << 10;

/// Content that cannot be kept, or had.
#[derive(Debug, thiserror::Error)]
pub enum ContentFault {
    /// It is too large.
    #[error("content of {0} bytes is not kept: {MAX_BYTES} are allowed")]
    TooLarge(usize),
    /// The database could not be asked.
    #[error(transparent)]
    Database(#[from] DatabaseFault),
}

/// The content store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Contents {
    database: Database,
}

/// What is there already is needed again.
const NEEDED: &str = "
    UPDATE portal.content SET stored_at = now(), unneeded_since = NULL
    WHERE hash = $1 AND size = $2 RETURNING hash";

const PUT: &str = "
    INSERT INTO portal.content (hash, size, bytes, words)
    VALUES ($1, $2, $3, to_tsvector('english', $4))
    ON CONFLICT (hash) DO UPDATE SET stored_at = now(), unneeded_since = NULL";

const GET: &str = "SELECT bytes FROM portal.content WHERE hash = $1";

const FORGET: &str = "DELETE FROM portal.content WHERE hash = $1";

impl Contents {
    /// The store in a database.
    pub const fn new(database: Database) -> Self {
        Self { database }
    }

    /// What content is known by.
    pub fn hash(content: &[u8]) -> Hash256 {
        Hash256::new(*blake3::hash(content).as_bytes())
    }

    /// Keeps content, as long as something points at it; an hour, where nothing does.
    pub async fn put(&self, content: &Bytes) -> Result<Hash256, ContentFault> {
        let fault = DatabaseFault::of("keep the content of a page");
        let size = content.len();
        let size = i32::try_from(size).ok().filter(|_| size <= MAX_BYTES);
        let size = size.ok_or(ContentFault::TooLarge(content.len()))?;
        let hash = Self::hash(content);
        let mut tx = self.database.begin().await?;
        let known = sqlx::query(NEEDED).bind(hash.as_bytes().as_slice()).bind(size);
        let known = known.fetch_all(&mut *tx).await.map_err(&fault)?;
        if known.is_empty() {
            let put = sqlx::query(PUT)
                .bind(hash.as_bytes().as_slice())
                .bind(size)
                .bind(&content[..])
                .bind(searched(content));
            put.execute(&mut *tx).await.map_err(&fault)?;
        }
        tx.commit().await.map_err(&fault)?;
        Ok(hash)
    }

    /// Content by its hash. What is not what it was is forgotten: it can be fetched again.
    pub async fn get(&self, hash: &Hash256) -> Result<Option<Bytes>, ContentFault> {
        let fault = DatabaseFault::of("read the content of a page");
        let mut tx = self.database.begin().await?;
        let get = sqlx::query(GET).bind(hash.as_bytes().as_slice());
        let rows = get.fetch_all(&mut *tx).await.map_err(&fault)?;
        let Some(row) = rows.first() else {
            tx.commit().await.map_err(&fault)?;
            return Ok(None);
        };
        let content: Vec<u8> = row.try_get("bytes").map_err(&fault)?;
        let whole = Self::hash(&content) == *hash;
        if !whole {
            error!(%hash, n_bytes = content.len(), "content is not what was stored; it is forgotten");
            let forget = sqlx::query(FORGET).bind(hash.as_bytes().as_slice());
            forget.execute(&mut *tx).await.map_err(&fault)?;
        }
        tx.commit().await.map_err(&fault)?;
        Ok(whole.then(|| content.into()))
    }
}

/// The beginning of a text, as far as it can be searched. Postgres has no texts with a NUL.
fn searched(content: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'))?;
    let mut end = text.len().min(MAX_SEARCHED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_searched_as_far_as_the_bound_and_nothing_else_is() {
        assert_eq!(searched(b"words"), Some("words"));
        assert_eq!(searched(b"wo\0rds"), None);
        assert_eq!(searched(b"\xff\xfe"), None);
        let long = "ä".repeat(MAX_SEARCHED_BYTES);
        let cut = searched(long.as_bytes()).unwrap();
        assert_eq!(cut.len(), MAX_SEARCHED_BYTES);
        let odd = format!("x{long}");
        assert_eq!(searched(odd.as_bytes()).unwrap().len(), MAX_SEARCHED_BYTES - 1);
    }
}
