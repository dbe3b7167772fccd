//! Builds a document: collects the text of each leaf, has it judged, and keeps containers in order.
//!
//! Whatever is read, the document comes out so that its HTML, read again, is the same document:
//! items stand in lists, cells in rows, and marks are closed with their leaf.

mod judged;
mod places;
mod siblings;

use self::siblings::Siblings;
use super::{
    document::{Container, Document, Inline, Leaf, LeafKind, Piece},
    ignorable,
    judge::Caution,
    tally::Tally,
};

/// So many marks are set around a word. Each of them is written anew in every leaf that it is around:
/// a hundred of them around a thousand paragraphs would be a hundred thousand.
const MAX_MARKS: usize = 8;

/// What is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Strip {
    pub(super) blocks: bool,
    pub(super) spans: bool,
}

/// A document under way.
pub(super) struct Builder<'a> {
    pub(super) tally: &'a mut Tally,
    /// How the text of the next leaf is judged.
    pub(super) caution: Caution,
    document: Document,
    strip: Strip,
    kind: LeafKind,
    /// Where the leaf under way begins, in the text and in the pieces.
    text_start: usize,
    pieces_start: usize,
    /// What of the text is in no piece yet begins here.
    piece_start: usize,
    /// The marks around what comes next, the outermost first, and how many of them are written.
    marks: Vec<Inline>,
    n_marked: usize,
    /// So many more marks are open that are not set.
    n_unset: usize,
    /// A blank is to come before the next word.
    blank: Option<char>,
    /// So many line breaks are to come before it.
    n_breaks: usize,
    containers: Vec<Held>,
    /// Leaves that were put last, side by side, and may be lines of code together.
    siblings: Siblings,
}

struct Held {
    container: Container,
    /// Nobody opened it; it is there because what is in it could not be without.
    implied: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(strip: Strip, n_bytes: usize, tally: &'a mut Tally) -> Self {
        let document = Document {
            text: String::with_capacity(n_bytes),
            pieces: Vec::with_capacity(n_bytes / 32),
            blocks: Vec::with_capacity(n_bytes / 64),
            ..Document::default()
        };
        Self {
            tally,
            caution: Caution::Usual,
            document,
            strip,
            kind: LeafKind::Text,
            text_start: 0,
            pieces_start: 0,
            piece_start: 0,
            marks: Vec::new(),
            n_marked: 0,
            n_unset: 0,
            blank: None,
            n_breaks: 0,
            containers: Vec::new(),
            siblings: Siblings::default(),
        }
    }

    /// The document is done.
    pub(super) fn finish(mut self) -> Document {
        self.flush();
        self.settle();
        while let Some(held) = self.containers.last() {
            self.close(held.container);
        }
        self.document
    }

    /// Ends the leaf under way; the next one is of this kind. Answers what the last one was.
    pub(super) fn begin(&mut self, kind: LeafKind) -> LeafKind {
        self.flush();
        std::mem::replace(&mut self.kind, kind)
    }

    /// Adds text; a run of blanks becomes one.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let (words, behind) = rest.split_at(plain_words(rest));
            if !words.is_empty() {
                self.words(words);
                rest = behind;
                continue;
            }
            let (word, behind) = rest.split_at(rest.find(is_blank).unwrap_or(rest.len()));
            if !word.is_empty() {
                self.odd_word(word);
            }
            let end = behind.find(|c| !is_blank(c)).unwrap_or(behind.len());
            let (blanks, behind) = behind.split_at(end);
            if !blanks.is_empty() && self.blank.is_none() {
                // The first one decides, so that what was written reads the same.
                self.blank =
                    Some(if blanks.starts_with(['\n', '\r', '\u{c}']) { '\n' } else { ' ' });
            }
            rest = behind;
        }
    }

    /// A line break that readers see.
    pub(super) fn line_break(&mut self) {
        self.n_breaks += 1;
    }

    /// Whether what is under way names what follows it: a heading or a term.
    pub(super) fn is_naming(&self) -> bool {
        matches!(self.kind, LeafKind::Heading(_))
            || self.containers.last().is_some_and(|held| held.container == Container::Term)
    }

    /// The words that follow are marked.
    pub(super) fn mark(&mut self, mark: Inline) {
        if MAX_MARKS <= self.marks.len() {
            self.n_unset += 1;
        } else {
            self.marks.push(mark);
        }
    }

    /// The words that follow are a link.
    pub(super) fn link(&mut self, address: String) {
        self.document.links.push(address);
        self.mark(Inline::Link(self.document.links.len() - 1));
    }

    /// Whether a link is open: there are none within links.
    pub(super) fn in_link(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark, Inline::Link(_)))
    }

    /// The mark ends that was set last.
    pub(super) fn unmark(&mut self) {
        if let Some(n_unset) = self.n_unset.checked_sub(1) {
            self.n_unset = n_unset;
            return;
        }
        if self.marks.len() == self.n_marked {
            self.end_piece();
            if let Some(mark) = self.marks.last() {
                self.document.pieces.push(Piece::Close(*mark));
            }
            self.n_marked -= 1;
        }
        self.marks.pop();
    }

    /// Words as they are to be written, and what is to stand before them.
    fn words(&mut self, words: &str) {
        let text = &mut self.document.text;
        let blank = self.blank.take();
        let n_breaks = std::mem::take(&mut self.n_breaks);
        if text.len() != self.text_start {
            text.extend(std::iter::repeat_n('\r', n_breaks));
            text.extend(blank.filter(|_| n_breaks == 0));
        }
        if self.n_marked < self.marks.len() {
            self.end_piece();
            let new = self.marks.get(self.n_marked..).unwrap_or_default();
            self.document.pieces.extend(new.iter().map(|mark| Piece::Open(*mark)));
            self.n_marked = self.marks.len();
        }
        self.document.text.push_str(words);
    }

    /// A word with something in it that is not written, or ends its line.
    fn odd_word(&mut self, word: &str) {
        for (n, part) in word.split(ends_line).enumerate() {
            if 0 < n {
                self.line_break();
            }
            if !part.is_empty() {
                self.odd_part(part);
            }
        }
    }

    fn odd_part(&mut self, word: &str) {
        let printed: String = word.chars().filter(|c| !is_control(*c)).collect();
        // What it joins may be written already.
        let before = if self.blank.is_none() && self.n_breaks == 0 {
            self.document.text.get(self.text_start..).and_then(|text| text.chars().next_back())
        } else {
            None
        };
        let mut seen = String::with_capacity(printed.len());
        ignorable::push(&printed, before.unwrap_or('\0'), &mut seen);
        if !seen.is_empty() {
            self.words(&seen);
        }
    }

    fn end_piece(&mut self) {
        let end = self.document.text.len();
        if self.piece_start < end {
            self.document.pieces.push(Piece::Text(self.piece_start..end));
        }
        self.piece_start = end;
    }

    /// Ends the leaf under way. Marks stay, and begin anew in the next one.
    pub(super) fn flush(&mut self) {
        self.blank = None;
        self.n_breaks = 0;
        let end = self.document.text.len();
        if end == self.text_start {
            self.document.pieces.truncate(self.pieces_start);
            self.piece_start = end;
            self.n_marked = 0;
            return;
        }
        self.end_piece();
        let marked = self.marks.get(..self.n_marked).unwrap_or_default();
        self.document.pieces.extend(marked.iter().rev().map(|mark| Piece::Close(*mark)));
        self.n_marked = 0;
        self.judge();
        let pieces = self.pieces_start..self.document.pieces.len();
        self.put(Leaf { kind: self.kind, pieces });
    }

    /// Code within a sentence that was allowed to stay.
    pub(super) fn code(&mut self, code: &str) {
        if code.starts_with(is_blank) {
            self.text(" ");
        }
        self.mark(Inline::Code);
        self.text(code.trim());
        self.unmark();
        if code.ends_with(is_blank) {
            self.text(" ");
        }
    }

    /// A leaf that is not judged: it was written here.
    pub(super) fn note(&mut self, kind: LeafKind, words: &str) {
        self.flush();
        self.siblings.next = None;
        let start = self.document.text.len();
        self.document.text.push_str(words);
        self.document.pieces.push(Piece::Text(start..self.document.text.len()));
        let pieces = self.pieces_start..self.document.pieces.len();
        self.put(Leaf { kind, pieces });
    }
}

/// How much of a text is words that are written as they are: one blank stands between each two, and
/// nothing odd in any.
fn plain_words(text: &str) -> usize {
    let bytes = text.as_bytes();
    // Behind the last word so far.
    let (mut end, mut is_behind) = (0, true);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b' ' | b'\n' if is_behind => return end,
            b' ' | b'\n' => (end, is_behind) = (at, true),
            // Controls, and what nobody sees, may begin like this.
            0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef..=0xf3
                if !text.get(at..).is_some_and(|rest| rest.starts_with(is_odd)) =>
            {
                is_behind = false;
            }
            0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef..=0xf3 => {
                return if is_behind { end } else { at };
            }
            0x21..=0x7e | 0x80..=0xff => is_behind = false,
            _ => return if is_behind { end } else { at },
        }
    }
    if is_behind { end } else { bytes.len() }
}

/// What HTML takes for blank.
const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r' | '\u{c}')
}

/// What nobody sees and everybody stumbles over: controls, joiners of nothing, marks of byte order.
const fn is_odd(c: char) -> bool {
    is_control(c) || ignorable::is_ignorable(c) || ends_line(c)
}

/// Whether a line ends with it, though it is no blank to HTML.
const fn ends_line(c: char) -> bool {
    ignorable::is_line_end(c) && !is_blank(c)
}

const fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// A text without it.
fn seen(text: &str) -> String {
    ignorable::seen(text).into_owned()
}
