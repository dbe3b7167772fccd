//! What is written in the place of what is code by its element, and in that of pictures.

use weir_events::web::content::ContentFilter;

use super::{
    builder::Builder,
    describe,
    document::LeafKind,
    judge::{self, Caution},
    placeholder,
};

/// Code within a sentence is shorter than this; what is longer is a block.
const MAX_SPAN_BYTES: usize = 240;

/// A block or a span of code. `language`: what a block is written in, if anything says so.
pub(super) fn put(
    builder: &mut Builder<'_>,
    wanted: &ContentFilter,
    code: &str,
    block: bool,
    language: impl FnOnce() -> Option<&'static str>,
) {
    if code.trim().is_empty() {
        // A word may end here all the same.
        builder.text(code);
        return;
    }
    let lines = code.trim().bytes().filter(|byte| *byte == b'\n').count();
    if block || MAX_SPAN_BYTES < code.len() || 3 < lines {
        self::block(builder, wanted, code, language);
    } else {
        span(builder, wanted, code);
    }
}

fn block(
    builder: &mut Builder<'_>,
    wanted: &ContentFilter,
    code: &str,
    language: impl FnOnce() -> Option<&'static str>,
) {
    if !wanted.strip_code_blocks {
        builder.note(LeafKind::Code, code.trim_matches('\n'));
        return;
    }
    let (n_lines, language) = (placeholder::n_lines(code), language());
    builder.tally.block(code, language);
    let described = Some(code)
        .filter(|_| wanted.transform_apis)
        .and_then(describe::signature)
        .or_else(|| wanted.transform_examples.then(|| describe::example(code, n_lines, language)));
    if described.is_some() {
        builder.tally.transformed();
    }
    let words = described.unwrap_or_else(|| placeholder::block(n_lines, language));
    builder.note(LeafKind::Text, &words);
}

/// Code within a sentence.
pub(super) fn span(builder: &mut Builder<'_>, wanted: &ContentFilter, code: &str) {
    let words = if builder.is_naming() { described(wanted, code) } else { None };
    instead(builder, wanted, code, words);
}

/// A signature of an API: it names what follows it, whatever it stands in.
pub(super) fn signature(builder: &mut Builder<'_>, wanted: &ContentFilter, code: &str) {
    instead(builder, wanted, code, described(wanted, code));
}

/// A signature in words, where that is wanted.
fn described(wanted: &ContentFilter, code: &str) -> Option<String> {
    let describes = wanted.transform_apis && wanted.strip_inline_code;
    Some(code).filter(|_| describes).and_then(describe::signature)
}

/// Words in the place of code, or a placeholder.
fn instead(
    builder: &mut Builder<'_>,
    wanted: &ContentFilter,
    code: &str,
    described: Option<String>,
) {
    if !wanted.strip_inline_code {
        builder.code(code);
        return;
    }
    // Blanks at its ends are those of the sentence.
    if code.starts_with(char::is_whitespace) {
        builder.text(" ");
    }
    builder.tally.span(code);
    match described {
        Some(words) => {
            builder.tally.transformed();
            builder.text(&words);
        }
        None => builder.text(placeholder::SPAN),
    }
    if code.ends_with(char::is_whitespace) {
        builder.text(" ");
    }
}

/// What is said instead of a picture.
pub(super) fn instead_of_image(builder: &mut Builder<'_>, alt: &str) {
    const MAX_ALT_BYTES: usize = 300;
    let alt = alt.trim();
    if alt.is_empty() {
        return;
    }
    if MAX_ALT_BYTES < alt.len() || !judge::judge(alt, Caution::Suspicious).is_empty() {
        builder.tally.span(alt);
        builder.text(placeholder::SPAN);
        return;
    }
    builder.text(alt);
}
