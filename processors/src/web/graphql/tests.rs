//! What is taken for GraphQL, and what of it is let through.

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
fn an_address_asks_whatever_the_method_is() {
    for (query, found) in [
        ("query={a}", Ok(true)),
        ("query=mutation{x}", Err(Why::NotAQuery("mutation"))),
        ("QUERY=mutation%7Bx%7D", Err(Why::NotAQuery("mutation"))),
        ("query={a}&query=mutation{x}", Err(Why::NotAQuery("mutation"))),
        ("query=rust+{generics", Ok(false)),
        ("query=words", Ok(false)),
        ("query=words&query=more+words", Ok(false)),
        ("query={a}&query={b}", Err(Why::Request)),
        ("query={a}&Query=words", Err(Why::Request)),
        ("query=words&query={a}", Err(Why::Request)),
        ("query={&query={&query=mutation{x}", Err(Why::Request)),
        ("extensions={\"persistedQuery\":{}}", Err(Why::Kept)),
    ] {
        assert_eq!(judge_url(&format!("https://x.test/graphql?{query}")), found, "{query}");
    }
}

/// A form of a megabyte was once read as a hundred thousand documents.
#[test]
fn a_form_is_not_read_as_one_document_after_the_other() {
    let form = "query={&".repeat(100_000);
    let found = judge_body("application/x-www-form-urlencoded", form.as_bytes());
    assert_eq!(found, Err(Why::Request));
}

#[test]
fn deep_json_is_not_taken_for_something_else() {
    let deep =
        format!("{{\"a\":{}{},\"query\":\"mutation{{x}}\"}}", "[".repeat(300), "]".repeat(300));
    assert!(judge_body("application/json", deep.as_bytes()).is_err());
}

#[test]
fn a_body_is_read_as_every_server_might_read_it() {
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
        ("application/json", r#"{"query":"{ a }","query":"mutation { a }"}"#, Err(Why::Request)),
        ("application/json", r#"{"x":1}"#, Ok(false)),
        ("application/json", "[1, 2]", Ok(false)),
        ("application/json", "not json", Err(Why::Json)),
        ("application/graphql-request+json", "{}", Err(Why::Request)),
        ("application/graphql+json", "[]", Err(Why::Request)),
        ("text/plain", "mutation { a }", Err(Why::NotAQuery("mutation"))),
        ("text/plain", "{ a }", Ok(true)),
        ("text/plain", "words { of } nobody", Ok(false)),
        ("text/plain", "{ not json, and no question", Ok(false)),
        // What other readers of JSON take, and other names for it.
        (
            "application/json",
            r#"{"query":"mutation{x}","a":1e999}"#,
            Err(Why::NotAQuery("mutation")),
        ),
        (
            "application/json",
            "\u{feff}{\"query\":\"mutation{x}\"}",
            Err(Why::NotAQuery("mutation")),
        ),
        (
            "application/json",
            r#"{"query":"mutation{x}","a":"\ud800"}"#,
            Err(Why::NotAQuery("mutation")),
        ),
        ("text/plain", r#"{"query":"mutation{x}","a":"\ud800"}"#, Err(Why::NotAQuery("mutation"))),
        ("application/json", r#"{"query":"mutation{x} # \ud800"}"#, Err(Why::Json)),
        ("text/plain", r#"{"query":"mutation{x} # \ud800"}"#, Err(Why::Json)),
        ("application/json", r#"{"Query":"mutation{x}"}"#, Err(Why::NotAQuery("mutation"))),
        ("application/json", r#"{"qu\u0065ry":"mutation{x}"}"#, Err(Why::NotAQuery("mutation"))),
        ("", mutation, Err(Why::NotAQuery("mutation"))),
        ("text/plain", mutation, Err(Why::NotAQuery("mutation"))),
        ("text/plain", query, Ok(true)),
        (
            "application/x-www-form-urlencoded",
            "query=mutation%7Bx%7D",
            Err(Why::NotAQuery("mutation")),
        ),
        ("", "a=1&query=mutation{x}", Err(Why::NotAQuery("mutation"))),
        ("application/x-www-form-urlencoded", "query=%7Bx%7D", Ok(true)),
        ("application/x-www-form-urlencoded", "query=two+words", Ok(false)),
        ("multipart/form-data; boundary=x", "--x\r\nname=\"operations\"\r\n", Err(Why::Request)),
        ("multipart/form-data; boundary=x", "--x\r\nname=\"file\"\r\n", Ok(false)),
        ("application/json", r#"{"extensions":{"persistedQuery":{"version":1}}}"#, Err(Why::Kept)),
    ] {
        let judged = judge_body(content_type, body.as_bytes());
        if body.starts_with("not graphql") {
            assert!(judged.is_err(), "{content_type} {body}");
        } else {
            assert_eq!(judged, found, "{content_type} {body}");
        }
    }
}
