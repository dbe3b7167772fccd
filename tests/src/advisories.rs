//! Advisories on the log, as if a source had published them.

use weir_aggregates::registry::advisory::digest;
use weir_events::registry::{
    Ecosystem, Event,
    advisory::{self, Advisory, AdvisoryPublished, Affected, Class, End, OSV, Severity, Window},
};
use weir_log::append::Outcome;

use crate::{events, weir::Place};

/// A warning about one package: affected from a version on, until the one that fixes it.
#[must_use]
pub fn advisory(
    ecosystem: Ecosystem,
    id: &str,
    package: &str,
    from: &str,
    fixed: Option<&str>,
) -> Advisory {
    let end = fixed.map_or(End::Open, |version| End::Fixed(version.to_owned()));
    let window = Window { introduced: Some(from.to_owned()), end };
    let affected = Affected {
        package: package.to_owned(),
        severity: Severity::High,
        versions: Vec::new(),
        windows: vec![window],
        widened: false,
    };
    let mut advisory = Advisory {
        source: OSV.to_owned(),
        ecosystem,
        id: id.to_owned(),
        aliases: vec!["CVE-2026-0001".to_owned()],
        class: Class::Vulnerability,
        summary: "reads what nobody wrote".to_owned(),
        modified: None,
        affected: vec![affected],
        digest: String::new(),
    };
    sign(&mut advisory);
    advisory
}

/// Writes what it says into its digest.
pub fn sign(advisory: &mut Advisory) {
    advisory.digest = digest::of(advisory).to_hex().to_string();
}

impl Place {
    /// Publishes an advisory, past every source, and answers where it stands.
    ///
    /// # Panics
    /// When the log refuses it, or the place has no database of the tests.
    pub async fn publish(&self, advisory: &Advisory) -> i64 {
        self.publish_all(std::slice::from_ref(advisory)).await
    }

    /// Publishes some advisories of one source and ecosystem, and answers where the last one stands.
    ///
    /// # Panics
    /// When the log refuses them, there are none, or the place has no database of the tests.
    pub async fn publish_all(&self, advisories: &[Advisory]) -> i64 {
        let first = advisories.first().expect("an advisory");
        let stream = advisory::stream(&first.source, first.ecosystem).expect("a stream");
        let published =
            |advisory: &Advisory| Event::from(AdvisoryPublished { advisory: advisory.clone() });
        self.append_all(stream.as_str(), &advisories.iter().map(published).collect::<Vec<_>>())
            .await
    }

    /// Puts a fact into the log, and answers where it stands.
    ///
    /// # Panics
    /// When the log refuses it, or the place has no database of the tests.
    pub async fn append(&self, stream: &str, event: Event) -> i64 {
        self.append_all(stream, &[event]).await
    }

    async fn append_all(&self, stream: &str, events: &[Event]) -> i64 {
        let log = self.database.as_ref().expect("a test database").log().await;
        let appended = log.log.append(events::facts(stream, events)).await;
        match appended.expect("append") {
            Outcome::Appended(appended) => appended.last.0,
            other => panic!("not appended: {other:?}"),
        }
    }
}
