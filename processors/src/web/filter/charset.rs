//! Bytes become text: by byte order mark, by header, by what the document says of itself in its
//! first 1,024 bytes, by its looks, and else windows-1252, as the web's standards have it.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::{kind::Declared, tally::Tally};

/// Declarations in a document are looked for in this much of it.
const PRESCAN_BYTES: usize = 1024;
/// The detector is slow, and knows enough by then.
const DETECT_BYTES: usize = 16 << 10;
/// One broken character in so many is one too many.
const BROKEN_SHARE: usize = 1000;

/// Decodes a body. What cannot be decoded becomes U+FFFD; if that is much, there is a warning.
pub(super) fn decode<'a>(body: &'a [u8], declared: &Declared, tally: &mut Tally) -> Cow<'a, str> {
    let encoding = encoding_of(body, declared);
    // Looks for a byte order mark by itself, and takes it off.
    let (text, used, broken) = encoding.decode(body);
    if broken {
        let n_broken = text.matches('\u{fffd}').count();
        if text.chars().count() <= n_broken.saturating_mul(BROKEN_SHARE) {
            tally.warn(format!(
                "the charset may be wrong: {n_broken} characters are not {}",
                used.name()
            ));
        }
    }
    text
}

/// As much of a text as is read, up to a character's end.
pub(super) fn capped<'a>(text: &'a str, max_bytes: usize, tally: &mut Tally) -> &'a str {
    if text.len() <= max_bytes {
        return text;
    }
    tally.warn(format!("only the first {max_bytes} bytes were read"));
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or_default()
}

fn encoding_of(body: &[u8], declared: &Declared) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return encoding;
    }
    // Every second byte is zero: whatever was declared, it hides its tags from who believes it.
    if let Some(encoding) = wide(body) {
        return encoding;
    }
    let encoding = declared
        .charset
        .as_deref()
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .or_else(|| own_words(body.get(..PRESCAN_BYTES).unwrap_or(body)))
        .unwrap_or_else(|| detect(body));
    if is_wide(encoding) && is_narrow(body) { UTF_8 } else { encoding }
}

fn is_wide(encoding: &'static Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

/// Whether a body is UTF-8 by its beginning. Read two bytes at a time it is gibberish, out of which
/// anybody can read again what stood there.
fn is_narrow(body: &[u8]) -> bool {
    let head = body.get(..PRESCAN_BYTES).unwrap_or(body);
    // Every second byte of Cyrillic is 4, and of Greek 3.
    let printed = head.iter().all(|byte| 0x20 <= *byte || byte.is_ascii_whitespace());
    printed
        && match std::str::from_utf8(head) {
            Ok(_) => true,
            Err(fault) => fault.error_len().is_none(),
        }
}

fn wide(body: &[u8]) -> Option<&'static Encoding> {
    let (pairs, _) = body.get(..PRESCAN_BYTES).unwrap_or(body).as_chunks::<2>();
    let n_zero = |place: fn(&[u8; 2]) -> u8| pairs.iter().filter(|pair| place(pair) == 0).count();
    let (first, second) = (n_zero(|pair| pair[0]), n_zero(|pair| pair[1]));
    let many = pairs.len() / 3;
    match (many < first, many < second) {
        _ if pairs.len() < 4 => None,
        (true, false) => Some(UTF_16BE),
        (false, true) => Some(UTF_16LE),
        _ => None,
    }
}

/// What `<meta charset>`, `<meta http-equiv>` or an XML declaration says.
fn own_words(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let mut rest = head.as_str();
    if rest.trim_start().starts_with("<?xml") {
        let declaration = rest.split("?>").next().unwrap_or_default();
        if let Some(encoding) = labelled(declaration, "encoding") {
            return Some(encoding);
        }
    }
    while let Some(at) = rest.find('<') {
        rest = rest.get(at + 1..)?;
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.get(comment.find("-->")?..)?;
            continue;
        }
        let Some(meta) = rest.strip_prefix("meta") else { continue };
        let tag = meta.get(..meta.find('>').unwrap_or(meta.len()))?;
        if let Some(encoding) = labelled(tag, "charset") {
            return Some(encoding);
        }
    }
    None
}

fn labelled(text: &str, name: &str) -> Option<&'static Encoding> {
    let rest = text.get(text.find(name)? + name.len()..)?.trim_start().strip_prefix('=')?;
    let value = rest.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(['"', '\'', ';', ' ', '/', '\n', '\t']).unwrap_or(value.len());
    let encoding = Encoding::for_label(value.get(..end)?.as_bytes())?;
    // Whoever can read this in bytes is not reading UTF-16.
    Some(if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding })
}

fn detect(body: &[u8]) -> &'static Encoding {
    let sample = body.get(..DETECT_BYTES).unwrap_or(body);
    if sample.is_ascii() && !sample.contains(&0x1b) {
        // Of what comes later nothing is known but that it began like this.
        return if std::str::from_utf8(body).is_ok() { UTF_8 } else { WINDOWS_1252 };
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, sample.len() == body.len());
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(body: &[u8], declared: Option<&str>) -> String {
        decode(body, &Declared::parse(declared), &mut Tally::default()).into_owned()
    }

    #[test]
    fn a_charset_is_taken_from_the_first_that_says_one() {
        let cyrillic = b"<meta charset=koi8-r>\xf0\xd2\xc9\xd7\xc5\xd4";
        for (body, declared, found) in [
            (&b"\xef\xbb\xbfZo\xc3\xab"[..], Some("text/html; charset=latin1"), "Zoë"),
            (b"Zo\xeb", Some("text/html; charset=latin1"), "Zoë"),
            (cyrillic, None, "<meta charset=koi8-r>Привет"),
            (cyrillic, Some("text/html; charset=\"koi8-r\""), "<meta charset=koi8-r>Привет"),
            (
                b"<?xml version='1.0' encoding='latin1'?>\xeb",
                None,
                "<?xml version='1.0' encoding='latin1'?>ë",
            ),
            (
                b"<!-- <meta charset=koi8-r> -->Zo\xc3\xab",
                None,
                "<!-- <meta charset=koi8-r> -->Zoë",
            ),
            (b"\x1b$B$3$s\x1b(B", Some("text/plain; charset=iso-2022-jp"), "こん"),
            (b"\x81\x30\x89\x37", Some("text/html; charset=gb2312"), "\u{a5}"),
            (b"plain", None, "plain"),
        ] {
            let text = decoded(body, declared);
            assert!(
                text == found || found == "\u{a5}" && text.chars().count() == 1,
                "{declared:?}: {text}"
            );
        }
    }

    #[test]
    fn utf_16_is_seen_even_behind_another_name() {
        let le: Vec<u8> = "<pre>x</pre>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = "<pre>x</pre>".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for body in [le, be] {
            assert_eq!(decoded(&body, Some("text/html; charset=utf-8")), "<pre>x</pre>");
        }
    }

    #[test]
    fn a_charset_that_does_not_fit_is_told() {
        let mut tally = Tally::default();
        decode(b"Zo\xeb", &Declared::parse(Some("text/html; charset=utf-8")), &mut tally);
        assert!(tally.report(false).warnings[0].starts_with("the charset may be wrong"));
    }

    #[test]
    fn a_body_is_cut_between_characters() {
        assert_eq!(capped("aé", 2, &mut Tally::default()), "a");
    }
}
