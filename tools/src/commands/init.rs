//! `weir init`: a configuration file that fits this machine.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::serve::write_new;
use crate::config::{self, Config, without_password};
use crate::context::Context;
use crate::discovery;
use crate::exit::{Exit, Failure, chain};
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Replace the file that is there
    #[arg(long)]
    force: bool,
    /// Print what would be written
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(context: &Context, args: &InitArgs) -> Result<Exit, Failure> {
    let path = context.config_file.clone().unwrap_or_else(|| PathBuf::from(config::FILE));
    if path.exists() && !args.force && !args.dry_run {
        let message = format!("{} is there already", path.display());
        return Err(Failure::new(Exit::Conflict, message)
            .hint("add --force to replace it, or --dry-run to see what would be written"));
    }
    // Where Weir listens decides whether an index is Weir itself.
    let configured = context.load_quietly(&[]).map_or_else(|_| Config::default(), |l| l.config);
    let found = runtime::runtime()?.block_on(discovery::pypi(&configured.server));
    let mut set = Vec::new();
    let note = match &found {
        Ok(found) => {
            set.push(("registries.pypi.upstream", found.upstream.to_string()));
            let upstream = without_password(found.upstream.0.as_str());
            format!("registries.pypi.upstream is {upstream}, as {} says", found.by)
        }
        Err(unknown) => format!(
            "warning: registries.pypi.upstream is left out: {}; set it to serve Python packages",
            chain(unknown)
        ),
    };
    let text = config::example(&set);
    if args.dry_run {
        context.output.say(&note);
        context
            .output
            .data(&json!({ "path": path, "text": text }), || text.trim_end().to_owned())?;
        return Ok(Exit::Done);
    }
    if path.exists() {
        let kept = path.with_extension("yaml.old");
        std::fs::rename(&path, &kept)?;
        context.output.say(&format!("kept the old one as {}", kept.display()));
    }
    write_new(&path, &text)?;
    context.output.say(&note);
    let upstream = found.ok().map(|found| without_password(found.upstream.0.as_str()));
    let said = json!({ "path": path, "registries.pypi.upstream": upstream });
    context.output.data(&said, || format!("wrote {}", path.display()))?;
    Ok(Exit::Done)
}
