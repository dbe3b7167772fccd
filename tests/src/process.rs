//! A process of Weir, as far as the log and the projections go: with connections, a log and an
//! engine of its own, on a runtime that can be killed or stalled.

use std::{sync::Arc, time::Duration};

use tokio::runtime::{Builder, Runtime};
use weir_log::{Log, LogOptions, lifecycle::Lifecycle};
use weir_projections::engine::{Engine, EngineOptions, Projection};

use crate::database::{TestDatabase, fresh};

/// A lease window short enough for tests and long enough for two busy cores.
pub const WINDOW: Duration = Duration::from_secs(2);

/// Connections of such a process.
const CONNECTIONS: u32 = 12;

/// The options of engines in tests.
pub fn options() -> EngineOptions {
    EngineOptions { lease_window: WINDOW, ..EngineOptions::default() }
}

/// A process whose engine works. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    runtime: Option<Runtime>,
    engine: Engine,
    lifecycle: Lifecycle,
}

impl Process {
    /// Starts a process: everything it does is on one thread, so that whatever blocks that thread
    /// stalls the whole process, as SIGSTOP would.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(
        database: &TestDatabase,
        projections: Vec<Arc<dyn Projection>>,
        options: EngineOptions,
    ) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime of its own");
        let lifecycle = Lifecycle::new();
        let (own, running) = (database.database(CONNECTIONS), lifecycle.clone());
        let started = tokio::task::spawn_blocking(move || {
            let engine = runtime.block_on(async {
                let log = Log::open(own, &LogOptions::default(), fresh(), &running).await;
                let engine = Engine::new(log.expect("open the log"), projections, fresh(), options);
                engine.start(&running);
                engine
            });
            (runtime, engine)
        });
        let (runtime, engine) = started.await.expect("the process starts");
        Self { runtime: Some(runtime), engine, lifecycle }
    }

    /// Its engine, to ask what it knows without waiting. What waits belongs to an engine on the
    /// test's own runtime.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Ends it as SIGKILL would: nothing is finished, nothing given up.
    pub fn kill(mut self) {
        self.end();
    }

    /// Ends it softly.
    pub async fn stop(mut self) {
        self.lifecycle.stop(Duration::from_secs(5)).await;
        self.end();
    }

    fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
