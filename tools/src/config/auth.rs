//! `auth`: who may pass.

use serde::{Deserialize, Serialize};
use weir_aggregates::registry::profile::MAX_NAME_CHARS;

use super::Config;
use super::profiles::ProfileEntry;
use super::section::section;
use super::value::Span;

section! {
    /// Who may pass. Everything but health and package downloads from this machine needs a token.
    Auth at "auth" {
        /// Package clients on this machine: `open` lets them through as principal `local`,
        /// `closed` wants a token from them too. Unless given, open for `weir up`, closed for
        /// `weir api`. A proxy on this machine makes everybody look like this machine, unless it
        /// is one of `server.trusted_proxies`.
        loopback_packages: Option<LoopbackPackages> = None,
        /// The profile that principal `local` is bound by, as the token of an agent is by its own: one
        /// of `policy.profiles`.
        /// Without one, an agent on this machine that leaves its token out is bound by none.
        loopback_profile: Option<String> = None,
        /// How long a browser stays signed in, however much it is used.
        session_lifetime: Span = Span::seconds(12 * 60 * 60),
    }
}

/// What package clients on this machine need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LoopbackPackages {
    Open,
    Closed,
}

impl Config {
    /// Whether an agent on this machine that is bound by a profile gets rid of it by leaving its token
    /// out, where there are profiles.
    pub(crate) fn lets_profiles_be_left(&self) -> bool {
        self.auth.loopback_packages != Some(LoopbackPackages::Closed)
            && self.auth.loopback_profile.is_none()
    }

    /// What is wrong with the profile of who leaves the token out, if so: it has to be one of those that
    /// are set at every start, or nobody would pass where it was never set, or is gone.
    pub(crate) fn nobodys_profile(&self) -> Option<String> {
        let named = self.auth.loopback_profile.as_deref()?;
        let all: Vec<_> = self.policy.profiles.iter().map(ProfileEntry::name).collect();
        if all.contains(&named) {
            return None;
        }
        let there = match &all[..] {
            [] => "none stands there".to_owned(),
            all => format!("there are: {}", all.join(", ")),
        };
        let named: String =
            named.chars().take(MAX_NAME_CHARS).flat_map(char::escape_debug).collect();
        Some(format!("no profile of `policy.profiles` is called `{named}`; {there}"))
    }

    /// Whether everybody behind a proxy on this machine is let through as `local`: a proxy is
    /// known of, but not whose word counts.
    pub(crate) fn lets_a_proxy_in(&self, open: bool) -> bool {
        open && self.server.public_url.is_some() && self.server.trusted_proxies.is_empty()
    }
}
