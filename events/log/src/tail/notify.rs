//! Waking other processes: one coalesced NOTIFY at most every 10 ms, on a connection of its own.
//! Inside the append it would cost several times the throughput. Losing one costs only latency.
//!
//! The connection that listens also tells when the database goes away: it closes, before the database
//! can be back.

use std::time::Duration;

use sqlx::{PgConnection, Row, postgres::PgListener, postgres::PgPoolOptions};
use tracing::debug;

use super::Hub;
use crate::{
    database::{Database, DatabaseFault},
    lifecycle::Lifecycle,
};

const CHANNEL: &str = "weir_log";
const COALESCE: Duration = Duration::from_millis(10);
const RECONNECT: Duration = Duration::from_millis(500);

/// A notification that is lost costs latency only: it need not wait for the disk.
const NOTIFY: &str = "
    SELECT set_config('synchronous_commit', 'off', false), pg_backend_pid() AS speaker,
        pg_notify('weir_log', '')";

pub(super) fn start(database: &Database, hub: &Hub, lifecycle: &Lifecycle) {
    let (speak, speaker, soft) = (database.clone(), hub.clone(), lifecycle.soft().clone());
    lifecycle.run("log notifier", async move {
        soft.run_until_cancelled(tell_others(&speak, &speaker)).await;
    });
    let (listen, listener, soft) = (database.clone(), hub.clone(), lifecycle.soft().clone());
    lifecycle.run("log listener", async move {
        soft.run_until_cancelled(hear_others(&listen, &listener)).await;
        listener.listens(false);
    });
}

async fn tell_others(database: &Database, hub: &Hub) {
    let mut connection: Option<PgConnection> = None;
    loop {
        hub.appended().await;
        let told = match connection.take() {
            Some(open) => tell(open, hub).await,
            None => match database.connect().await {
                Ok(open) => tell(open, hub).await,
                Err(fault) => Err(fault),
            },
        };
        match told {
            Ok(open) => connection = Some(open),
            Err(fault) => {
                debug!(error = %fault, cause = %fault.cause, "could not notify");
                tokio::time::sleep(RECONNECT).await;
            }
        }
        tokio::time::sleep(COALESCE).await;
    }
}

async fn tell(mut connection: PgConnection, hub: &Hub) -> Result<PgConnection, DatabaseFault> {
    let fault = DatabaseFault::of("notify other processes");
    let rows = sqlx::query(NOTIFY).fetch_all(&mut connection).await.map_err(&fault)?;
    let speaker = rows.first().map(|row| row.try_get::<i32, _>("speaker"));
    if let Some(speaker) = speaker.transpose().map_err(fault)? {
        hub.speaks_as(speaker.unsigned_abs());
    }
    Ok(connection)
}

async fn hear_others(database: &Database, hub: &Hub) {
    let mut had_listened = false;
    loop {
        if let Err(fault) = hear(database, hub, &mut had_listened).await {
            debug!(error = %fault, cause = %fault.cause, "not listening for a moment");
        }
        // In this order: whoever still believes that somebody listens is told.
        hub.listens(false);
        hub.lost_touch();
        hub.ring_bell();
        tokio::time::sleep(RECONNECT).await;
    }
}

/// Listens until the connection is closed.
async fn hear(
    database: &Database,
    hub: &Hub,
    had_listened: &mut bool,
) -> Result<(), DatabaseFault> {
    let fault = DatabaseFault::of("listen for other processes");
    // A pool of its own for its one connection: a listener in the shared pool would keep it from
    // ever closing.
    let own = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(5))
        .connect_lazy_with(database.connect_options().clone());
    let mut listener = PgListener::connect_with(&own).await.map_err(&fault)?;
    // What is lost is to be said at once, not when the database is back.
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await.map_err(&fault)?;
    // The database may have been away again since it was lost.
    if std::mem::replace(had_listened, true) {
        hub.lost_touch();
    }
    hub.listens(true);
    hub.ring_bell();
    while let Some(heard) = listener.try_recv().await.map_err(&fault)? {
        // It knows what it has told others.
        if !hub.spoke_as(heard.process_id()) {
            hub.ring_bell();
        }
    }
    Ok(())
}
