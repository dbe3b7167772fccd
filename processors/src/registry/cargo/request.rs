//! Understands what a client asks: the index's settings, a crate's list, or a version's file.

use http::{
    HeaderValue, Method, StatusCode,
    header::{ALLOW, AUTHORIZATION},
};
use percent_encoding::percent_decode_str;

use super::{
    PREFIX,
    document::is_version,
    name::{Name, folder},
};
use crate::registry::{answer::Answer, asking::Asking, plugin::Asked};

/// A request that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What it is about.
    pub target: Target,
    /// How it is asked for.
    pub asking: Asking,
}

/// What a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The settings of the index.
    Config {
        /// Where our own files are for the client.
        dl: String,
        /// Whether the client was let in by a token, and must go on sending it.
        by_token: bool,
    },
    /// A crate's list.
    List {
        /// The crate.
        name: Name,
    },
    /// The file of a version.
    File {
        /// The crate.
        name: Name,
        /// Its name as the client spells it.
        spelling: Box<str>,
        /// The version.
        version: Box<str>,
    },
}

/// Understands a request, or answers it at once. What does not exist is not found, and nothing else:
/// cargo takes any other refusal for a fault of the whole registry.
pub fn parse(asked: &Asked<'_>) -> Result<Request, Box<Answer>> {
    let path: Vec<&str> = asked.path.trim_start_matches('/').split('/').collect();
    if path.first() == Some(&"api") {
        let why = "Weir hands out crates only; search and publish at the registry itself";
        return Err(Box::new(Answer::text(StatusCode::FORBIDDEN, why).because(why)));
    }
    if asked.method != Method::GET && asked.method != Method::HEAD {
        let answer = Answer::text(StatusCode::METHOD_NOT_ALLOWED, "crates are read-only here");
        return Err(Box::new(answer.with(ALLOW, HeaderValue::from_static("GET, HEAD"))));
    }
    let target = match path[..] {
        ["config.json"] => config(asked)?,
        ["crates", name, version, "download"] => file(name, version)?,
        [.., name] => match (list(&path, name), &path[..]) {
            (Some(target), _) => target,
            (None, [name, version, "download"]) => file(name, version)?,
            (None, _) => return Err(nothing()),
        },
        [] => return Err(nothing()),
    };
    Ok(Request { target, asking: Asking::of(asked) })
}

fn config(asked: &Asked<'_>) -> Result<Target, Box<Answer>> {
    if asked.base.is_empty() {
        let why = "say with `Host` which address you asked: crates have whole addresses";
        return Err(Box::new(Answer::text(StatusCode::BAD_REQUEST, why).because(why)));
    }
    let dl = format!("{}{PREFIX}/crates", asked.base);
    Ok(Target::Config { dl, by_token: asked.headers.contains_key(AUTHORIZATION) })
}

/// A list has one address, in lower case.
fn list(path: &[&str], name: &str) -> Option<Target> {
    let own = Name::new(name).filter(|own| own.as_str() == name)?;
    let address = format!("{}/{name}", folder(name));
    (path.join("/") == address).then_some(Target::List { name: own })
}

fn file(name: &str, version: &str) -> Result<Target, Box<Answer>> {
    let (spelling, version) = (decoded(name)?, decoded(version)?);
    let name = Name::new(&spelling).filter(|_| is_version(&version)).ok_or_else(nothing)?;
    Ok(Target::File { name, spelling: spelling.into(), version: version.into() })
}

/// Decodes a part of the path, once.
fn decoded(part: &str) -> Result<String, Box<Answer>> {
    percent_decode_str(part).decode_utf8().map(Into::into).map_err(|_| nothing())
}

fn nothing() -> Box<Answer> {
    let there_is = "there is config.json, a list for each crate, and \
                    crates/CRATE/VERSION/download";
    Box::new(Answer::text(StatusCode::NOT_FOUND, there_is))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;

    use super::*;

    fn ask_with(
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        base: &str,
    ) -> Result<Target, Box<Answer>> {
        let asked = Asked {
            method,
            version: http::Version::HTTP_11,
            path,
            query: None,
            headers,
            base,
            body: &Bytes::new(),
            as_of: None,
        };
        parse(&asked).map(|request| request.target)
    }

    fn ask(path: &str) -> Result<Target, Box<Answer>> {
        ask_with(&Method::GET, path, &HeaderMap::new(), "http://weir.example")
    }

    #[test]
    fn a_list_has_one_address() {
        for path in ["/1/a", "/2/cc", "/3/s/syn", "/se/rd/serde", "/do/wn/download", "/ap/i_/api_x"]
        {
            assert!(matches!(ask(path), Ok(Target::List { .. })), "{path}");
        }
        for path in [
            "/",
            "/serde",
            "/se/rd/Serde",
            "/Se/rd/serde",
            "/rd/se/serde",
            "/3/y/syn",
            "/1/cc",
            "/se/rd/serde/",
            "/se/rd/%73erde",
            "/se/rd/..",
            "/se/../se/rd/serde",
            "//se/rd//serde",
            "/config.json/",
        ] {
            assert_eq!(ask(path).unwrap_err().status, StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[test]
    fn a_file_has_two_addresses() {
        for path in ["/crates/Serde/1.0.0+a/download", "/Serde/1.0.0%2Ba/download"] {
            let Target::File { name, spelling, version } = ask(path).unwrap() else {
                panic!("{path}")
            };
            assert_eq!((name.as_str(), &*spelling, &*version), ("serde", "Serde", "1.0.0+a"));
        }
        for path in [
            "/crates/serde/1.0.0",
            "/crates/serde/..%2f1/download",
            "/crates/serde/x/download",
            "/crates/..%2Fserde/1.0.0/download",
            "/crates/serde/1.0.0%00/download",
            "/crates/serde/1.0.0%252Ba/download",
            "/crates/%ff/1.0.0/download",
            "/crates/serde/1.0.0/download/",
        ] {
            assert_eq!(ask(path).unwrap_err().status, StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[test]
    fn the_settings_say_whole_addresses_and_whether_a_token_is_to_be_sent() {
        let dl = "http://weir.example/cargo/crates".to_owned();
        let open = Target::Config { dl: dl.clone(), by_token: false };
        assert_eq!(ask("/config.json").unwrap(), open);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static("rf_1"));
        let closed =
            ask_with(&Method::GET, "/config.json", &headers, "http://weir.example").unwrap();
        assert_eq!(closed, Target::Config { dl, by_token: true });
        let nowhere = ask_with(&Method::GET, "/config.json", &headers, "").unwrap_err();
        assert_eq!(nowhere.status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn nothing_is_published_and_nothing_is_searched() {
        for (method, path) in [
            (Method::GET, "/api/v1/crates"),
            (Method::PUT, "/api/v1/crates/new"),
            (Method::DELETE, "/api/v1/crates/serde/1.0.0/yank"),
        ] {
            let answer = ask_with(&method, path, &HeaderMap::new(), "").unwrap_err();
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path}");
            assert!(answer.reason.unwrap().contains("publish"), "{method} {path}");
        }
        let answer = ask_with(&Method::POST, "/se/rd/serde", &HeaderMap::new(), "").unwrap_err();
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    }
}
