//! Addresses of the web in their one spelling: what is judged is what is sent, and what is hashed.
//!
//! The standard of the web (WHATWG) decides what an address means, so that no other reading of it can
//! be judged: decimal, octal and full-width hosts are the addresses they are, names of other scripts
//! are punycode. On top of it a dot at the end of a host is dropped and a mapped address is the one it
//! carries; whatever could be read two ways is refused.

use std::{fmt, net::IpAddr};

use reqwest::Url;
use weir_aggregates::web::host::Host;
use weir_events::web::request::MAX_URL_BYTES;

/// How much is shown of an address that cannot be followed, in characters.
const MAX_SHOWN: usize = 256;

/// What is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// HTTP in the clear.
    Http,
    /// HTTP over TLS.
    Https,
    /// A websocket in the clear.
    Ws,
    /// A websocket over TLS.
    Wss,
}

impl Scheme {
    /// Whether it is encrypted.
    #[must_use]
    pub const fn secure(self) -> bool {
        matches!(self, Self::Https | Self::Wss)
    }

    /// Whether it is a websocket.
    #[must_use]
    pub const fn websocket(self) -> bool {
        matches!(self, Self::Ws | Self::Wss)
    }

    const fn port(self) -> u16 {
        if self.secure() { 443 } else { 80 }
    }
}

/// An address that may be asked for, as far as its shape goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebUrl {
    url: Url,
    scheme: Scheme,
    host: Host,
    port: u16,
}

/// It is no address that may be asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// It is longer than addresses are.
    #[error("the address is longer than {MAX_URL_BYTES} bytes")]
    TooLong,
    /// Programs disagree about what it means.
    #[error("the address holds a space, a control character or a backslash before its query")]
    Ambiguous,
    /// It cannot be read.
    #[error("the address cannot be read: {0}")]
    Unreadable(Box<str>),
    /// It is for something else than the web.
    #[error("`{0}` is not spoken here; http, https, ws and wss are")]
    Scheme(Box<str>),
    /// It carries a user name or password.
    #[error("the address carries a user name or password")]
    Userinfo,
    /// Its host is neither a name nor an address.
    #[error(
        "the host of the address is no name: a part of it is empty, too long, or has a character that no name has"
    )]
    Host,
    /// Nobody listens there.
    #[error("port 0 is no port")]
    NoPort,
}

impl WebUrl {
    /// Reads an address as an agent wrote it.
    pub fn parse(text: &str) -> Result<Self, UrlFault> {
        check_text(text)?;
        let url = Url::parse(text).map_err(unreadable)?;
        Self::of(url)
    }

    /// Reads where an answer redirects to.
    pub fn join(&self, location: &str) -> Result<Self, UrlFault> {
        check_text(location)?;
        Self::of(self.url.join(location).map_err(unreadable)?)
    }

    /// Where an answer redirects to that cannot be followed, for the record: without a query, user name
    /// and password, which may be secrets, and never long.
    #[must_use]
    pub fn shown_from(&self, location: &str) -> String {
        let shown = match self.url.join(location) {
            Err(_) => "an address that cannot be read".to_owned(),
            Ok(url) => {
                let query = if url.query().is_some() { "?…" } else { "" };
                let scheme = spoken(url.scheme());
                if url.cannot_be_a_base() {
                    format!("{scheme}:…")
                } else {
                    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                    let host = url.host_str().unwrap_or_default();
                    format!("{scheme}://{host}{port}{}{query}", url.path())
                }
            }
        };
        match shown.char_indices().nth(MAX_SHOWN) {
            Some((cut, _)) => format!("{}…", shown.get(..cut).unwrap_or_default()),
            None => shown,
        }
    }

    fn of(mut url: Url) -> Result<Self, UrlFault> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            "ws" => Scheme::Ws,
            "wss" => Scheme::Wss,
            other => return Err(UrlFault::Scheme(known(other).into())),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlFault::Userinfo);
        }
        let written = url.host_str().ok_or(UrlFault::Host)?;
        let host = Host::new(written).map_err(|_| UrlFault::Host)?;
        if let Some(ip) = host.address() {
            url.set_ip_host(ip).map_err(|()| UrlFault::Host)?;
        } else if host.as_str() != written {
            url.set_host(Some(host.as_str())).map_err(unreadable)?;
        }
        url.set_fragment(None);
        let port = url.port().unwrap_or_else(|| scheme.port());
        if port == 0 {
            return Err(UrlFault::NoPort);
        }
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(UrlFault::TooLong);
        }
        Ok(Self { url, scheme, host, port })
    }

    /// The address in its one spelling, without a fragment: ASCII without spaces.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// What is spoken.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host: lower case, punycode, no dot at its end; an address without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.as_str()
    }

    /// The same as it stands in an address: one of version 6 in brackets.
    #[must_use]
    pub fn written_host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The same, as rules see it.
    #[must_use]
    pub const fn name(&self) -> &Host {
        &self.host
    }

    /// The address that the host is, if it is no name.
    #[must_use]
    pub fn literal(&self) -> Option<IpAddr> {
        self.host.address()
    }

    /// The port, also where it is the usual one.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Whether both have scheme, host and port in common.
    #[must_use]
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }

    /// What follows the method in a request: path and query.
    #[must_use]
    pub fn target(&self) -> &str {
        let before = self.url.scheme().len() + "://".len() + self.url.authority().len();
        self.url.as_str().get(before..).unwrap_or("/")
    }

    /// What a server is told that it is asked as.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.url.authority()
    }

    /// Scheme, host and port, as an address.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}/", self.url.scheme(), self.url.authority())
    }

    /// The address without its query, which may hold a secret: for logs and messages.
    #[must_use]
    pub fn shown(&self) -> String {
        let query = if self.url.query().is_some() { "?…" } else { "" };
        format!("{}://{}{}{query}", self.url.scheme(), self.url.authority(), self.url.path())
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a scheme, also of one that is not spoken here.
fn spoken(scheme: &str) -> &str {
    if matches!(scheme, "http" | "https" | "ws" | "wss") { scheme } else { known(scheme) }
}

/// The name of a scheme that is not spoken here. A redirect may call it anything.
fn known(scheme: &str) -> &'static str {
    const KNOWN: [&str; 12] = [
        "about",
        "blob",
        "chrome",
        "data",
        "file",
        "ftp",
        "git",
        "gopher",
        "javascript",
        "mailto",
        "ssh",
        "tel",
    ];
    KNOWN.into_iter().find(|known| *known == scheme).unwrap_or("another scheme")
}

fn unreadable(cause: impl fmt::Display) -> UrlFault {
    UrlFault::Unreadable(cause.to_string().into())
}

/// Refuses what one program drops and another one reads.
fn check_text(text: &str) -> Result<(), UrlFault> {
    if text.len() > MAX_URL_BYTES {
        return Err(UrlFault::TooLong);
    }
    let before_query = text.split(['?', '#']).next().unwrap_or_default();
    let blank = |c: char| c.is_control() || c.is_whitespace();
    if text.contains(blank) || before_query.contains('\\') {
        return Err(UrlFault::Ambiguous);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (String, String, u16) {
        let url = WebUrl::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        (url.as_str().to_owned(), url.host().to_owned(), url.port())
    }

    #[test]
    fn every_spelling_of_a_host_is_one_host() {
        for text in [
            "http://127.0.0.1/x",
            "http://2130706433/x",
            "http://0x7f000001/x",
            "http://0177.0.0.1/x",
            "http://127.1/x",
            "http://127.0.0.1./x",
            "http://\u{ff11}\u{ff12}\u{ff17}.0.0.1/x",
            "http://\u{2460}27.0.0.1/x",
            "http://127\u{3002}0.0.1/x",
            "http://%31%32%37.0.0.1/x",
            "HTTP://0X7F.1:80/x#y",
            "http://[::ffff:127.0.0.1]/x",
            "http://[::FFFF:7f00:1]/x",
        ] {
            assert_eq!(read(text), ("http://127.0.0.1/x".into(), "127.0.0.1".into(), 80), "{text}");
        }
        for (text, canonical, host, port) in [
            ("https://GitHub.com.", "https://github.com/", "github.com", 443),
            (
                "https://%67ithub.com:443/%41?b=%2F#c",
                "https://github.com/%41?b=%2F",
                "github.com",
                443,
            ),
            (
                "https://b\u{fc}cher.example/",
                "https://xn--bcher-kva.example/",
                "xn--bcher-kva.example",
                443,
            ),
            ("https://gi\u{ad}thub.com/", "https://github.com/", "github.com", 443),
            ("ws://relay.example.:7000/a/../b", "ws://relay.example:7000/b", "relay.example", 7000),
            ("wss://relay.example", "wss://relay.example/", "relay.example", 443),
            ("http://[2001:DB8:0::1]:8080/", "http://[2001:db8::1]:8080/", "2001:db8::1", 8080),
        ] {
            assert_eq!(read(text), (canonical.into(), host.into(), port), "{text}");
        }
    }

    #[test]
    fn what_can_be_read_two_ways_is_refused() {
        let long = format!("https://docs.rs/{}", "a".repeat(MAX_URL_BYTES));
        let name = format!("https://{}example/", "a.".repeat(130));
        for (text, fault) in [
            ("ftp://docs.rs/", UrlFault::Scheme("ftp".into())),
            ("file:///etc/passwd", UrlFault::Scheme("file".into())),
            ("javascript:alert(1)", UrlFault::Scheme("javascript".into())),
            ("eval-this-code:x", UrlFault::Scheme("another scheme".into())),
            ("https://me@docs.rs/", UrlFault::Userinfo),
            ("https://docs.rs:x@github.com/", UrlFault::Userinfo),
            ("https://:x@github.com/", UrlFault::Userinfo),
            ("https://docs.rs\\@github.com/", UrlFault::Ambiguous),
            ("https://gith\tub.com/", UrlFault::Ambiguous),
            (" https://github.com/", UrlFault::Ambiguous),
            ("https://docs.rs/a b", UrlFault::Ambiguous),
            ("https://docs.rs/\u{85}", UrlFault::Ambiguous),
            ("https://docs.rs/a\r\nHost: x", UrlFault::Ambiguous),
            ("https://.github.com/", UrlFault::Host),
            ("https://a..b.com/", UrlFault::Host),
            ("https://github.com../", UrlFault::Host),
            ("https://-a.example/", UrlFault::Host),
            ("https://a!b.example/", UrlFault::Host),
            ("https://*.example/", UrlFault::Host),
            ("https://docs.rs:0/", UrlFault::NoPort),
            (&long, UrlFault::TooLong),
            (&name, UrlFault::Host),
        ] {
            assert_eq!(WebUrl::parse(text), Err(fault), "{text}");
        }
        for text in [
            "",
            "docs.rs",
            "https://",
            "https://[fe80::1%25eth0]/",
            "https://256.1.1.1/",
            "https://[::1/",
        ] {
            assert!(matches!(WebUrl::parse(text), Err(UrlFault::Unreadable(_))), "{text}");
        }
    }

    #[test]
    fn what_is_sent_is_what_was_judged() {
        let url = WebUrl::parse("https://docs.rs:8443/a%2Fb/%2e%2e%2fc?x=%26&y=a|b`c'd#e").unwrap();
        assert_eq!(url.authority(), "docs.rs:8443");
        assert_eq!(url.target(), "/a%2Fb/%2e%2e%2fc?x=%26&y=a|b`c%27d");
        assert_eq!(format!("https://{}{}", url.authority(), url.target()), url.as_str());
        assert_eq!(url.shown(), "https://docs.rs:8443/a%2Fb/%2e%2e%2fc?…");
    }

    #[test]
    fn where_a_redirect_would_have_led_is_shown_without_what_may_be_secret() {
        let from = WebUrl::parse("https://docs.rs/a/b").unwrap();
        let long = format!("/{}", "\u{e9}".repeat(MAX_URL_BYTES));
        for (location, shown) in [
            ("file:///etc/passwd", "file:///etc/passwd"),
            ("//u:secret@Other.Example:81/c?key=secret#d", "https://other.example:81/c?…"),
            ("gopher://a.example/x", "gopher://a.example/x"),
            ("javascript:alert(1)", "javascript:…"),
            ("data:text/plain,x", "data:…"),
            ("eval-this-code:x", "another scheme:…"),
            ("http://[::1", "an address that cannot be read"),
            ("/\\evil.example/", "https://evil.example/"),
        ] {
            assert_eq!(from.shown_from(location), shown, "{location}");
        }
        let shown = from.shown_from(&long);
        assert!(shown.chars().count() == MAX_SHOWN + 1 && shown.ends_with('…'), "{shown}");
    }

    #[test]
    fn a_redirect_is_read_like_an_address() {
        let from = WebUrl::parse("https://docs.rs/a/b").unwrap();
        assert_eq!(from.join("../c").unwrap().as_str(), "https://docs.rs/c");
        assert_eq!(from.join("//Other.Example./").unwrap().as_str(), "https://other.example/");
        assert_eq!(from.join("//a@docs.rs/"), Err(UrlFault::Userinfo));
        assert_eq!(from.join("/\\evil.example/"), Err(UrlFault::Ambiguous));
        assert!(from.same_origin(&from.join("https://docs.rs:443/x").unwrap()));
        assert!(!from.same_origin(&from.join("https://docs.rs:8443/x").unwrap()));
        assert!(!from.same_origin(&from.join("http://docs.rs/x").unwrap()));
    }

    proptest! {
        #[test]
        fn one_spelling_is_read_as_itself(text in "(https?|wss?)://\\PC{1,30}") {
            if let Ok(url) = WebUrl::parse(&text) {
                prop_assert!(url.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert_eq!(WebUrl::parse(url.as_str()), Ok(url));
            }
        }
    }
}
