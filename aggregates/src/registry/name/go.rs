//! Module paths, and how the module proxy protocol spells them.
//!
//! Follows the module reference on module paths and the `GOPROXY` protocol. Stores of files may
//! not tell upper from lower case, so an upper-case letter travels as `!` and its lower case.

/// Spells a module path or a version for an address: `github.com/Azure` becomes
/// `github.com/!azure`. What holds a `!` or anything beyond ASCII has no such spelling.
#[must_use]
pub fn escape_go(text: &str) -> Option<String> {
    let mut escaped = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        if c == '!' || !c.is_ascii() {
            return None;
        }
        if c.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(c.to_ascii_lowercase());
    }
    Some(escaped)
}

/// Reads what [`escape_go`] spells. A text has one spelling only: upper-case letters, and a `!`
/// before anything but a lower-case letter, are in none.
#[must_use]
pub fn unescape_go(escaped: &str) -> Option<String> {
    let mut text = String::with_capacity(escaped.len());
    let mut chars = escaped.chars();
    while let Some(c) = chars.next() {
        match c {
            '!' => text.push(chars.next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase()),
            c if c.is_ascii() && !c.is_ascii_uppercase() => text.push(c),
            _ => return None,
        }
    }
    Some(text)
}

/// Whether a text of bounded length is a module path that the go command would ask for.
pub(super) fn path(text: &str) -> bool {
    let domain = text.split('/').next().unwrap_or_default();
    let lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    domain.contains('.')
        && !domain.starts_with('-')
        && domain.bytes().all(lower)
        && text.split('/').all(element)
        && major(text)
}

fn element(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~');
    !text.is_empty()
        && !text.starts_with('.')
        && !text.ends_with('.')
        && text.bytes().all(allowed)
        && !reserved(text)
}

/// Whether it cannot be the name of a file everywhere: the devices of Windows, and its short names.
fn reserved(element: &str) -> bool {
    const DEVICES: [&str; 22] = [
        "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
        "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
    ];
    let stem = element.split('.').next().unwrap_or_default();
    let short = stem
        .rsplit_once('~')
        .is_some_and(|(_, tail)| !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_digit()));
    short || DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device))
}

/// A last element that looks like a major version has to be one from 2 on.
fn major(path: &str) -> bool {
    let last = path.rsplit_once('/').and_then(|(_, last)| last.strip_prefix('v'));
    let looks = |number: &&str| {
        !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    last.filter(looks)
        .is_none_or(|number| !number.contains('.') && !number.starts_with('0') && number != "1")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn upper_case_travels_as_an_exclamation_mark() {
        for (text, escaped) in [
            ("github.com/Azure/azure-sdk-for-go", "github.com/!azure/azure-sdk-for-go"),
            ("github.com/GoogleCloudPlatform", "github.com/!google!cloud!platform"),
            ("v1.0.0-RC1", "v1.0.0-!r!c1"),
            ("", ""),
        ] {
            assert_eq!(escape_go(text).as_deref(), Some(escaped));
            assert_eq!(unescape_go(escaped).as_deref(), Some(text));
        }
        assert_eq!((escape_go("a!b"), escape_go("ä")), (None, None));
        for bad in ["A", "!A", "!", "a!", "!!a", "!1", "ä", "!ä"] {
            assert_eq!(unescape_go(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_what_the_go_command_asks_for_is_a_path() {
        for good in [
            "golang.org/x/text",
            "github.com/Azure/go-autorest/autorest/v2",
            "example.com",
            "example.com/a_b/c~d",
            "gopkg.in/yaml.v2",
            "example.com/v10",
            "example.com/v",
            "example.com/v2x",
            "example.com/commander",
            "example.com/v1/x",
        ] {
            assert!(path(good), "{good}");
        }
        for bad in [
            "",
            "/",
            "text",
            "Example.com/x",
            "-x.com/a",
            ".com/a",
            "example.com./a",
            "example.com/",
            "example.com//a",
            "example.com/../a",
            "example.com/.git",
            "example.com/a.",
            "example.com/a b",
            "example.com/!a",
            "example.com/ä",
            "example.com/v0",
            "example.com/v1",
            "example.com/v02",
            "example.com/v2.1",
            "example.com/CON.txt",
            "example.com/a~1",
            "example.com/a@v1",
        ] {
            assert!(!path(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_text_has_one_spelling(text in "[a-zA-Z0-9./~_-]{0,30}", any in "[a-cA-C!ä]{0,8}") {
            let escaped = escape_go(&text).unwrap();
            prop_assert!(!escaped.bytes().any(|b| b.is_ascii_uppercase()));
            prop_assert_eq!(unescape_go(&escaped), Some(text));
            if let Some(read) = unescape_go(&any) {
                prop_assert_eq!(escape_go(&read), Some(any));
            }
        }
    }
}
