use crate::{
    ActorPath, ActorPathError, ActorPathErrorKind as Kind, ActorPathScheme, ActorUid,
    GuardianSegments, PathAuthority, PathSegment, PathSegments, SystemName,
};

/// A checked path, still borrowed from its text. Made from left to right, allocates nothing.
pub(crate) struct Scan<'a> {
    pub(crate) scheme: ActorPathScheme,
    pub(crate) system: &'a str,
    pub(crate) authority: Option<(&'a str, u16)>,
    /// Between the first slash and a trailing one; empty for the root.
    segments: &'a str,
    pub(crate) uid: Option<ActorUid>,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self, ActorPathError> {
        if ActorPath::MAX_BYTES < text.len() {
            return Err(ActorPathError::new(Kind::PathTooLong, ActorPath::MAX_BYTES));
        }
        let at = |rest: &str| text.len().saturating_sub(rest.len());

        let (scheme, rest) = scan_scheme(text)?;
        let (address, rest) = split_before(rest, &['/', '#', '?']);
        let (system, authority) = scan_address(address).map_err(|e| {
            let behind = at(rest);
            e.shifted(behind.saturating_sub(address.len()))
        })?;

        let path_start = at(rest);
        let (path, rest) = split_before(rest, &['#']);
        let segments = scan_segments(path, rest.is_empty()).map_err(|e| e.shifted(path_start))?;

        let uid_start = at(rest).saturating_add(1);
        let uid = match rest.strip_prefix('#') {
            Some(_) if segments.is_empty() => {
                return Err(ActorPathError::new(Kind::UidOnRoot, at(rest)));
            }
            Some(uid) => Some(uid.parse::<ActorUid>().map_err(|e| e.shifted(uid_start))?),
            None => None,
        };
        Ok(Self { scheme, system, authority, segments, uid })
    }

    /// The checked segments, none for the root.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.segments.split('/').filter(|segment| !segment.is_empty())
    }
}

/// Reads the scheme and the `://` behind it.
fn scan_scheme(text: &str) -> Result<(ActorPathScheme, &str), ActorPathError> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let length = text.find(|c| !is_scheme(c)).unwrap_or(text.len());
    let (scheme, rest) = text.split_at_checked(length).unwrap_or((text, ""));
    let no_uri = |at| ActorPathError::new(Kind::InvalidUri, at);
    let rest =
        rest.strip_prefix(':').filter(|_| !scheme.is_empty()).ok_or_else(|| no_uri(length))?;
    let scheme =
        ActorPathScheme::read(scheme).ok_or(ActorPathError::new(Kind::InvalidScheme, 0))?;
    let rest = rest.strip_prefix("//").ok_or_else(|| no_uri(length.saturating_add(1)))?;
    Ok((scheme, rest))
}

type Address<'a> = (&'a str, Option<(&'a str, u16)>);

fn scan_address(address: &str) -> Result<Address<'_>, ActorPathError> {
    let (system, authority) = match address.split_once('@') {
        Some((system, authority)) => (system, Some(authority)),
        None => (address, None),
    };
    SystemName::check(system)?;
    let authority_start = system.len().saturating_add(1);
    let authority =
        authority.map(PathAuthority::check).transpose().map_err(|e| e.shifted(authority_start))?;
    Ok((system, authority))
}

/// Checks the path between address and uid; a slash may end it if no uid follows.
fn scan_segments(path: &str, last: bool) -> Result<&str, ActorPathError> {
    if path.is_empty() {
        return Ok(path);
    }
    let segments = path.strip_prefix('/').ok_or(ActorPathError::new(Kind::InvalidUri, 0))?;
    if segments.is_empty() {
        return Ok(segments);
    }
    let segments = segments.strip_suffix('/').filter(|_| last).unwrap_or(segments);
    let mut start = 1_usize;
    for (index, segment) in segments.split('/').enumerate() {
        if index == PathSegments::MAX_DEPTH {
            return Err(ActorPathError::new(Kind::TooDeep, start).in_segment(index));
        }
        PathSegment::check(segment).map_err(|e| e.shifted(start).in_segment(index))?;
        if index == 0 && !GuardianSegments::begins_path(segment) {
            return Err(ActorPathError::new(Kind::UnknownGuardian, start).in_segment(index));
        }
        start = start.saturating_add(segment.len()).saturating_add(1);
    }
    Ok(segments)
}

fn split_before<'a>(text: &'a str, stops: &[char]) -> (&'a str, &'a str) {
    text.find(stops).and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""))
}
