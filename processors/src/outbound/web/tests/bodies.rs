use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use http::Method;

use super::world::{World, anything, class, page};
use crate::outbound::web::ask::{Page, PageAsk};

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

async fn answered(answer: Vec<u8>) -> Result<Page, &'static str> {
    let world = World::new(move |_| answer.clone());
    world.get("http://a.example/").await.map_err(|fault| class(&fault.why))
}

#[tokio::test]
async fn a_page_comes_decoded_with_the_headers_that_matter() {
    let headers = "content-type: text/html\r\ncontent-encoding: gzip\r\nvary: accept\r\n\
                   cache-control: max-age=60\r\netag: \"x\"\r\nserver: secret\r\nrefresh: 0;url=/x\r\n";
    let wire = gzip(b"hello, hello, hello");
    let found = answered(page(headers, &wire)).await.unwrap();
    assert_eq!(found.body, "hello, hello, hello");
    assert!(!found.truncated);
    assert_eq!(found.content_type(), Some("text/html"));
    let names: Vec<_> = found.headers.keys().map(http::HeaderName::as_str).collect();
    assert_eq!(names, ["content-type", "cache-control", "vary", "etag"]);
    assert!(!found.sets_cookie);
}

#[tokio::test]
async fn what_is_asked_says_who_we_are_and_what_we_read() {
    let world = World::new(|_| page("", ""));
    world.get("http://a.example:8443/").await.unwrap();
    let asked = world.asked().remove(0);
    let lines: Vec<_> = asked.head.lines().map(str::to_ascii_lowercase).collect();
    let agent = format!("user-agent: {}", crate::outbound::USER_AGENT);
    assert_eq!(
        lines,
        [
            "get / http/1.1",
            "host: a.example:8443",
            &agent,
            "accept-encoding: gzip, br, zstd, deflate",
            "accept: */*",
            ""
        ]
    );
}

/// Sixteen megabytes in sixteen kilobytes.
#[tokio::test]
async fn a_body_ends_where_it_was_asked_to_and_says_so() {
    let bomb = page("content-encoding: gzip\r\n", gzip(&vec![0; 16 << 20]));
    let found = answered(bomb).await.unwrap();
    assert_eq!((found.body.len(), found.truncated, found.broken), (2 << 20, true, false));
    let world = World::new(|_| page("", vec![b'x'; 300_000]));
    for (max_decoded_bytes, length, truncated) in
        [(1, 1, true), (299_999, 299_999, true), (300_000, 300_000, false)]
    {
        let ask = PageAsk { max_decoded_bytes, ..PageAsk::get([1; 32], "http://a.example/") };
        let page = world.egress.fetch(ask, &anything).await.unwrap();
        assert_eq!((page.body.len(), page.truncated, page.broken), (length, truncated, false));
    }
}

#[tokio::test]
async fn a_length_that_is_a_lie_is_found_out() {
    let short = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nonly this".to_vec();
    let found = answered(short).await.unwrap();
    assert_eq!((&*found.body, found.truncated), (&b"only this"[..], true));
    assert!(found.broken);
    let more = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nthis and more".to_vec();
    let found = answered(more).await.unwrap();
    assert_eq!((&*found.body, found.truncated), (&b"this"[..], false));
    let chunked =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nthis\r\n9\r\nbre".to_vec();
    let found = answered(chunked).await.unwrap();
    assert_eq!((&*found.body, found.truncated), (&b"thisbre"[..], true));
    assert!(found.broken);
    let two = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nthis!".to_vec();
    assert_eq!(answered(two).await.unwrap_err(), "broken");
}

#[tokio::test]
async fn what_is_no_answer_is_a_fault() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(101));
    let long = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "x".repeat(80 << 10));
    for (answer, fault) in [
        (&b"SSH-2.0-OpenSSH_9.9\r\n"[..], "broken"),
        (b"", "broken"),
        (b"the page, without a head", "broken"),
        (many.as_bytes(), "broken"),
        (long.as_bytes(), "broken"),
        (b"HTTP/1.1 206 Part\r\ncontent-length: 1\r\n\r\nx", "partial"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nthis",
            "undecodable",
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: exi\r\ncontent-length: 4\r\n\r\nthis",
            "undecodable",
        ),
        (b"HTTP/1.1 302 Go\r\nlocation: /a\r\nlocation: /b\r\n\r\n", "location"),
    ] {
        assert_eq!(
            answered(answer.to_vec()).await.err(),
            Some(fault),
            "{:.80}",
            answer.escape_ascii()
        );
    }
}

#[tokio::test]
async fn an_answer_without_a_body_has_none() {
    let world = World::new(|seen| match seen.path() {
        "/head" => {
            b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\ncontent-encoding: gzip\r\n\r\n".to_vec()
        }
        "/304" => b"HTTP/1.1 304 Same\r\ncontent-length: 99\r\n\r\n".to_vec(),
        _ => b"HTTP/1.1 204 None\r\n\r\n".to_vec(),
    });
    for (method, path) in [(Method::HEAD, "head"), (Method::GET, "304"), (Method::GET, "204")] {
        let ask = PageAsk { method, ..PageAsk::get([1; 32], format!("http://a.example/{path}")) };
        let page = world.egress.fetch(ask, &anything).await.unwrap();
        assert_eq!((page.body.len(), page.truncated), (0, false), "{path}");
    }
}
