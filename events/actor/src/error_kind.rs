use core::fmt;

/// What is wrong with a path, or with a part of one.
///
/// The name of a kind is stable: command line and API print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ActorPathErrorKind {
    /// No absolute path at all: no scheme, no `//`, or a query.
    InvalidUri,
    /// A scheme other than `pekko` and `pekko.tcp`.
    InvalidScheme,
    /// The system name is empty, too long, or has a character it may not have.
    InvalidSystemName,
    /// A host without a port.
    UnsupportedAuthority,
    /// Neither a domain name nor an IPv4 address nor an IPv6 address in brackets.
    InvalidHost,
    /// The host names something that has another, canonical spelling.
    NonCanonicalHost,
    /// The port is not a number from 1 to 65535.
    InvalidPort,
    /// The port has leading zeros.
    NonCanonicalPort,
    /// The first segment is none of `user`, `system`, `deadLetters`, `temp`.
    UnknownGuardian,
    /// A segment without a character.
    EmptySegment,
    /// `.` or `..` as a segment.
    DotSegment,
    /// A character that a segment may not have.
    InvalidSegment,
    /// An escape in lower case.
    PercentCase,
    /// An escape for a character that needs none.
    NeedlessEscape,
    /// A broken escape, or one of a character that is not printable ASCII.
    PercentDecode,
    /// A new name that begins with `$`.
    ReservedName,
    /// The uid is not a number of the allowed range.
    InvalidUid,
    /// The uid has another, canonical spelling.
    NonCanonicalUid,
    /// The root has no incarnations.
    UidOnRoot,
    /// More than 255 bytes in one segment.
    SegmentTooLong,
    /// More than 1,024 bytes in all.
    PathTooLong,
    /// More than 16 segments.
    TooDeep,
}

impl ActorPathErrorKind {
    /// The stable name, for example `InvalidScheme`.
    pub const fn name(self) -> &'static str {
        self.describe().0
    }

    const fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::InvalidUri => ("InvalidUri", "not of the form `pekko://system/user/...`"),
            Self::InvalidScheme => ("InvalidScheme", "scheme is neither `pekko` nor `pekko.tcp`"),
            Self::InvalidSystemName => (
                "InvalidSystemName",
                "system name is not 1 to 255 letters, digits, `-` or `_` with a letter or digit first",
            ),
            Self::UnsupportedAuthority => ("UnsupportedAuthority", "host without a port"),
            Self::InvalidHost => (
                "InvalidHost",
                "host is neither a domain name nor IPv4 nor IPv6 in brackets, of at most 255 bytes",
            ),
            Self::NonCanonicalHost => {
                ("NonCanonicalHost", "host is not in lower case, or IPv6 is not in RFC 5952 form")
            }
            Self::InvalidPort => ("InvalidPort", "port is not a number from 1 to 65535"),
            Self::NonCanonicalPort => ("NonCanonicalPort", "port has leading zeros"),
            Self::UnknownGuardian => (
                "UnknownGuardian",
                "first segment is none of `user`, `system`, `deadLetters`, `temp`",
            ),
            Self::EmptySegment => ("EmptySegment", "segment is empty"),
            Self::DotSegment => ("DotSegment", "segment is `.` or `..`"),
            Self::InvalidSegment => ("InvalidSegment", "character does not belong in a segment"),
            Self::PercentCase => ("PercentCase", "escape is not in upper case"),
            Self::NeedlessEscape => ("NeedlessEscape", "character needs no escape"),
            Self::PercentDecode => {
                ("PercentDecode", "escape is broken, or stands for no printable ASCII character")
            }
            Self::ReservedName => ("ReservedName", "a new name may not begin with `$`"),
            Self::InvalidUid => {
                ("InvalidUid", "uid is not a number from 1 to 2^64-1 or from -2^31 to -1")
            }
            Self::NonCanonicalUid => {
                ("NonCanonicalUid", "uid is zero or has a plus sign or leading zeros")
            }
            Self::UidOnRoot => ("UidOnRoot", "the root has no uid"),
            Self::SegmentTooLong => ("SegmentTooLong", "segment is longer than 255 bytes"),
            Self::PathTooLong => ("PathTooLong", "path is longer than 1,024 bytes"),
            Self::TooDeep => ("TooDeep", "path has more than 16 segments"),
        }
    }
}

impl fmt::Display for ActorPathErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe().1)
    }
}
