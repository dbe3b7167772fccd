//! Rebuilding a read model into a scratch schema and comparing it with the live one.
//!
//! The comparison is one repeatable-read transaction: the live tables and the live position are of
//! one moment in it, and the scratch is brought to that very position inside it. The live build
//! goes on meanwhile.

use sqlx::{AssertSqlSafe, PgConnection, Row};
use tokio_util::sync::CancellationToken;
use weir_events::position::Position;
use weir_log::{database::DatabaseFault, lifecycle::Lifecycle};

use super::{
    Engine, EngineFault, Projection,
    batch::{self, BatchFault, Target},
    build::{self, Build, BuildState, Builds},
    lease::{Claim, Lease},
    meter::{Meter, eta},
    rebuild::Progress,
};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The position at which both were compared.
    pub position: Position,
    /// Each table.
    pub tables: Vec<TableReport>,
}

impl CheckReport {
    /// Whether both are the same, row by row.
    pub fn equal(&self) -> bool {
        self.tables.iter().all(|t| t.n_only_live == 0 && t.n_only_rebuilt == 0)
    }
}

/// What a check found in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableReport {
    /// The table.
    pub table: &'static str,
    /// Rows the live one has.
    pub n_rows: u64,
    /// Rows only the live one has.
    pub n_only_live: u64,
    /// Rows only the rebuilt one has.
    pub n_only_rebuilt: u64,
    /// The first rows only the live one has, as JSON; at most ten.
    pub only_live: Vec<String>,
    /// The first rows only the rebuilt one has, as JSON; at most ten.
    pub only_rebuilt: Vec<String>,
}

const WHERE: &str = "
    SELECT position FROM projections.builds WHERE id = $1 AND state IN ('live', 'halted')";

impl Engine {
    /// Rebuilds a read model into a scratch schema and compares it with the live one at exactly
    /// the live one's position, while the live one goes on. The scratch schema is dropped; should
    /// this process end before that, a worker drops it.
    pub async fn check(
        &self,
        name: &str,
        mut progress: impl FnMut(Progress) + Send,
    ) -> Result<CheckReport, EngineFault> {
        let fault = DatabaseFault::of("begin a check");
        let slot = self.known(name)?;
        let projection = &*slot.projection;
        let live = self.live(projection).await?;
        let mut tx = self.database().begin().await?;
        let scratch =
            Build::create(&mut tx, projection, BuildState::Checking, live.started_from).await;
        let scratch = scratch.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        let window = self.options().lease_window;
        let claim = Claim {
            name: &scratch.schema,
            owner: self.inner.owner,
            host: &self.options().host,
            window,
            version: projection.version(),
        };
        let id = scratch.id;
        let lease = Lease::take(self.database(), claim).await?.ok_or_else(|| lost(projection))?;
        let reading = Lifecycle::new();
        let stop = CancellationToken::new();
        let checked = tokio::select! {
            _ = lease.renew(self.database(), window, &stop) => Err(lost(projection)),
            checked = self.compare(projection, scratch, &lease, &reading, &mut progress) => checked,
        };
        reading.stop(window).await;
        let dropped = build::drop_build(self.database(), id).await;
        let checked = checked?;
        dropped?;
        Ok(checked)
    }

    /// The live build, if it is one of this code's version.
    async fn live(&self, projection: &dyn Projection) -> Result<Build, EngineFault> {
        let live = Builds::of(self.database(), projection.name()).await?.live;
        live.filter(|build| build.version == projection.version())
            .ok_or_else(|| EngineFault::NotBuilt(projection.name().to_owned()))
    }

    async fn compare(
        &self,
        projection: &dyn Projection,
        mut scratch: Build,
        lease: &Lease,
        reading: &Lifecycle,
        progress: &mut (impl FnMut(Progress) + Send),
    ) -> Result<CheckReport, EngineFault> {
        let options = self.options();
        let mut meter = Meter::new();
        loop {
            let live = self.live(projection).await?;
            if live.started_from != scratch.started_from {
                return Err(EngineFault::Replaying {
                    name: projection.name().to_owned(),
                    build: live.id,
                });
            }
            // Never past the live build, which may be far behind the log's head.
            let mut cursor = self.cursor(reading, scratch.position);
            while scratch.position < live.position {
                let mut events =
                    cursor.next().await.map_err(|fault| BatchFault::from(fault).on(projection))?;
                events.retain(|event| event.position <= live.position);
                let target = Target { projection, build: &scratch, options };
                let done = batch::commit(self.log(), &target, lease, &events, meter.rate()).await;
                let done = done.map_err(|fault| fault.on(projection))?;
                meter.count(events.len());
                if events.last().is_some_and(|last| last.position != done.position) {
                    cursor = self.cursor(reading, done.position);
                }
                scratch.position = done.position;
                let (position, target, rate) = (done.position, live.position, meter.rate());
                progress(Progress { position, target, rate, eta: eta(position, target, rate) });
            }
            if let Some(report) = self.at_one_moment(projection, &live, &scratch).await? {
                return Ok(report);
            }
        }
    }

    /// Compares both at the live one's position. `None` when that has moved too far ahead for one
    /// transaction, or another build went live.
    async fn at_one_moment(
        &self,
        projection: &dyn Projection,
        live: &Build,
        scratch: &Build,
    ) -> Result<Option<CheckReport>, EngineFault> {
        let fault = DatabaseFault::of("compare a read model with its rebuild");
        let rest = self.log().read(scratch.position, self.options().rebuild_batch).await?;
        let mut tx = crate::transaction::begin_of_one_moment(self.database()).await?;
        // Taken before the moment is: a swap may retire these tables, but not drop them.
        hold(&mut tx, projection, live).await.map_err(&fault)?;
        let rows = sqlx::query(WHERE).bind(live.id).fetch_all(&mut *tx).await;
        let rows = rows.map_err(&fault)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let position = Position(row.try_get("position").map_err(&fault)?);
        if rest.last().map_or(scratch.position, |event| event.position) < position {
            return Ok(None);
        }
        let target = Target { projection, build: scratch, options: self.options() };
        if batch::enter(&mut tx, &target, true).await.map_err(&fault)? != Some(scratch.position) {
            return Err(lost(projection));
        }
        let mut wanted = batch::wanted(projection.kinds(), &rest);
        wanted.retain(|event| event.position <= position);
        let applied = batch::apply(&mut tx, &target, &wanted).await;
        if applied.map_err(|fault| fault.on(projection))?.upto.is_some() {
            return Ok(None);
        }
        let mut tables = Vec::new();
        for table in projection.tables() {
            tables.push(table_report(&mut tx, table, live, scratch).await.map_err(&fault)?);
        }
        tx.rollback().await.map_err(&fault)?;
        Ok(Some(CheckReport { position, tables }))
    }
}

fn lost(projection: &dyn Projection) -> EngineFault {
    EngineFault::Interrupted(projection.name().to_owned())
}

async fn hold(
    tx: &mut PgConnection,
    projection: &dyn Projection,
    live: &Build,
) -> Result<(), sqlx::Error> {
    for table in projection.tables() {
        let statement = format!("LOCK TABLE \"{}\".\"{table}\" IN ACCESS SHARE MODE", live.schema);
        // Both names are the code's own.
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *tx).await?;
    }
    Ok(())
}

async fn table_report(
    tx: &mut PgConnection,
    table: &'static str,
    live: &Build,
    scratch: &Build,
) -> Result<TableReport, sqlx::Error> {
    let (live, rebuilt) =
        (format!("\"{}\".\"{table}\"", live.schema), format!("\"{}\".\"{table}\"", scratch.schema));
    let (n_only_live, only_live) = difference(tx, &live, &rebuilt).await?;
    let (n_only_rebuilt, only_rebuilt) = difference(tx, &rebuilt, &live).await?;
    let count = AssertSqlSafe(format!("SELECT count(*) FROM {live}"));
    let n_rows: Vec<i64> = sqlx::query_scalar(count).fetch_all(tx).await?;
    let n_rows = n_rows.first().copied().unwrap_or(0).unsigned_abs();
    Ok(TableReport { table, n_rows, n_only_live, n_only_rebuilt, only_live, only_rebuilt })
}

/// Rows of one table that the other does not have, as often as they stand in it.
async fn difference(
    tx: &mut PgConnection,
    of: &str,
    from: &str,
) -> Result<(u64, Vec<String>), sqlx::Error> {
    // Both names are the code's own.
    let statement = AssertSqlSafe(format!(
        "WITH difference AS MATERIALIZED (SELECT * FROM {of} EXCEPT ALL SELECT * FROM {from})
         SELECT (SELECT count(*) FROM difference) AS n,
             ARRAY(SELECT to_jsonb(d)::text FROM difference d ORDER BY d LIMIT 10) AS first"
    ));
    let rows = sqlx::query(statement).fetch_all(tx).await?;
    let row = rows.first().ok_or(sqlx::Error::RowNotFound)?;
    Ok((row.try_get::<i64, _>("n")?.unsigned_abs(), row.try_get("first")?))
}
