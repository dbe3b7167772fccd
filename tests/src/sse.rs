//! A client of server-sent events (WHATWG HTML, section 9.2) that can be cut at any byte.

use futures_util::StreamExt;

use crate::weir::Client;

/// One event as it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name; empty for `message`.
    pub name: String,
    /// The last id sent up to and including it.
    pub id: String,
    /// Its data.
    pub data: String,
}

/// Splits bytes into events.
#[derive(Debug, Default)]
pub struct Parser {
    rest: Vec<u8>,
    current: Event,
    has_data: bool,
}

impl Parser {
    /// Takes bytes, and answers the events they complete. Ids survive events without data.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.rest.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(end) = self.rest.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                let id = self.current.id.clone();
                let event = std::mem::replace(&mut self.current, Event { id, ..Event::default() });
                if std::mem::take(&mut self.has_data) {
                    events.push(event);
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "id" => value.clone_into(&mut self.current.id),
                "event" => value.clone_into(&mut self.current.name),
                "data" => {
                    if self.has_data {
                        self.current.data.push('\n');
                    }
                    self.has_data = true;
                    self.current.data.push_str(value);
                }
                _ => {}
            }
        }
        events
    }

    /// The last id seen.
    pub fn last_id(&self) -> &str {
        &self.current.id
    }
}

/// Reads a stream until `enough` says so, or it ends; answers the last id, for `Last-Event-ID`.
///
/// # Errors
/// When the stream cannot be opened.
pub async fn read(
    client: &Client,
    path: &str,
    last_id: Option<&str>,
    mut enough: impl FnMut(&Event) -> bool,
) -> Result<String, String> {
    let mut headers = vec![("accept", "text/event-stream")];
    headers.extend(last_id.map(|id| ("last-event-id", id)));
    let request = client.request("GET", path, &headers);
    let request = request.timeout(std::time::Duration::from_mins(10));
    let response = request.send().await.map_err(|fault| format!("{fault:?}"))?;
    if !response.status().is_success() {
        let status = response.status();
        return Err(format!("{status}: {}", response.text().await.unwrap_or_default()));
    }
    let mut parser = Parser::default();
    last_id.unwrap_or_default().clone_into(&mut parser.current.id);
    let mut chunks = response.bytes_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        for event in parser.feed(&chunk) {
            if enough(&event) {
                return Ok(event.id);
            }
        }
    }
    Ok(parser.last_id().to_owned())
}
