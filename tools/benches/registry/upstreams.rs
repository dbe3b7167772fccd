//! What the clients of this machine ask today, as `weir init` finds it out: that is what Weir and
//! what it is measured against stand in front of.

use std::path::PathBuf;

use serde_json::Value;
use tokio::process::Command;

use crate::{Fault, chain, options::Options, report::Missing};

/// The upstreams, and the file of configuration that names them.
#[derive(Debug)]
pub(super) struct Upstreams {
    /// For Weir.
    pub(super) config: PathBuf,
    said: Value,
}

impl Upstreams {
    /// Asks the clients. Words where that does not work: then what needs them is not measured.
    pub(super) async fn find(options: &Options) -> Result<Self, String> {
        Self::ask(options).await.map_err(|fault| chain(fault.as_ref()))
    }

    async fn ask(options: &Options) -> Result<Self, Fault> {
        let missing = || Missing("the weir binary was not given".to_owned());
        let program = options.weir.as_ref().ok_or_else(missing)?;
        std::fs::create_dir_all(&options.scratch)?;
        let config = options.scratch.join("registry.yaml");
        let mut command = Command::new(program);
        command.args(["init", "--force", "--json", "--config"]).arg(&config);
        let output = command.arg("--data-dir").arg(options.scratch.join("init")).output().await?;
        let text = std::fs::read_to_string(&config);
        let text = text.map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
        Ok(Self { config, said: serde_saphyr::from_str(&text)? })
    }

    /// The upstream of an ecosystem, as the configuration spells it, without a `/` at its end.
    pub(super) fn of(&self, ecosystem: &str) -> Result<String, Fault> {
        let registry = self.said.get("registries").and_then(|all| all.get(ecosystem));
        let upstream = registry.and_then(|registry| registry.get("upstream")?.as_str());
        let missing =
            || Missing(format!("no client of this machine names a registry: {ecosystem}"));
        Ok(upstream.ok_or_else(missing)?.trim_end_matches('/').to_owned())
    }
}

/// The upstreams, or why there are none.
pub(super) fn known<'a>(upstreams: Result<&'a Upstreams, &String>) -> Result<&'a Upstreams, Fault> {
    upstreams.map_err(|words| Missing(words.clone()).into())
}
