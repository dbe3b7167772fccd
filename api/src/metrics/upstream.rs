//! How long upstreams took: measured where they are asked, shown as a histogram here.

use std::collections::HashMap;

use prometheus::{
    core::{Collector, Desc},
    proto::{Bucket, Histogram, LabelPair, Metric, MetricFamily, MetricType},
};
use weir_processors::registry::stats::{BOUNDS, Durations};

use crate::registry::{Packages, Served};

const NAME: &str = "weir_registry_upstream_duration_seconds";
const HELP: &str = "How long upstreams took to give what they were asked for, or to fail";

/// Reads what the ecosystems measured whenever somebody looks.
pub(super) struct UpstreamDurations {
    served: Vec<Served>,
    description: Desc,
}

impl UpstreamDurations {
    pub(super) fn new(packages: &Packages) -> Result<Self, prometheus::Error> {
        let labels = vec!["ecosystem".to_owned()];
        let description = Desc::new(NAME.to_owned(), HELP.to_owned(), labels, HashMap::new())?;
        Ok(Self { served: packages.served().to_vec(), description })
    }
}

impl Collector for UpstreamDurations {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.description]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let metrics = self.served.iter().map(|served| {
            let mut label = LabelPair::default();
            label.set_name("ecosystem".to_owned());
            label.set_value(served.ecosystem.as_str().to_owned());
            let mut metric = Metric::from_label(vec![label]);
            metric.set_histogram(histogram(&(served.stats)().upstream));
            metric
        });
        let mut family = MetricFamily::default();
        family.set_name(NAME.to_owned());
        family.set_help(HELP.to_owned());
        family.set_field_type(MetricType::HISTOGRAM);
        family.set_metric(metrics.collect());
        vec![family]
    }
}

fn histogram(durations: &Durations) -> Histogram {
    let mut n_so_far = 0;
    let buckets = BOUNDS.iter().zip(&durations.counts).map(|(bound, count)| {
        n_so_far += count;
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(*bound);
        bucket.set_cumulative_count(n_so_far);
        bucket
    });
    let mut histogram = Histogram::default();
    histogram.set_bucket(buckets.collect());
    histogram.set_sample_count(durations.counts.iter().sum());
    histogram.set_sample_sum(durations.sum.as_secs_f64());
    histogram
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use prometheus::{Encoder, TextEncoder};
    use weir_events::registry::Ecosystem;
    use weir_processors::registry::stats::Counters;

    use super::*;

    #[test]
    fn what_upstreams_took_is_shown_as_it_is_measured() {
        let counters = Arc::new(Counters::default());
        let counted = Arc::clone(&counters);
        let stats = Arc::new(move || counted.stats());
        let served = Served { ecosystem: Ecosystem::Pypi, prefix: "/pypi", stats };
        let packages = Packages::default().with_served(served);
        let registry = prometheus::Registry::new();
        registry.register(Box::new(UpstreamDurations::new(&packages).unwrap())).unwrap();
        let text = || {
            let mut text = Vec::new();
            TextEncoder::new().encode(&registry.gather(), &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let count = format!("{NAME}_count{{ecosystem=\"pypi\"}}");
        assert!(text().contains(&format!("{count} 0\n")), "{}", text());
        counters.upstream(Duration::from_millis(3));
        counters.upstream(Duration::from_millis(30));
        let text = text();
        for line in [
            format!("{count} 2"),
            format!("{NAME}_sum{{ecosystem=\"pypi\"}} 0.033"),
            format!("{NAME}_bucket{{ecosystem=\"pypi\",le=\"0.005\"}} 1"),
            format!("{NAME}_bucket{{ecosystem=\"pypi\",le=\"0.05\"}} 2"),
            format!("{NAME}_bucket{{ecosystem=\"pypi\",le=\"+Inf\"}} 2"),
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
    }
}
