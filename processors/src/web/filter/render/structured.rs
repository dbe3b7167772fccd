//! A document as JSON: what it says, in order, without any markup.
//!
//! `{"title", "blocks": […], "links": […], "truncated"}`; a block is a `heading` with its `level`, a
//! `paragraph`, a list `item` with its `depth`, a `quote`, a `term`, a `definition`, or a `table`
//! with its `rows`. What is `truncated` is not all of the page: it was too long, or did not come.

use serde::Serialize;

use crate::web::filter::{
    Extent,
    document::{Block, Container, Document, Inline, Leaf, LeafKind, Piece},
};

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum View {
    Heading { level: u8, text: String },
    Paragraph { text: String },
    Item { depth: usize, ordered: bool, text: String },
    Quote { text: String },
    Term { text: String },
    Definition { text: String },
    Code { text: String },
    Table { caption: String, rows: Vec<Vec<String>> },
}

#[derive(Debug, Serialize)]
struct LinkView<'a> {
    text: String,
    address: &'a str,
}

/// Writes as many whole blocks as fit, then as many links; says whether something did not.
pub(in crate::web::filter) fn write(
    document: &Document,
    extent: Extent,
    max_size: usize,
) -> (String, bool) {
    const BETWEEN: &str = "],\"links\":[";
    const END: &str = "],\"truncated\":false}";
    let title = serde_json::to_string(&document.title).unwrap_or_else(|_| "\"\"".to_owned());
    let mut out = format!("{{\"title\":{title},\"blocks\":[");
    let room = max_size.checked_sub(out.len() + BETWEEN.len() + END.len());
    let Some(mut room) = room else {
        // Not even the title fits; the least that is still JSON.
        return (if 2 <= max_size { "{}".to_owned() } else { String::new() }, true);
    };
    let mut truncated =
        !list(&mut out, &mut room, views(document).iter().map(serde_json::to_string));
    out.push_str(BETWEEN);
    let links = links(document);
    truncated |= truncated || !list(&mut out, &mut room, links.iter().map(serde_json::to_string));
    out.push_str("],\"truncated\":");
    let is_part = truncated || extent == Extent::Beginning;
    out.push_str(if is_part { "true}" } else { "false}" });
    (out, truncated)
}

/// Writes what fits, and says whether all did.
fn list(
    out: &mut String,
    room: &mut usize,
    items: impl Iterator<Item = serde_json::Result<String>>,
) -> bool {
    for (n, item) in items.flatten().enumerate() {
        let Some(rest) = room.checked_sub(item.len() + usize::from(0 < n)) else { return false };
        *room = rest;
        if 0 < n {
            out.push(',');
        }
        out.push_str(&item);
    }
    true
}

/// Text on one line for each line that readers see.
pub(super) fn text(document: &Document, leaf: &Leaf) -> String {
    document.plain(leaf).replace('\n', " ").replace('\r', "\n")
}

fn views(document: &Document) -> Vec<View> {
    let mut views = Vec::new();
    let mut open: Vec<Container> = Vec::new();
    let mut tables: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    for block in &document.blocks {
        match block {
            Block::Open(container) => {
                match (container, tables.last_mut()) {
                    (Container::Table, _) => tables.push((String::new(), Vec::new())),
                    (Container::Row, Some((_, rows))) => rows.push(Vec::new()),
                    (Container::Cell { .. }, Some((_, rows))) => {
                        if let Some(row) = rows.last_mut() {
                            row.push(String::new());
                        }
                    }
                    _ => {}
                }
                open.push(*container);
            }
            Block::Close(container) => {
                open.pop();
                if *container == Container::Table
                    && let Some((caption, rows)) = tables.pop()
                {
                    views.push(View::Table { caption, rows });
                }
            }
            Block::Leaf(leaf) => {
                let text = text(document, leaf);
                match tables.last_mut() {
                    Some((caption, _)) if open.last() == Some(&Container::Caption) => {
                        add(caption, &text);
                    }
                    Some((_, rows)) => {
                        if let Some(cell) = rows.last_mut().and_then(|row| row.last_mut()) {
                            add(cell, &text);
                        }
                    }
                    None => views.push(view(leaf.kind, &open, text)),
                }
            }
        }
    }
    views
}

fn add(cell: &mut String, text: &str) {
    if !cell.is_empty() {
        cell.push('\n');
    }
    cell.push_str(text);
}

fn view(kind: LeafKind, open: &[Container], text: String) -> View {
    match kind {
        LeafKind::Heading(level) => return View::Heading { level, text },
        LeafKind::Code => return View::Code { text },
        LeafKind::Paragraph | LeafKind::Text => {}
    }
    let list = |container: &&Container| matches!(container, Container::List { .. });
    match open.last() {
        Some(Container::Item) => View::Item {
            depth: open.iter().filter(list).count(),
            ordered: open.iter().rev().find(list) == Some(&Container::List { ordered: true }),
            text,
        },
        Some(Container::Quote) => View::Quote { text },
        Some(Container::Term) => View::Term { text },
        Some(Container::Definition) => View::Definition { text },
        _ => View::Paragraph { text },
    }
}

fn links(document: &Document) -> Vec<LinkView<'_>> {
    let mut links: Vec<LinkView<'_>> = Vec::new();
    let mut text: Option<String> = None;
    for piece in &document.pieces {
        match piece {
            Piece::Open(Inline::Link(_)) => text = Some(String::new()),
            Piece::Text(span) => {
                if let Some(text) = &mut text {
                    text.push_str(document.str(span));
                }
            }
            Piece::Close(Inline::Link(link)) => {
                let address = document.links.get(*link).map_or("", String::as_str);
                if let Some(text) = text.take() {
                    let text = text.replace(['\n', '\r'], " ");
                    links.push(LinkView { text, address });
                }
            }
            _ => {}
        }
    }
    links
}
