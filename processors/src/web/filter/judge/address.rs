//! Addresses of links: kept as far as they are addresses.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::inline;

const MAX_ADDRESS_BYTES: usize = 512;

/// What may be kept of a link's address: no script, no data, and no query that carries code.
pub(in crate::web::filter) fn address(href: &str) -> Option<String> {
    if is_simple(href) {
        return Some(href.to_owned());
    }
    let href: String = href.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    let scheme = href.split(['/', '?', '#']).next().and_then(|begin| begin.split_once(':'));
    if let Some((scheme, _)) = scheme
        && !["http", "https", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
    {
        return None;
    }
    let plain = |part: &str| {
        let decoded = decoded(part);
        part.len() <= MAX_ADDRESS_BYTES
            && !decoded
                .contains(['{', '}', ';', '<', '>', '(', ')', '`', '"', '\\', '\n', '=', '|'])
            && decoded.split([' ', '+']).count() < 4
    };
    let (rest, fragment) = split(&href, '#');
    let (path, query) = split(rest, '?');
    let mut kept = String::with_capacity(href.len());
    let path_is_plain = {
        let decoded = decoded(path);
        path.len() <= MAX_ADDRESS_BYTES
            && !decoded.contains(['{', '}', ';', '<', '>', '`', '"', '\\', '\n', '|', ' '])
            // `/wiki/Function_(mathematics)` is one.
            && !inline::is_in_path(&decoded)
    };
    if !path_is_plain {
        return None;
    }
    kept.push_str(path);
    if let Some(query) = query
        && query.split('&').all(|pair| pair.split('=').count() <= 2 && pair.split('=').all(plain))
    {
        kept.push('?');
        kept.push_str(query);
    }
    if let Some(fragment) = fragment
        && !fragment.is_empty()
        && plain(fragment)
    {
        kept.push('#');
        kept.push_str(fragment);
    }
    (!kept.is_empty()).then_some(kept)
}

/// Whether nothing in an address has to be looked at, as in most.
fn is_simple(href: &str) -> bool {
    let rest = href.strip_prefix("https://").or_else(|| href.strip_prefix("http://"));
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/' | b'#')
    };
    href.len() <= MAX_ADDRESS_BYTES
        && !href.is_empty()
        && !href.ends_with('#')
        && rest.unwrap_or(href).bytes().all(is_plain)
}

/// A part of an address, however often it was escaped.
fn decoded(part: &str) -> Cow<'_, str> {
    const MAX_ROUNDS: usize = 3;
    let mut decoded = Cow::Borrowed(part);
    for _ in 0..MAX_ROUNDS {
        if !decoded.contains('%') {
            break;
        }
        decoded = Cow::Owned(percent_decode_str(&decoded).decode_utf8_lossy().into_owned());
    }
    decoded
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, behind)| (before, Some(behind)))
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_is_kept_and_what_it_carries_is_not() {
        for (href, kept) in [
            (
                "../std/fs/struct.File.html#method.open",
                Some("../std/fs/struct.File.html#method.open"),
            ),
            ("https://a.example/x?page=2&q=rust", Some("https://a.example/x?page=2&q=rust")),
            (
                "https://play.example/?code=fn%20main()%20%7B%7D&edition=2021",
                Some("https://play.example/"),
            ),
            ("/x?code=import+os+sys+re", Some("/x")),
            ("javascript:alert(1)", None),
            (" jAvAscript:alert(1)", None),
            ("java\nscript:alert(1)", None),
            ("data:text/html,<pre>x</pre>", None),
            ("/a%7Bfn%20main%7D", None),
            ("/a%257Bfn%2520main%257D", None),
            ("/run/leak(x=open(y))", None),
            ("/x/aa365465%28v%3Dvs.85%29.aspx", Some("/x/aa365465%28v%3Dvs.85%29.aspx")),
            ("/wiki/Function_(mathematics)", Some("/wiki/Function_(mathematics)")),
            ("/x?q=for(int%20i=0;i<n;i++)", Some("/x")),
            ("/x#for(int%20i=0;i<n;i++)", Some("/x")),
            ("", None),
            ("mailto:a@b.example", Some("mailto:a@b.example")),
        ] {
            assert_eq!(address(href).as_deref(), kept, "{href}");
            if let Some(kept) = kept {
                assert_eq!(address(kept).as_deref(), Some(kept), "again: {href}");
            }
        }
    }
}
