//! What gives a line away: prompts, hunks, traces, keywords, and how it ends.

mod heads;
mod items;
mod keywords;
mod shapes;
mod transcripts;

pub(super) use self::{
    heads::calls,
    items::is_item,
    keywords::{JOINED, has_signs_of_sql, keywords},
    shapes::shapes,
    transcripts::{certain, leads, prompted},
};

/// Whether a line is a comment, if it stands in code at all.
pub(super) fn comments(line: &str) -> bool {
    begins(line.trim_start(), &["#", "//", "--", ";", "%", "* ", "\"\"\"", "REM "])
}

/// Whether a line is a comment where it stands beside code; elsewhere it may be anything.
pub(super) fn beside(line: &str) -> bool {
    begins(line, &["# ", "//", "-- ", ";; ", "; ", "% ", "/*", "REM ", "rem ", "!! ", "(* ", "{- "])
}

/// Whether a line ends in the name of a type: `Returns: {string}`, `the name {Buffer|Stream}`.
pub(super) fn is_typed(line: &str) -> bool {
    let Some((before, inner)) = line.strip_suffix('}').and_then(|rest| rest.rsplit_once('{'))
    else {
        return false;
    };
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"|.[]<>_*? ".contains(&byte);
    before.ends_with(' ') && !inner.is_empty() && inner.bytes().all(named)
}

/// Whether a line begins or ends as sentences and captions do.
pub(super) fn is_sentence(line: &str) -> bool {
    let words =
        line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ,.:!?'-".contains(&byte));
    let begins = line.starts_with(char::is_uppercase);
    begins && words || line.ends_with(['.', ':', '!', '?'])
}

/// Whether a word is written as the first one of a sentence: no statement begins like that.
pub(super) fn begins_sentence(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_uppercase())
        && bytes.next().is_none_or(|byte| byte.is_ascii_lowercase())
}

/// Points for how a line ends and begins.
pub(super) fn ends(line: &str) -> i32 {
    const BRACKETS: [&str; 8] = ["{", "{{", "[", "]", "(", ")", "})", "({"];
    const ENDS: [&str; 11] = [");", "};", "],", "},", "})", "];", "\",", "',", "):", ") {", "({"];
    let last = match line.chars().next_back() {
        Some('{') => 4,
        Some(';') => 3,
        Some('\\' | '}') => 2,
        _ => 0,
    };
    let alone = if line.starts_with('}') || BRACKETS.contains(&line) { 4 } else { 0 };
    let closed = if ENDS.iter().any(|end| line.ends_with(end)) { 2 } else { 0 };
    last + alone + closed
}

fn begins(line: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| line.starts_with(mark))
}
