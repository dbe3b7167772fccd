use crate::{ActorPath, PathSegment};
use alloc::format;
use core::{
    cmp::Ordering,
    hash::{Hash, Hasher},
};

/// Compares actors whatever their incarnation: scheme, system, authority and segments count, the
/// uid does not. (`==` on [`ActorPath`] compares the uid too.)
#[derive(Clone, Copy, Debug)]
pub struct ActorPathComparator;

impl ActorPathComparator {
    /// Whether both paths mean the same actor.
    pub fn eq(left: &ActorPath, right: &ActorPath) -> bool {
        left.parts() == right.parts() && left.segments() == right.segments()
    }

    /// Feeds what `eq` compares to a hasher: every segment, not only the last.
    pub fn hash<H: Hasher>(path: &ActorPath, state: &mut H) {
        path.parts().hash(state);
        path.segments().hash(state);
    }

    /// Orders paths as Pekko does: from the last segment to the first, bytewise; of two paths one
    /// of which ends the other, the shorter is the greater; last by the roots as they are written.
    /// Equal exactly if `eq`.
    pub fn cmp(left: &ActorPath, right: &ActorPath) -> Ordering {
        let mut lefts = left.segments().iter().rev().map(PathSegment::raw);
        let mut rights = right.segments().iter().rev().map(PathSegment::raw);
        loop {
            match (lefts.next(), rights.next()) {
                (Some(a), Some(b)) if a == b => {}
                (Some(a), Some(b)) => return a.cmp(b),
                (Some(_), None) => return Ordering::Less,
                (None, Some(_)) => return Ordering::Greater,
                (None, None) => break,
            }
        }
        if left.parts() == right.parts() {
            return Ordering::Equal;
        }
        // The slash counts: `-` sorts before it, so `a-b` comes before `a`, as in Pekko.
        format!("{}/", left.parts()).cmp(&format!("{}/", right.parts()))
    }
}
