//! Every decision stands in the log with what it was made of: judged once more by that alone, it comes
//! to the same, down to the words that its client was told.

use std::sync::Arc;

use serde_json::{Value, json};
use weir_aggregates::{
    machine::Machine as _,
    registry::{
        dossier::Dossier,
        facts::Facts,
        profile::Asker,
        seen::{Seen, State, Watching},
        verdict::{Candidate, Excuse as Waived, Objection, Verdict},
        version::Version,
    },
};
use weir_events::{
    envelope::Recorded,
    position::Position,
    registry::{
        Ecosystem, Event, Evidence, Excuse, Grounds, Mask, MetadataFiltered, PackageAllowed,
        PackageBlocked, advisory::Severity,
    },
    timestamp::Timestamp,
};
use weir_processors::caller::Caller;
use weir_tests::{
    advisories::{advisory, sign},
    weir::{Answer, Client, Part, Place},
};

use super::{
    made::{Registry, content, tarball},
    profiles::{issue, set},
};

const GHSA: &str = "GHSA-w31r-w31r-w31r";
const LEAF: &str = "leaf";

/// What the log has, in its order: all that a decision may be judged by, and the decisions.
struct Past(Vec<(Arc<Recorded>, Event)>);

impl Past {
    async fn of(place: &Place, head: Position) -> Self {
        let log = place.database.as_ref().expect("a test database").log().await;
        let mut tail = log.log.tail(Position(0));
        let mut all: Vec<Arc<Recorded>> = Vec::new();
        while all.last().is_none_or(|last| last.position < head) {
            all.extend(tail.next(1_000).await.expect("events"));
        }
        let registry = all.into_iter().filter_map(|recorded| {
            let event = recorded.decode::<Event>()?.expect("an event of today");
            Some((recorded, event))
        });
        Self(registry.collect())
    }

    /// All that was known of a package for who asked, by the policy that a decision names.
    fn known(&self, at: usize, revision: i64, profile: Option<&str>) -> Dossier {
        let (recorded, _) = &self.0[at];
        let mut facts = Facts::default();
        for (fact, event) in self.0.iter().filter(|(fact, _)| fact.position.0 <= revision) {
            facts.apply(fact.position.0, event);
        }
        facts.settle();
        let meta = recorded.meta().expect("who asked");
        let asker = Asker { token: Caller::token_of(&meta.actor), profile };
        let dossier = facts.about_for(Ecosystem::Npm, LEAF, asker, recorded.recorded_at);
        // Our own clock, which no policy is.
        let mut seen = State::default();
        for (_, event) in &self.0[..at] {
            Watching::apply(&mut seen, event);
        }
        dossier.seeing(Arc::new(Seen::Versions(seen)))
    }

    /// What a refusal comes to when it is judged once more, and what its client is told.
    fn blocked(&self, at: usize, was: &PackageBlocked) -> (PackageBlocked, String) {
        let dossier = self.known(at, was.policy_revision, was.profile.as_deref());
        let version = was.version.as_deref().map(|text| Version::parse(Ecosystem::Npm, text));
        let candidate = Candidate::published(version.as_ref(), was.published_at);
        let verdict = dossier.judge(&Candidate { late: was.late, ..candidate });
        let Verdict::Block(objection) = verdict else { panic!("{was:?}: {verdict:?}") };
        let evidence = objection.cited.as_ref().map(|cited| Evidence {
            advisory_id: cited.id.clone(),
            class: cited.class,
            severity: cited.severity,
            hit: cited.hit.to_string(),
            digest: cited.digest.clone(),
            fixed_by: cited.fixed_by.clone(),
        });
        let is = PackageBlocked {
            source: objection.source.clone(),
            rule_id: objection.rule_id.clone(),
            reason: objection.reason.clone(),
            mask: objection.mask,
            policy_revision: dossier.revision,
            late: dossier.is_late(&candidate),
            evidence,
            ..was.clone()
        };
        (is, objection.to_string())
    }

    /// What a permission comes to when it is judged once more.
    fn allowed(&self, at: usize, was: &PackageAllowed) -> PackageAllowed {
        let dossier = self.known(at, was.policy_revision, was.profile.as_deref());
        let version = was.version.as_deref().map(|text| Version::parse(Ecosystem::Npm, text));
        let candidate = Candidate::published(version.as_ref(), was.published_at);
        let verdict = dossier.judge(&Candidate { late: was.late, ..candidate });
        assert!(verdict.allowed(), "{was:?}: {verdict:?}");
        let (warning, excuse) = match &verdict {
            Verdict::Warn(objection) | Verdict::Advise(objection) => {
                (Some(grounds(objection)), None)
            }
            Verdict::Excused(Waived::Waiver { id, objection }) => {
                (None, Some(Excuse::Waiver { id: id.clone(), grounds: grounds(objection) }))
            }
            Verdict::Excused(Waived::Fix { advisory }) => {
                (None, Some(Excuse::Fix { advisory: advisory.clone() }))
            }
            Verdict::Allow | Verdict::Block(_) => (None, None),
        };
        let late = dossier.is_late(&candidate);
        PackageAllowed { policy_revision: dossier.revision, late, warning, excuse, ..was.clone() }
    }

    /// What a list comes to when its versions are judged once more.
    fn filtered(&self, at: usize, was: &MetadataFiltered, packument: &Value) -> MetadataFiltered {
        let dossier = self.known(at, was.policy_revision, None);
        let (mut hidden, mut marked) = (Vec::new(), Vec::new());
        for text in packument["versions"].as_object().expect("versions").keys() {
            let version = Version::parse(Ecosystem::Npm, text);
            let time = packument["time"][text].as_str().and_then(|time| time.parse().ok());
            let verdict = dossier.judge(&Candidate::published(Some(&version), time));
            match verdict.refusal().map(|objection| objection.mask) {
                Some(Mask::Hide) => hidden.push(text.clone()),
                Some(Mask::Mark) => marked.push(text.clone()),
                Some(Mask::DenyOnly) | None => {}
            }
        }
        let policy_revision = dossier.revision;
        MetadataFiltered { hidden, marked, policy_revision, ..was.clone() }
    }
}

fn grounds(objection: &Objection) -> Grounds {
    Grounds {
        source: objection.source.clone(),
        id: objection.id().to_owned(),
        reason: objection.reason.clone(),
    }
}

/// Asks for a tarball.
async fn ask(client: &Client, version: &str) -> Answer {
    client.get(&format!("/npm/{LEAF}/-/{}", tarball(LEAF, version))).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_decision_of_a_run_is_judged_alike_by_what_the_log_says_of_it() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(now.expect("after 1970").as_micros()).expect("before 9999");
    let young = Timestamp::from_micros(now).plus_seconds(-3_600).to_string();
    let registry = Registry::start(&[
        (LEAF, "1.0.0", "2021-01-02T03:04:05.678Z"),
        (LEAF, "1.1.0", "2022-01-02T03:04:05.678Z"),
        (LEAF, "1.2.0", "2023-01-02T03:04:05.678Z"),
        (LEAF, "2.0.0", &young),
    ])
    .await;
    let settings =
        format!("registries:\n  npm:\n    upstream: {}\n    min_age_hours: 72\n", registry.url);
    let place = Place::on_a_test_database().await.setting(&settings);
    let weir = place.start(Part::Up).await;
    let admin = &weir.client;
    let list = async || admin.get(&format!("/npm/{LEAF}")).await.expect(200);
    let mut told = Vec::new();

    for version in ["1.0.0", "2.0.0", "1.2.0"] {
        told.push(ask(admin, version).await);
    }
    list().await;
    let rule = json!({"ecosystem": "npm", "package": "le*", "versions": ">=1.2.0",
        "reason": "not reviewed by security yet", "mask": "hide"});
    let rule = admin.post("/api/rules", &rule).await.expect(201);
    admin.judges_by(rule.position()).await;
    told.push(ask(admin, "1.2.0").await);
    list().await;
    let high = advisory(Ecosystem::Npm, GHSA, LEAF, "1.1.0", Some("1.2.0"));
    admin.judges_by(place.publish(&high).await).await;
    told.push(ask(admin, "1.1.0").await);
    list().await;
    let waiver = json!({"ecosystem": "npm", "package": LEAF, "versions": "1.1.0", "waives": [GHSA],
        "reason": "needed for the fair", "owner": "team blue", "days": 7});
    let waiver = admin.post("/api/registry/waivers", &waiver).await.expect(201);
    admin.judges_by(waiver.position()).await;
    told.push(ask(admin, "1.1.0").await);
    list().await;
    // An agent is judged more strictly than who runs this.
    let mut low = advisory(Ecosystem::Npm, "GHSA-low", LEAF, "1.0.0", Some("1.1.0"));
    low.affected[0].severity = Severity::Low;
    sign(&mut low);
    place.publish(&low).await;
    let profile = set(admin, "agent", &json!({"severity_floor": "low"})).await.expect(200);
    admin.judges_by(profile.position()).await;
    let (robot, _) = issue(&weir, "robot", &["registry:npm"], "agent").await;
    for client in [&robot, admin] {
        told.push(ask(client, "1.0.0").await);
    }
    let id = rule.json()["id"].as_str().expect("an id").to_owned();
    let removed = admin.delete(&format!("/api/rules/{id}")).await.expect(204);
    admin.judges_by(removed.position()).await;
    told.push(ask(admin, "1.2.0").await);
    let statuses: Vec<_> = told.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 403, 200, 403, 403, 200, 403, 200, 200]);

    let head = admin.get("/api/status").await.expect(200).json()["head"].as_i64().expect("a head");
    let past = Past::of(&place, Position(head)).await;
    let packument = registry.packument(LEAF);
    let document = blake3::hash(packument).to_hex().to_string();
    let packument: Value = serde_json::from_slice(packument).expect("JSON");
    let (mut answers, mut n_filtered) = (told.iter(), 0);
    for (at, (recorded, event)) in past.0.iter().enumerate() {
        let position = recorded.position;
        match event {
            Event::PackageBlocked(blocked) => {
                let (again, words) = past.blocked(at, blocked);
                assert_eq!(again, *blocked, "{position}");
                assert_eq!(blocked.document.as_ref(), Some(&document), "{position}");
                let answer = answers.next().expect("an answer");
                assert_eq!((answer.status, answer.position()), (403, position.0));
                let said = answer.json()["error"].as_str().unwrap_or_default().to_owned();
                assert!(said.starts_with(&words), "{position}: {said}");
            }
            Event::PackageAllowed(allowed) => {
                assert_eq!(past.allowed(at, allowed), *allowed, "{position}");
                assert_eq!(allowed.document.as_ref(), Some(&document), "{position}");
                let answer = answers.next().expect("an answer");
                assert_eq!((answer.status, answer.position()), (200, position.0));
                assert_eq!(answer.body, content(&allowed.file), "{position}");
            }
            Event::MetadataFiltered(filtered) => {
                assert_eq!(past.filtered(at, filtered, &packument), *filtered, "{position}");
                assert_eq!(filtered.document, document, "{position}");
                n_filtered += 1;
            }
            _ => {}
        }
    }
    assert_eq!((answers.next(), n_filtered), (None, 4), "each of them stands in the log");
}
