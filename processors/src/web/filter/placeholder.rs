//! What stands where code was, so that the text still reads.

/// In the place of code within a sentence.
pub(super) const SPAN: &str = "[code]";
const BLOCK: &str = "[code removed: ";
const BODY: &str = "[source code removed: ";

/// In the place of a block of code: `[code removed: 14 lines of rust]`.
pub(super) fn block(n_lines: usize, language: Option<&str>) -> String {
    of(BLOCK, n_lines, language)
}

/// In the place of a whole body that is source code.
pub(super) fn body(n_lines: usize, language: Option<&str>) -> String {
    of(BODY, n_lines, language)
}

fn of(begin: &str, n_lines: usize, language: Option<&str>) -> String {
    let lines = if n_lines == 1 { "line" } else { "lines" };
    match language {
        Some(language) => format!("{begin}{n_lines} {lines} of {language}]"),
        None => format!("{begin}{n_lines} {lines}]"),
    }
}

/// What stands in one is no longer than this.
const MAX_WORDS_BYTES: usize = 48;

/// How long the placeholder is that a text begins with, if it is one.
pub(super) fn leading(text: &str) -> Option<usize> {
    if text.starts_with(SPAN) {
        return Some(SPAN.len());
    }
    let rest = text.strip_prefix(BLOCK).or_else(|| text.strip_prefix(BODY))?;
    // No farther: a text of nothing but beginnings would be searched to its end from each.
    let end = rest.bytes().take(MAX_WORDS_BYTES + 1).position(|byte| byte == b']')?;
    let words = rest.get(..end)?;
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '+' | '#' | '-');
    let counted = words.starts_with(|c: char| c.is_ascii_digit());
    (counted && words.chars().all(harmless)).then_some(text.len() - rest.len() + end + 1)
}

/// Where a text may be cut that is to be cut at `end`: not within a placeholder.
pub(super) fn cut(text: &str, end: usize) -> usize {
    const MAX_PLACEHOLDER_BYTES: usize = 80;
    let from = text.floor_char_boundary(end.saturating_sub(MAX_PLACEHOLDER_BYTES));
    let begin = text.get(from..end).unwrap_or_default();
    let over = begin
        .match_indices('[')
        .map(|(at, _)| from + at)
        .find(|at| text.get(*at..).and_then(leading).is_some_and(|len| end < at + len));
    over.unwrap_or(end)
}

/// Whether a line is nothing but a placeholder.
pub(super) fn is_one(line: &str) -> bool {
    let line = line.trim();
    leading(line) == Some(line.len())
}

/// How many lines of a text are not blank; at least one.
pub(super) fn n_lines(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_known_again() {
        for written in [block(14, Some("rust")), block(1, None), body(9, Some("c++")), SPAN.into()]
        {
            assert!(is_one(&written), "{written}");
            assert_eq!(leading(&format!("{written} and more")), Some(written.len()));
        }
        assert_eq!(block(14, Some("rust")), "[code removed: 14 lines of rust]");
        assert_eq!(block(1, None), "[code removed: 1 line]");
    }

    #[test]
    fn code_does_not_pass_as_a_placeholder() {
        for forged in ["[code removed: let x = 1;]", "[code removed: 3 f(x)]", "[code removed: 1"] {
            assert_eq!(leading(forged), None, "{forged}");
        }
        let long = format!("[code removed: 1 line of {}]", "x".repeat(48));
        assert_eq!(leading(&long), None);
    }
}
