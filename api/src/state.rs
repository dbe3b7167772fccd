//! What every handler may ask: the door, the tokens, the read models, and how this API was set up.

use std::{net::IpAddr, sync::Arc, time::Duration};

use tokio::sync::broadcast;
use weir_events::timestamp::Timestamp;
use weir_log::{Log, database::Database, lifecycle::Lifecycle};
use weir_processors::{
    access::{Revoked, Tokens},
    door::Door,
    web::portal::Portal,
};
use weir_projections::engine::Engine;

use crate::{health::Schema, metrics::Meters, page::Cursors, registry::Packages, sse::Streams};

/// Revocations that a slow stream may lag behind before it is closed to be on the safe side.
const REVOCATIONS: usize = 256;

/// How the API was set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What cursors are signed with; the same on every instance.
    pub secret: [u8; 32],
    /// Let package clients on this machine in without a token.
    pub loopback_packages_open: bool,
    /// The profile that they are bound by.
    pub loopback_profile: Option<Arc<str>>,
    /// Whether an agent's signature is enough, without a token of its own.
    pub web_signature_only: bool,
    /// How long a browser stays signed in, however much it is used.
    pub session_lifetime: Duration,
    /// Peers whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// The address that clients know this Weir by, where it is not the one they ask.
    pub public_url: Option<String>,
    /// Connections at once. More than streams, so that streams cannot take them all.
    pub max_connections: usize,
    /// Event streams at once.
    pub max_sse_clients: usize,
    /// How long after the soft stop new connections are still taken while `/readyz` fails: what a
    /// load balancer needs to notice.
    pub linger: Duration,
    /// How long requests in flight may take to finish after that.
    pub drain: Duration,
}

impl Settings {
    /// The defaults, with a secret.
    pub const fn new(secret: [u8; 32]) -> Self {
        Self {
            secret,
            loopback_packages_open: false,
            web_signature_only: false,
            loopback_profile: None,
            session_lifetime: Duration::from_hours(12),
            trusted_proxies: Vec::new(),
            public_url: None,
            max_connections: 5_120,
            max_sse_clients: 4_096,
            linger: Duration::ZERO,
            drain: Duration::from_secs(10),
        }
    }
}

/// What the process gives the API.
pub struct Parts {
    /// The door to the log.
    pub door: Door,
    /// The tokens.
    pub tokens: Tokens,
    /// The read models.
    pub engine: Engine,
    /// The package firewall.
    pub packages: Packages,
    /// The web gateway, where this process has one.
    pub portal: Option<Portal>,
    /// How it is set up.
    pub settings: Settings,
    /// Whose stop it heeds.
    pub lifecycle: Lifecycle,
}

/// The state of the API. Cheap to clone.
#[derive(Clone)]
pub struct ApiState {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    cursors: Cursors,
    streams: Streams,
    meters: Meters,
    schema: Schema,
    revoked: broadcast::Sender<Revoked>,
    started_at: Timestamp,
}

impl ApiState {
    /// Puts the parts together, and starts following the log for revoked tokens and for what the
    /// meters count.
    pub fn new(parts: Parts) -> Self {
        let (revoked, _) = broadcast::channel(REVOCATIONS);
        parts.tokens.follow(revoked.clone(), &parts.lifecycle);
        let state = Self {
            inner: Arc::new(Inner {
                cursors: Cursors::new(&parts.settings.secret),
                streams: Streams::new(parts.settings.max_sse_clients),
                meters: Meters::new(&parts.packages),
                schema: Schema::default(),
                revoked,
                started_at: parts.door.now(),
                parts,
            }),
        };
        crate::metrics::follow(&state);
        state
    }

    /// The web gateway, where this process has one.
    pub fn portal(&self) -> Option<&Portal> {
        self.inner.parts.portal.as_ref()
    }

    /// The door to the log.
    pub fn door(&self) -> &Door {
        &self.inner.parts.door
    }

    /// The log.
    pub fn log(&self) -> &Log {
        self.door().log()
    }

    /// The database, for the queries that read models bring.
    pub fn database(&self) -> &Database {
        self.log().database()
    }

    /// The tokens.
    pub fn tokens(&self) -> &Tokens {
        &self.inner.parts.tokens
    }

    /// The read models.
    pub fn engine(&self) -> &Engine {
        &self.inner.parts.engine
    }

    /// The package firewall.
    pub fn packages(&self) -> &Packages {
        &self.inner.parts.packages
    }

    /// How the API was set up.
    pub fn settings(&self) -> &Settings {
        &self.inner.parts.settings
    }

    /// Whose stop the API heeds.
    pub fn lifecycle(&self) -> &Lifecycle {
        &self.inner.parts.lifecycle
    }

    /// Whether the API is on its way out.
    pub fn stopping(&self) -> bool {
        self.lifecycle().soft().is_cancelled()
    }

    /// When it was put together.
    pub fn started_at(&self) -> Timestamp {
        self.inner.started_at
    }

    /// What counts and measures.
    pub fn meters(&self) -> &Meters {
        &self.inner.meters
    }

    pub(crate) fn cursors(&self) -> &Cursors {
        &self.inner.cursors
    }

    pub(crate) fn streams(&self) -> &Streams {
        &self.inner.streams
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.inner.schema
    }

    pub(crate) fn revocations(&self) -> broadcast::Receiver<Revoked> {
        self.inner.revoked.subscribe()
    }
}
