//! Binaries of a known length: `bin` in `MessagePack`, lower-case hexadecimal digits in JSON.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Visitor};
use sha2::{Digest, Sha256};

/// The text is not the hexadecimal form of so many bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {digits} lower-case hexadecimal digits, found {found}")]
pub struct IdFault {
    digits: usize,
    found: String,
}

impl IdFault {
    fn of(text: &str, bytes: usize) -> Self {
        let digits = bytes * 2;
        let found = if text.chars().count() == digits {
            "another character among them".to_owned()
        } else {
            format!("{} characters", text.chars().count())
        };
        Self { digits, found }
    }
}

macro_rules! fixed {
    ($($(#[doc = $doc:literal])+ $name:ident [$n:literal] $($derive:ident)*;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $n]);

        impl $name {
            /// How many bytes it has.
            pub const LEN: usize = $n;

            /// It, of its bytes.
            pub const fn new(bytes: [u8; $n]) -> Self {
                Self(bytes)
            }

            /// Its bytes.
            pub const fn as_bytes(&self) -> &[u8; $n] {
                &self.0
            }
        }

        impl From<[u8; $n]> for $name {
            fn from(bytes: [u8; $n]) -> Self {
                Self(bytes)
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = IdFault;

            fn from_str(text: &str) -> Result<Self, IdFault> {
                let mut bytes = [0; $n];
                // One spelling each: what stands in streams, logs and addresses is compared as text.
                let lower = !text.bytes().any(|b| b.is_ascii_uppercase());
                let read = hex::decode_to_slice(text, &mut bytes);
                if lower && read.is_ok() { Ok(Self(bytes)) } else { Err(IdFault::of(text, $n)) }
            }
        }

        impl TryFrom<&[u8]> for $name {
            type Error = std::array::TryFromSliceError;

            fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
                bytes.try_into().map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    serializer.serialize_bytes(&self.0)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fixed;

                impl Visitor<'_> for Fixed {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "{} bytes", $n)
                    }

                    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<$name, E> {
                        $name::try_from(bytes)
                            .map_err(|_| E::invalid_length(bytes.len(), &self))
                    }
                }

                struct Digits;

                impl Visitor<'_> for Digits {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "{} lower-case hexadecimal digits", $n * 2)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                if deserializer.is_human_readable() {
                    deserializer.deserialize_str(Digits)
                } else {
                    deserializer.deserialize_bytes(Fixed)
                }
            }
        }
    )+};
}

fixed! {
    /// A SHA-256, or another 32 bytes that stand for something.
    Hash256[32];
    /// An agent: SHA-256 of its ed25519 public key.
    AgentId[32];
    /// An ed25519 public key, as its standard encodes it.
    PublicKey[32];
    /// An ed25519 signature.
    Signature[64];
}

impl Hash256 {
    /// The SHA-256 of some parts, one after the other.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

impl AgentId {
    /// The agent whose ed25519 public key this is.
    pub fn of_key(public_key: &PublicKey) -> Self {
        Self(Hash256::of(&[public_key.as_bytes()]).0)
    }
}
