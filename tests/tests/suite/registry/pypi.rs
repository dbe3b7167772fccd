//! Real pip and real uv install through Weir from the real upstream, and are told why not.

mod as_of;
mod same;

use std::{
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant, UNIX_EPOCH},
};

use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::advisory,
    deadline,
    weir::{Part, Place, Weir},
};

use super::{matrix::shows_id, said};

const GHSA: &str = "GHSA-w31r-w31r-w31r";

/// The upstream that this machine's own pip uses.
pub(super) fn upstream() -> String {
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
pub(super) fn clean(command: &mut Command, home: &Path) -> Output {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("PIP_") || name.starts_with("UV_") {
            command.env_remove(name);
        }
    }
    command.env("HOME", home).env("PIP_CONFIG_FILE", "/dev/null").output().expect("run the client")
}

fn pip(weir: &Weir, place: &Place, target: &str, requirement: &str) -> Output {
    pip_at(&weir.url, place, target, requirement)
}

/// With a Weir at an address, which may have a token in it.
pub(super) fn pip_at(weir: &str, place: &Place, target: &str, requirement: &str) -> Output {
    let index = format!("{weir}/pypi/simple/");
    let mut command = Command::new("python3");
    command
        .args(["-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check"])
        .args(["--index-url", &index, "--target"])
        .arg(place.path().join(target))
        .arg(requirement);
    clean(&mut command, place.path())
}

fn uv(weir: &Weir, place: &Place, target: &str, requirement: &str) -> Output {
    uv_at(&weir.url, place, target, requirement)
}

fn uv_at(base: &str, place: &Place, target: &str, requirement: &str) -> Output {
    let index = format!("{base}/pypi/simple/");
    let mut command = Command::new("uv");
    command
        .args(["pip", "install", "--no-cache", "--no-config", "--default-index", &index])
        .arg("--target")
        .arg(place.path().join(target))
        .arg(requirement);
    clean(&mut command, place.path())
}

pub(super) fn installed(place: &Place, target: &str) -> String {
    let text = std::fs::read_to_string(place.path().join(target).join("six.py")).expect("six.py");
    let line = text.lines().find(|line| line.starts_with("__version__")).expect("its version");
    line.split('"').nth(1).expect("its version").to_owned()
}

type InstallAt = fn(&str, &Place, &str, &str) -> Output;
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
async fn a_version_that_an_advisory_is_about_fails_and_pip_and_uv_show_the_advisory() {
    for mask in ["mark", "deny-only", "hide"] {
        let place = Place::on_a_test_database().await.upstream(&upstream());
        let place = place.setting(&format!("policy:\n  vulnerability_mask: {mask}\n"));
        let weir = place.start(Part::Up).await;
        let advisory = advisory(Ecosystem::Pypi, GHSA, "six", "1.17.0", None);
        let at = place.publish(&advisory).await;
        weir.client.judges_by(at).await;
        for (name, install) in CLIENTS {
            let output = install(&weir, &place, &format!("{name}-{mask}"), "six==1.17.0");
            assert!(!output.status.success(), "{name} {mask} installed a vulnerable version");
            let shown = said(&output).contains(GHSA);
            assert_eq!(shown, shows_id(name, mask), "{name} {mask}: {}", said(&output));
            if shown {
                let path = format!("/api/blocks?advisory={GHSA}&limit=1");
                let block = deadline::until("the refusal in the block log", async || {
                    let found =
                        weir.client.get(&path).await.expect(200).json()["blocks"][0].clone();
                    if found.is_null() { Err(found) } else { Ok(found) }
                });
                let block = block.await;
                assert_eq!(block["advisory"]["id"], GHSA, "{block}");
                assert_eq!(block["advisory"]["severity"], "high", "{block}");
                let other = weir.client.get("/api/blocks?advisory=GHSA-0").await.expect(200);
                assert_eq!(other.json()["blocks"], serde_json::json!([]));
            }
            let free = format!("{name}-{mask}-free");
            let output = install(&weir, &place, &free, "six");
            assert_eq!(output.status.success(), mask != "deny-only", "{}", said(&output));
            if output.status.success() {
                assert_eq!(installed(&place, &free), "1.16.0", "{name} {mask}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_advisory_bites_within_a_second_also_on_what_is_cached() {
    let (place, weir) = weir().await;
    let output = pip(&weir, &place, "before", "six==1.17.0");
    assert!(output.status.success(), "{}", said(&output));
    let page = weir.client.get("/pypi/simple/six/").await.expect(200);
    let etag = page.header("etag").expect("a validator").to_owned();
    let file = page.body.split('"').find(|part| part.contains("six-1.17.0-py2.py3-none-any.whl"));
    let file = file.expect("its wheel").split('#').next().expect("an address").to_owned();
    let page_url = format!("{}/pypi/simple/six/", weir.url).parse::<reqwest::Url>().expect("a URL");
    let file = page_url.join(&file).expect("a link").path().to_owned();
    weir.client.get(&file).await.has(200);
    let advisory = advisory(Ecosystem::Pypi, GHSA, "six", "1.17.0", Some("1.18.0"));
    let published = Instant::now();
    place.publish(&advisory).await;
    let refused = deadline::until("the file is refused", async || {
        let answer = weir.client.get(&file).await;
        if answer.status == 403 { Ok(answer) } else { Err(answer.status) }
    });
    let refused = refused.await;
    let took = published.elapsed();
    assert!(took < deadline::promise(Duration::from_secs(1)), "it took {took:?}");
    assert!(refused.body.contains(GHSA), "{}", refused.body);
    let known = [("if-none-match", etag.as_str())];
    let again = weir.client.send("GET", "/pypi/simple/six/", &known, None).await.expect("a page");
    assert!(again.status == 200 && again.body.contains(GHSA), "never unchanged: {}", again.status);
    let explained = place.run(&["explain", "pypi", "Six", "1.17.0", "--server", &weir.url]);
    let explained = said(&explained);
    for words in ["block", GHSA, "high severity; 1.17.0 to before 1.18.0; fixed in 1.18.0"] {
        assert!(explained.contains(words), "{words}: {explained}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_day_the_index_is_what_it_was_then() {
    let (place, weir) = weir().await;
    let past = format!("{}/@2020-12-01", weir.url);
    let clients: [(&str, InstallAt); 2] = [("pip", pip_at), ("uv", uv_at)];
    for (name, install) in clients {
        let output = install(&past, &place, &format!("{name}-past"), "six");
        assert!(output.status.success(), "{name}: {}", said(&output));
        assert_eq!(installed(&place, &format!("{name}-past")), "1.15.0", "{name}");
        let output = install(&past, &place, &format!("{name}-later"), "six==1.16.0");
        assert!(!output.status.success(), "{name} installed what was not there yet");
    }
    // Its files stay behind the day too: whoever has such an address gets no later file by it.
    let page = weir.client.get("/@2020-12-01/pypi/simple/six/").await.expect(200).body;
    assert!(page.contains("six-1.15.0.tar.gz") && !page.contains("six-1.16.0.tar.gz"), "{page}");
    weir.client.get("/@someday/pypi/simple/six/").await.has(404);
    weir.client.get("/2020-12-01/pypi/simple/six/").await.has(404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_young_is_not_chosen_and_a_fix_may_be() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    // December 2020: six 1.15.0 is older, 1.16.0 is younger.
    let since = UNIX_EPOCH + Duration::from_hours(446_328);
    let hours = since.elapsed().expect("the past").as_secs() / 3_600;
    let place = place.setting(&format!("    min_age_hours: {hours}\n"));
    let weir = place.start(Part::Up).await;
    let output = pip(&weir, &place, "old", "six");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(installed(&place, "old"), "1.15.0");
    let output = pip(&weir, &place, "pinned", "six==1.16.0");
    assert!(said(&output).contains(&format!("it must be {hours} h old")), "{}", said(&output));
    let advisory = advisory(Ecosystem::Pypi, GHSA, "six", "1.0", Some("1.16.0"));
    let at = place.publish(&advisory).await;
    weir.client.judges_by(at).await;
    let output = pip(&weir, &place, "fix", "six==1.16.0");
    assert!(output.status.success(), "{}", said(&output));
    let events = weir.client.get("/api/events?kind=PackageAllowed&limit=1000").await.expect(200);
    assert!(
        events.body.contains(&format!("\"fix\":{{\"advisory\":\"{GHSA}\"}}")),
        "{}",
        events.body
    );
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
    let blocks = weir.client.get("/api/blocks?min_position=head").await.expect(200);
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
