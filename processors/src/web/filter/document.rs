//! What a page is between reading and writing: containers, and leaves with text in them.
//!
//! All text stands in one string; blocks point into it. `\n` within a leaf is a line end of the
//! source, and reads like a blank; `\r` is a line break that readers see.

use std::ops::Range;

/// A place in the document's text.
pub(super) type Span = Range<usize>;

/// A page as a flat list of blocks.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) pieces: Vec<Piece>,
    pub(super) blocks: Vec<Block>,
    /// The addresses that links name by their place.
    pub(super) links: Vec<String>,
    /// Code was taken out from between marks: in Markdown, that may read slightly otherwise.
    pub(super) mended: bool,
    /// Taken out again and again, code came to light anew: there may be more.
    pub(super) unsettled: bool,
}

/// A step through the page. Containers are opened and closed in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    Open(Container),
    Close(Container),
    Leaf(Leaf),
}

/// What holds blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    List { ordered: bool },
    Item,
    Quote,
    Definitions,
    Term,
    Definition,
    Table,
    Caption,
    Row,
    Cell { heading: bool },
}

/// What holds text: pieces of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) kind: LeafKind,
    pub(super) pieces: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafKind {
    /// From 1 to 6.
    Heading(u8),
    Paragraph,
    /// Directly within an item or a cell, in no paragraph of its own.
    Text,
    /// A block of code that was allowed to stay.
    Code,
}

/// A part of a leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(Span),
    Open(Inline),
    Close(Inline),
}

/// What marks words within a leaf. All of them are closed at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inline {
    /// To the address in this place of the document's links.
    Link(usize),
    Strong,
    Emphasis,
    Deleted,
    Sub,
    Sup,
    /// Code that was allowed to stay.
    Code,
}

impl Document {
    pub(super) fn str(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Whether any piece of a leaf's text is such.
    pub(super) fn any_text(&self, leaf: &Leaf, is_such: impl Fn(&str) -> bool) -> bool {
        let pieces = self.pieces.get(leaf.pieces.clone()).unwrap_or_default();
        pieces.iter().any(|piece| matches!(piece, Piece::Text(span) if is_such(self.str(span))))
    }

    /// Text that is told of a leaf, without marks.
    pub(super) fn plain(&self, leaf: &Leaf) -> String {
        let pieces = self.pieces.get(leaf.pieces.clone()).unwrap_or_default();
        let texts = pieces.iter().filter_map(|piece| match piece {
            Piece::Text(span) => Some(self.str(span)),
            _ => None,
        });
        texts.collect()
    }
}
