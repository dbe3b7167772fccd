//! Who holds things up in the database: a trigger has an append, or a content, wait for the test.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use weir_tests::{database::TestDatabase, deadline};

/// What becomes of what was held up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum Fate {
    /// It is lost with the process.
    Lost,
    /// It is committed, and the process that sent it does not live to hear of it.
    Lands,
}

/// Whoever holds things up in the database.
pub(in crate::web) struct Holder {
    connection: PgConnection,
}

impl Holder {
    pub(in crate::web) async fn new(database: &TestDatabase) -> Self {
        let mut connection = PgConnection::connect(&database.url).await.expect("connect");
        let function = "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM pg_advisory_xact_lock(7402); RETURN NEW; END $$";
        connection.execute(function).await.expect("a function that waits");
        Self { connection }
    }

    async fn sql(&mut self, sql: String) {
        self.connection.execute(AssertSqlSafe(sql.as_str())).await.expect("hold it up");
    }

    /// Appends of an event to a stream wait at their commit from now on.
    pub(in crate::web) async fn hold_append(&mut self, stream: &str, kind: u16) {
        self.sql(format!(
            "SELECT pg_advisory_lock(7402);
             CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON log.events
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
                WHEN (NEW.stream = '{stream}' AND NEW.kind = {kind}) EXECUTE FUNCTION hold()"
        ))
        .await;
    }

    /// New contents wait from now on.
    pub(in crate::web) async fn hold_content(&mut self) {
        let trigger = "SELECT pg_advisory_lock(7402);
            CREATE TRIGGER hold BEFORE INSERT ON portal.content
                FOR EACH ROW EXECUTE FUNCTION hold()";
        self.sql(trigger.to_owned()).await;
    }

    async fn waiting(&mut self) -> Option<i32> {
        let waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 7402
            AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        sqlx::query_scalar(waiting).fetch_optional(&mut self.connection).await.expect("look")
    }

    pub(in crate::web) async fn held(&mut self, what: &str) -> i32 {
        deadline::until(what, async || self.waiting().await.ok_or("nobody waits")).await
    }

    /// Waits until so many are held up.
    pub(in crate::web) async fn all_held(&mut self, n: i64) {
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7402
            AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        deadline::until("all are held up", async || {
            let found = sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut self.connection).await;
            let found = found.expect("look");
            if found == n { Ok(()) } else { Err(found) }
        })
        .await;
    }

    /// Who waits is cut off, or goes on; from now on nobody waits any more. Others may be at work.
    pub(in crate::web) async fn release(&mut self, backend: i32, fate: Fate) {
        if fate == Fate::Lost {
            let cut = sqlx::query("SELECT pg_terminate_backend($1)").bind(backend);
            cut.execute(&mut self.connection).await.expect("cut it off");
            deadline::until("it is cut off", async || {
                let alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1";
                let alive = sqlx::query_scalar::<_, i64>(alive).bind(backend);
                match alive.fetch_one(&mut self.connection).await {
                    Ok(0) => Ok(()),
                    other => Err(other),
                }
            })
            .await;
        }
        self.sql("SELECT pg_advisory_unlock(7402)".to_owned()).await;
    }

    /// The same, where nobody else is at work, and things can be held up anew.
    pub(in crate::web) async fn let_go(&mut self, backend: i32, fate: Fate, table: &str) {
        self.release(backend, fate).await;
        // Dropping the trigger waits for whoever goes on with it.
        self.sql(format!("DROP TRIGGER hold ON {table}")).await;
    }
}
