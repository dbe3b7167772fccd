//! The judgement on one version of one package: a pure function of the rules.

use std::sync::Arc;

use weir_events::registry::Ecosystem;

use super::{
    name::normalise,
    rule::{CompiledRule, RuleSet},
    version::Version,
};

/// What the rules say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Nothing forbids it.
    Allow,
    /// A rule forbids it; of several, the strictest, and of equally strict ones the oldest.
    Block {
        /// The rule that speaks.
        rule: Arc<CompiledRule>,
    },
}

impl Verdict {
    /// Whether it may pass.
    pub const fn allowed(&self) -> bool {
        matches!(self, Self::Allow)
    }
}

/// Judges one version of one package.
///
/// `version` is `None` where a file's name does not tell its version. Then every rule about the
/// package forbids it, whatever its constraint: what cannot be read cannot be cleared (fail
/// closed). The same holds for any file of a package when this build cannot read the constraint.
pub fn judge(
    rules: &RuleSet,
    ecosystem: Ecosystem,
    package: &str,
    version: Option<&str>,
) -> Verdict {
    let about = rules.about(ecosystem, &normalise(ecosystem, package));
    let version = version.map(|text| Version::parse(ecosystem, text));
    judge_among(&about, version.as_ref())
}

/// Judges one version by rules that are about its package already, in the order of
/// [`RuleSet::about`]: what a list of a thousand versions is judged with.
pub fn judge_among(about: &[Arc<CompiledRule>], version: Option<&Version>) -> Verdict {
    about
        .iter()
        .find(|rule| version.is_none_or(|version| rule.constraint().matches(version)))
        .map_or(Verdict::Allow, |rule| Verdict::Block { rule: Arc::clone(rule) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::registry::{Mask, Rule};

    use super::*;
    use crate::registry::testing::{id, rule, rule_of};

    fn blocked_by(rules: &[Rule], package: &str, version: Option<&str>) -> Option<String> {
        match judge(&RuleSet::compile(1, rules), Ecosystem::Pypi, package, version) {
            Verdict::Allow => None,
            Verdict::Block { rule } => Some(rule.rule.id.clone()),
        }
    }

    #[test]
    fn a_version_is_judged_by_name_in_any_spelling_and_by_constraint() {
        let rules = [rule(1, "Foo.Bar", ">=1.17", Mask::Mark)];
        assert_eq!(blocked_by(&rules, "foo-bar", Some("1.17.0")), Some(id(1)));
        assert_eq!(blocked_by(&rules, "FOO_bar", Some("2.0rc1")), Some(id(1)));
        assert_eq!(blocked_by(&rules, "foo-bar", Some("1.16.0")), None);
        assert_eq!(blocked_by(&rules, "foobar", Some("1.17.0")), None);
        let set = RuleSet::compile(1, &rules);
        assert!(judge(&set, Ecosystem::Npm, "foo-bar", Some("1.17.0")).allowed());
        assert!(!judge(&set, Ecosystem::Pypi, "foo-bar", Some("1.17.0")).allowed());
    }

    #[test]
    fn packages_of_every_ecosystem_are_judged_by_their_own_names_and_versions() {
        for (ecosystem, package, versions, spelt, inside, outside) in [
            (Ecosystem::Pypi, "Foo.Bar", "<1.3", "foo_bar", "1.3rc1", "1.3"),
            (Ecosystem::Npm, "left-pad", "<1.3.0", "Left-Pad", "1.3.0-beta", "1.3.0"),
            (Ecosystem::Npm, "@acme/*", "^1 || 3.x", "@Acme/tool", "3.0.0-rc.1", "2.0.0"),
            (Ecosystem::Cargo, "serde_json", "=1.2.3", "Serde-JSON", "1.2.3+build", "1.2.4"),
            (Ecosystem::Cargo, "tokio*", "0.2", "tokio_util", "0.2.25", "0.3.0"),
            (
                Ecosystem::Go,
                "example.com/Mod",
                "<v1.4.0",
                "example.com/Mod",
                "v1.4.0-0.20200101000000-abcdefabcdef",
                "v2.0.0+incompatible",
            ),
            (Ecosystem::Docker, "alpine", "3.1*", "library/alpine", "3.18", "latest"),
            (Ecosystem::Docker, "library/alpine", "latest", "alpine", "latest", "edge"),
        ] {
            let set = RuleSet::compile(1, &[rule_of(ecosystem, 1, package, versions, Mask::Mark)]);
            let allowed = |version| judge(&set, ecosystem, spelt, Some(version)).allowed();
            assert!(!allowed(inside), "{ecosystem}: {package} {versions} forbids {inside}");
            assert!(allowed(outside), "{ecosystem}: {package} {versions} allows {outside}");
            assert!(!judge(&set, ecosystem, spelt, None).allowed());
        }
        let set =
            RuleSet::compile(1, &[rule_of(Ecosystem::Go, 1, "example.com/Mod", "*", Mask::Mark)]);
        assert!(judge(&set, Ecosystem::Go, "example.com/mod", Some("v1.0.0")).allowed());
    }

    #[test]
    fn a_file_whose_version_cannot_be_told_is_blocked_by_any_rule_about_its_package() {
        let rules = [rule(1, "six", ">=99", Mask::Mark)];
        assert_eq!(blocked_by(&rules, "six", None), Some(id(1)));
        assert_eq!(blocked_by(&rules, "seven", None), None);
    }

    #[test]
    fn of_several_rules_the_strictest_that_matches_speaks() {
        let rules = [
            rule(1, "six", ">=1.17", Mask::Mark),
            rule(2, "six", ">=2", Mask::Hide),
            rule(3, "*", "*", Mask::DenyOnly),
        ];
        assert_eq!(blocked_by(&rules, "six", Some("2.0")), Some(id(2)));
        assert_eq!(blocked_by(&rules, "six", Some("1.17")), Some(id(1)));
        assert_eq!(blocked_by(&rules, "six", Some("1.0")), Some(id(3)));
    }

    fn any_rule() -> impl Strategy<Value = Rule> {
        let package = prop_oneof!["[a-c]", Just("*".to_owned()), "[a-c]\\*"];
        let versions = prop_oneof![Just("*".to_owned()), "(>=|<|==|!=)[0-3]\\.[0-3]"];
        let mask = prop_oneof![Just(Mask::Mark), Just(Mask::Hide), Just(Mask::DenyOnly)];
        (0_u128..40, package, versions, mask).prop_map(|(n, p, v, m)| rule(n, &p, &v, m))
    }

    proptest! {
        #[test]
        fn more_rules_never_allow_more_and_their_order_does_not_matter(
            rules in prop::collection::vec(any_rule(), 0..8),
            more in any_rule(),
            package in "[a-c]",
            version in prop::option::of("[0-3]\\.[0-3](rc1)?"),
        ) {
            let before = blocked_by(&rules, &package, version.as_deref());
            let mut all = rules;
            all.push(more);
            let after = blocked_by(&all, &package, version.as_deref());
            prop_assert!(before.is_none() || after.is_some());
            all.reverse();
            let turned = blocked_by(&all, &package, version.as_deref());
            prop_assert_eq!(after.is_some(), turned.is_some());
        }

        #[test]
        fn an_unknown_version_is_blocked_whenever_any_version_is(
            rules in prop::collection::vec(any_rule(), 0..8),
            package in "[a-c]",
            version in "[0-3]\\.[0-3]",
        ) {
            if blocked_by(&rules, &package, Some(&version)).is_some() {
                prop_assert!(blocked_by(&rules, &package, None).is_some());
            }
        }
    }
}
