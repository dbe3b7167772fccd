use crate::{ActorPath, ActorPathParts, PathSegments};
use alloc::string::{String, ToString};
use core::fmt;

/// Writes paths in their canonical form.
#[derive(Clone, Copy, Debug)]
pub struct ActorPathFormatter;

impl ActorPathFormatter {
    /// The canonical form, with the uid if the path has one.
    pub fn format(path: &ActorPath) -> String {
        path.to_string()
    }

    /// The canonical form of the actor whatever its incarnation.
    pub fn format_without_uid(path: &ActorPath) -> String {
        WithoutUid { parts: path.parts(), segments: path.segments() }.to_string()
    }
}

impl fmt::Display for ActorPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        WithoutUid { parts: self.parts(), segments: self.segments() }.fmt(f)?;
        match self.uid() {
            Some(uid) => write!(f, "#{uid}"),
            None => Ok(()),
        }
    }
}

struct WithoutUid<'a> {
    parts: &'a ActorPathParts,
    segments: &'a PathSegments,
}

impl fmt::Display for WithoutUid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.parts)?;
        if self.segments.is_empty() {
            return f.write_str("/");
        }
        self.segments.iter().try_for_each(|segment| write!(f, "/{segment}"))
    }
}
