//! Understands what a client asks: which page or file, in which form, which part, if changed.

use http::{
    HeaderValue, Method, StatusCode,
    header::{ALLOW, LOCATION},
};
use percent_encoding::percent_decode_str;

use super::{
    filename::{Filename, Project},
    negotiate::Form,
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
    },
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
        ["files", project, file] => file_of(project, file),
        _ => {
            Err(answered(StatusCode::NOT_FOUND, "there is simple/PROJECT/ and files/PROJECT/FILE"))
        }
    }?;
    Ok(Request { target, asking: Asking::of(asked) })
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

fn file_of(project: &str, file: &str) -> Result<Target, Box<Answer>> {
    let nowhere = || answered(StatusCode::NOT_FOUND, "no file can have this name");
    let project = Project::new(&decoded(project)?).ok_or_else(nowhere)?;
    let filename = Filename::new(&decoded(file)?).ok_or_else(nowhere)?;
    Ok(Target::File { project, filename })
}

/// Decodes a part of the path, once. What it must not be is decided by what it is a name of.
fn decoded(part: &str) -> Result<String, Box<Answer>> {
    let decoded = percent_decode_str(part).decode_utf8();
    decoded.map(Into::into).map_err(|_| answered(StatusCode::BAD_REQUEST, "the path is not UTF-8"))
}

fn answered(status: StatusCode, text: impl Into<String>) -> Box<Answer> {
    Box::new(Answer::text(status, text))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, header::ACCEPT};

    use super::*;

    fn ask(path: &str) -> Result<Request, Box<Answer>> {
        ask_with(path, &HeaderMap::new())
    }

    fn asked<'a>(
        method: &'a Method,
        path: &'a str,
        query: Option<&'a str>,
        headers: &'a HeaderMap,
    ) -> Asked<'a> {
        static NO_BODY: Bytes = Bytes::new();
        let version = http::Version::HTTP_11;
        Asked { method, version, path, query, headers, base: "", body: &NO_BODY, as_of: None }
    }

    fn ask_with(path: &str, headers: &HeaderMap) -> Result<Request, Box<Answer>> {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        parse(&asked(&Method::GET, path, query, headers))
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
        let answer = parse(&asked(&Method::POST, "/simple/six/", None, &headers)).unwrap_err();
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.headers[ALLOW], "GET, HEAD");
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("image/png"));
        let answer = ask_with("/simple/six/", &headers).unwrap_err();
        assert_eq!(answer.status, StatusCode::NOT_ACCEPTABLE);
    }
}
