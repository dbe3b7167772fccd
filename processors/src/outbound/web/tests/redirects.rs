use http::{HeaderValue, Method, header::ACCEPT};

use super::world::{World, anything, class, page, redirect};
use crate::outbound::web::{address::WebUrl, ask::PageAsk};

/// `/2` leads to `/1`, that to `/0`, and that is a page.
fn chain() -> World {
    World::new(|seen| match seen.path().trim_start_matches('/').parse::<u8>() {
        Ok(0) | Err(_) => page("set-cookie: id=7\r\n", "the page"),
        Ok(n) => redirect(302, &format!("/{}", n - 1)),
    })
}

#[tokio::test]
async fn two_redirects_are_followed_and_a_third_is_not() {
    let world = chain();
    let page = world.get("http://a.example/2#x").await.unwrap();
    assert_eq!(page.hops, ["http://a.example/2", "http://a.example/1", "http://a.example/0"]);
    assert_eq!(&*page.body, b"the page");
    assert_eq!(*page.contacted, [Box::from("a.example")]);
    assert!(page.sets_cookie && !page.truncated);
    let fault = world.get("http://a.example/3").await.unwrap_err();
    assert_eq!((fault.to_string().as_str(), fault.hops.len()), ("more than 2 redirects", 3));
}

#[tokio::test]
async fn a_refused_hop_says_which_one_and_how_far_the_request_came() {
    let world = World::new(|seen| match seen.header("host") {
        Some("a.example") => redirect(301, "http://b.example/x"),
        _ => redirect(301, "http://www.blocked.example/y"),
    });
    let fault = world.get("http://a.example/").await.unwrap_err();
    assert_eq!(fault.to_string(), "`www.blocked.example` is refused: code_repo (redirect 2)");
    assert_eq!(fault.hops, ["http://a.example/", "http://b.example/x"]);
    assert_eq!(*fault.contacted, [Box::from("a.example"), Box::from("b.example")]);
}

#[tokio::test]
async fn nothing_is_sent_that_the_agent_did_not_ask_for() {
    let world = World::new(|seen| match (seen.header("host"), seen.path()) {
        (Some("a.example"), "/1") => redirect(302, "/2"),
        (Some("a.example"), "/2") => {
            let to = redirect(302, "http://b.example/3");
            [&to[..to.len() - 2], b"set-cookie: id=7\r\n\r\n"].concat()
        }
        _ => page("", "the page"),
    });
    let mut ask = PageAsk::get([1; 32], "http://a.example/1");
    ask.headers.insert(ACCEPT, HeaderValue::from_static("text/html"));
    world.egress.fetch(ask, &anything).await.unwrap();
    let asked = world.asked();
    let sent = |name| asked.iter().map(|seen| seen.header(name)).collect::<Vec<_>>();
    assert_eq!(sent("accept"), [Some("text/html"); 3]);
    assert_eq!(sent("host"), [Some("a.example"), Some("a.example"), Some("b.example")]);
    for name in ["authorization", "cookie", "referer", "origin", "x-forwarded-for", "via"] {
        assert_eq!(sent(name), [None; 3], "{name}");
    }
}

#[tokio::test]
async fn a_body_is_sent_again_to_its_own_origin_only() {
    let to = |status, to: &'static str| {
        World::new(move |seen| match seen.path() {
            "/start" => redirect(status, to),
            _ => page("", "done"),
        })
    };
    for (status, target, method, body) in [
        (303, "/next", "GET", ""),
        (302, "http://b.example/", "GET", ""),
        (307, "/next", "POST", "secret"),
    ] {
        let world = to(status, target);
        world.post("http://a.example/start", "secret").await.unwrap();
        let asked = world.asked();
        assert_eq!((asked[0].body.as_slice(), asked.len()), (&b"secret"[..], 2));
        assert!(asked[1].head.starts_with(method), "{status}: {}", asked[1].head);
        assert_eq!(asked[1].body, body.as_bytes(), "{status}");
    }
    let world = to(307, "http://b.example/");
    let fault = world.post("http://a.example/start", "secret").await.unwrap_err();
    assert_eq!((class(&fault.why), world.wires.attempts().len()), ("crossorigin", 1));
}

#[tokio::test]
async fn what_must_not_be_sent_is_refused_before_anything_is() {
    let world = chain();
    let mut ask = PageAsk::get([1; 32], "http://a.example/0");
    ask.method = Method::DELETE;
    let fault = world.egress.fetch(ask, &anything).await.unwrap_err();
    assert_eq!(fault.to_string(), "DELETE is not sent; GET, HEAD and POST are");
    let fault = world.get("ws://a.example/0").await.unwrap_err();
    assert_eq!(fault.to_string(), "`ws://a.example/0` is not what this request is for");
    assert!(world.wires.attempts().is_empty() && world.names.lookups().is_empty());
}

/// Percent-encoded characters that are decoded on the way mean another page than the one judged.
#[tokio::test]
async fn what_was_judged_is_sent_byte_for_byte() {
    let world = chain();
    for (url, target) in [
        ("http://a.example/a%2Fb/%2e%2e%2fc?x=%26&y=a|b", "/a%2Fb/%2e%2e%2fc?x=%26&y=a|b"),
        ("http://a.example//x//y", "//x//y"),
        ("http://a.example/?q={\"a\"}", "/?q={%22a%22}"),
        ("http://a.example/\u{e9}", "/%C3%A9"),
        ("http://a.example?x", "/?x"),
    ] {
        let page = world.get(url).await.unwrap();
        assert_eq!(world.asked().last().unwrap().path(), target);
        assert_eq!(page.hops, [format!("http://a.example{target}")]);
    }
}

#[tokio::test]
async fn what_something_was_sent_to_may_have_changed_though_nothing_is_answered() {
    let world = World::new(|_| Vec::new());
    let url = "http://a.example/items";
    let ask = PageAsk {
        method: Method::POST,
        body: Some("one more".into()),
        ..PageAsk::get([1; 32], url)
    };
    let fault = world.egress.fetch(ask, &anything).await.unwrap_err();
    assert_eq!(class(&fault.why), "broken");
    assert_eq!(fault.changed.iter().map(WebUrl::as_str).collect::<Vec<_>>(), [url]);
    let fault = world.get(url).await.unwrap_err();
    assert!(fault.changed.is_empty(), "nothing was sent");
}
