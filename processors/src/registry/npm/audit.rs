//! What is known against packages, as `npm audit` and its kin ask for it. Nothing is asked of the
//! upstream: no name of a package leaves this Weir for it.
//!
//! What is known are the rules of its operators and what its sources publish. What is waived for
//! somebody is answered all the same: it is waived, not gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    sync::Arc,
};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use weir_aggregates::registry::{
    advisory::finding::Hit,
    dossier::Dossier,
    verdict::{Candidate, Objection},
    version::Version,
};
use weir_events::registry::{
    Ecosystem,
    advisory::{Class, End, Severity, Window},
};

use super::{name::Name, request::Audit};
use crate::registry::policy::Unreadable;

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
    /// Nobody can say what is known.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// The versions that are asked about, by package.
type Asked = BTreeMap<String, BTreeSet<String>>;

/// Answers a question by what is known about each package. To be called away from the threads that serve.
pub fn answer(
    kind: Audit,
    body: &Bytes,
    gzip: bool,
    about: impl Fn(&str) -> Result<Arc<Dossier>, Unreadable>,
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
            Ok(bulk(&serde_json::from_slice(body).map_err(AuditFault::Json)?, about, base)?)
        }
        Audit::Quick => {
            let tree: Tree = serde_json::from_slice(body).map_err(AuditFault::Json)?;
            let mut asked = Asked::new();
            tree.collect(&mut asked, MAX_DEPTH);
            Ok(quick(&asked, about, base)?)
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

/// Something said against versions of a package.
struct Found<'a> {
    objection: Arc<Objection>,
    versions: Vec<&'a str>,
    /// What of it is affected, as npm writes ranges.
    ranges: BTreeSet<String>,
}

/// Everything that is said against versions of a package.
fn found<'a>(
    name: &str,
    versions: &'a BTreeSet<String>,
    about: impl Fn(&str) -> Result<Arc<Dossier>, Unreadable>,
) -> Result<Vec<Found<'a>>, Unreadable> {
    // Of what no package is called nothing is known.
    let Some(name) = Name::new(name) else { return Ok(Vec::new()) };
    let dossier = about(&name.judged())?;
    let mut all: Vec<Found<'_>> = Vec::new();
    for text in versions {
        let version = Version::parse(Ecosystem::Npm, text);
        for objection in dossier.objections(&Candidate::of(Some(&version))) {
            let range = match (&objection.rule_id, &objection.cited) {
                (Some(id), _) => forbidden(&dossier, id),
                (None, Some(cited)) => range(&cited.hit, text),
                // Its age, or that a source was not read: nothing that is wrong with it.
                (None, None) => continue,
            };
            let known = all.iter_mut().find(|found| found.objection.id() == objection.id());
            if let Some(found) = known {
                found.versions.push(text);
                found.ranges.insert(range);
            } else {
                let ranges = BTreeSet::from([range]);
                all.push(Found { objection, versions: vec![text], ranges });
            }
        }
    }
    Ok(all)
}

/// What a rule forbids.
fn forbidden(dossier: &Dossier, id: &str) -> String {
    let rule = dossier.rules().iter().find(|rule| rule.rule.id == id);
    let some = rule.filter(|rule| !rule.constraint().everything());
    some.map_or_else(|| "*".to_owned(), |rule| rule.rule.versions.clone())
}

/// What a version falls under, as npm writes ranges.
fn range(hit: &Hit, version: &str) -> String {
    let Hit::Within(Window { introduced, end }) = hit else { return version.to_owned() };
    let from = introduced.as_ref().map(|from| format!(">={from}"));
    let to = match end {
        End::Open => None,
        End::Fixed(to) | End::Limit(to) => Some(format!("<{to}")),
        End::LastAffected(to) => Some(format!("<={to}")),
    };
    let parts: Vec<_> = from.into_iter().chain(to).collect();
    if parts.is_empty() { "*".to_owned() } else { parts.join(" ") }
}

/// npm's word for how bad it is. What nobody rated is not told to be harmless.
fn severity(objection: &Objection) -> &'static str {
    let Some(cited) = &objection.cited else { return "high" };
    match (cited.class, cited.severity) {
        (Class::Malware, _) | (_, Severity::Critical) => "critical",
        (_, Severity::High | Severity::Unknown) => "high",
        (_, Severity::Medium) => "moderate",
        (_, Severity::Low) => "low",
    }
}

/// The number that clients know something about a package by: some take nothing but numbers, and
/// these are the largest that all can hold.
fn number(objection: &Objection, name: &str) -> u64 {
    let hash = blake3::hash(format!("{} {name}", objection.id()).as_bytes());
    let (first, _) = hash.as_bytes().split_first_chunk().unwrap_or((&[0; 8], &[]));
    u64::from_be_bytes(*first) >> 12
}

/// What was found, in the words of an advisory.
fn advisory(found: &Found<'_>, name: &str, base: &str) -> Map<String, Value> {
    let Found { objection, ranges, .. } = found;
    let ranges: Vec<&str> = ranges.iter().map(String::as_str).collect();
    let advisory = json!({
        "id": number(objection, name),
        "url": format!("{}/", base.trim_end_matches("/npm")),
        "title": objection.to_string(),
        "severity": severity(objection),
        "vulnerable_versions": ranges.join(" || "),
        "cwe": [],
        "cvss": {"score": 0, "vectorString": null},
    });
    match advisory {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn bulk(
    asked: &Asked,
    about: impl Fn(&str) -> Result<Arc<Dossier>, Unreadable>,
    base: &str,
) -> Result<Value, Unreadable> {
    let mut answers = Map::new();
    for (name, versions) in asked {
        let found = found(name, versions, &about)?;
        if !found.is_empty() {
            let said = found.iter().map(|found| Value::Object(advisory(found, name, base)));
            answers.insert(name.clone(), said.collect());
        }
    }
    Ok(Value::Object(answers))
}

fn quick(
    asked: &Asked,
    about: impl Fn(&str) -> Result<Arc<Dossier>, Unreadable>,
    base: &str,
) -> Result<Value, Unreadable> {
    let mut advisories = Map::new();
    let mut n_found = BTreeMap::from(["low", "moderate", "high", "critical"].map(|s| (s, 0)));
    for (name, versions) in asked {
        for found in found(name, versions, &about)? {
            *n_found.entry(severity(&found.objection)).or_default() += found.versions.len();
            let finding = |version: &&str| json!({"version": version, "paths": [name], "dev": false, "optional": false, "bundled": false});
            let fixed_by = found.objection.cited.as_ref().and_then(|c| c.fixed_by.as_deref());
            let patched = fixed_by.map_or_else(|| "<0.0.0".to_owned(), |by| format!(">={by}"));
            let mut advisory = advisory(&found, name, base);
            advisory.insert("module_name".to_owned(), name.as_str().into());
            advisory.insert("findings".to_owned(), found.versions.iter().map(finding).collect());
            advisory.insert("patched_versions".to_owned(), patched.into());
            advisory.insert("overview".to_owned(), found.objection.to_string().into());
            advisory.insert("recommendation".to_owned(), "Ask the operators of this Weir".into());
            let id = number(&found.objection, name).to_string();
            advisories.insert(id, Value::Object(advisory));
        }
    }
    let mut vulnerabilities = json!(n_found);
    vulnerabilities["info"] = 0.into();
    Ok(json!({
        "actions": [],
        "advisories": advisories,
        "muted": [],
        "metadata": {
            "vulnerabilities": vulnerabilities,
            "dependencies": asked.len(),
            "devDependencies": 0,
            "optionalDependencies": 0,
            "totalDependencies": asked.len(),
        },
    }))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use weir_events::registry::Mask;

    use super::*;
    use crate::registry::{npm::testing::rule, testing::dossier};

    fn packed(body: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap().into()
    }

    fn ask(kind: Audit, body: &str) -> Value {
        let rules =
            [rule(1, "left-pad", "<1.3.0", Mask::Mark), rule(2, "@acme/*", "*", Mask::DenyOnly)];
        let about = |name: &str| Ok(dossier(Ecosystem::Npm, name, 1, &rules));
        let base = "https://weir.example/npm";
        let plain = answer(kind, &Bytes::copy_from_slice(body.as_bytes()), false, about, base);
        let packed = answer(kind, &packed(body.as_bytes()), true, about, base).unwrap();
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
        let nothing = |name: &str| Ok(dossier(Ecosystem::Npm, name, 1, &[]));
        let ask = |body: &Bytes, gzip| answer(Audit::Bulk, body, gzip, nothing, "");
        for bad in ["", "[]", r#"{"a":1}"#, "{"] {
            let body = Bytes::copy_from_slice(bad.as_bytes());
            assert!(matches!(ask(&body, false), Err(AuditFault::Json(_))), "{bad}");
        }
        assert!(matches!(ask(&Bytes::from_static(b"{}"), true), Err(AuditFault::Packed(_))));
        let bomb = packed(&vec![b' '; usize::try_from(MAX_UNPACKED_BYTES).unwrap() + 1]);
        assert!(bomb.len() < MAX_BODY_BYTES);
        assert!(matches!(ask(&bomb, true), Err(AuditFault::TooLarge)));
        let deep = format!("{}{}", r#"{"dependencies":{"a":"#.repeat(200), "{}");
        assert!(answer(Audit::Quick, &deep.into(), false, nothing, "").is_err());
    }
}
