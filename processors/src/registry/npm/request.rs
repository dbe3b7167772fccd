//! Understands what a client asks: which package, version or tarball, or what a registry has beside
//! them.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, StatusCode, header::CONTENT_ENCODING};
use percent_encoding::percent_decode_str;

use super::{
    name::{File, Name, is_version},
    negotiate::Form,
    voice::{Json, nothing, read_only},
};
use crate::registry::{answer::Answer, asking::Asking, gate::Voice as _, plugin::Asked};

/// How a slash within a step of a path is spelt.
const SLASH: &str = "%2f";

/// A request that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What it is about.
    pub target: Target,
    /// How it is asked for.
    pub asking: Asking,
    /// Where this ecosystem is for the client.
    pub base: Arc<str>,
}

/// What a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A package.
    Package {
        /// Which one.
        name: Name,
        /// The form that is wanted.
        form: Form,
    },
    /// One version of a package.
    Version {
        /// The package.
        name: Name,
        /// The version, or a tag.
        version: String,
    },
    /// The tarball of a version.
    Tarball {
        /// The package.
        name: Name,
        /// What it is called.
        file: File,
    },
    /// Whether anybody is there.
    Ping,
    /// Who is asking.
    Whoami,
    /// A search.
    Search {
        /// As it was asked.
        query: Option<String>,
    },
    /// What is passed through as it is: the keys that packages are signed with, and attestations.
    Passed {
        /// Where the upstream has it, below its own address.
        path: String,
        /// The package it is about, if it is about one.
        about: Option<Name>,
    },
    /// What is known against packages.
    Audit {
        /// How it is asked.
        kind: Audit,
        /// The question.
        body: Bytes,
        /// Whether it is packed.
        gzip: bool,
    },
}

/// The two ways to ask what is known against packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audit {
    /// Names, each with versions.
    Bulk,
    /// A tree of dependencies.
    Quick,
}

/// Understands a request, or answers it at once.
pub fn parse(asked: &Asked<'_>) -> Result<Request, Box<Answer>> {
    let path = asked.path.trim_start_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    let read = asked.method == Method::GET || asked.method == Method::HEAD;
    let target = match (&parts[..], read) {
        ([first, rest @ ..], _) if *first == "-" && !rest.is_empty() => beside(rest, asked, read),
        (_, false) => Err(Box::new(read_only())),
        _ if writes(asked.query) => Err(forbidden()),
        _ => package(&parts, asked),
    }?;
    if asked.base.is_empty() {
        return Err(no(StatusCode::BAD_REQUEST, "the request does not say which host it is for"));
    }
    let base = format!("{}/npm", asked.base).into();
    Ok(Request { target, asking: Asking::of(asked), base })
}

/// What a registry has beside its packages.
fn beside(rest: &[&str], asked: &Asked<'_>, read: bool) -> Result<Target, Box<Answer>> {
    let audit = |kind| Target::Audit {
        kind,
        body: asked.body.clone(),
        gzip: asked.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip"),
    };
    let post = asked.method == Method::POST;
    match rest {
        ["npm", "v1", "security", "advisories", "bulk"] if post => Ok(audit(Audit::Bulk)),
        ["npm", "v1", "security", "audits"] | ["npm", "v1", "security", "audits", "quick"]
            if post =>
        {
            Ok(audit(Audit::Quick))
        }
        _ if !read => Err(Box::new(read_only())),
        ["ping"] => Ok(Target::Ping),
        ["whoami"] => Ok(Target::Whoami),
        ["v1", "search"] => Ok(Target::Search { query: asked.query.map(str::to_owned) }),
        ["npm", "v1", "keys"] => {
            Ok(Target::Passed { path: "-/npm/v1/keys".to_owned(), about: None })
        }
        ["npm", "v1", "attestations", of @ ..] => attestations(of),
        _ => Err(Box::new(nothing())),
    }
}

fn attestations(of: &[&str]) -> Result<Target, Box<Answer>> {
    let of = slashed(decoded(&of.join("/"))?);
    let (name, version) = of.rsplit_once('@').ok_or_else(|| Box::new(nothing()))?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._+~".contains(&b);
    let name = Name::new(name).filter(|_| !version.is_empty() && version.bytes().all(plain));
    let name = name.ok_or_else(|| Box::new(nothing()))?;
    let path = format!("-/npm/v1/attestations/{}@{version}", name.in_path());
    Ok(Target::Passed { path, about: Some(name) })
}

fn package(parts: &[&str], asked: &Asked<'_>) -> Result<Target, Box<Answer>> {
    let (first, rest) = parts.split_first().unwrap_or((&"", &[]));
    let first = slashed(decoded(first)?);
    // A scope stands in a step of its own, or in one with the name.
    let (name, rest) = match rest.split_first() {
        Some((second, rest)) if first.starts_with('@') && !first.contains('/') => {
            (format!("{first}/{}", decoded(second)?), rest)
        }
        _ => (first, rest),
    };
    let name = Name::new(&name)
        .ok_or_else(|| no(StatusCode::NOT_FOUND, "no package can have this name"))?;
    match rest {
        [] | [""] => Ok(Target::Package { name, form: Form::wanted(asked.headers) }),
        // The step between says why a version is refused; whether it is, is decided anew.
        ["-", file] | ["-", "blocked", _, file] => {
            let file = File::new(&decoded(file)?)
                .ok_or_else(|| no(StatusCode::NOT_FOUND, "no tarball can have this name"))?;
            Ok(Target::Tarball { name, file })
        }
        [version] | [version, ""] => {
            let version = decoded(version)?;
            if !is_version(&version) {
                return Err(no(StatusCode::NOT_FOUND, "no version can be called so"));
            }
            Ok(Target::Version { name, version })
        }
        _ => Err(no(StatusCode::NOT_FOUND, "Not found")),
    }
}

/// Whether a client reads what it is about to change.
fn writes(query: Option<&str>) -> bool {
    let mut parts = query.unwrap_or_default().split('&');
    parts.any(|part| part == "write=true")
}

/// Decodes a part of the path, once. What it must not be is decided by what it is a name of.
fn decoded(part: &str) -> Result<String, Box<Answer>> {
    let decoded = percent_decode_str(part).decode_utf8();
    decoded.map(Into::into).map_err(|_| no(StatusCode::BAD_REQUEST, "the path is not UTF-8"))
}

/// The same step with the slash behind a scope, where a proxy on the way has encoded that a second time.
/// No name has a `%` in it, so nothing else is spelt so; what comes of it is checked like any name.
fn slashed(step: String) -> String {
    let scoped = step.starts_with('@') && !step.contains('/');
    let at = if scoped { step.to_ascii_lowercase().find(SLASH) } else { None };
    let parts = at.and_then(|at| Some((step.get(..at)?, step.get(at + SLASH.len()..)?)));
    match parts {
        Some((scope, name)) => format!("{scope}/{name}"),
        None => step,
    }
}

fn forbidden() -> Box<Answer> {
    no(StatusCode::FORBIDDEN, "packages are read-only here: publish to the registry itself")
}

fn no(status: StatusCode, why: &str) -> Box<Answer> {
    Box::new(Json::say(status, why, why))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, header::ALLOW};

    use super::*;

    fn asked(method: &Method, path: &str) -> Result<Request, Box<Answer>> {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let (headers, body) = (HeaderMap::new(), Bytes::from_static(b"{}"));
        parse(&Asked {
            method,
            version: http::Version::HTTP_11,
            path,
            query,
            headers: &headers,
            base: "https://weir.example",
            body: &body,
            as_of: None,
        })
    }

    fn target(path: &str) -> Target {
        asked(&Method::GET, path).unwrap_or_else(|no| panic!("{path}: {no:?}")).target
    }

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn a_package_is_found_in_every_spelling_of_its_address() {
        let package = |text: &str| Target::Package { name: name(text), form: Form::Full };
        for (path, wanted) in [
            ("/left-pad", package("left-pad")),
            ("/left-pad/", package("left-pad")),
            ("/JSONStream", package("JSONStream")),
            ("/@s/n", package("@s/n")),
            ("/@s%2fn", package("@s/n")),
            ("/@s%2Fn", package("@s/n")),
            ("/%40s%2Fn", package("@s/n")),
            ("/%40s/n", package("@s/n")),
            ("/@s%252fn", package("@s/n")),
            ("/@s%252Fn", package("@s/n")),
            ("/@s/n?write=false", package("@s/n")),
        ] {
            assert_eq!(target(path), wanted, "{path}");
        }
        assert_eq!(&*asked(&Method::HEAD, "/a").unwrap().base, "https://weir.example/npm");
    }

    #[test]
    fn versions_tags_and_tarballs_have_addresses_below_their_package() {
        let tarball =
            |n: &str, file: &str| Target::Tarball { name: name(n), file: File::new(file).unwrap() };
        let version = |n: &str, v: &str| Target::Version { name: name(n), version: v.to_owned() };
        for (path, wanted) in [
            ("/n/-/n-1.0.0.tgz", tarball("n", "n-1.0.0.tgz")),
            ("/@s/n/-/n-1.0.0.tgz", tarball("@s/n", "n-1.0.0.tgz")),
            ("/@s%2fn/-/n-1.0.0.tgz", tarball("@s/n", "n-1.0.0.tgz")),
            ("/@s%252fn/-/n-1.0.0.tgz", tarball("@s/n", "n-1.0.0.tgz")),
            ("/n/-/blocked/too-young-rule-1/n-1.0.0.tgz", tarball("n", "n-1.0.0.tgz")),
            ("/@s/n/-/blocked/x/n-1.0.0%2Bb.tgz", tarball("@s/n", "n-1.0.0+b.tgz")),
            ("/n/1.0.0", version("n", "1.0.0")),
            ("/n/latest", version("n", "latest")),
            ("/@s/n/next", version("@s/n", "next")),
            ("/@s%2fn/1.0.0", version("@s/n", "1.0.0")),
        ] {
            assert_eq!(target(path), wanted, "{path}");
        }
    }

    #[test]
    fn what_stands_beside_the_packages_is_told_apart() {
        let passed = |path: &str, about: &str| Target::Passed {
            path: path.to_owned(),
            about: Name::new(about),
        };
        for (path, wanted) in [
            ("/-/ping", Target::Ping),
            ("/-/whoami", Target::Whoami),
            (
                "/-/v1/search?text=a%20b&size=1",
                Target::Search { query: Some("text=a%20b&size=1".to_owned()) },
            ),
            ("/-/npm/v1/keys", passed("-/npm/v1/keys", "")),
            ("/-/npm/v1/attestations/n@1.0.0", passed("-/npm/v1/attestations/n@1.0.0", "n")),
            (
                "/-/npm/v1/attestations/@s%2fn@1.0.0",
                passed("-/npm/v1/attestations/@s%2fn@1.0.0", "@s/n"),
            ),
            (
                "/-/npm/v1/attestations/@s/n@1.0.0",
                passed("-/npm/v1/attestations/@s%2fn@1.0.0", "@s/n"),
            ),
            (
                "/-/npm/v1/attestations/@s%252fn@1.0.0",
                passed("-/npm/v1/attestations/@s%2fn@1.0.0", "@s/n"),
            ),
        ] {
            assert_eq!(target(path), wanted, "{path}");
        }
        for (path, kind) in [
            ("/-/npm/v1/security/advisories/bulk", Audit::Bulk),
            ("/-/npm/v1/security/audits/quick", Audit::Quick),
            ("/-/npm/v1/security/audits", Audit::Quick),
        ] {
            let target = asked(&Method::POST, path).unwrap().target;
            assert!(matches!(target, Target::Audit { kind: k, gzip: false, .. } if k == kind));
        }
        for path in [
            "/-/user/token",
            "/-/",
            "/-/all",
            "/-/npm/v1/attestations/n",
            "/-/npm/v1/attestations/n@../x",
        ] {
            let answer = asked(&Method::GET, path).unwrap_err();
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
            assert!(
                matches!(answer.body, crate::registry::answer::Body::Whole(body) if body == "{}")
            );
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_lead_nowhere() {
        for path in [
            "/",
            "",
            "/..",
            "/%2e%2e/",
            "/.%2e",
            "/@s",
            "/@s%2f..",
            "/@s/%2e%2e",
            "/@s%252f..",
            "/@s%252f%2e%2e",
            "/@s%252f",
            "/@s%25252fn",
            "/@s%252fa%252fb",
            "/@s%252fa%2fb",
            "/@s%252fa/b/c/d",
            "/@%252fn",
            "/a%252fb",
            "/a%2fb",
            "/a%00",
            "/n/-/",
            "/n/-/..",
            "/n/-/a%2fb.tgz",
            "/n/-/a%252fb.tgz",
            "/n/-/blocked/a.tgz/",
            "/n/1.0.0/x",
            "/n/-/x/y/z",
        ] {
            let answer = asked(&Method::GET, path).unwrap_err();
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
            assert_eq!(answer.headers["content-type"], "application/json");
        }
        assert_eq!(asked(&Method::GET, "/%ff").unwrap_err().status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn nothing_is_written() {
        for method in [Method::PUT, Method::DELETE, Method::POST, Method::PATCH] {
            for path in
                ["/n", "/@s%2fn", "/n/-/n-1.0.0.tgz/-rev/1", "/-/package/n/dist-tags/x", "/-/ping"]
            {
                let answer = asked(&method, path).unwrap_err();
                assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
                assert_eq!(answer.headers[ALLOW], "GET, HEAD");
            }
        }
        for path in ["/n?write=true", "/@s%2fn?a=b&write=true"] {
            assert_eq!(
                asked(&Method::GET, path).unwrap_err().status,
                StatusCode::FORBIDDEN,
                "{path}"
            );
        }
    }

    #[test]
    fn who_does_not_say_which_host_is_asked_gets_no_address_of_one() {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        let asked = Asked {
            method: &Method::GET,
            version: http::Version::HTTP_11,
            path: "/n",
            query: None,
            headers: &headers,
            base: "",
            body: &body,
            as_of: None,
        };
        assert_eq!(parse(&asked).unwrap_err().status, StatusCode::BAD_REQUEST);
    }
}
