//! Meters, for Prometheus at `/metrics`. Labels are words of a fixed vocabulary: never an address, a
//! package or a principal.

mod instruments;
mod upstream;

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use bytes::Bytes;
use http::{HeaderValue, header::CONTENT_TYPE};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Encoder, TextEncoder};
use tokio::{sync::Mutex, time::Instant};
use tracing::warn;
use weir_log::{
    activity::{self, OldestTransaction},
    database::DatabaseFault,
    tail::TailFault,
};
use weir_projections::{
    query::QueryFault,
    registry::{blocked_packages, sync_status},
};

use self::{instruments::Instruments, upstream::UpstreamDurations};
use crate::{
    problem::{Problem, chain},
    registry::Packages,
    state::ApiState,
};

/// Events taken from the tail at once.
const BATCH: usize = 1_000;
/// A pause after the tail was lost.
const BREATHER: Duration = Duration::from_millis(200);
/// How long a scrape waits for word of the database.
const PATIENCE: Duration = Duration::from_secs(2);
/// How old word of the database may be.
const MEASURE_EVERY: Duration = Duration::from_secs(1);

/// What counts and measures.
pub struct Meters {
    registry: prometheus::Registry,
    instruments: Instruments,
    /// When the database was last asked; held by who is asking it.
    measured: Mutex<Option<Instant>>,
    /// Keeps the instruments connected to the registry.
    _provider: SdkMeterProvider,
}

impl Meters {
    /// With the counters of these ecosystems.
    pub fn new(packages: &Packages) -> Self {
        let registry = prometheus::Registry::new();
        let exporter = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .scope_info_enabled(false)
            .without_target_info()
            .without_units()
            .build();
        let mut provider = SdkMeterProvider::builder();
        match exporter {
            Ok(exporter) => provider = provider.with_reader(exporter),
            Err(fault) => warn!(error = %fault, "meters are not exported"),
        }
        let durations = UpstreamDurations::new(packages);
        if let Err(fault) = durations.and_then(|own| registry.register(Box::new(own))) {
            warn!(error = %fault, "how long upstreams take is not exported");
        }
        let provider = provider.with_view(instruments::buckets).build();
        let instruments = Instruments::new(&provider.meter("weir"), packages);
        Self { registry, instruments, measured: Mutex::default(), _provider: provider }
    }

    fn text(&self) -> Result<String, prometheus::Error> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// Shows the meters, in the text format of Prometheus.
pub(crate) async fn show(State(state): State<ApiState>) -> Result<Response, Problem> {
    let meters = state.meters();
    meters.instruments.streams(state.streams().open());
    meters.instruments.log(state.log().head(), state.log().hub().age());
    if let Some(cache) = state.packages().cache() {
        meters.instruments.cache(cache);
    }
    if let Some(redis) = state.packages().redis() {
        meters.instruments.redis(redis);
    }
    // A scrape says what is known; of what cannot be asked it says what it knew.
    if tokio::time::timeout(PATIENCE, measure(&state)).await.is_err() {
        warn!("the database cannot be measured in time");
    }
    let text = meters.text().map_err(|fault| Problem::internal(&fault))?;
    let mut answer = Response::new(Body::from(text));
    let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, format);
    Ok(answer)
}

/// Asks the database for what only it knows: not more often than once a second, however many scrape.
async fn measure(state: &ApiState) {
    let Meters { instruments, measured, .. } = state.meters();
    let mut measured = measured.lock().await;
    if measured.is_some_and(|at| at.elapsed() < MEASURE_EVERY) {
        return;
    }
    match state.engine().status().await {
        Ok(status) => instruments.projections(&status.projections),
        Err(fault) => warn!(error = chain(&fault), "the projections cannot be measured"),
    }
    match blocked_packages::tally(state.database()).await {
        Ok(tally) => instruments.blocked(&tally, state.packages().served()),
        // No worker has run yet: nothing is known, and nothing is said.
        Err(QueryFault::NotBuilt(_)) => {}
        Err(fault) => warn!(error = chain(&fault), "blocked packages cannot be counted"),
    }
    let database = state.database();
    match tokio::try_join!(sync_status::list(database), sync_status::tally(database)) {
        Ok((parts, tally)) => {
            let sources = state.packages().sources();
            instruments.sources(sources, &parts, &tally, state.door().now());
        }
        Err(QueryFault::NotBuilt(_)) => {}
        Err(fault) => warn!(error = chain(&fault), "sources of advisories cannot be measured"),
    }
    match oldest_transaction(state).await {
        Ok(oldest) => instruments.oldest_transaction(oldest.age),
        Err(fault) => warn!(error = chain(&fault), "open transactions cannot be measured"),
    }
    *measured = Some(Instant::now());
}

async fn oldest_transaction(state: &ApiState) -> Result<OldestTransaction, DatabaseFault> {
    let mut tx = state.database().begin().await?;
    let oldest = activity::oldest_transaction(&mut tx).await?;
    tx.commit().await.map_err(DatabaseFault::of("ask for open transactions"))?;
    Ok(oldest)
}

/// Around the routes of package clients: how long they waited for the end of their answer.
pub(crate) async fn around_packages(
    State(state): State<ApiState>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let served = state.packages().served().iter().find(|served| path.starts_with(served.prefix));
    let Some(ecosystem) = served.map(|served| served.ecosystem) else {
        return next.run(request).await;
    };
    let began = Instant::now();
    let answer = next.run(request).await;
    answer.map(|body| Body::new(Timed { body, state, ecosystem: ecosystem.as_str(), began }))
}

/// A body that tells the meters when it is gone: its last byte was sent, or its client went away.
struct Timed {
    body: Body,
    state: ApiState,
    ecosystem: &'static str,
    began: Instant,
}

impl Drop for Timed {
    fn drop(&mut self) {
        self.state.meters().instruments.answered(self.ecosystem, self.began.elapsed());
    }
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Follows the log for what only its events tell: how many, of what, and how soon they are seen.
pub(crate) fn follow(state: &ApiState) {
    let (follower, soft) = (state.clone(), state.lifecycle().soft().clone());
    state.lifecycle().run("meters", async move {
        soft.run_until_cancelled(count(&follower)).await;
    });
}

async fn count(state: &ApiState) {
    let log = state.log();
    let mut tail = log.tail(log.head());
    loop {
        match tail.next(BATCH).await {
            Ok(events) => state.meters().instruments.seen(&events, state.door().now()),
            Err(TailFault::Stopped) => return,
            Err(fault) => {
                warn!(error = %fault, "meters lost the tail and go on from the head");
                tokio::time::sleep(BREATHER).await;
                tail = log.tail(log.head());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use weir_events::registry::Ecosystem;
    use weir_processors::registry::cache::CacheStats;

    use weir_projections::registry::sync_status::StatusRow;

    use super::*;
    use crate::{registry::sources::SourceInfo, sse::testing::recorded};

    #[test]
    fn the_names_are_those_that_dashboards_ask_for() {
        let meters = Meters::new(&Packages::default());
        meters.instruments.streams(3);
        meters.instruments.log(weir_events::position::Position(42), Duration::from_millis(20));
        let event = Arc::new(recorded(42, "x"));
        let now = event.recorded_at.plus_seconds(1);
        meters.instruments.seen(&[event], now);
        meters.instruments.answered("pypi", Duration::from_millis(3));
        meters.instruments.oldest_transaction(Duration::from_secs(4));
        meters.instruments.blocked(&[(Ecosystem::Pypi, 7)], &[]);
        let osv = SourceInfo {
            name: "osv",
            enabled: true,
            ecosystems: vec![Ecosystem::Npm],
            interval: Duration::from_mins(1),
        };
        let part = StatusRow {
            source: "osv".to_owned(),
            ecosystem: Some(Ecosystem::Npm),
            started_at: None,
            succeeded_at: Some(now),
            failed_at: Some(now),
            cause: Some("x".to_owned()),
            revision: None,
            n_records: 0,
            n_unreadable: 0,
            position: weir_events::position::Position(1),
        };
        let tally = [("osv".to_owned(), Some(Ecosystem::Npm), 9)];
        meters.instruments.sources(&[osv], &[part], &tally, now.plus_seconds(30));
        meters.instruments.cache(CacheStats { size_bytes: 5, ..CacheStats::default() });
        let text = meters.text().unwrap();
        for line in [
            "sse_clients 3",
            "weir_log_head_position 42",
            "weir_log_head_age_seconds 0.02",
            "weir_log_appended_events_total{subsystem=\"registry\"} 1",
            "append_to_visible_seconds_count 1",
            "append_to_visible_seconds_sum 1",
            "weir_registry_request_duration_seconds_count{ecosystem=\"pypi\"} 1",
            "weir_oldest_open_tx_seconds 4",
            "weir_registry_blocked_packages{ecosystem=\"pypi\"} 7",
            "weir_registry_cache_size_bytes 5",
            "weir_registry_advisories{ecosystem=\"npm\",source=\"osv\"} 9",
            "weir_registry_source_age_seconds{source=\"osv\"} 30",
            "weir_registry_source_failing{source=\"osv\"} 1",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
    }
}
