//! Which event answers to which: the chains of one first cause.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, Row, postgres::PgRow};
use uuid::Uuid;
use weir_events::{envelope::Recorded, kind::Subsystem, position::Position};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `log.causation`.
#[derive(Debug)]
pub struct Causation;

const VIEW: &str = "log.causation";

/// The most links one chain answers with.
pub const MAX_CHAIN: usize = 1_000;

/// An event in a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkRow {
    /// The event.
    pub position: Position,
    /// Its id.
    pub event_id: Uuid,
    /// The id shared by the whole chain.
    pub correlation_id: Uuid,
    /// The event it answers to.
    pub causation_id: Option<Uuid>,
}

const CHAIN: &str = "
    SELECT position, event_id, correlation_id, causation_id FROM log.causation
    WHERE correlation_id = (SELECT correlation_id FROM log.causation WHERE position = $1)
    ORDER BY position LIMIT $2";

/// The chain an event stands in, in order, from its first event on; at most [`MAX_CHAIN`] links.
/// Empty when the event is not known here.
pub async fn chain(database: &Database, of: Position) -> Result<Vec<LinkRow>, QueryFault> {
    let query = sqlx::query(CHAIN).bind(of.0).bind(query::limit(MAX_CHAIN));
    query::rows(database, VIEW, query, from_row).await
}

fn from_row(row: &PgRow) -> Result<LinkRow, sqlx::Error> {
    Ok(LinkRow {
        position: query::position(row, "position")?,
        event_id: row.try_get("event_id")?,
        correlation_id: row.try_get("correlation_id")?,
        causation_id: row.try_get("causation_id")?,
    })
}

const INSERT: &str = "
    INSERT INTO causation (position, event_id, correlation_id, causation_id)
    SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::uuid[])";

#[derive(Deserialize)]
struct Place {
    #[serde(rename = "event_id")]
    event: Uuid,
    #[serde(rename = "correlation_id")]
    correlation: Uuid,
    #[serde(rename = "causation_id", default)]
    causation: Option<Uuid>,
}

impl Projection for Causation {
    fn name(&self) -> &'static str {
        "causation"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Log
    }

    fn kinds(&self) -> Kinds {
        Kinds::All
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/log/causation.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["causation"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let (mut positions, mut events, mut correlations, mut causations) =
                (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for event in batch {
                let place: Place = decode::meta(event)?;
                positions.push(event.position.0);
                events.push(place.event);
                correlations.push(place.correlation);
                causations.push(place.causation);
            }
            sqlx::query(INSERT)
                .bind(positions)
                .bind(events)
                .bind(correlations)
                .bind(causations)
                .execute(tx)
                .await?;
            Ok(())
        })
    }
}
