//! What the filter took out, kept for who wants to see it: an operator who tries a page. Agents are
//! never shown any of it, and their pages are filtered without keeping it.

/// So many pieces are kept; the rest is only counted.
const MAX_PIECES: usize = 256;
/// So much is kept of each.
const MAX_PIECE_BYTES: usize = 4 << 10;

/// Where code stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovedKind {
    /// On lines of its own.
    Block,
    /// Within a sentence.
    Inline,
    /// Where no reader sees it: scripts, styles, and the like.
    Unseen,
}

impl RemovedKind {
    /// The name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Inline => "inline",
            Self::Unseen => "unseen",
        }
    }
}

/// A piece that was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// Where it stood.
    pub kind: RemovedKind,
    /// Its language, where the page names one.
    pub language: Option<&'static str>,
    /// How many of its lines are not blank.
    pub n_lines: usize,
    /// It, or its first 4 KiB.
    pub text: String,
    /// Whether that is not all of it.
    pub is_cut: bool,
}

/// The pieces that were taken out of a page, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removals {
    /// The first 256.
    pub pieces: Vec<Removed>,
    /// How many there were beside them.
    pub n_more: usize,
}

impl Removals {
    pub(super) fn add(
        &mut self,
        kind: RemovedKind,
        language: Option<&'static str>,
        n_lines: usize,
        text: &str,
    ) {
        if MAX_PIECES <= self.pieces.len() {
            self.n_more += 1;
            return;
        }
        let kept = text.get(..text.floor_char_boundary(MAX_PIECE_BYTES)).unwrap_or_default();
        let is_cut = kept.len() < text.len();
        self.pieces.push(Removed { kind, language, n_lines, text: kept.to_owned(), is_cut });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_the_rest_is_counted() {
        let mut removals = Removals::default();
        let long = "é".repeat(MAX_PIECE_BYTES);
        for _ in 0..MAX_PIECES + 3 {
            removals.add(RemovedKind::Block, Some("rust"), 1, &long);
        }
        assert_eq!((removals.pieces.len(), removals.n_more), (MAX_PIECES, 3));
        assert!(removals.pieces.iter().all(|it| it.is_cut && it.text.len() == MAX_PIECE_BYTES));
        let mut removals = Removals::default();
        removals.add(RemovedKind::Inline, None, 1, "f(x)");
        assert_eq!((removals.pieces[0].text.as_str(), removals.pieces[0].is_cut), ("f(x)", false));
    }
}
