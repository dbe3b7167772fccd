//! Signed notes: a text, an empty line, and who signed the text.
//!
//! Follows `golang.org/x/mod/sumdb/note`, of which checksum databases use Ed25519.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest as _, Sha256};

/// What stands before the bytes of a key or of a signature's key: its algorithm.
const ED25519: u8 = 1;

/// What stands before a signature in a note.
const MARK: &str = "\u{2014} ";

/// The longest note.
const MAX_BYTES: usize = 1 << 20;

/// The most signatures that are looked at.
const MAX_SIGNATURES: usize = 100;

/// Whoever signs notes: `NAME+HASH+KEY`, as `GOSUMDB` has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    name: Box<str>,
    hash: [u8; 4],
    verifying: VerifyingKey,
}

/// It is no such key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// Something is missing, or is not what it should be.
    #[error("it is not NAME+HASH+KEY, an Ed25519 key as the go command has it in GOSUMDB")]
    Malformed,
    /// A part was changed.
    #[error("its hash is not that of its name and key: it was cut short or changed")]
    Changed,
}

/// A note does not say what somebody has signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteFault {
    /// It is none.
    #[error("its signed end is no note")]
    Malformed,
    /// Others have signed it, or nobody.
    #[error("it is not signed by {0}")]
    Unsigned(Box<Key>),
    /// The signature is of something else.
    #[error("the signature by {0} does not fit")]
    Forged(Box<Key>),
}

impl Key {
    /// The name of who has it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of a note that this key has signed.
    pub fn open<'a>(&self, note: &'a str) -> Result<&'a str, NoteFault> {
        let printed = |c: char| c == '\n' || !c.is_ascii_control();
        if note.len() > MAX_BYTES || !note.chars().all(printed) {
            return Err(NoteFault::Malformed);
        }
        let (end, signatures) = match note.rfind("\n\n") {
            Some(end) => (end + 1, &note[end + 2..]),
            None => return Err(NoteFault::Malformed),
        };
        let (text, lines) = (&note[..end], signatures.strip_suffix('\n'));
        let lines = lines.ok_or(NoteFault::Malformed)?.split('\n');
        if lines.clone().count() > MAX_SIGNATURES {
            return Err(NoteFault::Malformed);
        }
        let mut ours = None;
        for line in lines {
            let parts = line.strip_prefix(MARK).and_then(|rest| rest.split_once(' '));
            let (name, encoded) = parts.ok_or(NoteFault::Malformed)?;
            let bytes = STANDARD.decode(encoded).map_err(|_| NoteFault::Malformed)?;
            let (hash, signature) = bytes.split_first_chunk().ok_or(NoteFault::Malformed)?;
            if ours.is_none() && *name == *self.name && *hash == self.hash {
                ours = Some(Signature::from_slice(signature));
            }
        }
        let signature = ours.ok_or_else(|| NoteFault::Unsigned(self.clone().into()))?;
        let fits = |signature: Signature| self.verifying.verify_strict(text.as_bytes(), &signature);
        match signature.and_then(fits) {
            Ok(()) => Ok(text),
            Err(_) => Err(NoteFault::Forged(self.clone().into())),
        }
    }
}

impl FromStr for Key {
    type Err = KeyFault;

    fn from_str(text: &str) -> Result<Self, KeyFault> {
        let mut parts = text.splitn(3, '+');
        let mut part = || parts.next().ok_or(KeyFault::Malformed);
        let (name, hash, encoded) = (part()?, part()?, part()?);
        let named = !name.is_empty() && !name.contains(char::is_whitespace);
        let mut told = [0; 4];
        hex::decode_to_slice(hash, &mut told).map_err(|_| KeyFault::Malformed)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| KeyFault::Malformed)?;
        let key = match bytes.split_first() {
            Some((&ED25519, key)) if named => key.try_into().ok(),
            _ => None,
        };
        let key = key.and_then(|key| VerifyingKey::from_bytes(key).ok());
        let key = key.ok_or(KeyFault::Malformed)?;
        let digest = Sha256::new().chain_update(name).chain_update("\n").chain_update(&bytes);
        let hash = *digest.finalize().first_chunk().ok_or(KeyFault::Malformed)?;
        if hash != told {
            return Err(KeyFault::Changed);
        }
        Ok(Self { name: name.into(), hash, verifying: key })
    }
}

/// Its name and hash: it is known by them.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.name, hex::encode(self.hash))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key and a note of the specification's own.
    const KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const TEXT: &str = "If you think cryptography is the answer to your problem,\n\
        then you don't know what your problem is.\n";
    const SIGNED: &str = "\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgY\
        N1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
    /// Another who signed the same.
    const OTHER: &str = "\u{2014} EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vA\
        F1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n";

    #[test]
    fn a_note_is_what_its_signer_signed_and_nothing_else() {
        let key: Key = KEY.parse().unwrap();
        assert_eq!(
            (key.name(), key.to_string().as_str()),
            ("PeterNeumann", "PeterNeumann+c74f20a3")
        );
        for signatures in [SIGNED.to_owned(), [SIGNED, OTHER].concat(), [OTHER, SIGNED].concat()] {
            assert_eq!(key.open(&format!("{TEXT}\n{signatures}")), Ok(TEXT));
        }
        let unsigned = Err(NoteFault::Unsigned(key.clone().into()));
        assert_eq!(key.open(&format!("{TEXT}\n{OTHER}")), unsigned);
        assert_eq!(key.open(&format!("{TEXT}\n{}", SIGNED.replace("x08g", "xxxx"))), unsigned);
        let forged = Err(NoteFault::Forged(key.clone().into()));
        for (text, signed) in [
            (TEXT.replace("don't", "do"), SIGNED.to_owned()),
            (TEXT.to_owned(), SIGNED.replace("o/ZJ", "o/ZK")),
            (TEXT.to_owned(), SIGNED.replace("o/ZJ", "o/ZJABCD")),
        ] {
            assert_eq!(key.open(&format!("{text}\n{signed}")), forged, "{text} {signed}");
        }
        for bad in [
            TEXT.to_owned(),
            format!("{TEXT}\n"),
            format!("{TEXT}\n{}", SIGNED.trim_end()),
            format!("\u{1}{TEXT}\n{SIGNED}"),
            format!("{TEXT}\n{SIGNED}more\n"),
            format!("{TEXT}\n{}", SIGNED.repeat(MAX_SIGNATURES + 1)),
        ] {
            assert_eq!(key.open(&bad), Err(NoteFault::Malformed), "{bad:?}");
        }
    }

    #[test]
    fn a_key_that_was_cut_short_or_changed_is_none() {
        for end in 0..KEY.len() {
            assert!(KEY[..end].parse::<Key>().is_err(), "{end}");
            assert!(KEY[end + 1..].parse::<Key>().is_err(), "{end}");
            let mut bytes = KEY.as_bytes().to_vec();
            bytes[end] += 1;
            assert!(str::from_utf8(&bytes).unwrap().parse::<Key>().is_err(), "{end}");
        }
        // Of another length, and of another algorithm, with the right hash.
        for bad in [
            "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
            "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        ] {
            assert_eq!(bad.parse::<Key>(), Err(KeyFault::Malformed), "{bad}");
        }
    }
}
