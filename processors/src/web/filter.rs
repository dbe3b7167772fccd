//! The code-removal filter: agents learn concepts from pages, and never copy implementations.
//!
//! A pure function of the body, the type it was declared to be, and what is wanted. No byte of a
//! page is looked at before it is decoded, and no markup is passed on: HTML (and Markdown, through
//! its HTML) becomes the tree that a browser sees, that becomes a [`document`] of blocks by an
//! allow-list, and what is given out is written anew from those. What is code by its element is left
//! out on the way, what is code by its looks is found by [`judge`]. Cutting to size comes last.
//!
//! Filtering what was filtered changes nothing. Nothing here recurses.

mod builder;
mod charset;
mod coded;
mod describe;
mod document;
pub mod essence;
mod html;
mod ignorable;
mod json;
mod judge;
mod kind;
mod language;
mod markdown;
mod placeholder;
mod plain;
mod removed;
mod render;
mod tally;
mod title;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use weir_events::web::content::{ContentFilter, ContentFormat, FilterReport};

pub use self::removed::{Removals, Removed, RemovedKind};
use self::{
    document::{Block, Container, Document, Leaf, LeafKind},
    kind::Kind,
    tally::Tally,
};

/// Bounds that no agent can widen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// So much of a decoded body is read; the rest is left out, with a warning.
    pub max_input_bytes: usize,
    /// `max_size` counts as at most this.
    pub max_output_bytes: usize,
}

impl Caps {
    /// The most that can be configured: 8 MiB in, and out what fits into an envelope.
    pub const MOST: Self = Self { max_input_bytes: 8 << 20, max_output_bytes: 1_000_000 };
}

impl Default for Caps {
    fn default() -> Self {
        Self { max_input_bytes: 2 << 20, ..Self::MOST }
    }
}

/// A page without its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    /// At most `max_size` bytes.
    pub content: String,
    /// Its type, which says UTF-8.
    pub content_type: &'static str,
    /// What the page is called, without code: at most 300 bytes. None where it does not say.
    pub title: Option<String>,
    /// What was done.
    pub report: FilterReport,
    /// Whether some of it is missing because it was too long, or did not come.
    pub truncated: bool,
}

/// How much of a page a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Beginning,
}

/// A page without its code, and what an operator who tries it wants to see beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspected {
    /// What an agent would get.
    pub filtered: Filtered,
    /// The share of code among what readers saw before, from 0 to 1.
    pub density: f64,
    /// What was taken out.
    pub removals: Removals,
}

/// Why a body is not filtered at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// An answer of no size was asked for.
    #[error("`max_size` is 0: ask for at least 1 byte")]
    NoSize,
    /// It is no text: pictures, archives, programs and the like.
    #[error("{what} cannot be filtered, and is not passed on")]
    Type {
        /// What it is.
        what: Cow<'static, str>,
    },
}

/// Whether a body is more, decoded, than what is read of one: what is made of it is then made of its
/// beginning.
#[must_use]
pub fn overflows(body: &[u8], declared: Option<&str>, caps: Caps) -> bool {
    let max = caps.max_input_bytes;
    // No byte becomes more than three of UTF-8, in whatever charset.
    if body.len().saturating_mul(3) <= max || kind::binary(body).is_some() {
        return false;
    }
    let declared = kind::Declared::parse(declared);
    max < charset::decode(body, &declared, &mut Tally::default()).len()
}

/// Removes the code from a body. `declared` is what its `Content-Type` says, and not believed.
pub fn filter(
    body: &[u8],
    declared: Option<&str>,
    wanted: &ContentFilter,
    caps: Caps,
) -> Result<Filtered, Unfit> {
    reported(body, Extent::Whole, declared, wanted, caps)
}

/// The same of a body that is only the beginning of one: what is made of it says so.
pub fn filter_beginning(
    body: &[u8],
    declared: Option<&str>,
    wanted: &ContentFilter,
    caps: Caps,
) -> Result<Filtered, Unfit> {
    reported(body, Extent::Beginning, declared, wanted, caps)
}

fn reported(
    body: &[u8],
    extent: Extent,
    declared: Option<&str>,
    wanted: &ContentFilter,
    caps: Caps,
) -> Result<Filtered, Unfit> {
    let mut tally = Tally::default();
    let filtered = tallied((body, extent), declared, wanted, caps, &mut tally)?;
    Ok(Filtered { report: tally.report(filtered.truncated), ..filtered })
}

/// The same, and keeps what is taken out: for operators, and never for agents.
pub fn inspect(
    body: &[u8],
    declared: Option<&str>,
    wanted: &ContentFilter,
    caps: Caps,
) -> Result<Inspected, Unfit> {
    let mut tally = Tally::keeping();
    let filtered = tallied((body, Extent::Whole), declared, wanted, caps, &mut tally)?;
    let (density, removals) = (tally.density(), tally.removals());
    let filtered = Filtered { report: tally.report(filtered.truncated), ..filtered };
    Ok(Inspected { filtered, density, removals })
}

/// Filters, and leaves what it counted to be reported.
fn tallied(
    (body, mut extent): (&[u8], Extent),
    declared: Option<&str>,
    wanted: &ContentFilter,
    caps: Caps,
    tally: &mut Tally,
) -> Result<Filtered, Unfit> {
    if wanted.max_size == 0 {
        return Err(Unfit::NoSize);
    }
    let max_size =
        usize::try_from(wanted.max_size).unwrap_or(usize::MAX).min(caps.max_output_bytes);
    let declared = kind::Declared::parse(declared);
    if let Some(what) = kind::binary(body) {
        return Err(Unfit::Type { what: what.into() });
    }
    let decoded = charset::decode(body, &declared, tally);
    let text = charset::capped(&decoded, caps.max_input_bytes, tally);
    if text.len() < decoded.len() {
        extent = Extent::Beginning;
    }
    let mut kind = kind::of(text, &declared)?;
    let mut text = Cow::Borrowed(text);
    if kind == Kind::Plain
        && let Cow::Owned(seen) = ignorable::seen(&text)
    {
        // Without what nobody sees, it may look like something else.
        kind = kind::of(&seen, &declared)?;
        text = Cow::Owned(seen);
    }
    let unseen = |c: char| c.is_whitespace() || ignorable::is_ignorable(c);
    let written = if text.chars().all(unseen) {
        Written::default()
    } else {
        filter_text((&text, extent), kind, wanted, max_size, tally)
    };
    let content_type = match (kind, wanted.format) {
        (_, ContentFormat::Structured) => "application/json; charset=utf-8",
        (_, ContentFormat::Summary) => "text/plain; charset=utf-8",
        (kind, ContentFormat::Raw) => kind.content_type(),
    };
    let Written { content, title, truncated, .. } = written;
    let truncated = truncated || extent == Extent::Beginning;
    Ok(Filtered { content, content_type, title, report: FilterReport::default(), truncated })
}

/// Filters until filtering again changes nothing: half a line may look like code, and so may two that
/// stand in one heading or cell of Markdown.
fn filter_text(
    (text, extent): (&str, Extent),
    kind: Kind,
    wanted: &ContentFilter,
    max_size: usize,
    tally: &mut Tally,
) -> Written {
    const MAX_ROUNDS: usize = 4;
    let mut written = pass((text, extent), kind, wanted, max_size, tally);
    if wanted.format != ContentFormat::Raw || written.settled {
        return written;
    }
    let content = &mut written.content;
    for _ in 0..MAX_ROUNDS {
        let again = pass((content, extent), kind, wanted, max_size, &mut Tally::default()).content;
        if again == *content {
            break;
        }
        *content = again;
    }
    if content.trim().is_empty() {
        content.clear();
    }
    written
}

/// What one pass gives.
#[derive(Default)]
struct Written {
    content: String,
    title: Option<String>,
    truncated: bool,
    /// It is known that another pass changes nothing.
    settled: bool,
}

fn pass(
    (text, extent): (&str, Extent),
    kind: Kind,
    wanted: &ContentFilter,
    max_size: usize,
    tally: &mut Tally,
) -> Written {
    let document = match kind {
        Kind::Html => html::read(text, html::Syntax::Html, wanted, tally),
        Kind::Xhtml => html::read(text, html::Syntax::Xhtml, wanted, tally),
        Kind::Markdown => markdown::read(text, wanted, tally),
        Kind::Plain | Kind::Json | Kind::Source(_) => {
            let filtered = match kind {
                Kind::Json => json::filter(text, wanted, tally),
                Kind::Source(language) => plain::notice(text, language, wanted, tally),
                _ => plain::filter(text, wanted, tally),
            };
            if wanted.format == ContentFormat::Raw && kind == Kind::Json {
                return json::written(filtered, max_size);
            }
            if wanted.format == ContentFormat::Raw {
                let (content, truncated) = render::plain::cut(&filtered, max_size);
                // What goes may leave lines side by side that were apart.
                let settled = !truncated && content == text;
                return Written { content, truncated, settled, title: None };
            }
            if kind == Kind::Json { json::document(&filtered) } else { plain::document(&filtered) }
        }
    };
    let title = title::of(&document, kind, wanted);
    let (content, truncated, settled) = match (wanted.format, kind) {
        (ContentFormat::Structured, _) => {
            let (content, truncated) = render::structured::write(&document, extent, max_size);
            (content, truncated, true)
        }
        (ContentFormat::Summary, _) => {
            let (content, truncated) = render::summary::write(&document, max_size);
            (content, truncated, true)
        }
        (ContentFormat::Raw, Kind::Markdown) => {
            let render::markdown::Markdown { content, truncated, settled } =
                render::markdown::write(&document, max_size);
            let settled = settled
                && !document.mended
                && !joins_lines(&document)
                && !markdown::has_marks(&content);
            (content, truncated, settled)
        }
        (ContentFormat::Raw, _) => {
            let html = render::html::write(&document, max_size, wanted);
            (html.content, html.truncated, html.settled)
        }
    };
    Written { content, title, truncated, settled: settled && !document.unsettled }
}

/// Where the first of what has to go begins in a text that stands for itself, if anything has to.
fn first_code(text: &str, wanted: &ContentFilter) -> Option<usize> {
    let goes = |code: &judge::Removal| {
        if code.inline { wanted.strip_inline_code } else { wanted.strip_code_blocks }
    };
    judge::judge(text, judge::Caution::Usual).into_iter().find(goes).map(|code| code.range.start)
}

/// Whether Markdown has no way to keep lines apart that are apart in the document: a cell is one
/// line, and so is a heading. A table of HTML may have more in it than that, and begin otherwise.
fn joins_lines(document: &Document) -> bool {
    let is_joined = |leaf: &Leaf| document.any_text(leaf, |text| text.contains(['\n', '\r']));
    let (mut in_table, mut in_cell) = (false, false);
    document.blocks.iter().any(|block| match block {
        Block::Open(Container::Table) => std::mem::replace(&mut in_table, true),
        Block::Close(Container::Table) => {
            in_table = false;
            false
        }
        Block::Open(Container::Cell { .. }) => {
            in_cell = true;
            false
        }
        Block::Open(Container::Row) | Block::Close(_) => false,
        // One leaf a cell.
        Block::Leaf(leaf) if in_table => !std::mem::take(&mut in_cell) || is_joined(leaf),
        Block::Leaf(leaf) => matches!(leaf.kind, LeafKind::Heading(_)) && is_joined(leaf),
        Block::Open(_) => in_table,
    })
}
