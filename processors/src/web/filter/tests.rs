//! What the filter does, seen from outside: each trap that a filter of this kind is known to fall
//! into is a test here.

mod commands;
mod described;
mod forms;
mod html;
pub(super) mod laws;
mod markdown;
mod marked;
mod prose;
mod settings;
mod siblings;
mod sources;
mod text;
mod titles;
mod traps;

use super::*;

/// Stands for code in the cases: it must be nowhere in what comes out.
const CODE: &str = "leak_me";
/// Stands for prose: it must be there.
const PROSE: &str = "keepsake";

fn filtered(body: &[u8], declared: &str, wanted: &ContentFilter) -> Filtered {
    filter(body, Some(declared), wanted, Caps::default()).unwrap()
}

fn raw(body: &str, declared: &str) -> Filtered {
    filtered(body.as_bytes(), declared, &ContentFilter::default())
}

fn in_format(format: ContentFormat) -> ContentFilter {
    ContentFilter { format, ..ContentFilter::default() }
}

/// Filters in each format, and holds that no code is left and all prose is.
fn holds(name: &str, body: &[u8], declared: &str) {
    for format in ContentFormat::ALL {
        let filtered = filtered(body, declared, &in_format(format));
        let content = &filtered.content;
        assert!(!content.contains(CODE), "{name}, {format:?}: code in {content:?}");
        if format != ContentFormat::Summary {
            let said = String::from_utf8_lossy(body).matches(PROSE).count();
            let kept = content.matches(PROSE).count();
            assert!(said <= kept, "{name}, {format:?}: {kept} of {said} words in {content:?}");
        }
        assert!(std::str::from_utf8(content.as_bytes()).is_ok(), "{name}");
        if format == ContentFormat::Raw {
            let again = super::filter(
                content.as_bytes(),
                Some(filtered.content_type),
                &ContentFilter::default(),
                Caps::default(),
            );
            assert_eq!(&again.unwrap().content, content, "{name}: filtered again");
        }
    }
}
