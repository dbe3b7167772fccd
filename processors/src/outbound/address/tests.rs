use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn addresses_inside_networks_are_told_from_those_of_the_world() {
    for (inside, range) in [
        ("127.0.0.1", Range::Loopback),
        ("0.1.2.3", Range::Unspecified),
        ("169.254.169.254", Range::Metadata),
        ("168.63.129.16", Range::Metadata),
        ("100.100.100.200", Range::Metadata),
        ("192.0.0.192", Range::Metadata),
        ("192.0.2.1", Range::Documentation),
        ("::", Range::Unspecified),
        ("::1", Range::Loopback),
        ("::7f00:1", Range::Reserved),
        ("::8.8.8.8", Range::Reserved),
        ("::ffff:127.0.0.1", Range::Loopback),
        ("::ffff:10.0.0.1", Range::Private),
        ("::ffff:0:8.8.8.8", Range::Reserved),
        ("64:ff9b::127.0.0.1", Range::Loopback),
        ("64:ff9b::a9fe:a9fe", Range::Metadata),
        ("64:ff9b:1::8.8.8.8", Range::Tunnel),
        ("64:ff9b:2::8.8.8.8", Range::Reserved),
        ("100::1", Range::Reserved),
        ("2001::1", Range::Tunnel),
        ("2001:2::1", Range::Benchmark),
        ("2001:10::1", Range::Reserved),
        ("2001:db8::1", Range::Documentation),
        ("2002:7f00:1::", Range::Tunnel),
        ("2002:808:808::", Range::Tunnel),
        ("3fff::1", Range::Documentation),
        ("2606:4700::5efe:7f00:1", Range::Loopback),
        ("2606:4700::200:5efe:a00:1", Range::Private),
        ("5f00::1", Range::Reserved),
        ("fd00:ec2::254", Range::Metadata),
        ("fec0::1", Range::Private),
        ("ff02::1", Range::Multicast),
    ] {
        assert_eq!(range_of(ip(inside)), Some(range), "{inside}");
    }
    for outside in [
        "8.8.8.8",
        "192.0.1.1",
        "2606:4700::1",
        "2606:4700::5efe:808:808",
        "2001:4860:4860::8888",
        "2001:200::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
    ] {
        assert_eq!(range_of(ip(outside)), None, "{outside}");
    }
    assert!(public(ip("203.0.113.80")) && public(ip("2001:db8::1")));
    assert!(!public(ip("10.0.0.1")) && !public(ip("fe80::1")));
}

/// A typo in a prefix shows at an edge: firewalls have missed 172.16/12 that way.
#[test]
fn every_range_ends_where_it_should() {
    for (below, first, last, above) in [
        ("", "0.0.0.0", "0.255.255.255", "1.0.0.0"),
        ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
        ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
        ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
        ("168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"),
        ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
        ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
        ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
        ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
        ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
        ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
        ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
        ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
        ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
        ("223.255.255.255", "224.0.0.0", "255.255.255.255", ""),
        ("", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"),
        ("2000:ffff::", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"),
        ("2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"),
        ("2001:ffff::", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"),
        ("3ffe:ffff::", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"),
        ("3fff:ffff::", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""),
    ] {
        for inside in [first, last] {
            assert!(range_of(ip(inside)).is_some(), "{inside} is inside");
        }
        for outside in [below, above] {
            assert!(outside.is_empty() || range_of(ip(outside)).is_none(), "{outside} is outside");
        }
    }
}

#[test]
fn an_operator_exempts_ranges_for_all_hosts_or_for_one() {
    let exemptions: Vec<Exemption> =
        ["127.0.0.0/8", "10.1.0.0/16 Wiki.Example.", "fd00::/8", "169.254.0.0/16"]
            .map(|text| text.parse().unwrap())
            .into();
    let judged = |ip: &str, host| judge(ip.parse().unwrap(), host, &exemptions);
    for (address, host) in [
        ("127.0.0.1", "any.example"),
        ("::ffff:127.0.0.1", "any.example"),
        ("10.1.2.3", "wiki.example"),
        ("fd12::1", "x"),
        ("8.8.8.8", "x"),
    ] {
        assert_eq!(judged(address, host), Ok(()), "{address} {host}");
    }
    assert_eq!(judged("10.1.2.3", "other.example"), Err(Range::Private));
    assert_eq!(judged("10.2.0.1", "wiki.example"), Err(Range::Private));
    assert_eq!(judged("::1", "any.example"), Err(Range::Loopback));
    assert_eq!(judged("64:ff9b::127.0.0.1", "any.example"), Err(Range::Loopback));
    // Whoever exempts the cable has not thought of what the cloud answers there.
    assert_eq!(judged("169.254.169.254", "x"), Err(Range::Metadata));
    assert_eq!(judged("fd00:ec2::254", "x"), Err(Range::Metadata));
    assert_eq!(judged("169.254.1.1", "x"), Ok(()));
    let exact = ["169.254.169.254".parse().unwrap()];
    assert_eq!(judge(ip("169.254.169.254"), "x", &exact), Ok(()));
}

#[test]
fn an_exemption_that_is_none_says_how_to_write_it() {
    let fault = |text: &str| text.parse::<Exemption>().unwrap_err().to_string();
    assert_eq!(
        fault("127.0.0.1/8"),
        "`127.0.0.1/8` has bits beyond its prefix; write it as 127.0.0.0/8"
    );
    assert!(fault("0.0.0.0/0").contains("whole world"));
    for text in ["", "ten", "10/8", "10.0.0.0/33", "10.0.0.0/8 a b"] {
        assert!(fault(text).contains("is no range of addresses"), "{text}");
    }
    for text in ["127.0.0.0/8", "10.1.0.0/16 wiki.example"] {
        assert_eq!(text.parse::<Exemption>().unwrap().to_string(), text);
    }
}
