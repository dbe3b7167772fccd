//! What clients of container images ask for.

use http::{HeaderValue, Method, StatusCode, header::ALLOW};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::{
    manifest::Accepts,
    name::{Digest, Name, NameFault, Reference, Tag},
    voice::error,
};
use crate::registry::{answer::Answer, asking::Asking, gate::LIST, plugin::Asked};

/// A request that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What it is about.
    pub target: Target,
    /// How it is asked for.
    pub asking: Asking,
    /// The registry that the client takes this Weir for.
    pub namespace: Option<String>,
    /// The manifests it takes.
    pub accepts: Accepts,
}

/// What a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Whether this is a registry.
    Ping,
    /// A manifest.
    Manifest {
        /// The repository.
        name: Name,
        /// Which one.
        reference: Reference,
    },
    /// A blob.
    Blob {
        /// The repository.
        name: Name,
        /// Which one.
        digest: Digest,
    },
    /// The tags of a repository.
    Tags {
        /// The repository.
        name: Name,
        /// Which of them.
        page: Page,
    },
    /// What refers to a manifest.
    Referrers {
        /// The repository.
        name: Name,
        /// The manifest.
        digest: Digest,
    },
}

impl Target {
    /// The same, for an upstream that has what has a name without `/` under `library/`.
    #[must_use]
    pub fn in_library(self) -> Self {
        match self {
            Self::Ping => Self::Ping,
            Self::Manifest { name, reference } => {
                Self::Manifest { name: name.in_library(), reference }
            }
            Self::Blob { name, digest } => Self::Blob { name: name.in_library(), digest },
            Self::Tags { name, page } => Self::Tags { name: name.in_library(), page },
            Self::Referrers { name, digest } => Self::Referrers { name: name.in_library(), digest },
        }
    }

    /// The repository it is about, and what of it is asked for.
    #[must_use]
    pub fn about(&self) -> Option<(&Name, String)> {
        Some(match self {
            Self::Ping => return None,
            Self::Manifest { name, reference } => (name, reference.to_string()),
            Self::Blob { name, digest } | Self::Referrers { name, digest } => {
                (name, digest.to_string())
            }
            Self::Tags { name, .. } => (name, LIST.to_owned()),
        })
    }
}

/// A page of a list of tags.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Page {
    /// How many tags at most.
    pub n: Option<u32>,
    /// The tag they come after.
    pub last: Option<Tag>,
    /// The whole query of a page that its upstream names in another way.
    pub named: Option<Box<str>>,
}

/// The longest name of a page, in bytes.
const MAX_NAME_BYTES: usize = 1_024;

impl Page {
    /// Reads `n`, `last` and `next` of a query.
    pub fn of(query: &str) -> Result<Self, String> {
        let mut page = Self::default();
        for (name, value) in parameters(query) {
            match name.as_str() {
                "n" => {
                    let n = value.parse().map_err(|_| format!("`{value}` is no number of tags"))?;
                    page.n = Some(n);
                }
                "last" if !value.is_empty() => {
                    page.last = Some(value.parse().map_err(|fault: NameFault| fault.to_string())?);
                }
                "next" if !is_name(&value) => {
                    return Err("`next` is what the answer before it named".to_owned());
                }
                "next" => page.named = Some(value.into()),
                _ => {}
            }
        }
        Ok(page)
    }

    /// The page that an upstream names as the next one; `None` where it names none.
    #[must_use]
    pub fn after(query: &str) -> Option<Self> {
        let ours = |name: &str| matches!(name, "n" | "last" | "ns");
        if parameters(query).all(|(name, _)| ours(&name)) {
            return Self::of(query).ok().filter(|page| page.last.is_some());
        }
        is_name(query).then(|| Self { named: Some(query.into()), ..Self::default() })
    }

    /// The query that asks us for it.
    #[must_use]
    pub fn link(&self) -> String {
        match &self.named {
            Some(named) => format!("next={}", utf8_percent_encode(named, NON_ALPHANUMERIC)),
            None => self.query(),
        }
    }

    /// The query that asks the upstream for it.
    #[must_use]
    pub fn query(&self) -> String {
        if let Some(named) = &self.named {
            return named.to_string();
        }
        let n = self.n.map(|n| format!("n={n}"));
        let last = self.last.as_ref().map(|last| format!("last={last}"));
        n.into_iter().chain(last).collect::<Vec<_>>().join("&")
    }
}

/// Whether a text can be the query of a page as an upstream names it.
fn is_name(query: &str) -> bool {
    let plain = |b: u8| b.is_ascii_graphic() && !b"<>\"#".contains(&b);
    !query.is_empty() && query.len() <= MAX_NAME_BYTES && query.bytes().all(plain)
}

/// The parameters of a query, decoded once.
fn parameters(query: &str) -> impl Iterator<Item = (String, String)> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    query.split('&').filter_map(move |pair| {
        let (name, value) = pair.split_once('=')?;
        Some((decoded(name), decoded(value)))
    })
}

/// Understands a request, or answers it at once.
pub fn parse(asked: &Asked<'_>) -> Result<Request, Box<Answer>> {
    if asked.method != Method::GET && asked.method != Method::HEAD {
        let why = "images are read-only here: push to the registry itself";
        let answer = error(StatusCode::METHOD_NOT_ALLOWED, "UNSUPPORTED", why).because(why);
        return Err(Box::new(answer.with(ALLOW, HeaderValue::from_static("GET, HEAD"))));
    }
    let query = asked.query.unwrap_or_default();
    let namespace = parameters(query).find(|(name, _)| name == "ns").map(|(_, value)| value);
    let path = percent_decode_str(asked.path.trim_start_matches('/')).decode_utf8();
    let path = path.map_err(|_| nothing())?;
    let target = if path.is_empty() { Target::Ping } else { target(&path, query)? };
    let accepts = Accepts::of(asked.headers);
    Ok(Request { target, asking: Asking::of(asked), namespace, accepts })
}

fn target(path: &str, query: &str) -> Result<Target, Box<Answer>> {
    let mut parts = path.rsplitn(3, '/');
    let (Some(last), Some(kind), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(nothing());
    };
    let name = || name.parse().map_err(|fault| invalid("NAME_INVALID", fault));
    let digest = || last.parse().map_err(|fault| invalid("DIGEST_INVALID", fault));
    Ok(match (kind, last) {
        ("manifests", reference) => {
            let reference = reference.parse().map_err(|fault| match fault {
                NameFault::Digest => invalid("DIGEST_INVALID", fault),
                NameFault::Tag | NameFault::Name => invalid("MANIFEST_INVALID", fault),
            })?;
            Target::Manifest { name: name()?, reference }
        }
        ("blobs", _) => Target::Blob { name: name()?, digest: digest()? },
        ("referrers", _) => Target::Referrers { name: name()?, digest: digest()? },
        ("tags", "list") => {
            let page = Page::of(query)
                .map_err(|why| Box::new(error(StatusCode::BAD_REQUEST, "UNSUPPORTED", &why)))?;
            Target::Tags { name: name()?, page }
        }
        _ => return Err(nothing()),
    })
}

fn invalid(code: &str, fault: NameFault) -> Box<Answer> {
    Box::new(error(StatusCode::BAD_REQUEST, code, &fault.to_string()))
}

fn nothing() -> Box<Answer> {
    let there_is = "there is NAME/manifests/REFERENCE, NAME/blobs/DIGEST, NAME/tags/list and \
                    NAME/referrers/DIGEST";
    Box::new(error(StatusCode::NOT_FOUND, "UNSUPPORTED", there_is))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;

    use super::*;

    fn ask(method: &Method, path: &str, query: Option<&str>) -> Result<Request, Box<Answer>> {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        let version = http::Version::HTTP_11;
        parse(&Asked {
            method,
            version,
            path,
            query,
            headers: &headers,
            base: "",
            body: &body,
            as_of: None,
        })
    }

    #[test]
    fn what_is_asked_for_stands_at_the_end_of_the_path() {
        let digest = Digest::of(b"x");
        let name = |text: &str| text.parse::<Name>().unwrap();
        for (path, wanted) in [
            (String::new(), Target::Ping),
            ("/".to_owned(), Target::Ping),
            (
                "/manifests/manifests/manifests/v1".to_owned(),
                Target::Manifest {
                    name: name("manifests/manifests"),
                    reference: "v1".parse().unwrap(),
                },
            ),
            (
                format!("/alpine/blobs/{}", digest.to_string().replace(':', "%3A")),
                Target::Blob { name: name("alpine"), digest },
            ),
            (format!("/a/b/referrers/{digest}"), Target::Referrers { name: name("a/b"), digest }),
        ] {
            assert_eq!(ask(&Method::GET, &path, None).unwrap().target, wanted, "{path}");
        }
        let listed =
            ask(&Method::GET, "/a/tags/list", Some("n=2&last=v%31&ns=hub.example")).unwrap();
        let page = Page { n: Some(2), last: Some("v1".parse().unwrap()), named: None };
        assert_eq!(page.query(), "n=2&last=v1");
        assert_eq!(listed.target, Target::Tags { name: name("a"), page });
        assert_eq!(listed.namespace.as_deref(), Some("hub.example"));
    }

    #[test]
    fn nonsense_is_told_what_is_wrong() {
        for (path, query, status) in [
            ("/_catalog", None, 404),
            ("/a/b", None, 404),
            ("/a/../manifests/v1", None, 400),
            ("/a/manifests/%2e%2e", None, 400),
            ("/A/manifests/v1", None, 400),
            ("/a/blobs/v1", None, 400),
            ("/a/blobs/sha256:00", None, 400),
            ("/a/tags/list", Some("n=-1"), 400),
            ("/a/tags/list", Some("last=/"), 400),
            ("/%ff/manifests/v1", None, 404),
        ] {
            let answer = ask(&Method::GET, path, query).unwrap_err();
            assert_eq!(answer.status.as_u16(), status, "{path}");
        }
        let push = ask(&Method::POST, "/a/blobs/uploads/", None).unwrap_err();
        assert_eq!(push.status, StatusCode::METHOD_NOT_ALLOWED);
    }
}
