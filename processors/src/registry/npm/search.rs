//! Results of a search, without the packages whose newest version is not to be chosen.

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use weir_aggregates::registry::{
    dossier::Dossier, name::normalise, verdict::Candidate, version::Version,
};
use weir_events::{
    registry::{Ecosystem, Mask},
    timestamp::Timestamp,
};

use super::{
    name::{Name, is_version},
    span::{Object, Span},
};
use crate::registry::policy::Unreadable;

/// How many words of a search are looked at.
const MAX_WORDS: usize = 64;

/// A result, as far as it matters.
#[derive(Debug, Deserialize)]
struct Found<'a> {
    #[serde(borrow)]
    package: Package<'a>,
}

#[derive(Debug, Deserialize)]
struct Package<'a> {
    #[serde(borrow)]
    name: std::borrow::Cow<'a, str>,
    version: Option<String>,
    #[serde(default, deserialize_with = "if_it_is_one")]
    date: Option<Timestamp>,
}

/// A moment, where it is one.
fn if_it_is_one<'de, D: Deserializer<'de>>(date: D) -> Result<Option<Timestamp>, D::Error> {
    let date = <&RawValue>::deserialize(date)?;
    Ok(serde_json::from_str(date.get()).ok())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Objects,
    Total,
}

/// What becomes of results.
#[derive(Debug, PartialEq, Eq)]
pub struct Results {
    /// The page, without what is left out.
    pub page: String,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
}

/// A package that is not among the results, because its newest version is forbidden.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The package, by its normalised name.
    pub package: String,
    /// Its version that the search found, where it told one.
    pub version: Option<String>,
    /// What was known of the package.
    pub known: blake3::Hash,
    /// The policy it was judged by.
    pub revision: i64,
}

/// The packages that the words of a search name, where they are names: who searches for one tells it.
/// A scope stands for a package of it.
#[must_use]
pub fn names(query: &str) -> Vec<Name> {
    let text = query.split('&').filter_map(|pair| pair.strip_prefix("text="));
    let text = text.map(|text| text.replace('+', " "));
    let text: Vec<_> =
        text.map(|text| percent_decode_str(&text).decode_utf8_lossy().into_owned()).collect();
    let words = text.iter().flat_map(|text| text.split([' ', ',', '"']));
    let name = |word: &str| {
        let scope = word.strip_prefix("scope:").or_else(|| word.strip_prefix('@'));
        match scope.filter(|scope| !scope.contains('/')) {
            Some(scope) => Name::new(&format!("@{}/x", scope.trim_start_matches('@'))),
            None => Name::new(word.rsplit(':').next().unwrap_or_default()),
        }
    };
    words.take(MAX_WORDS).filter_map(name).collect()
}

/// Leaves out what is hidden or marked, by what is known about each package, and what is no result;
/// `None` where these are no results. What stays is as it was written. To be called away from the
/// threads that serve.
pub fn filter(
    body: &[u8],
    about: impl Fn(&str) -> Result<Arc<Dossier>, Unreadable>,
) -> Result<Option<Results>, Unreadable> {
    let Some(Page { text, whole, top, found }) = Page::read(body) else { return Ok(None) };
    let (mut stay, mut left_out) = (Vec::new(), Vec::new());
    for found in found.iter().map(|found| found.get()) {
        match judged(found, &about)? {
            Fate::Stays => stay.push(found),
            Fate::LeftOut(package) => left_out.push(package),
            Fate::NoResult => {}
        }
    }
    let n_left_out = (found.len() - stay.len()) as u64;
    let mut page = String::with_capacity(text.len());
    let mut at = 0;
    for member in &top.members {
        page.push_str(Span::new(at, member.value.from).of(text));
        let value = member.value.of(text);
        match (member.name, value.parse::<u64>()) {
            (Part::Objects, _) => {
                page.push('[');
                page.push_str(&stay.join(","));
                page.push(']');
            }
            (Part::Total, Ok(total)) => {
                page.push_str(&total.saturating_sub(n_left_out).to_string());
            }
            (Part::Total, Err(_)) => page.push_str(value),
        }
        at = member.value.to;
    }
    page.push_str(Span::new(at, whole.to).of(text));
    Ok(Some(Results { page, left_out }))
}

/// A page of results as it came.
struct Page<'a> {
    text: &'a str,
    whole: Span,
    top: Object<Part>,
    found: Vec<&'a RawValue>,
}

impl<'a> Page<'a> {
    fn read(body: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?.trim();
        let whole = Span::new(0, u32::try_from(text.len()).ok()?);
        let top = Object::read(text, whole, |name| match name {
            "objects" => Some(Part::Objects),
            "total" => Some(Part::Total),
            _ => None,
        });
        let top = top.ok()?;
        let objects = top.get(&Part::Objects)?;
        let found = serde_json::from_str(objects.of(text)).ok()?;
        Some(Self { text, whole, top, found })
    }
}

enum Fate {
    Stays,
    LeftOut(LeftOut),
    NoResult,
}

fn judged(
    found: &str,
    about: impl Fn(&str) -> Result<Arc<Dossier>, Unreadable>,
) -> Result<Fate, Unreadable> {
    let Ok(Found { package }) = serde_json::from_str(found) else { return Ok(Fate::NoResult) };
    // What no person can read is in no event.
    let named = Name::new(&package.name).is_some();
    if !named || package.version.as_deref().is_some_and(|version| !is_version(version)) {
        return Ok(Fate::NoResult);
    }
    let dossier = about(&package.name)?;
    let version = package.version.as_deref().map(|text| Version::parse(Ecosystem::Npm, text));
    let candidate = Candidate::published(version.as_ref(), package.date);
    Ok(match dossier.judge(&candidate).refusal() {
        Some(objection) if objection.mask != Mask::DenyOnly => Fate::LeftOut(LeftOut {
            package: normalise(Ecosystem::Npm, &package.name).into_owned(),
            version: package.version,
            known: dossier.record_key(),
            revision: dossier.revision,
        }),
        Some(_) | None => Fate::Stays,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{npm::testing::rule, testing::facts};

    #[test]
    fn a_package_whose_newest_version_is_not_to_be_chosen_is_not_found() {
        let package = |name: &str| {
            format!(r#"{{"package":{{"name":"{name}","version":"1.0.0"}}, "score":1.50}}"#)
        };
        let page = |names: &[&str], total: u32| {
            let found: Vec<_> = names.iter().map(|name| package(name)).collect();
            format!(r#"{{"time":"now","objects":[{}],"total":{total},"x":1e400}}"#, found.join(","))
        };
        let rules = [
            rule(1, "b", ">=1", Mask::Hide),
            rule(2, "c", "1.0.0", Mask::Mark),
            rule(3, "d", "*", Mask::DenyOnly),
            rule(4, "a", ">1.0.0", Mask::Hide),
        ];
        let facts = facts(7, &rules);
        let about =
            |name: &str| Ok(Arc::new(facts.about(Ecosystem::Npm, name, None, Timestamp::EPOCH)));
        let filter = |body: &[u8]| filter(body, about).unwrap();
        let results = filter(page(&["a", "B", "c", "d"], 100).as_bytes()).unwrap();
        assert_eq!(results.page, page(&["a", "d"], 98));
        let left_out = ["b", "c"].map(|package| LeftOut {
            package: package.to_owned(),
            version: Some("1.0.0".to_owned()),
            known: about(package).unwrap().key,
            revision: 7,
        });
        assert_eq!(results.left_out, left_out);
        let nonsense = filter(br#"{"objects":[{},1,null]}"#).unwrap();
        assert_eq!(nonsense, Results { page: r#"{"objects":[]}"#.to_owned(), left_out: vec![] });
        for bad in ["", "[]", "{}", r#"{"objects":1}"#, r#"{"objects":[],"objects":[]}"#] {
            assert_eq!(filter(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn the_names_in_a_search_are_found() {
        let found = |query: &str| {
            names(query).iter().map(|name| name.as_str().to_owned()).collect::<Vec<_>>().join(" ")
        };
        for (query, wanted) in [
            ("text=left-pad&size=2", "left-pad"),
            ("size=2&text=%40acme%2Ftool+and", "@acme/tool and"),
            ("text=scope:acme", "@acme/x"),
            ("text=@acme%20%22tool%22", "@acme/x tool"),
            ("text=maintainer:ann", "ann"),
            ("size=2", ""),
        ] {
            assert_eq!(found(query), wanted, "{query}");
        }
    }
}
