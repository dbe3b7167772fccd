//! Markdown, by way of the HTML that it means: what is code in it is decided once, on one tree.

use pulldown_cmark::{Event, Options, Parser, html::push_html};
use weir_events::web::content::ContentFilter;

use super::{document::Document, html, judge::Caution, tally::Tally};

/// Reads Markdown as `CommonMark` has it, with tables and strikethrough.
pub(super) fn read(text: &str, wanted: &ContentFilter, tally: &mut Tally) -> Document {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let text = behind_metadata(text, tally);
    let mut page = String::with_capacity(text.len() + text.len() / 2);
    let events = Parser::new_ext(text, options).map(|event| match event {
        // Lines of the source stay lines, so that they can be judged.
        Event::SoftBreak => Event::Text("\n".into()),
        event => event,
    });
    push_html(&mut page, events);
    html::read_as(&page, html::Syntax::Html, Caution::Markdown, wanted, tally)
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
