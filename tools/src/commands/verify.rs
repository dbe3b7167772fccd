//! `weir verify`: nobody changed, removed or reordered what the log holds.

use clap::Args;
use serde_json::json;
use weir_log::seal::Seal;
use weir_log::verify::{Report, VerifyOptions};

use super::progress::{Progress, per_second};
use super::serve::opened::Opened;
use crate::cli::DatabaseArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::runtime::{self, Need, interruptible};

/// Findings that are printed; the others are counted.
const SHOWN: usize = 100;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Trust only seals of this public key, 64 hexadecimal digits (may repeat) [default: the key in
    /// the data directory, if there is one; else every well-signed seal]
    #[arg(long, value_name = "HEX", value_parser = public_key)]
    trust: Vec<[u8; 32]>,
    #[command(flatten)]
    database: DatabaseArgs,
}

fn public_key(text: &str) -> Result<[u8; 32], String> {
    let mut key = [0; 32];
    hex::decode_to_slice(text, &mut key)
        .map(|()| key)
        .map_err(|_| "a public key has 64 hexadecimal digits".to_owned())
}

pub(crate) fn run(context: &Context, args: &VerifyArgs) -> Result<Exit, Failure> {
    let config = context.load(&args.database.flags())?.config;
    let output = context.output;
    let mut trusted = args.trust.clone();
    if trusted.is_empty() {
        trusted.extend(context.data_dir.read_seal_key()?.map(|key| key.public()));
    }
    let its = config.clone();
    runtime::with_database(context, &config, Need::Existing, move |url| {
        interruptible(async move {
            let opened = Opened::open(&its, &url).await?;
            let mut progress = Progress::new(output, "verify");
            let number = |position: weir_events::position::Position| {
                u64::try_from(position.0).unwrap_or_default()
            };
            let options = VerifyOptions { trusted: trusted.clone(), ..VerifyOptions::default() };
            let report = opened
                .log
                .verify(options, |at, head| progress.at(number(at), number(head), None))
                .await;
            let elapsed = progress.elapsed();
            progress.finish();
            let seal = opened.log.last_seal().await;
            opened.close().await;
            let (report, seal) = (report?, seal?);
            let unsealed = report.sealed_to.distance_to(report.head);
            let said = json!({
                "good": report.good(),
                "report": report,
                "last_seal": seal.as_ref().map(as_json),
                "unsealed_events": unsealed,
                "trusted": trusted.iter().map(hex::encode).collect::<Vec<_>>(),
                "duration_seconds": elapsed.as_secs_f64(),
            });
            let rate = per_second(report.n_events, elapsed);
            output.data(&said, || human(&report, seal.as_ref(), trusted.len(), rate))?;
            Ok(if report.good() { Exit::Done } else { Exit::Problems })
        })
    })
}

fn as_json(seal: &Seal) -> serde_json::Value {
    json!({
        "first": seal.first,
        "last": seal.last,
        "chain": hex::encode(seal.chain),
        "public_key": hex::encode(seal.public_key),
        "signature": hex::encode(seal.signature),
        "sealed_at": seal.sealed_at,
    })
}

fn human(report: &Report, seal: Option<&Seal>, n_trusted: usize, rate: f64) -> String {
    let mut lines: Vec<String> =
        report.findings.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = report.n_findings.saturating_sub(lines.len() as u64);
    if 0 < more {
        lines.push(format!("and {more} more"));
    }
    lines.push(format!(
        "{} events ({} bytes) and {} seals verified, {rate:.0} events/s",
        report.n_events, report.n_bytes, report.n_seals
    ));
    let unsealed = report.sealed_to.distance_to(report.head);
    match seal {
        Some(seal) => lines.push(format!(
            "last seal up to position {}, {}, chain {}, key {}",
            seal.last,
            seal.sealed_at,
            hex::encode(seal.chain),
            hex::encode(seal.public_key)
        )),
        None => lines.push("no seal yet".to_owned()),
    }
    lines.push(match unsealed {
        0 => "everything is sealed".to_owned(),
        n => {
            format!("the last {n} events are not sealed yet: only their own hashes vouch for them")
        }
    });
    if n_trusted == 0 {
        lines.push("no key was named: every well-signed seal was trusted (see --trust)".to_owned());
    }
    lines.push(match report.n_findings {
        0 => "the log is as it was written".to_owned(),
        n => format!("the log was changed: {n} findings"),
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use weir_events::position::Position;
    use weir_log::verify::Finding;

    use super::*;

    #[test]
    fn findings_come_first_by_position_and_the_verdict_last() {
        let report = Report {
            n_events: 9,
            head: Position(9),
            findings: vec![Finding::Changed { position: Position(4) }],
            n_findings: 3,
            ..Report::default()
        };
        let text = human(&report, None, 0, 1.0);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("position 4:"), "{text}");
        assert_eq!(lines[1], "and 2 more");
        assert!(text.contains("the last 9 events are not sealed yet"), "{text}");
        assert_eq!(*lines.last().unwrap(), "the log was changed: 3 findings");
    }

    #[test]
    fn a_key_is_64_digits() {
        assert_eq!(public_key(&"0f".repeat(32)), Ok([0x0f; 32]));
        assert!(public_key("0f").is_err());
    }
}
