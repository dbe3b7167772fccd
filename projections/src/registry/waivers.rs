//! Waivers: those in force, those that wait for a second person, and those of the past.

mod changes;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row, postgres::PgRow};
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::Position,
    registry::{Ecosystem, policy::Waiver},
    timestamp::Timestamp,
};
use weir_log::database::Database;

use self::changes::Rounds;
use crate::{
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `registry.waivers`.
#[derive(Debug)]
pub struct Waivers;

const VIEW: &str = "registry.waivers";

/// Where a waiver stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A second person has to grant it.
    Waiting,
    /// It is in force.
    Granted,
    /// Somebody took it back, or said no to it.
    Revoked,
    /// Its time is over.
    Expired,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Granted, Self::Revoked, Self::Expired];

    /// The name used in the API and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Granted => "granted",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
        }
    }

    /// Finds a state by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// A waiver, and who did what to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaiverRow {
    /// The waiver.
    #[serde(flatten)]
    pub waiver: Waiver,
    /// Where it stands: over when its time is, also before anybody records that.
    pub state: State,
    /// The event it began with.
    pub first_position: Position,
    /// The event that made it what it is.
    pub position: Position,
    /// Who asked for it.
    pub requested_by: String,
    /// When.
    pub requested_at: Timestamp,
    /// Who said yes.
    pub granted_by: Option<String>,
    /// When.
    pub granted_at: Option<Timestamp>,
    /// Who took it back.
    pub ended_by: Option<String>,
    /// When it was taken back, or recorded as over.
    pub ended_at: Option<Timestamp>,
    /// Why it was taken back.
    pub end_reason: Option<String>,
}

const COLUMNS: &str = "
    SELECT id, first_position, position, state, ecosystem, package, versions, waives, token, reason,
        owner, expires_at, requested_by, requested_at, granted_by, granted_at, ended_by, ended_at,
        end_reason
    FROM registry.waivers WHERE first_position < ";

/// The newest waivers before a position, newest first, as they stand at `now`. The last row's first
/// position is the cursor of the next page.
pub async fn list(
    database: &Database,
    state: Option<State>,
    before: Option<Position>,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<WaiverRow>, QueryFault> {
    let mut query = QueryBuilder::<Postgres>::new(COLUMNS);
    query.push_bind(before.map_or(i64::MAX, |before| before.0));
    let now_there = now.datetime();
    match state {
        None => {}
        Some(State::Revoked) => {
            query.push(" AND state = 'revoked'");
        }
        Some(State::Expired) => {
            query.push(" AND (state = 'expired' OR (state IN ('waiting', 'granted')");
            query.push(" AND expires_at <= ").push_bind(now_there).push("))");
        }
        Some(state @ (State::Waiting | State::Granted)) => {
            query.push(" AND state = ").push_bind(state.as_str());
            query.push(" AND expires_at > ").push_bind(now_there);
        }
    }
    query.push(" ORDER BY first_position DESC LIMIT ").push_bind(query::limit(limit));
    query::rows(database, VIEW, query.build(), |row| from_row(row, now)).await
}

fn from_row(row: &PgRow, now: Timestamp) -> Result<WaiverRow, sqlx::Error> {
    let waiver = Waiver {
        id: row.try_get("id")?,
        ecosystem: query::word(row, "ecosystem", Ecosystem::find)?,
        package: row.try_get("package")?,
        versions: row.try_get("versions")?,
        waives: row.try_get("waives")?,
        token: row.try_get("token")?,
        reason: row.try_get("reason")?,
        owner: row.try_get("owner")?,
        expires_at: query::moment(row, "expires_at")?,
    };
    let state = match query::word(row, "state", State::find)? {
        State::Waiting | State::Granted if waiver.expires_at <= now => State::Expired,
        state => state,
    };
    Ok(WaiverRow {
        waiver,
        state,
        first_position: query::position(row, "first_position")?,
        position: query::position(row, "position")?,
        requested_by: row.try_get("requested_by")?,
        requested_at: query::moment(row, "requested_at")?,
        granted_by: row.try_get("granted_by")?,
        granted_at: query::moment_if_any(row, "granted_at")?,
        ended_by: row.try_get("ended_by")?,
        ended_at: query::moment_if_any(row, "ended_at")?,
        end_reason: row.try_get("end_reason")?,
    })
}

impl Projection for Waivers {
    fn name(&self) -> &'static str {
        "waivers"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x4017), Kind(0x401A), Kind(0x401B), Kind(0x401C)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/registry/waivers.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["waivers"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move { Rounds::of(batch)?.apply(tx).await })
    }
}
