//! Measures the advisories: `cargo run --release -p weir-aggregates --example advisories [N]`.
//!
//! Makes N records (300,000 unless told otherwise) in the mix that public feeds have: seven in
//! eight malware with a version or two, the others spread over packages so that some have
//! hundreds, a third of those with long lists of versions. Reads them, loads what they say, and
//! asks for verdicts: one in ten about a package that many advisories are about.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement has a clock and says what it saw"
)]

use std::{env, fmt::Write as _, fs, process::ExitCode, time::Instant};

use weir_aggregates::registry::{advisory::set::AdvisorySet, osv, version::Version};
use weir_events::registry::{Ecosystem, advisory::Severity};

/// How many records are made and read at a time.
const BATCH: usize = 1_000;

/// A generator without state outside: the same records on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn version(&mut self) -> String {
        format!("{}.{}.{}", self.roll(6), self.roll(20), self.roll(10))
    }
}

/// Some packages have far more advisories than others: the lower the number, the more.
fn popular(dice: &mut Dice) -> u64 {
    let within = 1 << (1 + dice.roll(14));
    dice.roll(within)
}

fn record(n: usize, dice: &mut Dice) -> String {
    let mut affected = String::new();
    let (id, ecosystem, package) = if !n.is_multiple_of(8) {
        let _ = write!(affected, r#""versions":["{}"]"#, dice.version());
        (format!("MAL-2026-{n}"), "npm", format!("harmless-helper-{n}"))
    } else if n.is_multiple_of(24) {
        affected.push_str(r#""versions":["#);
        for major in 0..=dice.roll(4) {
            for minor in 0..30 {
                let _ = write!(affected, r#""{major}.{minor}.{}","#, dice.roll(3));
            }
        }
        affected.push_str(r#""9.9"]"#);
        (format!("GHSA-{n:04x}"), "PyPI", format!("library-{}", popular(dice)))
    } else {
        (format!("GHSA-{n:04x}"), "npm", format!("@scope/library-{}", popular(dice)))
    };
    if n.is_multiple_of(8) {
        let (from, to) = (dice.version(), dice.version());
        let _ = write!(
            affected,
            r#","ranges":[{{"type":"ECOSYSTEM","events":[{{"introduced":"0"}},{{"fixed":"{from}"}},{{"introduced":"{to}"}},{{"last_affected":"{to}-1"}}]}}]"#
        );
    }
    let affected = affected.trim_start_matches(',');
    format!(
        r#"{{"schema_version":"1.7.5","id":"{id}","modified":"2026-10-01T02:03:04Z","published":"2026-09-30T00:00:00Z",
        "aliases":["CVE-2026-{n}"],"summary":"Malicious or merely mistaken code in {package} ({ecosystem})",
        "details":"{details}","severity":[{{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}}],
        "affected":[{{"package":{{"ecosystem":"{ecosystem}","name":"{package}"}},{affected}}}],
        "references":[{{"type":"WEB","url":"https://example.com/{n}"}}],"credits":[{{"name":"Somebody","type":"FINDER"}}]}}"#,
        details = "What it does, at some length. ".repeat(20),
    )
}

/// Resident memory of this process, in bytes, as Linux counts it.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// What this thread has spent on a processor, in seconds, as Linux counts it: what others do on
/// the machine does not count.
fn processor() -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|nanos| nanos.parse::<u64>().ok());
    nanos.unwrap_or_default() as f64 / 1e9
}

fn main() -> ExitCode {
    let n_records = env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(300_000_usize).max(1);
    let (mut dice, mut set) = (Dice(42), AdvisorySet::default());
    let before = resident().unwrap_or(0);
    let (mut parsing, mut loading) = (0.0, 0.0);
    for batch in 0..n_records.div_ceil(BATCH) {
        let numbers = batch * BATCH..((batch + 1) * BATCH).min(n_records);
        let records: Vec<String> = numbers.map(|n| record(n, &mut dice)).collect();
        let start = processor();
        let read = records.iter().map(|record| osv::parse(record.as_bytes())?.advisories("osv"));
        let advisories: Vec<_> = match read.collect::<Result<Vec<_>, _>>() {
            Ok(advisories) => advisories.concat(),
            Err(fault) => {
                println!("batch {batch}: {fault}");
                return ExitCode::FAILURE;
            }
        };
        let parsed = processor();
        for advisory in &advisories {
            set.upsert(advisory);
        }
        parsing += parsed - start;
        loading += processor() - parsed;
    }
    let bytes = resident().unwrap_or(0).saturating_sub(before);
    println!("{} advisories about {} packages", set.len(), set.n_packages());
    let each = 1e6 / n_records as f64;
    println!(
        "processor time: {:.1} µs to read one, {:.1} µs to load it",
        parsing * each,
        loading * each
    );
    println!("{} MB resident, {} bytes each", bytes >> 20, bytes / n_records as u64);

    let mut times = Vec::with_capacity(200_000);
    let (mut n_found, mut most) = (0, 0);
    for n in 0..200_000_u64 {
        let (ecosystem, package) = match n % 10 {
            0 => (Ecosystem::Pypi, format!("library-{}", popular(&mut dice))),
            1..5 => (Ecosystem::Npm, format!("harmless-helper-{}", dice.roll(n_records as u64))),
            _ => (Ecosystem::Npm, format!("unheard-of-{}", dice.roll(1_000_000))),
        };
        let version = dice.version();
        let start = Instant::now();
        let about = set.about(ecosystem, &package);
        let version = Version::parse(ecosystem, &version);
        let worst = about.worst(Some(&version), |finding| finding.severity() >= Severity::Medium);
        times.push(start.elapsed());
        n_found += usize::from(worst.is_some());
        most = most.max(about.len());
    }
    times.sort_unstable();
    let at = |of_1000: usize| times.get(times.len() * of_1000 / 1_000).copied().unwrap_or_default();
    println!(
        "{n_found} of {} versions affected; up to {most} advisories about one package",
        times.len()
    );
    println!(
        "verdict p50 {:?}, p90 {:?}, p99 {:?}, p99.9 {:?}",
        at(500),
        at(900),
        at(990),
        at(999)
    );
    for package in ["library-0", "library-1"] {
        let about = set.about(Ecosystem::Pypi, package);
        let start = Instant::now();
        let findings = about.findings(Some(&Version::parse(Ecosystem::Pypi, "1.7.1")));
        let took = start.elapsed();
        println!(
            "{package}: {} findings of {} advisories in {took:?}",
            findings.len(),
            about.len()
        );
    }
    ExitCode::SUCCESS
}
