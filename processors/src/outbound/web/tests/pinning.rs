use std::{
    io::{Read as _, Write as _},
    sync::{Arc, mpsc},
};

use tokio_tungstenite::tungstenite::accept;

use super::world::{CERTIFICATE, KEY, World, allowing, anything, class, page, redirect};
use crate::{
    clock::SystemClock,
    outbound::web::{
        Egress, Settings,
        address::WebUrl,
        ask::{PageAsk, Terms},
        hop::{Hop, Pass},
        snapshot::{Frame, SnapshotAsk},
    },
};

fn attempts(world: &World) -> Vec<String> {
    world.wires.attempts().iter().map(ToString::to_string).collect()
}

/// A name that means the world when it is judged, and this machine when it is connected to.
#[tokio::test]
async fn a_name_is_resolved_once_and_what_was_judged_is_connected_to() {
    let world = World::new(|_| page("", "the page"));
    world.names.script("rebind.example", "93.184.215.14|127.0.0.1");
    world.get("http://rebind.example/x").await.unwrap();
    assert_eq!(attempts(&world), ["93.184.215.14:80"]);
    assert_eq!(world.names.lookups(), ["rebind.example"]);
    assert_eq!(world.asked()[0].header("host"), Some("rebind.example"));
    // The next request asks again, and is refused.
    let fault = world.get("http://rebind.example/x").await.unwrap_err();
    assert_eq!(class(&fault.why), "inside");
    assert_eq!(attempts(&world).len(), 1);
}

#[tokio::test]
async fn a_redirect_to_the_same_name_is_judged_by_what_it_means_then() {
    let world = World::new(|_| redirect(302, "/again"));
    world.names.script("rebind.example", "93.184.215.14|169.254.169.254");
    let fault = world.get("http://rebind.example/").await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "`rebind.example` does not stand in the world outside (redirect 1)"
    );
    assert_eq!(attempts(&world), ["93.184.215.14:80"]);
}

#[tokio::test]
async fn a_connection_that_ends_up_elsewhere_is_told_nothing() {
    let world = World::new(|_| page("", "the page"));
    world.wires.lead_astray("10.0.0.1:80");
    let fault = world.get("http://docs-ok.example/secret").await.unwrap_err();
    assert_eq!(class(&fault.why), "astray");
    assert!(world.asked().is_empty());
}

#[tokio::test]
async fn what_an_operator_exempts_is_reached_and_nothing_beside_it() {
    let settings = allowing(&["127.0.0.0/8", "10.0.0.0/8 wiki.example"]);
    let world = World::with(settings, |_| page("", "the page"));
    world.names.script("wiki.example", "10.1.2.3");
    world.names.script("other.example", "10.1.2.3");
    for url in [
        "http://127.0.0.1/",
        "http://localhost:8443/",
        "http://2130706433/",
        "http://wiki.example/",
    ] {
        world.get(url).await.unwrap_or_else(|fault| panic!("{url}: {fault}"));
    }
    assert_eq!(attempts(&world).len(), 4);
    for url in
        ["http://other.example/", "http://10.1.2.3/", "http://[::1]/", "http://127.0.0.1:22/"]
    {
        world.get(url).await.unwrap_err();
    }
    assert_eq!(attempts(&world).len(), 4);
}

#[tokio::test]
async fn a_server_is_held_to_the_name_that_was_judged() {
    let world = World::raw(tls_server(|tls| say(tls, &page("", "hello over TLS"))));
    let page = world.get("https://Pinned.example./x").await.unwrap();
    assert_eq!(page.body, "hello over TLS");
    assert_eq!(page.hops, ["https://pinned.example/x"]);
    // The same server under a name that is not in its certificate.
    let fault = world.get("https://other.example/").await.unwrap_err();
    assert_eq!(class(&fault.why), "broken");
    assert_eq!(attempts(&world), ["93.184.215.14:443", "93.184.215.14:443"]);
}

#[tokio::test]
async fn who_was_asked_over_tls_is_not_left_for_the_clear() {
    let world = World::raw(tls_server(|tls| say(tls, &redirect(302, "http://pinned.example/"))));
    let fault = world.get("https://pinned.example/").await.unwrap_err();
    assert_eq!(fault.to_string(), "`pinned.example` redirects from https to http");
    assert_eq!(attempts(&world).len(), 1);
}

#[tokio::test]
async fn a_websocket_over_tls_is_held_to_its_name_too() {
    let world = World::raw(tls_server(|tls| {
        let echo = |mut socket: tokio_tungstenite::tungstenite::WebSocket<Tls>| {
            let heard = socket.read().unwrap();
            socket.send(heard).unwrap();
            while socket.read().is_ok() {}
        };
        accept(tls).map(echo).unwrap_or_default();
    }));
    let look = async |url: &str| {
        let url = url.to_owned();
        let text = Some("hello".to_owned());
        let ask = SnapshotAsk { agent: [1; 32], url, text, max_bytes: 99, terms: Terms::default() };
        world.egress.snapshot(ask, &anything).await
    };
    let found = look("wss://pinned.example/").await.unwrap();
    assert_eq!(found.frames, [Frame::Text("hello".into())]);
    assert_eq!(class(&look("wss://other.example/").await.unwrap_err().why), "broken");
}

#[tokio::test]
async fn an_address_that_does_not_answer_makes_way_for_the_next() {
    let world = World::new(|_| page("", "the page"));
    world.names.script("a.example", "93.184.215.1,93.184.215.2");
    world.wires.take_away("93.184.215.1");
    world.get("http://a.example/").await.unwrap();
    assert_eq!(attempts(&world), ["93.184.215.1:80", "93.184.215.2:80"]);
    world.wires.take_away("93.184.215.2");
    let fault = world.get("http://a.example/").await.unwrap_err();
    assert_eq!(class(&fault.why), "broken");
}

#[tokio::test]
async fn a_server_is_told_the_name_that_was_judged() {
    let (told, hello) = mpsc::channel();
    let world = World::raw(move |mut stream| {
        let mut bytes = vec![0; 4_096];
        let n = stream.read(&mut bytes).unwrap_or_default();
        bytes.truncate(n);
        told.send(bytes).unwrap_or_default();
    });
    world.get("https://SNI.Example./").await.unwrap_err();
    let hello = hello.recv().unwrap();
    assert!(hello.windows(11).any(|part| part == b"sni.example"));
}

/// Over the network of this machine, by its own resolver.
#[tokio::test]
async fn the_way_out_works_over_a_real_network() {
    let server = World::new(|seen| page("", seen.path()));
    let port = server.wires.port();
    let this_port = |_: &Hop<'_>| Ok(Pass::ThisPort);
    let open = Egress::new(allowing(&["127.0.0.0/8"]), Arc::new(SystemClock)).unwrap();
    for host in ["127.0.0.1", "localhost", "0x7f.1"] {
        let ask = PageAsk::get([1; 32], format!("http://{host}:{port}/%41"));
        let page = open.fetch(ask, &this_port).await.unwrap();
        assert_eq!(page.body, "/%41");
    }
    let closed = Egress::new(Settings::default(), Arc::new(SystemClock)).unwrap();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let ask = PageAsk::get([1; 32], format!("http://{host}:{port}/"));
        let fault = closed.fetch(ask, &this_port).await.unwrap_err();
        assert_eq!((class(&fault.why), fault.contacted.len()), ("inside", 0), "{host}");
    }
    assert_eq!(server.asked().len(), 3);
    assert!(closed.check(&WebUrl::parse("http://docs-ok.example:80/").unwrap(), &anything).is_ok());
    assert!(closed.check(&WebUrl::parse("http://10.0.0.1/").unwrap(), &anything).is_err());
}

type Tls = rustls::StreamOwned<rustls::ServerConnection, std::net::TcpStream>;

/// Hears a question, and says something.
fn say(mut tls: Tls, answer: &[u8]) {
    let mut head = [0; 1_024];
    // A client that does not trust us hangs up.
    if tls.read(&mut head).is_ok() {
        tls.write_all(answer).unwrap_or_default();
    }
}

fn tls_server(serve: impl Fn(Tls) + Send + 'static) -> impl Fn(std::net::TcpStream) + Send {
    crate::outbound::install_tls();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(KEY.to_vec());
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![CERTIFICATE.to_vec().into()], key.into())
        .unwrap();
    let config = Arc::new(config);
    move |stream| {
        let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        serve(rustls::StreamOwned::new(connection, stream));
    }
}
