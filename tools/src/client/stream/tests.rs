use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::client::http_client;
use crate::output::Output;

const LIFE: &str = "019a000000007000800000000000000a";

/// A server that gives one answer per connection, and a client of it.
struct Fake {
    listener: TcpListener,
    client: Client,
}

impl Fake {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let http = http_client().unwrap();
        let (remedy, output) = ("up".to_owned(), Output::new(false, false));
        let client = Client { http, base, token: None, remedy, output, told: Arc::default() };
        Self { listener, client }
    }

    /// Takes one connection, answers and closes it; gives back the head of the request.
    async fn answer(&self, status: &str, body: impl Into<String>) -> String {
        let body = body.into();
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n{body}");
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        String::from_utf8(head).unwrap().to_lowercase()
    }
}

fn event(position: i64) -> String {
    format!("id: {LIFE}-{position}\ndata: {{\"position\":{position}}}\n\n")
}

/// Follows until the connection breaks; what was said before comes first.
async fn until_broken(follow: &mut Follow<'_>) -> Vec<String> {
    let mut events = Vec::new();
    loop {
        match follow.next().await.unwrap() {
            Said::Event(text) => events.push(text),
            Said::Reconnecting { .. } => return events,
            Said::Mark | Said::Heartbeat(_) | Said::Resync { .. } => {}
        }
    }
}

#[tokio::test]
async fn a_broken_stream_is_resumed_after_the_last_event_that_was_handed_out() {
    let fake = Fake::start().await;
    let mut follow = Follow::new(&fake.client, vec![("kind", "RuleAdded".to_owned())]);
    let first = format!("retry: 250\nid: {LIFE}-4\n\n{}{}id: {LIFE}-7\nda", event(5), event(6));
    let (events, head) = tokio::join!(until_broken(&mut follow), fake.answer("200 OK", first));
    assert_eq!(events, ["{\"position\":5}", "{\"position\":6}"]);
    assert!(head.contains("get /api/events?kind=ruleadded"), "{head}");
    assert!(!head.contains("last-event-id"), "{head}");
    assert_eq!(follow.position(), Some(6));

    let (events, head) = tokio::join!(until_broken(&mut follow), fake.answer("200 OK", event(7)));
    assert_eq!(events, ["{\"position\":7}"]);
    assert!(head.contains(&format!("last-event-id: {LIFE}-6\r\n")), "{head}");
}

#[tokio::test]
async fn a_server_that_asks_for_patience_gets_it_once_it_has_answered() {
    let fake = Fake::start().await;
    let mut follow = Follow::new(&fake.client, Vec::new());
    let busy = "503 Busy\r\nretry-after: 7";
    let (said, _) = tokio::join!(follow.next(), fake.answer(busy, ""));
    assert_eq!(said.unwrap_err().exit, Exit::RetryLater);

    let (_, _) = tokio::join!(until_broken(&mut follow), fake.answer("200 OK", event(1)));
    let (said, _) = tokio::join!(follow.next(), fake.answer(busy, ""));
    let Said::Reconnecting { after, .. } = said.unwrap() else { panic!("not asked to wait") };
    assert_eq!(after, Duration::from_secs(7));
}

#[tokio::test]
async fn a_refusal_ends_it() {
    let fake = Fake::start().await;
    let mut follow = Follow::new(&fake.client, Vec::new());
    let (_, _) = tokio::join!(until_broken(&mut follow), fake.answer("200 OK", event(1)));
    let (said, _) = tokio::join!(follow.next(), fake.answer("401 Unauthorized", ""));
    assert_eq!(said.unwrap_err().exit, Exit::Denied);
}

#[tokio::test]
async fn nobody_there_is_unreachable_at_once() {
    let Fake { listener, client } = Fake::start().await;
    drop(listener);
    let failure = Follow::new(&client, Vec::new()).next().await.unwrap_err();
    assert_eq!((failure.exit, failure.hint.as_deref()), (Exit::Unreachable, Some("up")));
}

#[tokio::test]
async fn another_life_of_the_log_is_followed_from_its_head() {
    let fake = Fake::start().await;
    let mut follow = Follow::new(&fake.client, Vec::new());
    let other = "019b000000007000800000000000000b";
    let resync = format!(
        "event: resync\ndata: {{\"incarnation\":\"{other}\",\"head\":3,\"reason\":\"restored\"}}\n\n"
    );
    let (said, _) = tokio::join!(follow.next(), fake.answer("200 OK", resync));
    let Said::Resync { reason, from } = said.unwrap() else { panic!("no resync") };
    assert_eq!((reason.as_str(), from), ("restored", format!("{other}-3")));
    let (_, head) = tokio::join!(until_broken(&mut follow), fake.answer("200 OK", event(4)));
    assert!(head.contains(&format!("last-event-id: {other}-3\r\n")), "{head}");
}
