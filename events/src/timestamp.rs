//! Moments, to the microsecond: what Postgres keeps, and no more, so that a hash over a moment
//! still fits after a round trip through the database.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Microseconds since the Unix epoch, UTC. Written as RFC 3339 in JSON, as a number in MessagePack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The last moment that RFC 3339 can write (year 9999).
const MAX_MICROS: i64 = 253_402_300_799_999_999;

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(0);

    /// From microseconds since the Unix epoch, clamped to the years 1970 to 9999.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        if micros < 0 {
            Self(0)
        } else if micros > MAX_MICROS {
            Self(MAX_MICROS)
        } else {
            Self(micros)
        }
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The moment `seconds` later (or earlier, when negative).
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_micros(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// Seconds from `self` until `later`; negative when `later` is earlier.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a span in microseconds fits f64 for 285 years")]
    pub const fn seconds_until(self, later: Self) -> f64 {
        (later.0 - self.0) as f64 / 1_000_000.0
    }

    /// As a `time` value.
    #[must_use]
    pub fn datetime(self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    /// `YYYY-MM-DD`, UTC.
    #[must_use]
    pub fn date(self) -> String {
        self.datetime().date().to_string()
    }
}

impl FromStr for Timestamp {
    type Err = time::error::Parse;

    /// Reads a moment as RFC 3339 has it.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        OffsetDateTime::parse(text, &Rfc3339).map(Self::from)
    }
}

impl From<OffsetDateTime> for Timestamp {
    fn from(moment: OffsetDateTime) -> Self {
        let micros = moment.unix_timestamp_nanos().div_euclid(1_000);
        Self::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.datetime().format(&Rfc3339).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            text.parse().map_err(D::Error::custom)
        } else {
            i64::deserialize(deserializer).map(Self::from_micros)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_rfc_3339_and_reads_it_back() {
        let moment = Timestamp::from_micros(1_795_824_000_123_456);
        let json = serde_json::to_string(&moment).unwrap();
        assert_eq!(json, "\"2026-11-28T00:00:00.123456Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), moment);
    }

    #[test]
    fn what_cannot_be_written_is_clamped() {
        assert_eq!(Timestamp::from_micros(-5), Timestamp::EPOCH);
        assert!(Timestamp::from_micros(i64::MAX).to_string().starts_with("9999-12-31"));
    }
}
