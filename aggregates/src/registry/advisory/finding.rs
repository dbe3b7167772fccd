//! What is said of one version of a package, with the evidence.

use std::{cmp::Ordering, fmt};

use weir_events::registry::advisory::{Class, End, Severity, Window};

use super::{
    shelf::{Claim, Shelf, Spot},
    summary::Member,
    table::Rank,
};

/// What of an advisory a version falls under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hit {
    /// It is listed by name, in this or another spelling of the same version.
    Listed(String),
    /// It lies in a window of affected versions.
    Within(Window),
    /// Nobody can tell the version, so that it falls under whatever is said of the package.
    Untold,
}

impl fmt::Display for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let window = match self {
            Self::Listed(version) => return write!(f, "{version} is listed"),
            Self::Untold => return f.write_str("the version cannot be told"),
            Self::Within(window) => window,
        };
        let from = window.introduced.as_deref();
        match (from, &window.end) {
            (None, End::Open) => f.write_str("every version"),
            (Some(from), End::Open) => write!(f, "{from} and later"),
            (None, End::Fixed(end) | End::Limit(end)) => write!(f, "before {end}"),
            (Some(from), End::Fixed(end) | End::Limit(end)) => write!(f, "{from} to before {end}"),
            (None, End::LastAffected(end)) => write!(f, "up to {end}"),
            (Some(from), End::LastAffected(end)) => write!(f, "{from} to {end}"),
        }
    }
}

/// One thing that is wrong with a version, whoever says it: all records that share a name are one
/// finding, and the first of them speaks.
#[derive(Debug, Clone, Copy)]
pub struct Finding<'a> {
    shelf: &'a Shelf,
    group: &'a [Member],
    speaker: &'a Claim,
    spot: Option<Spot>,
    class: Class,
    severity: Severity,
}

impl<'a> Finding<'a> {
    /// What records of one thing say of a version, if any says something.
    pub(super) fn among(shelf: &'a Shelf, group: &'a [Member], spot: Option<Spot>) -> Option<Self> {
        let claims = group.iter().filter_map(|member| shelf.claim(*member));
        let mut hits = claims.filter(|claim| claim.affects(spot));
        let speaker = hits.next()?;
        let (mut class, mut severity) = (speaker.class, speaker.severity);
        for other in hits {
            class = class.max(other.class);
            severity = severity.max(other.severity);
        }
        Some(Self { shelf, group, speaker, spot, class, severity })
    }

    /// All records of this thing, whether or not they say something of this version.
    fn claims(&self) -> impl Iterator<Item = &'a Claim> {
        let shelf = self.shelf;
        self.group.iter().filter_map(|member| shelf.claim(*member))
    }

    /// The source whose record speaks.
    #[must_use]
    pub fn source(&self) -> &'a str {
        &self.speaker.statement.source
    }

    /// The record's id.
    #[must_use]
    pub fn id(&self) -> &'a str {
        self.speaker.statement.id()
    }

    /// Other names of the same thing, as this record has them.
    pub fn aliases(&self) -> impl Iterator<Item = &'a str> {
        self.speaker.statement.aliases()
    }

    /// All names of the thing, as any of its records has them.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.claims().flat_map(|claim| claim.statement.aliases().chain([claim.statement.id()]))
    }

    /// Other records that say the same of this version, by source and id.
    pub fn also(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let (speaker, spot) = (self.speaker, self.spot);
        let others = self.claims().filter(move |claim| !std::ptr::eq(*claim, speaker));
        let others = others.filter(move |claim| claim.affects(spot));
        others.map(|claim| (&*claim.statement.source, claim.statement.id()))
    }

    /// What it is about, in one line.
    #[must_use]
    pub fn summary(&self) -> &'a str {
        self.speaker.statement.summary()
    }

    /// The worst kind that any of the records says it is.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.class
    }

    /// The highest severity that any of the records gives it.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// The order in which findings of one version are told: malware first, then by severity, then
    /// by id.
    #[must_use]
    pub fn told_before(&self, other: &Finding<'_>) -> Ordering {
        let badness = (other.class, other.severity).cmp(&(self.class, self.severity));
        badness.then_with(|| self.id().cmp(other.id()))
    }

    /// Whether the record speaks of more versions than its source named, because those were too
    /// many to keep.
    #[must_use]
    pub const fn widened(&self) -> bool {
        self.speaker.widened
    }

    /// The record's digest: what exactly was known.
    #[must_use]
    pub fn digest(&self) -> blake3::Hash {
        self.speaker.statement.digest
    }

    /// What of the record the version falls under.
    #[must_use]
    pub fn hit(&self) -> Hit {
        let Some(spot) = self.spot else { return Hit::Untold };
        if let Some(rank) = self.speaker.lists(spot) {
            return Hit::Listed(self.shelf.table.text(rank).to_owned());
        }
        let reach = self.speaker.reach(spot);
        reach.map_or(Hit::Untold, |reach| Hit::Within(reach.window(&self.shelf.table)))
    }

    /// The lowest version above this one that is said to fix it and is not affected again, by any
    /// record of the same thing.
    #[must_use]
    pub fn fixed_by(&self) -> Option<&'a str> {
        let own = self.spot?.own;
        let fixes = self.claims().flat_map(Claim::fixes).filter(|fix| *fix > own);
        let clean = |fix: &Rank| !self.claims().any(|claim| claim.affects(Some(Spot::at(*fix))));
        fixes.filter(clean).min().map(|fix| self.shelf.table.text(fix))
    }
}
