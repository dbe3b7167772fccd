//! What shape a request must have, whoever sends it.

use super::{ContentFilter, HttpMethod, PortalError, PortalRequest};

/// The longest address, in bytes.
pub const MAX_URL_BYTES: usize = 8_192;
/// The most headers.
pub const MAX_HEADERS: usize = 16;
/// The longest header, in bytes of its value.
pub const MAX_HEADER_BYTES: usize = 1_024;
/// The longest body, in bytes.
pub const MAX_BODY_BYTES: usize = 1_000_000;
/// The longest purpose, in bytes.
pub const MAX_PURPOSE_BYTES: usize = 4_096;
/// The longest content that an agent is given: with all that is around it, it fits an envelope.
pub const MAX_CONTENT_BYTES: u32 = 1_000_000;

/// The headers that agents may send.
const ALLOWED: [&str; 3] = ["accept", "accept-language", "content-type"];

impl PortalRequest {
    /// Objects to what no request may look like.
    pub fn check_shape(&self) -> Result<(), PortalError> {
        self.objection().map_or(Ok(()), Err)
    }

    fn objection(&self) -> Option<PortalError> {
        let invalid = |words: String| Some(PortalError::InvalidRequest(words));
        if self.id.as_bytes() == &[0; 32] {
            return invalid("`id` is all zeros; choose another for each request".to_owned());
        }
        if self.url.is_empty() {
            return Some(PortalError::InvalidUrl("it is empty".to_owned()));
        }
        if self.url.len() > MAX_URL_BYTES {
            let words = format!("it has {} bytes, {MAX_URL_BYTES} are allowed", self.url.len());
            return Some(PortalError::InvalidUrl(words));
        }
        if let Some(words) = self.bad_header() {
            return invalid(words);
        }
        if let Some(words) = self.bad_body() {
            return invalid(words);
        }
        if self.purpose.trim().is_empty() {
            return invalid("`purpose` is empty; say why the page is needed".to_owned());
        }
        if self.purpose.len() > MAX_PURPOSE_BYTES {
            let n = self.purpose.len();
            return invalid(format!("`purpose` has {n} bytes, {MAX_PURPOSE_BYTES} are allowed"));
        }
        if self.purpose.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
            return invalid("`purpose` has control characters".to_owned());
        }
        if self.filter.max_size == 0 {
            return invalid("`filter.max_size` is 0; ask with HEAD for no content".to_owned());
        }
        None
    }

    fn bad_header(&self) -> Option<String> {
        let headers = self.headers.as_map();
        if headers.len() > MAX_HEADERS {
            return Some(format!("there are {} headers, {MAX_HEADERS} are allowed", headers.len()));
        }
        headers.iter().find_map(|(name, value)| {
            let shown = || name.chars().take(40).collect::<String>().escape_debug().to_string();
            if !ALLOWED.contains(&name.as_str()) {
                let all = ALLOWED.join(", ");
                return Some(format!("header `{}` may not be sent, only {all} may", shown()));
            }
            if value.is_empty() || value.len() > MAX_HEADER_BYTES {
                return Some(format!("header `{name}` must have 1 to {MAX_HEADER_BYTES} bytes"));
            }
            let plain = value.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
            (!plain).then(|| format!("header `{name}` must be printable ASCII"))
        })
    }

    fn bad_body(&self) -> Option<String> {
        let body = self.body.as_ref()?;
        if self.method != HttpMethod::Post && !self.is_websocket() {
            return Some(format!("a {} has no `body`; leave it out", self.method));
        }
        let n = body.len();
        (n > MAX_BODY_BYTES).then(|| format!("`body` has {n} bytes, {MAX_BODY_BYTES} are allowed"))
    }

    /// Whether a websocket is to be looked at: the body is then the one message that is sent.
    pub fn is_websocket(&self) -> bool {
        let begins = |scheme: &str| {
            let head = self.url.as_slice().get(..scheme.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()))
        };
        self.method == HttpMethod::Get && (begins("ws:") || begins("wss:"))
    }

    /// What is to be done to the page, with no more content asked for than is ever given.
    #[must_use]
    pub fn effective_filter(&self) -> ContentFilter {
        let max_size = self.filter.max_size.clamp(1, MAX_CONTENT_BYTES);
        ContentFilter { max_size, ..self.filter }
    }
}
