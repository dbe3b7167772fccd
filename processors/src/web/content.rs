//! The content store: what agents were answered with, by the BLAKE3 of it, in the database, so that
//! every instance has it. What is read is what was stored, or it is not given out.

use bytes::Bytes;
use sqlx::Row;
use tracing::error;
use weir_events::web::request::Hash256;
use weir_log::{Log, database::DatabaseFault};

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
    log: Log,
}

/// What is there already is needed again. The words of it are looked up later, by the read model that
/// points at it. With `$5`, its transaction does not wait for the disk.
const PUT: &str = "
    WITH relaxed AS MATERIALIZED (
        SELECT CASE WHEN $5 THEN set_config('synchronous_commit', 'off', true) END)
    INSERT INTO portal.content (hash, size, bytes, unread) SELECT $1, $2, $3, $4 FROM relaxed
    ON CONFLICT (hash) DO UPDATE SET stored_at = now(), unneeded_since = NULL";

const GET: &str = "SELECT bytes FROM portal.content WHERE hash = $1";

const FORGET: &str = "DELETE FROM portal.content WHERE hash = $1";

impl Contents {
    /// The store beside a log.
    pub const fn new(log: Log) -> Self {
        Self { log }
    }

    /// What content is known by.
    pub fn hash(content: &[u8]) -> Hash256 {
        Hash256::new(*blake3::hash(content).as_bytes())
    }

    /// Keeps content, as long as something points at it; an hour, where nothing does. It is on disk
    /// when what points at it is, unless the database is away in between: whoever appends that looks at
    /// [`Hub::n_outages`](weir_log::tail::Hub::n_outages) before this and after the append, and has it
    /// kept again where it is not the same.
    pub async fn put(&self, content: &Bytes) -> Result<Hash256, ContentFault> {
        let size = content.len();
        let size = i32::try_from(size).ok().filter(|_| size <= MAX_BYTES);
        let size = size.ok_or(ContentFault::TooLarge(content.len()))?;
        let hash = Self::hash(content);
        // What points at it is appended after it, and that writes to disk what was committed before.
        let relaxed = self.log.hub().notices_outages();
        let put = || {
            sqlx::query(PUT)
                .bind(hash.as_bytes().as_slice())
                .bind(size)
                .bind(&content[..])
                .bind(searched(content))
                .bind(relaxed)
        };
        self.log.database().execute("keep the content of a page", put).await?;
        Ok(hash)
    }

    /// Content by its hash. What is not what it was is forgotten: it can be fetched again.
    pub async fn get(&self, hash: &Hash256) -> Result<Option<Bytes>, ContentFault> {
        let fault = DatabaseFault::of("read the content of a page");
        let mut tx = self.log.database().begin().await?;
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

/// How much of a text, from its beginning, can be searched: whole characters. Postgres has no texts
/// with a NUL.
fn searched(content: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'))?;
    i32::try_from(text.floor_char_boundary(MAX_SEARCHED_BYTES)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_searched_as_far_as_the_bound_and_nothing_else_is() {
        assert_eq!(searched(b"words"), Some(5));
        assert_eq!(searched(b"wo\0rds"), None);
        assert_eq!(searched(b"\xff\xfe"), None);
        let long = "ä".repeat(MAX_SEARCHED_BYTES);
        let bound = i32::try_from(MAX_SEARCHED_BYTES).unwrap();
        assert_eq!(searched(long.as_bytes()), Some(bound));
        assert_eq!(searched(format!("x{long}").as_bytes()), Some(bound - 1));
    }
}
