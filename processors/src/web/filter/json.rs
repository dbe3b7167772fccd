//! JSON: its shape stays, and the code in its strings goes.

use weir_events::web::content::ContentFilter;

mod packed;

use super::{
    Written,
    builder::{Builder, Strip},
    document::{Document, LeafKind},
    html, ignorable,
    judge::{self, Caution, Look},
    kind, markdown, placeholder, plain,
    tally::Tally,
};

/// A name of a member is not longer; what is longer is judged like a text.
const MAX_NAME_BYTES: usize = 64;

/// Leaves the code out of each string. The text is known to be JSON.
pub(super) fn filter(text: &str, wanted: &ContentFilter, tally: &mut Tally) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = Lines::default();
    let mut room = html::Room::of(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let (before, literal) = rest.split_at(start);
        let (literal, behind) = literal.split_at(literal_len(literal));
        let written = serde_json::from_str::<String>(literal).unwrap_or_default();
        let string = ignorable::seen(&written).into_owned();
        let rewritten = (string != written).then(|| quoted(&string));
        let literal = rewritten.as_deref().unwrap_or(literal);
        rest = behind;
        lines.between.push_str(before);
        if behind.trim_start().starts_with(':') && string.len() <= MAX_NAME_BYTES {
            write(&mut lines.between, literal, &string, &name(&string, wanted, tally));
            continue;
        }
        let is_line = wanted.strip_code_blocks && is_line(&string);
        if !is_line || !lines.go_on() {
            lines.settle(&mut out, wanted, &mut room, tally);
        }
        if is_line {
            lines.add(literal, string);
        } else {
            out.push_str(&std::mem::take(&mut lines.between));
            write(&mut out, literal, &string, &value(&string, wanted, &mut room, tally));
        }
    }
    lines.settle(&mut out, wanted, &mut room, tally);
    out.push_str(&lines.between);
    out.push_str(rest);
    out
}

/// A string, as it was written if nothing is missing in it.
fn write(out: &mut String, literal: &str, string: &str, kept: &str) {
    if kept == string {
        out.push_str(literal);
    } else {
        out.push_str(&quoted(kept));
    }
}

/// A string as a literal.
fn quoted(string: &str) -> String {
    serde_json::to_string(string).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Whether a string may be a line of code among others.
fn is_line(string: &str) -> bool {
    let line = without_end(string);
    !judge::is_apart(line) && !line.contains('\n') && !has_markup(line)
}

fn without_end(string: &str) -> &str {
    string.trim_end_matches('\n')
}

/// Strings that stand side by side: in an array, or in the same place of one object after the other.
#[derive(Default)]
struct Lines {
    strings: Vec<Line>,
    /// What was read since the last string.
    between: String,
    /// What stands between two of them.
    apart: Option<String>,
}

struct Line {
    before: String,
    literal: String,
    string: String,
    look: Look,
}

impl Lines {
    /// Whether what comes next stands where the string before it would stand: behind `,`, or behind
    /// `},{"line":` each time.
    fn go_on(&mut self) -> bool {
        if self.strings.is_empty() {
            return true;
        }
        let between = self.between.chars().filter(|c| !c.is_whitespace() && !c.is_ascii_digit());
        let between: String = between.collect();
        if let Some(apart) = &self.apart {
            return *apart == between;
        }
        self.apart = Some(between);
        true
    }

    fn add(&mut self, literal: &str, string: String) {
        let before = std::mem::take(&mut self.between);
        let look = judge::look(without_end(&string));
        self.strings.push(Line { before, literal: literal.to_owned(), string, look });
    }

    /// Writes the lines: one placeholder for each run of code, and empty strings for the rest of it, so
    /// that the shape stays.
    fn settle(
        &mut self,
        out: &mut String,
        wanted: &ContentFilter,
        room: &mut html::Room,
        tally: &mut Tally,
    ) {
        let lines = std::mem::take(&mut self.strings);
        self.apart = None;
        let looks: Vec<Look> = lines.iter().map(|line| line.look).collect();
        let threshold = Caution::Plain.threshold();
        let mut code: Vec<bool> = looks.iter().map(|look| threshold <= look.score).collect();
        judge::together(&looks, &mut code);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let n = code.iter().skip(at).take_while(|code| **code).count();
            if n < 2 {
                out.push_str(&line.before);
                let kept = value(&line.string, wanted, room, tally);
                write(out, &line.literal, &line.string, &kept);
                at += 1;
                continue;
            }
            let run = lines.get(at..at + n).unwrap_or_default();
            let strings: Vec<&str> = run.iter().map(|line| without_end(&line.string)).collect();
            let text = strings.join("\n");
            tally.block(&text, None);
            let words = placeholder::block(placeholder::n_lines(&text), None);
            for (n, line) in run.iter().enumerate() {
                out.push_str(&line.before);
                let words = if n == 0 { words.as_str() } else { "" };
                out.push_str(&quoted(words));
            }
            at += n;
        }
    }
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
    if wanted.strip_inline_code && !judge::judge(name, Caution::Plain).is_empty() {
        tally.span(name);
        return placeholder::SPAN.to_owned();
    }
    tally.kept(name);
    name.to_owned()
}

fn value(string: &str, wanted: &ContentFilter, room: &mut html::Room, tally: &mut Tally) -> String {
    if has_markup(string) {
        let syntax = html::Syntax::Html;
        return lines(&html::read_as(string, syntax, Caution::Usual, wanted, room, tally));
    }
    if string.contains('\n') && kind::looks_like_markdown(string) {
        return lines(&markdown::read_within(string, wanted, room, tally));
    }
    if wanted.strip_code_blocks
        && let Some(code) = packed::code(string)
    {
        tally.block(string, None);
        return placeholder::block(placeholder::n_lines(&code), None);
    }
    plain::filter(string, wanted, tally)
}

/// Whether a string is a piece of HTML: it holds an end tag, or one of the tags of code.
pub(super) fn has_markup(string: &str) -> bool {
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

/// JSON that was filtered, as much of it as there is room for: it stays JSON.
pub(super) fn written(filtered: String, max_size: usize) -> Written {
    if filtered.len() <= max_size {
        return Written { content: filtered, ..Written::default() };
    }
    // One value that does not fit is none.
    let nothing = || if max_size < 4 { String::new() } else { "null".to_owned() };
    let content = cut(&filtered, max_size).unwrap_or_else(nothing);
    Written { content, truncated: true, ..Written::default() }
}

/// All elements and members that fit as they are, the brackets closed that are open behind them. None if there
/// is no room for brackets.
fn cut(json: &str, max_size: usize) -> Option<String> {
    let mut n_open = 0_usize;
    let mut end = None;
    for (at, sign) in signs(json) {
        // What is open has to be closed, too.
        if max_size < at + n_open {
            break;
        }
        match sign {
            b'{' | b'[' => {
                n_open += 1;
                if n_open == 1 && at + 2 <= max_size {
                    end = Some(at + 1);
                }
            }
            b'}' | b']' => {
                end = Some(at);
                n_open = n_open.saturating_sub(1);
            }
            _ => end = Some(at),
        }
    }
    let mut kept = json.get(..end?)?.trim_end().to_owned();
    let mut open = Vec::new();
    for (_, sign) in signs(&kept) {
        match sign {
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => {
                open.pop();
            }
            _ => {}
        }
    }
    kept.extend(open.into_iter().rev());
    Some(kept)
}

/// Brackets and commas that are in no string, and where they stand.
fn signs(json: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            let at = next;
            match *json.as_bytes().get(at)? {
                b'"' => next += literal_len(json.get(at..).unwrap_or_default()),
                sign @ (b'{' | b'[' | b'}' | b']' | b',') => {
                    next += 1;
                    return Some((at, sign));
                }
                _ => next += 1,
            }
        }
    })
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
