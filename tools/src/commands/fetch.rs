//! `weir fetch`: a page as an agent gets it, through the gateway.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::agent::signed_by;
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// The address
    url: String,
    /// The file of the agent's secret key
    #[arg(long, value_name = "FILE", env = "WEIR_AGENT_KEY")]
    key: PathBuf,
    /// Why the page is needed
    #[arg(long, default_value = "read on the command line")]
    purpose: String,
    /// The shape: the filtered document, its parts as JSON, or a short extract
    #[arg(long, value_enum, default_value = "raw")]
    format: Format,
    /// The longest content, in bytes
    #[arg(long, value_name = "BYTES")]
    max_size: Option<u32>,
    /// Ask what is known of the page, and not for the page
    #[arg(long)]
    head: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// The shape of a page.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Raw,
    Structured,
    Summary,
}

impl Format {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Structured => "structured",
            Self::Summary => "summary",
        }
    }
}

pub(crate) fn run(context: &Context, args: &FetchArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let now = client.get("api/nexus", &[]).await?;
        let signed = signed_by(&args.key, draft(args, &now["tick"]))?;
        let body = serde_json::to_value(&signed)?;
        let answer = client.send(Method::POST, "api/web/requests", Some(&body)).await?;
        context.output.data(&answer, || told(&answer))?;
        Ok(Exit::Done)
    })
}

fn draft(args: &FetchArgs, tick: &Value) -> Map<String, Value> {
    let mut filter = Map::from_iter([("format".to_owned(), json!(args.format.as_str()))]);
    if let Some(max_size) = args.max_size {
        filter.insert("max_size".to_owned(), json!(max_size));
    }
    let method = if args.head { "HEAD" } else { "GET" };
    let said = [
        ("url", json!(args.url)),
        ("method", json!(method)),
        ("purpose", json!(args.purpose)),
        ("filter", Value::Object(filter)),
        ("tick", tick.clone()),
    ];
    said.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What a person sees: the content, and nothing around it; of what has none, what is known of it.
fn told(answer: &Value) -> String {
    match answer["content"].as_str() {
        Some(content) if !content.is_empty() => {
            content.lines().map(harmless).collect::<Vec<_>>().join("\n")
        }
        _ => {
            let kind = answer["content_type"].as_str().map_or_else(String::new, harmless);
            format!("status {}, {kind}", answer["status"])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_sees_the_page_and_nothing_that_steers_the_terminal() {
        let answer =
            json!({"status": 200, "content": "one\n\u{1b}[31mtwo\n", "content_type": "text/plain"});
        let told = told(&answer);
        assert!(told.starts_with("one\n") && !told.contains('\u{1b}'), "{told:?}");
        let none = json!({"status": 204, "content": "", "content_type": "text/html"});
        assert_eq!(super::told(&none), "status 204, text/html");
    }
}
