//! Declarations, and the heads of blocks: what has to stand behind their first word.

use crate::web::filter::judge::words::is_small;

/// Whether a line is a declaration or the head of a block.
pub(super) fn is_statement(line: &str, first: &str, rest: &str) -> bool {
    let few = line.split_whitespace().count() <= 6;
    let ends = |marks: &[char]| line.ends_with(marks);
    match first {
        "def" | "fn" | "func" | "function" | "async" => calls(rest) || ends(&['{']),
        "pub" | "public" | "private" | "protected" | "static" | "abstract" | "override"
        | "export" | "extern" | "final" => {
            ends(&['{', '('])
                || calls(rest)
                || is_set(rest) && few
                || ends(&[';', ',']) && 2 <= rest.split_whitespace().count()
        }
        "class" | "struct" | "enum" | "interface" | "trait" | "impl" | "namespace" | "module"
        | "type" | "object" => {
            ends(&['{'])
                || ends(&[';']) && few && names(rest)
                || ends(&[':']) && few && names(rest) && is_class(rest)
        }
        "if" | "for" | "while" | "elif" | "switch" | "with" | "except" | "catch" | "match"
        | "foreach" | "unless" => {
            ends(&['{'])
                || ends(&[':']) && few && compares(first, rest)
                || rest.starts_with('(')
                    && (ends(&[';', ':']) || ends(&[')']) && is_tested(first, rest))
        }
        "else" | "try" | "finally" | "do" => matches!(rest, ":" | "{"),
        "import" => ends(&[';']) || rest.contains(" from ") && rest.contains(['"', '\'']),
        "use" => rest.contains("::") || ends(&[';']),
        "using" | "package" | "require" | "include" => ends(&[';']),
        _ => false,
    }
}

/// Whether something is set, or a body begins; `sample (n=213)` sets nothing.
fn is_set(rest: &str) -> bool {
    rest.split('(').next().is_some_and(|before| before.contains(['=', '{']))
}

/// Whether a class is named as classes are: `Foo`, `foo_bar`, `foo(bar)`; no `class action:`.
fn is_class(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_uppercase()) || rest.contains(['_', '(', '<', '['])
}

/// Whether brackets hold what is caught or compared: `catch (e)`, `match (x)`; no `catch (tonnes)` and no
/// `match (2nd leg)`.
fn is_tested(first: &str, rest: &str) -> bool {
    const FAULTS: [&str; 9] =
        ["e", "ex", "err", "error", "exc", "exception", "t", "throwable", "_"];
    let inner = rest.trim_start_matches('(').trim_end_matches(')').trim();
    let has_signs = inner.contains(['.', '$', '=', '<', '>', '&', '|', '_', '"', '\'', '[', '(']);
    match first {
        "catch" => has_signs || inner.starts_with(char::is_uppercase) || FAULTS.contains(&inner),
        "match" => has_signs || inner.len() == 1 || inner.contains(','),
        _ => true,
    }
}

/// `name(`; `function (mathematics)` is what an article is called.
pub(in crate::web::filter::judge::line) fn calls(rest: &str) -> bool {
    rest.match_indices('(').any(|(at, _)| {
        rest.get(..at).is_some_and(|before| {
            before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '>' | '!' | '?'))
        })
    })
}

/// Whether names follow: a class has one, and a `class of service:` has none.
fn names(rest: &str) -> bool {
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let any = words.clone().next().is_some();
    any && !words.any(is_small)
}

/// Whether it is a condition, and not `for example:`, `if so:` or `if it's raining:`.
pub(super) fn compares(first: &str, rest: &str) -> bool {
    let rest = rest.trim_end_matches(':');
    let parts = || rest.split_whitespace();
    let is_sign = |part: &str| {
        part.contains(['[', '=', '<', '>', '_', '!', '"', '%'])
            || part.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && part.len() == 1
                && !matches!(part, "a" | "I")
            || part.starts_with('\'')
            || is_inside(part, b'.')
            || is_inside(part, b'(')
    };
    // `for item in items:`
    let loops = first == "for" && {
        let mut parts = parts();
        matches!(
            (parts.next(), parts.next(), parts.next(), parts.next()),
            (Some(one), Some("in"), Some(all), None) if all.starts_with(one)
        )
    };
    let tests = parts().any(|part| {
        matches!(part, "None" | "True" | "False")
            || part.ends_with("Error")
            || part.ends_with("Exception")
    });
    loops || tests || parts().any(is_sign)
}

/// Whether words join what follows as conditions and loops do, and sentences too: `for use in Europe:`.
pub(super) fn joins(first: &str, rest: &str) -> bool {
    rest.split_whitespace()
        .any(|part| matches!(part, "is" | "and" | "or") || part == "in" && first == "for")
}

/// Whether a sign stands between letters: `a.b`, `f(x)`; no `Dr. Smith`, and no `(see below)`.
fn is_inside(word: &str, sign: u8) -> bool {
    word.as_bytes().windows(3).any(|part| {
        matches!(part, [a, b, c] if *b == sign
            && (a.is_ascii_alphabetic() || *a == b'_')
            && (c.is_ascii_alphabetic() || matches!(c, b'_' | b')' | b'\'' | b'"')))
    })
}
