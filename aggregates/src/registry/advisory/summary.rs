//! What several claims about one package add up to.

use std::{cmp::Reverse, collections::HashMap};

use weir_events::registry::advisory::{Class, Severity};

use super::{shelf::Claim, table::Table};

/// How bad a claim is, or several are: the class above all, then the severity.
pub(super) type Badness = (Class, Severity);

/// A claim, and the group of claims about the same thing that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) group: u32,
    pub(super) claim: u32,
}

/// What the claims add up to.
#[derive(Debug, Clone)]
pub(super) struct Summary {
    /// All claims: group by group, and in a group the one first that speaks for the others. The
    /// group that may be worst comes first, so that it is found first.
    pub(super) members: Box<[Member]>,
    /// The worst that any claim says of each place. Most versions that anybody asks for are clean,
    /// and this alone tells.
    pub(super) worst: Box<[Option<Badness>]>,
}

impl Summary {
    pub(super) fn of(claims: &[Claim], table: &Table) -> Self {
        Self { members: members(claims), worst: worst(claims, table) }
    }
}

fn worst(claims: &[Claim], table: &Table) -> Box<[Option<Badness>]> {
    let mut worst = vec![None; table.n_places()];
    for claim in claims {
        let badness = Some((claim.class, claim.severity));
        let windows = claim.reaches.iter().map(|reach| reach.from.place()..reach.beyond(table));
        let listed = claim.listed.iter().map(|rank| rank.place()..rank.place() + 1);
        for places in windows.chain(listed) {
            for worst in worst.get_mut(places).unwrap_or_default() {
                *worst = badness.max(*worst);
            }
        }
    }
    worst.into()
}

/// Brings claims together that share a name.
fn members(claims: &[Claim]) -> Box<[Member]> {
    let mut parents: Vec<usize> = (0..claims.len()).collect();
    let mut named: HashMap<&str, usize> = HashMap::new();
    for (index, claim) in claims.iter().enumerate() {
        for name in claim.statement.aliases().chain([claim.statement.id()]) {
            let other = *named.entry(name).or_insert(index);
            let (a, b) = (root(&parents, index), root(&parents, other));
            if let Some(parent) = parents.get_mut(a.max(b)) {
                *parent = a.min(b);
            }
        }
    }
    let mut order: Vec<_> = claims
        .iter()
        .enumerate()
        .map(|(index, claim)| (root(&parents, index), claim.statement.precedence(), claim, index))
        .collect();
    order.sort_by(|(a_group, a_rank, a, _), (b_group, b_rank, b, _)| {
        (a_group, a_rank, a.names()).cmp(&(b_group, b_rank, b.names()))
    });
    let mut groups: Vec<_> = order.chunk_by(|a, b| a.0 == b.0).collect();
    groups.sort_by_cached_key(|group| {
        let class = group.iter().map(|(_, _, claim, _)| claim.class).max();
        let severity = group.iter().map(|(_, _, claim, _)| claim.severity).max();
        (Reverse((class, severity)), group.first().map(|(_, _, claim, _)| claim.names()))
    });
    let member = |group: u32, claim: usize| Member {
        group,
        claim: u32::try_from(claim).unwrap_or(u32::MAX),
    };
    let groups = (0..).zip(groups);
    groups
        .flat_map(|(group, all)| all.iter().map(move |(.., index)| member(group, *index)))
        .collect()
}

fn root(parents: &[usize], mut index: usize) -> usize {
    while let Some(parent) = parents.get(index).filter(|parent| **parent != index) {
        index = *parent;
    }
    index
}
