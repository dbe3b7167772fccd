//! Reads a project's page in HTML (PEP 503), for upstreams that have no JSON.
//!
//! Not a browser: it finds `<a>` elements with an `href`, and `<meta>` elements, in any markup, and
//! never fails on what it does not understand. What it finds is written down as the members of the
//! JSON API, so that there is one form of page inside Weir.

use std::borrow::Cow;

use serde_json::{json, value::RawValue};

use super::{
    document::{
        CoreMetadata, Document, DocumentFault, File, MAX_LISTED, Members, Parts, Sha256, Yanked,
    },
    filename::{Filename, Project},
};
use crate::{outbound::Url, registry::download::Promise};

/// Reads a page. `url` is where it came from: addresses of files may be relative to it.
pub fn parse(project: &Project, url: &Url, body: &[u8]) -> Result<Document, DocumentFault> {
    let text = std::str::from_utf8(body).map_err(|_| DocumentFault::NotText)?;
    let (mut files, mut n_unservable) = (Vec::new(), 0);
    let (mut status, mut reason, mut base) = (None, None, url.clone());
    for element in Elements::of(text) {
        match element.name.to_ascii_lowercase().as_str() {
            "a" => match read_file(project, &base, &element) {
                Some(_) if files.len() == MAX_LISTED => return Err(DocumentFault::TooMany),
                Some(file) => files.push(file),
                None => n_unservable += 1,
            },
            "base" => {
                if let Some(url) = element.attribute("href").and_then(|href| url.join(&href).ok()) {
                    base = url;
                }
            }
            "meta" => {
                let content = element.attribute("content").unwrap_or_default();
                match element.attribute("name").unwrap_or_default().as_ref() {
                    "pypi:repository-version" if content.split('.').next() != Some("1") => {
                        return Err(DocumentFault::ApiVersion(content.chars().take(20).collect()));
                    }
                    "pypi:project-status" => status = Some(content.into_owned()),
                    "pypi:project-status-reason" => reason = Some(content.into_owned()),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let status = status.map(|status| (status, reason));
    let mut members = vec![
        // HTML tells neither sizes nor times, so the page speaks the oldest version.
        member("meta", &json!({"api-version": "1.0"})),
        member("name", &json!(project.as_str())),
    ];
    members.extend(status.as_ref().map(|(status, reason)| {
        member(
            "project-status",
            &match reason {
                Some(reason) => json!({"status": status, "reason": reason}),
                None => json!({"status": status}),
            },
        )
    }));
    let members = members.into_iter().flatten().collect();
    let api_version = "1.0".to_owned();
    let parts = Parts { members, versions: None, files, api_version, status, n_unservable };
    Ok(Document::new(project.clone(), body, parts))
}

fn member(name: &str, value: &serde_json::Value) -> Option<(String, Box<RawValue>)> {
    Some((name.to_owned(), RawValue::from_string(value.to_string()).ok()?))
}

fn read_file(project: &Project, page: &Url, anchor: &Element<'_>) -> Option<File> {
    let mut url = page.join(anchor.attribute("href")?.trim()).ok()?;
    // The name is what the address ends in: some mirrors shorten the text of the link.
    let last = url.path_segments()?.next_back()?;
    let last = percent_encoding::percent_decode_str(last).decode_utf8().ok()?;
    let filename = Filename::new(&last)?;
    let hash =
        url.fragment().and_then(|fragment| fragment.split_once('=')).and_then(|(name, value)| {
            let value = value.split('&').next()?;
            let plain =
                |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
            (plain(name) && plain(value)).then(|| (name.to_ascii_lowercase(), value.to_owned()))
        });
    url.set_fragment(None);
    let sha256 =
        hash.as_ref().filter(|(name, _)| name == "sha256").and_then(|(_, v)| Sha256::parse(v));
    let promise = hash.as_ref().filter(|_| sha256.is_none());
    let promise = promise.and_then(|(name, value)| Promise::best_of([(&**name, &**value)]));
    let other_hash = hash.as_ref().filter(|_| sha256.is_none()).map(|(n, v)| format!("{n}={v}"));
    let text = |name| anchor.attribute(name).map(Cow::into_owned);
    let yanked = match text("data-yanked") {
        None => Yanked::No,
        Some(reason) => Yanked::Yes(Some(reason).filter(|reason| !reason.is_empty())),
    };
    let core_metadata = match text("data-core-metadata").or_else(|| text("data-dist-info-metadata"))
    {
        None => CoreMetadata::No,
        Some(value) if value.eq_ignore_ascii_case("false") => CoreMetadata::No,
        Some(value) => CoreMetadata::Yes(value.strip_prefix("sha256=").and_then(Sha256::parse)),
    };
    let gpg_sig = text("data-gpg-sig").and_then(|value| value.parse().ok());
    let (requires_python, provenance) = (text("data-requires-python"), text("data-provenance"));

    let hashes = hash.iter().map(|(n, v)| (n.clone(), json!(v))).collect::<serde_json::Map<_, _>>();
    let mut members: Members = [
        member("filename", &json!(filename.as_str())),
        member("url", &json!(url.as_str())),
        member("hashes", &json!(hashes)),
    ]
    .into_iter()
    .flatten()
    .collect();
    members.extend(requires_python.as_ref().and_then(|v| member("requires-python", &json!(v))));
    members.extend(match &core_metadata {
        CoreMetadata::No => None,
        CoreMetadata::Yes(None) => member("core-metadata", &json!(true)),
        CoreMetadata::Yes(Some(hash)) => member("core-metadata", &json!({"sha256": hash.hex()})),
    });
    members.extend(gpg_sig.and_then(|value: bool| member("gpg-sig", &json!(value))));
    members.extend(match &yanked {
        Yanked::No => None,
        Yanked::Yes(None) => member("yanked", &json!(true)),
        Yanked::Yes(Some(reason)) => member("yanked", &json!(reason)),
    });
    members.extend(provenance.as_ref().and_then(|value| member("provenance", &json!(value))));
    Some(File {
        version: filename.version(project),
        filename,
        url,
        sha256,
        promise,
        other_hash,
        size: None,
        yanked,
        core_metadata,
        gpg_sig,
        requires_python,
        provenance,
        // Pages in HTML do not tell.
        uploaded_at: None,
        members,
    })
}

/// A start tag.
#[derive(Debug)]
struct Element<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

impl Element<'_> {
    fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        let (_, value) = self.attributes.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))?;
        Some(decode(value))
    }
}

/// The start tags of a text, in order.
struct Elements<'a> {
    rest: &'a str,
}

/// The most attributes a tag may have here; the rest is not looked at.
const MAX_ATTRIBUTES: usize = 64;

impl<'a> Elements<'a> {
    const fn of(text: &'a str) -> Self {
        Self { rest: text }
    }

    fn skip_past(&mut self, end: &str) {
        self.rest = self.rest.split_once(end).map_or("", |(_, after)| after);
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        loop {
            let (_, tag) = self.rest.split_once('<')?;
            self.rest = tag;
            if tag.starts_with("!--") {
                self.skip_past("-->");
            } else if tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
                let end = tag.find(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/');
                let (name, inside) = tag.split_at(end.unwrap_or(tag.len()));
                let (attributes, after) = attributes(inside);
                self.rest = after;
                // What stands in a script or a style is no markup.
                for raw in ["script", "style"] {
                    if name.eq_ignore_ascii_case(raw) {
                        let end = find_ignoring_case(after, &format!("</{raw}"));
                        self.rest = after.get(end..).unwrap_or_default();
                    }
                }
                return Some(Element { name, attributes });
            }
        }
    }
}

fn find_ignoring_case(text: &str, wanted: &str) -> usize {
    let found = |window: &[u8]| window.eq_ignore_ascii_case(wanted.as_bytes());
    text.as_bytes().windows(wanted.len()).position(found).unwrap_or(text.len())
}

/// Reads attributes up to the end of the tag, and says what comes after it.
fn attributes(mut rest: &str) -> (Vec<(&str, &str)>, &str) {
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/' || c == '=');
        if let Some(after) = rest.strip_prefix('>') {
            return (found, after);
        }
        if rest.is_empty() {
            return (found, rest);
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/'));
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        let value;
        (value, rest) = match after.trim_start().strip_prefix('=') {
            None => ("", after),
            Some(after) => attribute_value(after.trim_start()),
        };
        if found.len() < MAX_ATTRIBUTES {
            found.push((name, value));
        }
    }
}

fn attribute_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    text.split_at(text.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(text.len()))
}

/// Replaces character references by what they stand for; unknown ones stay as they are.
fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once('&') {
        plain.push_str(before);
        rest = reference;
        let end = reference.bytes().take(12).position(|b| b == b';');
        let known = end.and_then(|end| Some((character(reference.get(..end)?)?, end)));
        match known {
            Some((c, end)) => {
                plain.push(c);
                rest = reference.get(end + 1..).unwrap_or_default();
            }
            None => plain.push('&'),
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

fn character(reference: &str) -> Option<char> {
    let code = match reference {
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "amp" => return Some('&'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        "nbsp" => return Some('\u{a0}'),
        _ => reference.strip_prefix('#')?,
    };
    let code = match code.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => code.parse().ok()?,
    };
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: &str = "https://index.example/simple/six/";

    fn read(body: &str) -> Document {
        parse(&Project::new("six").unwrap(), &Url::parse(PAGE).unwrap(), body.as_bytes()).unwrap()
    }

    #[test]
    fn a_full_page_is_understood() {
        let hash = "ab".repeat(32);
        let page = read(&format!(
            r#"<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.4">
            <meta name="pypi:project-status" content="archived"><title>Links for six</title></head><body>
            <h1>Links for six</h1><!-- <a href="six-0.1.tar.gz">no</a> -->
            <a href="https://files.example/six-1.0-py3-none-any.whl#sha256={hash}" data-requires-python="&gt;=2.7, &#33;=3.0.*"
               data-dist-info-metadata="sha256={hash}" data-core-metadata='sha256={hash}' data-gpg-sig=true
               data-provenance="https://index.example/p">six-1.0-py3-none-any.whl</a><br />
            <A HREF='../../packages/six-1.1.tar.gz#md5=0f' data-yanked="bad &amp; &quot;old&quot; &#x2014; &unknown;">x</A>
            <a href=six-1.2%2Bcpu.tar.gz data-yanked>y</a></body></html>"#
        ));
        let [wheel, sdist, local] = &page.files[..] else { panic!("three files: {page:?}") };
        assert_eq!(wheel.requires_python.as_deref(), Some(">=2.7, !=3.0.*"));
        assert_eq!(wheel.sha256.unwrap().hex(), hash);
        assert_eq!(wheel.core_metadata, CoreMetadata::Yes(wheel.sha256));
        assert_eq!((wheel.gpg_sig, wheel.provenance.is_some()), (Some(true), true));
        assert_eq!(wheel.url.as_str(), "https://files.example/six-1.0-py3-none-any.whl");
        assert_eq!(sdist.url.as_str(), "https://index.example/packages/six-1.1.tar.gz");
        assert_eq!(sdist.yanked, Yanked::Yes(Some("bad & \"old\" — &unknown;".to_owned())));
        assert_eq!((sdist.sha256, sdist.other_hash.as_deref()), (None, Some("md5=0f")));
        assert_eq!(local.filename.as_str(), "six-1.2+cpu.tar.gz");
        assert_eq!((&local.yanked, local.size), (&Yanked::Yes(None), None));
        assert_eq!(page.status, Some(("archived".to_owned(), None)));
        assert_eq!(page.api_version, "1.0");
    }

    #[test]
    fn links_that_are_no_files_are_left_out_and_counted() {
        let page = read(
            r#"<base href="https://files.example/x/"><a href="../">up</a><a>none</a><a name="q">q</a>
               <script>"<a href='six-9.tar.gz'>"</script><a href="six-1.0.tar.gz">z</a>"#,
        );
        assert_eq!((page.files.len(), page.n_unservable), (1, 3));
        assert_eq!(page.files[0].url.as_str(), "https://files.example/x/six-1.0.tar.gz");
        assert!(read("").files.is_empty());
    }

    #[test]
    fn a_page_of_another_age_or_no_text_at_all_is_refused() {
        let project = Project::new("six").unwrap();
        let url = Url::parse(PAGE).unwrap();
        let newer = br#"<meta name="pypi:repository-version" content="2.0">"#;
        assert!(matches!(parse(&project, &url, newer), Err(DocumentFault::ApiVersion(_))));
        assert!(matches!(parse(&project, &url, b"\xff"), Err(DocumentFault::NotText)));
        let endless = "<a href=six-1.tar.gz>".repeat(MAX_LISTED + 1);
        let fault = parse(&project, &url, endless.as_bytes());
        assert!(matches!(fault, Err(DocumentFault::TooMany)));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panicking(text in "(<a |href=|['\"<>&;#x/ !-]|six-1.0.tar.gz|\\PC){0,60}") {
            prop_assert!(read(&text).files.len() <= text.len());
        }
    }
}
