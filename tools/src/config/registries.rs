//! `registries`: the package registries Weir stands in front of.

use std::time::Duration;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use weir_events::registry::{Ecosystem, policy::Mode};

use super::section::section;
use super::value::{ChecksumDatabase, HttpUrl, Span};

/// The ecosystems.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registries {
    pub(crate) pypi: Pypi,
    pub(crate) npm: Npm,
    pub(crate) cargo: Cargo,
    pub(crate) go: Go,
    pub(crate) docker: Docker,
}

/// What is configured for an ecosystem, whichever it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registry<'a> {
    pub(crate) ecosystem: Ecosystem,
    pub(crate) enabled: bool,
    pub(crate) upstream: Option<&'a Url>,
    pub(crate) trusted_origins: &'a [HttpUrl],
    pub(crate) page_ttl: Duration,
    pub(crate) stale_for: Duration,
    /// Without it, as long as there is room.
    pub(crate) cache_ttl: Option<Duration>,
    pub(crate) mode: Mode,
    pub(crate) min_age_hours: u32,
    pub(crate) fix_exemption: bool,
    /// Of Go modules alone.
    pub(crate) checksum_database: Option<&'a ChecksumDatabase>,
    /// Of Go modules alone.
    pub(crate) private: &'a [String],
    /// Of images alone.
    pub(crate) library_prefix: bool,
}

/// What an ecosystem is made of, in messages.
pub(crate) const fn goods(ecosystem: Ecosystem) -> &'static str {
    match ecosystem {
        Ecosystem::Pypi => "Python packages",
        Ecosystem::Npm => "npm packages",
        Ecosystem::Cargo => "Rust crates",
        Ecosystem::Go => "Go modules",
        Ecosystem::Docker => "container images",
    }
}

/// The key of an ecosystem's upstream.
pub(crate) const fn upstream_key(ecosystem: Ecosystem) -> &'static str {
    match ecosystem {
        Ecosystem::Pypi => "registries.pypi.upstream",
        Ecosystem::Npm => "registries.npm.upstream",
        Ecosystem::Cargo => "registries.cargo.upstream",
        Ecosystem::Go => "registries.go.upstream",
        Ecosystem::Docker => "registries.docker.upstream",
    }
}

impl Registries {
    /// The ecosystems that can be served, in the order of the file.
    pub(crate) fn all(&self) -> [Registry<'_>; 5] {
        let go = Registry {
            checksum_database: self.go.checksum_database.as_ref(),
            private: &self.go.private,
            ..self.go.registry()
        };
        let library_prefix = self.docker.library_prefix;
        let docker = Registry { library_prefix, ..self.docker.registry() };
        [self.pypi.registry(), self.npm.registry(), self.cargo.registry(), go, docker]
    }
}

/// Declares the section of an ecosystem: its own words about what is asked, the same keys for all.
macro_rules! registry {
    (
        $(#[doc = $about:literal])+
        $name:ident at $path:literal, fresh for $ttl:expr, kept for $kept:expr,
        $(#[doc = $upstream:literal])+
        upstream
        $($(#[doc = $doc:literal])+ $key:ident: $type:ty = $default:expr,)*
    ) => {
        section! {
            $(#[doc = $about])+
            $name at $path {
                /// Whether they are served at all.
                enabled: bool = true,
                $(#[doc = $upstream])+
                upstream: Option<HttpUrl> = None,
                /// Origins of files that may stand inside a network, as the upstream itself may: for a
                /// mirror whose files have a host of their own. Files elsewhere come from public
                /// addresses only.
                trusted_origins: Vec<HttpUrl> = Vec::new(),
                /// How long a list of versions is fresh.
                page_ttl: Span = Span::seconds($ttl),
                /// How long an old list is given while the upstream fails.
                stale_for: Span = Span::seconds(24 * 3600),
                /// How long a file is kept that nobody asks for; 0s for as long as there is room. While
                /// the upstream fails, all are kept.
                cache_ttl: Span = Span::seconds($kept),
                /// Whether a "no" is acted upon: `enforce`, or `audit`, which lets pass and records a
                /// warning.
                mode: Mode = Mode::Enforce,
                /// How old a version must be before it passes, in hours; 0 for any age. From then on it is
                /// noted when each version is seen here first: what comes later, or tells no time that can
                /// be believed, is as old as that. In mode `audit` the clock runs, and all passes.
                min_age_hours: u32 = 0,
                /// Whether a version that fixes an advisory may be younger. That it was is recorded.
                fix_exemption: bool = true,
                $($(#[doc = $doc])+ $key: $type = $default,)*
            }
        }

        impl $name {
            fn registry(&self) -> Registry<'_> {
                Registry {
                    ecosystem: Ecosystem::$name,
                    enabled: self.enabled,
                    upstream: self.upstream.as_ref().map(|url| &url.0),
                    trusted_origins: &self.trusted_origins,
                    page_ttl: self.page_ttl.0,
                    stale_for: self.stale_for.0,
                    cache_ttl: Some(self.cache_ttl.0).filter(|ttl| !ttl.is_zero()),
                    mode: self.mode,
                    min_age_hours: self.min_age_hours,
                    fix_exemption: self.fix_exemption,
                    checksum_database: None,
                    private: &[],
                    library_prefix: true,
                }
            }
        }
    };
}

registry! {
    /// Python packages, served below /pypi.
    Pypi at "registries.pypi", fresh for 5 * 60, kept for 24 * 3600,
    /// The index that is asked, up to and with its `simple/`. `weir init` asks this machine's own
    /// pip for it. A user name and a password in it are sent to its own host only.
    upstream
}

registry! {
    /// npm packages, served below /npm.
    Npm at "registries.npm", fresh for 5 * 60, kept for 24 * 3600,
    /// The registry that is asked. `weir init` asks this machine's own npm for it. A user name and a
    /// password in it are sent to its own host only.
    upstream
}

registry! {
    /// Rust crates, served below /cargo.
    Cargo at "registries.cargo", fresh for 5 * 60, kept for 24 * 3600,
    /// The sparse index that is asked, the folder of its `config.json`. `weir init` looks which one
    /// this machine's own cargo uses. A user name and a password in it are sent to its own host only.
    upstream
}

registry! {
    /// Go modules, served below /go. The time of a version is whatever its author wrote, so it counts
    /// for nothing: where `min_age_hours` is set, a version is as old as the first sight of it here.
    Go at "registries.go", fresh for 5 * 60, kept for 24 * 3600,
    /// The module proxy that is asked. `weir init` asks this machine's own go command for it. A user
    /// name and a password in it are sent to its own host only.
    upstream
    /// The checksum database that the proxy passes on, as GOSUMDB has it: `NAME+HASH+KEY`, or its name
    /// alone. What it says of a zip is compared before the zip is kept; with its key, what it says is
    /// verified first: its signature, and that it is in the signed tree. `weir init` looks in this
    /// machine's own go command for it. Without one, what comes first is kept.
    checksum_database: Option<ChecksumDatabase> = None,
    /// Modules of which no checksum database may hear, as patterns of GOPRIVATE.
    private: Vec<String> = Vec::new(),
}

registry! {
    /// Container images, served below /v2. A registry tells no time of an image, and the time that an
    /// image tells of itself is whatever its builder wrote, so it counts for nothing: where
    /// `min_age_hours` is set, an image is as old as the first sight of its digest here.
    Docker at "registries.docker", fresh for 3600, kept for 3600,
    /// The registry that is asked, as `https://registry.example`. No client on this machine tells
    /// one, so without it no images are served. A user name and a password in it are sent to its own
    /// host, and to where that host says that its tokens are.
    upstream
    /// Whether it has an image that is asked for by a name without `/` under `library/`, as the hub
    /// of all images does; other registries have it under its name. It is judged as `library/NAME`
    /// either way.
    library_prefix: bool = true,
}
