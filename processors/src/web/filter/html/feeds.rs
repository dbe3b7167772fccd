//! HTML that is escaped as text, as feeds have it: read as the HTML that it is, once.

use super::{
    Syntax, attributes,
    guard::{self, Room},
    tree::{Data, Id, Tree},
};
use crate::web::filter::{json::has_markup, tally::Tally};

/// Elements of feeds that hold it.
const HOLDERS: [&str; 10] = [
    "description",
    "summary",
    "content",
    "content:encoded",
    "encoded",
    "subtitle",
    "info",
    "rights",
    "itunes:summary",
    "media:description",
];

/// Puts the tree of escaped HTML in the place of its text. What is escaped in that again is text.
pub(super) fn unescape(tree: &mut Tree, room: &mut Room, tally: &mut Tally) {
    let holders: Vec<Id> = tree.ids().filter(|id| is_escaped(tree, *id)).collect();
    for id in holders {
        let Data::Text(text) = tree.data(id) else { continue };
        let text = text.clone();
        tree.graft(id, guard::parse_at(tree.depth(id), &text, Syntax::Html, room, tally));
    }
}

fn is_escaped(tree: &Tree, id: Id) -> bool {
    let Data::Text(text) = tree.data(id) else { return false };
    if !text.contains('<') || !has_markup(text) {
        return false;
    }
    let Some((name, attributes)) = tree.parent(id).and_then(|above| tree.element(above)) else {
        return false;
    };
    HOLDERS.contains(&&**name)
        || attributes::value(attributes, "type")
            // Titles are read as text, whatever stands in them.
            .is_some_and(|kind| {
                kind == "html" || kind == "text/html" || kind == "xhtml" && &**name == "title"
            })
}
