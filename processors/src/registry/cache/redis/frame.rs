//! What lies in a Redis, byte by byte: when it was fetched, how long it may be kept, the page, and a
//! signature over all of that and over where it lies.

use std::{
    fmt,
    io::{self, Read as _, Write as _},
    time::Duration,
};

use bytes::Bytes;
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use weir_events::timestamp::Timestamp;

use super::Confirmed;
use crate::outbound::{Room, Url};

/// The largest value that is written, and the most of one that is read.
pub(super) const FRAME_BYTES: usize = 4 << 20;
/// The size of a word of confirmation.
pub(super) const WORD_BYTES: usize = 8 + ID_BYTES + MAC_BYTES;
/// What a look at a page needs of it.
pub(super) const PEEK_BYTES: usize = 8 + 8;

const ID_BYTES: usize = 16;
const MAC_BYTES: usize = 32;
/// A page below this size is not packed.
const PACK_FROM_BYTES: usize = 1 << 10;
/// A page says that it is at most so large.
const MAX_BODY_BYTES: u64 = 256 << 20;
/// Separates this key from others that are derived from the same secret.
const CONTEXT: &str = "weir 2026-11-28 lists of versions shared in redis";

/// A fetched page, in words of this program: no two have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Id([u8; ID_BYTES]);

impl Id {
    /// One that nobody has yet.
    #[must_use]
    pub fn fresh() -> Self {
        Self(rand::random())
    }
}

/// A page that was just fetched.
#[derive(Debug, Clone)]
pub struct Fresh {
    /// Its name.
    pub id: Id,
    /// When it began to be fetched.
    pub created_at: Timestamp,
    /// How long it may be kept after it was last confirmed.
    pub lifetime: Duration,
    /// Where it came from, after redirects.
    pub url: Url,
    /// Its headers, as far as anybody reads them.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// The room that takes, where it is large.
    pub room: Option<Room>,
}

/// A page that verified.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its name.
    pub id: Id,
    /// When it began to be fetched.
    pub created_at: Timestamp,
    /// How long it may be kept after it was last confirmed.
    pub lifetime: Duration,
    /// Where it came from, after redirects.
    pub url: Url,
    /// Its headers.
    pub headers: HeaderMap,
    /// How large its body is.
    pub size_bytes: u64,
    packed: bool,
    body: Bytes,
}

impl Page {
    /// Its body, unpacked: away from the threads that serve.
    pub fn body(&self) -> io::Result<Bytes> {
        if !self.packed {
            return Ok(self.body.clone());
        }
        let mut body = Vec::new();
        // One byte more than it says would be too many.
        DeflateDecoder::new(&*self.body).take(self.size_bytes + 1).read_to_end(&mut body)?;
        if body.len() as u64 == self.size_bytes {
            Ok(body.into())
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it is not as large as it says"))
        }
    }
}

/// What stands before the body.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    id: [u8; ID_BYTES],
    url: String,
    headers: Vec<(String, Vec<u8>)>,
    size_bytes: u64,
    packed: bool,
}

/// How old a page is, without reading it. Not verified: good for forgetting it, for nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peek {
    pub(super) created_at: Timestamp,
    pub(super) confirmed_at: Timestamp,
    pub(super) lifetime: Duration,
}

impl Peek {
    /// By the beginning of a page and the word beside it.
    pub(super) fn of(head: &[u8], word: Option<Confirmed>) -> Option<Self> {
        let (created_at, rest) = head.split_first_chunk()?;
        let (lifetime, _) = rest.split_first_chunk()?;
        let created_at = Timestamp::from_micros(i64::from_be_bytes(*created_at));
        let confirmed_at = word.map_or(created_at, |word| word.at.max(created_at));
        let lifetime = Duration::from_millis(u64::from_be_bytes(*lifetime));
        Some(Self { created_at, confirmed_at, lifetime })
    }

    pub(super) fn expired_at(&self, now: Timestamp) -> bool {
        let lifetime = i64::try_from(self.lifetime.as_micros()).unwrap_or(i64::MAX);
        self.confirmed_at.micros().saturating_add(lifetime) <= now.micros()
    }
}

/// Signs values, and tells whether they are signed.
#[derive(Clone)]
pub(super) struct Signer([u8; 32]);

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(…)")
    }
}

impl Signer {
    pub(super) fn new(secret: &[u8; 32]) -> Self {
        Self(blake3::derive_key(CONTEXT, secret))
    }

    /// Over a value and where it lies: what is valid in one place is not in another.
    fn sign(&self, at: &str, value: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(at.len() as u64).to_be_bytes()).update(at.as_bytes()).update(value);
        hasher.finalize()
    }

    fn signed(&self, at: &str, mut value: Vec<u8>) -> Vec<u8> {
        let mac = self.sign(at, &value);
        value.extend_from_slice(mac.as_bytes());
        value
    }

    /// What was signed, if it was.
    fn verified<'a>(&self, at: &str, text: &'a [u8]) -> Option<&'a [u8]> {
        let (value, mac) = text.split_last_chunk::<MAC_BYTES>()?;
        // In the same time whatever differs.
        (self.sign(at, value) == blake3::Hash::from_bytes(*mac)).then_some(value)
    }

    pub(super) fn write_word(&self, at: &str, Confirmed { id, at: moment }: Confirmed) -> Vec<u8> {
        self.signed(at, [&moment.micros().to_be_bytes()[..], &id.0].concat())
    }

    pub(super) fn read_word(&self, at: &str, text: &[u8]) -> Option<Confirmed> {
        let (moment, id) = self.verified(at, text)?.split_first_chunk()?;
        let moment = Timestamp::from_micros(i64::from_be_bytes(*moment));
        Some(Confirmed { id: Id(id.try_into().ok()?), at: moment })
    }

    /// Packs and signs a page: away from the threads that serve.
    pub(super) fn write(&self, at: &str, fresh: &Fresh) -> io::Result<Vec<u8>> {
        let packed = fresh.body.len() >= PACK_FROM_BYTES;
        let text = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.as_str().to_owned(), value.as_bytes().to_vec())
        };
        let head = Head {
            id: fresh.id.0,
            url: fresh.url.as_str().to_owned(),
            headers: fresh.headers.iter().map(text).collect(),
            size_bytes: fresh.body.len() as u64,
            packed,
        };
        let head = rmp_serde::to_vec(&head).map_err(io::Error::other)?;
        let lifetime = u64::try_from(fresh.lifetime.as_millis()).unwrap_or(u64::MAX);
        let mut value = Vec::with_capacity(PEEK_BYTES + 4 + head.len() + fresh.body.len() / 4);
        value.extend_from_slice(&fresh.created_at.micros().to_be_bytes());
        value.extend_from_slice(&lifetime.to_be_bytes());
        let length = u32::try_from(head.len()).map_err(io::Error::other)?;
        value.extend_from_slice(&length.to_be_bytes());
        value.extend_from_slice(&head);
        if packed {
            let mut packer = DeflateEncoder::new(&mut value, Compression::fast());
            packer.write_all(&fresh.body)?;
            packer.finish()?;
        } else {
            value.extend_from_slice(&fresh.body);
        }
        Ok(self.signed(at, value))
    }

    /// A page, if this very value was signed for this place. Nothing of it is looked at before.
    pub(super) fn read(&self, at: &str, text: &Bytes) -> Option<Page> {
        let value = self.verified(at, text)?;
        let peek = Peek::of(value, None)?;
        let (length, rest) = value.get(PEEK_BYTES..)?.split_first_chunk()?;
        let (head, body) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        let body = text.slice_ref(body);
        let Head { id, url, headers, size_bytes, packed } = rmp_serde::from_slice(head).ok()?;
        let header = |(name, value): (String, Vec<u8>)| {
            Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
        };
        let fits = size_bytes <= MAX_BODY_BYTES && (packed || body.len() as u64 == size_bytes);
        fits.then_some(())?;
        Some(Page {
            id: Id(id),
            created_at: peek.created_at,
            lifetime: peek.lifetime,
            url: Url::parse(&url).ok()?,
            headers: headers.into_iter().map(header).collect::<Option<_>>()?,
            size_bytes,
            packed,
            body,
        })
    }
}

#[cfg(test)]
mod tests;
