//! npm, pnpm, both yarns and bun.
//!
//! The project they install asks for `chalk` 4.1.2, and that for `supports-color` ^7.1.0, of which
//! 7.2.0 is the newest and 7.1.0 the one before.

mod as_of;
pub(super) mod client;

use serde_json::json;
use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::advisory,
    weir::{Part, Place, Weir},
};

use self::client::{CLIENTS, Client, upstream};
use super::{matrix::shows_id, said};

const DEPENDENCIES: [(&str, &str); 2] = [("chalk", "4.1.2"), ("@types/ms", "2.1.0")];
const REASON: &str = "not reviewed by security yet";
const GHSA: &str = "GHSA-w31r-w31r-w31r";
const STEP: &str = "not-reviewed-by-security-yet";

async fn weir() -> (Place, Weir) {
    weir_with("").await
}

async fn weir_with(more: &str) -> (Place, Weir) {
    let registry = format!("registries:\n  npm:\n    upstream: {}\n{more}", upstream());
    let place = Place::on_a_test_database().await.setting(&registry);
    let weir = place.start(Part::Up).await;
    (place, weir)
}

fn registry(weir: &Weir) -> String {
    format!("{}/npm/", weir.url)
}

/// Adds a rule, and answers its id.
async fn rule(weir: &Weir, package: &str, versions: &str, mask: &str) -> String {
    let rule = json!({"ecosystem": "npm", "package": package, "versions": versions,
        "reason": REASON, "mask": mask});
    let added = weir.client.post("/api/rules", &rule).await.expect(201).json();
    added["id"].as_str().expect("its id").to_owned()
}

async fn without(weir: &Weir, id: &str) {
    weir.client.delete(&format!("/api/rules/{id}")).await.has(204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_install_through_weir_is_the_same_as_a_direct_one_cold_and_warm() {
    let (place, weir) = weir().await;
    let mut n_allowed = 0;
    for client in CLIENTS {
        let direct = client.project(&place, "direct", &DEPENDENCIES);
        let output = direct.install(&upstream());
        assert!(output.status.success(), "{client:?} direct: {}", said(&output));
        for temperature in ["cold", "warm"] {
            // Each with a cache of its own, so that Weir is asked for everything.
            let project = client.project(&place, temperature, &DEPENDENCIES);
            let output = project.install(&registry(&weir));
            assert!(output.status.success(), "{client:?} {temperature}: {}", said(&output));
            assert_eq!(project.tree(), direct.tree(), "{client:?} {temperature}");
            assert!(project.tree().len() > 30, "{client:?} installed next to nothing");
            let (weirs, upstreams) = (registry(&weir), upstream());
            assert_eq!(project.lock(&weirs), direct.lock(&upstreams), "{client:?} {temperature}");
            let now = n_of(&weir, "PackageAllowed").await;
            assert!(now > n_allowed, "{client:?} {temperature} asked somebody else");
            n_allowed = now;
        }
    }
    // chalk, supports-color, has-flag, ansi-styles, color-convert, color-name, @types/ms.
    assert_eq!(n_of(&weir, "CacheStored").await, 7, "each tarball was fetched once");
}

async fn n_of(weir: &Weir, kind: &str) -> usize {
    let events = weir.client.get(&format!("/api/events?kind={kind}&limit=1000")).await;
    events.expect(200).json()["events"].as_array().map_or(0, Vec::len)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_good_version_of_a_dependency_is_taken_when_the_newest_is_hidden_or_marked() {
    let (place, weir) = weir().await;
    for mask in ["hide", "mark"] {
        let id = rule(&weir, "supports-color", ">=7.2.0", mask).await;
        for client in CLIENTS {
            let project = client.project(&place, mask, &DEPENDENCIES);
            let output = project.install(&registry(&weir));
            assert!(output.status.success(), "{client:?} {mask}: {}", said(&output));
            assert_eq!(project.installed("supports-color"), "7.1.0", "{client:?} {mask}");
        }
        without(&weir, &id).await;
    }
    assert_eq!(n_of(&weir, "MetadataFiltered").await, 2, "once per package and revision");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_for_no_version_gets_the_newest_that_is_allowed() {
    let (place, weir) = weir().await;
    for mask in ["hide", "mark"] {
        let id = rule(&weir, "is-number", ">=7.0.0", mask).await;
        for client in CLIENTS {
            let project = client.project(&place, mask, &[("is-number", "latest")]);
            let output = project.install(&registry(&weir));
            assert!(output.status.success(), "{client:?} {mask}: {}", said(&output));
            assert_eq!(project.installed("is-number"), "6.0.0", "{client:?} {mask}");
        }
        without(&weir, &id).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pinned_blocked_version_fails_and_every_client_shows_the_rule() {
    let (place, weir) = weir().await;
    for mask in ["mark", "deny-only"] {
        let id = rule(&weir, "is-number", "7.0.0", mask).await;
        for client in CLIENTS {
            let output = pinned(client, &place, &weir, mask);
            // bun takes for a secret what looks like an id in an address; a mark it shows as it is.
            let shows_id = client != Client::Bun || mask == "mark";
            assert!(!shows_id || output.contains(&id), "{client:?} {mask}, which rule? {output}");
            let told = [squeezed(REASON), STEP.to_owned()];
            let told = told.iter().any(|reason| output.contains(reason));
            assert!(told, "{client:?} {mask} did not say why: {output}");
        }
        without(&weir, &id).await;
    }
    let id = rule(&weir, "is-number", "7.0.0", "hide").await;
    for client in CLIENTS {
        let output = pinned(client, &place, &weir, "hide");
        let told = [&squeezed(REASON), STEP, &id].iter().any(|words| output.contains(*words));
        assert!(!told, "{client:?} was told of what does not exist: {output}");
        assert!(output.contains("is-number"), "{client:?}: {output}");
    }
    let blocks = weir.client.get("/api/blocks?min_position=head").await.expect(200);
    let blocks = blocks.json();
    let first = &blocks["blocks"][0];
    assert_eq!((&first["ecosystem"], &first["package"]), (&json!("npm"), &json!("is-number")));
    assert_eq!((&first["version"], &first["reason"]), (&json!("7.0.0"), &json!(REASON)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_an_advisory_is_about_fails_and_every_client_shows_the_advisory() {
    for mask in ["mark", "deny-only", "hide"] {
        let (place, weir) = weir_with(&format!("policy:\n  vulnerability_mask: {mask}\n")).await;
        let advisory = advisory(Ecosystem::Npm, GHSA, "is-number", "7.0.0", None);
        let at = place.publish(&advisory).await;
        weir.client.judges_by(at).await;
        for client in CLIENTS {
            let output = pinned(client, &place, &weir, mask);
            let shown = output.contains(GHSA);
            assert_eq!(shown, shows_id(client.name(), mask), "{client:?} {mask}: {output}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn npm_audits_against_the_advisories_that_are_known_here() {
    let (place, weir) = weir_with("policy:\n  vulnerability_mask: deny-only\n").await;
    let project = Client::Npm.project(&place, "audited", &DEPENDENCIES);
    let output = project.install(&registry(&weir));
    assert!(output.status.success(), "{}", said(&output));
    let advisory = advisory(Ecosystem::Npm, GHSA, "supports-color", "7.0.0", Some("7.9.0"));
    let at = place.publish(&advisory).await;
    weir.client.judges_by(at).await;
    let output = project.npm(&["audit"], &registry(&weir));
    let said = said(&output);
    assert!(!output.status.success(), "{said}");
    for words in [GHSA, "supports-color", "Severity: high", "fixed in 7.9.0"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// A text without its blanks: pnpm breaks lines wherever a dash is.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// What a client says, squeezed, that asks for the blocked version.
fn pinned(client: Client, place: &Place, weir: &Weir, folder: &str) -> String {
    let project = client.project(place, &format!("pinned-{folder}"), &[("is-number", "7.0.0")]);
    let output = project.install(&registry(weir));
    assert!(!output.status.success(), "{client:?} {folder} installed a blocked version");
    squeezed(&said(&output))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn npm_audits_against_the_rules_and_publishes_nothing() {
    let (place, weir) = weir().await;
    let project = Client::Npm.project(&place, "audited", &DEPENDENCIES);
    let output = project.install(&registry(&weir));
    assert!(output.status.success(), "{}", said(&output));
    let output = project.npm(&["audit"], &registry(&weir));
    assert!(output.status.success(), "{}", said(&output));
    rule(&weir, "supports-color", ">=7.2.0", "deny-only").await;
    let output = project.npm(&["audit"], &registry(&weir));
    assert!(!output.status.success() && said(&output).contains(REASON), "{}", said(&output));
    for question in [&["ping"][..], &["view", "supports-color@7.1.0", "version"]] {
        let output = project.npm(question, &registry(&weir));
        assert!(output.status.success(), "{question:?}: {}", said(&output));
    }
    let output = project.npm(&["deprecate", "chalk@4.1.2", "no"], &registry(&weir));
    assert!(!output.status.success() && said(&output).contains("read-only"), "{}", said(&output));
}
