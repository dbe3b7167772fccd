//! `weir doctor --clients`: whether each package client of this machine asks this Weir, proved by what it
//! prints when it is to get a canary that nobody asked for before, which Weir alone has and nobody gets:
//! the answer is signed by the Weir that gave it.
//!
//! Each runs as its user configured it, in a folder of its own that is thrown away; caches and stores
//! are there too, and no code of a package is run.

mod ask;

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;
use uuid::{Builder, Uuid};
use weir_aggregates::registry::canary::{REASON, signature};

use self::ask::{CLIENTS, Client};
use super::Checked;
use crate::cli::ServerArgs;
use crate::client::Client as Server;
use crate::commands::init::clients::base;
use crate::config::registries::upstream_key;
use crate::config::{Config, without_password};
use crate::context::Context;
use crate::discovery::Named;
use crate::exit::Failure;

/// How long a client may take.
const WITHIN: Duration = Duration::from_mins(1);
/// How many are asked at once.
const AT_ONCE: usize = 3;
/// As much of what a client says is looked at.
const MAX_SAID_BYTES: u64 = 256 << 10;
/// As much of it is shown, in characters.
const MAX_SHOWN_CHARS: usize = 200;
/// How long the signature of a Weir is, in characters.
const SIGNATURE_CHARS: usize = 12;

/// What came of asking a client.
#[derive(Debug)]
enum Came {
    /// It said this.
    Said(String),
    /// It could not be asked, and why.
    Not(String),
}

/// Asks every client that is installed.
pub(super) async fn check(context: &Context, config: &Config) -> Vec<Checked> {
    let base = base(context, config, None);
    let this = this_weir(context, &base).await;
    let asking = CLIENTS.into_iter().map(|client| one(client, &base, &this));
    let found: Vec<_> = stream::iter(asking).buffered(AT_ONCE).collect().await;
    let mut checked: Vec<Checked> = found.into_iter().flatten().collect();
    if checked.is_empty() {
        let why = "none is installed here: pip, uv, npm, pnpm, yarn, bun, cargo, go, skopeo";
        checked.push(Checked::ok("package clients", why));
    }
    checked
}

/// How this Weir signs; or why nobody knows.
async fn this_weir(context: &Context, base: &str) -> Result<String, String> {
    let server = ServerArgs { server: Some(base.to_owned()), token: None };
    let asked = async {
        let status = Server::new(context, &server)?.get("api/status", &[]).await?;
        let incarnation = status["incarnation"].as_str().unwrap_or_default();
        Ok::<_, Failure>(incarnation.parse::<Uuid>().ok())
    };
    match asked.await {
        Ok(Some(incarnation)) => Ok(signature(incarnation)),
        Ok(None) => Err(format!("{base} does not say which Weir it is")),
        Err(failure) => Err(failure.message),
    }
}

/// Asks one, if it is installed.
async fn one(client: Client, base: &str, this: &Result<String, String>) -> Option<Checked> {
    if !client.is_here().await {
        return None;
    }
    let what = client.what();
    let said = match ask(client).await {
        Came::Said(said) => said,
        Came::Not(why) => {
            let fix = format!("run `{}` by hand, and see what it waits for", client.program());
            return Some(Checked::warn(what, why, fix));
        }
    };
    if let Some(signed) = sings(&said) {
        return Some(proved(client, base, this, &signed));
    }
    let ecosystem = client.ecosystem();
    if squeezed(&said).contains(&squeezed(&format!("packages of {ecosystem} are disabled"))) {
        let why = format!("asks Weir, which serves no {ecosystem}");
        return Some(Checked::warn(what, why, format!("set {}", upstream_key(ecosystem))));
    }
    let why = match client.named().await {
        Some(Named { address, by }) if !ours(&address, base) => {
            format!("asks {}, as {by} says, and not Weir", without_password(&address))
        }
        Some(Named { address, .. }) => {
            let (address, shown) = (without_password(&address), last_line(&said));
            let why = format!("is to ask {address}, and was not refused the canary: {shown}");
            let key = upstream_key(ecosystem);
            let fix = format!("see that Weir runs there and serves {ecosystem}, by {key}");
            return Some(Checked::fail(what, why, fix));
        }
        None => format!("does not ask Weir: {}", last_line(&said)),
    };
    Some(Checked::fail(what, why, client.fix(base)))
}

/// What it proves that a client printed what a Weir said that signs like this.
fn proved(client: Client, base: &str, this: &Result<String, String>, signed: &str) -> Checked {
    let what = client.what();
    match this {
        Ok(this) if this == signed => {
            let why = "asks this Weir: it was refused a canary that no other has, and printed why";
            Checked::ok(what, why)
        }
        Ok(this) => {
            let why = format!("asks another Weir, which signs {signed}; this one signs {this}");
            Checked::fail(what, why, client.fix(base))
        }
        Err(unknown) => {
            let why = format!(
                "asks a Weir, which signs {signed}; whether it is this one, nobody \
                               knows: {unknown}"
            );
            let fix = "start it with `weir up`, and ask again".to_owned();
            Checked::warn(what, why, fix)
        }
    }
}

fn ours(address: &str, base: &str) -> bool {
    address.trim_start_matches("sparse+").starts_with(base)
}

/// Runs a client in a folder of its own, and answers what it printed.
async fn ask(client: Client) -> Came {
    let asked = async {
        let scratch = tempfile::Builder::new().prefix("weir-canary-").tempdir()?;
        // As the client itself will name it: a link in the way confuses some.
        let folder = fs::canonicalize(scratch.path())?.join("project");
        fs::create_dir(&folder)?;
        let heard = scratch.path().join("said");
        let file = File::create(&heard)?;
        // Another one each time: nobody on the way has an answer to it.
        let word = Builder::from_random_bytes(rand::random()).into_uuid().simple().to_string();
        let mut command = client.command(&folder, &word[..12])?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let ended = within(command, WITHIN).await?;
        let said = read(&heard)?;
        scratch.close()?;
        Ok((ended, said))
    };
    let asked: std::io::Result<_> = asked.await;
    match asked {
        Ok((true, said)) => Came::Said(said),
        // One that goes on trying after it was refused has been refused.
        Ok((false, said)) if sings(&said).is_some() => Came::Said(said),
        Ok((false, said)) => {
            let seconds = WITHIN.as_secs();
            Came::Not(format!("did not end within {seconds} s: {}", last_line(&said)))
        }
        Err(fault) => Came::Not(format!("could not be run: {fault}")),
    }
}

/// Whether a program ends in time; with those it started, it is ended if it does not.
async fn within(mut command: Command, bound: Duration) -> std::io::Result<bool> {
    let mut child = command.kill_on_drop(true).process_group(0).spawn()?;
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let ended = tokio::time::timeout(bound, child.wait()).await;
    if ended.is_err() {
        if let Some(group) = group {
            kill_process_group(group, Signal::KILL)?;
        }
        child.wait().await?;
        return Ok(false);
    }
    ended.map_or(Ok(false), |status| status.map(|_| true))
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut said = Vec::new();
    File::open(path)?.take(MAX_SAID_BYTES).read_to_end(&mut said)?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// How what it printed is signed, if that is what Weir alone says: as it is, across lines, or as a step of
/// an address.
fn sings(said: &str) -> Option<String> {
    let (said, reason) = (squeezed(said), squeezed(REASON));
    let (_, behind) = said.split_once(&reason)?;
    Some(behind.chars().take(SIGNATURE_CHARS).collect())
}

/// Its letters and digits.
fn squeezed(text: &str) -> String {
    let letters = text.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The last line of what somebody said, without passwords.
fn last_line(said: &str) -> String {
    let line = said.lines().map(str::trim).rfind(|line| line.chars().any(char::is_alphanumeric));
    let Some(line) = line else { return "it says nothing".to_owned() };
    let words: Vec<_> = line.split(' ').map(without_password).collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(MAX_SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[test]
    fn the_canary_is_heard_however_it_is_printed() {
        for said in [
            format!(
                "ERROR: 403 Client Error: Blocked by Weir: {REASON} 0a1b2c3d4e5f (canary) for url: x"
            ),
            "GET http://x/blocked/the-canary-sings-so-\n   this-client-asks-Weir-0a1b2c3d4e5f-by_canary/a"
                .to_owned(),
        ] {
            assert_eq!(sings(&said).as_deref(), Some("0a1b2c3d4e5f"), "{said}");
        }
        for said in ["no matching version found for weir-canary@1.0.0", ""] {
            assert_eq!(sings(said), None, "{said}");
        }
    }

    #[test]
    fn another_weir_is_not_this_one() {
        let proved = |this: Result<&str, &str>| {
            let this = this.map(str::to_owned).map_err(str::to_owned);
            let proved = proved(Client::Npm, "http://127.0.0.1:7400", &this, "0a1b2c3d4e5f");
            (proved.verdict, proved.why)
        };
        assert_eq!(proved(Ok("0a1b2c3d4e5f")).0, Verdict::Ok);
        let (verdict, why) = proved(Ok("ffffffffffff"));
        assert!(verdict == Verdict::Fail && why.contains("another Weir"), "{why}");
        let (verdict, why) = proved(Err("nobody answers"));
        assert!(verdict == Verdict::Warn && why.contains("nobody answers"), "{why}");
    }

    #[test]
    fn the_last_line_tells_no_password() {
        let said = "error one\nat https://u:hunter2@mirror.example/x it broke\n\n---\n";
        let line = last_line(said);
        assert!(line.contains("mirror.example/x it broke") && !line.contains("hunter2"), "{line}");
        assert_eq!(last_line("\n"), "it says nothing");
    }

    #[tokio::test]
    async fn who_does_not_end_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let sh = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).current_dir(folder.path());
            command
        };
        assert!(within(sh("exit 3"), WITHIN).await.unwrap(), "however it ends, it ended");
        let (read, write) = std::io::pipe().unwrap();
        let mut waiting = sh("sleep 600 & wait");
        waiting.stdout(write);
        assert!(!within(waiting, Duration::from_millis(1)).await.unwrap());
        // Nobody holds the other end any more.
        let mut read = read;
        assert_eq!(std::io::Read::read(&mut read, &mut [0]).unwrap(), 0);
    }
}
