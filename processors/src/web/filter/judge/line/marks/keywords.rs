//! Words that statements begin with, and what must follow them: of languages, of SQL, of a shell.

use super::{
    super::beginnings,
    begins_sentence,
    heads::{compares, is_statement, joins},
};

/// What a line scores that may be the head of a block, if what stands beside it is code.
pub(in crate::web::filter::judge::line) const JOINED: i32 = 3;

/// Points for words that begin statements, with what must follow them.
pub(in crate::web::filter::judge::line) fn keywords(line: &str) -> i32 {
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
pub(in crate::web::filter::judge::line) fn has_signs_of_sql(rest: &str) -> bool {
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
