//! Read models of tests: one that only counts, and one that keeps every event and can be told to
//! fail, to wait, or to be of another version.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::BoxFuture;
use sqlx::PgConnection;
use weir_events::{envelope::Recorded, kind::Subsystem, position::Position};
use weir_projections::engine::{ApplyFault, Kinds, PoisonPolicy, Projection};

/// Counts every event, and nothing else: what a rebuild costs without its rows.
#[derive(Debug)]
pub struct Counter;

impl Projection for Counter {
    fn name(&self) -> &'static str {
        "counter"
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
        "CREATE TABLE counter (n bigint NOT NULL); INSERT INTO counter VALUES (0)"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["counter"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let n = i64::try_from(batch.len()).unwrap_or(i64::MAX);
            sqlx::query("UPDATE counter SET n = n + $1").bind(n).execute(tx).await?;
            Ok(())
        })
    }
}

/// What a [`Keeper`] runs in the middle of a batch, between its rows and its commit.
pub type Hook = Arc<dyn Fn(&[Arc<Recorded>]) -> BoxFuture<'static, ()> + Send + Sync>;

/// Keeps the position of every event and their number: an event applied twice breaks its key, one
/// left out is missing in its number.
#[derive(Clone)]
pub struct Keeper {
    version: i32,
    policy: PoisonPolicy,
    poison: Arc<Mutex<BTreeSet<Position>>>,
    hook: Option<Hook>,
    late: bool,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Default for Keeper {
    fn default() -> Self {
        Self {
            version: 1,
            policy: PoisonPolicy::Park,
            poison: Arc::default(),
            hook: None,
            late: false,
        }
    }
}

impl Keeper {
    /// Of another version: it also keeps twice the position.
    #[must_use]
    pub const fn version(mut self, version: i32) -> Self {
        self.version = version;
        self
    }

    /// With another policy on poison.
    #[must_use]
    pub const fn policy(mut self, policy: PoisonPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// With something to run in the middle of each batch.
    #[must_use]
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// What is wrong with an event is said by a deferred constraint, at the end of all.
    #[must_use]
    pub const fn late(mut self) -> Self {
        self.late = true;
        self
    }

    /// From now on these events, and no others, cannot be applied. Clones share it.
    pub fn poison(&self, positions: impl IntoIterator<Item = Position>) {
        *self.poison.lock().unwrap_or_else(PoisonError::into_inner) =
            positions.into_iter().collect();
    }

    /// As the engine takes it.
    pub fn boxed(&self) -> Arc<dyn Projection> {
        Arc::new(self.clone())
    }

    fn poisoned(&self, batch: &[Arc<Recorded>]) -> Option<Position> {
        let poison = self.poison.lock().unwrap_or_else(PoisonError::into_inner);
        batch.iter().map(|event| event.position).find(|position| poison.contains(position))
    }
}

impl Projection for Keeper {
    fn name(&self) -> &'static str {
        "keeper"
    }

    fn version(&self) -> i32 {
        self.version
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Log
    }

    fn kinds(&self) -> Kinds {
        Kinds::All
    }

    fn ddl(&self) -> &'static str {
        if self.version == 1 {
            "CREATE TABLE kept (position bigint PRIMARY KEY);
             CREATE TABLE kept_number (n bigint NOT NULL); INSERT INTO kept_number VALUES (0);
             CREATE TABLE kept_once (position bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)"
        } else {
            "CREATE TABLE kept (twice bigint NOT NULL, position bigint PRIMARY KEY);
             CREATE TABLE kept_number (n bigint NOT NULL); INSERT INTO kept_number VALUES (0);
             CREATE TABLE kept_once (position bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)"
        }
    }

    fn tables(&self) -> &'static [&'static str] {
        &["kept", "kept_number", "kept_once"]
    }

    fn poison_policy(&self) -> PoisonPolicy {
        self.policy
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        const KEEP: &str = "INSERT INTO kept (position) SELECT * FROM unnest($1::bigint[])";
        const KEEP_TWICE: &str =
            "INSERT INTO kept (position, twice) SELECT p, 2 * p FROM unnest($1::bigint[]) p";
        Box::pin(async move {
            let positions: Vec<i64> = batch.iter().map(|event| event.position.0).collect();
            let n = i64::try_from(batch.len()).unwrap_or(i64::MAX);
            let keep = if self.version == 1 { KEEP } else { KEEP_TWICE };
            sqlx::query(keep).bind(positions).execute(&mut *tx).await?;
            let count = sqlx::query("UPDATE kept_number SET n = n + $1").bind(n);
            count.execute(&mut *tx).await?;
            if let Some(hook) = &self.hook {
                hook(batch).await;
            }
            match self.poisoned(batch) {
                Some(position) if self.late => {
                    const TWICE: &str =
                        "INSERT INTO kept_once SELECT $1 FROM generate_series(1, 2)";
                    sqlx::query(TWICE).bind(position.0).execute(tx).await?;
                    Ok(())
                }
                Some(position) => Err(ApplyFault::Refused(format!("position {position} is bad"))),
                None => Ok(()),
            }
        })
    }
}
