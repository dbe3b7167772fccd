//! One verdict while everything is known that public sources say.

use std::time::Instant;

use weir_aggregates::registry::{
    advisory::digest, facts::Facts, lookalike::MAX_PROTECTED, verdict::Candidate, version::Version,
};
use weir_events::{
    registry::{
        Ecosystem,
        advisory::{Advisory, AdvisoryPublished, Affected, Class, End, OSV, Severity, Window},
        policy::{Lookalikes, Reaction, Reserved, Settings, SettingsChanged},
    },
    timestamp::Timestamp,
};

use crate::{
    effort::{Effort, quantile},
    line::{Line, Target},
    options::Options,
    report::Report,
};

/// As many as there are about the ecosystems that Weir serves.
const N_ADVISORIES: usize = 300_000;

pub(super) fn run(options: &Options, effort: Effort, report: &mut Report) {
    let line = Line::new(
        "decide",
        "one verdict with 300,000 advisories known and 2,000 names looked after, the 99th of 100",
        "us",
        "",
        Target::About("<= 20 us"),
    );
    if options.wants(line.name) {
        report.add(line.clone(), Ok(measure(effort, line)));
    }
}

fn measure(effort: Effort, line: Line) -> Line {
    let facts = facts();
    let n_verdicts = if effort.quick { 50_000 } else { 500_000 };
    let (mut took, mut n_refused) = (Vec::with_capacity(n_verdicts), 0);
    for n in 0..n_verdicts {
        // One of three is about a package that something is said of.
        let package = match n % 3 {
            0 => format!("library-{}", n % 4_000),
            1 => format!("helper-{n}"),
            _ => format!("unheard-of-{n}"),
        };
        let version = format!("{}.{}.0", n % 7, n % 23);
        let began = Instant::now();
        let dossier = facts.about(Ecosystem::Npm, &package, None, Timestamp::EPOCH);
        let version = Version::parse(Ecosystem::Npm, &version);
        let verdict = dossier.judge(&Candidate::of(Some(&version)));
        took.push(began.elapsed().as_secs_f64() * 1e6);
        n_refused += usize::from(verdict.refusal().is_some());
    }
    let median = quantile(&mut took, 0.5);
    let note = format!("median {median:.2} us; {n_refused} of {n_verdicts} refused");
    line.alone(quantile(&mut took, 0.99)).noting(note)
}

/// Seven of eight about malware, each a package of its own; the others about a few thousand.
fn facts() -> Facts {
    let mut facts = Facts::default();
    for n in 0..N_ADVISORIES {
        let malware = !n.is_multiple_of(8);
        let window = Window {
            introduced: Some(format!("{}.0.0", n % 5)),
            end: End::Fixed(format!("{}.{}.0", n % 5, n % 20)),
        };
        let affected = Affected {
            package: if malware { format!("helper-{n}") } else { format!("library-{}", n % 4_000) },
            severity: Severity::High,
            versions: if malware { vec!["1.0.0".to_owned()] } else { Vec::new() },
            windows: if malware { Vec::new() } else { vec![window] },
            widened: false,
        };
        let mut advisory = Advisory {
            source: OSV.to_owned(),
            ecosystem: Ecosystem::Npm,
            id: if malware { format!("MAL-2026-{n}") } else { format!("GHSA-{n}") },
            aliases: vec![format!("CVE-2026-{n}")],
            class: if malware { Class::Malware } else { Class::Vulnerability },
            summary: "does what nobody asked it to do".to_owned(),
            modified: None,
            affected: vec![affected],
            digest: String::new(),
        };
        advisory.digest = digest::of(&advisory).to_hex().to_string();
        let position = i64::try_from(n + 1).unwrap_or(i64::MAX);
        facts.apply(position, &AdvisoryPublished { advisory }.into());
    }
    facts.apply(i64::MAX, &looking_after().into());
    facts.settle();
    facts
}

/// As many names as may be, many of them close to what is asked for.
fn looking_after() -> SettingsChanged {
    let name = |n| {
        let package = if n % 2 == 0 { format!("library-{n}") } else { format!("unheard-0f-{n}") };
        Reserved { ecosystem: Ecosystem::Npm, package }
    };
    let protect = (0..MAX_PROTECTED).map(name).collect();
    let lookalikes = Lookalikes { reaction: Reaction::Warn, protect };
    SettingsChanged { settings: Settings { lookalikes, ..Settings::default() } }
}
