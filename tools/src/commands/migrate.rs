//! `weir migrate`: brings the database to this build's schema, as `weir up` does by itself.

use clap::Args;
use serde_json::json;
use weir_log::migrate::{self, MIGRATIONS, MigrateFault};

use super::serve::of_migration;
use super::serve::opened::connect;
use crate::cli::DatabaseArgs;
use crate::config::database::Pooler;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::runtime::{self, Need, interruptible};

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Only say whether there is something to do
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(crate) fn run(context: &Context, args: &MigrateArgs) -> Result<Exit, Failure> {
    let config = context.load(&args.database.flags())?.config;
    if config.database.pooler != Pooler::None {
        let message = "a migration needs the database itself, not a pooler";
        return Err(Failure::new(Exit::Usage, message)
            .hint("name the database's own address: --database-url URL --pooler none"));
    }
    let (output, dry_run, its) = (context.output, args.dry_run, config.clone());
    runtime::with_database(context, &config, Need::Any, move |url| {
        interruptible(async move {
            let database = connect(&its, &url).await?;
            let found = match migrate::check(&database).await {
                Ok(()) => None,
                Err(MigrateFault::Older { found, .. }) => Some(found),
                Err(fault) => return Err(of_migration(&fault)),
            };
            let needed = MIGRATIONS.last().map_or(0, |migration| migration.0);
            if found.is_some() && !dry_run {
                migrate::migrate(&database).await.map_err(|fault| of_migration(&fault))?;
            }
            database.close().await;
            let said = json!({
                "from": found.unwrap_or(needed),
                "to": needed,
                "applied": found.is_some() && !dry_run,
            });
            output.data(&said, || match found {
                None => format!("the database is at migration {needed} already"),
                Some(found) if dry_run => format!("would migrate from {found} to {needed}"),
                Some(found) => format!("migrated from {found} to {needed}"),
            })?;
            Ok(Exit::Done)
        })
    })
}
