//! What the targets share: an event around any bytes, rules of every mask, and what becomes of a page
//! of the simple index that could be read.
//!
//! Whatever an upstream sends, judging and writing it never panics, and what a rule hides is in no
//! document of ours.

use serde_json::value::RawValue;
use weir_aggregates::registry::{dossier::Dossier, facts::Facts, rule::RuleSet};
use weir_events::{
    envelope::Recorded,
    kind::Kind,
    position::{Position, StreamVersion},
    registry::{Ecosystem, Mask, Rule},
    stream::StreamName,
    timestamp::Timestamp,
};
use weir_processors::{
    outbound::Url,
    registry::pypi::{
        document::Document,
        filename::Project,
        filter::{Fate, filter},
        html, json,
        negotiate::Form,
        render::render,
    },
};

/// An event whose payload and meta are these bytes.
pub fn recorded(kind: Kind, schema: i16, bytes: &[u8]) -> Recorded {
    Recorded {
        position: Position(1),
        stream: StreamName::new("registry/rules").expect("a name"),
        version: StreamVersion(1),
        kind,
        schema,
        payload: bytes.to_vec().into(),
        meta: bytes.to_vec().into(),
        recorded_at: Timestamp::EPOCH,
        hash: [0; 32],
    }
}

/// What is known of a package where there are rules of every mask.
pub fn known(name: &str, ecosystem: Ecosystem, rules: [(&str, &str, Mask); 4]) -> Dossier {
    let rules = (1..).zip(rules).map(|(n, (package, versions, mask))| Rule {
        id: uuid::Uuid::from_u128(n).to_string(),
        ecosystem,
        package: package.to_owned(),
        versions: versions.to_owned(),
        reason: "\"too\" <young>\n& unknown".to_owned(),
        mask,
    });
    let mut facts = Facts::of_rules(RuleSet::compile(7, &rules.collect::<Vec<_>>()));
    facts.settle();
    facts.about(ecosystem, name, None, Timestamp::EPOCH)
}

/// The project every page is about.
pub fn project() -> Project {
    Project::new("six").expect("a project's name")
}

/// Where every page comes from.
pub fn url() -> Url {
    Url::parse("https://index.example/simple/six/").expect("an address")
}

/// Judges a page, writes it in every form, and reads what was written.
pub fn judge_and_render(document: &Document) {
    let dossier = known(
        "six",
        Ecosystem::Pypi,
        [
            ("six", ">=1.17", Mask::Hide),
            ("s*", "==1.16.*", Mask::Mark),
            ("*", "~=1.4,!=1.4.2", Mask::DenyOnly),
            ("six", "===2004d", Mask::Hide),
        ],
    );
    let filtered = filter(document, &dossier);
    assert_eq!(filtered.files.len(), document.files.len());
    let n_listed = filtered.files.iter().filter(|fate| **fate != Fate::Hide).count();
    for form in Form::ALL {
        let page = render(document, &filtered, form);
        let again = match form {
            Form::Json => {
                serde_json::from_str::<&RawValue>(&page).expect("JSON");
                // Ours adds members, and a page has a bound on them.
                if document.members.len() > 200
                    || document.files.iter().any(|file| file.members.len() > 200)
                {
                    continue;
                }
                json::parse(&project(), &url(), page.as_bytes())
            }
            Form::Html | Form::TextHtml => html::parse(&project(), &url(), page.as_bytes()),
        };
        let again = again.expect("a page of ours");
        assert_eq!(again.files.len(), n_listed, "{form:?}");
        assert!(!filter(&again, &dossier).files.contains(&Fate::Hide), "{form:?}");
    }
}
