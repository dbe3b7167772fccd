//! Characters that nobody sees: left out, unless a word cannot be written without them.
//!
//! Unicode calls them default-ignorable. Joiners stay between letters of the scripts that have them and
//! within emoji, variation selectors behind what has variants, marks of direction beside letters that
//! are written from the right, and a break without width where words have no blanks between them.

use std::borrow::Cow;

/// A text as readers see it: each line ends in the one way that lines are told apart by, and nothing
/// is left that nobody sees, controls included.
pub(super) fn seen(text: &str) -> Cow<'_, str> {
    let is_seen = |c: char| !is_line_end(c) && (c == '\t' || !c.is_control());
    if text.chars().all(|c| c == '\n' || is_seen(c)) {
        return without(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_line_end(c) {
            if c == '\r' {
                let _ended = chars.next_if_eq(&'\n');
            }
            kept.push('\n');
        } else if c == '\n' || is_seen(c) {
            kept.push(c);
        }
    }
    Cow::Owned(without(&kept).into_owned())
}

/// Whether a line ends with a character, and is not told apart by it.
pub(super) const fn is_line_end(c: char) -> bool {
    matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A text without what nobody sees.
pub(super) fn without(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_ignorable) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    push(text, '\0', &mut kept);
    Cow::Owned(kept)
}

/// Adds a text without them, behind another character.
pub(super) fn push(text: &str, mut before: char, out: &mut String) {
    /// So far is looked for what is seen behind one: there may be very many of them.
    const MAX_AHEAD: usize = 4;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let stays = !is_ignorable(c) || {
            let mut ahead = chars.clone().take(MAX_AHEAD);
            means(before, c, ahead.find(|c| !is_ignorable(*c)).unwrap_or('\0'))
        };
        if stays {
            out.push(c);
            before = c;
        }
    }
}

/// Whether nothing is shown for a character, as a rule.
pub(super) const fn is_ignorable(c: char) -> bool {
    // Nearly all characters of nearly all pages.
    if (c as u32) < 0xad {
        return false;
    }
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a word is another without it.
const fn means(before: char, c: char, behind: char) -> bool {
    match c {
        '\u{200c}' | '\u{200d}' => joins(before) || is_picture(before) && is_picture(behind),
        '\u{200b}' => is_unspaced(before) && is_unspaced(behind),
        '\u{200e}' | '\u{200f}' | '\u{61c}' => is_from_right(before) || is_from_right(behind),
        // A picture of what is also a letter, or a digit on a key.
        '\u{fe0e}' | '\u{fe0f}' => is_picture(before) && before != c || behind == '\u{20e3}',
        '\u{180b}'..='\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        _ => false,
    }
}

/// Arabic, Syriac, the scripts of India and what came of them, Mongolian.
const fn joins(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{1900}'..='\u{1cff}'
        | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}')
}

/// Emoji, and signs that have the form of one.
const fn is_picture(c: char) -> bool {
    matches!(c, '©' | '®' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// Thai, Lao, Myanmar, Khmer: words stand without blanks.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{1aad}')
}

const fn is_from_right(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_stays_only_where_a_word_needs_it() {
        for (text, kept) in [
            ("plain", "plain"),
            ("le\u{200b}t x\u{2060}", "let x"),
            ("A soft\u{ad}ly said word", "A softly said word"),
            ("re\u{200d}turn\u{200c}", "return"),
            ("\u{202e}abc\u{202c}", "abc"),
            ("a\u{fe0f}b\u{e0061}\u{e007f}", "ab"),
            ("\u{feff}word", "word"),
            // Persian, Devanagari, a family, a heart, a key, Hebrew, Thai.
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("क्\u{200d}ष", "क्\u{200d}ष"),
            ("👩\u{200d}👧", "👩\u{200d}👧"),
            ("❤\u{fe0f}", "❤\u{fe0f}"),
            ("🏳\u{fe0f}\u{200d}🌈", "🏳\u{fe0f}\u{200d}🌈"),
            ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
            ("שלום\u{200f}!", "שלום\u{200f}!"),
            ("ไทย\u{200b}คำ", "ไทย\u{200b}คำ"),
        ] {
            assert_eq!(without(text), kept, "{text:?}");
            assert_eq!(without(&without(text)), kept, "{text:?}");
        }
    }
}
