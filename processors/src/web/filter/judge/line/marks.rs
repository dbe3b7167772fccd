//! What gives a line away: prompts, hunks, traces, keywords, and how it ends.

use super::{beginnings, is_small, placeholder, shell};

/// Whether a line can be nothing but code, or a part of a transcript, diff or trace.
pub(super) fn certain(line: &str) -> bool {
    leads(line) || continues(line)
}

/// Whether a line begins a transcript, diff or trace: what follows it belongs to it.
pub(super) fn leads(line: &str) -> bool {
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

fn begins(line: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| line.starts_with(mark))
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
pub(super) fn prompted(line: &str) -> Option<(char, &str)> {
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

/// Points for words that begin statements, with what must follow them.
pub(super) fn keywords(line: &str) -> i32 {
    let in_word = |c: char| c.is_ascii_alphanumeric() || "_-#@.!".contains(c);
    let end = line.find(|c| !in_word(c)).unwrap_or(line.len());
    let (first, rest) = line.split_at(end);
    let is_none = !first.starts_with('@') && beginnings::is_none(first);
    if is_none || begins_sentence(first) {
        return 0;
    }
    let rest = rest.trim();
    let n = line.split_whitespace().count();
    let ends = |marks: &[char]| line.ends_with(marks);
    match first {
        "with" | "for" | "if" | "while" | "elif"
            if line.ends_with(':') && n <= 7 && joins(first, rest) && !compares(first, rest) =>
        {
            JOINED
        }
        "if" | "while" | "for" | "elif" if line.ends_with("; then") || line.ends_with("; do") => 9,
        "from" if rest.contains(" import ") => 8,
        _ if is_statement(line, first, rest) => 6,
        "let" | "const" | "var" | "val" | "auto" | "local" | "my" | "our" | "declare"
            if rest.contains('=') =>
        {
            5
        }
        "import" if rest.contains(" as ") && n == 4 => 5,
        "import" if n == 2 && !ends(&['.', ':', ',']) && !is_imported(rest) => 4,
        "require" | "include" if rest.starts_with(['\'', '"', '(']) => 5,
        "int" | "char" | "bool" | "float" | "double" | "long" | "string" | "void" | "unsigned"
        | "size_t"
            if ends(&[';', '{', ')', ',']) && n <= 6 =>
        {
            4
        }
        "return" | "yield" | "raise" | "throw" | "await" if ends(&[';']) => 4,
        "else" | "end" | "fi" | "done" | "esac" | "endif" | "begin" | "pass" | "break"
        | "continue"
            if rest.is_empty() =>
        {
            3
        }
        "WHERE" | "JOIN" | "VALUES" | "ENTRYPOINT" | "WORKDIR" if !ends(&['.']) => 3,
        "end" if rest == ";" => 3,
        // `yield (t/ha)` is what a column is called.
        "yield" if rest.starts_with('(') => 0,
        "return" | "yield" | "raise" | "await" if n <= 4 => 2,
        "assert" | "print" | "println!" | "echo" | "puts" | "printf" if !ends(&['.', ':']) => 2,
        "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "CREATE" | "ALTER" | "DROP" | "GRANT" => {
            sql(first, rest)
        }
        _ if first.len() > 2 && first.starts_with('@') => {
            if rest.is_empty() || rest.starts_with('(') { 4 } else { 0 }
        }
        _ => command(first, rest),
    }
}

/// Whether a line ends like an item of a list and has no sign of a statement but its first word:
/// `import duties;`, `use of force;`, `public schools, private hospitals,`.
pub(super) fn is_item(line: &str) -> bool {
    const TYPES: [&str; 24] = [
        "int", "void", "bool", "boolean", "char", "byte", "static", "const", "var", "fn",
        "unsigned", "struct", "enum", "async", "function", "readonly", "virtual", "inline",
        "strict", "warnings", "std", "crate", "default", "override",
    ];
    /// Of what is also a word, one of these stands before a name of the programmer's.
    const ALSO_TYPES: [&str; 8] =
        ["class", "final", "long", "double", "float", "string", "abstract", "interface"];
    const VALUES: [&str; 13] = [
        "null",
        "nil",
        "true",
        "false",
        "this",
        "self",
        "result",
        "res",
        "err",
        "undefined",
        "None",
        "True",
        "False",
    ];
    let Some(bare) = line.strip_suffix([';', ',']) else { return false };
    let mut words = bare.split(' ').map(|word| word.strip_suffix(',').unwrap_or(word));
    let Some(first) = words.next().filter(|word| beginnings::is_also_word(word)) else {
        return false;
    };
    let is_word = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'\''))
            && !super::is_camel(word)
            && !word.as_bytes().windows(2).any(
                |pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()),
            )
    };
    let is_capital = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_class = |word: &str| matches!(word, "String" | "Boolean" | "Integer" | "Object");
    let rest: Vec<&str> = words.collect();
    match rest.as_slice() {
        [] => false,
        // `import os;`, `return x;`, `class Foo;`
        [one] => {
            2 < one.len()
                && is_word(one)
                && !VALUES.contains(one)
                && !TYPES.contains(one)
                && !(matches!(first, "class" | "struct" | "interface") && is_capital(one))
        }
        [kind, behind, ..] => {
            rest.iter().all(|word| is_word(word))
                && !TYPES.contains(kind)
                && !is_class(kind)
                && !(ALSO_TYPES.contains(kind) && (is_capital(behind) || TYPES.contains(behind)))
        }
    }
}

/// Whether a word is written as the first one of a sentence: no statement begins like that.
pub(super) fn begins_sentence(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_uppercase())
        && bytes.next().is_none_or(|byte| byte.is_ascii_lowercase())
}

/// What is brought into a country, and not into a program.
fn is_imported(word: &str) -> bool {
    const GOODS: [&str; 32] = [
        "ban",
        "bans",
        "business",
        "charges",
        "competition",
        "controls",
        "costs",
        "declaration",
        "demand",
        "duties",
        "duty",
        "figures",
        "goods",
        "growth",
        "licence",
        "licences",
        "license",
        "licenses",
        "permits",
        "prices",
        "quota",
        "quotas",
        "restrictions",
        "sector",
        "substitution",
        "surcharge",
        "tariff",
        "tariffs",
        "tax",
        "taxes",
        "trade",
        "volumes",
    ];
    GOODS.contains(&word)
}

/// Whether a line is a declaration or the head of a block.
fn is_statement(line: &str, first: &str, rest: &str) -> bool {
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
pub(super) fn calls(rest: &str) -> bool {
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
fn compares(first: &str, rest: &str) -> bool {
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

/// What a line scores that may be the head of a block, if what stands beside it is code.
pub(super) const JOINED: i32 = 3;

/// Whether words join what follows as conditions and loops do, and sentences too: `for use in Europe:`.
fn joins(first: &str, rest: &str) -> bool {
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

/// Points for a statement of SQL. What is only shouted has no sign in it: `UPDATE FROM THE MAYOR`.
fn sql(first: &str, rest: &str) -> i32 {
    const MADE: [&str; 4] = ["TABLE ", "INDEX ", "VIEW ", "FUNCTION "];
    let is_one = match first {
        "SELECT" => rest.contains(" FROM ") && has_signs_of_sql(rest),
        "DELETE" => rest.starts_with("FROM ") && has_signs_of_sql(rest),
        "INSERT" => rest.starts_with("INTO ") && has_signs_of_sql(rest),
        "UPDATE" => rest.contains(" SET ") && has_signs_of_sql(rest),
        "GRANT" => rest.contains(" TO ") && (rest.contains(" ON ") || rest.ends_with(';')),
        _ => MADE.iter().any(|part| rest.contains(part)),
    };
    i32::from(is_one) * 7
}

/// Whether there is a sign in a statement, or a name in small letters.
pub(super) fn has_signs_of_sql(rest: &str) -> bool {
    rest.contains(|c: char| c.is_ascii_lowercase() || "*,=;()_\"'<>".contains(c))
}

/// Points for a shell command without a prompt.
fn command(first: &str, rest: &str) -> i32 {
    const VERBS: [&str; 26] = [
        "install", "i", "add", "run", "clone", "build", "test", "init", "get", "update", "push",
        "pull", "exec", "start", "commit", "checkout", "apply", "new", "config", "remove",
        "publish", "ci", "create", "compose", "-m", "-y",
    ];
    if !beginnings::is_command(first)
        || rest.is_empty()
        || rest.ends_with(['.', ':', '?', '!', ','])
    {
        return 0;
    }
    let n = rest.split_whitespace().count();
    if first == "go" && 1 < n && !rest.contains(['.', '/', '-', '@']) {
        return 0;
    }
    let verb = rest.split_whitespace().next().unwrap_or_default();
    match (VERBS.contains(&verb), n) {
        (true, ..=10) => 5,
        (false, ..=4) => 3,
        _ => 1,
    }
}

/// Points for the shape of a whole line.
pub(super) fn shapes(line: &str) -> i32 {
    let tag = line.starts_with('<') && line.ends_with('>') && !line.contains('@') && 3 < line.len();
    let section =
        line.starts_with('[') && line.ends_with(']') && !line.contains(' ') && 2 < line.len();
    i32::from(tag) * 4
        + i32::from(section)
        + i32::from(is_entry(line)) * 5
        + i32::from(is_assignment(line)) * 3
}

/// `"key": value`
fn is_entry(line: &str) -> bool {
    let Some(quote) = line.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return false };
    let Some((_, behind)) = line.get(1..).and_then(|rest| rest.split_once(quote)) else {
        return false;
    };
    behind.trim_start().starts_with([':', '='])
}

/// `name = value`, `name += value`
fn is_assignment(line: &str) -> bool {
    let Some((before, value)) = line.split_once('=') else { return false };
    let name = before.trim().trim_end_matches(['+', '-', '*', '/', '|', '^', ':']).trim_end();
    let named = |c: char| c.is_ascii_alphanumeric() || "_.-:[]$*+".contains(c);
    !name.is_empty()
        && !name.starts_with(placeholder::SPAN)
        && name.chars().all(named)
        && !value.trim().is_empty()
        && !is_legend(name, value.trim())
        && !is_product(name, value.trim())
        && !line.split('\n').all(tells)
}

/// `tsp = teaspoon`, `UK = United Kingdom`, as words are told in other ones: they join no words of programs.
fn tells(line: &str) -> bool {
    const OF_CODE: [&str; 28] = [
        "true",
        "false",
        "null",
        "nil",
        "True",
        "False",
        "None",
        "undefined",
        "self",
        "this",
        "void",
        "new",
        "not",
        "await",
        "yield",
        "lambda",
        "function",
        "if",
        "else",
        "or",
        "and",
        "in",
        "is",
        "typeof",
        "select",
        "return",
        "async",
        "delete",
    ];
    let is_letters = |word: &str| word.chars().all(char::is_alphabetic) && !super::is_camel(word);
    let is_word = |word: &str| 1 < word.len() && is_letters(word) && !OF_CODE.contains(&word);
    line.split_once(" = ").is_some_and(|(name, value)| {
        let (name, value) = (name.trim(), value.trim());
        2 < value.len() && is_letters(name) && value.split(' ').all(is_word)
    })
}

/// `F = ma`, `PV = nRT`: what physics has instead of statements.
fn is_product(name: &str, value: &str) -> bool {
    let is_letters = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    (1..=2).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_uppercase())
        && (2..=3).contains(&value.len())
        && is_letters(value)
        && !matches!(value, "nil" | "NaN")
}

/// `M = modified`, as signs in a list are told.
fn is_legend(name: &str, value: &str) -> bool {
    let is_word = |word: &str| 2 < word.len() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    matches!(name.as_bytes(), [b'A'..=b'Z']) && value.split(' ').all(is_word)
}
