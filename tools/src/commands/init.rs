//! `weir init`: a configuration file that fits this machine, and clients that ask Weir.

pub(super) mod clients;

use std::path::PathBuf;

use clap::Args;
use futures_util::future::join;
use reqwest::Url;
use serde_json::json;
use weir_events::registry::Ecosystem;

use self::clients::{Client, Wish};
use super::Sure;
use super::serve::write_new;
use crate::config::registries::{goods, upstream_key};
use crate::config::{self, Config, HttpUrl, without_password};
use crate::context::Context;
use crate::discovery::{self, CHECKSUM_DATABASE, Found, sources::out_of_reach};
use crate::exit::{Exit, Failure, chain};
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Replace the file that is there
    #[arg(long)]
    force: bool,
    /// Point the package clients of this user at Weir instead: these, or all if none is named.
    /// Shows what is written where, and asks
    #[arg(long, value_name = "CLIENT", num_args = 0.., value_delimiter = ',')]
    #[arg(conflicts_with = "force")]
    clients: Option<Vec<Client>>,
    /// With --clients: let them ask again what they asked before
    #[arg(long, requires = "clients")]
    undo: bool,
    /// With --clients: where they find Weir [default: as configured, else where it runs]
    #[arg(long, value_name = "URL", requires = "clients", conflicts_with = "undo")]
    url: Option<HttpUrl>,
    #[command(flatten)]
    sure: Sure,
}

pub(crate) fn run(context: &Context, args: &InitArgs) -> Result<Exit, Failure> {
    if let Some(clients) = &args.clients {
        let (url, undo, sure) = (args.url.as_ref(), args.undo, args.sure);
        return clients::run(context, &Wish { clients, url, undo, sure });
    }
    let dry_run = args.sure.dry_run;
    let path = context.config_file.clone().unwrap_or_else(|| PathBuf::from(config::FILE));
    if path.exists() && !args.force && !dry_run {
        let message = format!("{} is there already", path.display());
        return Err(Failure::new(Exit::Conflict, message)
            .hint("add --force to replace it, or --dry-run to see what would be written"));
    }
    // Where Weir listens decides whether a registry is Weir itself.
    let configured = context.load_quietly(&[]).map_or_else(|_| Config::default(), |l| l.config);
    let server = &configured.server;
    let all = Config::default().registries.all().map(|registry| registry.ecosystem).to_vec();
    let (asking, reaching) = (discovery::ask_all(all, server), out_of_reach(&configured.sources));
    let (answers, off) = runtime::runtime()?.block_on(join(asking, reaching));
    let (mut set, mut notes, mut said) = (Vec::new(), Vec::new(), serde_json::Map::new());
    said.insert("path".to_owned(), json!(path));
    for (ecosystem, answer) in &answers {
        let key = upstream_key(*ecosystem);
        match answer {
            Ok(Found { upstream, by, beside }) => {
                let shown = without_password(upstream.0.as_str());
                set.push((key, upstream.to_string()));
                set.extend(beside.clone());
                notes.push(format!("{key} is {shown}, as {by} says"));
                said.insert(key.to_owned(), json!(shown));
            }
            // A client that asks Weir already names Weir: what was asked before stays.
            Err(unknown) if let Some(upstream) = kept(&configured, *ecosystem) => {
                let shown = without_password(upstream.as_str());
                set.push((key, upstream.to_string()));
                if *ecosystem == Ecosystem::Go {
                    let database = configured.registries.go.checksum_database.clone();
                    set.extend(database.map(|it| (CHECKSUM_DATABASE, it.to_string())));
                }
                notes.push(format!("{key} stays {shown}: {}", chain(unknown)));
                said.insert(key.to_owned(), json!(shown));
            }
            Err(unknown) => {
                let (why, goods) = (chain(unknown), goods(*ecosystem));
                notes.push(format!("warning: {key} is left out: {why}; set it to serve {goods}"));
                said.insert(key.to_owned(), json!(null));
            }
        }
    }
    for source in &off {
        set.push((source.key, "false".to_owned()));
        notes.push(source.warning());
        said.insert(source.key.to_owned(), json!(false));
    }
    for key in switched_off(&configured) {
        set.push((key, "false".to_owned()));
        notes.push(format!("{key} stays false, as it is configured now"));
        said.insert(key.to_owned(), json!(false));
    }
    let text = config::example(&set);
    if dry_run {
        for note in &notes {
            context.output.say(note);
        }
        said.insert("text".to_owned(), json!(text));
        context.output.data(&said, || text.trim_end().to_owned())?;
        return Ok(Exit::Done);
    }
    if path.exists() {
        let kept = path.with_extension("yaml.old");
        std::fs::rename(&path, &kept)?;
        context.output.say(&format!("kept the old one as {}", kept.display()));
    }
    write_new(&path, &text)?;
    for note in &notes {
        context.output.say(note);
    }
    context.output.data(&said, || format!("wrote {}", path.display()))?;
    Ok(Exit::Done)
}

/// The sources that are switched off already.
fn switched_off(configured: &Config) -> impl Iterator<Item = &'static str> {
    let sources = &configured.sources;
    let all = [
        ("sources.osv.enabled", sources.osv.enabled),
        ("sources.openssf.enabled", sources.openssf.enabled),
    ];
    all.into_iter().filter(|(_, enabled)| !enabled).map(|(key, _)| key)
}

/// The upstream of an ecosystem in the configuration that is to be replaced.
fn kept(configured: &Config, ecosystem: Ecosystem) -> Option<&Url> {
    let mut all = configured.registries.all().into_iter();
    all.find(|registry| registry.ecosystem == ecosystem)?.upstream
}
