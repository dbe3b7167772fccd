use crate::{
    ActorName, ActorPathError, ActorPathErrorKind as Kind, ActorPathFormatter, ActorPathParser,
    ActorPathParts, ActorUid, GuardianSegments, PathSegment, PathSegments, display::displayed_len,
};
use alloc::string::String;
use core::str::FromStr;

/// The address of an actor, for example `pekko://weir/user/runs/01HF#42`.
///
/// Only checked paths exist: each begins at a guardian (or is the root), keeps the bounds, and
/// reads back from its canonical form as itself. `==` compares everything, the uid included; see
/// [`ActorPathComparator`](crate::ActorPathComparator) for the comparison that ignores it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ActorPath {
    parts: ActorPathParts,
    segments: PathSegments,
    uid: Option<ActorUid>,
}

impl ActorPath {
    /// The longest canonical form, in bytes, uid included.
    pub const MAX_BYTES: usize = 1024;

    /// The root of a system, `pekko://weir/`.
    pub fn root(parts: ActorPathParts) -> Self {
        Self::from_checked(parts, PathSegments::default(), None)
    }

    /// A guardian of a system, `pekko://weir/user`.
    pub fn guardian_of(parts: ActorPathParts, guardian: GuardianSegments) -> Self {
        let segment = PathSegment::from_checked(guardian.as_str());
        Self::from_checked(parts, PathSegments::default().with(segment), None)
    }

    pub(crate) const fn from_checked(
        parts: ActorPathParts,
        segments: PathSegments,
        uid: Option<ActorUid>,
    ) -> Self {
        Self { parts, segments, uid }
    }

    /// The actor of that name below this one, of no particular incarnation.
    ///
    /// `TooDeep` or `PathTooLong` if it would break a bound, `UnknownGuardian` if a new name would
    /// stand directly below the root.
    pub fn child(&self, name: &ActorName) -> Result<Self, ActorPathError> {
        let index = self.segments.len();
        let refused = |kind, at| Err(ActorPathError::new(kind, at).in_segment(index));
        if index == 0 && !GuardianSegments::begins_path(name.segment().raw()) {
            return refused(Kind::UnknownGuardian, 0);
        }
        let child = Self {
            parts: self.parts.clone(),
            segments: self.segments.with(name.segment().clone()),
            uid: None,
        };
        let length = displayed_len(&child);
        if index == PathSegments::MAX_DEPTH {
            return refused(Kind::TooDeep, length.saturating_sub(name.segment().raw().len()));
        }
        if Self::MAX_BYTES < length {
            return refused(Kind::PathTooLong, Self::MAX_BYTES);
        }
        Ok(child)
    }

    /// The actor above this one, of no particular incarnation, or `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let segments = self.segments.without_last()?;
        Some(Self { parts: self.parts.clone(), segments, uid: None })
    }

    /// The same actor in one of its incarnations; `UidOnRoot` or `PathTooLong` if it has none.
    pub fn with_uid(&self, uid: ActorUid) -> Result<Self, ActorPathError> {
        let path = Self { uid: Some(uid), ..self.clone() };
        if path.segments.is_empty() {
            return Err(ActorPathError::new(Kind::UidOnRoot, displayed_len(self)));
        }
        if Self::MAX_BYTES < displayed_len(&path) {
            return Err(ActorPathError::new(Kind::PathTooLong, Self::MAX_BYTES));
        }
        Ok(path)
    }

    /// The same actor, of no particular incarnation.
    #[must_use]
    pub fn without_uid(&self) -> Self {
        Self { uid: None, ..self.clone() }
    }

    /// The canonical form: what logs, events and other nodes get.
    pub fn to_canonical(&self) -> String {
        ActorPathFormatter::format(self)
    }

    /// Scheme, system and authority.
    pub const fn parts(&self) -> &ActorPathParts {
        &self.parts
    }

    /// The segments, the guardian first.
    pub const fn segments(&self) -> &PathSegments {
        &self.segments
    }

    /// The incarnation, if the path means a particular one.
    pub const fn uid(&self) -> Option<ActorUid> {
        self.uid
    }

    /// The actor's own name, or `None` for the root.
    pub fn name(&self) -> Option<&PathSegment> {
        self.segments.last()
    }

    /// The guardian above, or `None` for the root and below `/deadLetters` and `/temp`.
    pub fn guardian(&self) -> Option<GuardianSegments> {
        GuardianSegments::read(self.segments.first()?.raw())
    }
}

impl FromStr for ActorPath {
    type Err = ActorPathError;

    fn from_str(text: &str) -> Result<Self, ActorPathError> {
        ActorPathParser::parse(text)
    }
}
