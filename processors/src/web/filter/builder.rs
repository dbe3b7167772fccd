//! Builds a document: collects the text of each leaf, has it judged, and keeps containers in order.
//!
//! Whatever is read, the document comes out so that its HTML, read again, is the same document:
//! items stand in lists, cells in rows, and marks are closed with their leaf.

use super::{
    document::{Block, Container, Document, Inline, Leaf, LeafKind, Piece},
    judge::{self, Caution, Removal},
    placeholder,
    tally::Tally,
};

/// Where code was taken out, what is left may look like code; after so many rounds it stays.
const MAX_ROUNDS: usize = 4;

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
    /// A blank is to come before the next word.
    blank: Option<char>,
    /// So many line breaks are to come before it.
    n_breaks: usize,
    containers: Vec<Held>,
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
            blank: None,
            n_breaks: 0,
            containers: Vec::new(),
        }
    }

    /// The document is done.
    pub(super) fn finish(mut self) -> Document {
        self.flush();
        while let Some(held) = self.containers.last() {
            self.close(held.container);
        }
        self.document
    }

    /// The title, judged like a leaf. False if there is one already.
    pub(super) fn title(&mut self, text: &str) -> bool {
        if !self.document.title.is_empty() {
            return text.trim().is_empty();
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut title = words.join(" ");
        for _ in 0..MAX_ROUNDS {
            let removals = self.judged(&title, Caution::Usual);
            if removals.is_empty() {
                break;
            }
            let mut kept = String::with_capacity(title.len());
            let mut at = 0;
            for removal in removals {
                kept.push_str(title.get(at..removal.range.start).unwrap_or_default());
                kept.push_str(&self.removed(&title, &removal));
                at = removal.range.end;
            }
            kept.push_str(title.get(at..).unwrap_or_default());
            title = kept;
        }
        title.retain(|c| !is_odd(c));
        self.tally.kept(&title);
        self.document.title = title;
        true
    }

    // --- text ---

    /// Ends the leaf under way; the next one is of this kind. Answers what the last one was.
    pub(super) fn begin(&mut self, kind: LeafKind) -> LeafKind {
        self.flush();
        std::mem::replace(&mut self.kind, kind)
    }

    /// Adds text; a run of blanks becomes one.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let (word, behind) = rest.split_at(rest.find(is_blank).unwrap_or(rest.len()));
            if !word.is_empty() {
                self.word(word);
            }
            let end = behind.find(|c| !is_blank(c)).unwrap_or(behind.len());
            let (blanks, behind) = behind.split_at(end);
            if !blanks.is_empty() && self.blank.is_none() {
                // The first one decides, so that what was written reads the same.
                self.blank = Some(if blanks.starts_with(['\n', '\r']) { '\n' } else { ' ' });
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
        self.marks.push(mark);
    }

    /// The words that follow are a link.
    pub(super) fn link(&mut self, address: String) {
        self.document.links.push(address);
        self.marks.push(Inline::Link(self.document.links.len() - 1));
    }

    /// Whether a link is open: there are none within links.
    pub(super) fn in_link(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark, Inline::Link(_)))
    }

    /// The mark ends that was set last.
    pub(super) fn unmark(&mut self) {
        if self.marks.len() == self.n_marked {
            self.end_piece();
            if let Some(mark) = self.marks.last() {
                self.document.pieces.push(Piece::Close(*mark));
            }
            self.n_marked -= 1;
        }
        self.marks.pop();
    }

    fn word(&mut self, word: &str) {
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
        if word.contains(is_odd) {
            self.document.text.extend(word.chars().filter(|c| !is_odd(*c)));
        } else {
            self.document.text.push_str(word);
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
        let start = self.document.text.len();
        self.document.text.push_str(words);
        self.document.pieces.push(Piece::Text(start..self.document.text.len()));
        let pieces = self.pieces_start..self.document.pieces.len();
        self.put(Leaf { kind, pieces });
    }

    // --- judging ---

    fn judged(&self, text: &str, caution: Caution) -> Vec<Removal> {
        let mut removals = judge::judge(text, caution);
        let strip = self.strip;
        removals.retain(|removal| if removal.inline { strip.spans } else { strip.blocks });
        removals
    }

    /// Counts what goes, and says what stands in its place.
    fn removed(&mut self, text: &str, removal: &Removal) -> String {
        let code = text.get(removal.range.clone()).unwrap_or_default();
        if removal.inline {
            self.tally.span(code);
            return placeholder::SPAN.to_owned();
        }
        self.tally.block(code, None);
        placeholder::block(removal.n_lines, None)
    }

    /// Takes code out of the leaf under way until there is none.
    fn judge(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let text = self.document.text.get(self.text_start..).unwrap_or_default();
            let removals = self.judged(text, self.caution);
            if removals.is_empty() {
                break;
            }
            self.take_out(removals);
        }
        let text = self.document.text.get(self.text_start..).unwrap_or_default();
        self.tally.kept(text);
    }

    /// Writes the leaf under way anew, without what is code.
    fn take_out(&mut self, removals: Vec<Removal>) {
        let old_text = self.document.text.split_off(self.text_start);
        let old: Vec<Piece> = self.document.pieces.drain(self.pieces_start..).collect();
        // Marks and blanks may come to stand in another order than they are read in.
        self.document.mended |= old.iter().any(|piece| !matches!(piece, Piece::Text(_)));
        let mut removals = removals.into_iter().peekable();
        // So much of the old text is written or taken out; what is taken out may end in a later piece.
        let mut done = 0;
        for piece in old {
            let Piece::Text(span) = piece else {
                // Marks around nothing are none.
                let around_nothing = matches!(piece, Piece::Close(_))
                    && matches!(self.document.pieces.last(), Some(Piece::Open(_)))
                    && self.pieces_start < self.document.pieces.len();
                if around_nothing {
                    self.document.pieces.pop();
                } else {
                    self.document.pieces.push(piece);
                }
                continue;
            };
            let end = span.end - self.text_start;
            let new_start = self.document.text.len();
            while let Some(removal) = removals.next_if(|removal| removal.range.start < end) {
                let kept = old_text.get(done..removal.range.start).unwrap_or_default();
                self.document.text.push_str(kept);
                let words = self.removed(&old_text, &removal);
                self.document.text.push_str(&words);
                done = removal.range.end;
            }
            if done < end {
                self.document.text.push_str(old_text.get(done..end).unwrap_or_default());
                done = end;
            }
            let new_end = self.document.text.len();
            if new_start < new_end {
                self.document.pieces.push(Piece::Text(new_start..new_end));
            }
        }
        self.piece_start = self.document.text.len();
    }

    // --- places ---

    fn put(&mut self, mut leaf: Leaf) {
        let n_implied = self.imply();
        let in_flow = matches!(
            self.containers.last().map(|held| held.container),
            None | Some(Container::Quote)
        );
        let behind_text = matches!(
            self.document.blocks.last(),
            Some(Block::Leaf(Leaf { kind: LeafKind::Text, .. }))
        );
        if leaf.kind == LeafKind::Text && (in_flow || behind_text) {
            leaf.kind = LeafKind::Paragraph;
        }
        self.document.blocks.push(Block::Leaf(leaf));
        self.text_start = self.document.text.len();
        self.piece_start = self.text_start;
        self.pieces_start = self.document.pieces.len();
        for _ in 0..n_implied {
            self.end_last();
        }
    }

    /// Opens what has to be between the innermost container and a leaf or a container of flow.
    fn imply(&mut self) -> usize {
        let between: &[Container] = match self.containers.last().map(|held| held.container) {
            Some(Container::List { .. }) => &[Container::Item],
            Some(Container::Definitions) => &[Container::Definition],
            Some(Container::Table) => &[Container::Row, Container::Cell { heading: false }],
            Some(Container::Row) => &[Container::Cell { heading: false }],
            _ => &[],
        };
        for container in between {
            self.document.blocks.push(Block::Open(*container));
            self.containers.push(Held { container: *container, implied: true });
        }
        between.len()
    }

    /// Opens a container, unless it cannot be where it would be.
    pub(super) fn open(&mut self, container: Container) -> bool {
        self.flush();
        let above = self.containers.last().map(|held| held.container);
        let fits = match container {
            Container::Item => matches!(above, Some(Container::List { .. })),
            Container::Term | Container::Definition => above == Some(Container::Definitions),
            Container::Row => above == Some(Container::Table),
            Container::Caption => {
                above == Some(Container::Table)
                    && self.document.blocks.last() == Some(&Block::Open(Container::Table))
            }
            Container::Cell { .. } => above == Some(Container::Row),
            _ => {
                self.imply();
                true
            }
        };
        if fits {
            self.document.blocks.push(Block::Open(container));
            self.containers.push(Held { container, implied: false });
        }
        fits
    }

    /// Closes a container that was opened, and what had to be around it.
    pub(super) fn close(&mut self, container: Container) {
        self.flush();
        debug_assert_eq!(self.containers.last().map(|held| held.container), Some(container));
        self.end_last();
        while self.containers.last().is_some_and(|held| held.implied) {
            self.end_last();
        }
    }

    /// Ends the innermost container; one with nothing in it was never there.
    fn end_last(&mut self) {
        let Some(Held { container, .. }) = self.containers.pop() else { return };
        let blocks = &mut self.document.blocks;
        let empty = match container {
            // Its neighbours would move.
            Container::Cell { .. } => false,
            Container::Row => {
                let is_cell = |block: &&Block| {
                    matches!(
                        block,
                        Block::Open(Container::Cell { .. }) | Block::Close(Container::Cell { .. })
                    )
                };
                let n_cells = blocks.iter().rev().take_while(is_cell).count();
                let row = blocks.len().checked_sub(n_cells + 1);
                let open = row.filter(|row| blocks.get(*row) == Some(&Block::Open(container)));
                if let Some(row) = open {
                    blocks.truncate(row + 1);
                }
                open.is_some()
            }
            _ => blocks.last() == Some(&Block::Open(container)),
        };
        if empty {
            blocks.pop();
        } else {
            blocks.push(Block::Close(container));
        }
    }
}

/// What HTML takes for blank.
const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r' | '\u{c}')
}

/// What nobody sees and everybody stumbles over: controls, and marks of byte order.
const fn is_odd(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{feff}')
}
