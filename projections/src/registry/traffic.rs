//! How much passed the door and how much was refused: by hour for each ecosystem, and by day for
//! each package. Of the past only; what changes nothing is no event and is not counted here.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::{PgConnection, Row};
use time::OffsetDateTime;
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    registry::{Ecosystem, Event},
    timestamp::Timestamp,
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `registry.traffic_hours` with `registry.traffic_packages`.
#[derive(Debug)]
pub struct Traffic;

const HOURS: &str = "registry.traffic_hours";
const PACKAGES: &str = "registry.traffic_packages";

/// How wide a step in time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// An hour.
    Hour,
    /// A day of UTC.
    Day,
}

impl Step {
    /// The name used in addresses and in SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }
}

/// What was decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files let through.
    pub n_allowed: u64,
    /// Files refused.
    pub n_blocked: u64,
    /// Lists answered with something hidden or marked.
    pub n_filtered: u64,
}

/// What was decided for an ecosystem in an hour or a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrafficRow {
    /// When it began.
    pub at: Timestamp,
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// What was decided.
    pub counts: Counts,
}

const OVER_TIME: &str = "
    SELECT date_trunc($1, hour, 'UTC') AS at, ecosystem, sum(n_allowed)::bigint AS n_allowed,
        sum(n_blocked)::bigint AS n_blocked, sum(n_filtered)::bigint AS n_filtered
    FROM registry.traffic_hours WHERE hour >= $2 AND ($3::text IS NULL OR ecosystem = $3)
    GROUP BY 1, 2 ORDER BY 1, 2 LIMIT $4";

/// What was decided since the beginning of an hour, step by step, the oldest first. A step in which
/// nothing was decided has no row.
pub async fn over_time(
    database: &Database,
    since: Timestamp,
    step: Step,
    ecosystem: Option<Ecosystem>,
) -> Result<Vec<TrafficRow>, QueryFault> {
    let query = sqlx::query(OVER_TIME)
        .bind(step.as_str())
        .bind(since.datetime())
        .bind(ecosystem.map(Ecosystem::as_str))
        .bind(query::limit(query::MAX_ROWS));
    query::rows(database, HOURS, query, |row| {
        Ok(TrafficRow {
            at: query::moment(row, "at")?,
            ecosystem: query::word(row, "ecosystem", Ecosystem::find)?,
            counts: Counts {
                n_allowed: row.try_get::<i64, _>("n_allowed")?.unsigned_abs(),
                n_blocked: row.try_get::<i64, _>("n_blocked")?.unsigned_abs(),
                n_filtered: row.try_get::<i64, _>("n_filtered")?.unsigned_abs(),
            },
        })
    })
    .await
}

/// How often the files of a package were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageRow {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// Files let through.
    pub n_allowed: u64,
    /// Files refused.
    pub n_blocked: u64,
}

const TOP: &str = "
    SELECT ecosystem, package, sum(n_allowed)::bigint AS n_allowed,
        sum(n_blocked)::bigint AS n_blocked
    FROM registry.traffic_packages WHERE day >= $1 AND ($2::text IS NULL OR ecosystem = $2)
    GROUP BY ecosystem, package ORDER BY sum(n_allowed + n_blocked) DESC, package, ecosystem
    LIMIT $3";

/// The packages asked for most since the beginning of a day of UTC.
pub async fn top(
    database: &Database,
    since: Timestamp,
    ecosystem: Option<Ecosystem>,
    limit: usize,
) -> Result<Vec<PackageRow>, QueryFault> {
    let query = sqlx::query(TOP)
        .bind(since.datetime())
        .bind(ecosystem.map(Ecosystem::as_str))
        .bind(query::limit(limit));
    query::rows(database, PACKAGES, query, |row| {
        Ok(PackageRow {
            ecosystem: query::word(row, "ecosystem", Ecosystem::find)?,
            package: row.try_get("package")?,
            n_allowed: row.try_get::<i64, _>("n_allowed")?.unsigned_abs(),
            n_blocked: row.try_get::<i64, _>("n_blocked")?.unsigned_abs(),
        })
    })
    .await
}

const COUNT_HOURS: &str = "
    INSERT INTO traffic_hours AS t (hour, ecosystem, n_allowed, n_blocked, n_filtered)
    SELECT date_trunc('hour', at, 'UTC'), ecosystem, count(*) FILTER (WHERE what = 'allowed'),
        count(*) FILTER (WHERE what = 'blocked'), count(*) FILTER (WHERE what = 'filtered')
    FROM unnest($1::timestamptz[], $2::text[], $3::text[]) AS e (at, ecosystem, what)
    GROUP BY 1, 2
    ON CONFLICT (hour, ecosystem) DO UPDATE SET
        n_allowed = t.n_allowed + excluded.n_allowed,
        n_blocked = t.n_blocked + excluded.n_blocked,
        n_filtered = t.n_filtered + excluded.n_filtered";

const COUNT_PACKAGES: &str = "
    INSERT INTO traffic_packages AS t (day, ecosystem, package, n_allowed, n_blocked)
    SELECT date_trunc('day', at, 'UTC'), ecosystem, package,
        count(*) FILTER (WHERE what = 'allowed'), count(*) FILTER (WHERE what = 'blocked')
    FROM unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[])
        AS e (at, ecosystem, what, package)
    WHERE what <> 'filtered'
    GROUP BY 1, 2, 3
    ON CONFLICT (day, ecosystem, package) DO UPDATE SET
        n_allowed = t.n_allowed + excluded.n_allowed,
        n_blocked = t.n_blocked + excluded.n_blocked";

/// The columns of a batch.
#[derive(Default)]
struct Columns {
    at: Vec<OffsetDateTime>,
    ecosystem: Vec<&'static str>,
    what: Vec<&'static str>,
    package: Vec<String>,
}

impl Columns {
    fn push(&mut self, recorded: &Recorded, event: Event) {
        let (what, ecosystem, package) = match event {
            Event::PackageAllowed(it) => ("allowed", it.ecosystem, it.package),
            Event::PackageBlocked(it) => ("blocked", it.ecosystem, it.package),
            Event::MetadataFiltered(it) => ("filtered", it.ecosystem, it.package),
            _ => return,
        };
        self.at.push(recorded.recorded_at.datetime());
        self.ecosystem.push(ecosystem.as_str());
        self.what.push(what);
        self.package.push(package);
    }
}

impl Projection for Traffic {
    fn name(&self) -> &'static str {
        "traffic"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x4002), Kind(0x4003), Kind(0x4004)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/registry/traffic.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["traffic_hours", "traffic_packages"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let mut columns = Columns::default();
            for event in decode::events::<Event>(batch) {
                let (recorded, event) = event?;
                columns.push(recorded, event);
            }
            sqlx::query(COUNT_HOURS)
                .bind(&columns.at)
                .bind(&columns.ecosystem)
                .bind(&columns.what)
                .execute(&mut *tx)
                .await?;
            sqlx::query(COUNT_PACKAGES)
                .bind(&columns.at)
                .bind(&columns.ecosystem)
                .bind(&columns.what)
                .bind(&columns.package)
                .execute(tx)
                .await?;
            Ok(())
        })
    }
}
