use crate::{ActorPathError, PathSegment, scan::Scan};

/// Checks text without making anything of it; allocates nothing.
#[derive(Clone, Copy, Debug)]
pub struct ActorPathValidator;

impl ActorPathValidator {
    /// Checks an absolute path; answers exactly as [`ActorPathParser`](crate::ActorPathParser).
    pub fn validate(text: &str) -> Result<(), ActorPathError> {
        Scan::new(text).map(|_| ())
    }

    /// Checks one segment in its raw form; answers exactly as [`PathSegment::new`].
    pub fn validate_segment(raw: &str) -> Result<(), ActorPathError> {
        PathSegment::check(raw)
    }
}
