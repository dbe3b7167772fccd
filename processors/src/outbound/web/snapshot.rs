//! A look at a websocket: one connection, perhaps one message, the first that comes back, and goodbye.
//!
//! Follows RFC 6455. Compression is not offered, redirects are not followed.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use http::Request;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{
        Error, Message, Utf8Bytes, handshake::client::generate_key, protocol::WebSocketConfig,
    },
};

use super::{
    Egress, Journey,
    address::WebUrl,
    ask::{Agent, MAX_DECODED_BYTES, Terms},
    connect::Stream,
    fault::{AskFault, EgressFault, Why},
    hop::HopJudge,
};

/// How many messages are taken.
pub const MAX_FRAMES: usize = 16;
/// How long is listened.
pub const LISTENING: Duration = Duration::from_secs(2);
/// The longest message that is sent, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// How many messages are looked at, those included that say nothing.
const MAX_MESSAGES: usize = 256;
const GOODBYE: Duration = Duration::from_millis(500);
const BUFFER_BYTES: usize = 16 << 10;

/// One look at a websocket.
#[derive(Debug, Clone)]
pub struct SnapshotAsk {
    /// For whom.
    pub agent: Agent,
    /// The address, as it was written: ws or wss.
    pub url: String,
    /// What is said first, if anything.
    pub text: Option<String>,
    /// How much is taken of what comes back, in bytes.
    pub max_bytes: usize,
    /// What was agreed before.
    pub terms: Terms,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Of text.
    Text(String),
    /// Of anything.
    Binary(Bytes),
}

/// Why nothing more was listened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The other side had nothing more to say.
    Closed,
    /// There were enough messages.
    Frames,
    /// They were large enough.
    Bytes,
    /// It was time.
    Time,
}

/// What was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The address that was asked.
    pub url: String,
    /// The host that was connected to.
    pub host: Box<str>,
    /// The messages, in order.
    pub frames: Vec<Frame>,
    /// Why they end.
    pub ended: Ended,
}

impl SnapshotAsk {
    fn check(&self) -> Result<(), AskFault> {
        if self.text.as_ref().is_some_and(|text| text.len() > MAX_TEXT_BYTES) {
            return Err(AskFault::LongBody);
        }
        if !(1..=MAX_DECODED_BYTES).contains(&self.max_bytes) {
            return Err(AskFault::Size);
        }
        Ok(())
    }
}

impl Egress {
    /// Looks at a websocket, by the same way as to a page.
    pub async fn snapshot(
        &self,
        ask: SnapshotAsk,
        judge: &dyn HopJudge,
    ) -> Result<Snapshot, EgressFault> {
        let mut journey = Journey::default();
        let heard = Box::pin(self.within(&ask.terms, self.look(&ask, judge, &mut journey))).await;
        heard.map_err(|why| journey.ended(why))
    }

    async fn look(
        &self,
        ask: &SnapshotAsk,
        judge: &dyn HopJudge,
        journey: &mut Journey,
    ) -> Result<Snapshot, Why> {
        ask.check()?;
        let url = WebUrl::parse(&ask.url).map_err(|cause| Why::Url { hop: 0, to: None, cause })?;
        if !url.scheme().websocket() {
            return Err(AskFault::Scheme(url.shown().into()).into());
        }
        let request = handshake(&url)?;
        let line = self.line(ask.agent, &ask.terms, &url, judge, journey).await?;
        let limits = WebSocketConfig::default()
            .read_buffer_size(BUFFER_BYTES)
            .write_buffer_size(0)
            .max_write_buffer_size(MAX_TEXT_BYTES + BUFFER_BYTES)
            .max_message_size(Some(ask.max_bytes))
            .max_frame_size(Some(ask.max_bytes));
        let opened = client_async_with_config(request, line.stream, Some(limits)).await;
        let (mut socket, _) = opened.map_err(|cause| self.unopened(&url, cause))?;
        let broken = |cause: Error| Why::Broken { host: url.host().into(), cause: cause.into() };
        if let Some(text) = &ask.text {
            socket.send(Message::text(text)).await.map_err(broken)?;
        }
        let (frames, ended) = listen(&mut socket, ask.max_bytes).await;
        // Whether it hears us is nothing that we wait for, or care about.
        drop(timeout(GOODBYE, socket.close(None)).await);
        Ok(Snapshot { url: url.to_string(), host: url.host().into(), frames, ended })
    }

    fn unopened(&self, url: &WebUrl, cause: Error) -> Why {
        let host = url.host().into();
        match cause {
            Error::Http(answer) => {
                self.0.back_off.note(url.host(), answer.status(), answer.headers());
                Why::NotWebsocket { host, status: answer.status().as_u16() }
            }
            cause => Why::Broken { host, cause: cause.into() },
        }
    }
}

fn handshake(url: &WebUrl) -> Result<Request<()>, Why> {
    let request = Request::builder()
        .uri(url.as_str())
        .header("host", url.authority())
        .header("user-agent", crate::outbound::USER_AGENT)
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", generate_key());
    request.body(()).map_err(|cause| {
        let cause = super::address::UrlFault::Unreadable(cause.to_string().into());
        Why::Url { hop: 0, to: None, cause }
    })
}

/// Takes messages until there are enough, for a while.
async fn listen(
    socket: &mut WebSocketStream<Box<dyn Stream>>,
    max_bytes: usize,
) -> (Vec<Frame>, Ended) {
    let until = Instant::now() + LISTENING;
    let (mut frames, mut left) = (Vec::new(), max_bytes);
    for _ in 0..MAX_MESSAGES {
        let message = match timeout_at(until, socket.next()).await {
            Err(_) => return (frames, Ended::Time),
            Ok(Some(Err(Error::Capacity(_)))) => return (frames, Ended::Bytes),
            Ok(None | Some(Err(_) | Ok(Message::Close(_)))) => return (frames, Ended::Closed),
            Ok(Some(Ok(message))) => message,
        };
        let size = message.len();
        let frame = match message {
            Message::Text(text) => Frame::Text(owned(&text)),
            Message::Binary(bytes) => Frame::Binary(bytes),
            _ => continue,
        };
        if left < size {
            return (frames, Ended::Bytes);
        }
        left -= size;
        frames.push(frame);
        if frames.len() == MAX_FRAMES {
            return (frames, Ended::Frames);
        }
    }
    (frames, Ended::Frames)
}

fn owned(text: &Utf8Bytes) -> String {
    text.as_str().to_owned()
}
