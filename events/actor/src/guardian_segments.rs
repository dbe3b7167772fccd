/// The two guardians below which all of Weir's paths live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuardianSegments {
    /// `/system`: peers, projections, processors.
    System,
    /// `/user`: runs, agents, topics, requests, packages.
    User,
}

impl GuardianSegments {
    /// The guardian's segment.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
        }
    }

    pub(crate) fn read(segment: &str) -> Option<Self> {
        [Self::System, Self::User].into_iter().find(|guardian| guardian.as_str() == segment)
    }

    /// Whether a path may begin with `segment`: a guardian, or one of Pekko's two other roots,
    /// which are kept as they are and never re-rooted.
    pub(crate) fn begins_path(segment: &str) -> bool {
        Self::read(segment).is_some() || matches!(segment, "deadLetters" | "temp")
    }
}
