//! Words that one person writes and others go by: reasons, names, answers. What stands there has to be
//! what everybody sees, so nothing in them turns the direction of the text, hides, or cannot be seen.

/// The longest reason, in characters.
pub const MAX_REASON_CHARS: usize = 300;

/// Whether a text can stand as a reason.
#[must_use]
pub fn words(text: &str) -> bool {
    are_plain(text, MAX_REASON_CHARS)
}

/// As much of what somebody sent as a message should repeat.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Whether a text can stand as somebody's words: some that can be seen, no more than so many characters,
/// and none that is [hidden](is_hidden).
#[must_use]
pub fn are_plain(text: &str, max_chars: usize) -> bool {
    !text.trim().is_empty()
        && text.chars().take(max_chars.saturating_add(1)).count() <= max_chars
        && !text.chars().any(is_hidden)
}

/// Whether a character is not seen itself, and may make what is seen another text than what stands there:
/// control characters, line and paragraph separators, marks, embeddings, overrides and isolates of
/// direction, joiners and other characters without width, fillers, and tags.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_everybody_sees() {
        for text in ["unmaintained", "zu jung für uns", "見直し待ち", "غير مدعوم", "☂️ no", "a"]
        {
            assert!(are_plain(text, 20), "{text}");
        }
        for text in [
            "",
            "  ",
            "a\nb",
            "a\tb",
            "a\u{0}b",
            "a\u{85}b",
            "reviewed \u{202e}ton",
            "\u{2066}a\u{2069}",
            "a\u{200f}",
            "a\u{200b}b",
            "a\u{200d}b",
            "a\u{2028}b",
            "a\u{feff}",
            "a\u{ad}b",
            "\u{2800}",
            "\u{3164}",
            "a\u{e0041}",
        ] {
            assert!(!are_plain(text, 20), "{text:?}");
        }
    }

    #[test]
    fn words_are_counted_in_characters() {
        assert!(are_plain(&"ö".repeat(20), 20));
        assert!(!are_plain(&"ö".repeat(21), 20));
    }
}
