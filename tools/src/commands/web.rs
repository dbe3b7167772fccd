//! `weir web`: what agents asked of the outside, what is kept of it, and which hosts they reach.

mod rules;
mod waivers;
mod why;

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::Value;

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Subcommand)]
pub(crate) enum WebCommand {
    /// List what agents asked, the newest first
    Requests(RequestsArgs),
    /// List the pages that are cached, the newest first
    Cache(CacheArgs),
    /// List what cycles added up to, the newest first; or show one
    Reports(ReportsArgs),
    /// Look for words in the pages that are cached
    Search(SearchArgs),
    /// Have pages forgotten: who asks for them next has them fetched anew
    Purge(PurgeArgs),
    /// List, set, remove and import rules about hosts
    #[command(subcommand)]
    Rules(rules::RulesCommand),
    /// Say what becomes of an address, and by which rule
    Why(why::WhyArgs),
    /// List, ask for, grant and revoke permissions to pass in spite of a rule about hosts
    #[command(subcommand)]
    Waivers(waivers::WaiversCommand),
}

#[derive(Debug, Args)]
pub(crate) struct RequestsArgs {
    /// Of this agent
    #[arg(long)]
    agent: Option<String>,
    /// In this state: submitted, completed, blocked or failed
    #[arg(long)]
    state: Option<String>,
    /// For a page of this host
    #[arg(long)]
    host: Option<String>,
    /// Of this cycle
    #[arg(long)]
    cycle: Option<u64>,
    /// true: answered without anything leaving for it; false: all others
    #[arg(long)]
    cached: Option<bool>,
    /// How many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// With these words in address or purpose
    words: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    /// Of pages of this host
    #[arg(long)]
    host: Option<String>,
    /// How many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReportsArgs {
    /// The cycle to show; all that have ended, where none is named
    cycle: Option<u64>,
    /// How many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The words; `"…"` keeps some together, `-` leaves one out
    words: String,
    /// In this agent's own pages, too
    #[arg(long)]
    agent: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = false, args = ["url", "host", "expired"])]
pub(crate) struct PurgeArgs {
    /// The page at this address
    url: Option<String>,
    /// All pages of this host
    #[arg(long)]
    host: Option<String>,
    /// What is not shown any more, and what there is no room for
    #[arg(long)]
    expired: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &WebCommand) -> Result<Exit, Failure> {
    match command {
        WebCommand::Requests(args) => requests(context, args),
        WebCommand::Cache(args) => {
            let query =
                query([("host", args.host.clone()), ("limit", Some(args.limit.to_string()))]);
            let headers = ["URL", "SHARED", "SIZE", "EXPIRES", "HITS", "TITLE"];
            list(context, &args.server, ("api/web/cache", &query), "pages", &headers, |page| {
                vec![
                    word(page, "url"),
                    page["shared"].to_string(),
                    page["content_size"].to_string(),
                    page["expires_at"].to_string(),
                    page["n_hits"].to_string(),
                    word(page, "title"),
                ]
            })
        }
        WebCommand::Reports(args) => reports(context, args),
        WebCommand::Search(args) => search(context, args),
        WebCommand::Purge(args) => purge(context, args),
        WebCommand::Rules(command) => rules::run(context, command),
        WebCommand::Why(args) => why::run(context, args),
        WebCommand::Waivers(command) => waivers::run(context, command),
    }
}

fn requests(context: &Context, args: &RequestsArgs) -> Result<Exit, Failure> {
    let query = query([
        ("agent", args.agent.clone()),
        ("state", args.state.clone()),
        ("host", args.host.clone()),
        ("cycle", args.cycle.map(|cycle| cycle.to_string())),
        ("cached", args.cached.map(|cached| cached.to_string())),
        ("limit", Some(args.limit.to_string())),
        ("q", args.words.clone()),
    ]);
    let headers = ["CYCLE", "TICK", "AGENT", "METHOD", "URL", "STATE", "STATUS", "COST", "WHY NOT"];
    list(context, &args.server, ("api/web/requests", &query), "requests", &headers, |request| {
        let agent = request["agent"].as_str().unwrap_or_default();
        vec![
            request["cycle"].to_string(),
            request["created_at"].to_string(),
            agent.get(..12).unwrap_or(agent).to_owned(),
            word(request, "method"),
            word(request, "url"),
            if request["cached"] == true { "cached".to_owned() } else { word(request, "state") },
            request["status_code"].as_u64().map_or_else(|| "-".to_owned(), |it| it.to_string()),
            format!("{}t {}s", request["tick_cost"], request["spark_cost"]),
            word(&request["error"], "reason"),
        ]
    })
}

fn reports(context: &Context, args: &ReportsArgs) -> Result<Exit, Failure> {
    let headers = ["CYCLE", "REQUESTS", "CACHED", "BLOCKED", "STRIPPED", "COST", "STATE"];
    let row = |report: &Value| {
        let rate = report["cache_hit_rate"].as_f64().unwrap_or_default();
        let hash = report["state_hash"].as_str().unwrap_or("not ended");
        vec![
            report["cycle"].to_string(),
            report["total_requests"].to_string(),
            format!("{:.0} %", rate * 100.0),
            report["blocked_requests"].to_string(),
            report["code_filter_hits"].to_string(),
            format!("{}t {}s", report["tick_cost"], report["spark_cost"]),
            hash.get(..12).unwrap_or(hash).to_owned(),
        ]
    };
    let Some(cycle) = args.cycle else {
        let query = query([("limit", Some(args.limit.to_string()))]);
        return list(context, &args.server, ("api/web/reports", &query), "reports", &headers, row);
    };
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let report = client.read(&format!("api/web/reports/{cycle}"), &[]).await?;
        context.output.data(&report, || table(&headers, &[row(&report)]))?;
        Ok(Exit::Done)
    })
}

fn search(context: &Context, args: &SearchArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let query = query([("q", Some(args.words.clone())), ("agent", args.agent.clone())]);
        let answer = client.read("api/web/search", &query).await?;
        context.output.data(&answer, || {
            let pages = answer["pages"].as_array().into_iter().flatten();
            let pages: Vec<String> = pages
                .map(|page| {
                    let snippet = word(page, "snippet");
                    let words: Vec<&str> = snippet.split_whitespace().collect();
                    format!(
                        "{}\n  {}\n  {}",
                        word(page, "title"),
                        word(page, "url"),
                        words.join(" ")
                    )
                })
                .collect();
            if pages.is_empty() { "nothing was found".to_owned() } else { pages.join("\n\n") }
        })?;
        Ok(Exit::Done)
    })
}

fn purge(context: &Context, args: &PurgeArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let query = query([
            ("url", args.url.clone()),
            ("host", args.host.clone()),
            ("expired", args.expired.then(|| "true".to_owned())),
        ]);
        let answer = client.command(Method::DELETE, "api/web/cache", &query).await?;
        context.output.data(&answer, || format!("{} pages are forgotten", answer["n_pages"]))?;
        Ok(Exit::Done)
    })
}

/// Asks for a list, and prints it.
fn list(
    context: &Context,
    server: &ServerArgs,
    (path, query): (&str, &[(&str, String)]),
    key: &str,
    headers: &[&str],
    row: impl Fn(&Value) -> Vec<String>,
) -> Result<Exit, Failure> {
    let client = Client::new(context, server)?;
    runtime::run(async {
        let answer = client.read(path, query).await?;
        context.output.data(&answer, || {
            let rows: Vec<_> = answer[key].as_array().into_iter().flatten().map(&row).collect();
            table(headers, &rows)
        })?;
        Ok(Exit::Done)
    })
}

/// What was asked for, without what was not.
fn query<const N: usize>(
    pairs: [(&'static str, Option<String>); N],
) -> Vec<(&'static str, String)> {
    pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn word(of: &Value, key: &str) -> String {
    of[key].as_str().map_or_else(|| "-".to_owned(), harmless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_said_is_asked_for() {
        let asked =
            query([("host", None), ("limit", Some("7".to_owned())), ("q", Some("x".to_owned()))]);
        assert_eq!(asked, [("limit", "7".to_owned()), ("q", "x".to_owned())]);
    }
}
