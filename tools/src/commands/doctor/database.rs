//! The database and the log in it: whether what was acknowledged is safe, and everybody keeps up.

use std::collections::HashMap;
use std::time::Instant;

use sqlx::{Connection as _, PgConnection, Row as _};
use weir_events::position::Position;
use weir_events::timestamp::Timestamp;
use weir_log::activity::{self, OldestTransaction};
use weir_log::database::{Database, DatabaseFault};
use weir_log::leaf;
use weir_processors::clock::{Clock as _, SystemClock};
use weir_projections::access::api_tokens;
use weir_projections::engine::status::State;

use super::Checked;
use crate::commands::serve::opened::Opened;
use crate::commands::status::span;
use crate::config::Config;
use crate::context::Context;
use crate::exit::{Failure, chain};

/// Settings without which an acknowledged event can be lost or damaged unnoticed.
const SAFE: [(&str, &str); 4] = [
    ("fsync", "on"),
    ("full_page_writes", "on"),
    ("synchronous_commit", "on"),
    ("data_checksums", "on"),
];
const OLDEST_MAJOR: u32 = 15;
/// Clocks this far apart confuse people and expiry.
const MAX_SKEW_SECONDS: f64 = 2.0;
const MAX_TRANSACTION_SECONDS: f64 = 60.0;
const MAX_LAG_SECONDS: f64 = 30.0;
/// Events whose hashes are looked at.
const HASHED: usize = 1_000;
/// Tokens that are looked at.
const TOKENS: usize = 1_000;

const SETTINGS: &str = "
    SELECT name, setting FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums',
                   'server_version', 'server_version_num')";

const NOW: &str = "SELECT clock_timestamp() AS now";

pub(super) async fn check(context: &Context, config: &Config, url: &str) -> Vec<Checked> {
    let section = &config.database;
    let mut checked = Vec::new();
    let connected = async {
        let database = Database::new(url, section.pooler.into(), section.max_connections)?;
        database.connect().await
    };
    let mut connection = match connected.await {
        Ok(connection) => connection,
        Err(fault) => {
            let fix = "check database.url, and that the server runs and lets this user in";
            checked.push(Checked::fail("database", chain(&fault), fix));
            return checked;
        }
    };
    match server(&mut connection).await {
        Ok(found) => checked.extend(found),
        Err(fault) => checked.push(broken(&fault)),
    }
    // What is not closed well is closed by the end of the process.
    drop(connection.close().await);
    match Opened::open(config, url).await {
        Ok(opened) => {
            checked.extend(log(context, &opened).await);
            opened.close().await;
        }
        Err(failure) => checked.push(unopened(failure)),
    }
    checked
}

fn unopened(failure: Failure) -> Checked {
    let fix = failure.hint.unwrap_or_else(|| "see the message".to_owned());
    Checked::fail("schema", failure.message, fix)
}

fn broken(fault: &DatabaseFault) -> Checked {
    Checked::fail("database", chain(fault), "look into the server's own log")
}

async fn server(connection: &mut PgConnection) -> Result<Vec<Checked>, DatabaseFault> {
    let fault = DatabaseFault::of("ask the database how it is set up");
    let rows = sqlx::query(SETTINGS).fetch_all(&mut *connection).await.map_err(&fault)?;
    let mut settings = HashMap::new();
    for row in rows {
        let name: String = row.try_get("name").map_err(&fault)?;
        let setting: String = row.try_get("setting").map_err(&fault)?;
        settings.insert(name, setting);
    }
    let mut checked = vec![version(&settings), safety(&settings)];
    checked.push(skew(connection).await?);
    checked.push(oldest_transaction(connection).await?);
    Ok(checked)
}

fn version(settings: &HashMap<String, String>) -> Checked {
    const WHAT: &str = "postgres";
    let version = settings.get("server_version").map_or("unknown", String::as_str);
    let number: u32 =
        settings.get("server_version_num").and_then(|number| number.parse().ok()).unwrap_or(0);
    if number / 10_000 < OLDEST_MAJOR {
        let why = format!("version {version}, Weir needs {OLDEST_MAJOR} or newer");
        return Checked::fail(WHAT, why, "move to a newer Postgres");
    }
    Checked::ok(WHAT, format!("version {version}"))
}

fn safety(settings: &HashMap<String, String>) -> Checked {
    const WHAT: &str = "durability";
    // A replica that must confirm is even safer than `on`.
    let stricter = ["remote_apply", "remote_write"];
    let unsafe_ones: Vec<String> = SAFE
        .iter()
        .filter_map(|(name, wanted)| {
            let found = settings.get(*name).map_or("unknown", String::as_str);
            let fine =
                found == *wanted || (*name == "synchronous_commit" && stricter.contains(&found));
            (!fine).then(|| format!("{name} is {found}"))
        })
        .collect();
    if unsafe_ones.is_empty() {
        let names: Vec<&str> = SAFE.iter().map(|(name, _)| *name).collect();
        return Checked::ok(WHAT, format!("{} are on", names.join(", ")));
    }
    let only_checksums = unsafe_ones.iter().all(|found| found.starts_with("data_checksums"));
    let why = unsafe_ones.join(", ");
    if only_checksums {
        Checked::warn(WHAT, why, "stop the server and run `pg_checksums --enable` on its data")
    } else {
        Checked::fail(WHAT, why, "turn them on in postgresql.conf and reload the server")
    }
}

async fn skew(connection: &mut PgConnection) -> Result<Checked, DatabaseFault> {
    const WHAT: &str = "clock";
    let fault = DatabaseFault::of("ask the database for the time");
    let began = Instant::now();
    let before = SystemClock.now();
    let row = sqlx::query(NOW).fetch_one(connection).await.map_err(&fault)?;
    let theirs: time::OffsetDateTime = row.try_get("now").map_err(&fault)?;
    let half = began.elapsed().as_secs_f64() / 2.0;
    let apart = before.seconds_until(Timestamp::from(theirs)) - half;
    if apart.abs() <= MAX_SKEW_SECONDS {
        return Ok(Checked::ok(WHAT, format!("{:.0} ms from the database's", apart * 1_000.0)));
    }
    let why = format!("{apart:.1} s from the database's");
    Ok(Checked::warn(WHAT, why, "let both machines keep time by NTP (chrony, systemd-timesyncd)"))
}

async fn oldest_transaction(connection: &mut PgConnection) -> Result<Checked, DatabaseFault> {
    const WHAT: &str = "open transactions";
    let OldestTransaction { age, application } = activity::oldest_transaction(connection).await?;
    let seconds = age.as_secs_f64();
    if seconds <= MAX_TRANSACTION_SECONDS {
        return Ok(Checked::ok(WHAT, format!("the oldest is {} old", span(seconds))));
    }
    let who = application.unwrap_or_else(|| "a client without a name".to_owned());
    let why = format!("{who} has one open for {}: dead rows pile up meanwhile", span(seconds));
    let fix =
        "end it (SELECT pg_terminate_backend(pid)), and set idle_in_transaction_session_timeout";
    Ok(Checked::warn(WHAT, why, fix))
}

async fn log(context: &Context, opened: &Opened) -> Vec<Checked> {
    vec![hashes(opened).await, projections(context, opened).await, tokens(opened).await]
}

async fn hashes(opened: &Opened) -> Checked {
    const WHAT: &str = "hash chain";
    let head = opened.log.head();
    let mut at = Position((head.0 - i64::try_from(HASHED).unwrap_or(0)).max(0));
    let mut n_fit = 0;
    // Large events come in several pages.
    while n_fit < HASHED {
        let events = match opened.log.read(at, HASHED - n_fit).await {
            Ok(events) => events,
            Err(fault) => return Checked::fail(WHAT, chain(&fault), "weir verify"),
        };
        if let Some(event) = events.iter().find(|event| leaf::of_recorded(event) != event.hash) {
            let why = format!("the event at position {} was changed", event.position);
            return Checked::fail(WHAT, why, "weir verify");
        }
        let Some(end) = events.last().map(|event| event.position) else { break };
        at = end;
        n_fit += events.len();
    }
    Checked::ok(WHAT, format!("the last {n_fit} events fit their hashes"))
}

async fn projections(context: &Context, opened: &Opened) -> Checked {
    const WHAT: &str = "projections";
    let status = match opened.engine().status().await {
        Ok(status) => status,
        Err(fault) => return Checked::fail(WHAT, chain(&fault), "look into the server's own log"),
    };
    let all = &status.projections;
    if let Some(halted) = all.iter().find(|projection| projection.state == State::Halted) {
        let why = halted.halted_by.as_deref().unwrap_or("no reason given");
        let why = format!("{} stands still at {}: {why}", halted.name, halted.position);
        return Checked::fail(WHAT, why, format!("weir dead-letters ls {}", halted.name));
    }
    let parked: u64 = all.iter().map(|projection| projection.dead_letters).sum();
    if 0 < parked {
        let why = format!("{parked} events could not be applied");
        return Checked::warn(WHAT, why, "weir dead-letters ls");
    }
    let slowest = all.iter().max_by(|a, b| a.lag_seconds.total_cmp(&b.lag_seconds));
    match slowest.filter(|slowest| MAX_LAG_SECONDS < slowest.lag_seconds) {
        Some(slow) => {
            let why = format!(
                "{} is {} events and {} behind",
                slow.name,
                slow.lag_events,
                span(slow.lag_seconds)
            );
            let fix = format!("start a worker: `{} up` or `weir worker`", context.weir());
            Checked::warn(WHAT, why, fix)
        }
        None => Checked::ok(WHAT, format!("{} keep up with position {}", all.len(), status.head)),
    }
}

async fn tokens(opened: &Opened) -> Checked {
    const WHAT: &str = "tokens";
    let tokens = match api_tokens::list(&opened.database, None, TOKENS).await {
        Ok(tokens) => tokens,
        Err(fault) => {
            return Checked::warn(
                WHAT,
                chain(&fault),
                "start a worker: `weir up` or `weir worker`",
            );
        }
    };
    let live: Vec<_> = tokens.iter().filter(|token| token.revoked_at.is_none()).collect();
    let eternal: Vec<&str> = live
        .iter()
        .filter(|token| token.expires_at.is_none())
        .map(|token| token.name.as_str())
        .collect();
    if eternal.is_empty() {
        return Checked::ok(WHAT, format!("{} in use, all of them end by themselves", live.len()));
    }
    let names = eternal.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let why = format!("{} of {} in use never end: {names}", eternal.len(), live.len());
    let fix = "issue new ones with `weir token create --expires-in 90d` and revoke these";
    Checked::warn(WHAT, why, fix)
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    fn settings(changes: &[(&str, &str)]) -> HashMap<String, String> {
        let mut settings: HashMap<String, String> =
            SAFE.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        settings
            .extend(changes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        settings
    }

    #[test]
    fn what_can_lose_events_is_wrong_and_missing_checksums_are_to_watch() {
        assert_eq!(safety(&settings(&[])).verdict, Verdict::Ok);
        assert_eq!(
            safety(&settings(&[("synchronous_commit", "remote_apply")])).verdict,
            Verdict::Ok
        );
        assert_eq!(safety(&settings(&[("data_checksums", "off")])).verdict, Verdict::Warn);
        let lost = safety(&settings(&[("fsync", "off"), ("data_checksums", "off")]));
        assert_eq!(lost.verdict, Verdict::Fail);
        assert_eq!(lost.why, "fsync is off, data_checksums is off");
        assert_eq!(safety(&HashMap::new()).verdict, Verdict::Fail);
    }

    #[test]
    fn an_old_server_is_wrong() {
        let old = [("server_version", "14.9"), ("server_version_num", "140009")];
        assert_eq!(version(&settings(&old)).verdict, Verdict::Fail);
        let new = [("server_version", "15.18"), ("server_version_num", "150018")];
        assert_eq!(version(&settings(&new)).why, "version 15.18");
    }
}
