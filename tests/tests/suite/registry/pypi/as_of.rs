//! Behind a day, uv and pip resolve to what uv resolves to if it is told that day itself
//! (`--exclude-newer`), which asks the real upstream for the time of every file.

use std::{collections::BTreeMap, fs, process::Command};

use serde_json::Value;
use weir_tests::weir::Place;

use super::{clean, said, upstream, weir};

const DAY: &str = "2023-01-01";
/// What came on the day itself was there on that day.
const BEFORE: &str = "2023-01-02T00:00:00Z";
/// What is asked for: with what it needs, half a dozen packages.
const WANTED: &str = "requests\nrich\n";

/// What uv locks it to.
fn by_uv(place: &Place, name: &str, more: &[&str], index: &str) -> BTreeMap<String, String> {
    let folder = place.path().join(name);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("requirements.in"), WANTED).expect("its requirements");
    let mut command = Command::new("uv");
    command
        .args(["pip", "compile", "requirements.in", "--no-config", "--no-header", "--no-annotate"])
        .args(["--cache-dir", "cache", "--index-url", index])
        .args(more)
        .current_dir(&folder);
    let output = clean(&mut command, &folder);
    assert!(output.status.success(), "{name}: {}", said(&output));
    let lines = String::from_utf8(output.stdout).expect("text");
    let pins = lines.lines().filter_map(|line| line.trim().split_once("=="));
    pins.map(|(name, version)| (name.to_owned(), version.to_owned())).collect()
}

/// What pip would install.
fn by_pip(place: &Place, index: &str) -> BTreeMap<String, String> {
    let mut command = Command::new("python3");
    command
        .args(["-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-cache-dir"])
        .args(["--quiet", "--disable-pip-version-check", "--report", "-", "--index-url", index])
        .args(WANTED.lines());
    let output = clean(&mut command, place.path());
    assert!(output.status.success(), "{}", said(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let of = |it: &Value| {
        let name = text(&it["metadata"]["name"]).to_lowercase().replace(['_', '.'], "-");
        (name, text(&it["metadata"]["version"]))
    };
    report["install"].as_array().expect("a list").iter().map(of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_day_requirements_are_locked_to_what_uv_locks_them_to_before_that_day() {
    let (place, weir) = weir().await;
    let wanted = by_uv(&place, "before", &["--exclude-newer", BEFORE], &upstream());
    assert!(wanted.len() > 6, "{wanted:?}");
    let past = format!("{}/@{DAY}/pypi/simple/", weir.url);
    for name in ["cold", "warm"] {
        assert_eq!(by_uv(&place, name, &[], &past), wanted, "{name}");
    }
    assert_eq!(by_pip(&place, &past), wanted, "pip");
    let today = by_uv(&place, "today", &[], &format!("{}/pypi/simple/", weir.url));
    assert_ne!(today, wanted, "nothing has changed since");
}
