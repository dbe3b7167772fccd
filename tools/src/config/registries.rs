//! `registries`: the package registries Weir stands in front of.

use serde::{Deserialize, Serialize};

use super::section::section;
use super::value::{HttpUrl, Span};

/// The ecosystems.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registries {
    pub(crate) pypi: Pypi,
}

section! {
    /// Python packages, served below /pypi.
    Pypi at "registries.pypi" {
        /// Whether they are served at all.
        enabled: bool = true,
        /// The index that is asked, up to and with its `simple/`. `weir init` asks this machine's
        /// own pip for it. A user name and a password in it are sent to its own host only.
        upstream: Option<HttpUrl> = None,
        /// Origins of files that may stand inside a network, as the upstream itself may: for a mirror
        /// whose files have a host of their own. Files elsewhere come from public addresses only.
        trusted_origins: Vec<HttpUrl> = Vec::new(),
        /// How long a project's page is fresh.
        page_ttl: Span = Span::seconds(5 * 60),
        /// How long an old page is given while the upstream fails.
        stale_for: Span = Span::seconds(24 * 3600),
    }
}
