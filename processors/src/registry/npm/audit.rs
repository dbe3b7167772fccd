//! What is known against packages, as `npm audit` and its kin ask for it. Nothing is asked of the
//! upstream: no name of a package leaves this Weir for it.
//!
//! What this build knows are the rules of its operators.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use weir_aggregates::registry::{
    rule::{CompiledRule, RuleSet},
    verdict::{Verdict, judge_among},
    version::Version,
};
use weir_events::registry::Ecosystem;

use super::{name::Name, request::Audit};
use crate::registry::gate::told;

/// The largest question, as it is sent.
pub const MAX_BODY_BYTES: usize = 2 << 20;

/// The largest question, unpacked.
const MAX_UNPACKED_BYTES: u64 = 4 << 20;

/// The deepest tree of dependencies that is looked into.
const MAX_DEPTH: usize = 64;

/// The question cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum AuditFault {
    /// It is too large.
    #[error("a question about packages has at most {MAX_UNPACKED_BYTES} bytes")]
    TooLarge,
    /// It is packed in no way that is known.
    #[error("the question is not packed as it says")]
    Packed(#[source] std::io::Error),
    /// It is no such question.
    #[error("the question is not the JSON of one")]
    Json(#[source] serde_json::Error),
}

/// The versions that are asked about, by package.
type Asked = BTreeMap<String, BTreeSet<String>>;

/// Answers a question. To be called away from the threads that serve.
pub fn answer(
    kind: Audit,
    body: &Bytes,
    gzip: bool,
    rules: &RuleSet,
    base: &str,
) -> Result<Value, AuditFault> {
    let unpacked;
    let body = if gzip {
        unpacked = unpack(body)?;
        &unpacked
    } else {
        &body[..]
    };
    match kind {
        Audit::Bulk => {
            Ok(bulk(&serde_json::from_slice(body).map_err(AuditFault::Json)?, rules, base))
        }
        Audit::Quick => {
            let tree: Tree = serde_json::from_slice(body).map_err(AuditFault::Json)?;
            let mut asked = Asked::new();
            tree.collect(&mut asked, MAX_DEPTH);
            Ok(quick(&asked, rules, base))
        }
    }
}

fn unpack(body: &[u8]) -> Result<Vec<u8>, AuditFault> {
    let mut unpacked = Vec::new();
    let mut reader = MultiGzDecoder::new(body).take(MAX_UNPACKED_BYTES + 1);
    reader.read_to_end(&mut unpacked).map_err(AuditFault::Packed)?;
    if unpacked.len() as u64 > MAX_UNPACKED_BYTES {
        Err(AuditFault::TooLarge)
    } else {
        Ok(unpacked)
    }
}

/// A lock file, as far as it matters.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tree {
    dependencies: BTreeMap<String, Self>,
    version: Option<String>,
}

impl Tree {
    fn collect(self, asked: &mut Asked, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for (name, mut tree) in self.dependencies {
            if let Some(version) = tree.version.take() {
                asked.entry(name).or_default().insert(version);
            }
            tree.collect(asked, depth);
        }
    }
}

/// The rules that block versions of a package, each with those versions.
fn blocked<'a>(
    name: &str,
    versions: &'a BTreeSet<String>,
    rules: &RuleSet,
) -> Vec<(std::sync::Arc<CompiledRule>, Vec<&'a str>)> {
    let Some(name) = Name::new(name) else { return Vec::new() };
    let about = rules.about(Ecosystem::Npm, &name.judged());
    let mut found: Vec<(std::sync::Arc<CompiledRule>, Vec<&str>)> = Vec::new();
    for text in versions {
        let version = Version::parse(Ecosystem::Npm, text);
        let Verdict::Block { rule } = judge_among(&about, Some(&version)) else { continue };
        match found.iter_mut().find(|(known, _)| known.rule.id == rule.rule.id) {
            Some((_, versions)) => versions.push(text),
            None => found.push((rule, vec![text])),
        }
    }
    found
}

/// The number that clients know a rule about a package by: some take nothing but numbers, and these
/// are the largest that all can hold.
fn number(rule: &CompiledRule, name: &str) -> u64 {
    let hash = blake3::hash(format!("{} {name}", rule.rule.id).as_bytes());
    let (first, _) = hash.as_bytes().split_first_chunk().unwrap_or((&[0; 8], &[]));
    u64::from_be_bytes(*first) >> 12
}

/// A rule in the words of an advisory.
fn advisory(rule: &CompiledRule, name: &str, base: &str) -> Map<String, Value> {
    let versions = if rule.constraint().everything() { "*" } else { &rule.rule.versions };
    let advisory = json!({
        "id": number(rule, name),
        "url": format!("{}/", base.trim_end_matches("/npm")),
        "title": told(rule),
        "severity": "high",
        "vulnerable_versions": versions,
        "cwe": [],
        "cvss": {"score": 0, "vectorString": null},
    });
    match advisory {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn bulk(asked: &Asked, rules: &RuleSet, base: &str) -> Value {
    let about = asked.iter().filter_map(|(name, versions)| {
        let advisories: Vec<_> = blocked(name, versions, rules)
            .iter()
            .map(|(rule, _)| Value::Object(advisory(rule, name, base)))
            .collect();
        (!advisories.is_empty()).then(|| (name.clone(), Value::Array(advisories)))
    });
    Value::Object(about.collect())
}

fn quick(asked: &Asked, rules: &RuleSet, base: &str) -> Value {
    let (mut advisories, mut n_found) = (Map::new(), 0);
    for (name, versions) in asked {
        for (rule, versions) in blocked(name, versions, rules) {
            n_found += versions.len();
            let finding = |version| json!({"version": version, "paths": [name], "dev": false, "optional": false, "bundled": false});
            let mut advisory = advisory(&rule, name, base);
            advisory.insert("module_name".to_owned(), name.as_str().into());
            advisory.insert("findings".to_owned(), versions.into_iter().map(finding).collect());
            advisory.insert("patched_versions".to_owned(), "<0.0.0".into());
            advisory.insert("overview".to_owned(), told(&rule).into());
            advisory.insert("recommendation".to_owned(), "Ask the operators of this Weir".into());
            let id = number(&rule, name).to_string();
            advisories.insert(id, Value::Object(advisory));
        }
    }
    json!({
        "actions": [],
        "advisories": advisories,
        "muted": [],
        "metadata": {
            "vulnerabilities": {"info": 0, "low": 0, "moderate": 0, "high": n_found, "critical": 0},
            "dependencies": asked.len(),
            "devDependencies": 0,
            "optionalDependencies": 0,
            "totalDependencies": asked.len(),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use weir_events::registry::Mask;

    use super::*;
    use crate::registry::npm::testing::{rule, rules};

    fn packed(body: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap().into()
    }

    fn ask(kind: Audit, body: &str) -> Value {
        let rules = rules(&[
            rule(1, "left-pad", "<1.3.0", Mask::Mark),
            rule(2, "@acme/*", "*", Mask::DenyOnly),
        ]);
        let base = "https://weir.example/npm";
        let plain = answer(kind, &Bytes::copy_from_slice(body.as_bytes()), false, &rules, base);
        let packed = answer(kind, &packed(body.as_bytes()), true, &rules, base).unwrap();
        assert_eq!(plain.unwrap(), packed);
        packed
    }

    #[test]
    fn each_version_that_a_rule_blocks_is_answered_with_the_rule() {
        let answer = ask(
            Audit::Bulk,
            r#"{"left-pad":["1.2.0","1.3.0","1.1.0"],"right-pad":["1.0.0"],"@Acme/x":["0.1.0"],"left-pad/":["1.0.0"]}"#,
        );
        let members: Vec<_> = answer.as_object().unwrap().keys().collect();
        assert_eq!(members, ["@Acme/x", "left-pad"]);
        let [advisory] = &answer["left-pad"].as_array().unwrap()[..] else { panic!("{answer}") };
        assert_eq!(advisory["vulnerable_versions"], "<1.3.0");
        let told = "Blocked by Weir: too young (rule 019a0000-0000-7000-8000-000000000001)";
        assert_eq!(advisory["title"], told);
        assert_eq!(answer["@Acme/x"][0]["vulnerable_versions"], "*");
        let id = advisory["id"].as_u64().unwrap();
        assert!(id > 0 && id < 1 << 53, "a number that every client can hold: {id}");
        assert_eq!(ask(Audit::Bulk, r#"{"left-pad":["1.3.0"]}"#), json!({}));
    }

    #[test]
    fn a_tree_of_dependencies_is_looked_through() {
        let answer = ask(
            Audit::Quick,
            r#"{"name":"x","version":"1.0.0","requires":{"a":"1"},"dependencies":{"a":{"version":"1.0.0",
            "dependencies":{"left-pad":{"version":"1.1.0","integrity":"x"}}},"left-pad":{"version":"1.2.0"}}}"#,
        );
        let advisories = answer["advisories"].as_object().unwrap();
        let [(id, found)] = &advisories.iter().collect::<Vec<_>>()[..] else { panic!("{answer}") };
        assert_eq!(found["id"].as_u64().unwrap().to_string(), **id);
        let versions: Vec<_> =
            found["findings"].as_array().unwrap().iter().map(|f| f["version"].clone()).collect();
        assert_eq!(versions, ["1.1.0", "1.2.0"]);
        assert_eq!(answer["metadata"]["vulnerabilities"]["high"], 2);
        assert_eq!(answer["metadata"]["dependencies"], 2);
    }

    #[test]
    fn what_is_no_question_or_too_large_is_refused() {
        let ask = |body: &Bytes, gzip| answer(Audit::Bulk, body, gzip, &RuleSet::default(), "");
        for bad in ["", "[]", r#"{"a":1}"#, "{"] {
            let body = Bytes::copy_from_slice(bad.as_bytes());
            assert!(matches!(ask(&body, false), Err(AuditFault::Json(_))), "{bad}");
        }
        assert!(matches!(ask(&Bytes::from_static(b"{}"), true), Err(AuditFault::Packed(_))));
        let bomb = packed(&vec![b' '; usize::try_from(MAX_UNPACKED_BYTES).unwrap() + 1]);
        assert!(bomb.len() < MAX_BODY_BYTES);
        assert!(matches!(ask(&bomb, true), Err(AuditFault::TooLarge)));
        let deep = format!("{}{}", r#"{"dependencies":{"a":"#.repeat(200), "{}");
        assert!(answer(Audit::Quick, &deep.into(), false, &RuleSet::default(), "").is_err());
    }
}
