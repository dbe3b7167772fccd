//! `weir up`, `weir api`, `weir worker`: the same parts, in one process or in several.

mod first_start;
pub(crate) mod opened;
mod packages;
mod parts;
mod ready;
mod sources;
mod web;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use sqlx::migrate::MigrateError;
use tokio::net::TcpListener;
use tracing::info;
use weir_log::database::patiently;
use weir_log::migrate;

use self::first_start::Admin;
pub(crate) use self::first_start::write_new;
use self::parts::{Parts, Role};
use crate::cli::DatabaseArgs;
use crate::config::database::Pooler;
use crate::config::registries::upstream_key;
use crate::config::server::Server;
use crate::config::{Config, FlagValue};
use crate::context::Context;
use crate::data_dir::PidFile;
use crate::discovery;
use crate::exit::{Exit, Failure, chain};
use crate::logging;
use crate::runtime::{self, Need, Signals};

#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    #[command(flatten)]
    listen: ListenArgs,
    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ApiArgs {
    #[command(flatten)]
    listen: ListenArgs,
    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Listen here, for health and metrics (and the API without packages); nowhere unless given
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Debug, Args)]
struct ListenArgs {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:7400]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
}

pub(crate) fn up(context: &Context, args: &UpArgs) -> Result<Exit, Failure> {
    let mut flags = args.database.flags();
    flags.extend(listen_flags(args.listen.listen.as_deref())?);
    make_data_dir(context)?;
    let pid = context.data_dir.take_pid().map_err(taken(context))?;
    first_start::write_config(context, &flags)?;
    serve(context, &flags, Role::Everything, Some(pid))
}

pub(crate) fn api(context: &Context, args: &ApiArgs) -> Result<Exit, Failure> {
    let mut flags = args.database.flags();
    flags.extend(listen_flags(args.listen.listen.as_deref())?);
    make_data_dir(context)?;
    serve(context, &flags, Role::Api, None)
}

pub(crate) fn worker(context: &Context, args: &WorkerArgs) -> Result<Exit, Failure> {
    let mut flags = args.database.flags();
    flags.extend(listen_flags(args.listen.as_deref())?);
    make_data_dir(context)?;
    let role = if args.listen.is_some() { Role::WorkerWithHealth } else { Role::Worker };
    serve(context, &flags, role, None)
}

/// Makes the data directory, and says so where nobody named it: root's is one of the system's.
fn make_data_dir(context: &Context) -> Result<(), Failure> {
    if context.data_dir.make()? && !context.own_data_dir {
        context.output.say(&format!(
            "made {}: keys, the first admin's token and the cache are kept there, whatever the \
             database; choose another folder with --data-dir",
            context.data_dir.path().display()
        ));
    }
    Ok(())
}

fn taken(context: &Context) -> impl Fn(crate::data_dir::DataDirFault) -> Failure {
    let down = format!("stop it with `{} down`, or use another --data-dir", context.weir());
    move |fault| {
        let failure = Failure::from(fault);
        Failure { exit: Exit::Conflict, hint: Some(down.clone()), ..failure }
    }
}

/// `--listen` as the two keys it stands for.
fn listen_flags(listen: Option<&str>) -> Result<Vec<FlagValue>, Failure> {
    let Some(listen) = listen else { return Ok(Vec::new()) };
    let fault = || {
        Failure::new(Exit::Usage, format!("--listen `{listen}` is not HOST:PORT"))
            .hint("write it like 127.0.0.1:7400, [::1]:7400 or 0.0.0.0:0")
    };
    let (host, port) = listen.rsplit_once(':').ok_or_else(fault)?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() || port.parse::<u16>().is_err() {
        return Err(fault());
    }
    let flag = |key, value: &str| FlagValue { flag: "--listen", key, value: value.to_owned() };
    Ok(vec![flag("server.host", host), flag("server.port", port)])
}

fn serve(
    context: &Context,
    flags: &[FlagValue],
    role: Role,
    pid: Option<PidFile>,
) -> Result<Exit, Failure> {
    let loaded = context.load(flags)?;
    logging::start(context, &loaded.config.logging, true)?;
    if let Some(file) = &loaded.file {
        info!(file = %file.display(), "configuration read");
    }
    let config = loaded.config;
    refuse_itself(&config)?;
    // Held by this thread until Postgres has stopped too: then the next Weir may start.
    let pid = pid.map(Arc::new);
    let service = Service {
        context: context.clone(),
        config: config.clone(),
        role,
        // The port first: when it is taken, nothing else needs to be started.
        listener: if role.listens() { Some(listen(&config.server)?) } else { None },
        pid: pid.clone(),
    };
    let done = runtime::with_database(context, &config, Need::Any, move |url| service.run(url));
    drop(pid);
    done
}

/// An upstream that is this Weir would be asked for ever.
fn refuse_itself(config: &Config) -> Result<(), Failure> {
    for registry in config.registries.all() {
        if registry.upstream.is_some_and(|url| discovery::is_itself(url, &config.server)) {
            let message = format!("{} is this Weir itself", upstream_key(registry.ecosystem));
            let hint = "set it to the registry behind it";
            return Err(Failure::new(Exit::Usage, message).hint(hint));
        }
    }
    Ok(())
}

/// Listens, without a runtime that outlives this.
fn listen(server: &Server) -> Result<std::net::TcpListener, Failure> {
    let host = server.host.trim_matches(['[', ']']);
    let bound = runtime::runtime()?
        .block_on(async { TcpListener::bind((host, server.port)).await?.into_std() });
    bound.map_err(|fault| {
        let message =
            format!("could not listen on {}:{}: {}", server.host, server.port, chain(&fault));
        Failure::failed(message)
            .hint("choose another with --listen HOST:PORT; port 0 takes a free one")
    })
}

/// One process's share of the work, on its way to a database.
struct Service {
    context: Context,
    config: Config,
    role: Role,
    listener: Option<std::net::TcpListener>,
    pid: Option<Arc<PidFile>>,
}

impl Service {
    async fn run(mut self, url: String) -> Result<Exit, Failure> {
        let mut signals = Signals::new()?;
        let listener = self.listener.take().map(TcpListener::from_std).transpose()?;
        let parts = tokio::select! {
            started = self.start(url) => started?,
            exit = signals.next() => return Ok(exit),
        };
        let address = listener.as_ref().map(TcpListener::local_addr).transpose()?;
        // Before anybody is answered: who is told that it is ready finds the token.
        let admin = match self.first_admin(&parts).await {
            Ok(admin) => admin,
            Err(failure) => {
                parts.stop().await;
                return Err(failure);
            }
        };
        if let Some(listener) = listener {
            parts.listen(listener);
        }
        match self.say_ready(admin.as_ref(), address) {
            Ok(()) => {}
            // Nobody reads our greeting; that is no reason not to serve.
            Err(failure) if failure.exit == Exit::Done => {}
            Err(failure) => {
                parts.stop().await;
                return Err(failure);
            }
        }
        let exit = signals.next().await;
        info!(signal = exit.code() - 128, "stopping");
        tokio::select! {
            () = parts.stop() => Ok(Exit::Done),
            // Asked twice: at once.
            again = signals.next() => Ok(again),
        }
    }

    async fn start(&self, url: String) -> Result<Parts, Failure> {
        // A server that is itself starting or recovering is waited for; one that refuses is not.
        let database = patiently(
            |fault: &Failure| fault.exit == Exit::Unreachable,
            || opened::connect(&self.config, &url),
        )
        .await?;
        // The lock of a migration belongs to a session, which a pooler would share out.
        let direct = self.config.database.pooler == Pooler::None;
        if self.role == Role::Everything && direct {
            migrate::migrate(&database).await.map_err(|fault| of_migration(&fault))?;
        } else {
            let check = || migrate::check(&database);
            let checked = patiently(migrate::MigrateFault::passing, check).await;
            checked.map_err(|fault| of_migration(&fault))?;
        }
        Parts::start(&self.config, &self.context.data_dir, database, self.role).await
    }

    async fn first_admin(&self, parts: &Parts) -> Result<Option<Admin>, Failure> {
        if self.role.listens() && self.role.serves() {
            first_start::admin_token(parts, &self.context).await
        } else {
            Ok(None)
        }
    }

    fn say_ready(&self, admin: Option<&Admin>, address: Option<SocketAddr>) -> Result<(), Failure> {
        let Some(address) = address.filter(|_| self.role.serves()) else {
            return ready::worker(&self.context, address);
        };
        let url = ready::url(&self.config.server, address);
        if let Some(pid) = &self.pid {
            pid.say(&url)?;
        }
        ready::server(&self.context, &self.config, &url, admin)
    }
}

/// What a fault of a migration means for the command.
pub(crate) fn of_migration(fault: &migrate::MigrateFault) -> Failure {
    match fault {
        migrate::MigrateFault::Older { .. } => Failure::new(Exit::Conflict, chain(fault))
            .hint("`weir migrate`, with the same --data-dir or --database-url (not a pooler's)"),
        migrate::MigrateFault::Failed(
            MigrateError::VersionMismatch(_) | MigrateError::VersionMissing(_),
        ) => Failure::failed(chain(fault))
            .hint("another build made this database: use that build, or a new database"),
        migrate::MigrateFault::Failed(_) => Failure::failed(chain(fault)),
    }
}

/// The folder of the cache.
pub(crate) fn cache_dir(config: &Config, data_dir: &crate::data_dir::DataDir) -> PathBuf {
    config.cache.path.clone().unwrap_or_else(|| data_dir.join("cache"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(text: &str) -> Result<(String, String), Exit> {
        let flags = listen_flags(Some(text)).map_err(|failure| failure.exit)?;
        Ok((flags[0].value.clone(), flags[1].value.clone()))
    }

    #[test]
    fn listen_is_a_host_and_a_port() {
        assert_eq!(listen("127.0.0.1:0"), Ok(("127.0.0.1".to_owned(), "0".to_owned())));
        assert_eq!(listen("[::1]:7400"), Ok(("::1".to_owned(), "7400".to_owned())));
        for text in ["7400", ":7400", "host:", "host:99999", "host:http"] {
            assert_eq!(listen(text), Err(Exit::Usage), "{text}");
        }
        assert!(listen_flags(None).unwrap().is_empty());
    }
}
