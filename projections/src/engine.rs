//! The engine that keeps read models: one lease holder per projection, rows and offset in one
//! transaction, rebuilds beside the live build.
//!
//! Nothing here knows what a read model is about, and nothing here decides. Everything is said in
//! explicit transactions with `SET LOCAL` only, so that it works behind a pooler in transaction
//! mode, and every lease is measured by the database's clock.

pub mod check;
pub mod dead_letter;
pub mod operations;
pub mod rebuild;
pub mod sole;
pub mod status;
pub mod wait;

mod backoff;
mod batch;
mod build;
mod cursor;
mod lease;
mod meter;
mod pace;
mod worker;

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use futures_util::future::BoxFuture;
use sqlx::PgConnection;
use tokio::sync::{Mutex, Notify, watch};
use uuid::Uuid;
use weir_events::{
    codec::CodecFault,
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::{Incarnation, Position},
};
use weir_log::{
    Log,
    database::{Database, DatabaseFault},
    lifecycle::Lifecycle,
    read::ReadFault,
};

/// A replayable read model: tables that are a function of the log.
///
/// `apply` is handed the wanted events of a batch in order, with the `search_path` set to the
/// build's own schema. It answers the same for the same events, whatever the batches are.
pub trait Projection: Send + Sync + 'static {
    /// The name: `[a-z][a-z0-9_]*`, at most 40 characters, unique.
    fn name(&self) -> &'static str;
    /// The version of its tables and of what it writes. A higher one than the live build's is
    /// rebuilt by itself.
    fn version(&self) -> i32;
    /// The subsystem it belongs to.
    fn subsystem(&self) -> Subsystem;
    /// The schema of its views; that of the subsystem's name, where nothing else was promised.
    fn views(&self) -> &'static str {
        self.subsystem().as_str()
    }
    /// The kinds it wants to see.
    fn kinds(&self) -> Kinds;
    /// Its tables, in unqualified names.
    fn ddl(&self) -> &'static str;
    /// The names of its tables: each gets a view, and `--check` compares each.
    fn tables(&self) -> &'static [&'static str];
    /// What becomes of an event that cannot be applied.
    fn poison_policy(&self) -> PoisonPolicy {
        PoisonPolicy::Park
    }
    /// Applies events, in sets.
    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>>;
}

/// The kinds a projection wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    /// Every event.
    All,
    /// Events of these kinds.
    These(&'static [Kind]),
}

impl Kinds {
    /// Whether an event of this kind is wanted.
    pub fn want(self, kind: Kind) -> bool {
        match self {
            Self::All => true,
            Self::These(kinds) => kinds.contains(&kind),
        }
    }
}

/// What becomes of an event that cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoisonPolicy {
    /// It is parked in the dead letters and the projection goes on.
    Park,
    /// The projection stands still before it until it is rebuilt.
    Halt,
}

/// Events could not be applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyFault {
    /// An event is not what its kind says.
    #[error("the event at position {position} cannot be read")]
    Undecodable {
        /// Its position.
        position: Position,
        /// What the codec said.
        #[source]
        cause: CodecFault,
    },
    /// The database refused the rows.
    #[error("the rows cannot be written")]
    Database(#[from] sqlx::Error),
    /// The read model itself cannot make sense of it.
    #[error("{0}")]
    Refused(String),
}

/// How an engine works.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// How long a lease holds without renewal, by the database's clock. Another worker takes over
    /// at most this and a second after its owner went silent.
    pub lease_window: Duration,
    /// The most events of a live batch.
    pub live_batch: usize,
    /// The most events of a batch of a rebuild, or while catching up.
    pub rebuild_batch: usize,
    /// How long events gather for the next live batch after one was written: the first is written at
    /// once, and so is everything as soon as somebody in this process waits for it.
    pub gather: Duration,
    /// How long an offset that moves over events without rows may stay behind, while there are more
    /// of them. Who reads does not wait for it.
    pub idle_gather: Duration,
    /// The most events that one batch parks.
    pub max_parked: usize,
    /// What this process is called in `owner` of the status, beside its id.
    pub host: String,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            lease_window: Duration::from_secs(5),
            live_batch: 1_000,
            rebuild_batch: 10_000,
            gather: Duration::from_millis(20),
            idle_gather: Duration::from_millis(200),
            max_parked: 100,
            host: String::new(),
        }
    }
}

/// What was asked of the engine did not happen.
#[derive(Debug, thiserror::Error)]
pub enum EngineFault {
    /// No projection has this name.
    #[error("no projection is called `{0}`")]
    Unknown(String),
    /// It has no build of this version yet: no worker has finished one since it was added.
    #[error("projection `{0}` is not built in this version yet: start a worker")]
    NotBuilt(String),
    /// A rebuild of another kind is going on.
    #[error("a replay of `{name}` is already running, as build {build}")]
    Replaying {
        /// The projection.
        name: String,
        /// The build that is being made.
        build: i64,
    },
    /// No rebuild is going on.
    #[error("no replay of `{0}` is running")]
    NotReplaying(String),
    /// The event is not parked.
    #[error("position {position} is not among the dead letters of `{name}`")]
    NotParked {
        /// The projection.
        name: String,
        /// The position asked for.
        position: Position,
    },
    /// The event cannot be applied, still or again.
    #[error("the event at position {position} cannot be applied: {error}")]
    Poison {
        /// Its position.
        position: Position,
        /// Why.
        error: String,
    },
    /// Somebody else took it over or called it off.
    #[error("work on projection `{0}` was called off or taken over")]
    Interrupted(String),
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadFault),
    /// The database could not be asked.
    #[error(transparent)]
    Database(#[from] DatabaseFault),
}

/// The engine of one process. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    log: Log,
    slots: Vec<Slot>,
    owner: Uuid,
    options: EngineOptions,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.projections().map(|p| p.name()).collect();
        f.debug_struct("Engine").field("projections", &names).finish_non_exhaustive()
    }
}

/// How long what was seen of a live build is true: as long as the log has the same life, and the
/// database was there all the time. After a crash of it, what was committed last may have to be done
/// again (see [`batch`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Life {
    incarnation: Incarnation,
    n_outages: u64,
}

/// A projection, and what this process knows of it.
struct Slot {
    projection: Arc<dyn Projection>,
    /// Up to where the live build is known to have everything that it wants.
    seen: watch::Sender<(Option<Life>, Position)>,
    /// Whether a worker of this process keeps it, and so says where it is.
    kept: AtomicBool,
    /// Whose turn it is to ask the database where it is.
    asking: Mutex<()>,
    /// Whose turn it is to move builds: the live one's next batch, or the swap of another.
    turn: Mutex<()>,
    /// Rung when its builds may have changed.
    changed: Notify,
    /// Rung when somebody waits for what is being gathered.
    awaited: Notify,
    /// Rung when an operator's command was recorded.
    commanded: Notify,
}

impl Slot {
    fn new(projection: Arc<dyn Projection>) -> Self {
        Self {
            projection,
            seen: watch::Sender::new((None, Position::START)),
            kept: AtomicBool::new(false),
            asking: Mutex::new(()),
            turn: Mutex::new(()),
            changed: Notify::new(),
            awaited: Notify::new(),
            commanded: Notify::new(),
        }
    }

    /// A live build does not go back within a life.
    fn saw(&self, life: Life, position: Position) {
        self.seen.send_if_modified(|seen| {
            let news = seen.0 != Some(life) || seen.1 < position;
            if news {
                *seen = (Some(life), position);
            }
            news
        });
    }

    fn position(&self, life: Life) -> Position {
        let (seen_in, position) = *self.seen.borrow();
        if seen_in == Some(life) { position } else { Position::START }
    }
}

impl Engine {
    /// Makes an engine that runs nothing yet. `owner` names this process among the holders of
    /// leases: a fresh id each time. No work of it waits for a second connection while
    /// it holds one, so that a small pool is slow but enough.
    pub fn new(
        log: Log,
        projections: Vec<Arc<dyn Projection>>,
        owner: Uuid,
        options: EngineOptions,
    ) -> Self {
        let slots = projections.into_iter().map(Slot::new).collect();
        Self { inner: Arc::new(Inner { log, slots, owner, options }) }
    }

    /// Runs the projections in this process: works where it gets the lease, stands by elsewhere,
    /// gives the leases up at the soft stop. Processes that only ask (the API) never call it.
    pub fn start(&self, lifecycle: &Lifecycle) {
        worker::start(self, lifecycle);
    }

    /// The log it reads.
    pub fn log(&self) -> &Log {
        &self.inner.log
    }

    /// The projections it knows, in the order of registration.
    pub fn projections(&self) -> impl Iterator<Item = &Arc<dyn Projection>> {
        self.inner.slots.iter().map(|slot| &slot.projection)
    }

    /// Finds a projection by its name.
    pub fn projection(&self, name: &str) -> Result<&Arc<dyn Projection>, EngineFault> {
        Ok(&self.known(name)?.projection)
    }

    fn known(&self, name: &str) -> Result<&Slot, EngineFault> {
        self.slot(name).ok_or_else(|| EngineFault::Unknown(name.to_owned()))
    }

    fn slot(&self, name: &str) -> Option<&Slot> {
        self.inner.slots.iter().find(|slot| slot.projection.name() == name)
    }

    /// The life that is now: asked for before what is seen, so that it is never too new.
    fn life(&self) -> Life {
        let log = self.log();
        Life { incarnation: log.incarnation(), n_outages: log.hub().n_outages() }
    }

    fn database(&self) -> &Database {
        self.inner.log.database()
    }

    fn options(&self) -> &EngineOptions {
        &self.inner.options
    }
}

/// The actor that dead letters of a projection are addressed by.
pub fn actor_path(name: &str) -> String {
    format!("pekko://weir/system/projections/{name}")
}
