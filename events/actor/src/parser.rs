use crate::{
    ActorPath, ActorPathError, ActorPathParts, PathAuthority, PathSegment, SystemName, scan::Scan,
};

/// Makes paths of text, in one pass.
#[derive(Clone, Copy, Debug)]
pub struct ActorPathParser;

impl ActorPathParser {
    /// Reads an absolute path.
    ///
    /// An error says what is wrong first from the left, at which byte and in which segment; of a
    /// text beyond [`ActorPath::MAX_BYTES`] nothing but its length is looked at.
    pub fn parse(text: &str) -> Result<ActorPath, ActorPathError> {
        let scan = Scan::new(text)?;
        let system = SystemName::from_checked(scan.system);
        let parts = match scan.authority {
            Some((host, port)) => {
                ActorPathParts::remote(scan.scheme, system, PathAuthority::from_checked(host, port))
            }
            None => ActorPathParts::local(scan.scheme, system),
        };
        let segments = scan.segments().map(PathSegment::from_checked).collect();
        Ok(ActorPath::from_checked(parts, segments, scan.uid))
    }
}
