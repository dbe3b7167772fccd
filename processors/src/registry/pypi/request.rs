//! Understands what a client asks: which page or file, in which form, which part, if changed.

use std::ops::Range;

use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{ALLOW, IF_NONE_MATCH, IF_RANGE, LOCATION, RANGE},
};
use percent_encoding::percent_decode_str;

use super::{
    filename::{Filename, Project},
    negotiate::Form,
};
use crate::{
    outbound::Trail,
    registry::{answer::Answer, plugin::Asked},
};

/// A request that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What it is about.
    pub target: Target,
    /// Whether only the headers are wanted.
    pub head: bool,
    /// The validators the client has, as they came.
    pub if_none_match: Option<String>,
    /// The Weirs it has come through.
    pub trail: Trail,
}

/// What a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A project's page.
    Page {
        /// The project.
        project: Project,
        /// The form that is wanted.
        form: Form,
    },
    /// A file of a project.
    File {
        /// The project.
        project: Project,
        /// The file's name.
        filename: Filename,
        /// The part that is wanted.
        part: Option<Part>,
        /// Only if the file still has this validator; otherwise all of it.
        if_range: Option<String>,
    },
}

/// A part of a file: `bytes=…` with one range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// From here on.
    From(u64),
    /// From here up to there, both included.
    Between(u64, u64),
    /// So many bytes at the end.
    Last(u64),
}

impl Part {
    /// Reads one range; several at once are answered with the whole file.
    fn parse(value: &str) -> Option<Self> {
        let (from, to) = value.strip_prefix("bytes=")?.trim().split_once('-')?;
        match (from, to) {
            ("", last) => last.parse().ok().map(Self::Last),
            (from, "") => from.parse().ok().map(Self::From),
            (from, to) => {
                let (from, to) = (from.parse().ok()?, to.parse().ok()?);
                (from <= to).then_some(Self::Between(from, to))
            }
        }
    }

    /// The bytes of a file of this size; `None` when it has none of them.
    #[must_use]
    pub fn of(self, size: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::From(from) => from..size,
            Self::Between(from, to) => from..size.min(to.saturating_add(1)),
            Self::Last(n) => size.saturating_sub(n)..size,
        };
        (range.start < range.end).then_some(range)
    }
}

impl Request {
    /// Whether the client has what has this validator.
    #[must_use]
    pub fn has(&self, etag: &HeaderValue) -> bool {
        let (Some(known), Ok(etag)) = (&self.if_none_match, etag.to_str()) else { return false };
        known.trim() == "*"
            || known.split(',').any(|known| known.trim().trim_start_matches("W/") == etag)
    }
}

/// Understands a request, or answers it at once.
pub fn parse(asked: &Asked<'_>) -> Result<Request, Box<Answer>> {
    if asked.method != Method::GET && asked.method != Method::HEAD {
        let answer = Answer::text(StatusCode::METHOD_NOT_ALLOWED, "packages are read-only here");
        return Err(Box::new(answer.with(ALLOW, HeaderValue::from_static("GET, HEAD"))));
    }
    let path: Vec<&str> = asked.path.trim_start_matches('/').split('/').collect();
    let target = match path[..] {
        ["simple"] | ["simple", ""] => Err(answered(
            StatusCode::NOT_FOUND,
            "not everything there is is listed here; ask for simple/PROJECT/",
        )),
        ["simple", name] => page(name, false, asked),
        ["simple", name, ""] => page(name, true, asked),
        ["files", project, file] => file_of(project, file, asked),
        _ => {
            Err(answered(StatusCode::NOT_FOUND, "there is simple/PROJECT/ and files/PROJECT/FILE"))
        }
    }?;
    Ok(Request {
        target,
        head: asked.method == Method::HEAD,
        if_none_match: text(asked.headers, IF_NONE_MATCH),
        trail: Trail::of(asked.headers),
    })
}

fn page(name: &str, slash: bool, asked: &Asked<'_>) -> Result<Target, Box<Answer>> {
    let name = decoded(name)?;
    let project = Project::new(&name)
        .ok_or_else(|| answered(StatusCode::NOT_FOUND, "no project can have this name"))?;
    if !slash || project.as_str() != name {
        // Relative, so that it fits behind any prefix.
        let up = if slash { "../" } else { "" };
        let query = asked.query.map(|query| format!("?{query}")).unwrap_or_default();
        let location = HeaderValue::try_from(format!("{up}{project}/{query}"))
            .map_err(|_| answered(StatusCode::BAD_REQUEST, "the query is not text"))?;
        let answer = Answer::text(StatusCode::MOVED_PERMANENTLY, "the page has this name");
        return Err(Box::new(answer.with(LOCATION, location)));
    }
    match Form::wanted(asked.query, asked.headers) {
        Some(form) => Ok(Target::Page { project, form }),
        None => Err(answered(
            StatusCode::NOT_ACCEPTABLE,
            format!("there is {}", Form::ALL.map(Form::media_type).join(", ")),
        )),
    }
}

fn file_of(project: &str, file: &str, asked: &Asked<'_>) -> Result<Target, Box<Answer>> {
    let nowhere = || answered(StatusCode::NOT_FOUND, "no file can have this name");
    let project = Project::new(&decoded(project)?).ok_or_else(nowhere)?;
    let filename = Filename::new(&decoded(file)?).ok_or_else(nowhere)?;
    let part = text(asked.headers, RANGE).and_then(|range| Part::parse(&range));
    Ok(Target::File { project, filename, part, if_range: text(asked.headers, IF_RANGE) })
}

/// Decodes a part of the path, once. What it must not be is decided by what it is a name of.
fn decoded(part: &str) -> Result<String, Box<Answer>> {
    let decoded = percent_decode_str(part).decode_utf8();
    decoded.map(Into::into).map_err(|_| answered(StatusCode::BAD_REQUEST, "the path is not UTF-8"))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

fn answered(status: StatusCode, text: impl Into<String>) -> Box<Answer> {
    Box::new(Answer::text(status, text))
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

    use super::*;

    fn ask(path: &str) -> Result<Request, Box<Answer>> {
        ask_with(path, &HeaderMap::new())
    }

    fn ask_with(path: &str, headers: &HeaderMap) -> Result<Request, Box<Answer>> {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        parse(&Asked { method: &Method::GET, path, query, headers })
    }

    #[test]
    fn a_page_has_one_address_and_the_others_lead_there() {
        let Target::Page { project, form } = ask("/simple/zope-interface/").unwrap().target else {
            panic!("no page")
        };
        assert_eq!((project.as_str(), form), ("zope-interface", Form::TextHtml));
        for (path, location) in [
            ("/simple/six", "six/"),
            ("/simple/Six", "six/"),
            ("/simple/Zope.Interface/", "../zope-interface/"),
            ("/simple/zope%2Einterface/?format=a%2Bb", "../zope-interface/?format=a%2Bb"),
        ] {
            let answer = ask(path).unwrap_err();
            assert_eq!(answer.status, StatusCode::MOVED_PERMANENTLY, "{path}");
            assert_eq!(answer.headers[LOCATION], location, "{path}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_lead_nowhere() {
        for path in [
            "/",
            "/simple",
            "/simple/",
            "/simple/../",
            "/simple/%2e%2e/",
            "/simple/a%2Fb/",
            "/simple/six/extra/",
            "/files/six/",
            "/files/six/..",
            "/files/six/%2e%2e",
            "/files/%2e%2e/a",
            "/files/six/a%2Fb",
            "/files/six/a%00",
            "/files/six/a/b",
            "/files/six/a%252Fb",
            "/other/six",
        ] {
            assert_eq!(ask(path).unwrap_err().status, StatusCode::NOT_FOUND, "{path}");
        }
        assert_eq!(ask("/simple/%ff/").unwrap_err().status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn nothing_is_written_and_unknown_forms_are_not_acceptable() {
        let headers = HeaderMap::new();
        let asked =
            Asked { method: &Method::POST, path: "/simple/six/", query: None, headers: &headers };
        let answer = parse(&asked).unwrap_err();
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.headers[ALLOW], "GET, HEAD");
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("image/png"));
        let answer = ask_with("/simple/six/", &headers).unwrap_err();
        assert_eq!(answer.status, StatusCode::NOT_ACCEPTABLE);
    }

    #[test]
    fn one_range_is_a_part_and_several_are_the_whole() {
        for (value, part, of_ten) in [
            ("bytes=0-3", Some(Part::Between(0, 3)), Some(0..4)),
            ("bytes=4-99", Some(Part::Between(4, 99)), Some(4..10)),
            ("bytes=4-", Some(Part::From(4)), Some(4..10)),
            ("bytes=-3", Some(Part::Last(3)), Some(7..10)),
            ("bytes=-99", Some(Part::Last(99)), Some(0..10)),
            ("bytes=10-", Some(Part::From(10)), None),
            ("bytes=-0", Some(Part::Last(0)), None),
            ("bytes=0-18446744073709551615", Some(Part::Between(0, u64::MAX)), Some(0..10)),
            ("bytes=3-1", None, None),
            ("bytes=0-1,3-4", None, None),
            ("lines=0-1", None, None),
            ("bytes=a-b", None, None),
        ] {
            assert_eq!(Part::parse(value), part, "{value}");
            assert_eq!(part.and_then(|part| part.of(10)), of_ten, "{value}");
        }
    }

    #[test]
    fn a_validator_is_found_among_those_the_client_has() {
        let has = |known: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static(known));
            ask_with("/simple/six/", &headers).unwrap().has(&HeaderValue::from_static("\"a\""))
        };
        assert!(has("\"a\"") && has("\"b\", W/\"a\"") && has("*"));
        assert!(!has("\"b\"") && !has("a"));
    }
}
