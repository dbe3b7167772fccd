//! `weir init --clients`: the package clients of this machine ask Weir, once their owner has seen
//! what is written where and said yes; and ask again what they asked before.
//!
//! Only the user's own configuration of a client is touched, only between two lines that say whose
//! they are, and the file of before is kept beside it. docker's is JSON, and its daemon's: there, only
//! the lists that name registries are touched, and only by who may.

mod cargo;
mod diff;
mod docker;
mod edit;
mod file;
mod go;
mod npm;
mod pip;
mod podman;
mod uv;

use std::net::IpAddr;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;
use weir_events::registry::Ecosystem;

use self::edit::Edit;
use self::file::File;
use crate::commands::{Answer, Sure};
use crate::config::registries::{goods, upstream_key};
use crate::config::{Config, HttpUrl, without_password};
use crate::context::Context;
use crate::discovery::{self, Named};
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::runtime;

/// A package client that can be pointed at Weir.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Client {
    Npm,
    Cargo,
    Go,
    Pip,
    Uv,
    Docker,
    /// And skopeo, and buildah
    Podman,
}

/// What somebody wants of their clients.
#[derive(Debug)]
pub(super) struct Wish<'a> {
    /// Which; all of them if none is named.
    pub(super) clients: &'a [Client],
    /// Where they are to find Weir, unless it is known.
    pub(super) url: Option<&'a HttpUrl>,
    /// Whether they are to ask what they asked before.
    pub(super) undo: bool,
    pub(super) sure: Sure,
}

/// What is to become of one client's configuration.
#[derive(Debug)]
struct Plan {
    client: Client,
    step: Step,
}

#[derive(Debug)]
enum Step {
    Write {
        file: File,
        /// What comes into it, as a person is shown it.
        shown: String,
        after: String,
        /// What is to be done, or known, beside that.
        then: Option<String>,
    },
    Undo {
        file: File,
        after: String,
    },
    /// Somebody else has to do this.
    Tell(String),
    /// It is so already.
    Nothing,
    /// It cannot be done, and why.
    Leave(String),
}

impl Client {
    /// Those that are meant where none is named: of images, only where they are served and who asks for
    /// them is here.
    fn all(config: &Config) -> Vec<Self> {
        let mut all = vec![Self::Npm, Self::Cargo, Self::Go, Self::Pip, Self::Uv];
        if served(config, Ecosystem::Docker) {
            let here = |programs: &[&str]| programs.iter().any(|name| environment::in_path(name));
            all.extend(here(&["docker", "dockerd"]).then_some(Self::Docker));
            all.extend(here(&["podman", "skopeo", "buildah"]).then_some(Self::Podman));
        }
        all
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Pip => "pip",
            Self::Uv => "uv",
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    const fn ecosystem(self) -> Ecosystem {
        match self {
            Self::Npm => Ecosystem::Npm,
            Self::Cargo => Ecosystem::Cargo,
            Self::Go => Ecosystem::Go,
            Self::Pip | Self::Uv => Ecosystem::Pypi,
            Self::Docker | Self::Podman => Ecosystem::Docker,
        }
    }

    /// Where it is configured, what is to stand there, and what stands against it, in the file
    /// without it and in the file with it.
    fn ways(self) -> Option<Ways> {
        /// What a client's own file says the same of every upstream.
        macro_rules! ways {
            ($client:ident) => {{
                let (path, objection) = ($client::path, $client::objection);
                Ways { path, edit: |base, _| $client::edit(base), objection }
            }};
        }
        Some(match self {
            Self::Npm => ways!(npm),
            Self::Cargo => ways!(cargo),
            Self::Go => ways!(go),
            Self::Pip => ways!(pip),
            Self::Uv => ways!(uv),
            Self::Podman => {
                Ways { path: podman::path, edit: podman::edit, objection: podman::objection }
            }
            Self::Docker => return None,
        })
    }
}

/// How a client whose configuration is its user's is pointed at Weir.
#[derive(Debug, Clone, Copy)]
struct Ways {
    path: fn() -> Option<PathBuf>,
    edit: fn(&str, &Config) -> Edit,
    objection: fn(&str, &str) -> Option<String>,
}

impl Ways {
    fn file(self) -> Result<File, String> {
        let path = (self.path)();
        File::read(path.ok_or("HOME is not set, so nobody knows where it is configured")?)
    }
}

pub(super) fn run(context: &Context, wish: &Wish<'_>) -> Result<Exit, Failure> {
    let config = context.load(&[])?.config;
    let base = base(context, &config, wish.url);
    let all = Client::all(&config);
    let clients = if wish.clients.is_empty() { &all } else { wish.clients };
    let plan = |client: Client| {
        let step = if wish.undo { undo(client, &base) } else { point(client, &config, &base) };
        Plan { client, step: step.unwrap_or_else(Step::Leave) }
    };
    let plans: Vec<Plan> = clients.iter().copied().map(plan).collect();
    for plan in &plans {
        context.output.say(&plan.told());
    }
    let n_files = plans.iter().filter(|plan| plan.changes()).count();
    let mut done = false;
    if n_files > 0 {
        let what = if n_files == 1 { "write this file" } else { "write these files" };
        if wish.sure.ask(context, what)? == Answer::Go {
            plans.iter().try_for_each(Plan::carry_out)?;
            done = true;
        }
    }
    let written = !wish.undo && (done || n_files == 0);
    let overruled = if written { overruled(&plans, &base)? } else { Vec::new() };
    for told in &overruled {
        context.output.say(told);
    }
    if done && !wish.undo && !base_is_here(&base) {
        context.output.say(
            "a Weir on another machine wants a token: make one with `weir token create`, then \
             `cargo login --registry weir`, or `npm config set` its `:_authToken`, or for pip and uv \
             write it into the address: http://weir:TOKEN@…; go shows one only where that begins with https",
        );
    }
    let said: Vec<_> = plans.iter().map(|plan| plan.as_json(done)).collect();
    let all = json!({ "clients": said, "done": done, "overruled": overruled });
    context.output.data(&all, || {
        let words = if wish.undo { "ask again what they asked before" } else { "ask Weir now" };
        match (done, overruled.is_empty()) {
            (false, _) => "nothing was written".to_owned(),
            (true, true) => format!("clients {words}"),
            (true, false) => format!("clients {words}, but not everywhere"),
        }
    })?;
    let left = plans.iter().any(|plan| matches!(plan.step, Step::Leave(_)));
    let left = left || !overruled.is_empty();
    Ok(if left { Exit::Conflict } else { Exit::Done })
}

/// Where clients find Weir, without a slash at its end: what was asked for, else where operators
/// say it is, else where it runs, else where it would.
pub(in crate::commands) fn base(
    context: &Context,
    config: &Config,
    asked: Option<&HttpUrl>,
) -> String {
    let named = asked.or(config.server.public_url.as_ref()).map(ToString::to_string);
    let running = || context.data_dir.running().map(|running| running.url);
    let base = named.or_else(|| running().filter(|url| !url.is_empty())).unwrap_or_else(|| {
        let host = &config.server.host;
        // Nobody is asked at the address that means all of them.
        let host = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(IpAddr::V4(ip)) if ip.is_unspecified() => "127.0.0.1".to_owned(),
            Ok(IpAddr::V6(ip)) if ip.is_unspecified() => "[::1]".to_owned(),
            Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
            _ => host.to_string(),
        };
        format!("http://{host}:{}", config.server.port)
    });
    base.trim_end_matches('/').to_owned()
}

/// What goes before the user's files that name Weir now, here where the command was started: a project's own
/// file, or a variable. Each client is asked as it would be asked by itself.
fn overruled(plans: &[Plan], base: &str) -> Result<Vec<String>, Failure> {
    let ours = |plan: &&Plan| matches!(plan.step, Step::Write { .. } | Step::Nothing);
    // What uv asks, and who asks for images, nobody tells: `weir doctor --clients` finds out.
    let told = |client: &Client| !matches!(client, Client::Uv | Client::Docker | Client::Podman);
    let clients = plans.iter().filter(ours).map(|plan| plan.client).filter(told);
    let clients: Vec<Client> = clients.collect();
    let asking = async {
        let mut told = Vec::new();
        for client in clients {
            // Who is not there to say what it asks, asks nothing.
            let Ok(Named { address, by }) = discovery::named(client.ecosystem()).await else {
                continue;
            };
            if !address.trim_start_matches("sparse+").starts_with(base) {
                let (name, shown) = (client.name(), without_password(&address));
                told.push(format!(
                    "{name} still asks {shown} here, as {by} says, which goes before the user's \
                     file: take that out, or Weir is passed by"
                ));
            }
        }
        told
    };
    Ok(runtime::runtime()?.block_on(asking))
}

fn base_is_here(base: &str) -> bool {
    let url = base.parse::<HttpUrl>().ok();
    url.is_some_and(|url| url.0.host_str().is_some_and(discovery::is_loopback))
}

fn served(config: &Config, ecosystem: Ecosystem) -> bool {
    config.registries.all().into_iter().any(|registry| {
        registry.ecosystem == ecosystem && registry.enabled && registry.upstream.is_some()
    })
}

fn point(client: Client, config: &Config, base: &str) -> Result<Step, String> {
    let ecosystem = client.ecosystem();
    if !served(config, ecosystem) {
        let (goods, key) = (goods(ecosystem), upstream_key(ecosystem));
        return Err(format!("{goods} are not served: set {key}"));
    }
    let Some(ways) = client.ways() else {
        return docker::point(base);
    };
    let (file, edit) = (ways.file()?, (ways.edit)(base, config));
    let without = edit::taken_out(file.text());
    let after = edit.put_in(&without);
    if after == file.text() {
        return Ok(Step::Nothing);
    }
    match (ways.objection)(&without, &after) {
        Some(why) => Err(format!("{}: {why}", file.path().display())),
        None => Ok(Step::Write { file, shown: edit.shown(), after, then: None }),
    }
}

fn undo(client: Client, base: &str) -> Result<Step, String> {
    let Some(ways) = client.ways() else { return docker::undo(base) };
    let file = ways.file()?;
    let after = edit::taken_out(file.text());
    Ok(if after == file.text() { Step::Nothing } else { Step::Undo { file, after } })
}

impl Plan {
    const fn changes(&self) -> bool {
        matches!(self.step, Step::Write { .. } | Step::Undo { .. })
    }

    fn told(&self) -> String {
        let name = self.client.name();
        match &self.step {
            Step::Write { file, shown, then, .. } => {
                let path = file.path().display();
                let kept = file
                    .backup_to_make()
                    .map(|backup| format!(", whose old content is kept as {}", backup.display()));
                let then = then.as_ref().map(|then| format!("\n{then}")).unwrap_or_default();
                format!("{name}: into {path}{}:\n{shown}{then}", kept.unwrap_or_default())
            }
            Step::Undo { file, .. } => {
                format!("{name}: what Weir wrote is taken out of {}", file.path().display())
            }
            Step::Tell(what) => format!("{name}: {what}"),
            Step::Nothing => format!("{name}: nothing is to be done"),
            Step::Leave(why) => format!("{name}: left as it is: {why}"),
        }
    }

    fn carry_out(&self) -> Result<(), Failure> {
        let (file, written) = match &self.step {
            Step::Write { file, after, .. } => {
                (file, file.keep_old().and_then(|()| file.write(after)))
            }
            Step::Undo { file, after } => (file, file.restore(after)),
            Step::Tell(_) | Step::Nothing | Step::Leave(_) => return Ok(()),
        };
        written.map_err(|fault| {
            Failure::failed(format!("could not write `{}`: {fault}", file.path().display()))
        })
    }

    fn as_json(&self, done: bool) -> serde_json::Value {
        let (step, path, why) = match &self.step {
            Step::Write { file, .. } => ("write", Some(file.path()), None),
            Step::Undo { file, .. } => ("undo", Some(file.path()), None),
            Step::Tell(what) => ("tell", None, Some(what)),
            Step::Nothing => ("nothing", None, None),
            Step::Leave(why) => ("leave", None, Some(why)),
        };
        let done = done && self.changes();
        json!({ "client": self.client, "step": step, "path": path, "why": why, "done": done })
    }
}
