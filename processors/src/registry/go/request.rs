//! Understands what a client asks: a module's versions, one of them, or the checksum database.

use http::{HeaderValue, Method, StatusCode, header::ALLOW};
use percent_encoding::percent_decode_str;

use super::{
    module::{Canonical, Module, Query},
    sumdb,
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
    /// The versions of a module.
    List {
        /// The module.
        module: Module,
    },
    /// What a version is, which may be asked for by a branch, a commit, or as the latest.
    Info {
        /// The module.
        module: Module,
        /// Which version.
        query: Query,
    },
    /// The `go.mod` of a version.
    Mod {
        /// The module.
        module: Module,
        /// The version.
        version: Canonical,
    },
    /// The files of a version.
    Zip {
        /// The module.
        module: Module,
        /// The version.
        version: Canonical,
    },
    /// Something of a checksum database.
    Sums {
        /// The database.
        name: Box<str>,
        /// What of it.
        what: sumdb::Asked,
    },
}

/// Understands a request, or answers it at once. What there is not is not found: anything else would
/// stop the go command, which looks for modules above the one that it wants.
pub fn parse(asked: &Asked<'_>) -> Result<Request, Box<Answer>> {
    if asked.method != Method::GET && asked.method != Method::HEAD {
        let answer = Answer::text(StatusCode::METHOD_NOT_ALLOWED, "modules are read-only here");
        return Err(Box::new(answer.with(ALLOW, HeaderValue::from_static("GET, HEAD"))));
    }
    let path = percent_decode_str(asked.path.strip_prefix('/').unwrap_or(asked.path));
    let path = path.decode_utf8().map_err(|_| nothing())?;
    let target = target(&path).ok_or_else(nothing)?;
    Ok(Request { target, asking: Asking::of(asked) })
}

fn target(path: &str) -> Option<Target> {
    if let Some(rest) = path.strip_prefix("sumdb/") {
        let (name, what) = sumdb::Asked::read(rest)?;
        return Some(Target::Sums { name, what });
    }
    if let Some(module) = path.strip_suffix("/@latest") {
        return Some(Target::Info { module: Module::read(module)?, query: Query::Latest });
    }
    let (module, what) = path.split_once("/@v/")?;
    let module = Module::read(module)?;
    if what == "list" {
        return Some(Target::List { module });
    }
    let (query, kind) = what.rsplit_once('.')?;
    let query = Query::read(query)?;
    let canonical = || match &query {
        Query::Named(text) => Canonical::new(text),
        Query::Latest => None,
    };
    match kind {
        "info" => Some(Target::Info { module, query }),
        "mod" => Some(Target::Mod { version: canonical()?, module }),
        "zip" => Some(Target::Zip { version: canonical()?, module }),
        _ => None,
    }
}

fn nothing() -> Box<Answer> {
    let there_is = "not found: there is MODULE/@v/list, MODULE/@latest, and \
                    MODULE/@v/VERSION with .info, .mod or .zip; upper case is written as !x";
    Box::new(Answer::text(StatusCode::NOT_FOUND, there_is))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;

    use super::*;

    fn ask(path: &str) -> Result<Target, StatusCode> {
        ask_by(&Method::GET, path)
    }

    fn ask_by(method: &Method, path: &str) -> Result<Target, StatusCode> {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        let asked = Asked {
            method,
            version: http::Version::HTTP_11,
            path,
            query: None,
            headers: &headers,
            base: "",
            body: &body,
            as_of: None,
        };
        parse(&asked).map(|request| request.target).map_err(|answer| answer.status)
    }

    #[test]
    fn what_the_go_command_asks_is_understood() {
        let module = Module::new("github.com/Azure/x").unwrap();
        let version = Canonical::new("v1.0.0-RC1").unwrap();
        let named = Query::Named("v1.0.0-RC1".into());
        let (base, at) = ("/github.com/!azure/x", "v1.0.0-!r!c1");
        for (path, wanted) in [
            (format!("{base}/@v/list"), Target::List { module: module.clone() }),
            (
                format!("{base}/@latest"),
                Target::Info { module: module.clone(), query: Query::Latest },
            ),
            (format!("{base}/@v/{at}.info"), Target::Info { module: module.clone(), query: named }),
            (
                format!("{base}/@v/{at}.mod").replace('!', "%21"),
                Target::Mod { module: module.clone(), version: version.clone() },
            ),
            (format!("{base}/@v/{at}.zip"), Target::Zip { module: module.clone(), version }),
            (
                format!("{base}/@v/master.info"),
                Target::Info { module, query: Query::Named("master".into()) },
            ),
        ] {
            assert_eq!(ask(&path), Ok(wanted), "{path}");
        }
    }

    #[test]
    fn everything_else_is_not_there() {
        for path in [
            "/",
            "",
            "/github.com/Azure/x/@v/list",
            "/github.com/x/@v/",
            "/github.com/x/@v/v1.0.0.exe",
            "/github.com/x/@v/master.zip",
            "/github.com/x/@v/..%2f..%2fx.info",
            "/github.com/x/@v/v1.0.0%00.info",
            "/github.com/../x/@v/list",
            "/github.com/%2521azure/@v/list",
            "/github.com/x/@v/v1.0.0.info/",
            "/%ff/@v/list",
            "/sumdb/x",
        ] {
            assert_eq!(ask(path), Err(StatusCode::NOT_FOUND), "{path}");
        }
        let put = ask_by(&Method::PUT, "/github.com/x/@v/list");
        assert_eq!(put, Err(StatusCode::METHOD_NOT_ALLOWED));
    }
}
