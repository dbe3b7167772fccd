//! `MessagePack` with field names: any tool reads it, and a new field needs no new version.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    kind::{Kind, KindInfo},
    upcast,
};

/// The bytes are not what their kind says.
#[derive(Debug, thiserror::Error)]
pub enum CodecFault {
    /// A value could not be written as `MessagePack`.
    #[error("could not encode {what}")]
    Encode {
        /// What was being written.
        what: &'static str,
        /// What the encoder said.
        #[source]
        cause: rmp_serde::encode::Error,
    },
    /// The bytes are not the `MessagePack` of this type.
    #[error("could not decode {what}")]
    Decode {
        /// What was being read.
        what: &'static str,
        /// What the decoder said.
        #[source]
        cause: rmp_serde::decode::Error,
    },
    /// No kind has this code in this build.
    #[error("unknown kind {0:#06x}: written by a newer Weir?")]
    UnknownKind(i32),
    /// The schema is newer than this build, or no upcaster leads from it.
    #[error("kind {kind} has schema {found}, this build reads {known} and has no way between them")]
    UnknownSchema {
        /// The name of the kind.
        kind: &'static str,
        /// The schema found.
        found: i16,
        /// The schema this build writes.
        known: i16,
    },
}

/// A payload as it is stored: what it is, in which schema, in which bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The code of its kind.
    pub kind: Kind,
    /// The schema version of the bytes.
    pub schema: i16,
    /// `MessagePack` with field names.
    pub payload: Vec<u8>,
}

/// Writes a value as `MessagePack` with field names.
pub fn to_bytes<T: Serialize>(what: &'static str, value: &T) -> Result<Vec<u8>, CodecFault> {
    rmp_serde::to_vec_named(value).map_err(|cause| CodecFault::Encode { what, cause })
}

/// Reads a value written by [`to_bytes`].
pub fn from_bytes<T: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<T, CodecFault> {
    rmp_serde::from_slice(bytes).map_err(|cause| CodecFault::Decode { what, cause })
}

/// A stored payload as JSON, upcast to today's schema first.
pub fn payload_json(
    kind: Kind,
    schema: i16,
    payload: &[u8],
) -> Result<serde_json::Value, CodecFault> {
    let info = kind.info().ok_or(CodecFault::UnknownKind(kind.0))?;
    (info.to_json)(&upcast::to_current(info, schema, payload)?)
}

/// The events of one subsystem, as an enum over its payload structs.
pub trait EventSet: Sized {
    /// The kinds of this set, by code.
    const TABLE: &'static [KindInfo];

    /// The payload as it is stored.
    fn encode(&self) -> Result<Encoded, CodecFault>;

    /// The code of this event's kind.
    fn kind(&self) -> Kind;

    /// Reads a stored payload of today's schema; `None` when the kind belongs to another set.
    fn decode_current(kind: Kind, payload: &[u8]) -> Option<Result<Self, CodecFault>>;

    /// Reads a stored payload of any schema ever written; `None` when the kind belongs to another
    /// set.
    fn decode(kind: Kind, schema: i16, payload: &[u8]) -> Option<Result<Self, CodecFault>> {
        let info = Self::TABLE.iter().find(|info| info.code == kind)?;
        match upcast::to_current(info, schema, payload) {
            Ok(payload) => Self::decode_current(kind, &payload),
            Err(fault) => Some(Err(fault)),
        }
    }
}

/// Declares the events of a subsystem: one line a kind, `code schema Name`, its documentation
/// above it. Makes the enum, its table of kinds and its codec.
macro_rules! events {
    ($(#[doc = $set_doc:literal])+ $set:ident { $($(#[doc = $doc:literal])+ $code:literal v $schema:literal $name:ident,)+ }) => {
        $(#[doc = $set_doc])+
        #[derive(Debug, Clone, PartialEq)]
        pub enum $set {
            $($(#[doc = $doc])+ $name($name),)+
        }

        impl $crate::codec::EventSet for $set {
            const TABLE: &'static [$crate::kind::KindInfo] = &[
                $($crate::kind::KindInfo {
                    code: $crate::kind::Kind($code),
                    name: stringify!($name),
                    schema: $schema,
                    doc: concat!($($doc),+),
                    to_json: |bytes| {
                        let payload: $name = $crate::codec::from_bytes(stringify!($name), bytes)?;
                        Ok(serde_json::to_value(payload).unwrap_or(serde_json::Value::Null))
                    },
                },)+
            ];

            fn encode(&self) -> Result<$crate::codec::Encoded, $crate::codec::CodecFault> {
                let (schema, payload) = match self {
                    $(Self::$name(payload) => {
                        ($schema, $crate::codec::to_bytes(stringify!($name), payload)?)
                    })+
                };
                Ok($crate::codec::Encoded { kind: self.kind(), schema, payload })
            }

            fn kind(&self) -> $crate::kind::Kind {
                $crate::kind::Kind(match self { $(Self::$name(_) => $code,)+ })
            }

            fn decode_current(
                kind: $crate::kind::Kind,
                payload: &[u8],
            ) -> Option<Result<Self, $crate::codec::CodecFault>> {
                match kind.0 {
                    $($code => Some(
                        $crate::codec::from_bytes(stringify!($name), payload).map(Self::$name),
                    ),)+
                    _ => None,
                }
            }
        }

        impl $set {
            /// The kinds of this set, by code.
            pub const TABLE: &'static [$crate::kind::KindInfo] =
                <Self as $crate::codec::EventSet>::TABLE;
        }

        $(impl From<$name> for $set {
            fn from(payload: $name) -> Self {
                Self::$name(payload)
            }
        })+
    };
}
pub(crate) use events;
