//! Events a projection could not apply: parked with the error, listed, handed over once more.

use std::sync::Arc;

use sqlx::{PgConnection, Row, postgres::PgRow};
use weir_events::{envelope::Recorded, kind::Kind, position::Position, timestamp::Timestamp};
use weir_log::database::DatabaseFault;

use super::{
    Engine, EngineFault, Projection, actor_path,
    batch::{self, ATTEMPTS, Target},
    build::Builds,
};

/// The most dead letters one list answers with.
pub const MAX_LIST: usize = 1_000;

/// An event a projection could not apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The projection.
    pub projection: String,
    /// The event.
    pub position: Position,
    /// Its stream.
    pub stream: String,
    /// Its kind.
    pub kind: Kind,
    /// The projection's actor path.
    pub actor: String,
    /// Why it could not be applied.
    pub error: String,
    /// How often it was tried.
    pub attempts: i32,
    /// When it was parked, by the database's clock.
    pub parked_at: Timestamp,
}

const PARK: &str = "
    INSERT INTO projections.dead_letters (build, position, kind, attempts, actor, stream, error)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const LIST: &str = "
    SELECT d.position, d.stream, d.kind, d.actor, d.error, d.attempts, d.parked_at
    FROM projections.dead_letters d JOIN projections.builds b ON b.id = d.build
    WHERE b.name = $1 AND b.state IN ('live', 'halted') AND d.position > $2
    ORDER BY d.position LIMIT $3";

const PARKED: &str = "
    SELECT 1 FROM projections.dead_letters WHERE build = $1 AND position = $2";

const FORGET: &str = "
    DELETE FROM projections.dead_letters WHERE build = $1 AND position = $2";

const TRIED: &str = "
    UPDATE projections.dead_letters SET attempts = attempts + 1, error = $3
    WHERE build = $1 AND position = $2";

/// Sets an event apart, in the transaction of its batch.
pub(super) async fn park(
    tx: &mut PgConnection,
    target: &Target<'_>,
    event: &Recorded,
    error: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query(PARK)
        .bind(target.build.id)
        .bind(event.position.0)
        .bind(event.kind.0)
        .bind(ATTEMPTS)
        .bind(actor_path(target.projection.name()))
        .bind(event.stream.as_str())
        .bind(error)
        .execute(tx)
        .await
        .map(drop)
}

fn from_row(name: &str, row: &PgRow) -> Result<DeadLetter, sqlx::Error> {
    Ok(DeadLetter {
        projection: name.to_owned(),
        position: Position(row.try_get("position")?),
        stream: row.try_get("stream")?,
        kind: Kind(row.try_get("kind")?),
        actor: row.try_get("actor")?,
        error: row.try_get("error")?,
        attempts: row.try_get("attempts")?,
        parked_at: row.try_get::<time::OffsetDateTime, _>("parked_at")?.into(),
    })
}

impl Engine {
    /// The dead letters of the live build after a position, in order; at most [`MAX_LIST`].
    pub async fn dead_letters(
        &self,
        name: &str,
        after: Position,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, EngineFault> {
        let fault = DatabaseFault::of("list dead letters");
        let name = self.projection(name)?.name();
        let limit = i64::try_from(limit.min(MAX_LIST)).unwrap_or(i64::MAX);
        let mut tx = self.database().begin().await?;
        let rows = sqlx::query(LIST)
            .bind(name)
            .bind(after.0)
            .bind(limit)
            .fetch_all(&mut *tx)
            .await
            .map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        let letters: Result<_, _> = rows.iter().map(|row| from_row(name, row)).collect();
        Ok(letters.map_err(&fault)?)
    }

    /// Applies a parked event to the live build and forgets the dead letter, in one transaction
    /// that no batch can overlap. Works on any instance. If it fails again, the dead letter stays,
    /// with the new error.
    pub async fn redeliver(&self, name: &str, position: Position) -> Result<(), EngineFault> {
        let projection = Arc::clone(self.projection(name)?);
        let event = self.log().event(position).await?;
        let mut tx = self.database().begin().await?;
        let tried = redeliver_within(&mut tx, self, &*projection, position, event).await?;
        tx.commit().await.map_err(DatabaseFault::of("redeliver a dead letter"))?;
        tried.map_err(|error| EngineFault::Poison { position, error })
    }
}

/// Redelivers in a transaction, which is to be committed even when the event failed again (the
/// inner answer): the new error is then in it.
pub(super) async fn redeliver_within(
    tx: &mut PgConnection,
    engine: &Engine,
    projection: &dyn Projection,
    position: Position,
    event: Option<Recorded>,
) -> Result<Result<(), String>, EngineFault> {
    let fault = DatabaseFault::of("redeliver a dead letter");
    let name = projection.name();
    let live = Builds::within(tx, name).await.map_err(&fault)?.live;
    let Some(build) = live.filter(|build| build.version == projection.version()) else {
        return Err(EngineFault::NotBuilt(name.to_owned()));
    };
    let target = Target { projection, build: &build, options: engine.options() };
    let entered = batch::enter(tx, &target, false).await.map_err(&fault)?;
    let parked = sqlx::query(PARKED).bind(build.id).bind(position.0).fetch_all(&mut *tx).await;
    let parked = !parked.map_err(&fault)?.is_empty();
    let (Some(_), true, Some(event)) = (entered, parked, event) else {
        return Err(EngineFault::NotParked { name: name.to_owned(), position });
    };
    let error = batch::attempt(projection, &[Arc::new(event)], tx).await?;
    let settled = match &error {
        None => sqlx::query(FORGET).bind(build.id).bind(position.0),
        Some(error) => sqlx::query(TRIED).bind(build.id).bind(position.0).bind(error),
    };
    settled.execute(tx).await.map_err(&fault)?;
    Ok(error.map_or(Ok(()), Err))
}
