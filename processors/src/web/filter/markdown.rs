//! Markdown, by way of the HTML that it means: what is code in it is decided once, on one tree. Where
//! nobody has written HTML in it, there is a shorter way.

mod events;

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use pulldown_cmark::{Event, Options, Parser, html::push_html};
use weir_events::web::content::ContentFilter;

use super::{
    document::Document,
    html,
    judge::{self, Caution, Markup},
    placeholder,
    tally::Tally,
};

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH);

/// Reads Markdown as `CommonMark` has it, with tables and strikethrough.
pub(super) fn read(text: &str, wanted: &ContentFilter, tally: &mut Tally) -> Document {
    // The HTML that it means is longer.
    read_within(text, wanted, &mut html::Room::of(2 * text.len()), tally)
}

/// The same of a piece of a page: there is as much room as that has left.
pub(super) fn read_within(
    text: &str,
    wanted: &ContentFilter,
    room: &mut html::Room,
    tally: &mut Tally,
) -> Document {
    // Who ends lines otherwise ends them all the same.
    let ends =
        memchr(b'\r', text.as_bytes()).map(|_| text.replace("\r\n", "\n").replace('\r', "\n"));
    let text = behind_metadata(ends.as_deref().unwrap_or(text), tally);
    let text = without_marked_off(text, wanted, tally);
    let text = text.as_ref();
    // What is no character, HTML reads in its own way.
    if memchr2(b'<', 0, text.as_bytes()).is_none() {
        return events::document(text.len(), Parser::new_ext(text, OPTIONS), wanted, tally);
    }
    by_html(text, wanted, room, tally)
}

fn by_html(
    text: &str,
    wanted: &ContentFilter,
    room: &mut html::Room,
    tally: &mut Tally,
) -> Document {
    let mut page = String::with_capacity(text.len() + text.len() / 2);
    let events = Parser::new_ext(text, OPTIONS).map(|event| match event {
        // Lines of the source stay lines, so that they can be judged.
        Event::SoftBreak => Event::Text("\n".into()),
        event => event,
    });
    push_html(&mut page, events);
    html::read_as(&page, html::Syntax::Html, Caution::Markdown, wanted, room, tally)
}

/// Whether a text may have a block in it that other markup marks off.
pub(super) fn has_marks(text: &str) -> bool {
    const MARKS: [&str; 6] = ["#+", "\\begin{", ".. ", "{code", "{noformat", "[source"];
    MARKS.iter().any(|mark| text.contains(mark))
}

/// Text without the blocks that other kinds of markup mark off: Markdown knows nothing of them.
fn without_marked_off<'a>(
    text: &'a str,
    wanted: &ContentFilter,
    tally: &mut Tally,
) -> Cow<'a, str> {
    if !wanted.strip_code_blocks || !has_marks(text) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&str> = text.lines().collect();
    let marked = judge::marked_off(&lines, Markup::Markdown);
    if !marked.contains(&true) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut block: Vec<&str> = Vec::new();
    let mut end = |block: &mut Vec<&str>, kept: &mut String| {
        if !block.is_empty() {
            let code = block.join("\n");
            tally.block(&code, None);
            let words = placeholder::block(placeholder::n_lines(&code), None);
            kept.extend(["\n", words.as_str(), "\n\n"]);
            block.clear();
        }
    };
    for (line, marked) in lines.into_iter().zip(marked) {
        if marked {
            block.push(line);
            continue;
        }
        end(&mut block, &mut kept);
        kept.push_str(line);
        kept.push('\n');
    }
    end(&mut block, &mut kept);
    Cow::Owned(kept)
}

/// What stands behind the YAML or TOML that many files begin with.
fn behind_metadata<'a>(text: &'a str, tally: &mut Tally) -> &'a str {
    const MAX_METADATA_BYTES: usize = 8 << 10;
    for mark in ["---", "+++"] {
        let Some(rest) = text.strip_prefix(mark).filter(|rest| rest.starts_with(['\n', '\r']))
        else {
            continue;
        };
        let close = format!("\n{mark}");
        let begin = rest.get(..rest.floor_char_boundary(MAX_METADATA_BYTES)).unwrap_or_default();
        if let Some(at) = begin.find(&close)
            && let Some(behind) = rest.get(at + close.len()..)
            && behind.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
            && begin.get(..at).is_some_and(|lines| lines.contains(':') || lines.contains('='))
        {
            tally.unseen(begin.get(..at).unwrap_or_default());
            return behind;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::web::filter::tests::laws::{MARKDOWN, soup};

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        #[test]
        fn the_shorter_way_leads_to_the_same_document(text in soup(MARKDOWN), is_stripped: bool) {
            let text = text.replace(['<', '\r'], "");
            let wanted = ContentFilter {
                strip_code_blocks: is_stripped,
                strip_inline_code: is_stripped,
                ..ContentFilter::default()
            };
            let (mut one, mut other) = (Tally::default(), Tally::default());
            let room = &mut html::Room::of(2 * text.len());
            let long = by_html(&text, &wanted, room, &mut one);
            let short = events::document(text.len(), Parser::new_ext(&text, OPTIONS), &wanted, &mut other);
            prop_assert_eq!(format!("{short:?}"), format!("{long:?}"), "{:?}", text);
            prop_assert_eq!(other.report(false), one.report(false));
        }
    }
}
