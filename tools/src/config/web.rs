//! `web` and `mint`: what agents may ask of the outside, and what it costs them.

use serde::{Deserialize, Serialize};
use weir_processors::outbound::address::{Exemption, ExemptionFault};
use weir_processors::web::signature::DEFAULT_WINDOW;

use super::section::section;
use super::value::{Size, Span};

section! {
    /// What agents may ask of the outside.
    Web at "web" {
        /// What becomes of a host that no rule names: `block` or `allow`. `allow` is for closed labs, and
        /// is logged.
        default_action: DefaultAction = DefaultAction::Block,
        /// The ports that are reached without a rule that names them.
        ports: Vec<Port> = vec![Port(80), Port(443)],
        /// Networks that are reached although they do not lie in the world outside: `10.1.0.0/16`, or with
        /// the only host they are reached for, `10.1.0.0/16 wiki.example`.
        allow_private: Vec<Network> = Vec::new(),
        /// How many requests an agent may make in one tick: 1 to 100000.
        requests_per_tick: Count = Count(1),
        /// How long a request may take, waiting for a place included: up to 5m.
        timeout: Timeout = Timeout(Span::seconds(10)),
        /// How many redirects are followed: up to 10.
        max_redirects: Hops = Hops(2),
        /// How many requests are under way at once: 1 to 100000.
        at_once: Count = Count(8),
        /// How many of them to one host: 1 to 100000.
        per_host: Count = Count(2),
        /// How much of a page is taken in, decoded: 1B to 8MiB.
        max_page: PageSize = PageSize(Size(2 << 20)),
        /// Whether a signature is enough. If not, a request comes with a token of its agent too.
        signature_only: bool = false,
        /// How many ticks before or after now a request may have been signed.
        signature_window: u64 = DEFAULT_WINDOW,
        /// How long humans have to answer for a blocked request: 1s to 30d.
        approval_wait: Wait = Wait(Span::seconds(24 * 3_600)),
        sections {
            cache: WebCache,
        }
    }
}

section! {
    /// What is kept of the pages that were fetched.
    WebCache at "web.cache" {
        /// For how many cycles a page is shown where it does not say so itself: 1 to 100000.
        ttl: Count = Count(4),
        /// How much is kept, all in all.
        max_size: Size = Size(1 << 30),
        /// How much of that is kept in memory.
        max_memory: Size = Size(64 << 20),
    }
}

section! {
    /// The accounts that agents pay from.
    Mint at "mint" {
        /// The tax on what is paid, in percent, and 1 spark at least; 0 is no tax at all.
        tax_percent: Percent = Percent(5),
    }
}

/// What becomes of a host that no rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DefaultAction {
    Allow,
    Block,
}

/// A network that is reached although it does not lie in the world outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Network(pub(crate) Exemption);

impl TryFrom<String> for Network {
    type Error = ExemptionFault;

    fn try_from(text: String) -> Result<Self, ExemptionFault> {
        text.parse().map(Self)
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.0.to_string()
    }
}

/// A number of things: some, and not too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub(crate) struct Count(pub(crate) u32);

impl TryFrom<u32> for Count {
    type Error = String;

    fn try_from(n: u32) -> Result<Self, String> {
        let fits = (1..=100_000).contains(&n);
        if fits { Ok(Self(n)) } else { Err(format!("it is 1 to 100000, not {n}")) }
    }
}

impl From<Count> for u32 {
    fn from(count: Count) -> Self {
        count.0
    }
}

/// How long a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Span", into = "Span")]
pub(crate) struct Timeout(pub(crate) Span);

impl TryFrom<Span> for Timeout {
    type Error = String;

    fn try_from(span: Span) -> Result<Self, String> {
        let fits = (1..=300_000).contains(&span.0.as_millis());
        if fits { Ok(Self(span)) } else { Err(format!("it is 1ms to 5m, not {span}")) }
    }
}

impl From<Timeout> for Span {
    fn from(timeout: Timeout) -> Self {
        timeout.0
    }
}

/// How long somebody is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Span", into = "Span")]
pub(crate) struct Wait(pub(crate) Span);

impl TryFrom<Span> for Wait {
    type Error = String;

    fn try_from(span: Span) -> Result<Self, String> {
        let fits = (1..=30 * 86_400).contains(&span.0.as_secs());
        if fits { Ok(Self(span)) } else { Err(format!("it is 1s to 30d, not {span}")) }
    }
}

impl From<Wait> for Span {
    fn from(wait: Wait) -> Self {
        wait.0
    }
}

/// How much of a page is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Size", into = "Size")]
pub(crate) struct PageSize(pub(crate) Size);

impl TryFrom<Size> for PageSize {
    type Error = String;

    fn try_from(size: Size) -> Result<Self, String> {
        let fits = (1..=8 << 20).contains(&size.0);
        if fits { Ok(Self(size)) } else { Err(format!("it is 1B to 8MiB, not {size}")) }
    }
}

impl From<PageSize> for Size {
    fn from(size: PageSize) -> Self {
        size.0
    }
}

/// How many redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub(crate) struct Hops(pub(crate) u8);

impl TryFrom<u8> for Hops {
    type Error = String;

    fn try_from(n: u8) -> Result<Self, String> {
        if n <= 10 { Ok(Self(n)) } else { Err(format!("it is 0 to 10, not {n}")) }
    }
}

impl From<Hops> for u8 {
    fn from(hops: Hops) -> Self {
        hops.0
    }
}

/// A port that can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub(crate) struct Port(pub(crate) u16);

impl TryFrom<u16> for Port {
    type Error = &'static str;

    fn try_from(port: u16) -> Result<Self, &'static str> {
        if port == 0 { Err("it is 1 to 65535: nothing listens on port 0") } else { Ok(Self(port)) }
    }
}

impl From<Port> for u16 {
    fn from(port: Port) -> Self {
        port.0
    }
}

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub(crate) struct Percent(pub(crate) u32);

impl TryFrom<u32> for Percent {
    type Error = String;

    fn try_from(percent: u32) -> Result<Self, String> {
        if percent <= 100 {
            Ok(Self(percent))
        } else {
            Err(format!("it is 0 to 100, not {percent}"))
        }
    }
}

impl From<Percent> for u32 {
    fn from(percent: Percent) -> Self {
        percent.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_and_written_alike() {
        for text in ["127.0.0.0/8", "10.1.0.0/16 wiki.example", "fd00::/8"] {
            let network = Network::try_from(text.to_owned()).unwrap();
            assert_eq!(String::from(network), text);
        }
        for text in [
            "10.1.2.3/16",
            "0.0.0.0/0",
            "intranet",
            "10.1.0.0/16 *.wiki.example",
            "10.1.0.0/16 a:80",
        ] {
            assert!(Network::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_have_bounds() {
        let fits = [0, 1, 100_000, 100_001].map(|n| Count::try_from(n).is_ok());
        assert_eq!(fits, [false, true, true, false]);
        let fits = [0, 100, 101].map(|n| Percent::try_from(n).is_ok());
        assert_eq!(fits, [true, true, false]);
        for (yaml, fits) in [("0s", false), ("1ms", true), ("5m", true), ("6m", false)] {
            let span: Span = yaml.parse().unwrap();
            assert_eq!(Timeout::try_from(span).is_ok(), fits, "{yaml}");
        }
        for (yaml, fits) in
            [("0s", false), ("999ms", false), ("1s", true), ("30d", true), ("31d", false)]
        {
            let span: Span = yaml.parse().unwrap();
            assert_eq!(Wait::try_from(span).is_ok(), fits, "{yaml}");
        }
        let fits = [0, 1, 8 << 20, (8 << 20) + 1].map(|n| PageSize::try_from(Size(n)).is_ok());
        assert_eq!(fits, [false, true, true, false]);
        assert_eq!([0, 10, 11].map(|n| Hops::try_from(n).is_ok()), [true, true, false]);
        assert_eq!([0, 1, 65_535].map(|n| Port::try_from(n).is_ok()), [false, true, true]);
    }
}
