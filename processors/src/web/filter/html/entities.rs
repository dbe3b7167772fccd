//! The entities that pages are full of. There are two thousand more, and ways to write them badly: of
//! those the tokenizer knows.

use html5ever::tendril::StrTendril;
use memchr::memchr;

/// The sign that a text begins with which begins with `&`, and how many bytes it is written in. None
/// where it is not known here.
pub(super) fn read(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().get(1) {
        Some(b'#') => numbered(text),
        Some(byte) if byte.is_ascii_alphanumeric() => named(text),
        _ => Some(('&', 1)),
    }
}

/// The value of an attribute.
pub(super) fn resolved(value: &str) -> Option<StrTendril> {
    let mut resolved = StrTendril::new();
    let mut rest = value;
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        let (before, entity) = rest.split_at(at);
        let (sign, len) = read(entity)?;
        resolved.push_slice(before);
        resolved.push_char(sign);
        rest = entity.get(len..)?;
    }
    resolved.push_slice(rest);
    Some(resolved)
}

fn named(text: &str) -> Option<(char, usize)> {
    const MAX_BYTES: usize = 8;
    let end = text.bytes().take(MAX_BYTES).position(|byte| byte == b';')?;
    let sign = match text.get(1..end)? {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "copy" => '©',
        "reg" => '®',
        "middot" => '·',
        "bull" => '•',
        "para" => '¶',
        "sect" => '§',
        "times" => '×',
        "larr" => '←',
        "rarr" => '→',
        "shy" => '\u{ad}',
        _ => return None,
    };
    Some((sign, end + 1))
}

fn numbered(text: &str) -> Option<(char, usize)> {
    const MAX_BYTES: usize = 10;
    let end = text.bytes().take(MAX_BYTES).position(|byte| byte == b';')?;
    let digits = text.get(2..end)?;
    let (digits, radix) = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    match u32::from_str_radix(digits, radix).ok()? {
        // These stand for others.
        0 | 0x80..=0x9f => None,
        number => Some((char::from_u32(number)?, end + 1)),
    }
}
