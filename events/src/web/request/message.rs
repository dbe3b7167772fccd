//! Envelopes: `{kind, payload}` or, where a request is not answered, `{kind, error}`.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, Error, MapAccess, Visitor},
};

use super::{PortalReport, PortalRequest, PortalResponse, Refused, named::named};

/// An agent asks.
pub const WEB_REQUEST: u16 = 0x0700;
/// An agent is answered.
pub const WEB_RESPONSE: u16 = 0x0701;
/// What a cycle added up to.
pub const PORTAL_REPORT: u16 = 0x0710;

/// The longest envelope, in bytes.
pub const MAX_ENVELOPE_BYTES: usize = 1_048_576;

/// How deep the maps and lists of an envelope may go: two more than any message does.
const MAX_DEPTH: usize = 8;

/// What stands in an envelope.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// An agent asks.
    Request(Box<PortalRequest>),
    /// An agent is answered, or told why not.
    Response(Box<Result<PortalResponse, Refused>>),
    /// What a cycle added up to.
    Report(PortalReport),
}

/// The bytes are no envelope, or none that may be sent.
#[derive(Debug, thiserror::Error)]
pub enum MessageFault {
    /// Longer than any may be.
    #[error("the envelope has {0} bytes, {MAX_ENVELOPE_BYTES} are allowed")]
    TooLong(usize),
    /// Something follows the envelope.
    #[error("{0} bytes follow the envelope")]
    Trailing(usize),
    /// Not the `MessagePack` of an envelope.
    #[error("this is no envelope")]
    Decode(#[source] rmp_serde::decode::Error),
    /// It could not be written.
    #[error("could not write the envelope")]
    Encode(#[source] rmp_serde::encode::Error),
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    kind: u16,
    payload: &'a T,
}

#[derive(Serialize)]
struct Failure<'a> {
    kind: u16,
    error: &'a Refused,
}

impl Message {
    /// The number of its kind.
    pub const fn kind(&self) -> u16 {
        match self {
            Self::Request(_) => WEB_REQUEST,
            Self::Response(_) => WEB_RESPONSE,
            Self::Report(_) => PORTAL_REPORT,
        }
    }

    /// It as an envelope.
    pub fn encode(&self) -> Result<Vec<u8>, MessageFault> {
        let kind = self.kind();
        let bytes = match self {
            Self::Request(payload) => {
                rmp_serde::to_vec_named(&Envelope { kind, payload: &**payload })
            }
            Self::Response(answer) => match &**answer {
                Ok(payload) => rmp_serde::to_vec_named(&Envelope { kind, payload }),
                Err(error) => rmp_serde::to_vec_named(&Failure { kind, error }),
            },
            Self::Report(payload) => rmp_serde::to_vec_named(&Envelope { kind, payload }),
        };
        let bytes = bytes.map_err(MessageFault::Encode)?;
        if bytes.len() > MAX_ENVELOPE_BYTES {
            Err(MessageFault::TooLong(bytes.len()))
        } else {
            Ok(bytes)
        }
    }

    /// Reads an envelope: one, and whole. A request has no fields but those that are signed.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageFault> {
        if bytes.len() > MAX_ENVELOPE_BYTES {
            return Err(MessageFault::TooLong(bytes.len()));
        }
        let mut reader = rmp_serde::Deserializer::new(bytes);
        reader.set_max_depth(MAX_DEPTH);
        let message = Self::deserialize(&mut reader).map_err(MessageFault::Decode)?;
        let n_left = reader.get_ref().len();
        if n_left == 0 { Ok(message) } else { Err(MessageFault::Trailing(n_left)) }
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Whole)
    }
}

struct Whole;

impl<'de> Visitor<'de> for Whole {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an envelope: a map of `kind` and `payload`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
        // The kind comes first: nothing is read before it is known what it is.
        let kind = match map.next_key::<Key>()? {
            Some(Key::Kind) => map.next_value::<u16>()?,
            _ => return Err(A::Error::custom("an envelope begins with `kind`")),
        };
        let message = match (kind, map.next_key::<Key>()?) {
            (WEB_REQUEST, Some(Key::Payload)) => {
                Message::Request(Box::new(map.next_value_seed(Named::new())?))
            }
            (WEB_RESPONSE, Some(Key::Payload)) => {
                Message::Response(Box::new(Ok(map.next_value_seed(Named::new())?)))
            }
            (WEB_RESPONSE, Some(Key::Error)) => {
                Message::Response(Box::new(Err(map.next_value_seed(Named::new())?)))
            }
            (PORTAL_REPORT, Some(Key::Payload)) => {
                Message::Report(map.next_value_seed(Named::new())?)
            }
            (WEB_REQUEST | WEB_RESPONSE | PORTAL_REPORT, _) => {
                return Err(A::Error::custom("`payload` must follow `kind`"));
            }
            (other, _) => {
                let words = format_args!(
                    "no message has kind {other:#06x}; there are {WEB_REQUEST:#06x}, \
                     {WEB_RESPONSE:#06x} and {PORTAL_REPORT:#06x}"
                );
                return Err(A::Error::custom(words));
            }
        };
        if map.next_key::<Key>()?.is_some() {
            return Err(A::Error::custom("something follows the payload of the envelope"));
        }
        Ok(message)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Kind,
    Payload,
    Error,
}

struct Named<T>(std::marker::PhantomData<T>);

impl<T> Named<T> {
    const fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Named<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        named(deserializer)
    }
}
