//! What a body is: by its looks first, since a header costs nothing to forge.

use super::{Unfit, language};

/// The type that a body was declared to be.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Without parameters, in lower case; empty if there is none.
    essence: String,
    pub(super) charset: Option<String>,
}

impl Declared {
    /// Reads a `Content-Type`.
    pub(super) fn parse(value: Option<&str>) -> Self {
        let mut parts = value.unwrap_or_default().split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            name.trim().eq_ignore_ascii_case("charset").then(|| value.to_owned())
        });
        Self { essence, charset }
    }
}

/// What a text is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Xhtml,
    Markdown,
    Json,
    Plain,
    /// Source code by its type, and of which language.
    Source(Option<&'static str>),
}

impl Kind {
    /// The type of what comes out.
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Html | Self::Xhtml => "text/html; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Plain | Self::Source(_) => "text/plain; charset=utf-8",
        }
    }
}

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
pub(super) fn binary(body: &[u8]) -> Option<&'static str> {
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| body.starts_with(magic)) {
        return Some(what);
    }
    (body.get(257..262) == Some(b"ustar")).then_some("a tar archive")
}

/// What a decoded text is to be read as.
pub(super) fn of(text: &str, declared: &Declared) -> Result<Kind, Unfit> {
    let essence = declared.essence.as_str();
    if let Some(what) = refused(essence) {
        return Err(Unfit::Type { what: what.into() });
    }
    if unprintable(text) {
        return Err(Unfit::Type { what: "a body of no text".into() });
    }
    let begin = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if starts_svg(begin) {
        return Err(Unfit::Type { what: "an SVG picture".into() });
    }
    Ok(match essence {
        _ if is_json(begin) => Kind::Json,
        "text/html" => Kind::Html,
        // Most of it is documents; what its elements are called tells what is code in them.
        _ if is_xml(essence, begin) => Kind::Xhtml,
        _ if starts_page(begin) => Kind::Html,
        // Many of these begin with HTML.
        "text/markdown" | "text/x-markdown" | "text/x-web-markdown" => Kind::Markdown,
        _ => match source(essence) {
            Some(kind) => kind,
            None if looks_like_markdown(text) => Kind::Markdown,
            None if starts_html(begin) => Kind::Html,
            None => Kind::Plain,
        },
    })
}

fn is_xml(essence: &str, text: &str) -> bool {
    matches!(essence, "application/xml" | "text/xml")
        || essence.ends_with("+xml")
        || starts(text, "<?xml")
}

/// Whether a text is JSON, whatever it is called: an object or an array.
fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn refused(essence: &str) -> Option<String> {
    let (top, sub) = essence.split_once('/')?;
    match (top, sub) {
        ("image" | "audio" | "video" | "font" | "model", _)
        | (
            "application",
            "pdf" | "zip" | "gzip" | "java-archive" | "wasm" | "x-tar" | "x-7z-compressed"
            | "x-executable" | "x-sharedlib" | "x-bzip2" | "x-xz" | "zstd" | "vnd.rar",
        ) => Some(format!("a body of type {}", essence.chars().take(60).collect::<String>())),
        _ => None,
    }
}

/// Whether one character in ten is neither printed nor blank.
fn unprintable(text: &str) -> bool {
    let sample = text.chars().take(4096);
    let (mut n, mut n_odd) = (0_usize, 0_usize);
    for c in sample {
        n += 1;
        n_odd +=
            usize::from(c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}'));
    }
    n < n_odd.saturating_mul(10)
}

fn starts(text: &str, prefix: &str) -> bool {
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

fn starts_svg(text: &str) -> bool {
    starts(behind_prologue(text), "<svg")
}

/// Whether a text begins as only a whole page does.
fn starts_page(text: &str) -> bool {
    let begin = behind_prologue(text);
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|prefix| starts(begin, prefix))
}

fn starts_html(text: &str) -> bool {
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

/// Source code by its type.
fn source(essence: &str) -> Option<Kind> {
    let (top, sub) = essence.split_once('/')?;
    let name = sub.strip_prefix("x-").unwrap_or(sub);
    let name = name.strip_suffix("src").or_else(|| name.strip_suffix("-source")).unwrap_or(name);
    let name = name.strip_prefix("script.").unwrap_or(name).trim_end_matches('-');
    let known = match name {
        "java-script" => Some("javascript"),
        "chdr" => Some("c"),
        "c++hdr" => Some("c++"),
        "httpd-php" => Some("php"),
        _ => language::named(name),
    };
    match (top, known) {
        // Data and documents are looked at.
        (_, Some("json" | "xml" | "html")) => None,
        ("text" | "application", Some(known)) => Some(Kind::Source(Some(known))),
        ("text", None)
            if sub.starts_with("x-") && !matches!(sub, "x-rst" | "x-readme" | "x-log") =>
        {
            Some(Kind::Source(None))
        }
        _ => None,
    }
}

/// Whether a text that does not say so has fences, or headings and links.
fn looks_like_markdown(text: &str) -> bool {
    let (mut n_headings, mut n_links) = (0_usize, 0_usize);
    for line in text.lines().take(2000) {
        let bare = line.trim_start_matches(' ');
        let indent = line.len() - bare.len();
        if indent < 4 && (bare.starts_with("```") || bare.starts_with("~~~")) {
            return true;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str, declared: &str) -> Result<Kind, Unfit> {
        of(text, &Declared::parse(Some(declared)))
    }

    #[test]
    fn a_type_is_what_the_body_looks_like() {
        for (text, declared, found) in [
            ("<!DOCTYPE html><p>x", "text/plain", Kind::Html),
            ("  <!-- x --><html>", "", Kind::Html),
            ("hello", "text/html; charset=utf-8", Kind::Html),
            ("hello", "Text/Markdown", Kind::Markdown),
            ("<h1>a</h1>\n\n    b", "text/markdown", Kind::Markdown),
            ("<h1>a</h1>\n\n```\nb\n```", "text/plain", Kind::Markdown),
            ("<html>\n```\nb\n```", "text/markdown", Kind::Html),
            ("a\n```\nb\n```", "text/plain", Kind::Markdown),
            ("hello", "text/plain", Kind::Plain),
            ("hello", "application/octet-stream", Kind::Plain),
            ("x", "text/x-csrc", Kind::Source(Some("c"))),
            ("x", "text/x-script.python", Kind::Source(Some("python"))),
            ("x", "application/javascript", Kind::Source(Some("javascript"))),
            ("x", "text/css", Kind::Source(Some("css"))),
            ("x", "text/x-diff", Kind::Source(Some("diff"))),
            ("x", "application/x-sh", Kind::Source(Some("bash"))),
            ("x", "text/x-something", Kind::Source(None)),
            ("x", "text/csv", Kind::Plain),
            ("{\"a\": 1}", "text/html", Kind::Json),
            ("{\"a\": 1}", "text/plain", Kind::Json),
            ("[1, 2]", "", Kind::Json),
            ("{a: 1}", "application/json", Kind::Plain),
            ("<rss/>", "application/rss+xml", Kind::Xhtml),
            ("<?xml version='1.0'?><feed/>", "text/plain", Kind::Xhtml),
        ] {
            assert_eq!(kind(text, declared), Ok(found), "{declared}: {text}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_by_its_looks_or_its_type() {
        assert_eq!(binary(b"%PDF-1.7 ..."), Some("a PDF document"));
        assert_eq!(binary(b"\x1f\x8b\x08"), Some("a gzip archive"));
        assert_eq!(binary(b"<html>"), None);
        assert!(kind("x", "image/png").is_err());
        assert!(kind("<?xml version='1.0'?>\n<!-- x -->\n<SVG xmlns=''>", "text/html").is_err());
        assert!(kind("\0\u{1}\u{2}\u{3}ab", "text/plain").is_err());
    }
}
