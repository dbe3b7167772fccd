//! A document as HTML: nothing in it but what is written here.

use weir_events::web::content::ContentFilter;

use super::plain::words;
use crate::web::filter::{
    document::{Block, Container, Document, Inline, Leaf, LeafKind, Piece},
    first_code, judge,
};

const HEAD: &str = "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n";

/// Writes as many whole blocks as fit, and as many words of the first one that does not. Whatever is
/// cut, it reads as it is written: what would be left empty is not opened, and no half of a sentence is
/// left that looks like code.
pub(in crate::web::filter) fn write(
    document: &Document,
    max_size: usize,
    wanted: &ContentFilter,
) -> Html {
    let mut out = String::with_capacity(document.text.len() + document.blocks.len() * 12);
    if max_size < HEAD.len() {
        return Html { content: out, truncated: true, settled: true };
    }
    out.push_str(HEAD);
    let filled = out.len();
    let mut writer = Writer {
        document,
        wanted,
        out,
        max_size,
        to_close: 0,
        open: Vec::new(),
        filled,
        settled: true,
    };
    let truncated = !writer.all();
    Html { content: writer.out, truncated, settled: writer.settled }
}

/// What was written.
pub(in crate::web::filter) struct Html {
    pub(in crate::web::filter) content: String,
    /// Some of it did not fit.
    pub(in crate::web::filter) truncated: bool,
    /// It is read again as it is written.
    pub(in crate::web::filter) settled: bool,
}

struct Writer<'a> {
    document: &'a Document,
    wanted: &'a ContentFilter,
    out: String,
    max_size: usize,
    /// How many bytes the end tags take of what is open.
    to_close: usize,
    /// The containers that are open, and where each begins.
    open: Vec<(Container, usize)>,
    /// Behind the last leaf.
    filled: usize,
    settled: bool,
}

impl Writer<'_> {
    /// Whether all of it fits.
    fn all(&mut self) -> bool {
        let title = &self.document.title;
        if !title.is_empty() {
            let start = self.out.len();
            self.out.push_str("<title>");
            escape(title, &mut self.out);
            self.out.push_str("</title>\n");
            if self.max_size < self.out.len() {
                self.out.truncate(start);
                return false;
            }
        }
        for block in &self.document.blocks {
            let start = self.out.len();
            match block {
                Block::Open(container) => {
                    let tags = tags(*container);
                    self.out.push_str(tags.0);
                    self.to_close += tags.1.len();
                    self.open.push((*container, start));
                    if self.is_full() {
                        self.out.truncate(start);
                        self.open.pop();
                        self.close_all();
                        return false;
                    }
                }
                Block::Close(container) => {
                    let tags = tags(*container);
                    self.out.push_str(tags.1);
                    self.to_close -= tags.1.len();
                    self.open.pop();
                }
                Block::Leaf(leaf) => {
                    self.leaf(leaf);
                    if self.is_full() {
                        self.out.truncate(start);
                        self.part(leaf);
                        self.close_all();
                        return false;
                    }
                    self.filled = self.out.len();
                }
            }
        }
        true
    }

    const fn is_full(&self) -> bool {
        self.max_size < self.out.len() + self.to_close
    }

    /// Closes what is open, and takes back what is empty. Cells count for their row.
    fn close_all(&mut self) {
        while let Some((container, start)) = self.open.pop() {
            if self.filled <= start && !matches!(container, Container::Cell { .. }) {
                self.out.truncate(start);
            } else {
                self.out.push_str(tags(container).1);
            }
        }
    }

    fn leaf(&mut self, leaf: &Leaf) {
        let (open, close) = leaf_tags(leaf.kind);
        self.out.push_str(open);
        for piece in self.document.pieces.get(leaf.pieces.clone()).unwrap_or_default() {
            match piece {
                Piece::Text(span) => escape(self.document.str(span), &mut self.out),
                Piece::Open(Inline::Link(link)) => {
                    self.out.push_str("<a href=\"");
                    let address = self.document.links.get(*link).map_or("", String::as_str);
                    escape(address, &mut self.out);
                    self.out.push_str("\">");
                }
                Piece::Open(mark) => {
                    self.out.push('<');
                    self.out.push_str(name(*mark));
                    self.out.push('>');
                }
                Piece::Close(mark) => {
                    self.out.push_str("</");
                    self.out.push_str(name(*mark));
                    self.out.push('>');
                }
            }
        }
        self.out.push_str(close);
    }

    /// As many words of a leaf as fit, without marks.
    fn part(&mut self, leaf: &Leaf) {
        const MAX_ROUNDS: usize = 4;
        let (open, close) = leaf_tags(leaf.kind);
        let text = self.document.plain(leaf);
        let Some(room) =
            self.max_size.checked_sub(self.out.len() + self.to_close + open.len() + close.len())
        else {
            return;
        };
        // Half a sentence may be no prose: it is cut until it is.
        let mut end = fitting(&text, room);
        let mut n_rounds = 0;
        let part = loop {
            end = words(&text, end);
            let part = text.get(..end).unwrap_or_default().trim_end();
            if part.is_empty() {
                return;
            }
            match first_code(part, self.wanted).filter(|_| leaf.kind != LeafKind::Code) {
                None => break part,
                Some(_) if n_rounds == MAX_ROUNDS => return,
                Some(start) => end = start,
            }
            n_rounds += 1;
        };
        // Beside others, half a line may look like another one of theirs.
        let in_cell = matches!(self.open.last(), Some((Container::Cell { .. }, _)));
        self.settled = !in_cell && (judge::is_harmless(part) || judge::is_apart(part));
        self.out.push_str(open);
        escape(part, &mut self.out);
        self.out.push_str(close);
        self.filled = self.out.len();
    }
}

const fn tags(container: Container) -> (&'static str, &'static str) {
    match container {
        Container::List { ordered: false } => ("<ul>\n", "</ul>\n"),
        Container::List { ordered: true } => ("<ol>\n", "</ol>\n"),
        Container::Item => ("<li>", "</li>\n"),
        Container::Quote => ("<blockquote>\n", "</blockquote>\n"),
        Container::Definitions => ("<dl>\n", "</dl>\n"),
        Container::Term => ("<dt>", "</dt>\n"),
        Container::Definition => ("<dd>", "</dd>\n"),
        Container::Table => ("<table>\n", "</table>\n"),
        Container::Caption => ("<caption>", "</caption>\n"),
        Container::Row => ("<tr>", "</tr>\n"),
        Container::Cell { heading: false } => ("<td>", "</td>"),
        Container::Cell { heading: true } => ("<th>", "</th>"),
    }
}

const fn leaf_tags(kind: LeafKind) -> (&'static str, &'static str) {
    match kind {
        LeafKind::Heading(1) => ("<h1>", "</h1>\n"),
        LeafKind::Heading(2) => ("<h2>", "</h2>\n"),
        LeafKind::Heading(3) => ("<h3>", "</h3>\n"),
        LeafKind::Heading(4) => ("<h4>", "</h4>\n"),
        LeafKind::Heading(5) => ("<h5>", "</h5>\n"),
        LeafKind::Heading(_) => ("<h6>", "</h6>\n"),
        LeafKind::Paragraph => ("<p>", "</p>\n"),
        LeafKind::Text => ("", ""),
        LeafKind::Code => ("<pre>\n", "</pre>\n"),
    }
}

const fn name(mark: Inline) -> &'static str {
    match mark {
        Inline::Link(_) => "a",
        Inline::Strong => "strong",
        Inline::Emphasis => "em",
        Inline::Deleted => "del",
        Inline::Sub => "sub",
        Inline::Sup => "sup",
        Inline::Code => "code",
    }
}

/// How much of a text may be written in so much room.
fn fitting(text: &str, room: usize) -> usize {
    let mut left = room;
    let fits = |byte: &u8| match left.checked_sub(written(*byte).map_or(1, str::len)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    text.floor_char_boundary(text.as_bytes().iter().copied().take_while(fits).count())
}

/// How a byte is written that is not written as it is.
const fn written(byte: u8) -> Option<&'static str> {
    Some(match byte {
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'>' => "&gt;",
        b'"' => "&quot;",
        b'\r' => "<br>",
        _ => return None,
    })
}

/// Writes text as text.
fn escape(text: &str, out: &mut String) {
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        let Some(written) = written(byte) else { continue };
        out.push_str(text.get(start..at).unwrap_or_default());
        out.push_str(written);
        start = at + 1;
    }
    out.push_str(text.get(start..).unwrap_or_default());
}
