//! The shape of a whole line: tags, sections, entries, assignments, and what is only written like these.

use super::super::names;
use crate::web::filter::placeholder;

/// Points for the shape of a whole line.
pub(in crate::web::filter::judge::line) fn shapes(line: &str) -> i32 {
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
    let is_letters = |word: &str| word.chars().all(char::is_alphabetic) && !names::is_camel(word);
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
