use crate::PathSegment;
use core::slice;
use smallvec::SmallVec;

/// The segments of a path, the guardian first; none for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PathSegments(SmallVec<[PathSegment; 8]>);

impl PathSegments {
    /// The most segments a path has.
    pub const MAX_DEPTH: usize = 16;

    /// The number of segments.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether this is the root.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The guardian, or `None` for the root.
    pub fn first(&self) -> Option<&PathSegment> {
        self.0.first()
    }

    /// The actor's own name, or `None` for the root.
    pub fn last(&self) -> Option<&PathSegment> {
        self.0.last()
    }

    /// All segments, the guardian first.
    pub fn iter(&self) -> slice::Iter<'_, PathSegment> {
        self.0.iter()
    }

    pub(crate) fn with(&self, segment: PathSegment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }

    pub(crate) fn without_last(&self) -> Option<Self> {
        let (_, parent) = self.0.split_last()?;
        Some(parent.iter().cloned().collect())
    }
}

impl FromIterator<PathSegment> for PathSegments {
    fn from_iter<I: IntoIterator<Item = PathSegment>>(segments: I) -> Self {
        Self(segments.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a PathSegments {
    type Item = &'a PathSegment;
    type IntoIter = slice::Iter<'a, PathSegment>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
