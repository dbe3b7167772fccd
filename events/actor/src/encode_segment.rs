use crate::{
    ActorName, ActorPathError, ActorPathErrorKind as Kind, PathSegment,
    path_segment::{is_plain, is_sayable},
};
use alloc::string::String;
use core::fmt::Write;

/// Makes a name of text from outside: a package, a topic, a URL.
///
/// Two texts never become the same name, and the name's `decoded` form is the text. Refused are
/// the empty text, `.`, `..`, a leading `$`, anything that is not printable ASCII, and what needs
/// more than 255 bytes. The offset of an error counts the bytes of `text`.
pub fn encode_segment(text: &str) -> Result<ActorName, ActorPathError> {
    let mut raw = String::new();
    for (at, byte) in text.bytes().enumerate() {
        if is_plain(byte) {
            raw.push(char::from(byte));
        } else if !is_sayable(byte) || write!(raw, "%{byte:02X}").is_err() {
            return Err(ActorPathError::new(Kind::InvalidSegment, at));
        }
        if PathSegment::MAX_BYTES < raw.len() {
            return Err(ActorPathError::new(Kind::SegmentTooLong, at));
        }
    }
    ActorName::new(&raw)
}
