//! Where a request may go: the upstream an operator configured, and the hosts that upstream's own
//! index names for its files. Checked before every request and every redirect.
//!
//! The upstream's own origin may stand anywhere. Every other one must have a public address: an
//! index must not send us into our own network.

use std::{collections::BTreeSet, fmt, net::IpAddr, sync::Arc};

use base64::Engine as _;
use http::HeaderValue;
use reqwest::Url;

use super::{address::public, tokens::Tokens};

/// Scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    scheme: Box<str>,
    host: Box<str>,
    port: u16,
}

impl Origin {
    /// The origin of an HTTP or HTTPS address.
    #[must_use]
    pub fn of(url: &Url) -> Option<Self> {
        let scheme = match url.scheme() {
            scheme @ ("http" | "https") => scheme.into(),
            _ => return None,
        };
        Some(Self { scheme, host: url.host_str()?.into(), port: url.port_or_known_default()? })
    }

    /// Whether the host is an address, not a name, and not a public one.
    fn inside(&self) -> bool {
        let address = self.host.trim_end_matches('.').trim_matches(['[', ']']).parse::<IpAddr>();
        address.is_ok_and(|ip| !public(ip))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.scheme, self.host, self.port)
    }
}

/// An address that may not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReachFault {
    /// Only HTTP and HTTPS are spoken.
    #[error("it is neither http nor https, or names no host")]
    NotHttp,
    /// User names and passwords belong in the configuration of the upstream only.
    #[error("it carries a user name or password")]
    Userinfo,
    /// Neither the upstream nor a host its index names.
    #[error("{0} is neither the upstream nor a host that its index names")]
    Elsewhere(Origin),
    /// Its host is an address inside some network.
    #[error("{0} is not a public address, and not the upstream's own")]
    Inside(Origin),
    /// Its host is a name for addresses inside some network.
    #[error("`{0}` resolves to an address that is not public")]
    ResolvesInside(Box<str>),
    /// From HTTPS to HTTP.
    #[error("it leaves https for http")]
    Downgrade,
}

/// Where a request may go.
#[derive(Debug, Clone)]
pub struct Reach {
    home: Origin,
    /// Marked as sensitive: not shown by `Debug` either. With the only origin they are for.
    credentials: Option<(Origin, HeaderValue)>,
    beside: BTreeSet<Origin>,
    /// What an operator named by hand, so it may stand inside a network as the upstream may.
    trusted: BTreeSet<Origin>,
    /// Whether every public origin belongs to it.
    public: bool,
    /// The tokens the upstream wants to see, where it wants any.
    tokens: Option<Arc<Tokens>>,
}

impl Reach {
    /// The reach of an upstream alone, and its address without user name and password; these are
    /// sent to the upstream's own origin and nowhere else.
    pub fn of_upstream(url: &Url) -> Result<(Self, Url), ReachFault> {
        let home = Origin::of(url).ok_or(ReachFault::NotHttp)?;
        let mut bare = url.clone();
        let credentials = credentials(url).map(|credentials| (home.clone(), credentials));
        if bare.set_username("").is_err() || bare.set_password(None).is_err() {
            return Err(ReachFault::NotHttp);
        }
        let (beside, trusted) = (BTreeSet::new(), BTreeSet::new());
        let reach = Self { home, credentials, beside, trusted, public: false, tokens: None };
        Ok((reach, bare))
    }

    /// The same reach, and the origins of these addresses, wherever they stand: an operator's word,
    /// for a mirror whose files have a host of their own inside the same network. Nothing is sent
    /// there that is the upstream's own.
    #[must_use]
    pub fn trusting<'a>(mut self, origins: impl IntoIterator<Item = &'a Url>) -> Self {
        self.trusted.extend(origins.into_iter().filter_map(Origin::of));
        self
    }

    /// The same reach, and the origins of these addresses, which the upstream's index names. What
    /// would leave HTTPS for HTTP does not become reachable.
    #[must_use]
    pub fn and<'a>(&self, named: impl IntoIterator<Item = &'a Url>) -> Self {
        let mut reach = self.clone();
        let secure = &*self.home.scheme == "https";
        let origins = named.into_iter().filter_map(Origin::of);
        reach.beside.extend(origins.filter(|origin| !secure || &*origin.scheme == "https"));
        reach
    }

    /// The same reach, and every public origin: for what is verified by its digest, wherever it
    /// comes from. What would leave HTTPS for HTTP does not become reachable.
    #[must_use]
    pub fn and_public(mut self) -> Self {
        self.public = true;
        self
    }

    /// The same reach, whose own origin is shown tokens that are fetched where it says.
    #[must_use]
    pub fn relaying(mut self, tokens: Arc<Tokens>) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// The tokens its own origin is shown, where an address is there.
    pub(super) fn tokens_for(&self, url: &Url) -> Option<&Arc<Tokens>> {
        self.tokens.as_ref().filter(|_| Origin::of(url).as_ref() == Some(&self.home))
    }

    /// The reach of a request for a token. The upstream's user name and password are shown where the
    /// upstream says that its tokens are, and nowhere else.
    pub(super) fn of_tokens(&self, realm: &Url) -> Self {
        let mut reach = self.and([realm]);
        (reach.public, reach.tokens) = (false, None);
        let credentials = self.credentials.as_ref().map(|(_, credentials)| credentials.clone());
        reach.credentials = Origin::of(realm).zip(credentials);
        reach
    }

    /// Whether an address may be fetched. What a name resolves to is seen only when it is: whoever
    /// connects elsewhere than to the upstream's own or trusted origin looks at that too.
    pub fn check(&self, url: &Url) -> Result<(), ReachFault> {
        let origin = Origin::of(url).ok_or(ReachFault::NotHttp)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ReachFault::Userinfo);
        }
        if origin == self.home || self.trusted.contains(&origin) {
            Ok(())
        } else if self.beside.contains(&origin) || (self.public && !self.leaves_https(&origin)) {
            if origin.inside() { Err(ReachFault::Inside(origin)) } else { Ok(()) }
        } else if self.leaves_https(&origin) {
            Err(ReachFault::Downgrade)
        } else {
            Err(ReachFault::Elsewhere(origin))
        }
    }

    fn leaves_https(&self, origin: &Origin) -> bool {
        &*self.home.scheme == "https" && &*origin.scheme == "http"
    }

    /// Whether an address may stand inside a network: the upstream's own origin, and what an
    /// operator named beside it.
    pub(super) fn anywhere(&self, url: &Url) -> bool {
        Origin::of(url).is_some_and(|origin| origin == self.home || self.trusted.contains(&origin))
    }

    /// What the upstream wants to see of us, if the address is its own.
    /// Whether there are credentials for the upstream.
    #[must_use]
    pub const fn has_credentials(&self) -> bool {
        self.credentials.is_some()
    }

    pub(super) fn credentials_for(&self, url: &Url) -> Option<HeaderValue> {
        let (whose, credentials) = self.credentials.as_ref()?;
        (Origin::of(url).as_ref() == Some(whose)).then(|| credentials.clone())
    }
}

fn credentials(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let plain = |text| percent_encoding::percent_decode_str(text).collect::<Vec<u8>>();
    let mut pair = plain(url.username());
    pair.push(b':');
    pair.extend(plain(url.password().unwrap_or_default()));
    let basic = base64::engine::general_purpose::STANDARD.encode(pair);
    let mut value = HeaderValue::try_from(format!("Basic {basic}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn reach(upstream: &str) -> Reach {
        Reach::of_upstream(&url(upstream)).unwrap().0
    }

    #[test]
    fn only_the_upstream_and_what_its_index_names_is_reached() {
        let index = reach("https://index.example/simple/");
        assert_eq!(index.check(&url("https://index.example:443/x")), Ok(()));
        for outside in
            ["https://files.example/x", "https://index.example:8443/x", "https://127.0.0.1/"]
        {
            let fault = index.check(&url(outside)).unwrap_err();
            assert!(matches!(fault, ReachFault::Elsewhere(_)), "{outside}: {fault}");
        }
        let wider = index.and([&url("https://files.example/a"), &url("ftp://files.example/a")]);
        assert_eq!(wider.check(&url("https://files.example/b")), Ok(()));
        assert_eq!(wider.check(&url("ftp://files.example/b")), Err(ReachFault::NotHttp));
        assert_eq!(wider.check(&url("https://a:b@files.example/b")), Err(ReachFault::Userinfo));
    }

    #[test]
    fn an_index_cannot_lead_from_https_to_http() {
        let wider = reach("https://index.example/").and([&url("http://files.example/a")]);
        assert_eq!(wider.check(&url("http://files.example/a")), Err(ReachFault::Downgrade));
        assert_eq!(wider.check(&url("http://index.example/a")), Err(ReachFault::Downgrade));
        let plain = reach("http://index.example/").and([&url("http://files.example/")]);
        assert_eq!(plain.check(&url("http://files.example/a")), Ok(()));
    }

    #[test]
    fn the_upstreams_password_goes_to_the_upstream_only_and_is_never_shown() {
        let (reach, bare) = Reach::of_upstream(&url("https://me:p%40ss@index.example/s/")).unwrap();
        assert_eq!(bare.as_str(), "https://index.example/s/");
        let sent = reach.credentials_for(&url("https://index.example/x")).unwrap();
        assert_eq!(sent.to_str().unwrap(), "Basic bWU6cEBzcw==");
        assert!(reach.credentials_for(&url("https://files.example/x")).is_none());
        assert!(!format!("{reach:?}").contains("bWU6"));
        assert_eq!(Reach::of_upstream(&url("file:///x")).unwrap_err(), ReachFault::NotHttp);
    }

    #[test]
    fn only_the_upstreams_own_origin_may_stand_inside_a_network() {
        for upstream in ["https://index.example/simple/", "https://10.0.0.5:8080/simple/"] {
            let index = reach(upstream);
            for inside in [
                "https://127.0.0.1:7499/readyz",
                "https://127.0.0.1./x",
                "https://10.0.0.5/x",
                "https://10.0.0.5:8081/x",
                "https://169.254.169.254/latest",
                "https://2130706433/x",
                "https://0x7f.1/x",
                "https://[::1]/x",
                "https://[::ffff:127.0.0.1]/x",
                "https://[64:ff9b::7f00:1]/x",
            ] {
                let inside = url(inside);
                let fault = index.and([&inside]).check(&inside).unwrap_err();
                assert!(matches!(fault, ReachFault::Inside(_)), "{inside}: {fault}");
            }
            for outside in
                ["https://files.example/x", "https://8.8.8.8/x", "https://[2606:4700::1]/x"]
            {
                let outside = url(outside);
                assert_eq!(index.and([&outside]).check(&outside), Ok(()), "{outside}");
            }
        }
        let mirror = reach("http://10.0.0.5:8080/simple/");
        assert_eq!(mirror.check(&url("http://10.0.0.5:8080/files/x")), Ok(()));
        // Unless an operator says so.
        let files = url("http://10.0.0.6/");
        assert!(mirror.and([&files]).check(&files).is_err());
        assert_eq!(mirror.trusting([&files]).check(&url("http://10.0.0.6/x")), Ok(()));
    }
}
