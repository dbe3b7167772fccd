//! Real cargo, which takes Weir for the source that replaces its own default.
//!
//! The project it builds asks for `itertools` 0.14.0, which asks for `either` ^1.0, and for `hex`.

mod as_of;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};
use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::advisory,
    weir::{Part, Place, Weir},
};

use super::{matrix::shows_id, said};

const REASON: &str = "not reviewed by security yet";
const GHSA: &str = "GHSA-w31r-w31r-w31r";
const MANIFEST: &str = "[package]\nname = \"project\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
                        [dependencies]\nitertools = \"=0.14.0\"\nhex = \"=0.4.3\"\n";

/// The index that this machine's own cargo uses, as Weir itself finds it out.
fn upstream(place: &Place) -> String {
    let output = place.run(&["init", "--dry-run", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    found["registries.cargo.upstream"].as_str().expect("an index").to_owned()
}

async fn weir_with(more: &str) -> (Place, Weir) {
    let place = Place::on_a_test_database().await;
    let registry = format!("registries:\n  cargo:\n    upstream: {}\n{more}", upstream(&place));
    let place = place.setting(&registry);
    let weir = place.start(Part::Up).await;
    (place, weir)
}

async fn weir() -> (Place, Weir) {
    weir_with("").await
}

async fn rule(weir: &Weir, versions: &str, mask: &str) {
    let rule = json!({"ecosystem": "cargo", "package": "either", "versions": versions,
        "reason": REASON, "mask": mask});
    weir.client.post("/api/rules", &rule).await.has(201);
}

async fn n_of(weir: &Weir, kind: &str) -> usize {
    let events = weir.client.get(&format!("/api/events?kind={kind}&limit=1000")).await;
    events.expect(200).json()["events"].as_array().map_or(0, Vec::len)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_an_advisory_is_about_fails_and_cargo_shows_the_advisory() {
    for mask in ["mark", "deny-only", "hide"] {
        let (place, weir) = weir_with(&format!("policy:\n  vulnerability_mask: {mask}\n")).await;
        // One that locked the version before anybody knew.
        let locked = Project::through(&weir, &place, "before").pinned("1.13.0");
        locked.does(&["fetch"]);
        let advisory = advisory(Ecosystem::Cargo, GHSA, "either", "1.13.0", Some("1.14.0"));
        let at = place.publish(&advisory).await;
        weir.client.judges_by(at).await;
        let again = Project::through(&weir, &place, "after").pinned("1.13.0").locked_as(&locked);
        let told = again.refuses(&["fetch", "--locked"]);
        assert_eq!(told.contains(GHSA), mask != "hide", "{mask}: {told}");
        let pinned = Project::through(&weir, &place, "pinned").pinned("1.13.0");
        let told = pinned.refuses(&["fetch"]);
        assert_eq!(told.contains(GHSA), shows_id("cargo", mask), "{mask}: {told}");
    }
}

/// A project with a cargo home of its own.
struct Project {
    folder: PathBuf,
    home: PathBuf,
}

impl Project {
    /// One that asks the index which cargo asks by itself.
    fn direct(place: &Place, name: &str) -> Self {
        Self::configured(place, name, "")
    }

    /// One that asks Weir.
    fn through(weir: &Weir, place: &Place, name: &str) -> Self {
        Self::configured(
            place,
            name,
            &format!(
                "[source.crates-io]\nreplace-with = \"weir\"\n\n\
                 [registries.weir]\nindex = \"sparse+{}/cargo/\"\n\
                 credential-provider = \"cargo:token\"\n",
                weir.url
            ),
        )
    }

    fn configured(place: &Place, name: &str, config: &str) -> Self {
        let folder = place.path().join(name);
        let home = folder.join("home");
        fs::create_dir_all(folder.join("src")).expect("a project");
        fs::create_dir_all(&home).expect("a home");
        fs::write(folder.join("Cargo.toml"), MANIFEST).expect("its manifest");
        fs::write(folder.join("src/lib.rs"), "pub use {hex, itertools};\n").expect("its code");
        fs::write(home.join("config.toml"), config).expect("a configuration");
        Self { folder, home }
    }

    /// The same, pinned to a version of `either`.
    fn pinned(self, version: &str) -> Self {
        let manifest = format!("{MANIFEST}either = \"={version}\"\n");
        fs::write(self.folder.join("Cargo.toml"), manifest).expect("its manifest");
        self
    }

    /// The same, with a token for Weir.
    fn with_token(self, token: &str) -> Self {
        let credentials = format!("[registries.weir]\ntoken = \"{token}\"\n");
        fs::write(self.home.join("credentials.toml"), credentials).expect("its credentials");
        self
    }

    /// The same, locked as another one is.
    fn locked_as(self, other: &Self) -> Self {
        fs::write(self.folder.join("Cargo.lock"), other.lock()).expect("its lock file");
        self
    }

    /// Runs cargo with nothing of the machine's own configuration.
    fn cargo(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("cargo");
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("CARGO") || name.starts_with("RUSTC") {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("CARGO_HOME", &self.home)
            .env("CARGO_NET_RETRY", "0");
        command.output().expect("run cargo")
    }

    fn does(&self, arguments: &[&str]) {
        let output = self.cargo(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    }

    /// What cargo says when it does not do it.
    fn refuses(&self, arguments: &[&str]) -> String {
        let output = self.cargo(arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", said(&output));
        said(&output)
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.folder.join("Cargo.lock")).expect("Cargo.lock")
    }

    /// The version of `either` that it is locked to.
    fn either(&self) -> String {
        let lock = self.lock();
        let (_, rest) = lock.split_once("name = \"either\"\nversion = \"").expect("either");
        rest.split('"').next().expect("its version").to_owned()
    }

    /// Every file of its dependencies, with its content.
    fn vendored(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.does(&["vendor", "--locked", "--respect-source-config", "vendor"]);
        let (top, mut files) = (self.folder.join("vendor"), BTreeMap::new());
        collect(&top, &top, &mut files);
        files
    }
}

fn collect(top: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(top, &path, files);
        } else {
            let name = path.strip_prefix(top).expect("below it").to_owned();
            files.insert(name, fs::read(&path).expect("a file"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_through_weir_is_the_same_as_a_direct_one_cold_and_warm() {
    let (place, weir) = weir().await;
    let direct = Project::direct(&place, "direct");
    direct.does(&["generate-lockfile"]);
    let wanted = direct.vendored();
    assert!(wanted.len() > 50, "next to nothing: {:?}", wanted.keys());
    for temperature in ["cold", "warm"] {
        // Each with a home of its own, so that Weir is asked for everything.
        let project = Project::through(&weir, &place, temperature);
        project.does(&["generate-lockfile"]);
        assert_eq!(project.lock(), direct.lock(), "{temperature}");
        assert!(project.vendored() == wanted, "{temperature}: other files");
        project.does(&["build", "--locked"]);
    }
    assert_eq!(n_of(&weir, "PackageAllowed").await, 6, "each version for each home");
    assert_eq!(n_of(&weir, "CacheStored").await, 3, "each version once");
    assert_eq!(n_of(&weir, "MetadataFiltered").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_good_version_of_a_dependency_is_taken_when_newer_ones_are_blocked() {
    for mask in ["mark", "hide"] {
        let (place, weir) = weir().await;
        let free = Project::through(&weir, &place, "free");
        free.does(&["fetch"]);
        assert_ne!(free.either(), "1.13.0");
        rule(&weir, ">=1.14.0", mask).await;
        let project = Project::through(&weir, &place, "ruled");
        project.does(&["fetch"]);
        assert_eq!(project.either(), "1.13.0", "{mask}");
        assert_eq!(n_of(&weir, "MetadataFiltered").await, 1, "{mask}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_pin_fails_and_cargo_says_what_the_mask_lets_it_know() {
    for (mask, words) in [
        ("deny-only", REASON),
        ("mark", "version 1.13.0 is yanked"),
        ("hide", "candidate versions found which didn't match"),
    ] {
        let (place, weir) = weir().await;
        rule(&weir, "=1.13.0", mask).await;
        let told = Project::through(&weir, &place, "pinned").pinned("1.13.0").refuses(&["fetch"]);
        assert!(told.contains(words), "{mask}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_version_that_is_blocked_later_is_refused_with_the_whole_reason() {
    let (place, weir) = weir().await;
    let before = Project::through(&weir, &place, "before").pinned("1.13.0");
    before.does(&["fetch"]);
    rule(&weir, ">=1.13.0", "mark").await;
    let after = Project::through(&weir, &place, "after").pinned("1.13.0").locked_as(&before);
    let told = after.refuses(&["fetch", "--locked"]);
    for words in [
        "Blocked by Weir: not reviewed by security yet (rule ",
        "version 1.13.0 of `either` is not let through; 1.12.0 is allowed",
        "recorded as event ",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let blocks = weir.client.get("/api/blocks?min_position=head").await.expect(200);
    let blocks = blocks.json();
    let first = &blocks["blocks"][0];
    let told = ["ecosystem", "package", "version", "reason"].map(|member| first[member].as_str());
    assert_eq!(told, ["cargo", "either", "1.13.0", REASON].map(Some), "{blocks}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_tokens_are_needed_cargo_shows_its_own_and_one_for_python_opens_no_crate() {
    let (place, weir) = weir_with("auth:\n  loopback_packages: closed\n").await;
    let (_, crates) = weir.client.issue("crates", &["registry:cargo"]).await;
    let (_, python) = weir.client.issue("python", &["registry:pypi"]).await;
    let told = Project::through(&weir, &place, "nobody").refuses(&["fetch"]);
    assert!(told.contains("no token found for `weir`"), "{told}");
    let told = Project::through(&weir, &place, "python").with_token(&python).refuses(&["fetch"]);
    assert!(told.contains("it needs scope `registry:cargo`"), "{told}");
    Project::through(&weir, &place, "crates").with_token(&crates).does(&["fetch"]);
    assert_eq!(n_of(&weir, "PackageAllowed").await, 3);
}
