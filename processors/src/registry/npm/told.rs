//! What a packument tells of its versions beside what they need to be served: who vouches for them,
//! who published them, and under which licence. Read only where a policy asks.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use weir_aggregates::registry::{
    licence,
    told::Told,
    trust::{Published, Release, Witnesses, newcomers},
};
use weir_events::registry::sighting::Vouched;

use super::document::Document;

/// The most maintainers of one version that are looked at.
const MAX_MAINTAINERS: usize = 1_000;

/// The members of a version that are looked at. What is not of the kind it should be says nothing.
#[derive(Debug, Default, Deserialize)]
struct Listed<'a> {
    #[serde(borrow, default)]
    dist: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_npmUser")]
    publisher: Option<&'a RawValue>,
    #[serde(borrow, default)]
    maintainers: Option<&'a RawValue>,
    #[serde(borrow, default)]
    license: Option<&'a RawValue>,
    #[serde(borrow, default)]
    licenses: Option<&'a RawValue>,
}

/// What is told of a version.
#[derive(Debug, Default)]
struct Version {
    vouched: Vouched,
    publisher: Option<String>,
    maintainers: Vec<String>,
    licence: String,
}

impl Version {
    fn read(text: &str) -> Self {
        let listed: Listed<'_> = serde_json::from_str(text).unwrap_or_default();
        let value = |raw: Option<&RawValue>| {
            raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or(Value::Null)
        };
        let publisher = value(listed.publisher);
        let vouched = if publisher["trustedPublisher"].is_object() {
            Vouched::TrustedPublisher
        } else if value(listed.dist)["attestations"]["provenance"].is_object() {
            Vouched::Provenance
        } else {
            Vouched::Nothing
        };
        // Older packuments have maintainers as texts: `name <address>`.
        let name = |person: &Value| {
            let text = person.as_str().and_then(|text| text.split(" <").next());
            person["name"].as_str().or(text).map(|name| name.trim().to_owned())
        };
        let maintainers = value(listed.maintainers);
        let maintainers = maintainers.as_array().into_iter().flatten().take(MAX_MAINTAINERS);
        Self {
            vouched,
            // What a trusted publisher publishes, no person does.
            publisher: name(&publisher).filter(|_| vouched != Vouched::TrustedPublisher),
            maintainers: maintainers.filter_map(name).collect(),
            licence: licence_in(&value(listed.license), &value(listed.licenses)),
        }
    }
}

/// A licence as npm wants it today, a text; or as it was written before: an object, or several of both,
/// of which one could be chosen.
fn licence_in(license: &Value, licenses: &Value) -> String {
    let told = |value: &Value| match value {
        Value::Array(all) => all.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    let all = [told(license), told(licenses)].into_iter().find(|all| !all.is_empty());
    let all = all.unwrap_or_default();
    let text = |value: &Value| {
        let named = [value, &value["type"], &value["name"]];
        named.into_iter().find_map(|it| it.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let all: Vec<_> = all.iter().map(text).collect();
    licence::either(all.iter().map(String::as_str))
}

/// What is told of each version, in the order of the members of `versions`.
#[must_use]
pub fn read(document: &Document) -> Vec<Told> {
    let members = document.versions.iter().flat_map(|versions| &versions.members);
    let listed: Vec<_> = members.map(|it| Version::read(it.value.of(&document.text))).collect();
    let released = document.releases.iter().zip(&listed).filter_map(|(release, listed)| {
        let release = release.as_ref()?;
        let (version, published_at) = (&release.version, release.published_at);
        Some(Release { version, published_at, vouched: listed.vouched })
    });
    let witnesses = Witnesses::among(released);
    let published = document.releases.iter().zip(&listed).map(|(release, listed)| Published {
        at: release.as_ref().and_then(|release| release.published_at),
        by: listed.publisher.as_deref(),
        maintainers: listed.maintainers.iter().map(String::as_str).collect(),
    });
    let newcomers = newcomers(&published.collect::<Vec<_>>());
    let told = document.releases.iter().zip(&listed).zip(newcomers);
    told.map(|((release, listed), newcomer)| {
        let Some(release) = release else { return Told::default() };
        let (version, published_at) = (&release.version, release.published_at);
        let lost = witnesses.lost(&Release { version, published_at, vouched: listed.vouched });
        Told { lost, newcomer, licence: Some(listed.licence.clone()) }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use weir_aggregates::registry::licence::NO_ASSERTION;

    use super::*;
    use crate::{outbound::Url, registry::npm::name::Name};

    fn told(versions: &[(&str, Value)]) -> Vec<Told> {
        let listed = versions.iter().map(|(version, value)| ((*version).to_owned(), value.clone()));
        let times = versions.iter().enumerate();
        let times = times.map(|(day, (version, _))| {
            ((*version).to_owned(), json!(format!("2026-01-{:02}T00:00:00.000Z", day + 1)))
        });
        let packument = json!({
            "versions": listed.collect::<serde_json::Map<_, _>>(),
            "time": times.collect::<serde_json::Map<_, _>>(),
        });
        let url = Url::parse("https://registry.example/pad").unwrap();
        let text = packument.to_string();
        read(&Document::read(&Name::new("pad").unwrap(), &url, text.as_bytes()).unwrap())
    }

    fn attested() -> Value {
        let predicate = json!({"predicateType": "https://slsa.dev/provenance/v1"});
        json!({"dist": {"attestations": {"url": "https://registry.example/a", "provenance": predicate}}})
    }

    #[test]
    fn a_lost_provenance_and_a_lost_publisher_are_told_with_who_had_them() {
        let trusted = json!({"_npmUser": {"name": "Builder", "trustedPublisher": {"id": "forge"}}});
        let signed = json!({"dist": {"signatures": [{"keyid": "x", "sig": "y"}]}});
        let told = told(&[
            ("1.0.0", signed.clone()),
            ("1.1.0", attested()),
            ("1.2.0", signed),
            ("1.3.0", trusted),
            ("1.4.0", attested()),
            ("1.5.0", json!({"dist": {"attestations": null}})),
        ]);
        let lost: Vec<_> = told
            .iter()
            .map(|told| told.lost.as_ref().map(|lost| (lost.had, lost.has, lost.earlier.as_str())))
            .collect();
        let (nothing, provenance, publisher) =
            (Vouched::Nothing, Vouched::Provenance, Vouched::TrustedPublisher);
        assert_eq!(
            lost,
            [
                None,
                None,
                Some((provenance, nothing, "1.1.0")),
                None,
                Some((publisher, provenance, "1.3.0")),
                Some((publisher, nothing, "1.3.0")),
            ]
        );
    }

    #[test]
    fn somebody_new_is_told_and_a_machine_that_is_trusted_is_nobody_new() {
        let by = |name: &str, maintainers: Value| json!({"_npmUser": {"name": name}, "maintainers": maintainers});
        let told = told(&[
            ("1.0.0", by("ann", json!([{"name": "ann"}, "bob <bob@example.org>"]))),
            ("1.1.0", by("bob", json!("ann"))),
            ("1.2.0", by("eve", json!([{"name": "eve"}]))),
            ("1.3.0", json!({"_npmUser": {"name": "Builder", "trustedPublisher": {}}})),
            ("1.4.0", by("eve", json!([{"name": "eve"}]))),
        ]);
        let newcomers: Vec<_> = told.iter().map(|told| told.newcomer.as_deref()).collect();
        assert_eq!(newcomers, [None, None, Some("eve"), None, Some("eve")]);
    }

    #[test]
    fn a_packument_that_tells_of_nobody_says_nothing() {
        let bare =
            told(&[("1.0.0", json!({"dist": {}})), ("1.1.0", json!({})), ("1.2.0", json!(7))]);
        let nothing = Told { licence: Some(NO_ASSERTION.to_owned()), ..Told::default() };
        let served = bare[..2].iter().all(|told| *told == nothing);
        // What cannot be served is not asked about.
        assert!(served && bare[2].is_nothing(), "{bare:?}");
        let odd = json!({"dist": {"attestations": 7}, "_npmUser": [], "maintainers": {"a": 1}});
        let told = told(&[("1.0.0", odd.clone()), ("1.1.0", odd)]);
        assert!(told.iter().all(|told| *told == nothing), "{told:?}");
    }

    #[test]
    fn a_licence_is_read_in_every_form_it_ever_had() {
        for (version, licence) in [
            (json!({"license": "MIT"}), "MIT"),
            (json!({"license": "(MIT OR Apache-2.0)"}), "MIT OR Apache-2.0"),
            (
                json!({"license": {"type": "BSD-3-Clause", "url": "https://x.example"}}),
                "BSD-3-Clause",
            ),
            (json!({"licenses": [{"type": "MIT"}, {"type": "GPL-2.0"}]}), "MIT OR GPL-2.0-only"),
            (json!({"license": ["MIT", "ISC"], "licenses": "Zlib"}), "MIT OR ISC"),
            (
                json!({"license": ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "AGPL"]}),
                "a OR b OR c OR d OR e OR f OR g OR h OR i OR j OR AGPL-1.0-or-later",
            ),
            (json!({"license": "UNLICENSED"}), "UNLICENSED"),
            (json!({"license": "SEE LICENSE IN LICENSE"}), "SEE LICENSE IN LICENSE"),
            (json!({"license": 7, "licenses": []}), NO_ASSERTION),
            (json!({}), NO_ASSERTION),
        ] {
            let told = told(&[("1.0.0", version.clone())]);
            assert_eq!(told[0].licence.as_deref(), Some(licence), "{version}");
        }
    }
}
