//! What was removed, counted once, where it is removed.

use weir_events::web::content::FilterReport;

use super::{
    placeholder,
    removed::{Removals, RemovedKind},
};

/// Above this share of code, a page is rather code than text.
const HIGH_DENSITY: f64 = 0.5;
const MAX_WARNINGS: usize = 16;

/// Counts of one filtering.
#[derive(Debug, Default)]
pub(super) struct Tally {
    n_blocks: u32,
    n_spans: u32,
    block_bytes: u64,
    span_bytes: u64,
    /// Scripts, styles and what else no reader sees.
    unseen_bytes: u64,
    n_transformed: u32,
    code_chars: u64,
    kept_chars: u64,
    warnings: Vec<String>,
    /// What went, where somebody wants to see it.
    removals: Option<Removals>,
}

impl Tally {
    /// One that keeps what goes.
    pub(super) fn keeping() -> Self {
        Self { removals: Some(Removals::default()), ..Self::default() }
    }

    /// A block of code went.
    pub(super) fn block(&mut self, code: &str, language: Option<&'static str>) {
        self.n_blocks = self.n_blocks.saturating_add(1);
        self.block_bytes += code.len() as u64;
        self.code_chars += visible(code);
        self.went(RemovedKind::Block, language, code);
    }

    /// Code within a sentence went.
    pub(super) fn span(&mut self, code: &str) {
        self.n_spans = self.n_spans.saturating_add(1);
        self.span_bytes += code.len() as u64;
        self.code_chars += visible(code);
        self.went(RemovedKind::Inline, None, code);
    }

    /// Something went that readers do not see.
    pub(super) fn unseen(&mut self, text: &str) {
        self.unseen_bytes += text.len() as u64;
        if self.removals.is_some() && !text.trim().is_empty() {
            self.went(RemovedKind::Unseen, None, text);
        }
    }

    fn went(&mut self, kind: RemovedKind, language: Option<&'static str>, text: &str) {
        if let Some(removals) = &mut self.removals {
            removals.add(kind, language, placeholder::n_lines(text), text);
        }
    }

    /// What went, if it was kept.
    pub(super) fn removals(&mut self) -> Removals {
        self.removals.take().unwrap_or_default()
    }

    /// What went is described in words.
    pub(super) const fn transformed(&mut self) {
        self.n_transformed = self.n_transformed.saturating_add(1);
    }

    /// Text stays.
    pub(super) fn kept(&mut self, text: &str) {
        self.kept_chars += visible(text);
    }

    /// Text that stayed goes after all.
    pub(super) fn kept_no_more(&mut self, text: &str) {
        self.kept_chars = self.kept_chars.saturating_sub(visible(text));
    }

    /// Something that a reader should know, told once.
    pub(super) fn warn(&mut self, words: impl Into<String>) {
        let words = words.into();
        if self.warnings.len() < MAX_WARNINGS && !self.warnings.contains(&words) {
            self.warnings.push(words);
        }
    }

    /// The share of code among what readers saw before, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a share, told to two digits")]
    pub(super) fn density(&self) -> f64 {
        let all = self.code_chars + self.kept_chars;
        if all == 0 { 0.0 } else { self.code_chars as f64 / all as f64 }
    }

    /// The counts as the world sees them.
    pub(super) fn report(mut self, truncated: bool) -> FilterReport {
        if HIGH_DENSITY < self.density() {
            self.warn("high code density detected");
        }
        if truncated {
            self.warn("truncated");
        }
        FilterReport {
            code_blocks_removed: self.n_blocks.saturating_add(self.n_spans),
            bytes_stripped: self.block_bytes + self.span_bytes + self.unseen_bytes,
            transformations: self.n_transformed,
            warnings: self.warnings,
        }
    }
}

/// How many characters are not blank.
fn visible(text: &str) -> u64 {
    // Continuation bytes are no characters of their own.
    text.bytes().filter(|byte| !byte.is_ascii_whitespace() && byte & 0xc0 != 0x80).count() as u64
}
