//! Most of what pages say is words: that there is no sign of code in them is seen at a glance.
//!
//! Nothing is decided here that is not decided by the score as well: of what is harmless, each line
//! scores less than any line of code. Of all else nothing is said.

use super::{super::inline, beginnings, marks};
use crate::web::filter::placeholder;

/// What a byte may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Lower,
    Upper,
    Digit,
    Blank,
    LineEnd,
    /// The first byte of a letter that is not of ASCII.
    Letter,
    /// The first byte of a dash, a quotation mark or an ellipsis, it may be.
    Typographic,
    Dot,
    Colon,
    Semicolon,
    Question,
    Dash,
    Opening,
    /// That of a placeholder.
    Bracket,
    /// What counts for density, and for nothing else.
    Symbol,
    /// What counts for nothing.
    Mark,
    /// What has to be looked at.
    Odd,
}

const SIGNS: [Sign; 256] = {
    let mut signs = [Sign::Odd; 256];
    let mut byte = 0_u8;
    loop {
        signs[byte as usize] = match byte {
            b'a'..=b'z' => Sign::Lower,
            b'A'..=b'Z' => Sign::Upper,
            b'0'..=b'9' => Sign::Digit,
            b' ' => Sign::Blank,
            b'\n' | b'\r' => Sign::LineEnd,
            b'.' => Sign::Dot,
            b':' => Sign::Colon,
            b';' => Sign::Semicolon,
            b'?' => Sign::Question,
            b'-' => Sign::Dash,
            b'(' => Sign::Opening,
            b'[' => Sign::Bracket,
            b')' | b'"' | b'/' => Sign::Symbol,
            b',' | b'!' | b'\'' => Sign::Mark,
            0xc3..=0xc9 => Sign::Letter,
            0xe2 => Sign::Typographic,
            _ => Sign::Odd,
        };
        if byte == u8::MAX {
            break signs;
        }
        byte += 1;
    }
};

/// Whether no line of a text has any sign of code.
pub(in crate::web::filter) fn is_harmless(text: &str) -> bool {
    let bytes = text.as_bytes();
    // What stands in cells that have nothing in them.
    if bytes == b"-" {
        return true;
    }
    let mut at = 0;
    // Where lines end in the source, they are judged by themselves and as one.
    let mut is_whole = true;
    while at < bytes.len() {
        let Some(end) = line_end(text, at) else { return false };
        if !begins_harmlessly(text.get(at..end).unwrap_or_default(), is_whole) {
            return false;
        }
        is_whole = bytes.get(end) == Some(&b'\r');
        at = end + 1;
    }
    true
}

/// Whether the words that a line begins with do not make it a statement. `is_whole`: nor with more lines
/// behind it.
fn begins_harmlessly(line: &str, is_whole: bool) -> bool {
    let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'!');
    let end = line.bytes().take_while(in_word).count();
    let first = line.get(..end).unwrap_or_default();
    if marks::begins_sentence(first) {
        // Of traces, most do; `Get-Item` is a command.
        return !matches!(first, "File" | "Exception" | "Traceback") && !first.contains('-');
    }
    // `steps:`, `01 TOTAL PIC 9.`
    if line.as_bytes().get(end) == Some(&b':')
        || first.starts_with(|c: char| c.is_ascii_digit()) && line.contains(" PIC")
    {
        return false;
    }
    beginnings::is_none(first)
        || !is_whole
            && line.is_ascii()
            && !matches!(first, "at" | "thread" | "goroutine" | "bc." | "bc..")
            && super::look(line).score < 2
}

/// Where a line ends that has no sign of code.
fn line_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let at_start = |at: usize| at == start || bytes.get(at - 1) == Some(&b' ');
    let (mut n_blanks, mut n_symbols) = (0, 0);
    // Bytes that are no characters of their own, or none of the line.
    let mut n_more = 0;
    let (mut in_word, mut is_lower) = (false, false);
    let mut at = start;
    let end = loop {
        let Some(byte) = bytes.get(at) else { break at };
        let next = || bytes.get(at + 1).copied();
        match SIGNS[*byte as usize] {
            Sign::Lower => {
                is_lower |= !in_word;
                in_word = true;
            }
            Sign::Upper => {
                if is_lower && bytes.get(at - 1).is_some_and(u8::is_ascii_lowercase) {
                    return None;
                }
                in_word = true;
            }
            Sign::Digit => in_word = true,
            Sign::Blank | Sign::Symbol | Sign::Mark if at == start => return None,
            Sign::Blank => {
                n_blanks += 1;
                (in_word, is_lower) = (false, false);
            }
            Sign::LineEnd => break at,
            Sign::Letter => {
                n_more += 1;
                in_word = true;
                at += 1;
            }
            Sign::Typographic => {
                match (next(), bytes.get(at + 2)) {
                    // Dashes, and an ellipsis.
                    (Some(0x80), Some(0x93 | 0x94 | 0xa6)) => {}
                    // Quotation marks, read as plain ones.
                    (Some(0x80), Some(0x98 | 0x99)) if at != start => {}
                    (Some(0x80), Some(0x9c | 0x9d)) if at != start => n_symbols += 1,
                    _ => return None,
                }
                n_more += 2;
                at += 2;
            }
            // `a.b` is no name.
            Sign::Dot
                if is_lower
                    && next().is_some_and(|next| next.is_ascii_alphanumeric())
                    && bytes.get(at.wrapping_sub(2)).is_some_and(u8::is_ascii_alphanumeric) =>
            {
                return None;
            }
            Sign::Colon if next().is_some_and(|next| !matches!(next, b' ' | b'\n' | b'\r')) => {
                return None;
            }
            Sign::Semicolon if next() == Some(b' ') => n_symbols += 1,
            // By itself it is an operator.
            Sign::Question if !in_word => return None,
            Sign::Dash
                if at == start
                    || !in_word && next().is_some_and(|next| next.is_ascii_alphanumeric()) =>
            {
                return None;
            }
            Sign::Opening
                if at != start
                    && at_start(at)
                    && next() != Some(b')')
                    && !inline::is_keyword(text.get(start..at - 1).unwrap_or_default()) =>
            {
                n_symbols += 1;
            }
            Sign::Bracket if !in_word && text.get(at..)?.starts_with(placeholder::SPAN) => {
                n_more += placeholder::SPAN.len();
                at += placeholder::SPAN.len() - 1;
            }
            Sign::Symbol => n_symbols += 1,
            Sign::Dot if at == start => return None,
            Sign::Dot | Sign::Colon | Sign::Question | Sign::Dash | Sign::Mark => {}
            Sign::Semicolon | Sign::Opening | Sign::Bracket | Sign::Odd => return None,
        }
        at += 1;
    };
    let ends_odd = matches!(
        bytes.get(start..end)?,
        [.., b'\'' | b'"' | b']' | 0x98 | 0x99 | 0x9c | 0x9d, b','] | [.., b')', b':'] | [.., b' ']
    );
    // A sign among five begins to count.
    let is_dense = (end - start) - n_blanks - n_more < n_symbols * 5;
    (!ends_odd && !is_dense).then_some(end)
}

#[cfg(test)]
mod tests;
