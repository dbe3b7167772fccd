//! `weir status`: how the server is doing, in one look.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Style, table};
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, args: &StatusArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let status = client.get("api/status", &[]).await?;
        let projections = client.get("api/projections", &[]).await?;
        let said = json!({
            "server": client.base().as_str().trim_end_matches('/'),
            "status": status,
            "projections": projections["projections"],
        });
        context.output.data(&said, || human(context.output, &said))?;
        Ok(Exit::Done)
    })
}

fn human(output: Output, said: &Value) -> String {
    let status = &said["status"];
    let text = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (head, sealed) = (&status["head"], &status["sealed_to"]);
    let mut lines = vec![
        format!(
            "weir {} at {}, up {}",
            text(&status["version"]),
            text(&said["server"]),
            span(status["uptime_seconds"].as_f64().unwrap_or_default())
        ),
        format!("log at {}, sealed to {}", text(head), text(sealed)),
        format!("event streams open: {}", text(&status["sse_clients"])),
        String::new(),
    ];
    let rows: Vec<Vec<String>> = said["projections"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|projection| {
            let state = text(&projection["state"]);
            let style = match state.as_str() {
                "live" => Style::Good,
                "halted" => Style::Bad,
                _ => Style::Warn,
            };
            vec![
                text(&projection["name"]),
                text(&projection["position"]),
                text(&projection["lag_events"]),
                span(projection["lag_seconds"].as_f64().unwrap_or_default()),
                text(&projection["dead_letters"]),
                output.paint(style, &state),
            ]
        })
        .collect();
    lines.push(table(&["PROJECTION", "POSITION", "LAG", "BEHIND", "DEAD", "STATE"], &rows));
    lines.join("\n")
}

/// A span in the two largest units that say something.
pub(crate) fn span(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let whole = seconds.clamp(0.0, 1e12) as u64;
    match whole {
        0..60 => format!("{:.1} s", seconds.max(0.0)),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
        _ => format!("{} d {} h", whole / 86_400, whole % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_in_the_units_that_matter() {
        for (seconds, said) in [
            (-1.0, "0.0 s"),
            (0.04, "0.0 s"),
            (59.9, "59.9 s"),
            (61.0, "1 min 1 s"),
            (7_260.0, "2 h 1 min"),
            (90_000.0, "1 d 1 h"),
        ] {
            assert_eq!(span(seconds), said);
        }
    }
}
