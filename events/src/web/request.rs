//! What agents ask of the outside and what they are answered, as it is signed, sent and shown.
//!
//! In `MessagePack` a value is a map with field names, binaries are `bin`; in JSON binaries of known
//! length are hexadecimal digits. Nothing here asks anybody: what is checked is the shape alone.

mod headers;
mod id;
mod message;
mod named;
mod octets;
mod report;
mod shape;
mod terms;
mod wire;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::{
    headers::Headers,
    id::{AgentId, Hash256, IdFault, PublicKey, Signature},
    message::{
        MAX_ENVELOPE_BYTES, Message, MessageFault, PORTAL_REPORT, WEB_REQUEST, WEB_RESPONSE,
    },
    octets::Octets,
    report::{PortalReport, TopUser},
    shape::{
        MAX_BODY_BYTES, MAX_CONTENT_BYTES, MAX_HEADER_BYTES, MAX_HEADERS, MAX_PURPOSE_BYTES,
        MAX_URL_BYTES,
    },
    terms::{AccessLevel, CachePolicy, Cost, quota},
    wire::{ErrorClass, PortalError, Refused},
};
use super::content::{ContentFilter, FilterReport};
use crate::codec::{self, CodecFault};

/// What every signature begins with, so that it is good for nothing else.
pub const DOMAIN: &[u8] = b"weir.portal.v1";

/// The method of a request. In `MessagePack` its number, in JSON its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum HttpMethod {
    /// Read a page.
    Get = 0,
    /// Send something, and read what comes of it.
    Post = 1,
    /// Ask what is known of a page.
    Head = 2,
}

impl HttpMethod {
    /// All methods, each at its number.
    pub const ALL: [Self; 3] = [Self::Get, Self::Post, Self::Head];

    /// The name, as HTTP has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Head => "HEAD",
        }
    }

    /// The number.
    pub const fn as_byte(self) -> u8 {
        self as u8
    }
}

impl std::fmt::Display for HttpMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for HttpMethod {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(self.as_str())
        } else {
            serializer.serialize_u8(self.as_byte())
        }
    }
}

impl<'de> Deserialize<'de> for HttpMethod {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let unknown = |what: &dyn std::fmt::Display| {
            serde::de::Error::custom(format_args!(
                "{what} is no method; there are GET (0), POST (1) and HEAD (2)"
            ))
        };
        if deserializer.is_human_readable() {
            let name = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
            let found = Self::ALL.into_iter().find(|method| method.as_str() == name);
            found.ok_or_else(|| unknown(&format_args!("`{}`", name.escape_debug())))
        } else {
            let number = u8::deserialize(deserializer)?;
            Self::ALL.get(usize::from(number)).copied().ok_or_else(|| unknown(&number))
        }
    }
}

/// What kind of interaction with an API a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApiInteractionKind {
    /// A page or a resource is read.
    RestGet,
    /// Something is sent to a resource.
    RestPost,
    /// A question in `GraphQL`.
    #[serde(rename = "graphql")]
    GraphQL,
    /// The first frames of a websocket.
    WebsocketSnap,
}

/// What an agent asks of the outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortalRequest {
    /// The request's own id, which its agent chose: asked again, it is answered the same.
    pub id: Hash256,
    /// Who asks.
    pub agent: AgentId,
    /// The address, as it is to be asked for.
    pub url: Octets,
    /// The method.
    pub method: HttpMethod,
    /// What is to be sent along; few headers may be.
    #[serde(default)]
    pub headers: Headers,
    /// What is to be sent. None is another thing than nothing.
    #[serde(default)]
    pub body: Option<Octets>,
    /// What is to be done to the page.
    #[serde(default, deserialize_with = "named::named")]
    pub filter: ContentFilter,
    /// Why the agent asks.
    pub purpose: String,
    /// The tick it was signed in.
    pub tick: u64,
    /// The agent's ed25519 signature of the canonical bytes.
    pub signature: Signature,
}

/// What of a request is signed: all of it but the signature, in this order.
#[derive(Serialize)]
struct Signed<'a> {
    id: &'a Hash256,
    agent: &'a AgentId,
    url: &'a Octets,
    method: HttpMethod,
    headers: &'a Headers,
    body: Option<&'a Octets>,
    filter: &'a ContentFilter,
    purpose: &'a str,
    tick: u64,
}

impl PortalRequest {
    /// The bytes that are signed: the domain tag, then a `MessagePack` map of all fields but the
    /// signature, in declared order, headers sorted by name, numbers as short as they go.
    pub fn canonical_bytes(&self) -> Result<Vec<u8>, CodecFault> {
        let signed = Signed {
            id: &self.id,
            agent: &self.agent,
            url: &self.url,
            method: self.method,
            headers: &self.headers,
            body: self.body.as_ref(),
            filter: &self.filter,
            purpose: &self.purpose,
            tick: self.tick,
        };
        let mut bytes = DOMAIN.to_vec();
        bytes.extend(codec::to_bytes("PortalRequest", &signed)?);
        Ok(bytes)
    }
}

/// What an agent is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortalResponse {
    /// The request this answers.
    pub request_id: Hash256,
    /// The status that the outside answered with.
    pub status: u16,
    /// The content, as the filter left it.
    pub content: Octets,
    /// The type of that.
    pub content_type: String,
    /// What the filter did.
    #[serde(deserialize_with = "named::named")]
    pub filtered: FilterReport,
    /// Whether nothing left for it.
    pub cached: bool,
    /// What it cost.
    #[serde(deserialize_with = "named::named")]
    pub cost: Cost,
}
