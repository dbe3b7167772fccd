//! What pages and renderings are known by.

use weir_events::{
    codec,
    web::{
        content::ContentFilter,
        request::{Hash256, HttpMethod},
    },
};

/// Raised with every change of what the filter makes of a page: what was made before is not shown any
/// more.
pub const FILTER_VERSION: u32 = 5;

/// What this version makes of a few pages, by its BLAKE3.
#[cfg(test)]
const MADE: &str = "4497953bb1783b411c8c5802f1b6a6d48a05118ccb0e3a251fb37b54f90855ff";

/// What a page is known by: SHA-256 of its address without fragment, the byte of the method, and the
/// body.
///
/// The address is the canonical one, in which no byte is below `!`. So the method's byte, which is 0
/// to 2, ends it, and no two questions are the same bytes. One that has such bytes all the same counts
/// as what they are written as in addresses.
pub fn key(url: &str, method: HttpMethod, body: &[u8]) -> Hash256 {
    let url = url.split('#').next().unwrap_or_default();
    let mut plain = Vec::with_capacity(url.len());
    for byte in url.bytes() {
        match byte {
            0..=b' ' => plain.extend([b'%', b'0' + (byte >> 4), digit(byte & 0xf)]),
            byte => plain.push(byte),
        }
    }
    Hash256::of(&[&plain, &[method.as_byte()], body])
}

/// A hexadecimal digit.
const fn digit(n: u8) -> u8 {
    if n < 10 { b'0' + n } else { b'A' + n - 10 }
}

/// What a rendering is known by: SHA-256 of the filter (a `MessagePack` map of all its fields in
/// declared order) and of the filter's version.
pub fn variant(filter: &ContentFilter) -> Hash256 {
    // A map of switches, a number and a word can always be written.
    let canonical = codec::to_bytes("ContentFilter", filter).unwrap_or_default();
    Hash256::of(&[&canonical, &FILTER_VERSION.to_be_bytes()])
}

#[cfg(test)]
mod made;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::web::content::ContentFormat;

    use super::*;

    #[test]
    fn a_key_is_what_the_contract_says() {
        let said = Hash256::of(&[b"https://docs.rs/serde", &[1], b"a=1"]);
        assert_eq!(key("https://docs.rs/serde#top", HttpMethod::Post, b"a=1"), said);
        assert_ne!(key("https://docs.rs/serde?", HttpMethod::Post, b"a=1"), said);
        assert_ne!(key("https://docs.rs/serde", HttpMethod::Get, b"a=1"), said);
        assert_eq!(key("a b\u{1f}", HttpMethod::Get, b""), key("a%20b%1F", HttpMethod::Get, b""));
        // Bytes that would pass for a method's.
        let forged = key("https://docs.rs/serde\u{1}a", HttpMethod::Post, b"=1");
        assert_ne!(forged, said);
    }

    #[test]
    fn every_switch_of_a_filter_makes_another_rendering() {
        let plain = ContentFilter::default();
        let other = [
            ContentFilter { strip_code_blocks: false, ..plain },
            ContentFilter { strip_inline_code: false, ..plain },
            ContentFilter { transform_apis: true, ..plain },
            ContentFilter { transform_examples: true, ..plain },
            ContentFilter { max_size: 65_535, ..plain },
            ContentFilter { format: ContentFormat::Structured, ..plain },
            ContentFilter { format: ContentFormat::Summary, ..plain },
        ];
        let all: std::collections::BTreeSet<_> =
            other.iter().chain([&plain]).map(variant).collect();
        assert_eq!(all.len(), 8);
        let same: ContentFilter = serde_json::from_str("{}").unwrap();
        assert_eq!(variant(&same), variant(&plain));
    }

    fn question() -> impl Strategy<Value = (String, HttpMethod, Vec<u8>)> {
        // Few letters, so that parts of one address are found in another's body.
        let url = proptest::collection::vec(prop_oneof![Just("a"), Just("/"), Just("?")], 0..4);
        let body = proptest::collection::vec(0_u8..3, 0..3);
        let method = prop::sample::select(HttpMethod::ALL.as_slice());
        (url.prop_map(|parts| parts.concat()), method, body)
    }

    proptest! {
        #[test]
        fn two_questions_have_one_key_only_if_they_are_one(a in question(), b in question()) {
            let (one, two) = (key(&a.0, a.1, &a.2), key(&b.0, b.1, &b.2));
            prop_assert_eq!(one == two, a == b);
        }
    }
}
