//! A document as Markdown that reads back as the same document.

mod escape;

use std::ops::Range;

use self::escape::{Place, escape, fitting};
use super::plain::words;
use crate::web::filter::{
    document::{Block, Container, Document, Inline, Leaf, LeafKind, Piece},
    judge::{self, Caution},
};

/// Writes as many whole blocks as fit, and as many words of the first one that does not.
pub(in crate::web::filter) fn write(document: &Document, max_size: usize) -> Markdown {
    let mut writer = Writer {
        document,
        max_size,
        out: String::with_capacity(document.text.len() + document.blocks.len() * 4),
        prefix: String::new(),
        marker: String::new(),
        open: Vec::new(),
        ended_list: None,
        table: None,
        tight: false,
    };
    for block in &document.blocks {
        let start = writer.out.len();
        let (marker, tight) = (writer.marker.clone(), writer.tight);
        writer.block(block);
        if writer.is_full() {
            writer.out.truncate(start);
            let mut settled = true;
            if let Block::Leaf(leaf) = block
                && matches!(leaf.kind, LeafKind::Paragraph | LeafKind::Text)
                && writer.table.is_none()
            {
                (writer.marker, writer.tight) = (marker, tight);
                settled = writer.part(leaf, max_size);
            }
            return Markdown { content: writer.out, truncated: true, settled };
        }
    }
    Markdown { content: writer.out, truncated: false, settled: true }
}

/// What was written.
pub(in crate::web::filter) struct Markdown {
    pub(in crate::web::filter) content: String,
    /// Some of it did not fit.
    pub(in crate::web::filter) truncated: bool,
    /// Where it was cut, nothing looks like code that did not before.
    pub(in crate::web::filter) settled: bool,
}

struct Writer<'a> {
    document: &'a Document,
    /// What is longer is not given out: a block that is gets no longer than it has to be to show it,
    /// for what its lines begin with and empty cells may take many times what was read.
    max_size: usize,
    out: String,
    /// What each line of what is open begins with.
    prefix: String,
    /// What stands before the first line of an item instead of blanks.
    marker: String,
    open: Vec<Open>,
    /// A list has just ended, how deep it was, and how far it had counted: the next one goes on.
    ended_list: Option<(usize, bool, usize)>,
    table: Option<Table>,
    /// What comes next is a further item of a list, or a list within an item.
    tight: bool,
}

struct Open {
    container: Container,
    prefix_len: usize,
    /// Items of a list so far.
    n_items: usize,
}

#[derive(Default)]
struct Table {
    n_nested: usize,
    in_caption: bool,
    caption: String,
    /// What stands in the cells, one behind the other.
    text: String,
    rows: Vec<Vec<Range<usize>>>,
    /// What stands in one leaf.
    leaf: String,
    /// It takes no less than this.
    n_bytes: usize,
}

impl Table {
    /// Adds a leaf to the cell under way, or to the caption.
    fn add(&mut self) {
        if self.in_caption {
            if !self.caption.is_empty() {
                self.caption.push(' ');
            }
            self.caption.push_str(&self.leaf);
            return;
        }
        let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) else { return };
        let is_first = cell.start == cell.end;
        if !is_first {
            self.text.push(' ');
        }
        self.text.push_str(&self.leaf);
        // A blank behind what is in it.
        self.n_bytes += self.text.len() - cell.end + usize::from(is_first);
        cell.end = self.text.len();
    }
}

impl Writer<'_> {
    fn is_full(&self) -> bool {
        let n_bytes = self.table.as_ref().map_or(0, |table| table.n_bytes);
        self.max_size < self.out.len() + n_bytes
    }

    fn block(&mut self, block: &Block) {
        if self.table.is_some() {
            self.table_block(block);
            return;
        }
        match block {
            Block::Open(Container::Table) => self.table = Some(Table::default()),
            Block::Open(container) => self.open(*container),
            Block::Close(container) => self.close(*container),
            Block::Leaf(leaf) => self.leaf(leaf),
        }
    }

    fn open(&mut self, container: Container) {
        let prefix_len = self.prefix.len();
        let mut n_items = 0;
        match container {
            Container::List { ordered } => {
                if let Some((depth, was_ordered, n)) = self.ended_list.take()
                    && depth == self.open.len()
                    && was_ordered == ordered
                {
                    n_items = n;
                }
            }
            Container::Item => {
                let marker = match self.open.last_mut() {
                    Some(Open {
                        container: Container::List { ordered: true }, n_items, ..
                    }) => {
                        *n_items += 1;
                        format!("{n_items}. ")
                    }
                    Some(list) => {
                        list.n_items += 1;
                        "- ".to_owned()
                    }
                    None => String::new(),
                };
                if self.marker.is_empty() {
                    let further = self.open.last().is_some_and(|list| 1 < list.n_items);
                    // Terms and definitions are not there when it is read again.
                    let is_written = |open: &&Open| {
                        !matches!(
                            open.container,
                            Container::Definitions | Container::Term | Container::Definition
                        )
                    };
                    let within = self.open.iter().rev().skip(1).find(is_written);
                    self.tight =
                        further || within.is_some_and(|open| open.container == Container::Item);
                }
                self.prefix.extend(std::iter::repeat_n(' ', marker.len()));
                self.marker.push_str(&marker);
            }
            Container::Quote => {
                self.prefix.push_str("> ");
                self.marker.push_str("> ");
            }
            _ => {}
        }
        self.open.push(Open { container, prefix_len, n_items });
    }

    fn close(&mut self, container: Container) {
        let Some(open) = self.open.pop() else { return };
        self.prefix.truncate(open.prefix_len);
        self.marker.clear();
        if let Container::List { ordered } = container {
            self.ended_list = Some((self.open.len(), ordered, open.n_items));
        }
    }

    /// Begins a block: a blank line, unless it is the next item of a list, and what opens it.
    fn start(&mut self) {
        self.ended_list = None;
        let marker = std::mem::take(&mut self.marker);
        let tight = std::mem::take(&mut self.tight) && !marker.is_empty();
        let above = self.prefix.get(..self.prefix.len() - marker.len()).unwrap_or_default();
        if !self.out.is_empty() && !tight {
            self.out.push_str(above.trim_end());
            self.out.push('\n');
        }
        self.out.push_str(above);
        self.out.push_str(&marker);
    }

    fn leaf(&mut self, leaf: &Leaf) {
        self.start();
        match leaf.kind {
            LeafKind::Heading(level) => {
                let hashes = "######".get(..usize::from(level.clamp(1, 6))).unwrap_or("#");
                self.out.push_str(hashes);
                self.out.push(' ');
                let line = self.inline(leaf, Place::Line);
                self.out.push_str(&line);
                self.out.push('\n');
            }
            LeafKind::Paragraph | LeafKind::Text => {
                let text = self.inline(leaf, Place::Flow);
                let mut lines = text.split('\n');
                self.out.push_str(lines.next().unwrap_or_default());
                for line in lines {
                    if self.is_full() {
                        return;
                    }
                    self.out.push('\n');
                    self.out.push_str(&self.prefix);
                    self.out.push_str(line);
                }
                self.out.push('\n');
            }
            LeafKind::Code => self.code(leaf),
        }
    }

    /// As many words of a leaf as fit, without marks. Whether they are what they were in it: half a
    /// sentence may be no prose.
    fn part(&mut self, leaf: &Leaf, max_size: usize) -> bool {
        let start = self.out.len();
        self.start();
        let text = self.document.plain(leaf).replace(['\n', '\r'], " ");
        let written = self.out.len();
        let mut end = text.len();
        if let Some(room) = max_size.checked_sub(written + 1)
            && room < text.len().saturating_mul(2)
        {
            end = fitting(&text, room);
        }
        while let Some(room) = max_size.checked_sub(written + 1) {
            end = words(&text, end.min(room));
            let part = text.get(..end).unwrap_or_default().trim_end();
            // By itself: what the line begins with is no part of the text.
            let mut line = String::with_capacity(part.len());
            escape(part, Place::Flow, false, None, &mut line);
            self.out.truncate(written);
            self.out.push_str(&line);
            match (self.out.len() + 1).checked_sub(max_size) {
                _ if end == 0 => break,
                None | Some(0) => {
                    self.out.push('\n');
                    return judge::stands_alone(part, Caution::Markdown);
                }
                Some(over) => end = end.saturating_sub(over.div_ceil(2)).max(1) - 1,
            }
        }
        self.out.truncate(start);
        true
    }

    /// Code that was allowed to stay, in a fence longer than any in it.
    fn code(&mut self, leaf: &Leaf) {
        let code = self.document.plain(leaf);
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.out.push_str(&fence);
        for line in code.lines() {
            if self.is_full() {
                return;
            }
            self.out.push('\n');
            self.out.push_str(&self.prefix);
            self.out.push_str(line);
        }
        self.out.push('\n');
        self.out.push_str(&self.prefix);
        self.out.push_str(&fence);
        self.out.push('\n');
    }

    fn inline(&self, leaf: &Leaf, place: Place) -> String {
        let mut out = String::new();
        inline_to(self.document, leaf, place, &mut out);
        out
    }

    // --- tables ---

    fn table_block(&mut self, block: &Block) {
        let Some(table) = &mut self.table else { return };
        match block {
            Block::Open(Container::Table) => table.n_nested += 1,
            Block::Close(Container::Table) if table.n_nested == 0 => {
                if let Some(table) = self.table.take() {
                    self.finish_table(&table);
                }
            }
            Block::Close(Container::Table) => table.n_nested -= 1,
            Block::Open(Container::Caption) => table.in_caption = true,
            Block::Close(Container::Caption) => table.in_caption = false,
            Block::Open(Container::Row) if table.n_nested == 0 => {
                table.n_bytes += "|\n".len();
                table.rows.push(Vec::new());
            }
            Block::Open(Container::Cell { .. }) if table.n_nested == 0 => {
                if let Some(row) = table.rows.last_mut() {
                    table.n_bytes += "| ".len();
                    row.push(table.text.len()..table.text.len());
                }
            }
            Block::Leaf(leaf) => {
                let begins = table.in_caption && table.caption.is_empty();
                let place = if begins { Place::Line } else { Place::Cell };
                table.leaf.clear();
                inline_to(self.document, leaf, place, &mut table.leaf);
                table.add();
            }
            Block::Open(_) | Block::Close(_) => {}
        }
    }

    fn finish_table(&mut self, table: &Table) {
        if !table.caption.is_empty() {
            self.start();
            self.out.push_str(&table.caption);
            self.out.push('\n');
        }
        let n_columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        if n_columns == 0 {
            return;
        }
        self.start();
        for (n, row) in table.rows.iter().enumerate() {
            if self.is_full() {
                return;
            }
            if 0 < n {
                self.out.push_str(&self.prefix);
            }
            for column in 0..n_columns {
                self.out.push_str("| ");
                let cell = row.get(column).and_then(|cell| table.text.get(cell.clone()));
                let cell = cell.unwrap_or_default();
                self.out.push_str(cell);
                self.out.push_str(if cell.is_empty() { "" } else { " " });
            }
            self.out.push_str("|\n");
            if n == 0 {
                self.out.push_str(&self.prefix);
                for _ in 0..n_columns {
                    self.out.push_str("| --- ");
                }
                self.out.push_str("|\n");
            }
        }
    }
}

/// Writes the text of a leaf, and its links, to what is empty.
fn inline_to(document: &Document, leaf: &Leaf, place: Place, out: &mut String) {
    let pieces = document.pieces.get(leaf.pieces.clone()).unwrap_or_default();
    // Most of them have no marks.
    if let [Piece::Text(span)] = pieces {
        escape(document.str(span), place, false, None, out);
        return;
    }
    let mut link = None;
    // Text between marks that are written: how it is escaped depends on what follows it.
    let mut text = String::new();
    for piece in pieces {
        let written = matches!(
            piece,
            Piece::Open(Inline::Link(_) | Inline::Code)
                | Piece::Close(Inline::Link(_) | Inline::Code)
        );
        if written {
            let follows = match piece {
                Piece::Open(Inline::Link(_)) => '[',
                Piece::Close(Inline::Link(_)) => ']',
                _ => '`',
            };
            escape(&text, place, link.is_some(), Some(follows), out);
            text.clear();
        }
        match piece {
            Piece::Text(span) => text.push_str(document.str(span)),
            Piece::Open(Inline::Link(target)) => {
                link = Some(*target);
                out.push('[');
            }
            Piece::Close(Inline::Link(_)) => {
                let target = link.take().and_then(|link| document.links.get(link));
                out.push_str("](");
                for c in target.map_or("", String::as_str).chars() {
                    match c {
                        '(' => out.push_str("%28"),
                        ')' => out.push_str("%29"),
                        '<' => out.push_str("%3C"),
                        '|' => out.push_str("%7C"),
                        '*' | '_' | '&' => out.extend(['\\', c]),
                        _ => out.push(c),
                    }
                }
                out.push(')');
            }
            Piece::Open(Inline::Code) | Piece::Close(Inline::Code) => out.push('`'),
            // Marks for emphasis read back only between the right characters.
            Piece::Open(_) | Piece::Close(_) => {}
        }
    }
    escape(&text, place, link.is_some(), None, out);
}
