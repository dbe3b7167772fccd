//! Words that programs have (calls, names, flags), and what is written like a call and is none.

use super::marks;

/// `name(`, but not `name(s)`.
pub(super) fn is_call(token: &str) -> bool {
    let Some(at) = token.find('(') else { return false };
    let before = token.get(..at).and_then(|before| before.chars().next_back());
    let named = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '!' | '>'));
    let plural = token.get(at..).is_some_and(|rest| {
        ["(s)", "(es)", "(d)", "(n)", "(ies)", "(r)", "(ed)", "(ing)"]
            .iter()
            .any(|p| rest.starts_with(p))
    });
    // `O(n)` is what something costs.
    let formula = at == 1 && token.starts_with(|c: char| c.is_ascii_uppercase());
    named && !plural && !formula && !is_manual(token, at) && !is_numbered(token, at)
}

/// `Cher(e)s`, `veuf(ve)`, `Lehrer(innen)`: a word, and how it may end.
pub(super) fn is_ending(token: &str) -> bool {
    const ENDINGS: [&str; 30] = [
        "a", "e", "o", "s", "n", "r", "d", "m", "es", "as", "os", "in", "en", "er", "ed", "ne",
        "ve", "le", "te", "se", "re", "ra", "ies", "ing", "nen", "sse", "ora", "innen", "trice",
        "euse",
    ];
    const MIN_LETTERS: usize = 3;
    let Some((word, rest)) = token.split_once('(') else { return false };
    let Some((ending, behind)) = rest.split_once(')') else { return false };
    word.chars().all(char::is_alphabetic)
        && MIN_LETTERS <= word.chars().count()
        && ENDINGS.contains(&ending)
        && behind.chars().all(|c| c.is_alphabetic() || matches!(c, ',' | '.' | ':' | '!' | '?'))
}

/// `iron(II)`, `Smith(2001)`, `Art.6(1)(a)`: names with nothing but numbers behind them.
pub(in crate::web::filter::judge) fn is_numbered(token: &str, at: usize) -> bool {
    let (name, behind) = token.split_at(at);
    let is_roman = |part: &str| 1 < part.len() && part.bytes().all(|byte| b"IVX".contains(&byte));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let groups = behind
        .trim_end_matches([';', ',', '.', ':'])
        .strip_prefix('(')
        .and_then(|groups| groups.strip_suffix(')'));
    let Some(groups) = groups else { return false };
    let mut groups = groups.split(")(");
    groups
        .next()
        .is_some_and(|first| is_roman(first) || is_number(first) && marks::begins_sentence(name))
        && groups.all(|group| group.len() == 1 || is_number(group) || is_roman(group))
}

/// `git-diff(1)`, as manuals name each other.
fn is_manual(token: &str, at: usize) -> bool {
    let bytes = token.as_bytes();
    let (name, behind) = (bytes.get(..at).unwrap_or_default(), bytes.get(at..).unwrap_or_default());
    1 < name.len()
        && name.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-'))
        && matches!(
            behind,
            [b'(', b'1'..=b'8', b')'] | [b'(', b'1'..=b'8', b')', b',' | b'.' | b';' | b':']
        )
}

/// A name as only programs have them: `snake_case`, `camelCase`, `a.b.c`, `a::b`.
pub(super) fn is_name(word: &str) -> bool {
    if word.as_bytes().windows(2).any(|pair| pair == b"::") || is_camel(word) {
        return true;
    }
    let inner = word.trim_matches('_');
    if inner.contains('_') && !inner.contains(' ') {
        return true;
    }
    let dots = word.matches('.').count();
    let parts = || {
        word.split('.').all(|part| {
            1 < part.len() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    0 < dots
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && parts()
        && !word.starts_with("www.")
}

pub(super) fn is_camel(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
}

pub(super) fn is_flag(token: &str) -> bool {
    let bare = token.trim_start_matches('-');
    let dashes = token.len() - bare.len();
    (1..=2).contains(&dashes)
        && bare.starts_with(|c: char| c.is_ascii_alphanumeric())
        && token.len() < 40
}
