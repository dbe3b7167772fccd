use crate::{ActorPathError, ActorPathErrorKind as Kind};
use core::{fmt, num::NonZeroU64, str::FromStr};

/// Which incarnation of an actor a path means; never 0.
///
/// Weir's own are positive and never repeat. Pekko's may be negative 32-bit numbers: they are read
/// and written as they are, and mean no number of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorUid {
    negative: bool,
    magnitude: NonZeroU64,
}

impl ActorUid {
    /// A uid of our own.
    pub const fn new(value: NonZeroU64) -> Self {
        Self { negative: false, magnitude: value }
    }

    /// The uid's number, or `None` for a negative one of Pekko's.
    pub const fn get(self) -> Option<u64> {
        if self.negative { None } else { Some(self.magnitude.get()) }
    }
}

impl FromStr for ActorUid {
    type Err = ActorPathError;

    /// Reads what stands after `#`.
    fn from_str(text: &str) -> Result<Self, ActorPathError> {
        let refused = |kind, at| Err(ActorPathError::new(kind, at));
        if text.starts_with('+') {
            return refused(Kind::NonCanonicalUid, 0);
        }
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let sign_len = usize::from(negative);
        if let Some(at) = digits.bytes().position(|byte| !byte.is_ascii_digit()) {
            return refused(Kind::InvalidUid, sign_len.saturating_add(at));
        }
        if digits.starts_with('0') {
            return refused(Kind::NonCanonicalUid, sign_len);
        }
        let max = if negative { u64::from(i32::MIN.unsigned_abs()) } else { u64::MAX };
        match digits.parse::<NonZeroU64>() {
            Ok(magnitude) if magnitude.get() <= max => Ok(Self { negative, magnitude }),
            _ => refused(Kind::InvalidUid, sign_len),
        }
    }
}

impl fmt::Display for ActorUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.negative { "-" } else { "" })?;
        write!(f, "{}", self.magnitude)
    }
}
