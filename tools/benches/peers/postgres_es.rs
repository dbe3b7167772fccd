//! Callers of crate `postgres-es`: each appends one event to an aggregate of its own, waits until
//! it is durable, and appends again. Prints how many events a second that were.
//!
//! Arguments: the database, how many callers, how many events each.

use std::{env, error::Error, process, time::Instant};

use cqrs_es::{
    Aggregate, DomainEvent,
    event_sink::EventSink,
    persist::{PersistedEventRepository, SerializedEvent},
};
use postgres_es::PostgresEventRepository;
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPoolOptions;

type Fault = Box<dyn Error + Send + Sync>;

const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS events (
        aggregate_type text NOT NULL, aggregate_id text NOT NULL,
        sequence bigint CHECK (sequence >= 0) NOT NULL, event_type text NOT NULL,
        event_version text NOT NULL, payload json NOT NULL, metadata json NOT NULL,
        PRIMARY KEY (aggregate_type, aggregate_id, sequence))";

#[derive(Default, Serialize, Deserialize)]
struct Nothing;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Blocked;

impl DomainEvent for Blocked {
    fn event_type(&self) -> String {
        "PackageBlocked".to_owned()
    }

    fn event_version(&self) -> String {
        "1".to_owned()
    }
}

impl Aggregate for Nothing {
    const TYPE: &'static str = "bench";
    type Command = ();
    type Event = Blocked;
    type Error = std::fmt::Error;
    type Services = ();

    async fn handle(
        &mut self,
        (): (),
        (): &(),
        _sink: &EventSink<Self>,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    fn apply(&mut self, _event: Blocked) {}
}

fn main() -> Result<(), Fault> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [url, n_callers, n_each] = &arguments[..] else {
        return Err("arguments: the database, how many callers, how many events each".into());
    };
    let (n_callers, n_each) = (n_callers.parse()?, n_each.parse()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let rate = runtime.block_on(run(url, n_callers, n_each))?;
    println!("{rate}");
    Ok(())
}

async fn run(url: &str, n_callers: u32, n_each: usize) -> Result<f64, Fault> {
    let pool = PgPoolOptions::new()
        .max_connections(n_callers)
        .min_connections(n_callers)
        .connect(url)
        .await?;
    sqlx::query(TABLE).execute(&pool).await?;
    for nth in 0..n_callers {
        // Every connection has seen the statement once.
        append(&PostgresEventRepository::new(pool.clone()), &id("warm", nth), 1).await?;
    }
    let began = Instant::now();
    let callers: Vec<_> = (0..n_callers)
        .map(|nth| {
            let repository = PostgresEventRepository::new(pool.clone());
            tokio::spawn(async move {
                let id = id("caller", nth);
                for sequence in 1..=n_each {
                    append(&repository, &id, sequence).await?;
                }
                Ok::<_, Fault>(())
            })
        })
        .collect();
    for caller in callers {
        caller.await??;
    }
    Ok(f64::from(n_callers) * n_each as f64 / began.elapsed().as_secs_f64())
}

/// An aggregate of this caller in this process.
fn id(what: &str, nth: u32) -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{what}-{nth}-{}-{}", process::id(), since.unwrap_or_default().as_nanos())
}

async fn append(
    repository: &PostgresEventRepository,
    id: &str,
    sequence: usize,
) -> Result<(), Fault> {
    let json = |n: usize| serde_json::json!({ "text": "x".repeat(n - 11) });
    let event = SerializedEvent {
        aggregate_id: id.to_owned(),
        sequence,
        aggregate_type: Nothing::TYPE.to_owned(),
        event_type: "PackageBlocked".to_owned(),
        event_version: "1".to_owned(),
        payload: json(180),
        metadata: json(120),
    };
    Ok(repository.persist::<Nothing>(&[event], None).await?)
}
