//! What a page is called: in its title, or in its heading.

use weir_events::web::content::ContentFilter;

use super::{
    document::{Block, Document, Leaf, LeafKind},
    first_code,
    kind::Kind,
    placeholder, render,
};

/// What is longer is cut.
const MAX_TITLE_BYTES: usize = 300;

/// The title of a page, or else its first heading of the first level (of Markdown: its first heading
/// of any), or else its first heading. One line, of which code is left out as of the page.
pub(super) fn of(document: &Document, kind: Kind, wanted: &ContentFilter) -> Option<String> {
    let title = Some(one_line(&document.title)).filter(|title| speaks(title));
    let title = title.or_else(|| heading(document, kind))?;
    let title = title.get(..render::plain::words(&title, MAX_TITLE_BYTES))?.trim_end();
    // Lines that were prose each by itself may be code on one, and so may half a sentence.
    first_code(title, wanted).is_none().then(|| title.to_owned())
}

/// The heading that a page is called by.
fn heading(document: &Document, kind: Kind) -> Option<String> {
    let mut first = None;
    for block in &document.blocks {
        let Block::Leaf(leaf @ Leaf { kind: LeafKind::Heading(level), .. }) = block else {
            continue;
        };
        let is_chief = *level == 1 || kind == Kind::Markdown;
        if !is_chief && first.is_some() {
            continue;
        }
        let line = one_line(&document.plain(leaf));
        if speaks(&line) {
            if is_chief {
                return Some(line);
            }
            first = Some(line);
        }
    }
    first
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether it says more than that code was there.
fn speaks(line: &str) -> bool {
    !line.is_empty() && !placeholder::is_one(line)
}
