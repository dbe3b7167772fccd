//! Rules made ready for judging: names normalised, constraints read, the strictest first.

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use weir_events::registry::{Ecosystem, Rule};

use super::{
    constraint::Constraint,
    name::pattern::Pattern,
    verdict::{Objection, RULES, strictness},
};

/// A rule that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledRule {
    /// The rule as it stands in the log.
    pub rule: Rule,
    pattern: Pattern,
    constraint: Constraint,
    objection: Arc<Objection>,
}

impl CompiledRule {
    /// Makes a rule ready. A constraint that this build cannot read forbids every version of the
    /// package: a rule from a newer Weir must not go silent on an older one (fail closed).
    #[must_use]
    pub fn new(rule: &Rule) -> Self {
        Self::of(RULES, rule)
    }

    /// The same, of a source.
    #[must_use]
    pub fn of(source: &str, rule: &Rule) -> Self {
        let constraint =
            Constraint::parse(rule.ecosystem, &rule.versions).unwrap_or_else(|_| Constraint::any());
        let pattern = Pattern::new(rule.ecosystem, &rule.package);
        let objection = Arc::new(Objection::of_rule(source, rule));
        Self { rule: rule.clone(), pattern, constraint, objection }
    }

    /// What it says against a version that it forbids.
    #[must_use]
    pub const fn objection(&self) -> &Arc<Objection> {
        &self.objection
    }

    /// Which packages it is about.
    #[must_use]
    pub const fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Which versions it forbids.
    #[must_use]
    pub const fn constraint(&self) -> &Constraint {
        &self.constraint
    }

    /// Strictest mask first, then the oldest rule: ids are UUIDs of version 7, which sort by age.
    pub(super) fn rank(&self) -> (Reverse<u8>, &str) {
        (Reverse(strictness(self.rule.mask)), &self.rule.id)
    }
}

/// All rules as of one revision of the policy.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    /// The position of the last rule event; 0 when there never was one.
    pub revision: i64,
    n_rules: usize,
    exact: HashMap<(Ecosystem, Box<str>), Vec<Arc<CompiledRule>>>,
    patterns: Vec<Arc<CompiledRule>>,
}

impl RuleSet {
    /// Makes rules ready.
    #[must_use]
    pub fn compile<'a>(revision: i64, rules: impl IntoIterator<Item = &'a Rule>) -> Self {
        Self::compile_of(RULES, revision, rules)
    }

    /// The same, of a source.
    #[must_use]
    pub fn compile_of<'a>(
        source: &str,
        revision: i64,
        rules: impl IntoIterator<Item = &'a Rule>,
    ) -> Self {
        let mut set = Self { revision, ..Self::default() };
        for rule in rules {
            let compiled = Arc::new(CompiledRule::of(source, rule));
            set.n_rules += 1;
            match compiled.pattern.exact() {
                Some(name) => {
                    let key = (rule.ecosystem, name.into());
                    set.exact.entry(key).or_default().push(compiled);
                }
                None => set.patterns.push(compiled),
            }
        }
        set
    }

    /// How many rules there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.n_rules
    }

    /// Whether there is no rule.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.n_rules == 0
    }

    /// The rules about a package, given by its normalised name; the one that would speak first
    /// comes first.
    #[must_use]
    pub fn about(&self, ecosystem: Ecosystem, package: &str) -> Vec<Arc<CompiledRule>> {
        let exact = self.exact.get(&(ecosystem, package.into())).into_iter().flatten();
        let patterns = self
            .patterns
            .iter()
            .filter(|rule| rule.rule.ecosystem == ecosystem && rule.pattern.matches(package));
        let mut rules: Vec<_> = exact.chain(patterns).cloned().collect();
        rules.sort_by(|a, b| a.rank().cmp(&b.rank()));
        rules
    }
}

#[cfg(test)]
mod tests {
    use weir_events::registry::Mask;

    use super::*;
    use crate::registry::testing::{rule, rule_of};

    fn ids(set: &RuleSet, package: &str) -> Vec<String> {
        set.about(Ecosystem::Pypi, package).iter().map(|r| r.rule.id.clone()).collect()
    }

    #[test]
    fn the_rules_about_a_package_are_found_by_name_and_by_pattern() {
        let mut other = rule(4, "six", "*", Mask::Mark);
        other.ecosystem = Ecosystem::Npm;
        let rules = [
            rule(1, "Six", ">=1.17", Mask::Mark),
            rule(2, "si*", "*", Mask::Mark),
            rule(3, "seven", "*", Mask::Mark),
            other,
        ];
        let set = RuleSet::compile(9, &rules);
        assert_eq!(ids(&set, "six"), [rules[0].id.clone(), rules[1].id.clone()]);
        assert_eq!(ids(&set, "eight"), Vec::<String>::new());
        assert_eq!((set.len(), set.is_empty(), set.revision), (4, false, 9));
        assert!(RuleSet::default().is_empty());
    }

    #[test]
    fn the_strictest_rule_speaks_first_and_among_equals_the_oldest() {
        let rules = [
            rule(1, "six", "*", Mask::DenyOnly),
            rule(3, "six", "*", Mask::Mark),
            rule(4, "six", "*", Mask::Hide),
            rule(2, "*", "*", Mask::Mark),
        ];
        let set = RuleSet::compile(1, &rules);
        let wanted = [2, 3, 1, 0].map(|i: usize| rules[i].id.clone());
        assert_eq!(ids(&set, "six"), wanted);
    }

    #[test]
    fn a_constraint_this_build_cannot_read_forbids_every_version() {
        for ecosystem in Ecosystem::ALL {
            let newer = rule_of(ecosystem, 1, "six", "?1.17", Mask::Mark);
            assert!(CompiledRule::new(&newer).constraint().everything(), "{ecosystem}");
        }
        let npm = rule_of(Ecosystem::Npm, 1, "six", "^1.17", Mask::Mark);
        assert!(!CompiledRule::new(&npm).constraint().everything());
    }
}
