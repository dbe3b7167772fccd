//! Leaves that stand side by side: code of which each line is a paragraph, an item or a row is taken out
//! as one block.

use super::Builder;
use crate::web::filter::{
    document::{Block, Container, Leaf, LeafKind, Piece},
    judge::{self, Look},
    placeholder,
};

/// The leaves so far, all of them short, and each where the one before it would be.
#[derive(Default)]
pub(super) struct Siblings {
    lines: Vec<Line>,
    /// What is known of the leaf that is to be put next, if it may be one of them.
    pub(super) next: Option<Next>,
    /// What is taken out now is a leaf as a whole.
    pub(super) taking: bool,
    /// Whether the next one stands in the same row of a table as the last one.
    in_row: bool,
}

/// What is known of a leaf before it is put.
pub(super) struct Next {
    look: Look,
    taken: Option<Box<Taken>>,
}

/// A leaf that was code as a whole, and is not counted yet.
struct Taken {
    code: String,
    inline: bool,
}

/// A leaf.
struct Line {
    /// Its place among the blocks.
    block: usize,
    look: Look,
    /// Of few, and there may be very many lines.
    taken: Option<Box<Taken>>,
    /// It goes on with the line that the one before it began.
    in_row: bool,
}

impl Next {
    pub(super) fn taken(code: &str, inline: bool) -> Self {
        let taken = Taken { code: code.to_owned(), inline };
        Self { look: Look::CODE, taken: Some(Box::new(taken)) }
    }

    pub(super) const fn kept(look: Look) -> Self {
        Self { look, taken: None }
    }
}

impl Siblings {
    pub(super) fn add(&mut self, next: Next, block: usize) {
        let Next { look, taken } = next;
        self.lines.push(Line { block, look, taken, in_row: self.in_row });
    }
}

/// Whether a leaf stands in the same row as the one before it; None if it does not stand where that one
/// would stand. `blocks`: what is between them.
fn between(blocks: &[Block]) -> Option<bool> {
    // Nearly all there are: items, cells and rows.
    match blocks {
        [] => return Some(false),
        [Block::Close(one), Block::Open(other)] => {
            return (one == other).then_some(matches!(one, Container::Cell { .. }));
        }
        [Block::Close(cell), Block::Close(row), Block::Open(next), Block::Open(first)] => {
            return (row == next && cell == first).then_some(false);
        }
        _ => {}
    }
    let (mut closed, mut opened) = (Vec::new(), Vec::new());
    for block in blocks {
        match block {
            Block::Open(container) => opened.push(*container),
            Block::Close(container) => {
                if opened.pop().is_none() {
                    closed.push(*container);
                }
            }
            Block::Leaf(_) => return None,
        }
    }
    closed.reverse();
    (closed == opened).then_some(matches!(opened.as_slice(), [Container::Cell { .. }]))
}

impl Builder<'_> {
    /// A leaf is to be put: what came before it ends, unless it is a further line of that.
    pub(super) fn beside(&mut self, is_line: bool) {
        let Some(last) = self.siblings.lines.last() else {
            self.siblings.in_row = false;
            return;
        };
        let between = self.document.blocks.get(last.block + 1..).and_then(between);
        self.siblings.in_row = between == Some(true);
        if !is_line || between.is_none() {
            self.siblings.in_row = false;
            self.settle();
        }
    }

    /// Judges the leaves together, and takes out what is code.
    pub(super) fn settle(&mut self) {
        let lines = std::mem::take(&mut self.siblings.lines);
        if !lines.iter().any(|line| line.taken.is_some() || line.look.is_doubtful()) {
            return;
        }
        let rows = self.rows(&lines);
        let looks: Vec<Look> = rows.iter().map(|(_, look)| *look).collect();
        let mut code: Vec<bool> = looks.iter().map(Look::is_code).collect();
        judge::together(&looks, &mut code);
        let mut runs: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        while at < rows.len() {
            let n = code.iter().skip(at).take_while(|code| **code).count();
            // A line by itself was judged by itself.
            let ends = (rows.get(at), rows.get(at + n));
            if 2 <= n
                && let (Some((first, _)), behind) = ends
            {
                runs.push((*first, behind.map_or(lines.len(), |(start, _)| *start)));
            }
            at += n.max(1);
        }
        self.take_out_runs(lines, &runs);
    }

    /// Where each line begins, and what it looks like: the cells of a row are one.
    fn rows(&self, lines: &[Line]) -> Vec<(usize, Look)> {
        let mut rows = Vec::with_capacity(lines.len());
        let mut start = 0;
        while start < lines.len() {
            let more = lines.iter().skip(start + 1).take_while(|line| line.in_row).count();
            let cells = lines.get(start..=start + more).unwrap_or_default();
            rows.push((start, self.row(cells)));
            start += more + 1;
        }
        rows
    }

    fn row(&self, cells: &[Line]) -> Look {
        if let [one] = cells {
            return one.look;
        }
        // Numbers of lines, and the signs of a difference.
        let is_number = |cell: &&Line| {
            self.line(cell)
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '.' | ':' | '+' | '-'))
        };
        let cells = match cells {
            [first, rest @ ..] if is_number(&first) => rest,
            all => all,
        };
        if let [one] = cells {
            return one.look;
        }
        if cells.iter().all(|cell| cell.taken.is_some()) {
            return Look::CODE;
        }
        if !cells.iter().any(|cell| cell.taken.is_some() || cell.look.is_doubtful()) {
            return Look::PROSE;
        }
        let text: Vec<&str> = cells.iter().map(|cell| self.line(cell)).collect();
        let look = judge::look(&text.join(" "));
        // Formulas and names stand in tables of all kinds.
        if look.is_statement() { look } else { Look::PROSE }
    }

    /// The text of a leaf that stands among the blocks.
    fn line(&self, line: &Line) -> &str {
        let Some(Block::Leaf(leaf)) = self.document.blocks.get(line.block) else { return "" };
        let pieces = self.document.pieces.get(leaf.pieces.clone()).unwrap_or_default();
        let mut spans = pieces.iter().filter_map(|piece| match piece {
            Piece::Text(span) => Some(span),
            _ => None,
        });
        let Some(first) = spans.next() else { return "" };
        // What stands between two pieces of a leaf is nothing.
        let end = spans.next_back().unwrap_or(first).end;
        self.document.text.get(first.start..end).unwrap_or_default()
    }

    /// Writes the blocks anew, with one leaf in the place of each run of lines, and counts what goes.
    fn take_out_runs(&mut self, lines: Vec<Line>, runs: &[(usize, usize)]) {
        let Some(start) = lines.first().map(|line| line.block) else { return };
        let mut runs = runs.iter().copied().peekable();
        let mut tail: Vec<Option<Block>> = self.document.blocks.drain(start..).map(Some).collect();
        let mut done = start;
        let mut lines: Vec<Option<Line>> = lines.into_iter().map(Some).collect();
        let mut at = 0;
        while at < lines.len() {
            if let Some((first, end)) = runs.next_if(|(first, _)| *first == at) {
                let run: Vec<Line> = lines
                    .get_mut(first..end)
                    .into_iter()
                    .flatten()
                    .filter_map(Option::take)
                    .collect();
                let begin = run.first().map_or(done, |line| line.block);
                self.put_back(&mut tail, start, &mut done, begin);
                done = self.join(run, &mut tail, start);
                at = end;
                continue;
            }
            if let Some(Some(Line { taken: Some(taken), .. })) = lines.get_mut(at).map(Option::take)
            {
                if taken.inline {
                    self.tally.span(&taken.code);
                } else {
                    self.tally.block(&taken.code, None);
                }
            }
            at += 1;
        }
        let end = start + tail.len();
        self.put_back(&mut tail, start, &mut done, end);
    }

    /// Puts blocks back that were there, up to a place.
    fn put_back(&mut self, tail: &mut [Option<Block>], start: usize, done: &mut usize, end: usize) {
        let blocks = tail.get_mut(*done - start..end - start).into_iter().flatten();
        self.document.blocks.extend(blocks.filter_map(Option::take));
        *done = end;
    }

    /// Puts one leaf in the place of several. Answers where their last one stood, and one more.
    fn join(&mut self, run: Vec<Line>, tail: &mut [Option<Block>], start: usize) -> usize {
        let mut code = String::new();
        let (mut kind, mut pieces, mut end) = (LeafKind::Text, 0..0, start);
        for (n, line) in run.into_iter().enumerate() {
            let Some(Some(Block::Leaf(leaf))) = tail.get_mut(line.block - start).map(Option::take)
            else {
                continue;
            };
            if n > 0 {
                code.push(if line.in_row { '\t' } else { '\n' });
            }
            let text = self.document.plain(&leaf);
            self.tally.kept_no_more(&text);
            code.push_str(line.taken.as_ref().map_or(text.as_str(), |taken| taken.code.as_str()));
            // Links are listed by their pieces.
            for piece in self.document.pieces.get_mut(leaf.pieces.clone()).unwrap_or_default() {
                *piece = Piece::Text(0..0);
            }
            if leaf.kind == LeafKind::Paragraph {
                kind = LeafKind::Paragraph;
            }
            if n == 0 {
                pieces = leaf.pieces;
            }
            end = line.block + 1;
        }
        let words = placeholder::block(placeholder::n_lines(&code), None);
        self.tally.block(&code, None);
        self.tally.kept(&words);
        let from = self.document.text.len();
        self.document.text.push_str(&words);
        if let Some(piece) = self.document.pieces.get_mut(pieces.start) {
            *piece = Piece::Text(from..self.document.text.len());
        }
        self.document.mended = true;
        self.document.unsettled = true;
        self.document.blocks.push(Block::Leaf(Leaf { kind, pieces }));
        end
    }
}
