//! Takes what is judged to be code out of what is built.

use super::{Builder, is_odd, seen, siblings::Next};
use crate::web::filter::{
    document::{Container, Inline, LeafKind, Piece},
    judge::{self, Caution, Look, Removal},
    placeholder,
};

/// Where code was taken out, what is left may look like code; after so many rounds it stays.
const MAX_ROUNDS: usize = 4;

impl Builder<'_> {
    /// The title, judged like a leaf. False if there is one already.
    pub(in crate::web::filter) fn title(&mut self, text: &str) -> bool {
        if !self.document.title.is_empty() {
            return text.trim().is_empty();
        }
        let text = if text.contains(is_odd) { seen(text) } else { text.to_owned() };
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut title = words.join(" ");
        for _ in 0..MAX_ROUNDS {
            let (removals, _) = self.judged(&title, Caution::Usual);
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
        self.tally.kept(&title);
        self.document.title = title;
        true
    }

    fn judged(&self, text: &str, caution: Caution) -> (Vec<Removal>, Option<Look>) {
        let (mut removals, look) = judge::judged(text, caution);
        let strip = self.strip;
        removals.retain(|removal| if removal.inline { strip.spans } else { strip.blocks });
        (removals, look)
    }

    /// Counts what goes, and says what stands in its place.
    fn removed(&mut self, text: &str, removal: &Removal) -> String {
        let code = text.get(removal.range.clone()).unwrap_or_default();
        if self.siblings.taking {
            // It is counted when it is known what it stands beside.
            let words = words(removal);
            self.siblings.next = Some(Next::taken(code, removal.inline));
            return words;
        }
        if removal.inline {
            self.tally.span(code);
            return placeholder::SPAN.to_owned();
        }
        self.tally.block(code, None);
        words(removal)
    }

    /// Takes code out of the leaf under way until there is none.
    pub(super) fn judge(&mut self) {
        self.siblings.next = None;
        let is_link = self.is_link();
        let mut look = None;
        for n_rounds in 0.. {
            let text = self.document.text.get(self.text_start..).unwrap_or_default();
            let (removals, seen) = self.judged(text, self.caution);
            look = seen;
            if removals.is_empty() {
                break;
            }
            if n_rounds == MAX_ROUNDS {
                self.document.unsettled = true;
                break;
            }
            let whole = matches!(removals.as_slice(), [one] if one.range == (0..text.len()));
            self.siblings.taking = n_rounds == 0 && whole && !is_link && self.is_line(text);
            self.take_out(removals);
            self.siblings.taking = false;
            self.read_again();
        }
        let text = self.document.text.get(self.text_start..).unwrap_or_default();
        self.tally.kept(text);
        if self.siblings.next.is_none() && self.is_line(text) {
            let look = look.unwrap_or_else(|| Look::of_words(text));
            self.siblings.next = Some(Next::kept(if is_link { look.of_link() } else { look }));
        }
    }

    /// Whether the leaf under way may be a line of code with others. Terms and what is said of them are
    /// options and their like.
    fn is_line(&self, text: &str) -> bool {
        self.strip.blocks
            && !judge::is_apart(text)
            && matches!(self.kind, LeafKind::Paragraph | LeafKind::Text)
            && !self.is_described()
            && !text.contains('\r')
    }

    fn is_described(&self) -> bool {
        let innermost = self.containers.last().map(|held| held.container);
        matches!(innermost, Some(Container::Definitions | Container::Term | Container::Definition))
    }

    /// Whether the leaf under way is a link from its beginning to its end: an entry of a table of contents.
    fn is_link(&self) -> bool {
        let pieces = self.document.pieces.get(self.pieces_start..).unwrap_or_default();
        matches!(
            pieces,
            [Piece::Open(Inline::Link(one)), .., Piece::Close(Inline::Link(other))] if one == other
        )
    }

    /// Reads the leaf under way as it will be read when it is written: where code was taken out, marks
    /// and blanks may have come to stand in another order than they are read in.
    fn read_again(&mut self) {
        let is_marked = |piece: &Piece| !matches!(piece, Piece::Text(_));
        let pieces = self.document.pieces.get(self.pieces_start..).unwrap_or_default();
        if !pieces.iter().any(is_marked) {
            return;
        }
        let pieces = self.document.pieces.split_off(self.pieces_start);
        let text = self.document.text.split_off(self.text_start);
        let open = (std::mem::take(&mut self.marks), std::mem::take(&mut self.n_unset));
        self.piece_start = self.text_start;
        for piece in pieces {
            match piece {
                Piece::Text(span) => {
                    let span = span.start - self.text_start..span.end - self.text_start;
                    for (n, line) in text.get(span).unwrap_or_default().split('\r').enumerate() {
                        if 0 < n {
                            self.line_break();
                        }
                        self.text(line);
                    }
                }
                Piece::Open(mark) => self.mark(mark),
                Piece::Close(_) => self.unmark(),
            }
        }
        self.end_piece();
        (self.blank, self.n_breaks) = (None, 0);
        (self.marks, self.n_unset) = open;
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
}

/// What stands in the place of code.
fn words(removal: &Removal) -> String {
    if removal.inline {
        placeholder::SPAN.to_owned()
    } else {
        placeholder::block(removal.n_lines, None)
    }
}
