//! Signatures, in whatever language: `fn f(a: T) -> R`, `def f(a, b=1)`, `R f(T a)`, `f(a[, b])`.

use super::{first_name, last_name, listed, spelt};

const MAX_SIGNATURE_BYTES: usize = 2000;
const MAX_PARAMETERS: usize = 12;

/// What declares an item, and what it is called in prose.
const KINDS: [(&str, &str); 17] = [
    ("fn", "Function"),
    ("def", "Function"),
    ("func", "Function"),
    ("function", "Function"),
    ("class", "Class"),
    ("exception", "Exception"),
    ("struct", "Structure"),
    ("enum", "Enumeration"),
    ("union", "Union"),
    ("trait", "Trait"),
    ("interface", "Interface"),
    ("type", "Type"),
    ("const", "Constant"),
    ("static", "Value"),
    ("mod", "Module"),
    ("macro", "Macro"),
    ("event", "Event"),
];

/// Describes a signature. None if a text is something else, or has a body.
pub(in crate::web::filter) fn signature(code: &str) -> Option<String> {
    if MAX_SIGNATURE_BYTES < code.len() {
        return None;
    }
    let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let code = code.trim_end_matches([';', ':', ',']).trim_end_matches("{ ... }").trim();
    if code.contains([';', '{', '"']) || code.contains("=>") {
        return None;
    }
    let (head, parameters, tail) = parts(code);
    let kind = KINDS.iter().find(|(word, _)| head.split(' ').any(|part| part == *word));
    let called = parameters
        .iter()
        .flatten()
        .any(|one| one.trim().starts_with(|c: char| c.is_ascii_digit() || c == '\''));
    let assigned = code.split('(').next().is_some_and(|before| before.contains(" = "));
    if called || kind.is_none() && (parameters.is_none() || assigned) {
        return None;
    }
    let path = head.rsplit(' ').next().unwrap_or_default();
    let name = last_name(path)?;
    let owner = path
        .strip_suffix(name)
        .and_then(|above| last_name(above.trim_end_matches([':', '.', '#', '!'])));
    let kind = kind.map_or("Function", |(_, kind)| *kind);
    let mut words = match owner {
        Some(owner) => format!("{kind} {name} of {owner}"),
        None => format!("{kind} {name}"),
    };
    let takes = parameters.map(|list| {
        let mut n_open = 0_usize;
        let described = list.iter().take(MAX_PARAMETERS).filter_map(|one| {
            let described = parameter(one, 0 < n_open);
            n_open = (n_open + one.matches('[').count()).saturating_sub(one.matches(']').count());
            described
        });
        described.collect::<Vec<_>>()
    });
    match takes.as_deref() {
        Some([]) => words.push_str(", which takes nothing"),
        Some(takes) => {
            words.push_str(", which takes ");
            words.push_str(&listed(takes));
        }
        None => {}
    }
    let joins = if takes.is_some() { " and" } else { ", which" };
    if let Some(gives) = gives(tail) {
        words.push_str(joins);
        words.push_str(" gives ");
        words.push_str(&gives);
    }
    if tail.contains("Result") || tail.contains("throws") {
        words.push_str(", or fails");
    }
    words.push('.');
    Some(words)
}

/// What stands before the parameters, the parameters, and what stands behind them.
fn parts(code: &str) -> (&str, Option<Vec<&str>>, &str) {
    let mut depth = 0_usize;
    let mut generic = 0_usize;
    let mut open = None;
    let mut starts = Vec::new();
    let mut before = ' ';
    for (at, c) in code.char_indices() {
        match c {
            '<' if open.is_none() => generic += 1,
            '>' if open.is_none() && before != '-' => generic = generic.saturating_sub(1),
            '(' if open.is_none() && generic == 0 => {
                open = Some(at);
                starts.push(at + 1);
            }
            '(' | '<' | '{' if open.is_some() => depth += 1,
            '>' if before == '-' => {}
            ')' if open.is_some() && depth == 0 => {
                let list = starts.windows(2).map(|pair| (pair[0], pair[1] - 1));
                let last = starts.last().map(|start| (*start, at));
                let list =
                    list.chain(last).filter_map(|(start, end)| code.get(start..end)).collect();
                let head = code.get(..open.unwrap_or_default()).unwrap_or_default();
                return (
                    without_generics(head),
                    Some(list),
                    code.get(at + 1..).unwrap_or_default(),
                );
            }
            ')' | '>' | '}' if open.is_some() => depth = depth.saturating_sub(1),
            ',' if open.is_some() && depth == 0 => starts.push(at + 1),
            _ => {}
        }
        before = c;
    }
    (without_generics(code), None, "")
}

fn without_generics(head: &str) -> &str {
    let end = head
        .find(['<', '(', '=', ':'])
        .filter(|at| head.get(*at..).is_some_and(|rest| !rest.starts_with("::")));
    head.get(..end.unwrap_or(head.len())).unwrap_or_default().trim()
}

/// A parameter in words: its name, and whether it may be left out. `optional`: a bracket is open.
fn parameter(parameter: &str, optional: bool) -> Option<String> {
    // `a[, b]`: the bracket that opens behind a name belongs to the next one.
    let bare = parameter.trim();
    let bare = bare
        .split_once('[')
        .map_or(bare, |(name, _)| if name.trim().is_empty() { bare } else { name });
    let optional = optional || bare.contains(['=', '[', '?']);
    let name = bare.split('=').next()?.trim();
    let many = name.contains("...")
        || name.trim_start_matches('[').starts_with('*') && !name.contains(' ');
    // `name: Type` in one half of the languages, `Type name` in the other.
    let name = match name.split_once(':') {
        Some((name, _)) if !name.ends_with(':') => last_name(name)?,
        _ => last_name(name).or_else(|| first_name(name))?,
    };
    if matches!(name, "self" | "cls" | "this" | "void") {
        return None;
    }
    let words = spelt(name);
    Some(match (many, optional) {
        (true, _) => format!("any number of {words}"),
        (false, true) => format!("{words} (optional)"),
        (false, false) => words,
    })
}

/// What comes out, in words.
fn gives(tail: &str) -> Option<String> {
    let tail = tail.trim();
    let kind = tail
        .strip_prefix("->")
        .or_else(|| tail.strip_prefix(':'))
        .or_else(|| tail.strip_prefix('→'))?;
    let kind = kind.split(" where ").next()?;
    let words: Vec<String> = kind
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':' && c != '.')
        .filter_map(|path| last_name(path.rsplit([':', '.']).next()?))
        .filter(|name| !matches!(*name, "mut" | "dyn" | "impl" | "const" | "static" | "a" | "_"))
        .take(4)
        .map(word)
        .collect();
    if words.is_empty() { Some("nothing".to_owned()) } else { Some(words.join(" of ")) }
}

fn word(name: &str) -> String {
    let known = match name {
        "str" | "String" | "string" | "OsStr" | "OsString" => "text",
        "bool" | "boolean" | "Boolean" => "yes or no",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128"
        | "isize" | "int" | "integer" | "number" | "long" | "f32" | "f64" | "float" | "double" => {
            "number"
        }
        "Vec" | "list" | "List" | "Array" => "list",
        "HashMap" | "BTreeMap" | "dict" | "Map" | "object" => "map",
        "None" | "void" | "undefined" | "null" => "nothing",
        "Self" => "itself",
        "Option" | "Optional" => "maybe",
        _ => return spelt(name),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_told_in_words() {
        for (code, words) in [
            (
                "pub fn read_to_string<P: AsRef<Path>>(path: P) -> io::Result<String>",
                "Function read_to_string, which takes path and gives result of text, or fails.",
            ),
            (
                "os.open(path, flags, mode=0o777, *, dir_fd=None)",
                "Function open of os, which takes path, flags, mode (optional) and dir fd (optional).",
            ),
            (
                "fs.access(path[, mode], callback)",
                "Function access of fs, which takes path, mode (optional) and callback.",
            ),
            (
                "class collections.Counter([iterable])",
                "Class Counter of collections, which takes iterable (optional).",
            ),
            (
                "def f(self, *args, **kwargs) -> None:",
                "Function f, which takes any number of args and any number of kwargs and gives nothing.",
            ),
            (
                "int getItemCount(String baseName, int max)",
                "Function getItemCount, which takes base name and max.",
            ),
            ("pub struct HashMap<K, V, S = RandomState>", "Structure HashMap."),
            ("fn len(&self) -> usize", "Function len, which takes nothing and gives number."),
        ] {
            assert_eq!(signature(code).as_deref(), Some(words), "{code}");
        }
        for other in ["let x = f(1);", "fn f() { g() }", "x", "print(\"a\")", ""] {
            assert_eq!(signature(other), None, "{other}");
        }
    }
}
