//! The sources of advisories of a process: who is visited, and what the API is told about them.

use std::sync::Arc;

use weir_api::registry::sources::SourceInfo;
use weir_events::registry::Ecosystem;
use weir_log::lifecycle::Lifecycle;
use weir_processors::door::Door;
use weir_processors::outbound::git::Git;
use weir_processors::outbound::polite::Polite;
use weir_processors::outbound::{Limits, Outbound};
use weir_processors::registry::sources::scheduler::{self, Source};
use weir_processors::registry::sources::{blocklist, openssf, osv};
use weir_projections::engine::Engine;

use crate::config::sources::{Sources, ecosystems};
use crate::data_dir::DataDir;
use crate::exit::{Exit, Failure};

/// Every source, as it is configured.
pub(super) fn known(sources: &Sources) -> Vec<SourceInfo> {
    let Sources { osv, openssf, blocklist } = sources;
    vec![
        SourceInfo {
            name: osv::NAME,
            enabled: osv.enabled && osv.address.is_some(),
            ecosystems: ecosystems(&osv.ecosystems),
            interval: osv.sync_interval.0,
        },
        SourceInfo {
            name: openssf::NAME,
            enabled: openssf.enabled && openssf.address.is_some(),
            ecosystems: ecosystems(&openssf.ecosystems),
            interval: openssf.sync_interval.0,
        },
        SourceInfo {
            name: blocklist::NAME,
            enabled: blocklist.file.is_some(),
            ecosystems: Ecosystem::ALL.to_vec(),
            interval: blocklist.sync_interval.0,
        },
    ]
}

/// Visits those that are enabled from this process.
pub(super) fn start(
    sources: &Sources,
    data_dir: &DataDir,
    door: &Door,
    engine: &Engine,
    lifecycle: &Lifecycle,
) -> Result<(), Failure> {
    let made = make(sources, data_dir, door)?;
    scheduler::start(made, door, engine, lifecycle);
    Ok(())
}

fn make(sources: &Sources, data_dir: &DataDir, door: &Door) -> Result<Vec<Source>, Failure> {
    let Sources { osv, openssf, blocklist } = sources;
    let outbound = Outbound::new(door.log().incarnation().0, Limits::default())?;
    let polite = Polite::new(outbound);
    let mut made: Vec<Source> = Vec::new();
    if let Some(address) = osv.address.as_ref().filter(|_| osv.enabled) {
        let config = osv::Config {
            address: address.0.clone(),
            ecosystems: ecosystems(&osv.ecosystems),
            interval: osv.sync_interval.0,
            timeout: osv.timeout.0,
            retry: osv.retry(),
            pause: osv.rate_limit.0,
            folder: data_dir.join("sources"),
        };
        let unusable = |fault| {
            Failure::new(Exit::Usage, format!("sources.osv.address cannot be used: {fault}"))
        };
        made.push(Arc::new(osv::Osv::new(config, polite.clone()).map_err(unusable)?));
    }
    if let Some(address) = openssf.address.as_ref().filter(|_| openssf.enabled) {
        let folder = data_dir.join("sources").join("openssf-malicious.git");
        let config = openssf::Config {
            git: Git::new(address.0.clone(), folder, openssf::MAX_REPOSITORY_BYTES),
            ecosystems: ecosystems(&openssf.ecosystems),
            interval: openssf.sync_interval.0,
            timeout: openssf.timeout.0,
            retry: openssf.retry(),
            pause: openssf.rate_limit.0,
        };
        made.push(Arc::new(openssf::OpenSsf::new(config, polite)));
    }
    if let Some(file) = &blocklist.file {
        let config = blocklist::Config { file: file.clone(), interval: blocklist.sync_interval.0 };
        made.push(Arc::new(blocklist::BlocklistFile::new(config, door.clone())));
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use weir_processors::registry::sources::NAMES;

    use super::*;

    #[test]
    fn every_source_there_is_is_known_to_the_api() {
        let names: Vec<_> = known(&Sources::default()).iter().map(|source| source.name).collect();
        assert_eq!(names, NAMES);
    }
}
