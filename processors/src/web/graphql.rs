//! What agents may ask in GraphQL: questions. Whatever changes something, or never ends, is refused.
//!
//! Follows the specification of October 2021. A document is refused as a whole: which of its
//! operations a server runs is said elsewhere, and the server might hear it otherwise.

use std::{
    borrow::Cow,
    fmt::{self, Formatter},
};

use apollo_parser::{
    Parser,
    cst::{CstNode as _, Definition},
};
use reqwest::Url;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

/// The largest document that is read, in bytes.
pub const MAX_BYTES: usize = 64 << 10;
const MAX_TOKENS: usize = 10_000;
const MAX_DEPTH: usize = 64;

/// It is no question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It is larger than questions are.
    #[error(
        "the GraphQL document is larger than {MAX_BYTES} bytes, {MAX_TOKENS} words or {MAX_DEPTH} levels"
    )]
    TooLarge,
    /// It cannot be read.
    #[error("the GraphQL document cannot be read at byte {at}: {message}")]
    Unreadable {
        /// Where.
        at: usize,
        /// What is wrong there.
        message: Box<str>,
    },
    /// It holds something else than questions.
    #[error("only queries are sent, and the GraphQL document holds a {0}")]
    NotAQuery(&'static str),
    /// It holds no operation at all.
    #[error("the GraphQL document asks nothing")]
    Nothing,
    /// The request around it is not one question.
    #[error("a GraphQL request is one JSON object, or one form, with one `query`")]
    Request,
    /// Nobody can say what is in it.
    #[error("the body cannot be read as JSON, and may hold a GraphQL document")]
    Json,
    /// It names a document instead of showing it.
    #[error(
        "a GraphQL document that the server keeps is not asked for by its hash: send it as `query`"
    )]
    Kept,
}

/// Whether a document asks, and does nothing else.
pub fn is_query(document: &str) -> Result<(), Why> {
    if document.len() > MAX_BYTES {
        return Err(Why::TooLarge);
    }
    let parser = Parser::new(document).token_limit(MAX_TOKENS).recursion_limit(MAX_DEPTH);
    let tree = parser.parse();
    if let Some(fault) = tree.errors().next() {
        return Err(if tree.errors().any(apollo_parser::Error::is_limit) {
            Why::TooLarge
        } else {
            Why::Unreadable { at: fault.index(), message: fault.message().into() }
        });
    }
    let mut asks = false;
    for definition in tree.document().definitions() {
        match definition {
            Definition::FragmentDefinition(_) => {}
            Definition::OperationDefinition(operation) => {
                let kind = operation.operation_type();
                let kind = kind.map(|kind| kind.syntax().text().to_string());
                // Without a word it is a query.
                match kind.as_deref().map_or("query", str::trim) {
                    "query" => asks = true,
                    "mutation" => return Err(Why::NotAQuery("mutation")),
                    _ => return Err(Why::NotAQuery("subscription")),
                }
            }
            _ => return Err(Why::NotAQuery("definition of types")),
        }
    }
    if asks { Ok(()) } else { Err(Why::Nothing) }
}

/// Whether the address asks in GraphQL: over HTTP it puts the document into `query`, whatever the method is.
/// Most parameters of that name are something else; what is none that can be carried out is a search for
/// words.
pub fn judge_url(url: &str) -> Result<bool, Why> {
    let Ok(url) = Url::parse(url) else { return Ok(false) };
    judge_pairs(url.query_pairs())
}

/// Whether the body of a POST is GraphQL, and then whether it asks and does nothing else. What a body says
/// that it is decides nothing: servers read JSON and forms under other names, too. It may be a document,
/// JSON that holds one as `query`, or a form that does. A list of requests that holds one, parts with
/// files, and what only names a document that the server keeps are refused: nobody can see what they do.
pub fn judge_body(content_type: &str, body: &[u8]) -> Result<bool, Why> {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii();
    if kind == "application/graphql" {
        let text = std::str::from_utf8(body).map_err(|_| Why::Request)?;
        return is_query(text).map(|()| true);
    }
    let json = kind == "application/json" || kind.ends_with("+json");
    if json || matches!(body.first(), Some(b'{' | b'[')) {
        match serde_json::from_slice::<Body>(body) {
            Ok(read) => return judge_json(&read, kind.contains("graphql")),
            // What this reader refuses another one may take: a number too large, half a character.
            Err(_) if json || body.windows(5).any(|word| word.eq_ignore_ascii_case(b"query")) => {
                return judge_text(body)
                    .and_then(|asks| if asks { Ok(true) } else { Err(Why::Json) });
            }
            Err(_) => {}
        }
    }
    if kind == "multipart/form-data" {
        let named = |name: &[u8]| body.windows(name.len()).any(|part| part == name);
        let names = [
            b"name=\"operations\"".as_slice(),
            b"name=operations",
            b"name=\"query\"",
            b"name=query",
        ];
        return if names.into_iter().any(named) { Err(Why::Request) } else { Ok(false) };
    }
    if judge_url(&format!("form:?{}", String::from_utf8_lossy(body).replace('#', "%23")))? {
        return Ok(true);
    }
    judge_text(body)
}

/// A body that is a document as it stands, under whatever name.
fn judge_text(body: &[u8]) -> Result<bool, Why> {
    let Ok(text) = std::str::from_utf8(body) else { return Ok(false) };
    match is_query(text) {
        Ok(()) => Ok(true),
        Err(why @ Why::NotAQuery(_)) => Err(why),
        Err(_) => Ok(false),
    }
}

fn judge_pairs<'a>(pairs: impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)>) -> Result<bool, Why> {
    let (mut asks, mut n_queries, mut n_documents) = (false, 0, 0);
    for (name, value) in pairs {
        if name.eq_ignore_ascii_case("extensions") && value.contains("persistedQuery") {
            return Err(Why::Kept);
        }
        if !name.eq_ignore_ascii_case("query") {
            continue;
        }
        n_queries += 1;
        if !value.contains('{') {
            continue;
        }
        n_documents += 1;
        // Each is read, and that takes a while: the second one is read only to say what is wrong with it.
        if n_documents > 2 {
            return Err(Why::Request);
        }
        match is_query(&value) {
            Ok(()) => asks = true,
            Err(Why::Unreadable { .. }) => {}
            Err(why) => return Err(why),
        }
    }
    // Of two of them one server takes the first, another the last.
    if n_documents > 0 && n_queries > 1 { Err(Why::Request) } else { Ok(asks) }
}

fn judge_json(body: &Body, must: bool) -> Result<bool, Why> {
    match body {
        Body::One { queries, kept } => match queries.as_slice() {
            [Some(query)] => is_query(query).map(|()| true),
            [] if *kept => Err(Why::Kept),
            [] | [None] if !must => Ok(false),
            // Of two of them one server takes the first, another the last.
            _ => Err(Why::Request),
        },
        Body::Many { any: true } => Err(Why::Request),
        Body::Many { .. } | Body::Other if must => Err(Why::Request),
        Body::Many { .. } | Body::Other => Ok(false),
    }
}

/// What of a JSON body matters here. Members are known in any case, as some servers know them.
enum Body {
    /// An object: its members named `query`, with what those that are text say.
    One { queries: Vec<Option<String>>, kept: bool },
    /// A list, and whether anything in it has such a member.
    Many { any: bool },
    /// Something else.
    Other,
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Body;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body, A::Error> {
        let (mut queries, mut kept) = (Vec::new(), false);
        while let Some(name) = map.next_key::<String>()? {
            if name.eq_ignore_ascii_case("query") {
                queries.push(map.next_value::<Value>()?.as_str().map(ToOwned::to_owned));
            } else if name.eq_ignore_ascii_case("extensions") {
                kept |= map.next_value::<Value>()?.get("persistedQuery").is_some();
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Body::One { queries, kept })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Body, A::Error> {
        let mut any = false;
        while let Some(one) = seq.next_element::<Self::Value>()? {
            any |= matches!(one, Body::One { queries, kept } if kept || !queries.is_empty());
        }
        Ok(Body::Many { any })
    }

    fn visit_unit<E>(self) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Body, E> {
        Ok(Body::Other)
    }
}

#[cfg(test)]
mod tests;
