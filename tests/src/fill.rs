//! A long log in no time, for what reads one: written around the log's writer.

pub mod decisions;

use weir_log::database::Database;

use crate::events;

const EVENTS: &str = "
    INSERT INTO log.events
        (position, version, recorded_at, kind, schema, stream, payload, meta, hash)
    SELECT h.position + n, n, now(), $2, $3, 'filled/' || h.position, $4, $5, $6
    FROM log.head h, generate_series(1, $1) n";

/// Copies of one refused download, `n` times. The log must not be open anywhere.
///
/// # Panics
/// When Postgres refuses it.
pub async fn with_blocks(database: &Database, n: u32) {
    let event = events::event(&events::blocked(7));
    let mut tx = database.begin().await.expect("begin");
    sqlx::query(EVENTS)
        .bind(i64::from(n))
        .bind(event.kind.0)
        .bind(event.schema)
        .bind(event.payload.to_vec())
        .bind(event.meta.to_vec())
        .bind(vec![7_u8; 32])
        .execute(&mut *tx)
        .await
        .expect("fill the log");
    sqlx::query("UPDATE log.head SET position = position + $1")
        .bind(i64::from(n))
        .execute(&mut *tx)
        .await
        .expect("move its head");
    tx.commit().await.expect("commit");
}
