use crate::{ActorPathError, ActorPathErrorKind as Kind};
use alloc::{borrow::Cow, string::String, sync::Arc};
use core::fmt;

/// One checked segment of a path.
///
/// A text has one raw form and a raw form one text, so two segments are equal exactly if they say
/// the same. `%2F` stays inside its segment: it says `/` and separates nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathSegment(Arc<str>);

impl PathSegment {
    /// The longest segment, in bytes of its raw form.
    pub const MAX_BYTES: usize = 255;

    /// Checks a segment in its raw form; a leading `$`, as Pekko's own names have it, passes.
    pub fn new(raw: &str) -> Result<Self, ActorPathError> {
        Self::check(raw)?;
        Ok(Self::from_checked(raw))
    }

    /// The segment as it stands in the path.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// What the segment says: its escapes resolved, always printable ASCII.
    pub fn decoded(&self) -> Cow<'_, str> {
        let mut pieces = self.0.split('%');
        let first = pieces.next().unwrap_or_default();
        if first.len() == self.0.len() {
            return Cow::Borrowed(first);
        }
        let mut text = String::from(first);
        for piece in pieces {
            let mut bytes = piece.bytes();
            // Every `%` of a checked segment begins an escape, so this always succeeds.
            if let Ok(byte) = unescape(bytes.next(), bytes.next()) {
                text.push(char::from(byte));
            }
            text.extend(bytes.map(char::from));
        }
        Cow::Owned(text)
    }

    /// For text that `check` has passed.
    pub(crate) fn from_checked(raw: &str) -> Self {
        Self(Arc::from(raw))
    }

    pub(crate) fn check(raw: &str) -> Result<(), ActorPathError> {
        let refused = |kind, at| Err(ActorPathError::new(kind, at));
        match raw {
            "" => return refused(Kind::EmptySegment, 0),
            "." | ".." => return refused(Kind::DotSegment, 0),
            _ => {}
        }
        let mut bytes = raw.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            if Self::MAX_BYTES <= at {
                return refused(Kind::SegmentTooLong, at);
            }
            if byte == b'%' {
                let mut hex = || bytes.next().map(|(_, digit)| digit);
                unescape(hex(), hex()).map_err(|kind| ActorPathError::new(kind, at))?;
            } else if !is_plain(byte) {
                return refused(Kind::InvalidSegment, at);
            }
        }
        if Self::MAX_BYTES < raw.len() {
            return refused(Kind::SegmentTooLong, Self::MAX_BYTES);
        }
        Ok(())
    }
}

impl fmt::Display for PathSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a character stands for itself in a segment.
pub(crate) const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'_'
                | b'.'
                | b'*'
                | b'$'
                | b'+'
                | b':'
                | b'@'
                | b'&'
                | b'='
                | b','
                | b'!'
                | b'~'
                | b'\''
                | b';'
        )
}

/// Whether a segment may say this character at all, plainly or by an escape.
pub(crate) const fn is_sayable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

fn unescape(high: Option<u8>, low: Option<u8>) -> Result<u8, Kind> {
    let digit = |byte: Option<u8>| {
        char::from(byte?).to_digit(16).and_then(|value| u8::try_from(value).ok())
    };
    let (Some(tens), Some(ones)) = (digit(high), digit(low)) else {
        return Err(Kind::PercentDecode);
    };
    if [high, low].into_iter().flatten().any(|byte| byte.is_ascii_lowercase()) {
        return Err(Kind::PercentCase);
    }
    match (tens << 4) | ones {
        byte if !is_sayable(byte) => Err(Kind::PercentDecode),
        byte if is_plain(byte) => Err(Kind::NeedlessEscape),
        byte => Ok(byte),
    }
}
