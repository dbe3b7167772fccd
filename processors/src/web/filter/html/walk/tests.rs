//! What a page costs: steps in proportion to its length, whatever is set in what.

use super::*;
use crate::web::filter::html::{Syntax, guard};

/// Each byte of a page costs so many steps at most.
const MAX_STEPS: usize = 8;

type Page = fn(usize) -> String;

const PROSE: &str =
    "It is the words of a page that are read again and again, and that is what it is about. ";

fn within(open: &str, depth: usize, what: &str, close: &str) -> String {
    format!("{}{what}{}", open.repeat(depth), close.repeat(depth))
}

/// Pages that make somebody read the same again, each about `n` times as long as a piece of it.
const HOSTILE: &[(&str, Page)] = &[
    ("letters of code in each other", |n| {
        within("<div style=font:monospace>", 100, &PROSE.repeat(n), "</div>")
    }),
    ("letters of code in each other, over and over", |n| {
        within("<div style=font:monospace>", 100, &PROSE.repeat(9), "</div>").repeat(n / 9)
    }),
    ("wrappers in each other", |n| {
        within("<div class=hljs>", 100, &format!("<p>{PROSE}").repeat(n), "</div>")
    }),
    ("wrappers with nothing in them", |n| {
        within("<div class=hljs>", 100, &"<b></b><wbr>".repeat(n * 8), "</div>")
    }),
    ("signatures with nothing in them", |n| {
        within("<div class=sig>", 100, &"<b></b><wbr>".repeat(n * 8), "</div>")
    }),
    ("wrappers one behind the other", |n| "<font face=mono>it is a word</font> ".repeat(n * 4)),
    ("code in each other", |n| within("<code>", 100, &PROSE.repeat(n), "</code>")),
    ("hidden in each other", |n| within("<div hidden>", 100, &PROSE.repeat(n), "</div>")),
    ("quotes in each other", |n| within("<blockquote>", n * 8, PROSE, "")),
    ("lists in each other", |n| within("<ul><li>", n * 8, PROSE, "")),
    ("tables in each other", |n| within("<table><tr><td>", n * 8, PROSE, "")),
    ("a table of many cells", |n| format!("<table>{}", "<tr><td>x<td>y".repeat(n * 8))),
    ("marks that are never closed", |n| "<b><i><u><font size=1>x".repeat(n * 4)),
    ("paragraphs in marks", |n| within("<b><i>", 50, &"<div>x</div>".repeat(n * 8), "")),
    ("end tags of nothing", |n| format!("{}{}", "<div>".repeat(100), "</span></p>".repeat(n * 8))),
    ("tags that never end", |n| "<a b='".repeat(n * 8)),
    ("entities", |n| "&amp;lt;pre&amp;gt;&#96;&copy".repeat(n * 4)),
    ("gutters in each other", |n| {
        within("<div class=gutter>", 100, &format!("{}x", "1 ".repeat(n * 16)), "</div>")
    }),
    ("members in each other", |n| {
        within("<div class=memItemRight>", 100, &PROSE.repeat(n), "</div>")
    }),
    ("blocks below what says much of languages", |n| {
        let words = "a ".repeat(250);
        let open = format!(
            "<div class='{words}' lang='{words}' data-lang='{words}' data-language='{words}'>"
        );
        within(&open, 3, &"<pre>x</pre>".repeat(n * 16), "</div>")
    }),
    ("titles", |n| "<title>x</title>".repeat(n * 8)),
];

fn steps(page: &str) -> usize {
    let tally = &mut Tally::default();
    let tree = guard::parse(page, Syntax::Html, &mut guard::Room::of(page.len()), tally);
    let read_as = (Caution::Usual, Syntax::Html);
    walked(&tree, page.len(), read_as, &ContentFilter::default(), tally).1
}

#[test]
fn no_page_makes_the_walk_read_it_again_and_again() {
    for (name, page) in HOSTILE {
        for n in [100, 200] {
            let page = page(n);
            let n_steps = steps(&page);
            let bytes = page.len();
            assert!(0 < n_steps && n_steps <= MAX_STEPS * bytes, "{name}: {n_steps} of {bytes}");
        }
    }
}
