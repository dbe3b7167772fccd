//! The configuration: one struct per section, one file, every layer on record.
//!
//! Defaults are what `weir up` works with on any machine. `weir.yaml` in the working directory, else
//! in the data directory, goes over them; then `WEIR__SECTION__KEY`; then flags.

mod example;
mod fault;
mod file;
mod layers;
mod origin;
mod section;
mod value;

pub(crate) mod auth;
pub(crate) mod cache;
pub(crate) mod database;
pub(crate) mod licences;
pub(crate) mod log;
pub(crate) mod logging;
pub(crate) mod lookalikes;
pub(crate) mod nexus;
pub(crate) mod policy;
pub(crate) mod profiles;
pub(crate) mod reaction;
pub(crate) mod registries;
pub(crate) mod server;
pub(crate) mod sources;
pub(crate) mod web;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub(crate) use self::example::render as example;
pub(crate) use self::fault::{ConfigFault, nearest};
pub(crate) use self::layers::Shown;
pub(crate) use self::value::{ChecksumDatabase, HttpUrl, Size, Span, without_password};
use self::{layers::Layers, section::Section};
use crate::environment;

/// The name of the configuration file.
pub(crate) const FILE: &str = "weir.yaml";

/// Everything that can be configured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: server::Server,
    pub(crate) auth: auth::Auth,
    pub(crate) registries: registries::Registries,
    pub(crate) policy: policy::Policy,
    pub(crate) sources: sources::Sources,
    pub(crate) cache: cache::Cache,
    pub(crate) nexus: nexus::Nexus,
    pub(crate) mint: web::Mint,
    pub(crate) web: web::Web,
    pub(crate) database: database::Database,
    pub(crate) log: log::Log,
    pub(crate) logging: logging::Logging,
}

/// The sections in the order of the example file.
pub(crate) const SECTIONS: &[Section] = &[
    server::Server::SECTION,
    auth::Auth::SECTION,
    registries::Pypi::SECTION,
    registries::Npm::SECTION,
    registries::Cargo::SECTION,
    registries::Go::SECTION,
    registries::Docker::SECTION,
    policy::Policy::SECTION,
    policy::Holds::SECTION,
    licences::Licences::SECTION,
    lookalikes::Lookalikes::SECTION,
    sources::Osv::SECTION,
    sources::OpenSsf::SECTION,
    sources::Blocklist::SECTION,
    cache::Cache::SECTION,
    cache::Redis::SECTION,
    nexus::Nexus::SECTION,
    web::Mint::SECTION,
    web::Web::SECTION,
    web::WebCache::SECTION,
    database::Database::SECTION,
    log::Log::SECTION,
    logging::Logging::SECTION,
];

/// A value that a flag of the command line gives to a key.
#[derive(Debug, Clone)]
pub(crate) struct FlagValue {
    pub(crate) flag: &'static str,
    pub(crate) key: &'static str,
    pub(crate) value: String,
}

/// The configuration as it was found.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// The file it was read from, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// Every key with its value as it may be shown.
    pub(crate) values: Vec<Shown>,
    pub(crate) warnings: Vec<String>,
}

/// The file that counts: the one asked for, else `weir.yaml` here, else in the data directory.
pub(crate) fn find(asked: Option<&Path>, data_dir: &Path) -> Option<PathBuf> {
    if let Some(asked) = asked {
        return Some(asked.to_owned());
    }
    [PathBuf::from(FILE), data_dir.join(FILE)].into_iter().find(|path| path.is_file())
}

/// Reads the configuration, all layers.
pub(crate) fn load(
    asked: Option<&Path>,
    data_dir: &Path,
    flags: &[FlagValue],
) -> Result<Loaded, ConfigFault> {
    let file = find(asked, data_dir);
    let mut layers = Layers::new();
    let mut text = String::new();
    if let Some(path) = &file {
        let name = path.display().to_string();
        text = fs::read_to_string(path)
            .map_err(|source| ConfigFault::Read { path: name.clone(), source })?;
        layers.file(&name, &file::parse(&name, &text)?, &|name| environment::var(name));
    }
    for (name, value) in environment::overrides() {
        layers.variable(&name, &value);
    }
    for FlagValue { flag, key, value } in flags {
        layers.flag(flag, key, value);
    }
    let merged =
        layers.finish().map_err(|faults| ConfigFault::Keys(fault::render(&faults, &text)))?;
    let layers::Merged { config, values, warnings } = merged;
    Ok(Loaded { config, file, values, warnings })
}
