//! Which addresses belong to the world, and a resolver of names that gives back only those.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::reach::ReachFault;

/// Resolves names to public addresses only. What it gives back is what is connected to: there is no
/// second look at the name in between.
#[derive(Debug)]
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses: Vec<SocketAddr> = found.filter(|found| public(found.ip())).collect();
            if addresses.is_empty() {
                return Err(ReachFault::ResolvesInside(name.as_str().into()).into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is one of the world: not loopback, private, link-local, shared, multicast,
/// unspecified or reserved, nor the metadata service of a cloud.
///
/// The ranges for documentation pass: nothing inside a network answers there, and mirrors in closed
/// environments are reached under them.
pub(super) fn public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => public_v4(v4),
        IpAddr::V6(v6) => public_v6(v6),
    }
}

fn public_v4(ip: Ipv4Addr) -> bool {
    /// Where a cloud answers its machines, although the address looks public.
    const METADATA: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);
    let [a, b, c, _] = ip.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let benchmarking = a == 198 && (b == 18 || b == 19);
    let protocols = (a, b, c) == (192, 0, 0);
    !(ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_broadcast()
        || a == 0
        || 240 <= a
        || shared
        || benchmarking
        || protocols
        || ip == METADATA)
}

/// Global unicast is `2000::/3`. A mapped address and one behind the well-known prefix of NAT64 are
/// what they carry; networks with IPv6 only see the whole world of IPv4 that way. Tunnels (6to4,
/// Teredo) are not public.
fn public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, .., high, low] = ip.segments();
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    let carried = Ipv4Addr::new(a, b, c, d);
    match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => public_v4(carried),
        _ => {
            let global = first & 0xe000 == 0x2000;
            let tunnels = first == 0x2002 || (first == 0x2001 && second < 0x0200);
            global && !tunnels
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_networks_are_told_from_those_of_the_world() {
        for inside in [
            "127.0.0.1",
            "127.255.0.9",
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "168.63.129.16",
            "100.64.0.1",
            "100.100.100.200",
            "192.0.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::8.8.8.8",
            "fe80::1",
            "fd00:ec2::254",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2002:7f00:1::",
        ] {
            assert!(!public(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "203.0.113.80",
            "2606:4700::1",
            "2001:db8::1",
            "2001:4860:4860::8888",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            assert!(public(outside.parse().unwrap()), "{outside}");
        }
    }

    #[tokio::test]
    async fn a_name_for_an_address_inside_does_not_resolve() {
        let fault = PublicOnly.resolve("localhost".parse().unwrap()).await.err().unwrap();
        assert_eq!(fault.to_string(), "`localhost` resolves to an address that is not public");
    }
}
