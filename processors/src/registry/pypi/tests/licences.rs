//! Licences, which stand beside the files: fetched where they decide, and not before.

use http::StatusCode;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use weir_aggregates::registry::facts::Facts;
use weir_events::registry::{
    Mask, RuleAdded,
    policy::{Licences, Reaction, Settings, SettingsChanged},
};

use super::{super::testing::rule, *};

const FILE: &str = "/files/viral/viral-1.0.tar.gz";
const METADATA: &str = "/packages/viral-1.0.tar.gz.metadata";

/// A package under the AGPL.
async fn weir() -> Weir {
    let weir = Weir::start().await;
    let file = "viral-1.0.tar.gz";
    let body = content(file);
    let page = json!({
        "meta": {"api-version": "1.1"}, "name": "viral", "files": [{
            "filename": file, "url": format!("../../packages/{file}"), "core-metadata": true,
            "hashes": {"sha256": hex::encode(Sha256::digest(&body))}, "size": body.len(),
        }],
    });
    weir.upstream.page("viral", &page);
    weir.upstream.put(&format!("/packages/{file}"), Canned::new(body));
    weir.upstream.put(METADATA, Canned::new("Name: viral\nLicense: AGPLv3\n\n"));
    weir
}

/// From now on licences count, and a rule, where that is so.
fn judge(weir: &Weir, ruled: bool) {
    let licences = Licences {
        deny: vec!["AGPL-*".to_owned()],
        violation: Reaction::Block,
        ecosystems: vec![Ecosystem::Pypi],
        ..Licences::default()
    };
    let mut facts = Facts::default();
    let settings = Settings { licences, ..Settings::default() };
    facts.apply(1, &SettingsChanged { settings }.into());
    if ruled {
        facts.apply(2, &RuleAdded { rule: rule(1, "viral", "*", Mask::Mark) }.into());
    }
    facts.settle();
    (weir.set_facts)(facts);
}

#[tokio::test]
async fn a_licence_is_fetched_where_it_decides_and_by_nobody_who_only_asks() {
    let weir = weir().await;
    judge(&weir, true);
    let refused = weir.get(FILE).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(text(refused).await.contains("too young"));
    judge(&weir, false);
    assert_eq!(weir.head(FILE).await.status, StatusCode::OK, "nobody knows it yet");
    assert_eq!(weir.upstream.n_asked(METADATA), 0);
    let refused = weir.get(FILE).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(text(refused).await.contains("its licence, `AGPL-3.0-only`"));
    assert_eq!(weir.upstream.n_asked(METADATA), 1);
    // What was told stays told, whatever refuses the file meanwhile.
    judge(&weir, true);
    assert_eq!(weir.get(FILE).await.status, StatusCode::FORBIDDEN);
    judge(&weir, false);
    assert_eq!(weir.head(FILE).await.status, StatusCode::FORBIDDEN);
    assert_eq!(weir.upstream.n_asked("/packages/viral-1.0.tar.gz"), 0);
}
