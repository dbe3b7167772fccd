//! The instruments, by the names that dashboards ask for.

use std::{sync::Arc, time::Duration};

use opentelemetry::{
    KeyValue,
    metrics::{AsyncInstrument, Counter, Gauge, Histogram, Meter, ObservableCounter},
};
use opentelemetry_sdk::metrics::{Aggregation, Instrument, InstrumentKind, Stream};
use weir_events::{
    envelope::Recorded, kind::Subsystem, position::Position, registry::Ecosystem,
    timestamp::Timestamp,
};
use weir_processors::registry::{
    cache::{
        CachePlugin as _, CacheStats, RedisCache,
        redis::{Counted, State},
    },
    stats::{BOUNDS, Stats},
};
use weir_projections::{engine::status::ProjectionStatus, registry::sync_status::StatusRow};

use crate::registry::{Packages, Served, sources::SourceInfo};

/// Every histogram here measures seconds.
pub(super) fn buckets(instrument: &Instrument) -> Option<Stream> {
    if instrument.kind() != InstrumentKind::Histogram {
        return None;
    }
    let boundaries = BOUNDS.to_vec();
    let aggregation = Aggregation::ExplicitBucketHistogram { boundaries, record_min_max: false };
    Stream::builder().with_aggregation(aggregation).build().ok()
}

pub(super) struct Instruments {
    sse_clients: Gauge<u64>,
    head_position: Gauge<i64>,
    head_age: Gauge<f64>,
    appended: Counter<u64>,
    visible: Histogram<f64>,
    lag_events: Gauge<u64>,
    lag_seconds: Gauge<f64>,
    dead_letters: Gauge<u64>,
    oldest_transaction: Gauge<f64>,
    blocked_packages: Gauge<u64>,
    cache_size: Gauge<u64>,
    redis_up: Gauge<u64>,
    redis_size: Gauge<u64>,
    advisories: Gauge<u64>,
    source_age: Gauge<f64>,
    source_failing: Gauge<u64>,
    durations: Histogram<f64>,
    /// Read by their callbacks only.
    _counted: Vec<ObservableCounter<u64>>,
}

impl Instruments {
    pub(super) fn new(meter: &Meter, packages: &Packages) -> Self {
        Self {
            _counted: counted(meter, packages),
            sse_clients: meter
                .u64_gauge("sse_clients")
                .with_description("Event streams open here")
                .build(),
            head_position: meter
                .i64_gauge("weir_log_head_position")
                .with_description("The last position this instance knows of")
                .build(),
            head_age: meter
                .f64_gauge("weir_log_head_age_seconds")
                .with_description("How long ago the database last confirmed the head")
                .build(),
            appended: meter
                .u64_counter("weir_log_appended_events")
                .with_description("Events appended by anybody since this instance started")
                .build(),
            visible: meter
                .f64_histogram("append_to_visible_seconds")
                .with_description("From the moment an event was decided until this instance saw it")
                .build(),
            lag_events: meter
                .u64_gauge("projection_lag_events")
                .with_description("Events a projection is behind the head")
                .build(),
            lag_seconds: meter
                .f64_gauge("projection_lag_seconds")
                .with_description("Age of the first event a projection has not applied")
                .build(),
            dead_letters: meter
                .u64_gauge("projection_dead_letters")
                .with_description("Events a projection could not apply")
                .build(),
            oldest_transaction: meter
                .f64_gauge("weir_oldest_open_tx_seconds")
                .with_description("How long a transaction has been open in the cluster, the oldest")
                .build(),
            blocked_packages: meter
                .u64_gauge("weir_registry_blocked_packages")
                .with_description("Versions that were refused, as the read model counts them")
                .build(),
            cache_size: meter
                .u64_gauge("weir_registry_cache_size_bytes")
                .with_description("Bytes of artifacts this instance knows to be cached")
                .build(),
            redis_up: meter
                .u64_gauge("weir_registry_redis_up")
                .with_description("Whether the Redis answers where instances share lists")
                .build(),
            redis_size: meter
                .u64_gauge("weir_registry_redis_size_bytes")
                .with_description("Bytes of lists this instance knows to lie in Redis")
                .build(),
            advisories: meter
                .u64_gauge("weir_registry_advisories")
                .with_description("Advisories of a source that stand, or rules of the blocklist")
                .build(),
            source_age: meter
                .f64_gauge("weir_registry_source_age_seconds")
                .with_description("How long ago a source was last synced, its oldest part")
                .build(),
            source_failing: meter
                .u64_gauge("weir_registry_source_failing")
                .with_description("Parts of a source whose last visit failed")
                .build(),
            durations: meter
                .f64_histogram("weir_registry_request_duration_seconds")
                .with_description("How long package clients waited for the end of their answer")
                .build(),
        }
    }

    pub(super) fn streams(&self, open: usize) {
        self.sse_clients.record(open as u64, &[]);
    }

    pub(super) fn log(&self, head: Position, age: Duration) {
        self.head_position.record(head.0, &[]);
        self.head_age.record(age.as_secs_f64(), &[]);
    }

    pub(super) fn projections(&self, projections: &[ProjectionStatus]) {
        for projection in projections {
            let labels = [KeyValue::new("projection", projection.name)];
            self.lag_events.record(projection.lag_events, &labels);
            self.lag_seconds.record(projection.lag_seconds, &labels);
            self.dead_letters.record(projection.dead_letters, &labels);
        }
    }

    pub(super) fn oldest_transaction(&self, age: Duration) {
        self.oldest_transaction.record(age.as_secs_f64(), &[]);
    }

    /// `served` are shown as zero where nothing of them was refused.
    pub(super) fn blocked(&self, tally: &[(Ecosystem, u64)], served: &[Served]) {
        for ecosystem in Ecosystem::ALL {
            let found = tally.iter().find(|(its, _)| *its == ecosystem).map(|(_, n)| *n);
            let is_served = served.iter().any(|served| served.ecosystem == ecosystem);
            if let Some(n) = found.or_else(|| is_served.then_some(0)) {
                let labels = [KeyValue::new("ecosystem", ecosystem.as_str())];
                self.blocked_packages.record(n, &labels);
            }
        }
    }

    /// How the sources stand. The age of a source that was never synced is told by its absence.
    pub(super) fn sources(
        &self,
        sources: &[SourceInfo],
        parts: &[StatusRow],
        tally: &[(String, Option<Ecosystem>, u64)],
        now: Timestamp,
    ) {
        for source in sources {
            let label = || KeyValue::new("source", source.name);
            let its = || parts.iter().filter(|part| part.source == source.name);
            let oldest = its().map(|part| part.succeeded_at).min().flatten();
            if let Some(oldest) = oldest {
                self.source_age.record(oldest.seconds_until(now).max(0.0), &[label()]);
            }
            let n_failing = its().filter(|part| part.cause.is_some()).count();
            self.source_failing.record(n_failing as u64, &[label()]);
            for (_, ecosystem, n) in tally.iter().filter(|(name, ..)| name == source.name) {
                let ecosystem = ecosystem.map_or("all", Ecosystem::as_str);
                self.advisories.record(*n, &[label(), KeyValue::new("ecosystem", ecosystem)]);
            }
        }
    }

    pub(super) fn cache(&self, stats: CacheStats) {
        self.cache_size.record(stats.size_bytes, &[]);
    }

    pub(super) fn redis(&self, redis: &RedisCache) {
        self.redis_up.record(matches!(redis.state(), State::Up { .. }).into(), &[]);
        self.redis_size.record(redis.stats().size_bytes, &[]);
    }

    pub(super) fn seen(&self, events: &[Arc<Recorded>], now: Timestamp) {
        for subsystem in Subsystem::ALL {
            let its = events.iter().filter(|event| event.subsystem() == Some(subsystem)).count();
            if its > 0 {
                let labels = [KeyValue::new("subsystem", subsystem.as_str())];
                self.appended.add(its as u64, &labels);
            }
        }
        for event in events {
            self.visible.record(event.recorded_at.seconds_until(now).max(0.0), &[]);
        }
    }

    pub(super) fn answered(&self, ecosystem: &'static str, took: Duration) {
        let labels = [KeyValue::new("ecosystem", ecosystem)];
        self.durations.record(took.as_secs_f64(), &labels);
    }
}

/// One number of those that an ecosystem counts.
type Read = fn(&Stats) -> u64;

/// What the ecosystems count themselves, read when somebody looks.
fn counted(meter: &Meter, packages: &Packages) -> Vec<ObservableCounter<u64>> {
    let plain: [(_, _, Read); 6] = [
        ("weir_registry_cache_hits", "Answered from what was here", |stats| stats.hits),
        ("weir_registry_cache_misses", "Had to be fetched", |stats| stats.misses),
        ("weir_registry_stale", "Answered from an old copy", |stats| stats.stale),
        ("weir_registry_filtered", "Lists with something hidden or marked", |s| s.filtered),
        ("weir_registry_upstream_requests", "Requests to upstreams", |s| s.upstream_requests),
        ("weir_registry_upstream_failures", "Upstreams that failed", |s| s.upstream_failures),
    ];
    let mut counters: Vec<_> = plain
        .into_iter()
        .map(|(name, description, read)| {
            observed(meter, packages, name, description, move |stats| vec![(read(stats), None)])
        })
        .collect();
    // Operators' rules are the one source there is so far.
    counters.push(observed(
        meter,
        packages,
        "weir_registry_blocked",
        "Downloads refused",
        |stats| vec![(stats.blocked, Some(KeyValue::new("source", "rules")))],
    ));
    counters.push(observed(meter, packages, "weir_registry_requests", "Answers", |stats| {
        let label = |status: u16| Some(KeyValue::new("status", i64::from(status)));
        stats.requests.iter().map(|(status, n_answers)| (*n_answers, label(*status))).collect()
    }));
    counters.extend(packages.redis().map(|redis| of_redis(meter, redis.clone())));
    counters
}

/// What came of looking for lists in Redis, and of putting them there.
fn of_redis(meter: &Meter, redis: RedisCache) -> ObservableCounter<u64> {
    let counter = meter.u64_observable_counter("weir_registry_redis");
    let observe = move |observer: &dyn AsyncInstrument<u64>| {
        let Counted { hits, misses, stored, too_large, rejected, failed, skipped } =
            redis.counted();
        for (outcome, n) in [
            ("hit", hits),
            ("miss", misses),
            ("stored", stored),
            ("too_large", too_large),
            ("rejected", rejected),
            ("failed", failed),
            ("skipped", skipped),
        ] {
            observer.observe(n, &[KeyValue::new("outcome", outcome)]);
        }
    };
    let description = "Lists looked for in Redis or put there, by what came of it";
    counter.with_description(description).with_callback(observe).build()
}

fn observed(
    meter: &Meter,
    packages: &Packages,
    name: &'static str,
    description: &'static str,
    read: impl Fn(&Stats) -> Vec<(u64, Option<KeyValue>)> + Send + Sync + 'static,
) -> ObservableCounter<u64> {
    let served = packages.served().to_vec();
    let counter = meter.u64_observable_counter(name).with_description(description);
    let observe = move |observer: &dyn AsyncInstrument<u64>| {
        for Served { ecosystem, stats, .. } in &served {
            for (value, label) in read(&stats()) {
                let ecosystem = KeyValue::new("ecosystem", ecosystem.as_str());
                let labels: Vec<_> = [ecosystem].into_iter().chain(label).collect();
                observer.observe(value, &labels);
            }
        }
    };
    counter.with_callback(observe).build()
}
