//! What a body is: by its looks first, since a header costs nothing to forge.

mod looks;

pub(super) use self::looks::{binary, looks_like_markdown};
use self::looks::{is_json, starts, starts_html, starts_page, starts_svg, unprintable};
use super::{Unfit, essence::known, language};

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

fn refused(essence: &str) -> Option<String> {
    let (top, sub) = essence.split_once('/')?;
    match (top, sub) {
        ("image" | "audio" | "video" | "font" | "model", _)
        | (
            "application",
            "pdf" | "zip" | "gzip" | "java-archive" | "wasm" | "x-tar" | "x-7z-compressed"
            | "x-executable" | "x-sharedlib" | "x-bzip2" | "x-xz" | "zstd" | "vnd.rar",
        ) => Some(match known(essence) {
            Some(known) => format!("a body of type {known}"),
            None => format!("a body of another type of {top}"),
        }),
        _ => None,
    }
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
            ("A part\n~~~~~~\n\nb", "text/plain", Kind::Plain),
            ("~~~~~~\nA part\n~~~~~~\n\nb", "text/plain", Kind::Plain),
            ("Like this:\n~~~~~~~~~~\nb\n~~~~~~~~~~", "text/plain", Kind::Markdown),
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
