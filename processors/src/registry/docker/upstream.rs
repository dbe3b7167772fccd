//! What an upstream is asked for beside its content: which manifest a tag means, whether there is one of
//! a digest, which tags there are.

use std::fmt;

use http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{ACCEPT, LINK},
};
use serde::Deserialize;
use weir_events::registry::Ecosystem;

use super::{
    manifest::Accepts,
    name::{Digest, Name, Reference, Tag},
    request,
};
use crate::{
    outbound::{Page, Url},
    registry::{
        canary,
        documents::{Own, Source},
    },
};

/// Says which bytes an answer has.
pub const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

/// The path below which an upstream has its repositories.
#[must_use]
pub fn root(base: &Url) -> String {
    let path = base.path();
    format!("{}/v2/", path.trim_end_matches('/').trim_end_matches("/v2"))
}

/// Where something of a repository lies.
#[must_use]
pub fn below(base: &Url, name: &Name, rest: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{}/{rest}", root(base), name.asked()));
    url
}

/// What tags mean now. To ask for the head alone counts as no download.
#[derive(Debug)]
pub struct Heads;

/// A manifest of a repository, as somebody calls it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Called {
    /// The repository.
    pub name: Name,
    /// How it is called.
    pub reference: Reference,
    /// What the client takes: one that takes no index is told of an image.
    pub accepts: Accepts,
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = if matches!(self.reference, Reference::Tag(_)) { ':' } else { '@' };
        write!(f, "{}{between}{}", self.name, self.reference)
    }
}

/// The upstream does not say which manifest it is.
#[derive(Debug, thiserror::Error)]
#[error("its answer names no `docker-content-digest` of SHA-256")]
pub struct NoDigest;

impl Source for Heads {
    type Key = Called;
    type Document = Digest;
    type Fault = NoDigest;

    const NOUN: &'static str = "image";
    const METHOD: Method = Method::HEAD;
    const OUTLIVES: bool = true;

    fn package(called: &Called) -> Option<&str> {
        Some(called.name.as_str())
    }

    fn url(base: &Url, Called { name, reference, .. }: &Called) -> Url {
        below(base, name, &format!("manifests/{reference}"))
    }

    fn headers(called: &Called) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, called.accepts.header())])
    }

    fn read(_: &Called, page: &Page) -> Result<Digest, NoDigest> {
        let digest = page.headers.get(CONTENT_DIGEST).and_then(|value| value.to_str().ok());
        digest.and_then(|digest| digest.parse().ok()).ok_or(NoDigest)
    }

    fn size_bytes(_: &Digest) -> usize {
        512
    }
}

/// The tags there are, page by page as the upstream gives them.
#[derive(Debug)]
pub struct Lists;

/// A page of the tags of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Part {
    /// The repository.
    pub name: Name,
    /// Which page.
    pub page: request::Page,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

/// A page of tags that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tags {
    /// BLAKE3 of it as it came.
    pub digest: blake3::Hash,
    /// The tags, in the upstream's order.
    pub tags: Vec<Tag>,
    /// The page after it.
    pub next: Option<request::Page>,
}

#[derive(Deserialize)]
struct Read {
    tags: Option<Vec<String>>,
}

/// It is no list of tags.
#[derive(Debug, thiserror::Error)]
#[error("it is not the JSON of a list of tags")]
pub struct NoTags(#[from] serde_json::Error);

impl Tags {
    /// Reads a page. What is spelt as no tag cannot be asked for, so it is passed over.
    pub fn read(body: &[u8], link: Option<&str>) -> Result<Self, NoTags> {
        let read: Read = serde_json::from_slice(body)?;
        let tags = read.tags.unwrap_or_default().into_iter().filter_map(|tag| tag.parse().ok());
        let (tags, next) = (tags.collect(), link.and_then(next));
        Ok(Self { digest: blake3::hash(body), tags, next })
    }
}

/// The page that a `link` says is next.
fn next(link: &str) -> Option<request::Page> {
    let next = link.split(',').find(|one| one.contains("rel=\"next\"") || one.contains("rel=next"));
    let (address, _) = next?.trim().strip_prefix('<')?.split_once('>')?;
    request::Page::after(address.split_once('?')?.1)
}

impl Source for Lists {
    type Key = Part;
    type Document = Tags;
    type Fault = NoTags;

    const NOUN: &'static str = "repository";

    fn package(part: &Part) -> Option<&str> {
        Some(part.name.as_str())
    }

    fn url(base: &Url, Part { name, page }: &Part) -> Url {
        let mut url = below(base, name, "tags/list");
        let query = page.query();
        url.set_query(Some(&*query).filter(|query| !query.is_empty()));
        url
    }

    fn headers(_: &Part) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))])
    }

    fn own(part: &Part) -> Option<Own> {
        let name = part.name.as_str();
        canary::is(Ecosystem::Docker, name).then(|| canary::tags(name))
    }

    fn read(_: &Part, page: &Page) -> Result<Tags, NoTags> {
        let link = page.headers.get(LINK).and_then(|link| link.to_str().ok());
        Tags::read(&page.body, link)
    }

    fn size_bytes(document: &Tags) -> usize {
        512 + 64 * document.tags.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_lie_below_v2_whether_the_address_says_so_or_not() {
        let bare: Name = "alpine".parse().unwrap();
        let name = bare.clone().in_library();
        for (base, wanted) in [
            ("https://r.example/", "https://r.example/v2/library/alpine/x"),
            ("https://r.example/v2/", "https://r.example/v2/library/alpine/x"),
            ("https://r.example/mirror/", "https://r.example/mirror/v2/library/alpine/x"),
        ] {
            let base = Url::parse(base).unwrap();
            assert_eq!(below(&base, &name, "x").as_str(), wanted);
            let bare = below(&base, &bare, "x");
            assert_eq!(
                bare.as_str(),
                wanted.replace("library/", ""),
                "a registry that has no library"
            );
        }
    }

    #[test]
    fn a_page_of_tags_says_which_is_next() {
        let body = br#"{"name":"library/x","tags":["a","../b","c"]}"#;
        let link = r#"</v2/library/x/tags/list?last=c&n=3>; rel="next""#;
        let read = Tags::read(body, Some(link)).unwrap();
        assert_eq!(read.tags.iter().map(Tag::as_str).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(read.next.unwrap().query(), "n=3&last=c");
        let link = r#"<https://r.example/v2/library/x/tags/list?n=3&next_page=a%2Fb>; rel="next""#;
        let next = Tags::read(body, Some(link)).unwrap().next.unwrap();
        assert_eq!(next.query(), "n=3&next_page=a%2Fb");
        assert_eq!(next.link(), "next=n%3D3%26next%5Fpage%3Da%252Fb");
        assert_eq!(request::Page::of(&next.link()).unwrap(), next);
        for none in ["<x>; rel=\"next\"", "<x?n=3>; rel=\"next\"", "<x?a=\u{7f}>; rel=\"next\""] {
            assert_eq!(Tags::read(br#"{"tags":null}"#, Some(none)).unwrap().next, None, "{none}");
        }
        assert!(Tags::read(b"[1]", None).is_err());
    }
}
