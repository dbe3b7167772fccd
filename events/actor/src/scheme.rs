use core::fmt;

/// The scheme of a path: how its system is reached. Always lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActorPathScheme {
    /// `pekko`, the usual one.
    Pekko,
    /// `pekko.tcp`, over a TCP association.
    PekkoTcp,
}

impl ActorPathScheme {
    /// The scheme as it is written, without `://`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pekko => "pekko",
            Self::PekkoTcp => "pekko.tcp",
        }
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        [Self::Pekko, Self::PekkoTcp].into_iter().find(|scheme| scheme.as_str() == text)
    }
}

impl fmt::Display for ActorPathScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
