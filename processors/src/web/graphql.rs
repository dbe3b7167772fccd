//! What agents may ask in GraphQL: questions. Whatever changes something, or never ends, is refused.
//!
//! Follows the specification of October 2021. A document is refused as a whole: which of its
//! operations a server runs is said elsewhere, and the server might hear it otherwise.

use apollo_parser::{
    Parser,
    cst::{CstNode as _, Definition},
};
use reqwest::Url;
use serde::Deserialize;
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
    #[error("a GraphQL request is one JSON object with `query`")]
    Request,
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

#[derive(Deserialize)]
struct Request {
    query: String,
}

#[derive(Deserialize)]
struct Perhaps {
    query: Option<Value>,
}

/// The same of a GET: GraphQL over HTTP puts the document into `query`. Most parameters of that name are
/// something else; what is none that can be carried out is a search for words.
pub fn judge_query(url: &str) -> Result<bool, Why> {
    let Ok(url) = Url::parse(url) else { return Ok(false) };
    let documents = url.query_pairs().filter(|(name, _)| name == "query");
    for (_, document) in documents.filter(|(_, document)| document.contains('{')) {
        match is_query(&document) {
            Ok(()) => return Ok(true),
            Err(Why::Unreadable { .. }) => {}
            Err(why) => return Err(why),
        }
    }
    Ok(false)
}

/// Whether the body of a POST is GraphQL, and then whether it asks and does nothing else: a document
/// as `application/graphql`, or JSON that holds one as `query`. A list of requests that holds one is
/// refused.
pub fn judge_body(content_type: &str, body: &[u8]) -> Result<bool, Why> {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let document = match kind.as_str() {
        "application/graphql" => {
            let text = String::from_utf8(body.to_vec()).map_err(|_| Why::Request)?;
            return is_query(&text).map(|()| true);
        }
        "application/graphql+json" | "application/graphql-request+json" => {
            serde_json::from_slice::<Request>(body).map_err(|_| Why::Request)?.query
        }
        kind if kind == "application/json" || kind.ends_with("+json") => {
            match serde_json::from_slice(body) {
                // Read a second time, for two of them: one server takes the first, another the last.
                Ok(Value::Object(_)) => match serde_json::from_slice::<Perhaps>(body) {
                    Ok(Perhaps { query: Some(Value::String(query)) }) => query,
                    Ok(_) => return Ok(false),
                    Err(_) => return Err(Why::Request),
                },
                Ok(Value::Array(all)) if all.iter().any(|one| one.get("query").is_some()) => {
                    return Err(Why::Request);
                }
                _ => return Ok(false),
            }
        }
        _ => return Ok(false),
    };
    is_query(&document).map(|()| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_let_through() {
        for document in [
            "{ hero { name } }",
            "query { hero { name } }",
            "query Hero($id: ID!) @cached { hero(id: $id) { ...all mutation subscription } }
             fragment all on Hero { name }",
            "# mutation { x }\n{ hero(note: \"mutation { x }\") { name } }",
            "\u{feff}query mutation { hero }",
        ] {
            assert_eq!(is_query(document), Ok(()), "{document}");
        }
    }

    #[test]
    fn what_changes_something_is_refused_wherever_it_stands() {
        for (document, what) in [
            ("mutation { delete }", "mutation"),
            ("mutation M($a: Int) { delete(a: $a) }", "mutation"),
            ("query A { a } mutation B { b }", "mutation"),
            ("# query\n,,, mutation\n{ delete }", "mutation"),
            ("{ a } subscription { b }", "subscription"),
            ("subscription S { b }", "subscription"),
            ("type Query { a: Int }", "definition of types"),
            ("{ a } extend type Query { a: Int }", "definition of types"),
        ] {
            assert_eq!(is_query(document), Err(Why::NotAQuery(what)), "{document}");
        }
        assert_eq!(is_query("fragment all on Hero { name }"), Err(Why::Nothing));
        for document in ["", "hero", "{", "query { a ", "mutatio\u{301}n { a }", "\"x\" { a"] {
            assert!(is_query(document).is_err(), "{document}");
        }
    }

    #[test]
    fn what_is_too_large_or_too_deep_is_refused() {
        assert_eq!(is_query(&format!("{{ {} }}", "a ".repeat(40_000))), Err(Why::TooLarge));
        assert_eq!(is_query(&format!("{{ {} }}", "a ".repeat(12_000))), Err(Why::TooLarge));
        let deep = format!("{}{}", "{ a ".repeat(5_000), "}".repeat(5_000));
        assert_eq!(is_query(&deep), Err(Why::TooLarge));
        let lists = format!("{{ a(x: {}{}) }}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(is_query(&lists), Err(Why::TooLarge));
        let kinds = format!("query($a: {}Int{}) {{ a }}", "[".repeat(4_000), "]".repeat(4_000));
        assert!(is_query(&kinds).is_err());
        let shallow = format!("{}{}", "{ a ".repeat(30), "}".repeat(30));
        assert_eq!(is_query(&shallow), Ok(()));
    }

    #[test]
    fn a_body_is_read_by_what_it_says_that_it_is() {
        let (query, mutation) = (r#"{"query":"{ a }"}"#, r#"{"query":"mutation { a }"}"#);
        for (content_type, body, found) in [
            ("application/json", query, Ok(true)),
            ("Application/JSON; charset=utf-8", mutation, Err(Why::NotAQuery("mutation"))),
            ("application/vnd.x+json", mutation, Err(Why::NotAQuery("mutation"))),
            ("application/graphql", "{ a }", Ok(true)),
            ("application/graphql", "mutation { a }", Err(Why::NotAQuery("mutation"))),
            ("application/graphql", "not graphql at all {", Err(Why::Request)),
            (
                "application/json",
                r#"[{"query":"{ a }"},{"query":"mutation { a }"}]"#,
                Err(Why::Request),
            ),
            ("application/json", r#"{"query":{"match":"all"}}"#, Ok(false)),
            (
                "application/json",
                r#"{"query":"{ a }","query":"mutation { a }"}"#,
                Err(Why::Request),
            ),
            ("application/json", r#"{"x":1}"#, Ok(false)),
            ("application/json", "[1, 2]", Ok(false)),
            ("application/json", "not json", Ok(false)),
            ("application/graphql-request+json", "{}", Err(Why::Request)),
            ("text/plain", "mutation { a }", Ok(false)),
        ] {
            let judged = judge_body(content_type, body.as_bytes());
            if found == Err(Why::Request) {
                assert!(judged.is_err(), "{content_type} {body}");
            } else {
                assert_eq!(judged, found, "{content_type} {body}");
            }
        }
    }
}
