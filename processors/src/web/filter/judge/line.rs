//! The density score: how much a line looks like code rather than like a sentence.

mod beginnings;
mod figures;
mod harmless;
mod languages;
mod lines;
mod marks;
mod names;
mod normal;
mod settings;
mod shell;
mod signs;
mod statements;
mod together;
mod tokens;
mod traits;

use self::tokens::Tokens;
pub(in crate::web::filter) use self::{
    harmless::is_harmless,
    lines::code_lines,
    together::{Look, together},
};
pub(super) use self::{
    lines::wrapped_lines,
    names::is_numbered,
    shell::spans as commands,
    statements::{around as statements, has_call, is_of_formulas},
};
use super::super::placeholder;

/// What a line looks like. Depends on the line alone.
pub(in crate::web::filter) fn look(line: &str) -> Look {
    let line = normal::normal(line);
    let line = line.trim();
    if line.is_empty() || placeholder::is_one(line) {
        return Look::APART;
    }
    if marks::certain(line) {
        return Look::CODE;
    }
    let tokens = Tokens::of(line);
    // Nearly all lines of nearly all pages.
    let words = tokens.n_symbols == 0 && 2 <= tokens.n_small;
    let others = || languages::points(line).max(shell::points(line)).max(statements::points(line));
    let keywords = marks::keywords(line).max(if words { 0 } else { others() });
    // It may be a statement where others stand beside it.
    let is_item = 0 < keywords && marks::is_item(line);
    let keywords = if is_item { 0 } else { keywords };
    let (ends, shapes) = (marks::ends(line), marks::shapes(line));
    let calls = if tokens.are_endings() { 0 } else { 2 * tokens.n_calls.min(2) };
    let operators = if tokens.is_path(line) { 0 } else { (tokens.n_operators * 2).min(4) };
    let names = tokens.n_names.min(3);
    // `if x is None:` is made of small words, too.
    let is_joined = keywords == marks::JOINED && line.ends_with(':');
    let forgiven = if 5 <= keywords || is_joined { tokens.n_small.min(2) * 2 } else { 0 };
    let prose = tokens.prose(line) - forgiven;
    let for_code = ends + keywords + shapes + calls + operators + names;
    let score = for_code + tokens.n_flags.min(2) + tokens.density(line) - prose;
    if words && for_code == 0 {
        return Look { score, ..Look::PROSE };
    }
    // Items end in semicolons, types in braces, and what somebody owes in percents.
    let bare = line.ends_with(';') && calls + operators + keywords + shapes == 0;
    let ends = if bare || marks::is_typed(line) { 0 } else { ends };
    let entry = languages::entry(line);
    let item = if is_item { Look::ITEM } else { 0 };
    let firm = ends + keywords + shapes;
    // Of a program that nobody knows.
    let is_prompted = marks::prompted(line).is_some();
    let prompted = if is_prompted { Look::ITEM } else { 0 };
    Look {
        score,
        doubt: firm + calls + operators + names + entry + item + prompted - prose,
        hard: 0 < firm + calls || is_prompted,
        firm: 0 < firm,
        nest: 0 < entry && line.ends_with(':'),
        signs: 0 < tokens.n_symbols || 0 < entry,
        comment: marks::beside(line),
        sentence: marks::is_sentence(line),
        single: tokens.n == 1,
        setting: settings::of(line),
        apart: false,
    }
}

/// Points for code, less points for prose. Depends on the line alone.
#[cfg(test)]
pub(super) fn score(line: &str) -> i32 {
    look(line).score
}

#[cfg(test)]
mod tests;
