//! All advisories of all sources, by package.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, HashMap, HashSet},
    hash::{Hash, Hasher},
    sync::Arc,
};

use weir_events::registry::{
    Ecosystem, Event,
    advisory::{Advisory, Class, Severity},
};

use super::{
    difference::Difference, finding::Finding, release, shelf::Shelf, statement::Statement,
};
use crate::registry::{name::normalise, version::Version};

/// All that is known, folded from the log.
#[derive(Debug, Default)]
pub struct AdvisorySet {
    shelves: BTreeMap<Ecosystem, HashMap<Box<str>, Arc<Shelf>>>,
    known: BTreeMap<Arc<str>, BTreeMap<Ecosystem, HashSet<ById>>>,
}

/// A statement, found by its id.
#[derive(Debug)]
struct ById(Arc<Statement>);

impl Borrow<str> for ById {
    fn borrow(&self) -> &str {
        self.0.id()
    }
}

impl Hash for ById {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id().hash(state);
    }
}

impl PartialEq for ById {
    fn eq(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}

impl Eq for ById {}

impl AdvisorySet {
    /// Folds a fact; those about other things change nothing.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::AdvisoryPublished(published) => self.upsert(&published.advisory),
            Event::AdvisoryChanged(changed) => self.upsert(&changed.advisory),
            Event::AdvisoryWithdrawn(withdrawn) => {
                self.withdraw(&withdrawn.source, withdrawn.ecosystem, &withdrawn.id);
            }
            _ => {}
        }
    }

    /// Puts an advisory in the place of what its source said before under this id.
    pub fn upsert(&mut self, advisory: &Advisory) {
        let Advisory { source, ecosystem, id, affected, .. } = advisory;
        self.withdraw(source, *ecosystem, id);
        let source = self
            .known
            .get_key_value(source.as_str())
            .map_or_else(|| Arc::from(source.as_str()), |(interned, _)| Arc::clone(interned));
        let statement = Arc::new(Statement::new(Arc::clone(&source), advisory));
        let shelves = self.shelves.entry(*ecosystem).or_default();
        for affected in affected {
            if affected.versions.is_empty() && affected.windows.is_empty() {
                continue;
            }
            // The log keeps names as they were normalised then, which may have changed since.
            let package = normalise(*ecosystem, &affected.package);
            if !shelves.contains_key(&*package) {
                shelves.insert((*package).into(), Arc::default());
            }
            if let Some(shelf) = shelves.get_mut(&*package).map(Arc::make_mut) {
                shelf.put(*ecosystem, Arc::clone(&statement), affected);
            }
        }
        let of_source = self.known.entry(source).or_default();
        of_source.entry(*ecosystem).or_default().insert(ById(statement));
    }

    /// Removes an advisory; whether there was one.
    pub fn withdraw(&mut self, source: &str, ecosystem: Ecosystem, id: &str) -> bool {
        let of_source = self.known.get_mut(source);
        let Some(known) = of_source.and_then(|known| known.get_mut(&ecosystem)) else {
            return false;
        };
        let Some(ById(statement)) = known.take(id) else { return false };
        let Some(shelves) = self.shelves.get_mut(&ecosystem) else { return true };
        for package in statement.packages() {
            let Some(shelf) = shelves.get_mut(package) else { continue };
            Arc::make_mut(shelf).take(&statement);
            if shelf.len() == 0 {
                shelves.remove(package);
            }
        }
        true
    }

    /// What is said about a package, given by its name in any spelling.
    #[must_use]
    pub fn about(&self, ecosystem: Ecosystem, name: &str) -> About<'_> {
        About(self.shelves_of(ecosystem, name).map(|shelf| shelf.map(|shelf| &**shelf)))
    }

    /// The same, to be kept: what is said later does not show in it.
    #[must_use]
    pub fn said(&self, ecosystem: Ecosystem, name: &str) -> Said {
        Said(self.shelves_of(ecosystem, name).map(Option::<&_>::cloned))
    }

    /// What is said of a package under its own name, and what is said of it as a release of Go.
    fn shelves_of(&self, ecosystem: Ecosystem, name: &str) -> [Option<&Arc<Shelf>>; 3] {
        let [one, other] = release::PARTS.map(|part| {
            let is_go = ecosystem == Ecosystem::Go && name == release::MODULE;
            if is_go { self.shelf(ecosystem, part) } else { None }
        });
        [self.shelf(ecosystem, name), one, other]
    }

    fn shelf(&self, ecosystem: Ecosystem, name: &str) -> Option<&Arc<Shelf>> {
        self.shelves.get(&ecosystem)?.get(&*normalise(ecosystem, name))
    }

    /// How many advisories there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.values().flat_map(BTreeMap::values).map(HashSet::len).sum()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many packages something is said about.
    #[must_use]
    pub fn n_packages(&self) -> usize {
        self.shelves.values().map(HashMap::len).sum()
    }

    /// What a source says, by id and digest.
    pub fn said_by(
        &self,
        source: &str,
        ecosystem: Ecosystem,
    ) -> impl Iterator<Item = (&str, blake3::Hash)> {
        let known = self.known.get(source).and_then(|known| known.get(&ecosystem));
        known.into_iter().flatten().map(|ById(statement)| (statement.id(), statement.digest))
    }

    /// Whether one of these is, by id or alias, what somebody calls malware now.
    #[must_use]
    pub fn any_is_malware(&self, ecosystem: Ecosystem, names: &[String]) -> bool {
        let of_ecosystem = self.known.values().filter_map(|known| known.get(&ecosystem));
        let mut malware = of_ecosystem.flatten().filter(|known| known.0.class == Class::Malware);
        !names.is_empty()
            && malware.any(|ById(statement)| {
                let mut called = statement.aliases().chain([statement.id()]);
                called.any(|called| names.iter().any(|name| name == called))
            })
    }

    /// All that is said, with the ecosystem it is about.
    pub(super) fn statements(&self) -> impl Iterator<Item = (Ecosystem, &Statement)> {
        let known = self.known.values().flatten();
        known.flat_map(|(ecosystem, known)| known.iter().map(|ById(it)| (*ecosystem, &**it)))
    }

    /// Starts a comparison with what a source says now.
    #[must_use]
    pub fn difference(&self, source: &str, ecosystem: Ecosystem) -> Difference {
        Difference::new(self.said_by(source, ecosystem))
    }
}

/// What was said about one package at some time. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Said([Option<Arc<Shelf>>; 3]);

impl Said {
    /// What it says.
    #[must_use]
    pub fn about(&self) -> About<'_> {
        About(self.0.each_ref().map(Option::as_deref))
    }

    /// Whether nobody says anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.about().is_empty()
    }

    /// The id of an advisory that counts and is fixed in this very version, if there is one.
    pub fn fixed_in(
        &self,
        version: &Version,
        counts: impl Fn(Class, Severity) -> bool,
    ) -> Option<String> {
        let asked = Asked::of(Some(version));
        let mut shelves = self.about().shelves(&asked);
        shelves.find_map(|(shelf, version)| shelf.fixed_in(version?, &counts).map(str::to_owned))
    }

    /// BLAKE3 of all that is said, in whatever order it came; `None` where nothing is.
    #[must_use]
    pub fn digest(&self) -> Option<blake3::Hash> {
        let mut digests = self.0.iter().flatten().map(|shelf| shelf.digest());
        let first = digests.next()?;
        let both = |a: blake3::Hash, b: blake3::Hash| {
            blake3::hash([*a.as_bytes(), *b.as_bytes()].as_flattened())
        };
        Some(digests.fold(first, both))
    }
}

/// What is said about one package: under its own name, and as a release of Go.
#[derive(Debug, Clone, Copy)]
pub struct About<'a>([Option<&'a Shelf>; 3]);

/// A version that is asked about, and the release of Go that it is.
struct Asked<'v> {
    version: Option<&'v Version>,
    release: Option<Version>,
}

impl<'v> Asked<'v> {
    fn of(version: Option<&'v Version>) -> Self {
        let go = version.filter(|version| version.ecosystem() == Ecosystem::Go);
        Self { version, release: go.and_then(release::of) }
    }
}

impl<'a> About<'a> {
    /// How many advisories there are about it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().flatten().map(|shelf| shelf.len()).sum()
    }

    /// Whether nobody says anything about it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The versions that are said to be affected one by one, as often as that is said.
    pub fn listed(self) -> impl Iterator<Item = &'a str> {
        self.0.into_iter().flatten().flat_map(Shelf::listed)
    }

    /// All that is said, each with the version that it is to be asked about. A version of which no
    /// release of Go can be told falls under all that is said of them.
    fn shelves<'v>(
        self,
        asked: &'v Asked<'v>,
    ) -> impl Iterator<Item = (&'a Shelf, Option<&'v Version>)> {
        let [own, parts @ ..] = self.0;
        let own = own.into_iter().map(|shelf| (shelf, asked.version));
        own.chain(parts.into_iter().flatten().map(|shelf| (shelf, asked.release.as_ref())))
    }

    /// Everything that is said of a version, the worst first: malware, then by severity. A
    /// version that cannot be told (`None`) falls under all that is said (fail closed).
    #[must_use]
    pub fn findings(&self, version: Option<&Version>) -> Vec<Finding<'a>> {
        let asked = Asked::of(version);
        let shelves = self.shelves(&asked);
        let mut findings: Vec<_> =
            shelves.flat_map(|(shelf, version)| shelf.findings(version)).collect();
        findings.sort_by(Finding::told_before);
        findings
    }

    /// The worst of the findings that count: what a verdict needs, without looking at the rest.
    pub fn worst(
        &self,
        version: Option<&Version>,
        counts: impl Fn(&Finding<'a>) -> bool,
    ) -> Option<Finding<'a>> {
        let asked = Asked::of(version);
        let worst = self.shelves(&asked).filter_map(|(shelf, asked)| shelf.worst(asked, &counts));
        let badness = |finding: &Finding<'_>| (finding.class(), finding.severity());
        worst.reduce(|a, b| if badness(&b) > badness(&a) { b } else { a })
    }
}

#[cfg(test)]
mod tests;
