//! The line to a Redis. It is infrastructure, as Postgres is: named by the operator, asked for
//! nothing that a client says, and so not the outside that [`crate::outbound`] guards.
//!
//! Nobody waits for it longer than for one command. The first that fails takes the line down: from
//! then on all are told at once, while one task in the background tries to get it up again.

use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use redis::{
    AsyncConnectionConfig, Client, ErrorKind, FromRedisValue, Pipeline, RedisError,
    ServerErrorKind, aio::MultiplexedConnection,
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, timeout},
};
use tracing::{info, warn};
use weir_events::timestamp::Timestamp;
use weir_log::lifecycle::Lifecycle;

use crate::{clock::Clock, outbound};

/// Pauses between tries to get the line up.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// A line that was up for so long was really up.
const STEADY: Duration = Duration::from_secs(30);
/// How often a line that nobody uses is tried.
const TRIED_EVERY: Duration = Duration::from_secs(5);

/// Which Redis, and how long it may take.
#[derive(Clone)]
pub struct Options {
    /// `redis://…`, or `rediss://…` with TLS; a password in it is never shown.
    pub url: String,
    /// What every key begins with.
    pub prefix: String,
    /// How long a command may take.
    pub timeout: Duration,
    /// How long it may take to connect.
    pub connect_timeout: Duration,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// The address of a Redis is none.
#[derive(Debug, thiserror::Error)]
pub enum SetupFault {
    /// It cannot be read.
    #[error("the address of Redis cannot be used")]
    Address(#[source] RedisError),
}

/// How a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It answers.
    Up {
        /// Since when.
        since: Timestamp,
        /// Whether it refuses to be written to.
        read_only: bool,
    },
    /// It does not.
    Down {
        /// Since when.
        since: Timestamp,
        /// What it, or the way to it, said last.
        why: String,
    },
}

/// A command was not carried out.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineFault {
    #[error("Redis is down, and is not asked for the moment")]
    Away,
    #[error("Redis has not answered within {0:?}")]
    Slow(Duration),
    #[error("the line to Redis broke")]
    Broken(#[source] RedisError),
    #[error("Redis refuses")]
    Refused(#[source] RedisError),
}

#[derive(Clone)]
enum Now {
    Up { since: Timestamp, connection: MultiplexedConnection, nth: u64 },
    Down { since: Timestamp, why: String },
}

/// A line. Cheap to clone.
#[derive(Clone)]
pub(super) struct Line(Arc<Inner>);

struct Inner {
    client: Client,
    timeout: Duration,
    connect_timeout: Duration,
    clock: Arc<dyn Clock>,
    now: watch::Sender<Now>,
    lost: Notify,
    read_only: AtomicBool,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Line").field(&self.state()).finish()
    }
}

impl Line {
    pub(super) async fn start(
        options: &Options,
        clock: Arc<dyn Clock>,
        lifecycle: &Lifecycle,
    ) -> Result<Self, SetupFault> {
        let client = client(options)?;
        let now = Now::Down { since: clock.now(), why: "it was not asked yet".to_owned() };
        let inner = Inner {
            client,
            timeout: options.timeout,
            connect_timeout: options.connect_timeout,
            clock,
            now: watch::Sender::new(now),
            lost: Notify::new(),
            read_only: AtomicBool::new(false),
        };
        let this = Self(Arc::new(inner));
        let mut tried = this.0.now.subscribe();
        let (kept, soft) = (this.clone(), lifecycle.soft().clone());
        lifecycle.run("redis", async move {
            soft.run_until_cancelled(kept.keep_up()).await;
        });
        // Whatever came of the first try: it has its own bounds.
        drop(tried.changed().await);
        Ok(this)
    }

    pub(super) fn state(&self) -> State {
        match &*self.0.now.borrow() {
            Now::Up { since, .. } => {
                State::Up { since: *since, read_only: self.0.read_only.load(Ordering::Relaxed) }
            }
            Now::Down { since, why } => State::Down { since: *since, why: why.clone() },
        }
    }

    /// Has commands carried out.
    pub(super) async fn ask<T: FromRedisValue>(&self, ask: &Pipeline) -> Result<T, LineFault> {
        let (mut connection, nth) = match &*self.0.now.borrow() {
            Now::Up { connection, nth, .. } => (connection.clone(), *nth),
            Now::Down { .. } => return Err(LineFault::Away),
        };
        let bound = self.0.timeout;
        let fault = match timeout(bound, ask.query_async(&mut connection)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(fault)) if refuses(&fault) => return Err(LineFault::Refused(fault)),
            Ok(Err(fault)) => LineFault::Broken(fault),
            Err(_) => LineFault::Slow(bound),
        };
        self.lose(nth, &fault);
        Err(fault)
    }

    /// Tells when writing begins to be refused, and when it is not any more.
    pub(super) fn wrote(&self, fault: Option<&io::Error>) {
        let refused = fault.and_then(io::Error::get_ref).and_then(|fault| {
            let fault = fault.downcast_ref::<LineFault>();
            fault.filter(|fault| matches!(fault, LineFault::Refused(_)))
        });
        match (fault, refused) {
            (None, _) => {
                if self.0.read_only.swap(false, Ordering::Relaxed) {
                    info!("Redis takes lists again");
                }
            }
            (Some(_), Some(refused)) => {
                if !self.0.read_only.swap(true, Ordering::Relaxed) {
                    warn!(error = told(refused), "Redis takes no lists; those it has are read");
                }
            }
            // What became of it is not known.
            (Some(_), None) => {}
        }
    }

    /// Takes the line down, unless it is another one by now.
    fn lose(&self, lost: u64, fault: &LineFault) {
        let (since, why) = (self.0.clock.now(), told(fault));
        let was_up = self.0.now.send_if_modified(|now| {
            let its = matches!(now, Now::Up { nth, .. } if *nth == lost);
            if its {
                *now = Now::Down { since, why: why.clone() };
            }
            its
        });
        if was_up {
            warn!(error = why, "Redis is down, lists are kept in memory only");
            self.0.lost.notify_one();
        }
    }

    /// Gets the line up, and up again whenever it was lost.
    async fn keep_up(self) {
        let (mut pause, longest) = PAUSES;
        let mut was_up = None;
        for nth in 0_u64.. {
            match connect(&self.0.client, self.0.timeout, self.0.connect_timeout).await {
                Ok(connection) => {
                    let since = self.0.clock.now();
                    self.0.now.send_replace(Now::Up { since, connection, nth });
                    info!("Redis answers, lists are shared there");
                    was_up = Some(true);
                    let up_at = Instant::now();
                    self.until_lost().await;
                    if up_at.elapsed() >= STEADY {
                        pause = PAUSES.0;
                    }
                }
                Err(fault) => {
                    let why = told(&fault);
                    self.0.now.send_modify(|now| match now {
                        Now::Down { why: last, .. } => last.clone_from(&why),
                        // Only this task gets it up.
                        Now::Up { .. } => {}
                    });
                    if was_up.is_none() {
                        warn!(error = why, "Redis does not answer, lists are kept in memory only");
                        was_up = Some(false);
                    }
                }
            }
            sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
            pause = (pause * 2).min(longest);
        }
    }

    /// Waits until the line is lost; asks for a sign of life where nobody else asks.
    async fn until_lost(&self) {
        let mut ping = redis::pipe();
        ping.cmd("PING");
        while timeout(TRIED_EVERY, self.0.lost.notified()).await.is_err() {
            let alive: Result<(String,), _> = self.ask(&ping).await;
            if let Err(LineFault::Refused(fault)) = alive
                && let Now::Up { nth, .. } = self.0.now.borrow().clone()
            {
                self.lose(nth, &LineFault::Broken(fault));
            }
        }
    }
}

/// Whether a Redis answers at all: for who looks once.
pub async fn probe(options: &Options) -> Result<(), String> {
    let client = client(options).map_err(|fault| told(&fault))?;
    let connected = connect(&client, options.timeout, options.connect_timeout).await;
    connected.map(drop).map_err(|fault| told(&fault))
}

#[expect(clippy::disallowed_methods, reason = "the one place where a Redis is connected to")]
fn client(options: &Options) -> Result<Client, SetupFault> {
    outbound::install_tls();
    Client::open(options.url.as_str()).map_err(SetupFault::Address)
}

/// A connection that has answered.
async fn connect(
    client: &Client,
    bound: Duration,
    connect_bound: Duration,
) -> Result<MultiplexedConnection, LineFault> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(connect_bound))
        // This module has a bound of its own.
        .set_response_timeout(None);
    let trying = async {
        let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        let mut ping = redis::pipe();
        ping.cmd("PING");
        let (_,): (String,) = timeout(bound, ping.query_async(&mut connection))
            .await
            .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))?;
        Ok(connection)
    };
    let tried = timeout(connect_bound, trying).await;
    tried.map_err(|_| LineFault::Slow(connect_bound))?.map_err(LineFault::Broken)
}

/// Whether the server has understood, and says no: the line itself is good.
fn refuses(fault: &RedisError) -> bool {
    match fault.kind() {
        ErrorKind::Server(kind) => !matches!(
            kind,
            ServerErrorKind::BusyLoading | ServerErrorKind::MasterDown | ServerErrorKind::TryAgain
        ),
        ErrorKind::Extension => fault.code() != Some("NOAUTH"),
        ErrorKind::UnexpectedReturnType => true,
        _ => false,
    }
}

/// A fault with its causes, in one line.
fn told(fault: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(fault), |fault| fault.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
