//! What a warning or a rule of today says about versions that were let through before.

use std::{collections::BTreeMap, sync::Arc};

use weir_events::registry::Ecosystem;

use super::{
    advisory::{called::Called, set::Said},
    facts::Facts,
    rule::CompiledRule,
    verdict::{BLOCKLIST, Candidate},
    version::Version,
};

/// What it is that versions may fall under.
#[derive(Debug, Clone)]
pub enum Subject {
    /// Something that sources warn of, with all that is said of its packages.
    Advisory(Called, BTreeMap<(Ecosystem, String), Said>),
    /// A rule, of an operator or of the blocklist.
    Rule(Arc<CompiledRule>),
}

impl Facts {
    /// What goes by a name: the id or an alias of an advisory, or the id of a rule.
    #[must_use]
    pub fn subject(&self, name: &str) -> Option<Subject> {
        let rule = self.rules().rule(name).map(CompiledRule::new);
        let listed = || self.blocklist().rules().find(|rule| rule.id == name);
        if let Some(rule) = rule.or_else(|| Some(CompiledRule::of(BLOCKLIST, listed()?))) {
            return Some(Subject::Rule(Arc::new(rule)));
        }
        let called = self.advisories().called(name)?;
        let mut said = BTreeMap::new();
        for (ecosystem, packages) in &called.packages {
            for package in packages {
                let about = self.advisories().said(*ecosystem, package);
                said.insert((*ecosystem, package.clone()), about);
            }
        }
        Some(Subject::Advisory(called, said))
    }
}

impl Subject {
    /// What of it a version falls under, whether it is waived, or not bad enough to be refused, or
    /// not. A version that cannot be told falls under whatever is said of its package.
    #[must_use]
    pub fn hit(
        &self,
        ecosystem: Ecosystem,
        package: &str,
        version: Option<&Version>,
    ) -> Option<String> {
        match self {
            Self::Rule(rule) => {
                let candidate = Candidate::of(version);
                let about = rule.rule.ecosystem == ecosystem && rule.pattern().matches(package);
                let hit = || format!("{} {}", rule.rule.package, rule.rule.versions);
                (about && rule.forbids(&candidate)).then(hit)
            }
            Self::Advisory(called, said) => {
                let said = said.get(&(ecosystem, package.to_owned()))?;
                let findings = said.about().findings(version);
                findings.iter().find(|it| called.is(it)).map(|it| it.hit().to_string())
            }
        }
    }
}
