//! `weir check` over what real clients wrote: lock files, requirements and bills of materials.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::advisory,
    weir::{Part, Place, Weir},
};

use super::{
    npm::client::{self, Client},
    pypi, said,
};

const GHSA: &str = "GHSA-w31r-w31r-w31r";

/// Runs `weir check` with `--json`, and answers how it ended and the only file's answer.
fn check(place: &Place, weir: &Weir, arguments: &[&str]) -> (Option<i32>, Value) {
    let ends = ["--server", &weir.url, "--json"];
    let output = place.run(&[&["check"], arguments, &ends].concat());
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|fault| panic!("{arguments:?}: {fault}: {}", said(&output)));
    (output.status.code(), answer["files"][0].clone())
}

/// The versions that were judged: all of them, and those that are refused.
fn versions(answer: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let all = answer["components"].as_array().expect("components");
    let name = |it: &&Value| {
        let part = |key: &str| it[key].as_str().expect("text").to_owned();
        format!("{} {} {}", part("ecosystem"), part("package"), part("version"))
    };
    let refused = all.iter().filter(|it| it["verdict"] == "block").map(|it| name(&it));
    (all.iter().map(|it| name(&it)).collect(), refused.collect())
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn path(of: &Path) -> &str {
    of.to_str().expect("a path of text")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_npm_pnpm_and_yarn_locked_is_judged_alike_and_so_is_npms_bill_of_materials() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let warned = advisory(Ecosystem::Npm, GHSA, "supports-color", "7.2.0", Some("7.2.1"));
    weir.client.judges_by(place.publish(&warned).await).await;
    let (blocked, mut files) = (set(&["npm supports-color 7.2.0"]), Vec::new());
    for client in [Client::Npm, Client::Pnpm, Client::Yarn] {
        let project =
            client.project(&place, "locked", &[("chalk", "4.1.2"), ("@types/ms", "2.1.0")]);
        let output = project.install(&client::upstream());
        assert!(output.status.success(), "{client:?}: {}", said(&output));
        files.push(project.folder().join(client.lock_file()));
        if client == Client::Npm {
            for format in ["cyclonedx", "spdx"] {
                let question = ["sbom", "--sbom-format", format, "--package-lock-only"];
                let bill = project.npm(&question, &client::upstream());
                assert!(bill.status.success(), "{}", said(&bill));
                let file = place.path().join(format!("{format}.json"));
                fs::write(&file, bill.stdout).expect("a bill");
                files.push(file);
            }
        }
    }
    let mut judged = Vec::new();
    for file in &files {
        let (code, answer) = check(&place, &weir, &[path(file)]);
        let (all, refused) = versions(&answer);
        assert_eq!((code, &refused), (Some(4), &blocked), "{answer}");
        judged.push((file.clone(), all));
        let components = answer["components"].as_array().expect("components").iter();
        let found = components.clone().find(|it| it["verdict"] == "block").expect("one");
        let objection = &found["objections"][0];
        assert_eq!((&objection["id"], &objection["source"]), (&json!(GHSA), &json!("osv")));
        assert_eq!(objection["advisory"]["fixed_by"], "7.2.1", "{found}");
        assert_eq!(objection["advisory"]["severity"], "high", "{found}");
    }
    // npm's SPDX names the project itself among its packages.
    for (_, all) in &mut judged {
        all.remove("npm project 1.0.0");
    }
    assert!(judged[0].1.len() > 5 && judged[0].1.contains("npm @types/ms 2.1.0"), "{judged:?}");
    for (file, all) in &judged[1..] {
        assert_eq!(all, &judged[0].1, "{}", file.display());
    }
    // A person is told, and many files are one answer.
    let names: Vec<&str> = files.iter().map(PathBuf::as_path).map(path).collect();
    let output = place.run(&[&["check"], &names[..], &["--server", &weir.url]].concat());
    let told = said(&output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert_eq!(told.matches(GHSA).count(), files.len(), "{told}");
    assert!(told.contains("supports-color") && told.contains("7.2.1"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_uv_locked_and_exported_is_judged_and_what_cargo_locked_here() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let warned = advisory(Ecosystem::Pypi, GHSA, "six", "1.17.0", None);
    weir.client.judges_by(place.publish(&warned).await).await;
    let folder = place.path().join("uv");
    fs::create_dir(&folder).expect("a folder");
    let project = "[project]\nname = \"project\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\n\
                   dependencies = [\"six==1.17.0\", \"python-dateutil==2.9.0.post0\"]\n";
    fs::write(folder.join("pyproject.toml"), project).expect("a project");
    let uv = |arguments: &[&str]| {
        let mut command = Command::new("uv");
        command.args(arguments).args(["--no-cache", "--no-config", "--default-index"]);
        command.arg(pypi::upstream()).current_dir(&folder);
        let output = pypi::clean(&mut command, place.path());
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        output.stdout
    };
    uv(&["lock"]);
    let requirements = uv(&["export", "--frozen", "--no-emit-project"]);
    fs::write(folder.join("requirements.txt"), requirements).expect("requirements");
    for (file, not_judged) in [("uv.lock", 1), ("requirements.txt", 0)] {
        let (code, answer) = check(&place, &weir, &[path(&folder.join(file))]);
        let (all, refused) = versions(&answer);
        assert_eq!((code, refused), (Some(4), set(&["pypi six 1.17.0"])), "{answer}");
        assert_eq!(all, set(&["pypi python-dateutil 2.9.0.post0", "pypi six 1.17.0"]));
        assert_eq!(answer["summary"]["not_judged"], not_judged, "{answer}");
    }
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    let (code, answer) = check(&place, &weir, &[lock]);
    assert_eq!((code, &answer["kind"]), (Some(0), &json!("cargo")), "{answer}");
    assert!(answer["summary"]["allowed"].as_u64() > Some(200), "{}", answer["summary"]);
    let own = answer["not_judged"].as_array().expect("a list").iter();
    assert!(own.clone().any(|it| it["entry"] == "weir@0.1.0"), "{}", answer["not_judged"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn package_urls_and_bills_are_judged_over_the_api_and_what_is_no_file_says_why() {
    let place = Place::on_a_test_database().await;
    let registries = "registries:\n  npm:\n    min_age_hours: 72\n";
    let place = place.setting(registries);
    let weir = place.start(Part::Up).await;
    let rule = weir.client.rule("six", ">=1.17", "not reviewed", "hide").await;
    weir.client.judges_by(rule.position()).await;
    let purls = json!({"purls": [
        "pkg:pypi/six@1.17.0", "pkg:pypi/Six@1.16.0", "pkg:npm/left-pad@1.3.0", "pkg:gem/x@1"]});
    let answer = weir.client.post("/api/registry/check", &purls).await.expect(200).json();
    let (all, refused) = versions(&answer);
    assert_eq!(all, set(&["npm left-pad 1.3.0", "pypi six 1.16.0", "pypi six 1.17.0"]));
    assert_eq!(refused, set(&["pypi six 1.17.0"]), "{answer}");
    let summary = &answer["summary"];
    assert_eq!((&summary["not_judged"], &summary["age_unknown"]), (&json!(1), &json!(1)));
    let unjudged = json!([{"entry": "pkg:gem/x@1",
        "reason": "packages of type `gem` are not known here"}]);
    assert_eq!(answer["not_judged"], unjudged);
    assert!(answer["policy_revision"].as_i64() >= Some(rule.position()), "{answer}");

    let bill = json!({"sbom": {"bomFormat": "CycloneDX", "components": [
        {"name": "six", "version": "1.17.0", "purl": "pkg:pypi/six@1.17.0"}]}});
    let answer = weir.client.post("/api/registry/check", &bill).await.expect(200).json();
    assert_eq!(answer["summary"]["blocked"], 1, "{answer}");

    for (body, status, words) in [
        (json!({}), 400, "send one of purls, lock and sbom"),
        (json!({"purls": [], "sbom": {}}), 400, "send one of purls, lock and sbom"),
        (json!({"sbom": {"x": 1}}), 400, "a bill is a CycloneDX or an SPDX document"),
        (json!({"lock": {"kind": "gems", "text": ""}}), 400, "lock.kind: there are: package-lock"),
        (json!({"lock": {"text": "hello"}}), 422, "it cannot be told what kind of file this is"),
        (
            json!({"lock": {"kind": "yarn", "text": "<<<<<<<"}}),
            422,
            "no yarn file can be read here: line 1",
        ),
        // Nobody is judged as if bound by nothing because of a slip in an id.
        (json!({"purls": [], "token": "0123456789abcdee"}), 422, "token: no token has the id"),
        (json!({"purls": [], "token": "robot"}), 422, "token: no token has the id `robot`"),
    ] {
        let refused = weir.client.post("/api/registry/check", &body).await.expect(status).json();
        assert!(refused["detail"].as_str().is_some_and(|it| it.contains(words)), "{refused}");
    }
    let path = "/api/registry/explain?ecosystem=pypi&package=six&version=1.17.0&token=robot";
    let refused = weir.client.get(path).await.expect(422).json();
    assert!(refused["type"].as_str().is_some_and(|it| it.ends_with("unknown_token")), "{refused}");
    let (_, installer) = weir.client.issue("installer", &["registry:pypi"]).await;
    let installer = weir.client.with_token(Some(&installer));
    installer.post("/api/registry/check", &purls).await.has(403);
}
