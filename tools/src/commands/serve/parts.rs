//! The parts of a process, put together in order and taken apart in reverse.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tracing::{info, warn};
use weir_api::registry::Packages;
use weir_api::state::{ApiState, Settings};
use weir_api::{router, serve};
use weir_log::database::Database;
use weir_log::lifecycle::Lifecycle;
use weir_log::{Log, LogOptions};
use weir_processors::access::Tokens;
use weir_processors::clock::{Clock as _, SystemClock};
use weir_processors::door::Door;
use weir_processors::expiry;
use weir_processors::nexus;
use weir_processors::sealer;
use weir_processors::web::keeper;
use weir_projections::engine::{Engine, EngineOptions};

use super::{packages, sources, web};
use crate::config::Config;
use crate::config::auth::LoopbackPackages;
use crate::data_dir::DataDir;
use crate::exit::Failure;

/// How long projections and the sealer may take to put down what they hold.
const WORK_PATIENCE: Duration = Duration::from_secs(1);
/// How long the log's writer may take to answer what it took.
const LOG_PATIENCE: Duration = Duration::from_millis(500);
/// How long connections may take to be closed.
const CLOSE_PATIENCE: Duration = Duration::from_millis(500);

/// What a process does of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Everything,
    Api,
    Worker,
    WorkerWithHealth,
}

impl Role {
    /// Whether it serves people and package clients.
    pub(super) const fn serves(self) -> bool {
        matches!(self, Self::Everything | Self::Api)
    }

    /// Whether it keeps projections and seals.
    const fn works(self) -> bool {
        !matches!(self, Self::Api)
    }

    /// Whether it listens at all.
    pub(super) const fn listens(self) -> bool {
        !matches!(self, Self::Worker)
    }
}

/// A running process.
pub(super) struct Parts {
    database: Database,
    tokens: Tokens,
    api: ApiState,
    /// Stopped first: what the outside talks to.
    outside: Lifecycle,
    drain: Duration,
    /// Stopped second: projections, sealer, downloads.
    work: Lifecycle,
    /// Stopped last: everything else appends to it.
    log: Lifecycle,
}

impl Parts {
    pub(super) async fn start(
        config: &Config,
        data_dir: &DataDir,
        database: Database,
        role: Role,
    ) -> Result<Self, Failure> {
        let (outside, work, log_tasks) = (Lifecycle::new(), Lifecycle::new(), Lifecycle::new());
        let options: LogOptions = config.log.options();
        let clock = SystemClock;
        let log = Log::open(database.clone(), &options, clock.new_id(), &log_tasks).await?;
        info!(head = %log.head(), incarnation = %log.incarnation(), "log opened");
        let door = Door::new(log.clone(), Arc::new(clock));
        let engine_options = EngineOptions { host: host_name(), ..EngineOptions::default() };
        let engine = Engine::new(log, weir_projections::all(), clock.new_id(), engine_options);
        if role.works() {
            engine.start(&work);
            sealer::start(&door, data_dir.seal_key()?, options.partition_events, &work);
            sources::start(&config.sources, data_dir, &door, &engine, &work)?;
            expiry::start(&door, &work)?;
            nexus::start(&door, config.nexus.schedule(), &work)?;
            keeper::start(&door, &engine, web::pages(config), &work);
        }
        let tokens = Tokens::new(door.clone());
        let packages = if role.serves() {
            packages::start(config, data_dir, &door, &work, &outside).await?
        } else {
            Packages::default()
        };
        let packages = packages.advised_by(sources::known(&config.sources));
        let portal = if role.serves() {
            Some(web::start(config, &door, &engine, &tokens, &work).await?)
        } else {
            None
        };
        let api = ApiState::new(weir_api::state::Parts {
            door: door.clone(),
            tokens: tokens.clone(),
            engine,
            packages,
            portal,
            settings: settings(config, data_dir, role)?,
            lifecycle: outside.clone(),
        });
        let drain = config.server.linger.0 + config.server.shutdown_timeout.0;
        Ok(Self { database, tokens, api, outside, drain, work, log: log_tasks })
    }

    pub(super) const fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Begins to answer.
    pub(super) fn listen(&self, listener: TcpListener) {
        let state = self.api.clone();
        let router = router::router(state.clone());
        self.outside.run("api", serve::serve(listener, state, router));
    }

    /// Ends in order: who asks, who works, the log, the connections. Returns when all have ended,
    /// after a few seconds at the latest.
    pub(super) async fn stop(self) {
        if !self.outside.stop(self.drain).await {
            warn!("requests were still running and have been cut off");
        }
        if !self.work.stop(WORK_PATIENCE).await {
            warn!("projections or seals were cut off; they go on where they were");
        }
        if !self.log.stop(LOG_PATIENCE).await {
            warn!("the log's writer was cut off");
        }
        if tokio::time::timeout(CLOSE_PATIENCE, self.database.close()).await.is_err() {
            warn!("connections to the database were cut off");
        }
        info!("stopped");
    }
}

fn settings(config: &Config, data_dir: &DataDir, role: Role) -> Result<Settings, Failure> {
    let open = match config.auth.loopback_packages {
        Some(loopback) => loopback == LoopbackPackages::Open,
        None => role == Role::Everything,
    };
    if config.lets_a_proxy_in(open) {
        warn!(
            "server.public_url is set, server.trusted_proxies is not: behind a proxy on this \
             machine everybody may install packages without a token"
        );
    }
    if open && config.lets_profiles_be_left() && !config.policy.profiles.is_empty() {
        warn!(
            "there are profiles, and whoever leaves a token out on this machine is bound by none: set \
             auth.loopback_profile, or auth.loopback_packages: closed"
        );
    }
    let server = &config.server;
    let secret = match server.secret {
        Some(secret) => secret.0,
        None => data_dir.api_key()?,
    };
    Ok(Settings {
        loopback_packages_open: open,
        web_signature_only: config.web.signature_only,
        loopback_profile: config.auth.loopback_profile.as_deref().map(Arc::from),
        session_lifetime: config.auth.session_lifetime.0,
        public_url: server.public_url.as_ref().map(|url| url.0.to_string()),
        trusted_proxies: server.trusted_proxies.clone(),
        max_connections: server.max_connections,
        max_sse_clients: server.max_streams,
        linger: server.linger.0,
        drain: server.shutdown_timeout.0,
        ..Settings::new(secret)
    })
}

/// What this machine is called, for the owner column of `weir status`.
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
