//! The package firewall of a process: the live rules, one cache, one way out, and the ecosystems
//! that are served.

use std::sync::Arc;

use tracing::{info, warn};
use weir_aggregates::access::{Grantor, Scope};
use weir_aggregates::registry::profile::{Command, Profiles};
use weir_aggregates::registry::settings::{Apply, Keeping};
use weir_api::registry::Packages;
use weir_events::registry::Ecosystem;
use weir_events::registry::policy::SETTINGS;
use weir_events::registry::profile::{PROFILES, Profile};
use weir_events::stream::StreamName;
use weir_log::lifecycle::Lifecycle;
use weir_processors::caller::Caller;
use weir_processors::clock::SystemClock;
use weir_processors::door::{Door, ExecuteFault};
use weir_processors::outbound::{Limits, Outbound};
use weir_processors::registry::cache::{FileCache, RedisCache};
use weir_processors::registry::download::Room;
use weir_processors::registry::ledger::Ledger;
use weir_processors::registry::patience::Patience;
use weir_processors::registry::policy::Policy;
use weir_processors::registry::purging::Purging;
use weir_processors::registry::setup::Parts;
use weir_processors::registry::shelves::Shelves;
use weir_processors::registry::{cargo, docker, go, keeper, npm, pypi};

use super::cache_dir;
use crate::config::Config;
use crate::config::registries::{Registry, goods, upstream_key};
use crate::data_dir::DataDir;
use crate::exit::{Exit, Failure, chain};

/// Puts it together. Requests that wait for a person are answered when the outside stops.
pub(super) async fn start(
    config: &Config,
    data_dir: &DataDir,
    door: &Door,
    lifecycle: &Lifecycle,
    outside: &Lifecycle,
) -> Result<Packages, Failure> {
    record(config, door).await?;
    record_profiles(config, door).await?;
    let policy = Policy::start(door.log(), lifecycle).await?;
    let mut packages = Packages::new(policy.clone());
    let registries = config.registries.all();
    if registries.iter().all(|registry| !registry.enabled) {
        return Ok(packages);
    }
    let root = cache_dir(config, data_dir);
    let opened = FileCache::open(root.clone(), config.cache.max_size.0).await;
    let (cache, repair) = opened.map_err(|fault| {
        Failure::failed(format!("could not open the cache `{}`: {fault}", root.display()))
    })?;
    info!(?repair, "cache opened");
    let shelves = Shelves::beside(redis(config, data_dir, lifecycle).await?);
    keeper::start(&cache, &shelves, door, keeper::EXPIRE_EVERY, lifecycle);
    let purging = Purging::start(cache.clone(), shelves.clone(), door.clone(), lifecycle)?;
    packages = packages.keeping(purging);
    let outbound = Outbound::new(door.log().incarnation().0, Limits::default())?;
    let patience = Patience::new(config.policy.holds.wait.0, outside.soft().clone());
    let room = Room::of(config.cache.max_staging.0);
    let shared = Shared { policy, door, outbound, cache, shelves, patience, room, lifecycle };
    for registry in registries.iter().filter(|registry| registry.enabled) {
        if registry.upstream.is_none() {
            let (key, goods) = (upstream_key(registry.ecosystem), goods(registry.ecosystem));
            warn!("{key} is not set: {goods} are not served");
        }
        packages = shared.serving(packages, registry)?;
    }
    Ok(packages)
}

/// The place where instances share lists, if there is to be one.
async fn redis(
    config: &Config,
    data_dir: &DataDir,
    lifecycle: &Lifecycle,
) -> Result<Option<RedisCache>, Failure> {
    let Some(options) = config.cache.redis.options() else { return Ok(None) };
    let secret = match config.server.secret {
        Some(secret) => secret.0,
        None => data_dir.api_key()?,
    };
    let started = RedisCache::start(&options, &secret, Arc::new(SystemClock), lifecycle).await;
    let redis = started.map_err(|fault| {
        Failure::new(Exit::Usage, format!("cache.redis.url cannot be used: {}", chain(&fault)))
    })?;
    keeper::look_after(redis.clone(), keeper::EXPIRE_EVERY, lifecycle);
    Ok(Some(redis))
}

/// Records what packages are judged by from now on, where it is not so already.
async fn record(config: &Config, door: &Door) -> Result<(), Failure> {
    let stream = StreamName::new(SETTINGS)?;
    let (apply, caller) = (Apply(config.policy_settings()), Caller::processor("configuration"));
    let executed = door.execute::<Keeping>(&stream, &apply, &caller, None).await?;
    if !executed.events.is_empty() {
        info!(position = %executed.position, "packages are judged by other settings from now on");
    }
    Ok(())
}

/// Records the profiles of the configuration, where they are not so already.
async fn record_profiles(config: &Config, door: &Door) -> Result<(), Failure> {
    let (stream, caller) = (StreamName::new(PROFILES)?, Caller::processor("configuration"));
    for entry in &config.policy.profiles {
        let profile = Profile::from(entry);
        let name = profile.name.clone();
        let set = Command::Set { profile, by: Grantor::admin() };
        let executed = door.execute::<Profiles>(&stream, &set, &caller, None).await;
        let executed = executed.map_err(|fault| match fault {
            ExecuteFault::Refused(refusal) => {
                Failure::new(Exit::Usage, format!("policy.profiles cannot be used: {refusal}"))
            }
            other => other.into(),
        })?;
        if !executed.events.is_empty() {
            info!(profile = name, position = %executed.position, "a profile is set");
        }
    }
    Ok(())
}

/// What all ecosystems share.
struct Shared<'a> {
    policy: Policy,
    door: &'a Door,
    outbound: Outbound,
    cache: FileCache,
    shelves: Shelves,
    patience: Patience,
    room: Room,
    lifecycle: &'a Lifecycle,
}

/// Makes the plugin of an ecosystem from its section.
macro_rules! plugin {
    ($module:ident :: $plugin:ident, $registry:expr, $shared:expr) => {{
        let (registry, shared): (&Registry<'_>, &Shared<'_>) = ($registry, $shared);
        let mut config = $module::config(registry.upstream.cloned());
        config.trusted_origins = registry.trusted_origins.iter().map(|url| url.0.clone()).collect();
        config.keeping.ttl = registry.page_ttl;
        config.keeping.stale_for = registry.stale_for;
        config.bounds.room = shared.room.clone();
        config.bounds.kept_for = registry.cache_ttl;
        config.checksum_database = registry.checksum_database.map(|it| it.0.clone());
        config.private = registry.private.to_vec();
        config.library_prefix = registry.library_prefix;
        let parts = Parts {
            policy: shared.policy.clone(),
            ledger: Ledger::new(registry.ecosystem, shared.door.clone()),
            outbound: shared.outbound.clone(),
            cache: shared.cache.clone(),
            shelves: shared.shelves.clone(),
            patience: shared.patience.clone(),
            lifecycle: shared.lifecycle,
        };
        let made = $module::$plugin::new(&config, parts);
        let unusable = |fault| {
            let key = upstream_key(registry.ecosystem);
            Failure::new(Exit::Usage, format!("{key} cannot be used: {fault}"))
        };
        Arc::new(made.map_err(unusable)?)
    }};
}

impl Shared<'_> {
    fn serving(&self, packages: Packages, registry: &Registry<'_>) -> Result<Packages, Failure> {
        let scope = Scope::of_packages(registry.ecosystem);
        Ok(match registry.ecosystem {
            Ecosystem::Pypi => packages.serving(plugin!(pypi::Pypi, registry, self), scope),
            Ecosystem::Npm => packages.serving(plugin!(npm::Npm, registry, self), scope),
            Ecosystem::Cargo => packages.serving(plugin!(cargo::Cargo, registry, self), scope),
            Ecosystem::Go => packages.serving(plugin!(go::Go, registry, self), scope),
            Ecosystem::Docker => packages.serving(plugin!(docker::Docker, registry, self), scope),
        })
    }
}
