use std::{net::TcpStream, thread};

use tokio_tungstenite::tungstenite::{Message, WebSocket, accept};

use super::world::{World, anything, class};
use crate::outbound::web::{
    ask::Terms,
    fault::EgressFault,
    snapshot::{Ended, Frame, MAX_TEXT_BYTES, Snapshot, SnapshotAsk},
};

/// A server that greets whoever comes, and does as it is told.
fn world(serve: impl Fn(WebSocket<TcpStream>) + Clone + Send + 'static) -> World {
    World::raw(move |stream| {
        let serve = serve.clone();
        thread::spawn(move || accept(stream).map(serve).unwrap_or_default());
    })
}

fn ask(text: Option<&str>, max_bytes: usize) -> SnapshotAsk {
    SnapshotAsk {
        agent: [1; 32],
        url: "ws://Relay.example./x?y#z".to_owned(),
        text: text.map(str::to_owned),
        max_bytes,
        terms: Terms::default(),
    }
}

async fn look(world: &World, ask: SnapshotAsk) -> Result<Snapshot, EgressFault> {
    world.egress.snapshot(ask, &anything).await
}

#[tokio::test]
async fn one_message_is_sent_and_what_comes_back_is_heard() {
    let world = world(|mut socket| {
        let heard = socket.read().unwrap();
        for message in [heard, Message::Ping("p".into()), Message::Binary(vec![0, 255].into())] {
            socket.send(message).unwrap_or_default();
        }
        socket.close(None).unwrap_or_default();
        // Until the other side has said goodbye too.
        while socket.read().is_ok() {}
    });
    let found = look(&world, ask(Some("hello"), 1_000)).await.unwrap();
    assert_eq!(
        (found.url.as_str(), &*found.host, found.ended),
        ("ws://relay.example/x?y", "relay.example", Ended::Closed)
    );
    assert_eq!(found.frames, [Frame::Text("hello".into()), Frame::Binary(vec![0, 255].into())]);
}

#[tokio::test]
async fn a_server_that_never_stops_is_left() {
    let chatty = |text: &'static str| {
        world(move |mut socket| while socket.send(Message::text(text)).is_ok() {})
    };
    let found = look(&chatty("more"), ask(None, 1_000)).await.unwrap();
    assert_eq!((found.frames.len(), found.ended), (16, Ended::Frames));
    let found = look(&chatty("0123456789"), ask(None, 35)).await.unwrap();
    assert_eq!((found.frames.len(), found.ended), (3, Ended::Bytes));
    let found = look(&chatty("0123456789"), ask(None, 9)).await.unwrap();
    assert_eq!((found.frames.len(), found.ended), (0, Ended::Bytes));
    let pinging = world(|mut socket| while socket.send(Message::Ping("x".into())).is_ok() {});
    let found = look(&pinging, ask(None, 1_000)).await.unwrap();
    assert_eq!((found.frames.len(), found.ended), (0, Ended::Frames));
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left_after_a_while() {
    let silent = world(|mut socket| while socket.read().is_ok() {});
    let found = look(&silent, ask(Some("hello"), 1_000)).await.unwrap();
    assert_eq!((found.frames.len(), found.ended), (0, Ended::Time));
}

#[tokio::test]
async fn what_is_no_websocket_is_a_fault() {
    let world = World::new(|_| {
        b"HTTP/1.1 503 Busy\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n".to_vec()
    });
    let fault = look(&world, ask(None, 1_000)).await.unwrap_err();
    assert_eq!(fault.to_string(), "`relay.example` answers 503 instead of opening a websocket");
    // A server that is asked too much is left alone, however it was asked.
    let fault = world.get("http://relay.example/").await.unwrap_err();
    assert_eq!(class(&fault.why), "backingoff");
    let astray = World::new(|_| super::world::redirect(302, "ws://127.0.0.1/"));
    let fault = look(&astray, ask(None, 1_000)).await.unwrap_err();
    assert_eq!((class(&fault.why), astray.wires.attempts().len()), ("notwebsocket", 1));
}

#[tokio::test]
async fn what_must_not_be_said_is_not() {
    let world = world(drop);
    let long = "x".repeat(MAX_TEXT_BYTES + 1);
    for ask in [
        ask(Some(&long), 1_000),
        ask(None, 0),
        SnapshotAsk { url: "http://relay.example/".to_owned(), ..ask(None, 1_000) },
    ] {
        let fault = look(&world, ask).await.unwrap_err();
        assert_eq!(class(&fault.why), "ask");
    }
    assert!(world.wires.attempts().is_empty());
}
