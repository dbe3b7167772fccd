//! Text that means itself in Markdown.

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a paragraph of several lines.
    Flow,
    /// On one line.
    Line,
    /// On one line, between bars.
    Cell,
}

/// Writes a text so that it is read as nothing but this text. `follows`: what is written behind it.
pub(super) fn escape(
    text: &str,
    place: Place,
    in_link: bool,
    follows: Option<char>,
    out: &mut String,
) {
    let mut rest = text;
    let mut before = out.chars().next_back();
    loop {
        // What opens a link is nothing without its other half.
        let is_word = |byte: &u8| is_itself(*byte) || *byte == b'[' && !in_link;
        let (words, signs) = rest.split_at(rest.bytes().take_while(is_word).count());
        out.push_str(words);
        before = words.chars().next_back().or(before);
        let mut chars = signs.chars();
        let Some(c) = chars.next() else { return };
        rest = chars.as_str();
        let next = chars.next().or(follows);
        let starts_line = match before {
            _ if place == Place::Cell => false,
            Some('\n') => place == Place::Flow,
            Some(_) => false,
            None => true,
        };
        match c {
            '\n' | '\r' if place != Place::Flow => out.push(' '),
            '\r' => out.push_str("\\\n"),
            '\\' | '`' | '*' | '~' => out.extend(['\\', c]),
            '_' if !(alphanumeric(before) && alphanumeric(next)) => out.push_str("\\_"),
            '[' | ']' if in_link => out.extend(['\\', c]),
            ']' if matches!(next, Some('(' | '[' | ':')) => out.push_str("\\]"),
            '!' if next == Some('[') => out.push_str("\\!"),
            '<' if next.is_some_and(|next| {
                next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')
            }) =>
            {
                out.push_str("\\<");
            }
            '&' if next.is_some_and(|next| next.is_ascii_alphanumeric() || next == '#') => {
                out.push_str("&amp;");
            }
            '|' => out.push_str("\\|"),
            '#' if starts_line || before == Some(' ') => out.push_str("\\#"),
            '>' | '=' | '+' | '-' | ':' if starts_line => out.extend(['\\', c]),
            '.' | ')'
                if place != Place::Cell
                    && is_number(out)
                    && matches!(next, Some(' ' | '\n' | '\r' | '\t') | None) =>
            {
                out.extend(['\\', c]);
            }
            _ => out.push(c),
        }
        before = Some(match c {
            '\n' | '\r' if place == Place::Flow => '\n',
            '\n' | '\r' => ' ',
            c => c,
        });
    }
}

/// About where a text has to end so that it takes no more room, and rather behind that: what follows a
/// sign may change how that is written.
pub(super) fn fitting(text: &str, room: usize) -> usize {
    const STEP: usize = 64;
    let mut written = String::new();
    let mut end = 0;
    while end < text.len() && written.len() <= room {
        let start = end;
        end = text.ceil_char_boundary(start + STEP);
        let step = text.get(start..end).unwrap_or_default();
        escape(step, Place::Flow, false, None, &mut written);
    }
    end
}

/// What is written as it is, wherever it stands.
const fn is_itself(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b' ' | b',' | b';' | b'(' | b'?' | b'/' | b'"' | b'\'')
}

fn alphanumeric(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

/// Whether the line so far is a number that would begin a list. Looks no farther back than one is
/// long: lines have no bound.
fn is_number(out: &str) -> bool {
    const MAX_DIGITS: usize = 9;
    let n_digits = out.bytes().rev().take(MAX_DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let before = out.len().checked_sub(n_digits + 1).and_then(|at| out.as_bytes().get(at));
    (1..=MAX_DIGITS).contains(&n_digits) && before.is_none_or(|byte| *byte == b'\n')
}
