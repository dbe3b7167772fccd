//! Who is on the other end of the connection, and what a proxy we trust says about who is behind
//! it. What any other peer says about that is not believed.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use http::{HeaderMap, HeaderName, header::FORWARDED};

/// The address of the peer; [`crate::serve`] puts it into each request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// What is known of the client's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// The address that failures are counted for.
    pub address: IpAddr,
    /// Whether the client spoke HTTPS to a proxy we trust.
    pub https: bool,
    /// Whether it sits on this machine, with nothing in between.
    pub local: bool,
}

impl Client {
    /// Reads what is known from a connection's peer and a request's headers.
    pub fn of(peer: Option<Peer>, headers: &HeaderMap, trusted: &[IpAddr]) -> Self {
        let peer = peer.map(|Peer(address)| address.ip().to_canonical());
        let forwarded = headers.contains_key(FORWARDED) || headers.contains_key(X_FORWARDED_FOR);
        let Some(peer) = peer else {
            let address = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
            return Self { address, https: false, local: false };
        };
        if !trusted.contains(&peer) {
            return Self { address: peer, https: false, local: peer.is_loopback() && !forwarded };
        }
        let address = nearest_untrusted(headers, trusted).unwrap_or(peer);
        let https =
            last(headers, &X_FORWARDED_PROTO).is_some_and(|p| p.eq_ignore_ascii_case("https"));
        Self { address, https, local: peer.is_loopback() && !forwarded }
    }
}

/// Walks `X-Forwarded-For` from our side outwards: what the first stranger says about others is
/// hearsay.
fn nearest_untrusted(headers: &HeaderMap, trusted: &[IpAddr]) -> Option<IpAddr> {
    let lines: Vec<&str> =
        headers.get_all(X_FORWARDED_FOR).iter().filter_map(|v| v.to_str().ok()).collect();
    let hops = lines.iter().rev().flat_map(|line| line.rsplit(','));
    for hop in hops {
        let hop: IpAddr = hop.trim().parse().ok()?;
        let hop = hop.to_canonical();
        if !trusted.contains(&hop) {
            return Some(hop);
        }
    }
    None
}

fn last<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

    fn client(peer: &str, headers: &[(&'static str, &str)]) -> Client {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        Client::of(Some(Peer(peer.parse().unwrap())), &map, &[PROXY])
    }

    #[test]
    fn a_stranger_cannot_say_where_it_comes_from() {
        let seen = client(
            "192.0.2.7:1",
            &[("x-forwarded-for", "127.0.0.1"), ("x-forwarded-proto", "https")],
        );
        let address = IpAddr::from([192, 0, 2, 7]);
        assert_eq!(seen, Client { address, https: false, local: false });
    }

    #[test]
    fn a_trusted_proxy_is_believed_about_its_own_peer_only() {
        let seen = client(
            "10.0.0.1:1",
            &[
                ("x-forwarded-for", "127.0.0.1, 198.51.100.4"),
                ("x-forwarded-for", "10.0.0.1"),
                ("x-forwarded-proto", "http, https"),
            ],
        );
        let address = IpAddr::from([198, 51, 100, 4]);
        assert_eq!(seen, Client { address, https: true, local: false });
        assert_eq!(client("10.0.0.1:1", &[("x-forwarded-for", "junk")]).address, PROXY);
    }

    #[test]
    fn only_a_loopback_peer_that_forwards_for_nobody_is_local() {
        assert!(client("127.0.0.1:1", &[]).local);
        assert!(client("[::ffff:127.0.0.1]:1", &[]).local);
        assert!(client("[::1]:1", &[]).local);
        assert!(!client("127.0.0.1:1", &[("x-forwarded-for", "127.0.0.1")]).local);
        assert!(!client("127.0.0.1:1", &[("forwarded", "for=127.0.0.1")]).local);
        assert!(!client("192.0.2.7:1", &[]).local);
        assert!(!Client::of(None, &HeaderMap::new(), &[]).local);
    }
}
