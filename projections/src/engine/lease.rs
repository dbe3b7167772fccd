//! Who may move a projection's builds: one owner at a time, fenced, by the database's clock.
//!
//! A fence rises with every new owner and is verified in the transaction that moves an offset, so
//! that an owner who was stalled past its lease cannot commit, whatever it still believes.

use std::time::Duration;

use sqlx::{PgConnection, Row};
use tokio_util::sync::CancellationToken;
use tracing::warn;
use uuid::Uuid;
use weir_log::database::{Database, DatabaseFault};

use super::backoff::Backoff;

/// A lease that was had once. Whether it still is, only the database knows.
#[derive(Debug, Clone)]
pub(super) struct Lease {
    pub(super) name: String,
    pub(super) owner: Uuid,
    pub(super) fence: i64,
}

/// What a lease is asked for with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) name: &'a str,
    pub(super) owner: Uuid,
    pub(super) host: &'a str,
    pub(super) window: Duration,
    /// The version of the code that wants it.
    pub(super) version: i32,
}

/// A lease that ends further ahead than it was taken for was taken before the clock stepped back;
/// nobody would ever see it end. A row that is locked is being committed under. Code that is older
/// than the live build stands back: it can do nothing for it.
const TAKE: &str = "
    WITH free AS (
        SELECT name FROM projections.leases
        WHERE name = $1 AND (held_until <= clock_timestamp()
            OR held_until > clock_timestamp() + held_for + interval '1 second')
            AND NOT EXISTS (SELECT FROM projections.builds b
                WHERE b.name = $1 AND b.state IN ('live', 'halted') AND b.version > $5)
        FOR UPDATE SKIP LOCKED)
    UPDATE projections.leases l
    SET owner = $2, host = $3, fence = l.fence + 1, held_for = make_interval(secs => $4),
        held_until = clock_timestamp() + make_interval(secs => $4)
    FROM free WHERE l.name = free.name
    RETURNING l.fence";

const INTRODUCE: &str = "
    INSERT INTO projections.leases (name, owner, host, fence, held_until, held_for)
    VALUES ($1, $2, '', 0, '-infinity', interval '0')
    ON CONFLICT (name) DO NOTHING";

/// Not waited for on disk: after a crash of the database the lease ends where it ended before, and
/// whoever takes it over has a higher fence, which is on disk.
const RENEW: &str = "
    WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    UPDATE projections.leases SET held_until = clock_timestamp() + held_for
    FROM relaxed WHERE name = $1 AND owner = $2 AND fence = $3";

/// Not waited for either: at worst the next one waits for its end.
const RELEASE: &str = "
    WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    UPDATE projections.leases SET held_until = '-infinity'
    FROM relaxed WHERE name = $1 AND owner = $2 AND fence = $3";

/// Holds the row until the end of the transaction: nobody takes over before it is committed.
const VERIFY: &str = "
    SELECT 1 FROM projections.leases
    WHERE name = $1 AND owner = $2 AND fence = $3 AND held_until > clock_timestamp()
    FOR SHARE";

impl Lease {
    /// Takes the lease if nobody holds it.
    pub(super) async fn take(
        database: &Database,
        claim: Claim<'_>,
    ) -> Result<Option<Self>, DatabaseFault> {
        let fault = DatabaseFault::of("take the lease of a projection");
        let Claim { name, owner, host, window, version } = claim;
        let mut tx = database.begin().await?;
        let mut taken = Vec::new();
        for introduced in [false, true] {
            taken = sqlx::query(TAKE)
                .bind(name)
                .bind(owner)
                .bind(host)
                .bind(window.as_secs_f64())
                .bind(version)
                .fetch_all(&mut *tx)
                .await
                .map_err(&fault)?;
            if introduced || !taken.is_empty() {
                break;
            }
            let new = sqlx::query(INTRODUCE).bind(name).bind(owner).execute(&mut *tx).await;
            if new.map_err(&fault)?.rows_affected() == 0 {
                break;
            }
        }
        tx.commit().await.map_err(&fault)?;
        let Some(row) = taken.first() else { return Ok(None) };
        let fence = row.try_get("fence").map_err(&fault)?;
        Ok(Some(Self { name: name.to_owned(), owner, fence }))
    }

    /// Verifies it in the transaction that is about to be committed.
    pub(super) async fn verify(&self, tx: &mut PgConnection) -> Result<bool, sqlx::Error> {
        let held = self.bind(sqlx::query(VERIFY)).fetch_all(tx).await?;
        Ok(!held.is_empty())
    }

    /// Renews it every third of its window until told to stop; answers whether it was lost to
    /// somebody else.
    pub(super) async fn renew(
        &self,
        database: &Database,
        window: Duration,
        stop: &CancellationToken,
    ) -> bool {
        let mut backoff = Backoff::new(window / 20, window / 3);
        while !stop.is_cancelled() {
            let renewing = self.run(database, RENEW, "renew the lease of a projection");
            // Whatever takes as long as the lease holds is of no use any more.
            let renewed = tokio::time::timeout(window, renewing).await;
            match renewed.unwrap_or_else(|_| Err(timed_out())) {
                Ok(0) => return true,
                Ok(_) => {
                    backoff.reset();
                    stop.run_until_cancelled(tokio::time::sleep(window / 3)).await;
                }
                Err(fault) => {
                    warn!(projection = %self.name, error = %fault, cause = %fault.cause,
                        "lease not renewed, retrying");
                    backoff.wait(stop).await;
                }
            }
        }
        false
    }

    /// Gives it up, so that another worker need not wait for its end.
    pub(super) async fn release(&self, database: &Database) -> Result<(), DatabaseFault> {
        self.run(database, RELEASE, "release the lease of a projection").await.map(drop)
    }

    async fn run(
        &self,
        database: &Database,
        statement: &'static str,
        doing: &'static str,
    ) -> Result<u64, DatabaseFault> {
        let fault = DatabaseFault::of(doing);
        let mut tx = database.begin().await?;
        let done = self.bind(sqlx::query(statement)).execute(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        Ok(done.rows_affected())
    }

    fn bind<'q>(&'q self, query: PgQuery<'q>) -> PgQuery<'q> {
        query.bind(&self.name).bind(self.owner).bind(self.fence)
    }
}

fn timed_out() -> DatabaseFault {
    DatabaseFault { doing: "renew the lease of a projection", cause: sqlx::Error::PoolTimedOut }
}

type PgQuery<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;
