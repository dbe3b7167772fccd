//! What a body looks like, whatever it is called.

use crate::web::filter::judge;

/// What begins like this is no text.
const MAGIC: &[(&[u8], &str)] = &[
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"RIFF", "a RIFF file"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\xfe\xed\xfa", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\x00asm", "a wasm module"),
    (b"\xd0\xcf\x11\xe0", "an office document"),
    (b"SQLite format 3\x00", "a database"),
    (b"OggS", "a recording"),
    (b"ID3", "a recording"),
    (b"fLaC", "a recording"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\x00\x01\x00\x00", "a font"),
];

/// What a body is that is no text.
pub(in crate::web::filter) fn binary(body: &[u8]) -> Option<&'static str> {
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| body.starts_with(magic)) {
        return Some(what);
    }
    (body.get(257..262) == Some(b"ustar")).then_some("a tar archive")
}

/// Whether a text is JSON, whatever it is called: an object or an array.
pub(super) fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Whether one character in ten is neither printed nor blank.
pub(super) fn unprintable(text: &str) -> bool {
    let sample = text.chars().take(4096);
    let (mut n, mut n_odd) = (0_usize, 0_usize);
    for c in sample {
        n += 1;
        n_odd +=
            usize::from(c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}'));
    }
    n < n_odd.saturating_mul(10)
}

pub(super) fn starts(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

/// The text behind declarations and comments.
fn behind_prologue(mut text: &str) -> &str {
    for _ in 0..64 {
        text = text.trim_start();
        let end = if text.starts_with("<!--") {
            text.find("-->").map(|at| at + 3)
        } else if text.starts_with("<?")
            || starts(text, "<!doctype") && !starts(text, "<!doctype html")
        {
            text.find('>').map(|at| at + 1)
        } else {
            return text;
        };
        match end.and_then(|end| text.get(end..)) {
            Some(rest) => text = rest,
            None => return "",
        }
    }
    text
}

pub(super) fn starts_svg(text: &str) -> bool {
    starts(behind_prologue(text), "<svg")
}

/// Whether a text begins as only a whole page does.
pub(super) fn starts_page(text: &str) -> bool {
    let begin = behind_prologue(text);
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|prefix| starts(begin, prefix))
}

pub(super) fn starts_html(text: &str) -> bool {
    const BEGINS: [&str; 22] = [
        "<!doctype html",
        "<html",
        "<head",
        "<body",
        "<script",
        "<iframe",
        "<h1",
        "<div",
        "<font",
        "<table",
        "<a ",
        "<style",
        "<title",
        "<b>",
        "<br",
        "<p>",
        "<p ",
        "<pre",
        "<code",
        "<meta",
        "<main",
        "<article",
    ];
    let begin = behind_prologue(text);
    BEGINS.iter().any(|prefix| starts(begin, prefix))
}

/// Whether a text that does not say so has fences, or headings and links.
pub(in crate::web::filter) fn looks_like_markdown(text: &str) -> bool {
    let (mut n_headings, mut n_links) = (0_usize, 0_usize);
    let mut before = "";
    let mut lines = text.lines().take(2000);
    while let Some(line) = lines.next() {
        let above = std::mem::replace(&mut before, line);
        let bare = line.trim_start_matches(' ');
        let indent = line.len() - bare.len();
        if indent < 4 && bare.starts_with("```") {
            return true;
        }
        if indent < 4 && bare.starts_with("~~~") {
            let mut behind = lines.clone();
            let mut next = || behind.next().unwrap_or_default();
            if !judge::is_ruled(above, [line, next(), next()]) {
                return true;
            }
        }
        let hashes = bare.bytes().take_while(|byte| *byte == b'#').count();
        n_headings += usize::from(
            (1..=6).contains(&hashes)
                && indent < 4
                && bare.get(hashes..).is_some_and(|rest| rest.starts_with(' ')),
        );
        n_links += usize::from(bare.contains("](http"));
    }
    0 < n_headings && 0 < n_links
}
