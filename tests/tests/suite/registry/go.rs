//! The real go command, against a module proxy of its own kind on this machine: what it would ask
//! outside is public and not within reach of a test.
//!
//! The project asks for `mid` v1.0.0, and that for `leaf` v1.0.0, of which v1.1.0 and v1.2.0 are newer.

mod as_of;
mod sums;

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::{Cursor, Write as _},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};

use axum::{Router, body::Bytes, extract::Request, response::IntoResponse as _};
use http::StatusCode;
use serde_json::json;
use weir_events::registry::{Ecosystem, sighting::VersionsSeen};
use weir_tests::{
    advisories::advisory,
    database::target,
    site,
    weir::{Part, Place, Weir},
};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{matrix::shows_id, said, what_if::what_if};

const GHSA: &str = "GHSA-w31r-w31r-w31r";
const REASON: &str = "not reviewed by security yet";
const LEAF: &str = "example.com/leaf";
const MID: &str = "example.com/Team/mid";

/// A module proxy: what lies where.
type Files = HashMap<String, Bytes>;

/// Publishes a version of a module.
fn publish(files: &mut Files, module: &str, version: &str, go_mod: &str, code: &str) {
    publish_at(files, module, (version, "2026-01-02T03:04:05Z"), go_mod, code);
}

/// The same, at a time.
fn publish_at(
    files: &mut Files,
    module: &str,
    (version, time): (&str, &str),
    go_mod: &str,
    code: &str,
) {
    let escaped: String =
        module
            .chars()
            .map(|c| {
                if c.is_ascii_uppercase() {
                    format!("!{}", c.to_ascii_lowercase())
                } else {
                    c.into()
                }
            })
            .collect();
    let at = |what: &str| format!("/{escaped}/@v/{version}.{what}");
    let info = json!({"Version": version, "Time": time}).to_string();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [("go.mod", go_mod), ("code.go", code)] {
        let name = format!("{module}@{version}/{name}");
        zip.start_file(name, SimpleFileOptions::default()).expect("a zip");
        zip.write_all(content.as_bytes()).expect("a zip");
    }
    let zip = zip.finish().expect("a zip").into_inner();
    files.insert(at("info"), info.into());
    files.insert(at("mod"), go_mod.to_owned().into());
    files.insert(at("zip"), zip.into());
    let list = files.entry(format!("/{escaped}/@v/list")).or_default();
    *list = [list.as_ref(), version.as_bytes(), b"\n"].concat().into();
}

fn published() -> Files {
    let mut files = Files::new();
    for version in ["v1.0.0", "v1.1.0", "v1.2.0"] {
        let code = format!("package leaf\n\nconst Version = \"{version}\"\n");
        publish(&mut files, LEAF, version, &format!("module {LEAF}\n\ngo 1.21\n"), &code);
    }
    let go_mod = format!("module {MID}\n\ngo 1.21\n\nrequire {LEAF} v1.0.0\n");
    let code = format!("package mid\n\nimport \"{LEAF}\"\n\nconst Leaf = leaf.Version\n");
    publish(&mut files, MID, "v1.0.0", &go_mod, &code);
    files
}

/// Serves a proxy until the test ends, and answers its address.
async fn proxy() -> String {
    serve(published()).await
}

/// The same, of these modules.
async fn serve(files: Files) -> String {
    let files = Arc::new(files);
    let answer = move |request: Request| {
        let path = request.uri().path().replace("%21", "!");
        let file = files.get(&path).cloned();
        async move {
            match file {
                Some(file) => file.into_response(),
                None => (StatusCode::NOT_FOUND, "not found").into_response(),
            }
        }
    };
    site::start(Router::new().fallback(answer)).await
}

async fn weir_with(more: &str) -> (Place, Weir, String) {
    let proxy = proxy().await;
    let registry = format!("registries:\n  go:\n    upstream: {proxy}/\n{more}");
    let place = Place::on_a_test_database().await.setting(&registry);
    let weir = place.start(Part::Up).await;
    (place, weir, proxy)
}

fn program() -> PathBuf {
    let own = target().join("tools/go/go/bin/go");
    if own.exists() { own } else { PathBuf::from("go") }
}

/// A project with a home of its own.
struct Project {
    folder: PathBuf,
    proxy: String,
    /// The checksum database that it asks, with its key; without one, a public one, which would have to
    /// be within reach, and is not asked of these modules.
    database: Option<String>,
}

impl Project {
    fn new(place: &Place, name: &str, proxy: &str) -> Self {
        let folder = place.path().join(name);
        fs::create_dir_all(&folder).expect("a project");
        let go_mod = format!("module example.org/project\n\ngo 1.21\n\nrequire {MID} v1.0.0\n");
        fs::write(folder.join("go.mod"), go_mod).expect("its go.mod");
        let code =
            format!("package main\n\nimport \"{MID}\"\n\nfunc main() {{ println(mid.Leaf) }}\n");
        fs::write(folder.join("main.go"), code).expect("its code");
        Self { folder, proxy: proxy.to_owned(), database: None }
    }

    fn go(&self, arguments: &[&str]) -> Output {
        let home = self.folder.join("home");
        let mut command = Command::new(program());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GO") {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("HOME", &home)
            .env("GOENV", "off")
            .env("GOPATH", home.join("go"))
            .env("GOCACHE", home.join("build"))
            .env("GOPROXY", &self.proxy)
            .env("GOFLAGS", "-mod=mod -modcacherw")
            .env("GOTOOLCHAIN", "local");
        match &self.database {
            Some(database) => command.env("GOSUMDB", database),
            None => command.env("GONOSUMDB", "example.com"),
        };
        command.output().expect("the go command: run tools/test")
    }

    fn does(&self, arguments: &[&str]) {
        let output = self.go(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    }

    fn refuses(&self, arguments: &[&str]) -> String {
        let output = self.go(arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", said(&output));
        said(&output)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).expect("a file")
    }

    /// Everything that was downloaded, byte for byte.
    fn downloaded(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let top = self.folder.join("home/go/pkg/mod");
        let mut files = BTreeMap::new();
        collect(&top, &top, &mut files);
        // When something was asked, and by whom.
        files
            .retain(|path, _| !path.ends_with("lock") && !path.to_string_lossy().contains(".lock"));
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

async fn rule(weir: &Weir, versions: &str, mask: &str) -> String {
    let rule = json!({"ecosystem": "go", "package": LEAF, "versions": versions, "reason": REASON,
        "mask": mask});
    let added = weir.client.post("/api/rules", &rule).await.expect(201).json();
    added["id"].as_str().expect("its id").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_through_weir_is_the_same_as_a_direct_one_cold_and_warm() {
    let (place, weir, proxy) = weir_with("").await;
    let through = format!("{}/go", weir.url);
    let direct = Project::new(&place, "direct", &proxy);
    direct.does(&["mod", "tidy"]);
    assert!(direct.downloaded().len() > 8, "{:?}", direct.downloaded().keys());
    for temperature in ["cold", "warm"] {
        let project = Project::new(&place, temperature, &through);
        project.does(&["mod", "tidy"]);
        for file in ["go.sum", "go.mod"] {
            assert_eq!(project.read(file), direct.read(file), "{temperature}: {file}");
        }
        assert!(project.downloaded() == direct.downloaded(), "{temperature}: other files");
    }
    let project = Project::new(&place, "built", &through);
    project.does(&["mod", "tidy"]);
    assert!(said(&project.go(&["run", "."])).contains("v1.0.0"));
    let events = weir.client.get("/api/events?kind=PackageAllowed,CacheStored&limit=1000").await;
    let events = events.expect(200).json();
    let of = |kind: &str| {
        let all = events["events"].as_array().into_iter().flatten();
        all.filter(|event| event["kind"] == kind).count()
    };
    assert_eq!((of("PackageAllowed"), of("CacheStored")), (6, 2), "{events}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upgrade_takes_the_last_good_version_of_a_dependency() {
    let (place, weir, _) = weir_with("").await;
    let through = format!("{}/go", weir.url);
    let leaf_of = |name: &str| {
        let project = Project::new(&place, name, &through);
        project.does(&["mod", "tidy"]);
        project.does(&["get", "-u", "./..."]);
        let go_mod = project.read("go.mod");
        let (_, version) = go_mod.split_once(&format!("{LEAF} ")).expect("leaf");
        version.split_whitespace().next().expect("its version").to_owned()
    };
    assert_eq!(leaf_of("free"), "v1.2.0");
    for mask in ["mark", "hide"] {
        let id = rule(&weir, ">=v1.2.0", mask).await;
        assert_eq!(leaf_of(mask), "v1.1.0", "{mask}");
        weir.client.delete(&format!("/api/rules/{id}")).await.has(204);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_is_as_old_as_the_first_sight_of_it_here() {
    let (place, weir, _) = weir_with("    min_age_hours: 72\n").await;
    // What was seen long ago: all but the newest version of the one.
    let seen_at = "2026-01-05T00:00:00Z".parse().expect("a time");
    for (package, names) in [(LEAF, &["v1.0.0", "v1.1.0"][..]), (MID, &["v1.0.0"][..])] {
        let seen = VersionsSeen {
            ecosystem: Ecosystem::Go,
            package: package.to_owned(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            first_look: true,
            seen_at,
        };
        place.append(&format!("registry/seen/go/{package}"), seen.into()).await;
    }
    let project = Project::new(&place, "project", &format!("{}/go", weir.url));
    project.does(&["mod", "tidy"]);
    project.does(&["get", "-u", "./..."]);
    assert!(
        project.read("go.mod").contains(&format!("{LEAF} v1.1.0")),
        "{}",
        project.read("go.mod")
    );
    let told = project.refuses(&["get", &format!("{LEAF}@v1.2.0")]);
    assert!(told.contains("first seen here at") && told.contains("72 h old"), "{told}");
    let explained =
        |version| format!("/api/registry/explain?ecosystem=go&package={LEAF}&version={version}");
    let old = weir.client.get(&explained("v1.1.0")).await.expect(200).json();
    assert_eq!((&old["verdict"], &old["first_seen_at"]), (&json!("allow"), &json!(seen_at)));
    let new = weir.client.get(&explained("v1.2.0")).await.expect(200).json();
    assert_eq!(
        (&new["verdict"], &new["objections"][0]["source"]),
        (&json!("block"), &json!("minimum-age"))
    );
    assert!(new["first_seen_at"].is_string() && new["ripens_at"].is_string(), "{new}");
    // Who checks a list goes by the same clock, and so does a trial on what was asked for.
    let purls = ["v1.1.0", "v1.2.0"].map(|version| format!("pkg:golang/{LEAF}@{version}"));
    let checked = weir.client.post("/api/registry/check", &json!({"purls": purls})).await;
    let checked = checked.expect(200).json();
    let verdicts = checked["components"].as_array().expect("components").iter();
    assert!(verdicts.map(|it| &it["verdict"]).eq(&[json!("allow"), json!("block")]), "{checked}");
    assert_eq!(checked["summary"]["age_unknown"], 0, "{checked}");
    for facts in ["today", "then"] {
        let told = what_if(&weir, "", facts).await;
        let odd = [&told["n_answered_otherwise"], &told["n_age_unknown"]];
        assert_eq!(odd, [&json!(0); 2], "{facts}: {told}");
        assert!(told["in_force"]["refused"].as_u64() > Some(0), "{facts}: {told}");
        let lax = what_if(&weir, "registries: {go: {min_age_hours: 0}}", facts).await;
        assert_eq!(lax["n_newly_allowed"], told["in_force"]["refused"], "{facts}: {lax}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reserved_module_is_refused_and_the_go_command_says_why() {
    let reserved = "policy:\n  reserved: [\"go:example.com/Team\", \"npm:@acme/*\"]\n";
    let (place, weir, _) = weir_with(reserved).await;
    let project = Project::new(&place, "project", &format!("{0}/go,{0}/nowhere", weir.url));
    let told = project.refuses(&["mod", "tidy"]);
    assert!(told.contains("`example.com/Team` is reserved"), "{told}");
    let blocks = weir.client.get("/api/events?kind=PackageBlocked").await.expect(200).json();
    let blocked = &blocks["events"][0]["payload"];
    assert_eq!((&blocked["source"], &blocked["package"]), (&json!("reserved"), &json!(MID)));
    // Of another ecosystem, before anything of it is set up or asked.
    let explain = "/api/registry/explain?ecosystem=npm&package=%40acme%2Ftool&version=1.0.0";
    let explained = weir.client.get(explain).await.expect(200).json();
    assert_eq!(explained["verdict"], "block");
    assert_eq!(explained["objections"][0]["source"], "reserved", "{explained}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pinned_blocked_version_fails_and_the_go_command_shows_rule_and_advisory() {
    for mask in ["mark", "deny-only", "hide"] {
        let (place, weir, _) = weir_with(&format!("policy:\n  vulnerability_mask: {mask}\n")).await;
        // Nothing else is asked, whatever stands behind: a refusal is no absence.
        let through = format!("{0}/go,{0}/nowhere", weir.url);
        let id = rule(&weir, "v1.2.0", mask).await;
        let pinned = |name: &str| {
            let project = Project::new(&place, name, &through);
            project.refuses(&["get", &format!("{LEAF}@v1.2.0")])
        };
        let told = pinned("ruled");
        assert!(told.contains(REASON) && told.contains(&id), "{mask}: {told}");
        weir.client.delete(&format!("/api/rules/{id}")).await.has(204);
        let advisory = advisory(Ecosystem::Go, GHSA, LEAF, "1.2.0", None);
        let at = place.publish(&advisory).await;
        weir.client.judges_by(at).await;
        let told = pinned("warned");
        assert_eq!(told.contains(GHSA), shows_id("go", mask), "{mask}: {told}");
    }
}
