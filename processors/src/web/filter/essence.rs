//! The types of bodies by the names that everybody knows. What a server calls its body is text of the
//! server's: it is passed on only where it is one of these.

/// Each begins with what kind of thing it is.
const KNOWN: &[&str] = &[
    "application/atom+xml",
    "application/gzip",
    "application/java-archive",
    "application/javascript",
    "application/json",
    "application/ld+json",
    "application/octet-stream",
    "application/pdf",
    "application/problem+json",
    "application/rss+xml",
    "application/rtf",
    "application/vnd.rar",
    "application/wasm",
    "application/x-7z-compressed",
    "application/x-bzip2",
    "application/x-executable",
    "application/x-sharedlib",
    "application/x-tar",
    "application/x-xz",
    "application/xhtml+xml",
    "application/xml",
    "application/yaml",
    "application/zip",
    "application/zstd",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "font/otf",
    "font/ttf",
    "font/woff",
    "font/woff2",
    "image/avif",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "image/webp",
    "image/x-icon",
    "text/asciidoc",
    "text/css",
    "text/csv",
    "text/html",
    "text/javascript",
    "text/markdown",
    "text/plain",
    "text/x-rst",
    "text/xml",
    "video/mp4",
    "video/webm",
];

/// What a body of another type is called.
const ANY: &str = "application/octet-stream";

/// The type of a body that is not read, without parameters: the one that it is declared to be, where
/// that is known. Empty where it is not declared.
#[must_use]
pub fn shown(declared: Option<&str>) -> &'static str {
    declared.map_or("", |declared| {
        let essence = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        known(&essence).unwrap_or(ANY)
    })
}

/// The name of a type, in lower case and without parameters, where it is known.
pub(super) fn known(essence: &str) -> Option<&'static str> {
    KNOWN.iter().find(|known| **known == essence).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_what_everybody_calls_it_or_nothing_in_particular() {
        for (declared, wanted) in [
            (None, ""),
            (Some("Text/HTML; charset=\"fn main() {}\""), "text/html"),
            (Some("application/pdf"), "application/pdf"),
            (Some("fn main() { println!(\"hi\") }"), ANY),
            (Some("text/x-`rm -rf /`"), ANY),
            (Some(""), ANY),
        ] {
            assert_eq!(shown(declared), wanted, "{declared:?}");
        }
    }
}
