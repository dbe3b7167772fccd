//! All that is said about one package.

use std::{
    mem,
    sync::{Arc, OnceLock},
};

use blake3::Hash;
use weir_events::registry::{
    Ecosystem,
    advisory::{Affected, Class, End, Severity, Window},
};

use super::{
    finding::Finding,
    statement::Statement,
    summary::{Member, Summary},
    table::{Rank, Table},
};
use crate::registry::version::Version;

/// A window, by places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    pub(super) from: Rank,
    until: Rank,
    end: Edge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Open,
    Fixed,
    LastAffected,
    Limit,
}

/// Where a version lies, and where the public version of a local one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) own: Rank,
    public: Option<Rank>,
}

impl Spot {
    /// A place that is asked about by itself.
    pub(super) const fn at(own: Rank) -> Self {
        Self { own, public: None }
    }

    fn both(self) -> impl Iterator<Item = Rank> {
        [self.own].into_iter().chain(self.public)
    }
}

impl Reach {
    /// The first place behind it.
    pub(super) fn beyond(self, table: &Table) -> usize {
        match self.end {
            Edge::Open => table.n_places(),
            Edge::Fixed | Edge::Limit => self.until.place(),
            Edge::LastAffected => self.until.place() + 1,
        }
    }

    fn holds(self, rank: Rank) -> bool {
        self.from <= rank
            && match self.end {
                Edge::Open => true,
                Edge::Fixed | Edge::Limit => rank < self.until,
                Edge::LastAffected => rank <= self.until,
            }
    }

    /// Whether a version is in it. What is said of a version up to which all are affected is meant of its
    /// local versions too (`2.1.0+cpu`); where a window ends before one, its source speaks of them.
    fn holds_at(self, spot: Spot) -> bool {
        let meant = |public: Rank| self.end == Edge::LastAffected && self.holds(public);
        self.holds(spot.own) || spot.public.is_some_and(meant)
    }

    /// The window as its source says it.
    pub(super) fn window(self, table: &Table) -> Window {
        let until = || table.text(self.until).to_owned();
        Window {
            introduced: self.from.index().map(|_| table.text(self.from).to_owned()),
            end: match self.end {
                Edge::Open => End::Open,
                Edge::Fixed => End::Fixed(until()),
                Edge::LastAffected => End::LastAffected(until()),
                Edge::Limit => End::Limit(until()),
            },
        }
    }
}

/// What one source says about this package.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) statement: Arc<Statement>,
    pub(super) listed: Box<[Rank]>,
    pub(super) reaches: Box<[Reach]>,
    pub(super) class: Class,
    pub(super) severity: Severity,
    pub(super) widened: bool,
}

impl Claim {
    pub(super) fn names(&self) -> (&str, &str) {
        (self.statement.id(), &self.statement.source)
    }

    fn places(&self) -> impl Iterator<Item = Rank> {
        let edges = self.reaches.iter().flat_map(|reach| [reach.from, reach.until]);
        self.listed.iter().copied().chain(edges)
    }

    fn move_to(&mut self, moved: &[usize]) {
        for rank in &mut self.listed {
            *rank = rank.moved(moved);
        }
        for reach in &mut self.reaches {
            reach.from = reach.from.moved(moved);
            reach.until = reach.until.moved(moved);
        }
    }

    /// Whether a version is affected; one that cannot be told is affected by whatever is said.
    pub(super) fn affects(&self, spot: Option<Spot>) -> bool {
        spot.is_none_or(|spot| self.lists(spot).is_some() || self.reach(spot).is_some())
    }

    /// Which of its listed versions it is.
    pub(super) fn lists(&self, spot: Spot) -> Option<Rank> {
        spot.both().find(|rank| self.listed.binary_search(rank).is_ok())
    }

    pub(super) fn reach(&self, spot: Spot) -> Option<Reach> {
        self.reaches.iter().copied().find(|reach| reach.holds_at(spot))
    }

    /// Versions that end a window because they fixed it.
    pub(super) fn fixes(&self) -> impl Iterator<Item = Rank> {
        self.reaches.iter().filter(|reach| reach.end == Edge::Fixed).map(|reach| reach.until)
    }
}

/// All that is said about one package.
#[derive(Debug, Clone, Default)]
pub(super) struct Shelf {
    pub(super) table: Table,
    claims: Box<[Claim]>,
    summary: OnceLock<Box<Summary>>,
    digest: OnceLock<Box<Hash>>,
}

impl Shelf {
    pub(super) const fn len(&self) -> usize {
        self.claims.len()
    }

    pub(super) fn claim(&self, member: Member) -> Option<&Claim> {
        self.claims.get(member.claim as usize)
    }

    /// Summed up when first asked for, so that loading a thousand claims sums up once. Few
    /// packages have more than one claim, and one needs no summary.
    fn summary(&self) -> Option<&Summary> {
        let sum_up = || Box::new(Summary::of(&self.claims, &self.table));
        (self.claims.len() > 1).then(|| &**self.summary.get_or_init(sum_up))
    }

    /// Adds what a source says.
    pub(super) fn put(
        &mut self,
        ecosystem: Ecosystem,
        statement: Arc<Statement>,
        affected: &Affected,
    ) {
        let edges = affected.windows.iter().flat_map(|window| {
            let end = match &window.end {
                End::Open => None,
                End::Fixed(end) | End::LastAffected(end) | End::Limit(end) => Some(end),
            };
            window.introduced.iter().chain(end)
        });
        let mentioned = affected.versions.iter().chain(edges);
        let mentioned: Vec<Version> =
            mentioned.map(|text| Version::said(ecosystem, text)).collect();
        let (table, moved, ranks) = self.table.with(&mentioned);
        let grown = table.len() > self.table.len();
        self.table = table;
        // In the order in which they were mentioned; what has no place among versions is none.
        let mut places =
            ranks.into_iter().zip(&mentioned).map(|(rank, version)| (rank, version.readable()));
        let mut listed: Vec<Rank> =
            places.by_ref().take(affected.versions.len()).map(|(rank, _)| rank).collect();
        listed.sort_unstable();
        listed.dedup();
        let mut widened = affected.widened;
        let mut next = || {
            let (rank, placed) = places.next()?;
            widened |= !placed;
            placed.then_some(rank)
        };
        let reach = |window: &Window| {
            let from = window.introduced.as_ref().and_then(|_| next()).unwrap_or(Rank::START);
            let end = match &window.end {
                End::Open => Edge::Open,
                End::Fixed(_) => Edge::Fixed,
                End::LastAffected(_) => Edge::LastAffected,
                End::Limit(_) => Edge::Limit,
            };
            let until = if end == Edge::Open { None } else { next() };
            let end = until.map_or(Edge::Open, |_| end);
            Reach { from, end, until: until.unwrap_or(Rank::START) }
        };
        let reaches = affected.windows.iter().map(reach).collect();
        let claim = Claim {
            class: statement.class,
            statement,
            listed: listed.into(),
            reaches,
            severity: affected.severity,
            widened,
        };
        let mut claims = mem::take(&mut self.claims).into_vec();
        if grown {
            for claim in &mut claims {
                claim.move_to(&moved);
            }
        }
        claims.reserve_exact(1);
        claims.push(claim);
        *self =
            Self { table: mem::take(&mut self.table), claims: claims.into(), ..Self::default() };
    }

    /// Removes what was said in a statement, and the versions that nobody mentions any more.
    pub(super) fn take(&mut self, statement: &Arc<Statement>) {
        let mut claims = mem::take(&mut self.claims).into_vec();
        claims.retain(|claim| !Arc::ptr_eq(&claim.statement, statement));
        let (table, moved) = self.table.only(claims.iter().flat_map(Claim::places));
        self.table = table;
        for claim in &mut claims {
            claim.move_to(&moved);
        }
        *self =
            Self { table: mem::take(&mut self.table), claims: claims.into(), ..Self::default() };
    }

    /// The versions that are said to be affected one by one, as often as that is said.
    pub(super) fn listed(&self) -> impl Iterator<Item = &str> {
        let ranks = self.claims.iter().flat_map(|claim| claim.listed.iter());
        ranks.map(|rank| self.table.text(*rank))
    }

    /// BLAKE3 of all statements about the package, in whatever order they came.
    pub(super) fn digest(&self) -> Hash {
        let digest = || {
            let mut all: Vec<_> =
                self.claims.iter().map(|claim| *claim.statement.digest.as_bytes()).collect();
            all.sort_unstable();
            Box::new(blake3::hash(all.as_flattened()))
        };
        **self.digest.get_or_init(digest)
    }

    /// The first claim that counts and says that it is fixed in this very version.
    pub(super) fn fixed_in(
        &self,
        version: &Version,
        counts: impl Fn(Class, Severity) -> bool,
    ) -> Option<&str> {
        let rank = self.table.rank(version);
        let fixes = |claim: &&Claim| {
            counts(claim.class, claim.severity) && claim.fixes().any(|fix| fix == rank)
        };
        self.claims.iter().find(fixes).map(|claim| claim.statement.id())
    }

    fn spot(&self, version: &Version) -> Spot {
        let public = version.public().map(|public| self.table.rank(&public));
        Spot { own: self.table.rank(version), public }
    }

    /// What is said of a version: one finding for all records of the same thing.
    pub(super) fn findings(&self, version: Option<&Version>) -> impl Iterator<Item = Finding<'_>> {
        self.findings_at(version.map(|version| self.spot(version)))
    }

    fn findings_at(&self, spot: Option<Spot>) -> impl Iterator<Item = Finding<'_>> {
        let alone = &[Member { group: 0, claim: 0 }][..];
        let members = self.summary().map_or(alone, |summary| &summary.members);
        let groups = members.chunk_by(|a, b| a.group == b.group);
        groups.filter_map(move |group| Finding::among(self, group, spot))
    }

    /// The worst of the findings that count; of equally bad ones the first.
    pub(super) fn worst<'a>(
        &'a self,
        version: Option<&Version>,
        counts: impl Fn(&Finding<'a>) -> bool,
    ) -> Option<Finding<'a>> {
        let spot = version.map(|version| self.spot(version));
        let at_worst = match (spot, self.summary()) {
            (Some(spot), Some(summary)) => {
                let worst = |rank: Rank| summary.worst.get(rank.place()).copied().flatten();
                spot.both().filter_map(worst).max()?
            }
            _ => (Class::Malware, Severity::Critical),
        };
        let mut worst: Option<Finding<'a>> = None;
        for finding in self.findings_at(spot).filter(counts) {
            let badness = (finding.class(), finding.severity());
            if worst.is_none_or(|worst| badness > (worst.class(), worst.severity())) {
                worst = Some(finding);
            }
            // What several records say together may be worse than what any of them says.
            if badness >= at_worst {
                break;
            }
        }
        worst
    }
}
