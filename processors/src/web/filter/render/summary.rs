//! A short extract: the title, and each section's heading with the sentence it begins with.

use super::structured::text;
use crate::web::filter::{
    document::{Block, Container, Document, LeafKind},
    placeholder,
};

/// No summary is longer.
const MAX_SUMMARY_BYTES: usize = 2 << 10;
/// So many sentences of the page's first section.
const N_LEADING: usize = 3;

/// Writes the extract. It is cut only if `max_size` is less than a summary's own bound.
pub(in crate::web::filter) fn write(document: &Document, max_size: usize) -> (String, bool) {
    let bound = MAX_SUMMARY_BYTES.min(max_size);
    let mut lines: Vec<String> = Vec::new();
    if !document.title.is_empty() {
        lines.push(document.title.clone());
    }
    let mut heading: Option<String> = None;
    let mut wanted = N_LEADING;
    let mut aside = 0_usize;
    for block in &document.blocks {
        match block {
            Block::Open(Container::List { .. } | Container::Table) => aside += 1,
            Block::Close(Container::List { .. } | Container::Table) => {
                aside = aside.saturating_sub(1);
            }
            Block::Leaf(leaf) => match leaf.kind {
                LeafKind::Heading(_) => {
                    heading = Some(text(document, leaf));
                    wanted = wanted.max(1);
                }
                LeafKind::Paragraph | LeafKind::Text if 0 < wanted && aside == 0 => {
                    let text = text(document, leaf);
                    let (words, n) = leading(&text, wanted);
                    if n == 0 {
                        continue;
                    }
                    if let Some(heading) =
                        heading.take().filter(|heading| *heading != document.title)
                    {
                        lines.push(heading);
                    }
                    lines.push(words);
                    wanted -= n;
                }
                _ => {}
            },
            _ => {}
        }
        if MAX_SUMMARY_BYTES < lines.iter().map(|line| line.len() + 1).sum() {
            break;
        }
    }
    if lines.is_empty() {
        lines.extend(heading);
    }
    fit(&lines, bound, max_size)
}

fn fit(lines: &[String], bound: usize, max_size: usize) -> (String, bool) {
    let mut out = String::new();
    for line in lines {
        if bound < out.len() + line.len() + 1 {
            if out.is_empty() {
                let begin = line.get(..line.floor_char_boundary(bound)).unwrap_or_default();
                out.push_str(begin.rfind(' ').and_then(|at| begin.get(..at)).unwrap_or(begin));
            }
            // Its own bound is what a summary is, and no cut.
            return (out, max_size < MAX_SUMMARY_BYTES);
        }
        out.push_str(line);
        out.push('\n');
    }
    (out, false)
}

/// The first sentences of a paragraph, and how many they are. What says little is no sentence.
fn leading(text: &str, wanted: usize) -> (String, usize) {
    const MIN_WORDS: usize = 4;
    let line = text.replace('\n', " ");
    if line.split_whitespace().count() < MIN_WORDS || placeholder::is_one(&line) {
        return (String::new(), 0);
    }
    let mut n = 0;
    let mut end = line.len();
    for (at, c) in line.char_indices() {
        let here = at + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                let rest = line.get(here..).unwrap_or_default();
                let begins = |c: char| c.is_uppercase() || !c.is_alphabetic();
                rest.starts_with(' ') && rest.trim_start().starts_with(begins)
            }
            _ => false,
        };
        if ends {
            n += 1;
            if n == wanted {
                end = here;
                break;
            }
        }
    }
    let words = line.get(..end).unwrap_or_default().trim().to_owned();
    (words, n.max(1))
}
