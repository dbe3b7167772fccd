//! How long impact and what-if take over a long past: over 10,000,000 downloads with `WEIR_LONG=1`
//! (or as many as `WEIR_DOWNLOADS` says), over few without, which holds the same counts.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use weir_events::{registry::Ecosystem, timestamp::Timestamp};
use weir_tests::{
    advisories::{advisory, sign},
    database::{long, variable},
    fill::decisions::{PACKAGES, TOKENS, n_of, package, with_downloads},
    weir::{Part, Place, Weir},
};

use super::said;

/// Impacts that are asked for, each of another advisory.
const N_ADVISORIES: u64 = 20;
const ROUNDS: u64 = 10;

/// What the command line tells, and how long it took: as long as it takes.
fn what_if(place: &Place, weir: &Weir, policy: &str, facts: &str) -> (Value, Duration) {
    let file = place.path().join("policy.yaml");
    fs::write(&file, policy).expect("a file");
    let file = file.to_str().expect("a path of text");
    let began = Instant::now();
    let output = place.run(&[
        "registry", "what-if", file, "--days", "31", "--facts", facts, "--json", "--server",
        &weir.url,
    ]);
    let took = began.elapsed();
    assert!(output.status.success(), "{}", said(&output));
    (serde_json::from_slice(&output.stdout).expect("JSON"), took)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn impact_and_what_if_answer_exactly_over_a_long_past() {
    let wanted = variable("WEIR_DOWNLOADS").map(|n| n.parse().expect("a number"));
    let n = wanted.unwrap_or_else(|| if long() { 10_000_000 } else { 45_000 });
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    weir.client.reaches("downloads", 1).await;
    weir.stop().await;
    let now = Timestamp::from(time::OffsetDateTime::now_utc());
    let database = place.database.as_ref().expect("a test database");
    let began = Instant::now();
    with_downloads(database, n, now, 30).await;
    let size = database.size_bytes().await >> 20;
    eprintln!("{n} downloads written in {:?}, {size} MiB", began.elapsed());
    let about = |of| {
        let (id, name) = (format!("GHSA-{of:04}"), package(of));
        let mut about = advisory(Ecosystem::Npm, &id, &name, "1.2.0", Some("1.7.0"));
        about.aliases.clear();
        sign(&mut about);
        about
    };
    let last = place.publish_all(&(0..N_ADVISORIES).map(about).collect::<Vec<_>>()).await;
    let weir = place.start(Part::Api).await;
    weir.client.judges_by(last).await;

    let mut times = Vec::new();
    for of in (0..N_ADVISORIES * ROUNDS).map(|round| round % N_ADVISORIES) {
        let began = Instant::now();
        let answer = weir.client.get(&format!("/api/registry/impact/GHSA-{of:04}")).await;
        times.push(began.elapsed());
        let told = answer.expect(200).json();
        let wanted: u64 = (2..7).map(|version| n_of(n, of, version)).sum();
        assert_eq!(told["n_downloads"], json!(wanted), "{told}");
        assert_eq!(told["versions"].as_array().map(Vec::len), Some(5), "{told}");
    }
    times.sort();
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    eprintln!("impact over {n} downloads: p50 {p50:?}, p99 {p99:?} of {} answers", times.len());
    if n >= 1_000_000 {
        assert!(p50 < Duration::from_millis(100), "p50 {p50:?}");
    }

    // A rule about half the versions of every tenth package, an age that all have, a lower floor.
    let policy = "rules: [{ecosystem: npm, package: 'package-*0', versions: '<1.5', reason: no}]\n\
                  registries: {npm: {min_age_hours: 24}}\npolicy: {severity_floor: critical}";
    for facts in ["today", "then"] {
        let (told, took) = what_if(&place, &weir, policy, facts);
        let rate = &told["rate"];
        eprintln!("what-if over {n} decisions by the facts of {facts}: {took:?}, {rate} a second");
        let (mut blocked, mut allowed) = (0, 0);
        for of in 0..PACKAGES.0 {
            for version in 0..PACKAGES.1 {
                let by_rule = of % 10 == 0 && version < 5;
                // By the facts of then, nobody had said anything yet.
                let warned = facts == "today" && of < N_ADVISORIES && (2..7).contains(&version);
                let n = n_of(n, of, version);
                blocked += if by_rule && !warned { n } else { 0 };
                allowed += if warned && !by_rule { n } else { 0 };
            }
        }
        assert_eq!(told["n_judged"], json!(n), "{told}");
        let found = [&told["n_newly_blocked"], &told["n_newly_allowed"]];
        assert_eq!(found, [&json!(blocked), &json!(allowed)], "{told}");
        assert_eq!((&told["complete"], &told["n_age_unknown"]), (&json!(true), &json!(0)));
        let tokens = told["by_token"]["n_rows"].as_u64().expect("a number");
        assert_eq!(tokens, TOKENS.min(n.div_ceil(PACKAGES.0 * PACKAGES.1)), "{told}");
        let of_rows: u64 = told["by_day"]
            .as_array()
            .expect("days")
            .iter()
            .map(|day| day["n_newly_blocked"].as_u64().expect("a number"))
            .sum();
        assert_eq!(of_rows, blocked, "the days add up");
    }

    // Who stops listening ends the work: the one place for it is free again.
    let all = json!({"days": 31});
    let listening = weir.client.post("/api/registry/what-if", &all);
    drop(tokio::time::timeout(Duration::from_millis(30), listening).await);
    weir_tests::deadline::until("another policy may be tried", async || {
        let answer = weir.client.post("/api/registry/what-if", &json!({"days": 1})).await;
        if answer.status == 200 { Ok(()) } else { Err(answer.body) }
    })
    .await;
    weir.stop().await;
    database.forget().await;
}
