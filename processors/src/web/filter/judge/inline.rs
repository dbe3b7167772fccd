//! Code among the words of a sentence, without any mark: a statement in braces, a call with what only
//! programs hand over, an address that is a program, statements in a row, commands that a shell joins.
//!
//! A name that is only mentioned (`open()`, `f(x)`) is left to the reader.

use super::{Removal, line};

/// What is longer is no part of a sentence.
const MAX_BYTES: usize = 400;

/// Finds it, in order.
pub(super) fn find(text: &str) -> Vec<Removal> {
    let bytes = text.as_bytes();
    let mut found: Vec<Removal> = Vec::new();
    let mut at = 0;
    while let Some(step) = bytes.get(at..).and_then(|rest| {
        rest.iter().position(|byte| matches!(byte, b'(' | b'{' | b':' | b';' | b'\\'))
    }) {
        let here = at + step;
        let least = found.last().map_or(0, |last| last.range.end);
        let range = match bytes.get(here) {
            Some(b'(') => call(text, here),
            Some(b'{') => braces(text, here),
            Some(b':') => address(text, here),
            Some(b';') => {
                at = statements(text, here, &mut found);
                continue;
            }
            _ => verb(text, here),
        };
        match range {
            Some((start, end)) if least <= start => {
                found.push(Removal { range: start..end, n_lines: 1, inline: true });
                // What a semicolon ends may be one of several statements.
                at = match end.checked_sub(1).filter(|last| bytes.get(*last) == Some(&b';')) {
                    Some(semicolon) => statements(text, semicolon, &mut found),
                    None => end,
                };
            }
            _ => at = here + 1,
        }
    }
    with_commands(text, found)
}

/// Adds the statements in a row of which the first ends at a semicolon. Behind what was read.
fn statements(text: &str, semicolon: usize, found: &mut Vec<Removal>) -> usize {
    match line::statements(text, semicolon) {
        Ok((start, end)) => {
            push_over(found, start, end);
            end
        }
        Err(next) => next,
    }
}

/// Adds what may begin before the end of what was found already, and takes that in: `x = ` is found only
/// behind the call in `x = f(a=1) ;`.
fn push_over(found: &mut Vec<Removal>, mut start: usize, end: usize) {
    while let Some(last) = found.pop_if(|last| start < last.range.end) {
        start = start.min(last.range.start);
    }
    found.push(Removal { range: start..end, n_lines: 1, inline: true });
}

/// The same with the commands of a shell, in order and apart from each other.
fn with_commands(text: &str, mut found: Vec<Removal>) -> Vec<Removal> {
    let commands = line::commands(text);
    if commands.is_empty() {
        return found;
    }
    let removal = |(start, end)| Removal { range: start..end, n_lines: 1, inline: true };
    found.extend(commands.into_iter().map(removal));
    found.sort_by_key(|removal| removal.range.start);
    let mut end = 0;
    found.retain(|removal| {
        let is_apart = end <= removal.range.start;
        if is_apart {
            end = removal.range.end;
        }
        is_apart
    });
    found
}

/// Where a bracket closes, at most so far behind it, and with so many open ones in it.
fn closing(text: &str, open: usize) -> Option<usize> {
    const MAX_OPEN: usize = 16;
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(open).take(MAX_BYTES) {
        match byte {
            b'(' | b'{' | b'[' if depth == MAX_OPEN => return None,
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where the name begins that ends at a place: `a.b::c`.
fn name_start(text: &str, end: usize) -> usize {
    const MAX_NAME: usize = 80;
    let named = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:$@!>-".contains(byte);
    let before = text.as_bytes().get(..end).unwrap_or_default();
    end - before.iter().rev().take(MAX_NAME).take_while(|byte| named(byte)).count()
}

/// Whether what stands in brackets is handed over by a program.
fn is_program(inner: &str) -> bool {
    has_signs(inner) || is_nested(inner) && !names_substance(inner)
}

/// Whether it has signs of one.
fn has_signs(inner: &str) -> bool {
    let bytes = inner.as_bytes();
    let operator = bytes.windows(2).any(|pair| {
        matches!(
            pair,
            b"=>"
                | b"->"
                | b"=="
                | b"!="
                | b"<="
                | b">="
                | b"&&"
                | b"||"
                | b"++"
                | b"+="
                | b"::"
                | b"()"
                | b"${"
        )
    });
    let assigns = inner.match_indices('=').any(|(at, _)| {
        let name = inner.get(..at).unwrap_or_default().trim_end();
        name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    });
    operator || assigns || inner.contains(';') && !inner.contains("; ")
}

/// `oligo(ethylene glycol) methacrylate`: two words stand side by side, as no program has them.
fn names_substance(inner: &str) -> bool {
    const OF_CODE: [&str; 14] = [
        "for", "not", "and", "const", "int", "new", "let", "var", "void", "async", "await",
        "function", "return", "lambda",
    ];
    const MIN_LETTERS: usize = 3;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -()',".contains(&byte);
    let is_word = |word: &str| {
        MIN_LETTERS <= word.len()
            && word.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !OF_CODE.contains(&word)
    };
    let mut before = "";
    let are_side_by_side = inner.split(' ').any(|word| {
        let bare = word.trim_end_matches(')');
        let (one, other) = (before.rsplit('(').next().unwrap_or_default(), bare);
        before = bare;
        is_word(one) && is_word(other)
    });
    inner.bytes().all(is_plain) && are_side_by_side
}

/// Whether brackets are of mathematics or statistics: `P(X = 3)`, `exp(-exp(x))`, `group(n=30)`,
/// `Normal(mean = 0, sd = 1)`.
fn is_formula(name: &str, inner: &str) -> bool {
    const DISTRIBUTIONS: [&str; 16] = [
        "Normal",
        "Gaussian",
        "Gamma",
        "Beta",
        "Binomial",
        "Bernoulli",
        "Poisson",
        "Uniform",
        "Exponential",
        "Geometric",
        "Weibull",
        "Cauchy",
        "Dirichlet",
        "Multinomial",
        "Lognormal",
        "Laplace",
    ];
    let name = name.trim_start_matches(['-', '>', '.', ':']);
    name.len() <= 2
        || line::is_of_formulas(name) && !has_signs(inner) && !line::has_call(inner)
        || name.bytes().all(|byte| byte.is_ascii_alphabetic())
            && is_measured(inner, DISTRIBUTIONS.contains(&name))
}

/// Whether each part of what stands in brackets is a number, one of them that of something which is measured:
/// `n = 30, 50%`. `is_named`: that may be anything, for it has a name.
fn is_measured(inner: &str, is_named: bool) -> bool {
    const MEASURES: [&str; 14] =
        ["n", "p", "r", "k", "t", "z", "d", "df", "SD", "SE", "CI", "OR", "RR", "HR"];
    let is_number = |text: &str| {
        let text = text.trim_start_matches(['=', '<', '>', ' ', '-', '.']);
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b". %".contains(&byte))
    };
    let is_measure = |name: &str| {
        is_named && name.bytes().all(|byte| byte.is_ascii_lowercase())
            || MEASURES.contains(&name)
            || name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    inner.contains('=')
        && !inner.contains("==")
        && inner.split([',', ';']).all(|part| match part.find(['=', '<', '>']) {
            Some(at) => {
                let (name, value) = part.split_at(at);
                is_measure(name.trim()) && is_number(value)
            }
            None => is_number(part.trim()),
        })
}

/// Whether a path of an address is a program rather than a page (`/wiki/Function_(mathematics)`,
/// `/x(v=1).aspx`).
pub(super) fn is_in_path(path: &str) -> bool {
    path.contains('=') && path.split_once('(').is_some_and(|(_, inner)| is_nested(inner))
}

/// A call in a call.
fn is_nested(inner: &str) -> bool {
    inner.match_indices('(').any(|(at, _)| {
        inner.get(..at).is_some_and(|name| {
            name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && inner
                    .get(at + 1..)
                    .is_some_and(|rest| !rest.starts_with("s)") && !rest.starts_with("es)"))
        })
    })
}

/// `name(…)` with what only programs hand over, and what goes on behind it.
fn call(text: &str, open: usize) -> Option<(usize, usize)> {
    let start = name_start(text, open);
    let keyword = text
        .get(..open)?
        .strip_suffix(' ')
        .and_then(|before| keyword(before).map(|word| before.len() - word.len()));
    if start == open && keyword.is_none() {
        return None;
    }
    let close = closing(text, open)?;
    let inner = text.get(open + 1..close)?;
    let start = if start == open { keyword? } else { start };
    let name = text.get(start..open)?;
    if name.ends_with([':', '-', '>', '.']) {
        return None;
    }
    let behind = text.get(close + 1..)?;
    let block = behind.trim_start().starts_with('{');
    let dotted = name.contains(['.', '_']) || name.contains("::") || name.contains("->");
    let quoted = keyword.is_none()
        && has_quote(inner)
        && (inner.starts_with(['"', '\'']) || inner.contains(','));
    let numbered =
        || text.get(start..=close).is_some_and(|call| line::is_numbered(call, open - start));
    let statement = dotted && !inner.is_empty() && behind.starts_with(';') && !numbered();
    let is_formula = || {
        !behind.starts_with(';')
            && (name.len() <= 2 || keyword.is_none() && is_formula(name, inner))
    };
    if !(is_statement(inner, keyword.is_some()) && !is_formula()
        || block
        || quoted && !inner.contains(". ")
        || statement)
    {
        return None;
    }
    Some((start, extended(text, close + 1)))
}

/// The keyword that a text ends in.
fn keyword(before: &str) -> Option<&str> {
    let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
    matches!(word, "for" | "if" | "while" | "switch" | "catch" | "function").then_some(word)
}

/// Whether a bracket behind a text may be that of a loop or a condition.
pub(super) fn is_keyword(before: &str) -> bool {
    keyword(before).is_some()
}

fn is_statement(inner: &str, keyword: bool) -> bool {
    if keyword {
        // `for (one reason or the other)`; of signs, those of a loop or a condition: `(p < 0.05)` and
        // `(Simon & Schuster)` are of sentences.
        let small = inner.split_whitespace().filter(|word| super::words::is_small(word)).count();
        let signs = ["&&", "||", "==", "!=", "<=", ">=", ";"];
        return small < 2 && signs.iter().any(|sign| inner.contains(sign));
    }
    is_program(inner)
}

/// Whether something is quoted; no `it's`.
fn has_quote(inner: &str) -> bool {
    let bytes = inner.as_bytes();
    let letter =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphabetic);
    bytes.iter().enumerate().any(|(at, byte)| match byte {
        b'"' => true,
        b'\'' => !(letter(at.checked_sub(1)) && letter(Some(at + 1))),
        _ => false,
    })
}

/// What goes on behind a call: `.b(c)`, `{ … }`, `;`.
fn extended(text: &str, mut end: usize) -> usize {
    const MAX_PARTS: usize = 8;
    for _ in 0..MAX_PARTS {
        let rest = text.get(end..).unwrap_or_default();
        let bare = rest.trim_start_matches(' ');
        let blanks = rest.len() - bare.len();
        if bare.starts_with('{') {
            match closing(text, end + blanks) {
                Some(close) => end = close + 1,
                None => return end,
            }
        } else if rest.starts_with(['.', '[', '('])
            || rest.starts_with("->")
            || rest.starts_with("::")
        {
            let named = |c: char| c.is_ascii_alphanumeric() || "_.:>-".contains(c);
            let name = rest.find(|c| !named(c)).unwrap_or(rest.len());
            let next = end + name;
            if !text.get(next..).is_some_and(|rest| rest.starts_with(['(', '['])) {
                return end;
            }
            match closing(text, next) {
                Some(close) => end = close + 1,
                None => return end,
            }
        } else if rest.starts_with(';') {
            return end + 1;
        } else {
            return end;
        }
    }
    end
}

/// `{ a; b; }`, `{"a": 1}`, `{code}…{code}`; no `{a, b}` as sets have it.
fn braces(text: &str, open: usize) -> Option<(usize, usize)> {
    let rest = text.get(open..)?;
    for mark in ["{code", "{noformat"] {
        if rest.starts_with(mark) {
            let near = super::within(rest, MAX_BYTES);
            let behind = near.find('}')? + 1;
            let close = near.get(behind..)?.find(mark)? + behind;
            let end = close + near.get(close..)?.find('}')? + 1;
            return Some((open, open + end));
        }
    }
    let close = closing(text, open)?;
    let inner = text.get(open + 1..close)?;
    let entry = inner.trim_start().starts_with(['"', '\'']) && inner.contains(':');
    let property = inner.contains(": ") && inner.trim_end().ends_with(';');
    let is_code = entry
        || property
        || inner.trim_end().ends_with(';')
        || inner.contains(';') && is_program(inner)
        || inner.contains("=>")
        || inner.contains("return ") && inner.contains(['+', '(', '=', '.']);
    if !is_code {
        return None;
    }
    Some((open, extended(text, close + 1)))
}

/// `javascript:…`, `data:text/html,…`
fn address(text: &str, colon: usize) -> Option<(usize, usize)> {
    const SCHEMES: [&str; 3] = ["javascript", "vbscript", "data"];
    let before = text.get(..colon)?;
    let scheme = SCHEMES.iter().find(|scheme| {
        let from = before.len().checked_sub(scheme.len());
        from.and_then(|from| before.get(from..))
            .is_some_and(|word| word.eq_ignore_ascii_case(scheme))
    })?;
    let start = colon - scheme.len();
    let is_word = before.get(..start)?.ends_with(|c: char| c.is_alphanumeric());
    let rest = text.get(colon + 1..)?;
    // How it begins tells what it is; only what is one is read to its end.
    let near = super::within(rest, MAX_BYTES);
    let near = near.split(char::is_whitespace).next()?;
    let typed =
        *scheme != "data" || near.split([',', ';']).next().is_some_and(|kind| kind.contains('/'));
    if is_word || !typed || !near.contains(['(', ',', '=', ';']) {
        return None;
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    Some((start, colon + 1 + end))
}

/// `\verb|x|`, `\lstinline!x!`, `\texttt{x}`
fn verb(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text.get(at..)?;
    if let Some(open) = ["\\texttt{", "\\mintinline{", "\\lstinline{", "\\code{"]
        .iter()
        .find(|mark| rest.starts_with(**mark))
    {
        let close = closing(text, at + open.len() - 1)?;
        let end = extended_group(text, close + 1);
        return Some((at, end));
    }
    let mark = ["\\verb*", "\\verb", "\\lstinline"].iter().find(|mark| rest.starts_with(**mark))?;
    let behind = rest.get(mark.len()..)?;
    let sign = *behind.as_bytes().first().filter(|byte| byte.is_ascii_punctuation())?;
    let end = behind.get(1..)?.bytes().take(MAX_BYTES).position(|byte| byte == sign)?;
    Some((at, at + mark.len() + 1 + end + 1))
}

/// A second pair of braces.
fn extended_group(text: &str, end: usize) -> usize {
    match text.get(end..) {
        Some(rest) if rest.starts_with('{') => closing(text, end).map_or(end, |close| close + 1),
        _ => end,
    }
}

#[cfg(test)]
mod tests;
