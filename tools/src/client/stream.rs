//! Following events of a server: resumes where it was, whatever breaks in between.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION};
use reqwest::{Method, Response};
use serde_json::Value;
use weir_events::position::Cursor;

use super::sse::{Frame, MARK, Parser};
use super::{Client, refusal, root};
use crate::exit::{Exit, Failure, chain};

/// The server says something every five seconds; three times nothing is a dead connection.
const SILENCE: Duration = Duration::from_secs(15);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
const LAST_EVENT_ID: &str = "last-event-id";

/// What a server that is followed says.
#[derive(Debug)]
pub(crate) enum Said {
    /// An event, as the server wrote it.
    Event(String),
    /// How far the server is, see [`Follow::position`].
    Mark,
    /// Nothing happened since; the log's head.
    Heartbeat(i64),
    /// Where we were is not of this log; it goes on from here.
    Resync { reason: String, from: String },
    /// The connection broke and is made again after a while.
    Reconnecting { why: String, after: Duration },
}

/// Follows a server.
#[derive(Debug)]
pub(crate) struct Follow<'a> {
    client: &'a Client,
    query: Vec<(&'static str, String)>,
    last_id: Option<String>,
    connection: Option<Connection>,
    waiting: VecDeque<Frame>,
    pause: Duration,
    /// A server that never answered is not waited for.
    answered: bool,
}

#[derive(Debug)]
struct Connection {
    response: Response,
    parser: Parser,
}

/// How an attempt ended.
enum Broken {
    /// Trying again can help.
    Passing { why: String, after: Option<Duration> },
    /// It cannot.
    For(Failure),
}

impl<'a> Follow<'a> {
    pub(crate) fn new(client: &'a Client, query: Vec<(&'static str, String)>) -> Self {
        Self {
            client,
            query,
            last_id: None,
            connection: None,
            waiting: VecDeque::new(),
            pause: FIRST_PAUSE,
            answered: false,
        }
    }

    /// The position of the last event or mark that the server gave.
    pub(crate) fn position(&self) -> Option<i64> {
        let cursor: Cursor = self.last_id.as_deref()?.parse().ok()?;
        Some(cursor.position.0)
    }

    /// The next thing that is said. Fails when trying again cannot help.
    pub(crate) async fn next(&mut self) -> Result<Said, Failure> {
        loop {
            while let Some(frame) = self.waiting.pop_front() {
                if let Some(said) = self.read(frame) {
                    return Ok(said);
                }
            }
            match self.advance().await {
                Ok(()) => {}
                Err(Broken::For(failure)) => return Err(failure),
                Err(Broken::Passing { why, after }) => {
                    self.connection = None;
                    if !self.answered {
                        let why = format!("could not follow {}: {why}", self.client.base);
                        let failure = Failure::new(Exit::Unreachable, why);
                        return Err(failure.hint(self.client.remedy.clone()));
                    }
                    let after = after.unwrap_or(self.pause);
                    self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                    return Ok(Said::Reconnecting { why, after });
                }
            }
        }
    }

    /// Connects if need be, and takes one piece.
    async fn advance(&mut self) -> Result<(), Broken> {
        let passing = |why: String| Broken::Passing { why, after: None };
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let piece = match tokio::time::timeout(SILENCE, connection.response.chunk()).await {
            Err(_) => return Err(passing("the server went silent".to_owned())),
            Ok(Err(fault)) => return Err(passing(root(&fault))),
            Ok(Ok(None)) => return Err(passing("the server closed the stream".to_owned())),
            Ok(Ok(Some(piece))) => piece,
        };
        let frames = connection.parser.push(&piece).map_err(|fault| passing(fault.to_string()))?;
        if !frames.is_empty() {
            // Only what a server says proves that the way is open.
            let wish = connection.parser.retry_millis().map(Duration::from_millis);
            self.pause = wish.unwrap_or(FIRST_PAUSE).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            self.answered = true;
        }
        self.waiting.extend(frames);
        self.connection = Some(connection);
        Ok(())
    }

    async fn connect(&self) -> Result<Connection, Broken> {
        let request = self.client.request(Method::GET, "api/events", &self.query);
        let mut request = request
            .map_err(Broken::For)?
            .build()
            .map_err(|f| Broken::For(Failure::new(Exit::Usage, chain(&f))))?;
        let headers = request.headers_mut();
        headers.insert(ACCEPT, reqwest::header::HeaderValue::from_static("text/event-stream"));
        if let Some(id) = self.last_id.as_deref().and_then(|id| id.parse().ok()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        debug_assert!(self.client.token.is_none() || headers.contains_key(AUTHORIZATION));
        let response = match tokio::time::timeout(SILENCE, self.client.http.execute(request)).await
        {
            Err(_) => {
                let why = "the server does not answer".to_owned();
                return Err(Broken::Passing { why, after: None });
            }
            Ok(Err(fault)) => return Err(Broken::Passing { why: root(&fault), after: None }),
            Ok(Ok(response)) => response,
        };
        if response.status().is_success() {
            return Ok(Connection { response, parser: Parser::default() });
        }
        let retry_after = response.headers().get(reqwest::header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let failure = refusal(response).await;
        if failure.exit == Exit::RetryLater && self.answered {
            let after = retry_after.map(Duration::from_secs);
            return Err(Broken::Passing { why: failure.message, after });
        }
        Err(Broken::For(failure))
    }

    fn read(&mut self, frame: Frame) -> Option<Said> {
        if frame.id.is_some() {
            self.last_id.clone_from(&frame.id);
        }
        let data = || serde_json::from_str::<Value>(&frame.data).unwrap_or_default();
        match frame.event.as_str() {
            "message" => Some(Said::Event(frame.data)),
            MARK => Some(Said::Mark),
            "heartbeat" => Some(Said::Heartbeat(data()["head"].as_i64().unwrap_or_default())),
            "resync" => {
                let data = data();
                let life = data["incarnation"].as_str().unwrap_or_default();
                let from = format!("{life}-{}", data["head"]);
                self.last_id = Some(from.clone());
                self.connection = None;
                let reason = data["reason"].as_str().unwrap_or("no reason given").to_owned();
                Some(Said::Resync { reason, from })
            }
            // `closing`, and what later servers may say: the end of the stream follows by itself.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
