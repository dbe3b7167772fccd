//! Everything that goes by one name: an advisory has several records, each with names of its own.

use std::collections::{BTreeMap, BTreeSet};

use weir_events::registry::Ecosystem;

use super::{finding::Finding, release, set::AdvisorySet};

/// How often names of names are followed. Records of one thing name each other, so that two steps
/// find all of them; what takes more is a chain of mistakes.
const MAX_STEPS: usize = 4;

/// The most names one thing goes by before no more are followed.
const MAX_NAMES: usize = 1_000;

/// What a source says about the thing, under an id of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// The source.
    pub source: String,
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The record's id.
    pub id: String,
    /// What it is about, in one line.
    pub summary: String,
}

/// A thing that sources warn of, by all of its names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Called {
    /// The ids of its records, and their aliases.
    pub names: BTreeSet<String>,
    /// What sources say about it.
    pub records: Vec<Record>,
    /// The packages it is about, by their normalised names.
    pub packages: BTreeMap<Ecosystem, BTreeSet<String>>,
}

impl AdvisorySet {
    /// What goes by a name, an id or an alias, in whichever ecosystem; `None` where nobody says
    /// anything under it (any more). Looks at all that is known.
    #[must_use]
    pub fn called(&self, name: &str) -> Option<Called> {
        let mut names = BTreeSet::from([name.to_owned()]);
        let mut n_records = 0;
        for _ in 0..MAX_STEPS {
            let (before, mut new) = (n_records, Vec::new());
            n_records = 0;
            for (_, statement) in self.statements() {
                let mut own = statement.aliases().chain([statement.id()]);
                if own.any(|own| names.contains(own)) {
                    n_records += 1;
                    new.extend(statement.aliases().chain([statement.id()]).map(str::to_owned));
                }
            }
            names.extend(new);
            if n_records == before || names.len() > MAX_NAMES {
                break;
            }
        }
        let mut called = Called { names, ..Called::default() };
        for (ecosystem, statement) in self.statements() {
            if !statement.aliases().chain([statement.id()]).any(|own| called.names.contains(own)) {
                continue;
            }
            let packages = statement.packages().filter(|package| !package.is_empty());
            let known = called.packages.entry(ecosystem).or_default();
            known.extend(packages.map(str::to_owned));
            called.records.push(Record {
                source: statement.source.to_string(),
                ecosystem,
                id: statement.id().to_owned(),
                summary: statement.summary().to_owned(),
            });
        }
        if let Some(go) = called.packages.get_mut(&Ecosystem::Go)
            && release::PARTS.iter().any(|part| go.contains(*part))
        {
            go.insert(release::MODULE.to_owned());
        }
        called.records.sort();
        (!called.records.is_empty()).then_some(called)
    }
}

impl Called {
    /// Whether a finding is of this thing.
    #[must_use]
    pub fn is(&self, finding: &Finding<'_>) -> bool {
        finding.names().any(|name| self.names.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use weir_events::registry::advisory::{Advisory, Affected, Class, Severity, Window};

    use super::*;
    use crate::registry::version::Version;

    fn advisory(ecosystem: Ecosystem, id: &str, aliases: &[&str], package: &str) -> Advisory {
        Advisory {
            source: "osv".to_owned(),
            ecosystem,
            id: id.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            class: Class::Vulnerability,
            summary: "reads what nobody wrote".to_owned(),
            modified: None,
            affected: vec![Affected {
                package: package.to_owned(),
                severity: Severity::High,
                versions: vec!["1.0.0".to_owned()],
                windows: Vec::<Window>::new(),
                widened: false,
            }],
            digest: id.to_owned(),
        }
    }

    #[test]
    fn a_thing_is_found_by_any_of_its_names_in_every_ecosystem() {
        let mut set = AdvisorySet::default();
        for advisory in [
            advisory(Ecosystem::Npm, "GHSA-1", &["CVE-1"], "a"),
            advisory(Ecosystem::Pypi, "PYSEC-1", &["CVE-1", "GHSA-1"], "B_c"),
            advisory(Ecosystem::Npm, "GHSA-2", &["CVE-2"], "a"),
            advisory(Ecosystem::Cargo, "RUSTSEC-1", &["PYSEC-1"], "d"),
        ] {
            set.upsert(&advisory);
        }
        let by_cve = set.called("CVE-1").unwrap();
        for name in ["GHSA-1", "PYSEC-1", "RUSTSEC-1"] {
            assert_eq!(set.called(name).as_ref(), Some(&by_cve), "{name}");
        }
        let ids: Vec<_> = by_cve.records.iter().map(|it| (it.ecosystem, &*it.id)).collect();
        let wanted = [
            (Ecosystem::Pypi, "PYSEC-1"),
            (Ecosystem::Npm, "GHSA-1"),
            (Ecosystem::Cargo, "RUSTSEC-1"),
        ];
        assert_eq!(ids, wanted);
        let packages = &by_cve.packages[&Ecosystem::Pypi];
        assert_eq!(packages, &BTreeSet::from(["b-c".to_owned()]));
        assert_eq!(set.called("CVE-9"), None);
        assert_eq!(set.called(""), None);

        let version = Version::parse(Ecosystem::Npm, "1.0.0");
        let said = set.said(Ecosystem::Npm, "a");
        let findings = said.about().findings(Some(&version));
        let of: Vec<_> = findings.iter().filter(|it| by_cve.is(it)).map(Finding::id).collect();
        assert_eq!((findings.len(), of), (2, vec!["GHSA-1"]));
        set.withdraw("osv", Ecosystem::Npm, "GHSA-2");
        assert_eq!(set.called("CVE-2"), None);
    }
}
