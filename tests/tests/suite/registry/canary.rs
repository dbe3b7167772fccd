//! `weir doctor --clients`: each of the ten clients proves that it asks Weir, or is told what it asks.
//! No upstream is there, so whatever a client is told, Weir tells it.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use weir_tests::{
    database::target,
    weir::{Part, Place, Weir},
};

use super::said;

async fn weir() -> (Place, Weir) {
    let upstream = |name| format!("  {name}:\n    upstream: http://127.0.0.1:9/\n");
    let upstreams = ["pypi", "npm", "cargo", "go", "docker"].map(upstream).concat();
    let settings = format!("registries:\n{upstreams}");
    let place = Place::on_a_test_database().await.setting(&settings);
    let weir = place.start(Part::Up).await;
    (place, weir)
}

/// The client of a name in the version that `tools/test` installs, else the machine's own.
fn program(name: &str) -> PathBuf {
    let own = target().join("tools");
    let (folder, file) = match name {
        "pnpm" | "yarn" | "bun" | "npm" => ("npm/node_modules/.bin", name),
        "yarn berry" => ("berry/node_modules/.bin", "yarn"),
        _ => ("bin", name),
    };
    let own = own.join(folder).join(file);
    if own.exists() { own } else { in_path(name) }
}

/// The interpreter itself, and not what stands for it in PATH.
fn python() -> PathBuf {
    let ask = ["-c", "import sys; print(sys.executable)"];
    let output = Command::new("python3").args(ask).output().expect("python3: run tools/test");
    String::from_utf8(output.stdout).expect("text").trim().into()
}

fn in_path(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("PATH");
    let found = std::env::split_paths(&path).map(|folder| folder.join(name));
    found.into_iter().find(|file| file.exists()).unwrap_or_else(|| panic!("{name}: run tools/test"))
}

/// Asks a user's clients, who has these and nothing else.
fn doctor(place: &Place, clients: &[&str], variables: &[(&str, &str)]) -> Output {
    let bin = place.path().join(format!("bin-{}", clients.join("-")));
    fs::create_dir_all(&bin).expect("a folder");
    for client in clients {
        let name = client.split(' ').next().expect("a name");
        let (program, words) = match name {
            "pip" => (python(), " -m pip"),
            _ => (program(client), ""),
        };
        let script = format!("#!/bin/sh\nexec '{}'{words} \"$@\"\n", program.display());
        let link = bin.join(name);
        fs::write(&link, script).expect("a program");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&link, mode).expect("a program");
    }
    // What the clients themselves run.
    let needed = ["sh", "node", "rustc"].map(|name| (name, in_path(name)));
    for (name, program) in needed.into_iter().chain([("python3", python())]) {
        if !bin.join(name).exists() {
            symlink(program, bin.join(name)).expect("a link");
        }
    }
    let home = place.path().join("home");
    fs::create_dir_all(&home).expect("a home");
    let mut command = place.command(&["doctor", "--clients", "--json"]);
    let theirs = ["pip_", "uv_", "npm_", "pnpm_", "yarn_", "bun_", "cargo_", "go", "containers_"];
    for (name, _) in std::env::vars_os() {
        let lower = name.to_string_lossy().to_lowercase();
        if theirs.iter().any(|prefix| lower.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command
        .env("PATH", &bin)
        .env("HOME", &home)
        .env("CARGO_HOME", home.join("cargo"))
        .env("PIP_CONFIG_FILE", home.join("pip.conf"))
        .env("XDG_CONFIG_HOME", home.join(".config"))
        // Where a machine has it, not where its user has.
        .env("RUSTUP_HOME", std::env::var("RUSTUP_HOME").unwrap_or_else(|_| rustup_home()))
        .envs(variables.iter().copied());
    command.output().expect("run weir")
}

fn rustup_home() -> String {
    format!("{}/.rustup", std::env::var("HOME").expect("HOME"))
}

/// What was found of each client.
fn found(output: &Output) -> Vec<(String, String, String, String)> {
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("no JSON: {}", said(output));
    });
    let checks = told["checks"].as_array().expect("checks").iter();
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let found = checks.map(|check| {
        let all = ["what", "verdict", "why", "fix"].map(|key| text(check, key));
        let [what, verdict, why, fix] = all;
        (what, verdict, why, fix)
    });
    found.filter(|(what, ..)| what != "configuration").collect()
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let Ok(entries) = fs::read_dir(folder) else { return files };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path);
        }
    }
    files
}

/// Writes what points the user's clients at Weir.
fn point(place: &Place, weir: &Weir) {
    let (url, home) = (&weir.url, place.path().join("home"));
    let host = url.strip_prefix("http://").expect("plain HTTP");
    let files = [
        ("pip.conf", format!("[global]\nindex-url = {url}/pypi/simple/\n")),
        (
            ".config/uv/uv.toml",
            format!("[[index]]\nurl = \"{url}/pypi/simple/\"\ndefault = true\n"),
        ),
        (".npmrc", format!("registry={url}/npm/\n")),
        (
            ".yarnrc.yml",
            format!("npmRegistryServer: \"{url}/npm/\"\nunsafeHttpWhitelist: [\"127.0.0.1\"]\n"),
        ),
        (
            "cargo/config.toml",
            format!(
                "[source.crates-io]\nreplace-with = \"weir\"\n[registries.weir]\n\
                 index = \"sparse+{url}/cargo/\"\n"
            ),
        ),
        (".config/go/env", format!("GOPROXY={url}/go\n")),
        (
            ".config/containers/registries.conf",
            format!("[[registry]]\nprefix = \"*.io\"\nlocation = \"{host}\"\ninsecure = true\n"),
        ),
    ];
    for (name, text) in files {
        let file = home.join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a configuration");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_ten_clients_proves_that_it_asks_weir_and_leaves_no_trace() {
    let (place, weir) = weir().await;
    point(&place, &weir);
    let home = place.path().join("home");
    let before = files(&home);
    let mut asked = Vec::new();
    let all = ["pip", "uv", "npm", "pnpm", "yarn", "bun", "cargo", "go", "skopeo"];
    for clients in [&all[..], &["yarn berry"]] {
        let output = doctor(&place, clients, &[]);
        let found = found(&output);
        for (what, verdict, why, _) in &found {
            assert_eq!(verdict, "ok", "{what}: {why}");
        }
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        asked.extend(found.into_iter().map(|(what, ..)| what));
    }
    asked.sort();
    let wanted = ["bun", "cargo", "go", "npm", "pip", "pnpm", "skopeo", "uv", "yarn", "yarn berry"];
    assert_eq!(asked, wanted);
    let left: Vec<_> = files(&home).difference(&before).cloned().collect();
    let theirs = |path: &&PathBuf| !path.to_string_lossy().contains("/go/telemetry/");
    assert_eq!(left.iter().filter(theirs).collect::<Vec<_>>(), [""; 0], "left behind");
    // Weir saw each of them, and has it on record.
    let events = weir.client.get("/api/events?kind=PackageBlocked&limit=1000").await.expect(200);
    let events = events.json();
    let of = |ecosystem: &str| {
        let all = events["events"].as_array().into_iter().flatten();
        all.filter(|event| event["payload"]["ecosystem"] == ecosystem).count()
    };
    for (ecosystem, n_clients) in [("pypi", 2), ("npm", 5), ("cargo", 1), ("go", 1), ("docker", 1)]
    {
        assert!(of(ecosystem) >= n_clients, "{ecosystem}: {events}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_somebody_else_is_told_whom_and_which_line_mends_it() {
    let (place, weir) = weir().await;
    point(&place, &weir);
    let elsewhere = "http://127.0.0.1:9/elsewhere/";
    let variables = [
        ("PIP_INDEX_URL", elsewhere),
        ("UV_DEFAULT_INDEX", elsewhere),
        ("NPM_CONFIG_REGISTRY", elsewhere),
        ("GOPROXY", elsewhere),
    ];
    let output = doctor(&place, &["pip", "uv", "npm", "cargo", "go"], &variables);
    assert_eq!(output.status.code(), Some(6), "{}", said(&output));
    for (what, verdict, why, fix) in found(&output) {
        if what == "cargo" {
            assert_eq!(verdict, "ok", "{why}");
            continue;
        }
        assert_eq!(verdict, "fail", "{what}: {why}");
        assert!(why.contains(elsewhere) || what == "uv", "{what}: {why}");
        assert!(fix.contains(&weir.url) || fix == format!("weir init --clients {what}"), "{fix}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_another_weir_is_told_that_it_is_not_this_one() {
    let ((place, _this), (_elsewhere, other)) = (weir().await, weir().await);
    point(&place, &other);
    let output = doctor(&place, &["npm", "go"], &[]);
    assert_eq!(output.status.code(), Some(6), "{}", said(&output));
    for (what, verdict, why, fix) in found(&output) {
        assert!(verdict == "fail" && why.contains("asks another Weir"), "{what}: {why}");
        assert_eq!(fix, format!("weir init --clients {what}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ecosystem_that_is_not_served_is_named_with_its_key() {
    let place = Place::on_a_test_database().await.upstream("http://127.0.0.1:9/");
    let weir = place.start(Part::Up).await;
    point(&place, &weir);
    let output = doctor(&place, &["go"], &[]);
    let found = found(&output);
    let [(what, verdict, why, fix)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((what.as_str(), verdict.as_str()), ("go", "warn"), "{why}");
    assert!(why.contains("serves no go") && fix.contains("registries.go.upstream"), "{why}: {fix}");
}
