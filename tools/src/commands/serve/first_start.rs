//! What happens once in the life of a data directory: the configuration is written, the first
//! admin gets a token.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use futures_util::future::join;
use tracing::warn;

use super::parts::Parts;
use crate::config::registries::{goods, upstream_key};
use crate::config::{self, FlagValue};
use crate::context::Context;
use crate::discovery::{self, Found, sources::out_of_reach};
use crate::exit::{Exit, Failure, chain};
use crate::runtime;

/// The first admin's token, and where it is kept.
#[derive(Debug)]
pub(super) struct Admin {
    pub(super) token: String,
    /// `None` when it could not be kept: it is shown all the same, it will not come again.
    pub(super) kept_in: Option<PathBuf>,
}

/// Writes `weir.yaml` in the data directory, with the registries this machine uses and without the
/// sources it cannot reach, unless there is a configuration already.
pub(super) fn write_config(context: &Context, flags: &[FlagValue]) -> Result<(), Failure> {
    let loaded = context.load(flags)?;
    if loaded.file.is_some() {
        return Ok(());
    }
    let registries = loaded.config.registries.all().into_iter();
    let wanted = registries.filter(|registry| registry.enabled && registry.upstream.is_none());
    let wanted: Vec<_> = wanted.map(|registry| registry.ecosystem).collect();
    let asking = discovery::ask_all(wanted, &loaded.config.server);
    let reaching = out_of_reach(&loaded.config.sources);
    let (answers, off) = runtime::runtime()?.block_on(join(asking, reaching));
    let path = context.data_dir.path().join(config::FILE);
    let known = answers.iter().filter_map(|(ecosystem, answer)| {
        let found = answer.as_ref().ok()?;
        Some((upstream_key(*ecosystem), found.upstream.to_string(), found.beside.clone()))
    });
    let known = known.flat_map(|(key, upstream, beside)| [Some((key, upstream)), beside]);
    let off_keys = off.iter().map(|source| (source.key, "false".to_owned()));
    let set: Vec<_> = known.flatten().chain(off_keys).collect();
    if !set.is_empty() {
        write_new(&path, &config::example(&set))?;
        context.output.say(&format!("wrote {}", path.display()));
    }
    for (ecosystem, answer) in answers {
        let goods = goods(ecosystem);
        context.output.say(&match answer {
            Ok(Found { upstream, by, .. }) => {
                let upstream = config::without_password(upstream.0.as_str());
                format!("{goods} come from {upstream}, as {by} says")
            }
            Err(unknown) => format!(
                "warning: {goods} are not served: {}; set {} in {} (`weir init` writes one)",
                chain(&unknown),
                upstream_key(ecosystem),
                path.display()
            ),
        });
    }
    for source in off {
        context.output.say(&source.warning());
    }
    Ok(())
}

/// Writes a file that is not there yet, for this user only: an index may come with a password.
pub(crate) fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let mut open = OpenOptions::new();
        let mut file = open.write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|fault| {
        let exit = match fault.kind() {
            io::ErrorKind::AlreadyExists => Exit::Conflict,
            _ => Exit::Failed,
        };
        Failure::new(exit, format!("could not write `{}`: {fault}", path.display()))
    })
}

/// Issues the first admin's token, once in the life of a log, and keeps it for the commands on
/// this machine.
pub(super) async fn admin_token(
    parts: &Parts,
    context: &Context,
) -> Result<Option<Admin>, Failure> {
    let Some(issued) = parts.tokens().bootstrap().await? else { return Ok(None) };
    let Some(token) = issued.token else { return Ok(None) };
    let kept_in = match context.data_dir.keep_credentials(&token) {
        Ok(path) => Some(path),
        Err(fault) => {
            warn!(error = chain(&fault), "the first admin's token could not be kept");
            None
        }
    };
    Ok(Some(Admin { token, kept_in }))
}
