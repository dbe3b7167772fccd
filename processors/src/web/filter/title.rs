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
    let headings = || {
        document.blocks.iter().filter_map(|block| match block {
            Block::Leaf(leaf @ Leaf { kind: LeafKind::Heading(level), .. }) => {
                Some((*level, one_line(&document.plain(leaf)))).filter(|(_, line)| speaks(line))
            }
            _ => None,
        })
    };
    let title = Some(one_line(&document.title)).filter(|title| speaks(title));
    let title = title
        .or_else(|| {
            headings().find(|(level, _)| *level == 1 || kind == Kind::Markdown).map(|it| it.1)
        })
        .or_else(|| headings().next().map(|it| it.1))?;
    let title = title.get(..render::plain::words(&title, MAX_TITLE_BYTES))?.trim_end();
    // Lines that were prose each by itself may be code on one, and so may half a sentence.
    first_code(title, wanted).is_none().then(|| title.to_owned())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether it says more than that code was there.
fn speaks(line: &str) -> bool {
    !line.is_empty() && !placeholder::is_one(line)
}
