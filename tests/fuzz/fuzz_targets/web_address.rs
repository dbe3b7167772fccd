//! What an agent asks the web gateway for, a line each: an address, where a page redirects to, and a
//! question in GraphQL.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_processors::{
    outbound::{
        address::{judge, range_of},
        web::address::WebUrl,
    },
    web::graphql::{is_query, judge_body},
};

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let mut line = || lines.next().unwrap_or_default();
    if let Ok(url) = WebUrl::parse(line()) {
        one_spelling(&url);
        if let Ok(next) = url.join(line()) {
            one_spelling(&next);
        }
    }
    let document = line();
    let asks = is_query(document).is_ok();
    let body = serde_json::json!({ "query": document }).to_string();
    assert_eq!(judge_body("application/json", body.as_bytes()) == Ok(true), asks);
});

/// What is judged is what is sent.
fn one_spelling(url: &WebUrl) {
    assert!(url.as_str().bytes().all(|byte| byte.is_ascii_graphic()), "{url}");
    assert_eq!(WebUrl::parse(url.as_str()).as_ref(), Ok(url));
    assert!(url.as_str().ends_with(&format!("{}{}", url.authority(), url.target())), "{url}");
    assert!(!url.host().ends_with('.') && !url.host().contains(['@', '[', '/']), "{url}");
    assert_ne!(url.port(), 0);
    if let Some(ip) = url.literal() {
        assert_eq!(ip, ip.to_canonical(), "{url}");
        assert_eq!(judge(ip, url.host(), &[]).err(), range_of(ip));
    }
}
