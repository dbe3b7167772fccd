//! Where a request may go: the upstream an operator configured, and the hosts that upstream's own
//! index names for its files. Checked before every request and every redirect.

use std::{
    collections::BTreeSet,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use base64::Engine as _;
use http::HeaderValue;
use reqwest::Url;

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
    /// From HTTPS to HTTP.
    #[error("it leaves https for http")]
    Downgrade,
}

/// Where a request may go.
#[derive(Debug, Clone)]
pub struct Reach {
    home: Origin,
    /// Marked as sensitive: not shown by `Debug` either.
    credentials: Option<HeaderValue>,
    beside: BTreeSet<Origin>,
}

impl Reach {
    /// The reach of an upstream alone, and its address without user name and password; these are
    /// sent to the upstream's own origin and nowhere else.
    pub fn of_upstream(url: &Url) -> Result<(Self, Url), ReachFault> {
        let home = Origin::of(url).ok_or(ReachFault::NotHttp)?;
        let mut bare = url.clone();
        let credentials = credentials(url);
        if bare.set_username("").is_err() || bare.set_password(None).is_err() {
            return Err(ReachFault::NotHttp);
        }
        Ok((Self { home, credentials, beside: BTreeSet::new() }, bare))
    }

    /// The same reach, and the origins of these addresses, which the upstream's index names. What
    /// would leave HTTPS for HTTP does not become reachable; nor does an address that is not public,
    /// unless the upstream itself stands on one: an index of the world must not send us into our own
    /// network.
    #[must_use]
    pub fn and<'a>(&self, named: impl IntoIterator<Item = &'a Url>) -> Self {
        let mut reach = self.clone();
        let secure = &*self.home.scheme == "https";
        let inside = !public(&self.home.host);
        let origins = named.into_iter().filter_map(Origin::of);
        reach.beside.extend(origins.filter(|origin| {
            (!secure || &*origin.scheme == "https") && (inside || public(&origin.host))
        }));
        reach
    }

    /// Whether an address may be fetched.
    pub fn check(&self, url: &Url) -> Result<(), ReachFault> {
        let origin = Origin::of(url).ok_or(ReachFault::NotHttp)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ReachFault::Userinfo);
        }
        if origin == self.home || self.beside.contains(&origin) {
            Ok(())
        } else if &*self.home.scheme == "https" && &*origin.scheme == "http" {
            Err(ReachFault::Downgrade)
        } else {
            Err(ReachFault::Elsewhere(origin))
        }
    }

    /// What the upstream wants to see of us, if the address is its own.
    pub(super) fn credentials_for(&self, url: &Url) -> Option<HeaderValue> {
        self.credentials.clone().filter(|_| Origin::of(url).as_ref() == Some(&self.home))
    }
}

/// Whether a host, as an address spells it, can be public: `localhost` and the literal addresses of
/// loopback, private, link-local, shared, documentation, multicast and unspecified ranges are not.
/// What a name resolves to is not looked at here.
fn public(host: &str) -> bool {
    let name = host.trim_end_matches('.');
    if name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost") {
        return false;
    }
    match name.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) => public_v4(v4),
        Ok(IpAddr::V6(v6)) => public_v6(v6),
        Err(_) => true,
    }
}

const fn public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, ..] = ip.octets();
    let shared = a == 100 && 64 <= b && b < 128;
    let benchmarking = a == 198 && (b == 18 || b == 19);
    !(ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_broadcast()
        || ip.is_documentation()
        || a == 0
        || 240 <= a
        || shared
        || benchmarking)
}

/// Global unicast is `2000::/3`; what carries an IPv4 address inside (mapped, NAT64, 6to4) is
/// refused as a whole, and so is documentation.
fn public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    first & 0xe000 == 0x2000 && first != 0x2002 && !(first == 0x2001 && second == 0x0db8)
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
        let plain = reach("http://127.0.0.1:1/").and([&url("http://127.0.0.1:2/")]);
        assert_eq!(plain.check(&url("http://127.0.0.1:2/a")), Ok(()));
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
    fn an_index_of_the_world_does_not_send_us_into_our_own_network() {
        let index = reach("https://index.example/simple/");
        for inside in [
            "https://127.0.0.1/x",
            "https://localhost/x",
            "https://a.localhost./x",
            "https://10.1.2.3/x",
            "https://172.16.0.1/x",
            "https://192.168.1.1/x",
            "https://169.254.169.254/latest",
            "https://100.64.0.1/x",
            "https://0.0.0.0/x",
            "https://2130706433/x",
            "https://0x7f.1/x",
            "https://224.0.0.1/x",
            "https://[::1]/x",
            "https://[::ffff:127.0.0.1]/x",
            "https://[64:ff9b::7f00:1]/x",
            "https://[fe80::1]/x",
            "https://[fd00::1]/x",
            "https://[2002:7f00:1::]/x",
        ] {
            let inside = url(inside);
            assert!(index.and([&inside]).check(&inside).is_err(), "{inside}");
        }
        for outside in ["https://files.example/x", "https://8.8.8.8/x", "https://[2606:4700::1]/x"]
        {
            let outside = url(outside);
            assert_eq!(index.and([&outside]).check(&outside), Ok(()), "{outside}");
        }
        // A mirror inside a network names files inside it.
        let mirror = reach("http://10.0.0.5:8080/simple/");
        let files = url("http://10.0.0.6/x");
        assert_eq!(mirror.and([&files]).check(&files), Ok(()));
    }
}
