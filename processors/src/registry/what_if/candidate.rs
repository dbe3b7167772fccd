//! A policy that may come to be, as a file: the keys of the configuration that decide about packages,
//! rules beside those in force, and those that would not be there any more. What is not named stays
//! as it is.
//!
//! ```yaml
//! policy:
//!   severity_floor: low
//! registries:
//!   npm:
//!     min_age_hours: 72
//! rules:
//!   - {ecosystem: npm, package: left-pad, versions: "<1.3.0", reason: unmaintained}
//! without:
//!   - 019a0000-0000-7000-8000-000000000001
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, de::IgnoredAny};
use serde_saphyr::Spanned;
use weir_aggregates::registry::{
    lookalike::{self, MAX_PROTECTED},
    name::pattern::Pattern,
    reserved::MAX_RESERVED,
    what_if::trial::{Changes, EcosystemChanges, Trial},
};
use weir_events::registry::{
    Ecosystem, Rule,
    advisory::Severity,
    policy::{Lookalikes, Mode, Reaction, Reserved, Unrated},
};

use crate::registry::written::{self, Written, Wrong, shown};

/// The largest file, in bytes.
pub const MAX_BYTES: usize = 256 << 10;

/// The most rules there may be, and the most that would not be there any more.
pub const MAX_RULES: usize = 1_000;

/// What rules cost in the reader: their maps, keys and values.
const MAX_NODES: usize = MAX_RULES * 14 + 200;

/// The policy makes no sense.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct CandidateFault {
    /// What it is called, line and column.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    policy: Option<Policy>,
    #[serde(default)]
    registries: Option<Registries>,
    #[serde(default)]
    rules: Option<Vec<Written>>,
    #[serde(default)]
    without: Option<Vec<Spanned<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Policy {
    severity_floor: Option<Spanned<String>>,
    unrated: Option<Spanned<String>>,
    vulnerability_mask: Option<Spanned<String>>,
    malware_mask: Option<Spanned<String>>,
    young_mask: Option<Spanned<String>>,
    provenance: Option<Spanned<IgnoredAny>>,
    publisher: Option<Spanned<IgnoredAny>>,
    reserved: Option<Vec<Spanned<String>>>,
    licences: Option<Spanned<IgnoredAny>>,
    lookalikes: Option<Looking>,
}

/// Names that would be looked after, instead of those that are.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Looking {
    reaction: Option<Spanned<String>>,
    #[serde(default)]
    protect: Vec<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registries {
    pypi: Option<Registry>,
    npm: Option<Registry>,
    cargo: Option<Registry>,
    go: Option<Registry>,
    docker: Option<Registry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    mode: Option<Spanned<String>>,
    min_age_hours: Option<u32>,
    fix_exemption: Option<bool>,
}

/// Reads the text of a policy; `name` is what messages call it.
pub fn parse(name: &str, text: &str) -> Result<Trial, CandidateFault> {
    let fault = |wrong: Wrong| CandidateFault { place: wrong.place(name), what: wrong.what };
    let bounds = written::Bounds { max_bytes: MAX_BYTES, max_nodes: MAX_NODES };
    written::read("a policy", text, bounds).and_then(trial).map_err(fault)
}

fn trial(file: File) -> Result<Trial, Wrong> {
    let File { policy, registries, rules, without } = file;
    let policy = policy.unwrap_or_default();
    let reserved = policy.reserved.as_deref().unwrap_or_default();
    let reserved = named(reserved, "reserved", MAX_RESERVED, Pattern::objection)?;
    let mut changes = changes(&policy)?;
    let Registries { pypi, npm, cargo, go, docker } = registries.unwrap_or_default();
    for (ecosystem, registry) in [
        (Ecosystem::Pypi, pypi),
        (Ecosystem::Npm, npm),
        (Ecosystem::Cargo, cargo),
        (Ecosystem::Go, go),
        (Ecosystem::Docker, docker),
    ] {
        if let Some(registry) = registry {
            changes.ecosystems.insert(ecosystem, of_registry(&registry)?);
        }
    }
    let rules = rules.unwrap_or_default();
    let without = without.unwrap_or_default();
    for (what, n) in [("rules", rules.len()), ("without", without.len())] {
        if n > MAX_RULES {
            let what = format!("`{what}` has {n} entries, and may have {MAX_RULES}");
            return Err(Wrong { at: None, what });
        }
    }
    let rules = rules.iter().enumerate().map(|(n, rule)| {
        // Nobody has this rule yet: it is told by its place in the file.
        Ok(Rule { id: format!("new-{}", n + 1), ..written::rule(rule)? })
    });
    let rules = rules.collect::<Result<Vec<_>, Wrong>>()?;
    let without: BTreeSet<_> = without.into_iter().map(|id| id.value).collect();
    let trial = Trial::new(changes, &rules, without).reserving(&reserved);
    let Some(looking) = &policy.lookalikes else { return Ok(trial) };
    let all = "off, warn, block";
    let reaction = word(looking.reaction.as_ref(), Reaction::find, all)?.unwrap_or(Reaction::Warn);
    let protect = named(&looking.protect, "protect", MAX_PROTECTED, lookalike::objection)?;
    Ok(trial.looking_after(Lookalikes { reaction, protect }, &reserved))
}

/// Names as `npm:@acme/*`, to which nothing is objected.
fn named(
    named: &[Spanned<String>],
    key: &str,
    max: usize,
    objection: impl Fn(Ecosystem, &str) -> Option<&'static str>,
) -> Result<Vec<Reserved>, Wrong> {
    if let Some(one_too_many) = named.get(max) {
        let what = format!("`{key}` may have {max} entries");
        return Err(Wrong::with(one_too_many, what));
    }
    let read = |text: &Spanned<String>| {
        let (ecosystem, package) = text.value.split_once(':').unwrap_or_default();
        let wrong = |what| Wrong::with(text, format!("`{}` {what}", shown(&text.value)));
        let ecosystem = Ecosystem::find(ecosystem)
            .ok_or_else(|| wrong("is not `ecosystem:pattern`".to_owned()))?;
        match objection(ecosystem, package) {
            Some(cause) => Err(wrong(format!("cannot be in `{key}`: {cause}"))),
            None => Ok(Reserved { ecosystem, package: package.to_owned() }),
        }
    };
    named.iter().map(read).collect()
}

fn changes(policy: &Policy) -> Result<Changes, Wrong> {
    let Policy {
        severity_floor,
        unrated,
        vulnerability_mask,
        malware_mask,
        young_mask,
        provenance,
        publisher,
        reserved: _,
        lookalikes: _,
        licences,
    } = policy;
    for (key, named) in
        [("provenance", provenance), ("publisher", publisher), ("licences", licences)]
    {
        if let Some(value) = named {
            let what = format!(
                "`{key}` cannot be tried on the past, for lists are not kept: set it to `warn`, and watch"
            );
            return Err(Wrong::with(value, what));
        }
    }
    let mask = |named: &Option<Spanned<String>>| named.as_ref().map(written::mask).transpose();
    let severity = |name: &str| Severity::find(name).filter(|found| *found != Severity::Unknown);
    Ok(Changes {
        severity_floor: word(severity_floor.as_ref(), severity, "low, medium, high, critical")?,
        unrated: word(unrated.as_ref(), unrated_by_name, "block, allow")?,
        vulnerability_mask: mask(vulnerability_mask)?,
        malware_mask: mask(malware_mask)?,
        young_mask: mask(young_mask)?,
        ecosystems: BTreeMap::new(),
    })
}

fn of_registry(registry: &Registry) -> Result<EcosystemChanges, Wrong> {
    let Registry { mode, min_age_hours, fix_exemption } = registry;
    let find = |name: &str| [Mode::Enforce, Mode::Audit].into_iter().find(|it| it.as_str() == name);
    Ok(EcosystemChanges {
        mode: word(mode.as_ref(), find, "enforce, audit")?,
        min_age_hours: *min_age_hours,
        fix_exemption: *fix_exemption,
    })
}

fn unrated_by_name(name: &str) -> Option<Unrated> {
    match name {
        "block" => Some(Unrated::Block),
        "allow" => Some(Unrated::Allow),
        _ => None,
    }
}

/// One of a few words.
fn word<T>(
    value: Option<&Spanned<String>>,
    find: impl Fn(&str) -> Option<T>,
    all: &str,
) -> Result<Option<T>, Wrong> {
    let Some(value) = value else { return Ok(None) };
    let unknown = || Wrong::with(value, format!("`{}` is none of {all}", shown(&value.value)));
    find(&value.value).map(Some).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "\
# Before it is switched on.
policy:
  severity_floor: low
  unrated: allow
  malware_mask: deny-only
registries:
  npm:
    min_age_hours: 72
    mode: audit
rules:
  - ecosystem: npm
    package: left-pad
    versions: \"<1.3.0\"
    reason: unmaintained
without:
  - 019a0000-0000-7000-8000-000000000001
";

    fn refused(text: &str) -> String {
        parse("new.yaml", text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_named_is_changed_and_nothing_else() {
        for nothing in
            ["", "# nothing yet\n", "{}", "policy:\nregistries:\n  go:\nrules:\nwithout:\n"]
        {
            assert!(parse("new.yaml", nothing).unwrap().is_empty(), "{nothing}");
        }
        let trial = parse("new.yaml", POLICY).unwrap();
        let changes = trial.changes();
        assert_eq!(changes.severity_floor, Some(Severity::Low));
        assert_eq!((changes.unrated, changes.young_mask), (Some(Unrated::Allow), None));
        let npm = changes.ecosystems[&Ecosystem::Npm];
        assert_eq!(
            (npm.min_age_hours, npm.mode, npm.fix_exemption),
            (Some(72), Some(Mode::Audit), None)
        );
        let rules = trial.rules().about(Ecosystem::Npm, "left-pad");
        assert_eq!((rules.len(), &*rules[0].rule.id), (1, "new-1"));
        assert!(trial.without().contains("019a0000-0000-7000-8000-000000000001"));
        assert!(!trial.is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_column() {
        for (from, to, place, word) in [
            ("severity_floor: low", "severity_floor: unknown", "new.yaml:3:19", "`unknown`"),
            ("unrated: allow", "unrated: maybe", "new.yaml:4:12", "`maybe`"),
            ("deny-only", "hidden", "new.yaml:5:17", "`hidden`"),
            ("malware_mask: deny-only", "reserved: [acme]", "new.yaml:5:14", "`acme` is not"),
            ("malware_mask: deny-only", "reserved: ['npm:@a']", "new.yaml:5:14", "cannot be"),
            (
                "malware_mask: deny-only",
                "lookalikes: {protect: ['npm:a*']}",
                "new.yaml:5:26",
                "no other",
            ),
            ("malware_mask: deny-only", "lookalikes: {reaction: no}", "new.yaml:5:26", "`no`"),
            ("malware_mask: deny-only", "provenance: block", "new.yaml:5:15", "cannot be tried"),
            ("malware_mask: deny-only", "publisher: warn", "new.yaml:5:14", "cannot be tried"),
            (
                "malware_mask: deny-only",
                "licences: {deny: [GPL-*]}",
                "new.yaml:5:13",
                "cannot be tried",
            ),
            ("  npm:", "  gems:", "new.yaml:7:3", "gems"),
            ("hours: 72", "hours: -1", "new.yaml:8:20", ""),
            ("mode: audit", "mode: off", "new.yaml:9:11", "`off`"),
            ("mode: audit", "upstream: x", "new.yaml:9:5", "upstream"),
            ("<1.3.0", "two", "new.yaml:13:15", "`two`"),
            ("unmaintained", "' '", "new.yaml:14:13", "reason"),
            ("without:", "withuot:", "new.yaml:15:1", "withuot"),
        ] {
            let fault = refused(&POLICY.replace(from, to));
            assert!(fault.starts_with(place) && fault.contains(word), "{to}: {fault}");
        }
        assert!(refused("policy: [").starts_with("new.yaml:1:"));
        assert!(refused("- a").starts_with("new.yaml:1:1"));
    }

    #[test]
    fn a_policy_that_is_too_much_is_refused() {
        assert!(refused(&format!("# {}", "x".repeat(MAX_BYTES))).contains("bytes"));
        let mut bomb = "rules:\n- &a {ecosystem: npm, package: x, reason: y}\n".to_owned();
        bomb.push_str(&"- *a\n".repeat(MAX_RULES));
        assert!(refused(&bomb).contains("new.yaml"));
        let many = "x\n- ".repeat(MAX_RULES);
        assert!(refused(&format!("without:\n- {many}x")).contains("`without` has 1001 entries"));
    }
}
