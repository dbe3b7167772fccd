//! Several statements of a program on one line: `x = 1; y = f(x); return y`.

use super::super::words::is_small;

/// What is longer is no statement.
const MAX_BYTES: usize = 160;
/// What several statements in a row score.
const CERTAIN: i32 = 12;

/// What a statement says by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Nothing: words may begin like a statement: `await results`.
    Said,
    /// It is one where others stand beside it, and else of a list: `raise hands`.
    Jump,
    /// Formulas have it, too: `x = 1`.
    Soft,
    Hard,
}

/// What statements in a row say together.
#[derive(Default)]
struct Row {
    n: usize,
    has_jump: bool,
    has_soft: bool,
    has_hard: bool,
}

impl Row {
    fn add(&mut self, shape: Shape) {
        self.n += 1;
        match shape {
            Shape::Said => {}
            Shape::Jump => self.has_jump = true,
            Shape::Soft => self.has_soft = true,
            Shape::Hard => self.has_hard = true,
        }
    }

    const fn is_code(&self) -> bool {
        1 < self.n && (self.has_hard || self.has_jump && self.has_soft)
    }
}

/// Points for a line of several statements.
pub(super) fn points(line: &str) -> i32 {
    let Some((_, behind)) = line.split_once(';') else { return 0 };
    if behind.trim().is_empty() {
        return 0;
    }
    let mut row = Row::default();
    for part in line.trim_end_matches(';').split(';') {
        let Some(shape) = shape(part) else { return 0 };
        row.add(shape);
    }
    if row.is_code() { CERTAIN } else { 0 }
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
    let (mut end, mut row) = (semicolon + 1, Row::default());
    row.add(first);
    while let Some(rest) = text.get(end..) {
        let near = rest.get(..rest.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
        let len = near.find(';');
        let (part, behind) = match len {
            Some(len) => (near.get(..len).unwrap_or_default(), len + 1),
            None if near.len() == rest.len() => (rest.trim_end(), rest.trim_end().len()),
            None => break,
        };
        let Some(shape) = shape(part) else { break };
        row.add(shape);
        end += behind;
        if len.is_none() {
            break;
        }
    }
    if row.is_code() { Ok((start, end)) } else { Err(end) }
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
        return jump(first, rest);
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
        let is_hard = typed.is_some() || operator != "=" || has_call(value) || is_object(value);
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

/// `return x`, `throw new X(y)`; no `continue antibiotics`.
fn jump(word: &str, value: &str) -> Option<Shape> {
    const MAX_WORDS: usize = 6;
    if MAX_WORDS < value.split(' ').count() || value.ends_with(['.', ',', '?', '!']) {
        return None;
    }
    let is_handed_on = !matches!(word, "break" | "continue");
    let is_calculated = matches!(word, "return" | "yield") && value.contains(['+', '*', '=', '{']);
    Some(if is_handed_on && (is_calculated || value.contains('_') || has_call(value)) {
        Shape::Hard
    } else if value.is_empty() || is_handed_on && !value.contains(' ') {
        Shape::Jump
    } else {
        Shape::Said
    })
}

/// `{"a": 1}`; `{1, 2}` is a set.
fn is_object(value: &str) -> bool {
    value.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with(['"', '\'']))
}

/// What formulas call by names of more than a letter.
const FUNCTIONS: [&str; 41] = [
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan",
    "asin", "acos", "atan", "log", "ln", "lg", "exp", "sqrt", "abs", "max", "min", "sup", "inf",
    "lim", "det", "tr", "dim", "ker", "deg", "gcd", "lcm", "arg", "pr", "var", "cov", "corr",
    "sgn", "erf", "mod",
];

/// Whether a name is one that formulas have: `f`, `sin`, `log10`, `SD`.
pub(in crate::web::filter::judge) fn is_of_formulas(name: &str) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let n_letters = name.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_shouted = name.len() <= 3 && name.bytes().all(|byte| byte.is_ascii_uppercase());
    n_letters < 2
        || is_shouted
        || FUNCTIONS.iter().any(|function| function.eq_ignore_ascii_case(bare))
}

/// Whether something is called in a value: `open(x)`; no `1.5 (95% CI)`, no `3 item(s)`, and nothing that
/// formulas have.
pub(in crate::web::filter::judge) fn has_call(value: &str) -> bool {
    let named =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '$' | '@' | '!');
    value.match_indices('(').any(|(at, _)| {
        let (before, behind) = value.split_at(at);
        let start = before.trim_end_matches(named).len();
        let name = before.get(start..).unwrap_or_default();
        !name.starts_with(|c: char| c.is_ascii_digit())
            && !is_of_formulas(name)
            && !behind.starts_with("(s)")
            && !behind.starts_with("(es)")
    })
}

/// Whether what stands in brackets may be said of anything: `(II)`, `(2001)`, `(1)(a)`, `(5-10 mg)`.
fn is_said(inner: &str) -> bool {
    let bytes = inner.as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b", ()-./%".contains(byte);
    let is_path = bytes.windows(3).any(|part| {
        matches!(part, [a, b'.' | b'/', b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic())
    });
    !inner.is_empty()
        && bytes.iter().all(|byte| is_plain(byte) || !byte.is_ascii())
        && !is_path
        && !inner.contains("()")
        && !has_call(inner)
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

/// `name(…)`, to the end. `f(x, y)` is of formulas, too, and `open(2); close(2)` of sentences.
fn call(part: &str) -> Option<Shape> {
    let (name, inner) = part.split_once('(')?;
    let inner = inner.strip_suffix(')')?;
    let name = name.trim_end_matches('!');
    if !is_name(name) || inner.contains(". ") {
        return None;
    }
    let is_calculated = |byte: u8| byte.is_ascii_alphanumeric() || b", +-*/^.|".contains(&byte);
    let is_formula = is_of_formulas(name) && inner.bytes().all(is_calculated);
    // `os.exit(1)`; no `Art.6(1)`.
    let is_member = name.as_bytes().windows(3).any(
        |part| matches!(part, [a, b'.', b] if a.is_ascii_alphanumeric() && b.is_ascii_lowercase()),
    );
    let is_soft = is_formula || is_said(inner) && !is_member;
    Some(if is_soft { Shape::Soft } else { Shape::Hard })
}

#[cfg(test)]
mod tests;
