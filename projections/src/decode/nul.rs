//! Texts without the one character that Postgres keeps in none. An event that has it was recorded, so
//! that its rows must be written: it would stand in the way of all that come after it.

/// What stands in its place: U+FFFD.
const INSTEAD: &[u8] = "\u{fffd}".as_bytes();

/// One value of a payload, without what is in it where it is a list or a map.
struct Token<'a> {
    whole: &'a [u8],
    /// The bytes of a text.
    text: Option<&'a [u8]>,
}

/// The payload with every text in it free of NUL; `None` where they are already, or where it is no
/// `MessagePack`, which who decodes it says better.
pub(super) fn without_nul(payload: &[u8]) -> Option<Vec<u8>> {
    let has_nul = |token: &Token<'_>| token.text.is_some_and(|text| text.contains(&0));
    let mut rest = payload;
    loop {
        let token = next(&mut rest)?;
        if has_nul(&token) {
            break;
        }
    }
    let mut clean = Vec::with_capacity(payload.len() + 64);
    let mut rest = payload;
    while let Some(token) = next(&mut rest) {
        match token.text.filter(|text| text.contains(&0)) {
            Some(text) => put(&mut clean, text)?,
            None => clean.extend_from_slice(token.whole),
        }
    }
    rest.is_empty().then_some(clean)
}

/// Cuts the next value off.
fn next<'a>(rest: &mut &'a [u8]) -> Option<Token<'a>> {
    let marker = *rest.first()?;
    let number = |n_bytes: usize| {
        let bytes = rest.get(1..=n_bytes)?;
        Some(bytes.iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte)))
    };
    // How long what comes before the content is, and the content.
    let (head, content, is_text): (usize, usize, bool) = match marker {
        0xa0..=0xbf => (1, usize::from(marker & 0x1f), true),
        0xd9 => (2, number(1)?, true),
        0xda => (3, number(2)?, true),
        0xdb => (5, number(4)?, true),
        0xc4 => (2, number(1)?, false),
        0xc5 => (3, number(2)?, false),
        0xc6 => (5, number(4)?, false),
        0xc7 => (3, number(1)?, false),
        0xc8 => (4, number(2)?, false),
        0xc9 => (6, number(4)?, false),
        0xcc | 0xd0 => (2, 0, false),
        0xcd | 0xd1 | 0xdc | 0xde => (3, 0, false),
        0xca | 0xce | 0xd2 | 0xdd | 0xdf => (5, 0, false),
        0xcb | 0xcf | 0xd3 => (9, 0, false),
        0xd4..=0xd8 => (2, 1 << (marker - 0xd4), false),
        0xc1 => return None,
        _ => (1, 0, false),
    };
    let whole = rest.get(..head.checked_add(content)?)?;
    *rest = rest.get(whole.len()..)?;
    Some(Token { whole, text: if is_text { whole.get(head..) } else { None } })
}

/// Writes a text with U+FFFD for NUL.
fn put(to: &mut Vec<u8>, text: &[u8]) -> Option<()> {
    let mut clean = Vec::with_capacity(text.len() + 16);
    for byte in text {
        match byte {
            0 => clean.extend_from_slice(INSTEAD),
            byte => clean.push(*byte),
        }
    }
    to.push(0xdb);
    to.extend_from_slice(&u32::try_from(clean.len()).ok()?.to_be_bytes());
    to.extend_from_slice(&clean);
    Some(())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// What was stored of an event of every kind there is.
    fn golden() -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../events/golden");
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let stored = files.filter(|path| path.extension().is_some_and(|it| it == "msgpack"));
        stored.map(|path| fs::read(path).unwrap()).collect()
    }

    fn tokens(mut rest: &[u8]) -> Vec<Token<'_>> {
        let tokens = std::iter::from_fn(|| next(&mut rest)).collect();
        assert!(rest.is_empty(), "{rest:?}");
        tokens
    }

    /// The same payload with something at the end of each of its texts.
    fn with(payload: &[u8], end: &[u8]) -> Vec<u8> {
        let mut other = Vec::new();
        for token in tokens(payload) {
            let Some(text) = token.text else {
                other.extend_from_slice(token.whole);
                continue;
            };
            other.push(0xdb);
            other.extend_from_slice(&u32::try_from(text.len() + end.len()).unwrap().to_be_bytes());
            other.extend_from_slice(text);
            other.extend_from_slice(end);
        }
        other
    }

    #[test]
    fn every_text_of_every_event_there_is_can_be_kept() {
        let mut n_texts = 0;
        for stored in golden() {
            assert_eq!(without_nul(&stored), None, "nothing is wrong with it");
            let clean = without_nul(&with(&stored, b"a\0b\0"));
            let wanted = with(&stored, "a\u{fffd}b\u{fffd}".as_bytes());
            let texts = tokens(&stored).iter().filter(|token| token.text.is_some()).count();
            assert_eq!(clean, (texts > 0).then_some(wanted));
            n_texts += texts;
        }
        assert!(n_texts > 200, "{n_texts}");
    }

    #[test]
    fn what_is_no_payload_is_left_to_who_decodes_it() {
        for stored in golden() {
            let bad = with(&stored, b"\0");
            for cut in 0..bad.len() {
                let clean = without_nul(&bad[..cut]);
                assert!(clean.is_none_or(|clean| tokens(&clean).len() <= tokens(&bad).len()));
            }
        }
        assert_eq!(without_nul(&[0xc1, 0xa1, 0]), None);
        assert_eq!(without_nul(&[0xdb, 0xff, 0xff, 0xff, 0xff, 0]), None);
    }
}
