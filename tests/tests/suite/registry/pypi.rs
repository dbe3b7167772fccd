//! Real pip and real uv install through Weir from the real upstream, and are told why not.

use std::{
    path::Path,
    process::{Command, Output},
};

use weir_tests::weir::{Part, Place, Weir};

use super::said;

/// The upstream that this machine's own pip uses.
fn upstream() -> String {
    let mut ask = Command::new("python3");
    ask.args(["-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"]);
    let configured = Command::new("python3")
        .args(["-m", "pip", "config", "get", "global.index-url"])
        .output()
        .expect("python3 with pip: run tools/test");
    let answer = if configured.status.success() && !configured.stdout.is_empty() {
        configured
    } else {
        ask.output().expect("python3 with pip")
    };
    String::from_utf8(answer.stdout).expect("text").trim().to_owned()
}

async fn weir() -> (Place, Weir) {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    (place, weir)
}

/// A client with no configuration of the machine's own beside what the test gives it.
fn clean(command: &mut Command, home: &Path) -> Output {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("PIP_") || name.starts_with("UV_") {
            command.env_remove(name);
        }
    }
    command.env("HOME", home).env("PIP_CONFIG_FILE", "/dev/null").output().expect("run the client")
}

fn pip(weir: &Weir, place: &Place, target: &str, requirement: &str) -> Output {
    let index = format!("{}/pypi/simple/", weir.url);
    let mut command = Command::new("python3");
    command
        .args(["-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check"])
        .args(["--index-url", &index, "--target"])
        .arg(place.path().join(target))
        .arg(requirement);
    clean(&mut command, place.path())
}

fn uv(weir: &Weir, place: &Place, target: &str, requirement: &str) -> Output {
    let index = format!("{}/pypi/simple/", weir.url);
    let mut command = Command::new("uv");
    command
        .args(["pip", "install", "--no-cache", "--no-config", "--default-index", &index])
        .arg("--target")
        .arg(place.path().join(target))
        .arg(requirement);
    clean(&mut command, place.path())
}

fn installed(place: &Place, target: &str) -> String {
    let text = std::fs::read_to_string(place.path().join(target).join("six.py")).expect("six.py");
    let line = text.lines().find(|line| line.starts_with("__version__")).expect("its version");
    line.split('"').nth(1).expect("its version").to_owned()
}

type Install = fn(&Weir, &Place, &str, &str) -> Output;
const CLIENTS: [(&str, Install); 2] = [("pip", pip), ("uv", uv)];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pip_and_uv_install_through_weir_and_take_the_newest_allowed_version() {
    let (place, weir) = weir().await;
    for (name, install) in CLIENTS {
        let output = install(&weir, &place, &format!("{name}-free"), "six");
        assert!(output.status.success(), "{name}: {}", said(&output));
        let version = installed(&place, &format!("{name}-free"));
        assert_ne!(version, "1.16.0", "{name} took an old version with no rule in force");
    }
    weir.client.rule("six", ">=1.17", "not reviewed by security yet", "mark").await;
    for (name, install) in CLIENTS {
        let output = install(&weir, &place, &format!("{name}-ruled"), "six");
        assert!(output.status.success(), "{name}: {}", said(&output));
        assert_eq!(installed(&place, &format!("{name}-ruled")), "1.16.0", "{name}");
    }
    let events = weir.client.get("/api/events?kind=MetadataFiltered,PackageAllowed&limit=1000");
    let events = events.await.expect(200).json();
    let of = |kind: &str| {
        let all = events["events"].as_array().into_iter().flatten();
        all.into_iter().filter(|e| e["kind"] == kind).count()
    };
    assert_eq!(of("MetadataFiltered"), 1, "once per principal, package and revision: {events}");
    assert!(of("PackageAllowed") >= 4, "{events}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pinned_blocked_version_fails_with_the_reason_and_shows_in_tail_and_block_log() {
    let (place, weir) = weir().await;
    weir.client.rule("six", ">=1.17", "not reviewed by security yet", "mark").await;
    for (name, install) in CLIENTS {
        let output = install(&weir, &place, name, "six==1.17.0");
        assert!(!output.status.success(), "{name} installed a blocked version");
        let said = said(&output);
        assert!(said.contains("not reviewed by security yet"), "{name} did not say why: {said}");
    }
    let tail = place.run(&[
        "tail",
        "--json",
        "--from-start",
        "--kind",
        "PackageBlocked",
        "--limit",
        "1",
        "--server",
        &weir.url,
    ]);
    let line = said(&tail);
    assert!(line.contains("not reviewed by security yet"), "{line}");
    let head = weir.client.get("/api/status").await.json()["head"].as_i64().expect("the head");
    let blocks = weir.client.get(&format!("/api/blocks?min_position={head}")).await.expect(200);
    let blocks = blocks.json();
    let first = &blocks["blocks"][0];
    assert_eq!(first["package"], "six", "{blocks}");
    assert_eq!(first["version"], "1.17.0");
    assert_eq!(first["reason"], "not reviewed by security yet");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_version_does_not_exist_and_a_denied_only_one_is_listed_but_refused() {
    let (place, weir) = weir().await;
    let rule = weir.client.rule("six", ">=1.17", "known to be malicious", "hide").await;
    for (name, install) in CLIENTS {
        let output = install(&weir, &place, &format!("{name}-hidden"), "six==1.17.0");
        assert!(!output.status.success(), "{name} installed a hidden version");
        assert!(!said(&output).contains("malicious"), "{name}: {}", said(&output));
    }
    let id = rule.json()["id"].as_str().expect("its id").to_owned();
    weir.client.delete(&format!("/api/rules/{id}")).await.has(204);
    weir.client.rule("six", ">=1.17", "denied at the door", "deny-only").await;
    for (name, install) in CLIENTS {
        let output = install(&weir, &place, &format!("{name}-denied"), "six");
        assert!(!output.status.success(), "{name} installed a denied version");
        assert!(said(&output).contains("denied at the door"), "{name}: {}", said(&output));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_added_on_one_instance_bites_on_the_other_within_a_second() {
    let (place, one) = weir().await;
    let other = place.start(Part::Api).await;
    let installer = other.client.get("/pypi/simple/six/").await;
    assert_eq!(installer.status, 200, "{}", installer.body);
    one.client.rule("six", ">=1.17", "not reviewed", "mark").await;
    let added = std::time::Instant::now();
    weir_tests::deadline::until("the other instance marks it", async || {
        let page = other.client.get("/pypi/simple/six/").await;
        if page.body.contains("not reviewed") { Ok(()) } else { Err(page.status) }
    })
    .await;
    let (took, second) = (added.elapsed(), std::time::Duration::from_secs(1));
    assert!(took < weir_tests::deadline::promise(second), "{took:?}");
}
