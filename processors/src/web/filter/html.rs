//! HTML: the tree that a browser would build, walked once, by allow-list.

mod attributes;
mod entities;
mod feeds;
mod guard;
mod leaps;
mod letters;
mod roles;
mod tags;
mod tree;
mod walk;

use weir_events::web::content::ContentFilter;

pub(super) use self::guard::Room;
use super::{document::Document, judge::Caution, tally::Tally};

/// How tags are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Html,
    /// `<p/>` is empty, and what stands in CDATA is read like the rest: feeds put HTML there.
    Xhtml,
}

/// Reads a page, and leaves its code out.
pub(super) fn read(
    text: &str,
    syntax: Syntax,
    wanted: &ContentFilter,
    tally: &mut Tally,
) -> Document {
    read_as(text, syntax, Caution::Usual, wanted, &mut Room::of(text.len()), tally)
}

/// The same of text that is judged otherwise, or of a piece of a page: there is as much room as that has left.
pub(super) fn read_as(
    text: &str,
    syntax: Syntax,
    caution: Caution,
    wanted: &ContentFilter,
    room: &mut Room,
    tally: &mut Tally,
) -> Document {
    let unwrapped = (syntax == Syntax::Xhtml && text.contains("<![CDATA["))
        .then(|| text.replace("<![CDATA[", "").replace("]]>", ""));
    let text = unwrapped.as_deref().unwrap_or(text);
    let mut tree = guard::parse(text, syntax, room, tally);
    if syntax == Syntax::Xhtml {
        feeds::unescape(&mut tree, room, tally);
    }
    if ["<style", "<STYLE", "<Style"].iter().any(|tag| text.contains(tag)) {
        letters::set(&mut tree);
    }
    walk::walk(&tree, text.len(), (caution, syntax), wanted, tally)
}
