//! What a line looks like, whatever characters it is written with.

use std::borrow::Cow;

/// A copy to be judged: wide and look-alike signs as plain ones, what cannot be seen left out.
pub(super) fn normal(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    Cow::Owned(line.chars().filter_map(plain).collect())
}

fn plain(c: char) -> Option<char> {
    Some(match c {
        // Zero width, directions, soft hyphens, variation selectors.
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' => return None,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => ' ',
        '\u{37e}' => ';',
        // Full width.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{2024}' => '.',
        '\u{2010}'..='\u{2012}' | '\u{2212}' => '-',
        '\u{2039}' | '\u{2329}' | '\u{27e8}' => '<',
        '\u{203a}' | '\u{232a}' | '\u{27e9}' => '>',
        '\u{2216}' => '\\',
        '\u{2215}' | '\u{2044}' => '/',
        '\u{2223}' => '|',
        '\u{a789}' | '\u{2236}' => ':',
        '\u{2768}' => '(',
        '\u{2769}' => ')',
        '\u{2774}' => '{',
        '\u{2775}' => '}',
        '\u{201c}' | '\u{201d}' => '"',
        '\u{2018}' | '\u{2019}' => '\'',
        _ => c,
    })
}
