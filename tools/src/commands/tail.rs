//! `weir tail`: events as they happen, resumed without a gap whatever breaks in between.

use clap::Args;
use serde_json::Value;

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::client::stream::{Follow, Said};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Style, harmless, print};
use crate::query::Query;
use crate::runtime::{self, Signals};

/// What a summary shows of a long text, in characters.
const SUMMARY_CHARS: usize = 120;

#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// What to look for: `subsystem:registry kind:PackageBlocked stream:registry/rules six`
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Only these sub-systems (comma list, may repeat)
    #[arg(long, value_name = "NAME")]
    subsystem: Vec<String>,
    /// Only these kinds of events (comma list, may repeat)
    #[arg(long, value_name = "NAME")]
    kind: Vec<String>,
    /// Only streams that begin with this
    #[arg(long, value_name = "PREFIX")]
    stream: Option<String>,
    /// Only what happened in the name of this principal: all that a token did
    #[arg(long, value_name = "NAME")]
    principal: Option<String>,
    /// Begin after this position instead of now
    #[arg(long, value_name = "POSITION", conflicts_with = "from_start")]
    after: Option<String>,
    /// Begin at the first event of the log
    #[arg(long)]
    from_start: bool,
    /// End after this many events
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// End when everything there is has been shown
    #[arg(long)]
    until_idle: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, args: &TailArgs) -> Result<Exit, Failure> {
    let (mut query, notes) = Query::parse(&args.query.join(" "));
    let (stream, principal) = (args.stream.as_deref(), args.principal.as_deref());
    query.and(&args.subsystem, &args.kind, stream, principal);
    for note in notes {
        context.output.say(&format!("note: {note}"));
    }
    let client = Client::new(context, &args.server)?;
    runtime::runtime()?.block_on(async {
        let mut signals = Signals::new()?;
        tokio::select! {
            done = follow(context, args, &query, &client) => done,
            // Ctrl-C is how a tail ends.
            exit = signals.next() => Ok(if exit == Exit::Interrupted { Exit::Done } else { exit }),
        }
    })
}

async fn follow(
    context: &Context,
    args: &TailArgs,
    query: &Query,
    client: &Client,
) -> Result<Exit, Failure> {
    let output = context.output;
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut parameters = query.parameters();
    let after = args.after.clone().or_else(|| args.from_start.then(|| "0".to_owned()));
    parameters.extend(after.map(|after| ("after", after)));
    let goal = if args.until_idle {
        match last_of(client, query).await? {
            Some(last) => Some(last),
            None => return Ok(Exit::Done),
        }
    } else {
        None
    };
    let mut follow = Follow::new(client, parameters);
    while 0 < left {
        if goal.is_some_and(|goal| follow.position().is_some_and(|at| goal <= at)) {
            break;
        }
        match follow.next().await? {
            Said::Event(text) => {
                let event: Value = serde_json::from_str(&text)?;
                if query.finds(&event) {
                    left -= 1;
                    print(&if output.json { text } else { line(output, &event) })?;
                }
            }
            // Said only when everything before it was.
            Said::Heartbeat(head) if goal.is_some_and(|goal| goal <= head) => break,
            Said::Heartbeat(_) | Said::Mark => {}
            Said::Resync { reason, from } => {
                output.say(&format!("warning: {reason}; going on from {from}"));
            }
            Said::Reconnecting { why, after } => {
                output.say(&format!("{why}; connecting again in {} ms", after.as_millis()));
                tokio::time::sleep(after).await;
            }
        }
    }
    Ok(Exit::Done)
}

/// The last of the events that are there now; later ones are news.
async fn last_of(client: &Client, query: &Query) -> Result<Option<i64>, Failure> {
    let page = client.get("api/events", &[("limit", "1".to_owned())]).await?;
    let head = page["head"].as_i64().unwrap_or_default();
    let mut parameters = query.parameters();
    parameters.extend([("before", (head + 1).to_string()), ("limit", "1".to_owned())]);
    Ok(client.get("api/events", &parameters).await?["last"].as_i64())
}

/// An event in one line: position, time, sub-system, kind, what it is about, and its stream.
pub(crate) fn line(output: Output, event: &Value) -> String {
    let text = |key: &str| harmless(event[key].as_str().unwrap_or("-"));
    let subsystem = text("subsystem");
    let moment = text("recorded_at");
    let moment = moment.split_once('.').map_or(moment.as_str(), |(seconds, _)| seconds);
    let moment = moment.trim_end_matches('Z').replace('T', " ");
    let summary = summary(&event["payload"]);
    let gap = if summary.is_empty() { "" } else { "  " };
    format!(
        "{:>8}  {}  {}  {}{gap}{summary}  {}",
        event["position"].as_i64().unwrap_or_default(),
        output.paint(Style::Faint, &moment),
        output.paint(hue(&subsystem), &format!("{subsystem:<8}")),
        output.paint(Style::Strong, &text("kind")),
        output.paint(Style::Faint, &text("stream")),
    )
}

/// What a payload is about: package and version, reason, or a name.
fn summary(payload: &Value) -> String {
    let about = if payload["rule"].is_object() { &payload["rule"] } else { payload };
    let text = |key: &str| about[key].as_str().filter(|text| !text.is_empty());
    let mut words: Vec<String> = Vec::new();
    let subject = ["package", "name", "projection", "id", "token_id"].into_iter().find_map(text);
    words.extend(subject.map(str::to_owned));
    words.extend(["version", "versions"].into_iter().find_map(text).map(str::to_owned));
    if words.len() < 2 {
        words.extend(text("file").map(str::to_owned));
    }
    let mut summary = words.join(" ");
    if let Some(why) = ["reason", "cause", "error"].into_iter().find_map(text) {
        summary.push_str(if summary.is_empty() { "" } else { ": " });
        summary.push_str(why);
    }
    let mut short: String = harmless(&summary).chars().take(SUMMARY_CHARS).collect();
    if short.chars().count() == SUMMARY_CHARS {
        short.push('…');
    }
    short
}

fn hue(subsystem: &str) -> Style {
    Style::Hue(match subsystem {
        "access" => 141,
        "nexus" => 63,
        "mint" => 178,
        "topics" => 205,
        "runs" => 78,
        "registry" => 75,
        "actors" => 209,
        "web" => 44,
        _ => 245,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_says_what_happened_to_what_and_why() {
        let event = json!({
            "position": 42, "stream": "registry/decisions/2026-11-28/pypi", "subsystem": "registry",
            "kind": "PackageBlocked", "recorded_at": "2026-11-28T00:46:12.345678Z",
            "payload": {"package": "six", "version": "1.17.0", "file": "six.whl", "reason": "young"}
        });
        let expected = "      42  2026-11-28 00:46:12  registry  PackageBlocked  six 1.17.0: young  \
                        registry/decisions/2026-11-28/pypi";
        assert_eq!(line(Output::new(true, false), &event), expected);
    }

    #[test]
    fn a_summary_looks_into_rules_and_is_never_long_or_dangerous() {
        let rule = json!({"rule": {"id": "1", "package": "six", "versions": ">=1", "reason": "x"}});
        assert_eq!(summary(&rule), "six >=1: x");
        assert_eq!(summary(&json!({"token_id": "ab", "name": "ci"})), "ci");
        assert_eq!(summary(&json!({})), "");
        let long = summary(&json!({"reason": "\u{1b}[2J".repeat(200)}));
        assert!(long.chars().count() <= SUMMARY_CHARS + 1 && !long.contains('\u{1b}'), "{long}");
    }
}
