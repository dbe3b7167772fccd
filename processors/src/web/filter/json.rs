//! JSON: its shape stays, and the code in its strings goes.

use weir_events::web::content::ContentFilter;

use super::{
    Written,
    builder::{Builder, Strip},
    document::{Document, LeafKind},
    html,
    judge::{self, Caution},
    placeholder, plain,
    tally::Tally,
};

/// A name of a member is not longer; what is longer is judged like a text.
const MAX_NAME_BYTES: usize = 64;

/// Leaves the code out of each string. The text is known to be JSON.
pub(super) fn filter(text: &str, wanted: &ContentFilter, tally: &mut Tally) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let (before, literal) = rest.split_at(start);
        out.push_str(before);
        let (literal, behind) = literal.split_at(literal_len(literal));
        let string = serde_json::from_str::<String>(literal).unwrap_or_default();
        let is_name = behind.trim_start().starts_with(':') && string.len() <= MAX_NAME_BYTES;
        let kept =
            if is_name { name(&string, wanted, tally) } else { value(&string, wanted, tally) };
        if kept == string {
            out.push_str(literal);
        } else {
            out.push_str(&serde_json::to_string(&kept).unwrap_or_else(|_| "\"\"".to_owned()));
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// How long a string literal is that a text begins with, quotes included.
fn literal_len(text: &str) -> usize {
    let mut escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn name(name: &str, wanted: &ContentFilter, tally: &mut Tally) -> String {
    if wanted.strip_inline_code && !judge::judge(name, Caution::Usual).is_empty() {
        tally.span(name);
        return placeholder::SPAN.to_owned();
    }
    tally.kept(name);
    name.to_owned()
}

fn value(string: &str, wanted: &ContentFilter, tally: &mut Tally) -> String {
    if has_markup(string) {
        let document = html::read(string, html::Syntax::Html, wanted, tally);
        return lines(&document);
    }
    plain::filter(string, wanted, tally)
}

/// Whether a string is a piece of HTML: it holds an end tag, or one of the tags of code.
fn has_markup(string: &str) -> bool {
    string.match_indices('<').any(|(at, _)| {
        let tag = string.get(at + 1..).unwrap_or_default();
        let end = tag
            .strip_prefix('/')
            .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
        let begins =
            |name: &str| tag.get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name));
        end || ["p>", "br", "pre", "code", "div", "script", "style", "!--"]
            .iter()
            .any(|name| begins(name))
    })
}

/// What a piece of HTML says, a leaf a line.
fn lines(document: &Document) -> String {
    let leaves = document.blocks.iter().filter_map(|block| match block {
        super::Block::Leaf(leaf) => Some(document.plain(leaf).replace(['\n', '\r'], " ")),
        _ => None,
    });
    leaves.collect::<Vec<_>>().join("\n")
}

/// JSON that was filtered, if there is room for it: half of it would be none.
pub(super) fn written(filtered: String, max_size: usize) -> Written {
    if max_size < filtered.len() {
        let content = if 4 <= max_size { "null".to_owned() } else { String::new() };
        return Written { content, truncated: true, ..Written::default() };
    }
    Written { content: filtered, ..Written::default() }
}

/// The strings of JSON that was filtered, each a paragraph.
pub(super) fn document(filtered: &str) -> Document {
    let mut unread = Tally::default();
    let strip = Strip { blocks: false, spans: false };
    let mut builder = Builder::new(strip, filtered.len(), &mut unread);
    builder.caution = Caution::Markdown;
    builder.begin(LeafKind::Paragraph);
    let mut rest = filtered;
    while let Some(start) = rest.find('"') {
        let literal = rest.get(start..).unwrap_or_default();
        let (literal, behind) = literal.split_at(literal_len(literal));
        let string = serde_json::from_str::<String>(literal).unwrap_or_default();
        if behind.trim_start().starts_with(':') {
            builder.flush();
            builder.text(&string);
            builder.text(": ");
        } else {
            builder.text(&string);
            builder.flush();
        }
        rest = behind;
    }
    builder.finish()
}
