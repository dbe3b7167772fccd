//! Where this Weir is for a client: what the addresses in its answers begin with.

use http::{
    HeaderMap,
    header::HOST,
    uri::{Authority, Scheme},
};

use crate::peer::Client;

/// The address an operator named; else the host that the client asked, over HTTPS where it spoke
/// that to a proxy we trust. Without a slash at its end; empty where nothing says so.
///
/// `Host` is believed as it came, from everybody: it only comes back to the one who sent it. A proxy
/// must hand it on.
pub(crate) fn base(public_url: Option<&str>, client: Client, headers: &HeaderMap) -> String {
    if let Some(public_url) = public_url {
        return public_url.trim_end_matches('/').to_owned();
    }
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return String::new() };
    let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    let Some(host) = host.filter(|host| host.as_str().bytes().all(plain)) else {
        return String::new();
    };
    let scheme = if client.https { Scheme::HTTPS } else { Scheme::HTTP };
    format!("{scheme}://{}", host.as_str().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use http::{HeaderName, HeaderValue};

    use super::*;
    use crate::peer::Peer;

    const PROXY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

    fn seen(public_url: Option<&str>, peer: &str, headers: &[(&'static str, &str)]) -> String {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
            })
            .collect();
        let client = Client::of(Some(Peer(peer.parse().unwrap())), &headers, &[PROXY]);
        base(public_url, client, &headers)
    }

    #[test]
    fn the_operators_word_goes_before_what_the_client_asked() {
        let host = [("host", "Weir.Example:7400")];
        for (public_url, base) in [
            (Some("https://packages.example/"), "https://packages.example"),
            (Some("https://example/weir/"), "https://example/weir"),
            (None, "http://weir.example:7400"),
        ] {
            assert_eq!(seen(public_url, "192.0.2.7:1", &host), base);
        }
    }

    #[test]
    fn https_is_believed_from_a_trusted_proxy_only() {
        let headers = [("host", "[::1]:7400"), ("x-forwarded-proto", "https")];
        assert_eq!(seen(None, "10.0.0.1:1", &headers), "https://[::1]:7400");
        assert_eq!(seen(None, "192.0.2.7:1", &headers), "http://[::1]:7400");
        let other = [("host", "weir"), ("x-forwarded-host", "evil"), ("x-forwarded-proto", "http")];
        assert_eq!(seen(None, "10.0.0.1:1", &other), "http://weir");
    }

    #[test]
    fn what_is_no_host_is_not_repeated() {
        for bad in ["", "a b", "a\"b", "a/b", "user@host", "a?b", "a,b"] {
            assert_eq!(seen(None, "192.0.2.7:1", &[("host", bad)]), "", "{bad}");
        }
        assert_eq!(seen(None, "192.0.2.7:1", &[]), "");
    }
}
