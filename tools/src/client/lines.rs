//! Answers that come a line of JSON at a time, while the server works.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Response};
use serde_json::Value;

use super::{Client, MAX_ANSWER_BYTES, refusal, root};
use crate::exit::{Exit, Failure};

/// How long the server may say nothing.
const SILENCE: Duration = Duration::from_mins(1);

/// An answer that is still coming. To drop it is to tell the server to stop.
#[derive(Debug)]
pub(crate) struct Lines {
    response: Response,
    buffer: Vec<u8>,
}

impl Client {
    /// Sends lines of JSON, and takes the one answer to all of them.
    pub(crate) async fn send_lines(&self, path: &str, lines: String) -> Result<Value, Failure> {
        let request = self.request(Method::POST, path, &[])?;
        self.answer(request.header(CONTENT_TYPE, "application/x-ndjson").body(lines)).await
    }

    /// Sends something that is worked on while it is answered.
    pub(crate) async fn lines(&self, path: &str, body: &Value) -> Result<Lines, Failure> {
        let request = self.request(Method::POST, path, &[])?;
        let request = request
            .header(ACCEPT, HeaderValue::from_static("application/x-ndjson"))
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string());
        let response = match tokio::time::timeout(SILENCE, request.send()).await {
            Ok(answered) => answered.map_err(|fault| self.unreachable(&fault))?,
            Err(_) => return Err(silent()),
        };
        if !response.status().is_success() {
            return Err(refusal(response).await);
        }
        Ok(Lines { response, buffer: Vec::new() })
    }
}

impl Lines {
    /// The next line, or `None` when the answer has ended.
    pub(crate) async fn next(&mut self) -> Result<Option<Value>, Failure> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                let line = serde_json::from_slice(&line).map_err(|fault| {
                    Failure::failed(format!("the server does not answer like a Weir: {fault}"))
                })?;
                return Ok(Some(line));
            }
            let chunk = match tokio::time::timeout(SILENCE, self.response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) if self.buffer.is_empty() => return Ok(None),
                Ok(Ok(None)) => return Err(broken("it ends within a line")),
                Ok(Err(fault)) => return Err(broken(&root(&fault))),
                Err(_) => return Err(silent()),
            };
            if self.buffer.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(Failure::failed("the answer of the server is too large"));
            }
            self.buffer.extend_from_slice(&chunk);
        }
    }
}

fn silent() -> Failure {
    let message = format!("the server said nothing for {} s", SILENCE.as_secs());
    Failure::new(Exit::RetryLater, message)
}

fn broken(why: &str) -> Failure {
    Failure::new(Exit::Unreachable, format!("the answer broke off: {why}"))
}
