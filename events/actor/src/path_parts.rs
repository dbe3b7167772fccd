use crate::{ActorPathScheme, PathAuthority, SystemName};
use core::fmt;

/// Which system a path is in: everything before the first `/`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ActorPathParts {
    scheme: ActorPathScheme,
    system: SystemName,
    authority: Option<PathAuthority>,
}

impl ActorPathParts {
    /// A system in this process.
    pub const fn local(scheme: ActorPathScheme, system: SystemName) -> Self {
        Self { scheme, system, authority: None }
    }

    /// A system that listens at `authority`.
    pub const fn remote(
        scheme: ActorPathScheme,
        system: SystemName,
        authority: PathAuthority,
    ) -> Self {
        Self { scheme, system, authority: Some(authority) }
    }

    /// How the system is reached.
    pub const fn scheme(&self) -> ActorPathScheme {
        self.scheme
    }

    /// The system's name.
    pub const fn system(&self) -> &SystemName {
        &self.system
    }

    /// Where the system listens, or `None` for one in this process.
    pub const fn authority(&self) -> Option<&PathAuthority> {
        self.authority.as_ref()
    }
}

impl fmt::Display for ActorPathParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.system)?;
        match &self.authority {
            Some(authority) => write!(f, "@{authority}"),
            None => Ok(()),
        }
    }
}
