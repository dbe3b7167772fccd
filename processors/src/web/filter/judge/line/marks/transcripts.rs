//! What can be nothing but code, or a part of a transcript, diff or trace: prompts, hunks, directives.

use super::{super::shell, begins};
use crate::web::filter::judge::words::is_small;

/// Whether a line can be nothing but code, or a part of a transcript, diff or trace.
pub(in crate::web::filter::judge::line) fn certain(line: &str) -> bool {
    leads(line) || continues(line)
}

/// Whether a line begins a transcript, diff or trace: what follows it belongs to it.
pub(in crate::web::filter::judge::line) fn leads(line: &str) -> bool {
    let line = line.trim();
    prompt(line)
        || begins(
            line,
            &["diff --git ", "--- a/", "+++ b/", "error[E", "#!/", "Exception in thread "],
        )
        || line.starts_with("Traceback (most recent call last)")
        || line.strip_prefix("@@ -").is_some_and(|rest| rest.contains(" @@"))
        || line.starts_with("goroutine ") && line.ends_with("]:")
        || line.starts_with("thread '") && line.contains("panicked at")
}

fn continues(line: &str) -> bool {
    const BEGINS: [&str; 14] = [
        "/*",
        "// ",
        "//!",
        "///",
        "#include ",
        "#define ",
        "#[",
        "#ifdef ",
        "#ifndef ",
        "#pragma ",
        "<?php",
        "<!--",
        "<!DOCTYPE",
        "<%",
    ];
    begins(line, &BEGINS)
        || line.ends_with("*/")
        || line.starts_with("File \"") && line.contains(", line ")
        || line.strip_prefix("at ").is_some_and(is_frame)
        || line.starts_with("--> ") && line.matches(':').count() == 2
}

/// `com.example.Foo.bar(Foo.java:12)`, `open (node:fs:1:2)`; no `the other end (see 4.2)`.
fn is_frame(frame: &str) -> bool {
    let Some((name, place)) = frame.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) else {
        // `/x/y.js:10:5`
        return !frame.contains(' ') && ends_in_number(frame);
    };
    let known = matches!(place, "native" | "Native Method" | "Unknown Source" | "<anonymous>");
    let named = name.split_whitespace().count() <= 3 && !name.trim().is_empty();
    named && (known || !place.contains(' ') && ends_in_number(place))
}

/// `…:12`
fn ends_in_number(place: &str) -> bool {
    place.rsplit_once(':').is_some_and(|(file, number)| {
        file.contains(|c: char| c.is_alphabetic())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `[12]:`, as notebooks have it; `[12], Smith and Jones …` is no prompt.
fn is_numbered(rest: &str) -> bool {
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    digits.starts_with("]:")
}

fn prompt(line: &str) -> bool {
    if line == ">>>" || begins(line, &["PS C:\\", "C:\\>"]) {
        return true;
    }
    if let Some(rest) = line.strip_prefix(">>> ") {
        return !is_quoted(rest);
    }
    if line.strip_prefix("In [").is_some_and(is_numbered) {
        return true;
    }
    if let Some((sign, rest)) = prompted(line) {
        return shell::is_command(sign, rest);
    }
    // user@host:~$ ls, mysql> select, irb(main):001:0> x, iex(1)> x
    let sign = |byte: u8| matches!(byte, b'$' | b'#' | b'>');
    let Some(end) = line.bytes().take(60).position(sign).filter(|end| 2 <= *end) else {
        return false;
    };
    let (name, rest) = line.split_at(end);
    let rest = rest.get(1..).unwrap_or_default();
    if !rest.starts_with(' ') || name.contains(' ') || rest.trim().is_empty() {
        return false;
    }
    let shell = name.contains('@') && name.contains([':', '~']);
    shell || is_repl(name)
}

/// What stands behind `$ ` or `% `, if it may be a command: beside code it is one.
pub(in crate::web::filter::judge::line) fn prompted(line: &str) -> Option<(char, &str)> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '$' | '%'))?;
    let rest = line.get(1..)?.strip_prefix(' ')?;
    let begins = rest.starts_with(|c: char| c.is_alphabetic() || "./_~#\"'(".contains(c));
    let first = rest.split_whitespace().next()?;
    let is_one = begins && (sign == '$' || !rest.ends_with('.') && !is_small(first));
    is_one.then_some((sign, rest))
}

/// Whether what stands behind `>>> ` is a sentence of a letter that is answered for the third time, and no
/// statement of Python.
fn is_quoted(rest: &str) -> bool {
    const OF_PYTHON: [&str; 13] =
        ["if", "for", "in", "is", "not", "and", "or", "with", "as", "from", "else", "while", "a"];
    if rest.contains("\n> ") || rest.contains("\n>> ") {
        return true;
    }
    let line = rest.lines().next().unwrap_or_default().trim_end();
    let is_plain = |c: char| c.is_alphanumeric() || " .,;:!?'’-%".contains(c);
    if !line.starts_with(char::is_alphabetic) || !line.chars().all(is_plain) {
        return false;
    }
    let bare = line.trim_end_matches(['.', '!', '?']);
    if bare.len() < line.len() && bare.ends_with(char::is_alphabetic) {
        return true;
    }
    let words = line.split(' ').map(|word| word.trim_matches([',', ';', ':', '.', '!', '?']));
    2 <= words.filter(|word| is_small(word) && !OF_PYTHON.contains(word)).count()
}

fn is_repl(name: &str) -> bool {
    const REPLS: [&str; 20] = [
        "mysql", "sqlite", "psql", "postgres", "irb", "iex", "ghci", "prelude", "scala", "julia",
        "node", "mongo", "redis", "jshell", "lua", "php", "perl", "(gdb)", "(pdb)", "clojure",
    ];
    let signs = |c: char| c.is_alphanumeric() || "():.=-_[]/".contains(c);
    let named =
        |repl: &&str| name.get(..repl.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(repl));
    name.len() < 24 && name.chars().all(signs) && REPLS.iter().any(named)
}
