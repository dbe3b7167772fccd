//! Several statements of a program on one line: `x = 1; y = f(x); return y`.

use super::is_small;

/// What is longer is no statement.
const MAX_BYTES: usize = 160;
/// What several statements in a row score.
const CERTAIN: i32 = 12;

/// What a statement says by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Formulas have it, too: `x = 1`.
    Soft,
    Hard,
}

/// Points for a line of several statements.
pub(super) fn points(line: &str) -> i32 {
    let Some((_, behind)) = line.split_once(';') else { return 0 };
    if behind.trim().is_empty() {
        return 0;
    }
    let (mut n, mut is_hard) = (0, false);
    for part in line.trim_end_matches(';').split(';') {
        let Some(shape) = shape(part) else { return 0 };
        n += 1;
        is_hard |= shape == Shape::Hard;
    }
    if 1 < n && is_hard { CERTAIN } else { 0 }
}

/// Statements in a row among the words of a text, of which the first ends at a semicolon. Else: behind what
/// none begins.
pub(in crate::web::filter::judge) fn around(
    text: &str,
    semicolon: usize,
) -> Result<(usize, usize), usize> {
    let from = text.ceil_char_boundary(semicolon.saturating_sub(MAX_BYTES));
    let before = text.get(from..semicolon).unwrap_or_default();
    let before = before.rsplit([';', '\r', '{', '}']).next().unwrap_or_default();
    let mut starts = std::iter::once(0).chain(before.match_indices(' ').map(|(at, _)| at + 1));
    let first = starts.find_map(|at| {
        let shape = shape(before.get(at..)?)?;
        Some((semicolon - before.len() + at, shape))
    });
    let Some((start, first)) = first else { return Err(semicolon + 1) };
    let (mut end, mut n, mut is_hard) = (semicolon + 1, 1, first == Shape::Hard);
    while let Some(rest) = text.get(end..) {
        let near = rest.get(..rest.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
        let len = near.find(';');
        let (part, behind) = match len {
            Some(len) => (near.get(..len).unwrap_or_default(), len + 1),
            None if near.len() == rest.len() => (rest.trim_end(), rest.trim_end().len()),
            None => break,
        };
        let Some(shape) = shape(part) else { break };
        n += 1;
        is_hard |= shape == Shape::Hard;
        end += behind;
        if len.is_none() {
            break;
        }
    }
    if 1 < n && is_hard { Ok((start, end)) } else { Err(end) }
}

/// What statement a part is, if it is one.
fn shape(part: &str) -> Option<Shape> {
    const JUMPS: [&str; 7] = ["return", "break", "continue", "yield", "throw", "raise", "await"];
    const TYPES: [&str; 17] = [
        "let", "const", "var", "val", "auto", "my", "local", "final", "static", "mut", "int",
        "char", "bool", "float", "double", "long", "String",
    ];
    let part = part.trim();
    if part.is_empty() || MAX_BYTES < part.len() || has_words(part) {
        return None;
    }
    let (first, rest) = part.split_once(' ').unwrap_or((part, ""));
    if JUMPS.contains(&first) {
        let is_value = rest.split(' ').count() <= 6 && !rest.ends_with(['.', ',', '?', '!']);
        return is_value.then_some(Shape::Hard);
    }
    if matches!(first, "import" | "use") {
        let is_name = !rest.is_empty() && rest.split_once(' ').is_none();
        return is_name.then_some(Shape::Soft);
    }
    if let Some((name, operator, value)) = assignment(part) {
        let bare = name.rsplit(' ').next().unwrap_or_default();
        let typed = name.split(' ').next().filter(|_| bare.len() < name.len());
        if !is_name(bare) || typed.is_some_and(|first| !TYPES.contains(&first)) {
            return None;
        }
        let is_hard = typed.is_some() || operator != "=" || value.contains(['{', '(']);
        return Some(if is_hard { Shape::Hard } else { Shape::Soft });
    }
    let counted = part
        .strip_suffix("++")
        .or_else(|| part.strip_suffix("--"))
        .or_else(|| part.strip_prefix("++"))
        .or_else(|| part.strip_prefix("--"));
    if counted.is_some_and(is_name) {
        return Some(Shape::Hard);
    }
    call(part)
}

/// Whether there are words in it that sentences are made of.
fn has_words(part: &str) -> bool {
    part.split(' ')
        .any(|word| 1 < word.len() && !matches!(word, "in" | "if" | "for") && is_small(word))
}

/// `name = value`, `name += value`
fn assignment(part: &str) -> Option<(&str, &str, &str)> {
    let at = part.find('=')?;
    let (before, behind) = (part.get(..at)?, part.get(at + 1..)?);
    let operators = ["+", "-", "*", "/", "%", "|", "&", "^", ":", "??", "||", "&&"];
    let sign = operators.iter().find(|sign| before.ends_with(**sign)).map_or(0, |sign| sign.len());
    let name = before.get(..before.len() - sign)?.trim_end();
    let operator = part.get(before.len() - sign..=at)?;
    let is_compared = behind.starts_with(['=', '>', '~']) || name.ends_with(['<', '>', '!']);
    let value = behind.trim();
    (!is_compared && !value.is_empty() && !value.ends_with(['.', '?', '!', ',', ':']))
        .then_some((name, operator, value))
}

/// `name`, `a.b`, `a[1]`, `$a->b`
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '@'))
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$@[]'\"->".contains(&byte))
        && !name.starts_with("[code")
}

/// `name(…)`, to the end. `f(x, y)` is of formulas, too.
fn call(part: &str) -> Option<Shape> {
    let (name, inner) = part.split_once('(')?;
    let inner = inner.strip_suffix(')')?;
    let name = name.trim_end_matches('!');
    if !is_name(name) || inner.contains(". ") {
        return None;
    }
    let is_formula = name.len() < 3
        && inner.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b',' | b' '));
    Some(if is_formula { Shape::Soft } else { Shape::Hard })
}

#[cfg(test)]
mod tests;
