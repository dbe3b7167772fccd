//! Items of lists that begin like statements, and are none.

use super::super::{beginnings, names};

/// Whether a line ends like an item of a list and has no sign of a statement but its first word:
/// `import duties;`, `use of force;`, `public schools, private hospitals,`.
pub(in crate::web::filter::judge::line) fn is_item(line: &str) -> bool {
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
            && !names::is_camel(word)
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
