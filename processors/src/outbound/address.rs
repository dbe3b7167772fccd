//! Which addresses belong to the world: one table for everything that leaves Weir.
//!
//! Follows the IANA registries of special-purpose addresses (RFC 6890). An address that carries one of
//! IPv4 is what it carries. What lies inside a network is reached only where an operator has exempted
//! it; agents cannot.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use weir_aggregates::web::host::{Host, HostFault};

/// What an address is that does not belong to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Range {
    /// Where a cloud answers its machines.
    Metadata,
    /// This machine.
    Loopback,
    /// No address, or one of "this network".
    Unspecified,
    /// A private network.
    Private,
    /// The cable.
    LinkLocal,
    /// Behind the translator of a carrier.
    Shared,
    /// Many at once.
    Multicast,
    /// For measurements within networks.
    Benchmark,
    /// For examples. Nothing answers there.
    Documentation,
    /// A tunnel, or a translator of a network's own.
    Tunnel,
    /// Everything else that is not handed out.
    Reserved,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metadata => "a metadata service",
            Self::Loopback => "loopback",
            Self::Unspecified => "unspecified",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Shared => "shared by a carrier",
            Self::Multicast => "multicast",
            Self::Benchmark => "for benchmarks",
            Self::Documentation => "for documentation",
            Self::Tunnel => "a tunnel",
            Self::Reserved => "reserved",
        })
    }
}

const fn v4(ip: [u8; 4], length: u8, range: Range) -> (Ipv4Net, Range) {
    let [a, b, c, d] = ip;
    (Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length), range)
}

const fn v6(ip: [u16; 8], length: u8, range: Range) -> (Ipv6Net, Range) {
    let [s0, s1, s2, s3, s4, s5, s6, s7] = ip;
    (Ipv6Net::new_assert(Ipv6Addr::new(s0, s1, s2, s3, s4, s5, s6, s7), length), range)
}

/// The first row that holds an address says what it is.
const V4: &[(Ipv4Net, Range)] = &[
    v4([169, 254, 169, 254], 32, Range::Metadata),
    v4([169, 254, 170, 2], 32, Range::Metadata),
    v4([168, 63, 129, 16], 32, Range::Metadata),
    v4([100, 100, 100, 200], 32, Range::Metadata),
    v4([192, 0, 0, 192], 32, Range::Metadata),
    v4([0, 0, 0, 0], 8, Range::Unspecified),
    v4([10, 0, 0, 0], 8, Range::Private),
    v4([100, 64, 0, 0], 10, Range::Shared),
    v4([127, 0, 0, 0], 8, Range::Loopback),
    v4([169, 254, 0, 0], 16, Range::LinkLocal),
    v4([172, 16, 0, 0], 12, Range::Private),
    v4([192, 0, 0, 0], 24, Range::Reserved),
    v4([192, 0, 2, 0], 24, Range::Documentation),
    v4([192, 88, 99, 0], 24, Range::Tunnel),
    v4([192, 168, 0, 0], 16, Range::Private),
    v4([198, 18, 0, 0], 15, Range::Benchmark),
    v4([198, 51, 100, 0], 24, Range::Documentation),
    v4([203, 0, 113, 0], 24, Range::Documentation),
    v4([224, 0, 0, 0], 4, Range::Multicast),
    v4([240, 0, 0, 0], 4, Range::Reserved),
];

/// The first row that holds an address says what it is. What none holds is public within
/// [`GLOBAL`], and reserved elsewhere.
const V6: &[(Ipv6Net, Range)] = &[
    v6([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254], 128, Range::Metadata),
    v6([0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254], 128, Range::Metadata),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128, Range::Unspecified),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, Range::Loopback),
    v6([0x0064, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Range::Tunnel),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, Range::Tunnel),
    v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, Range::Benchmark),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Range::Reserved),
    v6([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32, Range::Documentation),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Range::Tunnel),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Range::Documentation),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Range::Private),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Range::LinkLocal),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Range::Private),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Range::Multicast),
];

/// Where addresses of the world are handed out from.
const GLOBAL: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, Range::Reserved).0;

/// The well-known prefix of translators (RFC 6052). Networks with IPv6 only see all of IPv4 there.
const NAT64: Ipv6Net = v6([0x0064, 0xff9b, 0, 0, 0, 0, 0, 0], 96, Range::Tunnel).0;

/// What an address is, if it does not belong to the world.
#[must_use]
pub fn range_of(ip: IpAddr) -> Option<Range> {
    match ip.to_canonical() {
        IpAddr::V4(ip) => V4.iter().find(|(net, _)| net.contains(&ip)).map(|row| row.1),
        IpAddr::V6(ip) => {
            if let Some(carried) = carried(ip) {
                return range_of(carried.into());
            }
            let row = V6.iter().find(|(net, _)| net.contains(&ip)).map(|row| row.1);
            row.or_else(|| (!GLOBAL.contains(&ip)).then_some(Range::Reserved))
        }
    }
}

/// The address of IPv4 that a packet to this one ends up at, by the well-known translator or, within
/// networks that use ISATAP (RFC 5214), by the cable; none where that one is public for ISATAP.
fn carried(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., above, mark, high, low] = ip.segments();
    let carried = Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    let isatap = GLOBAL.contains(&ip) && above & 0xfdff == 0 && mark == 0x5efe;
    (NAT64.contains(&ip) || (isatap && range_of(carried.into()).is_some())).then_some(carried)
}

/// Whether an upstream's index may lead there.
///
/// The ranges for documentation pass: nothing inside a network answers there, and mirrors in closed
/// environments are reached under them.
pub(super) fn public(ip: IpAddr) -> bool {
    matches!(range_of(ip), None | Some(Range::Documentation))
}

/// What an operator lets in although it lies inside a network: a range, for every host or for one.
///
/// Written as `127.0.0.0/8`, or `10.1.0.0/16 wiki.example` for one host. A metadata service is let in
/// only by its very address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemption {
    net: IpNet,
    host: Option<Box<str>>,
}

/// It is no exemption.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExemptionFault {
    /// It is not a range.
    #[error(
        "`{0}` is no range of addresses; write it as 10.1.0.0/16, or `10.1.0.0/16 wiki.example`"
    )]
    NoRange(Box<str>),
    /// Its address goes on after its prefix.
    #[error("`{0}` has bits beyond its prefix; write it as {1}")]
    Beyond(Box<str>, IpNet),
    /// What it is for is no host.
    #[error("`{0}`: {1}; name one host, as in `10.1.0.0/16 wiki.example`")]
    NoHost(Box<str>, HostFault),
    /// It would let in everything.
    #[error("`{0}` lets in the whole world; name the range that is meant")]
    Everything(Box<str>),
}

impl FromStr for Exemption {
    type Err = ExemptionFault;

    fn from_str(text: &str) -> Result<Self, ExemptionFault> {
        let mut words = text.split_ascii_whitespace();
        let (range, host) = (words.next().unwrap_or_default(), words.next());
        let no_range = || ExemptionFault::NoRange(text.into());
        let alone = || range.parse::<IpAddr>().ok().map(IpNet::from);
        let net = range.parse::<IpNet>().ok().or_else(alone).ok_or_else(no_range)?;
        if words.next().is_some() {
            return Err(no_range());
        }
        if net.trunc() != net {
            return Err(ExemptionFault::Beyond(text.into(), net.trunc()));
        }
        if net.prefix_len() == 0 {
            return Err(ExemptionFault::Everything(text.into()));
        }
        let host = host.map(Host::new).transpose();
        let host = host.map_err(|fault| ExemptionFault::NoHost(text.into(), fault))?;
        Ok(Self { net, host: host.map(|host| host.as_str().into()) })
    }
}

impl fmt::Display for Exemption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) => write!(f, "{} {host}", self.net),
            None => self.net.fmt(f),
        }
    }
}

impl Exemption {
    fn holds(&self, ip: IpAddr, range: Range, host: &str) -> bool {
        let exact = self.net.prefix_len() == self.net.max_prefix_len();
        self.net.contains(&ip)
            && (range != Range::Metadata || exact)
            && self.host.as_deref().is_none_or(|only| only == host)
    }
}

/// Whether a host may be reached at an address; otherwise what the address is.
pub fn judge(ip: IpAddr, host: &str, exemptions: &[Exemption]) -> Result<(), Range> {
    let ip = ip.to_canonical();
    match range_of(ip) {
        Some(range) if !exemptions.iter().any(|one| one.holds(ip, range, host)) => Err(range),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
