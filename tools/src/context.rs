//! What every command starts from: how to talk, where the data is, what is configured.

use std::path::PathBuf;

use crate::cli::{DatabaseArgs, Global};
use crate::config::{self, ConfigFault, FlagValue, Loaded};
use crate::data_dir::DataDir;
use crate::exit::{Exit, Failure, chain};
use crate::output::Output;
use crate::postgres;

/// What every command starts from.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) output: Output,
    pub(crate) data_dir: DataDir,
    /// Whether the data directory is another than the usual one, so that printed commands must
    /// name it.
    pub(crate) own_data_dir: bool,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) verbose: u8,
    pub(crate) log_filter: Option<String>,
    pub(crate) log_format: Option<config::logging::LogFormat>,
}

impl Context {
    pub(crate) fn new(global: Global) -> Self {
        let usual = postgres::default_data_dir();
        let data_dir = global.data_dir.unwrap_or_else(|| usual.clone());
        // Not canonical: it may not exist yet.
        let data_dir = std::path::absolute(&data_dir).unwrap_or(data_dir);
        Self {
            output: Output::new(global.json, global.quiet),
            own_data_dir: data_dir != usual,
            data_dir: DataDir::new(data_dir),
            config_file: global.config,
            verbose: global.verbose,
            log_filter: global.log,
            log_format: global.log_format,
        }
    }

    /// Reads the configuration and says its warnings.
    pub(crate) fn load(&self, flags: &[FlagValue]) -> Result<Loaded, Failure> {
        let loaded = self.load_quietly(flags).map_err(|fault| unusable(&fault))?;
        for warning in &loaded.warnings {
            self.output.say(&format!("warning: {warning}"));
        }
        Ok(loaded)
    }

    /// Refuses a configuration file that was named and cannot be read: before anything is done, and
    /// by commands that would not have looked into it too.
    pub(crate) fn check_config_file(&self) -> Result<(), Failure> {
        let Some(path) = &self.config_file else { return Ok(()) };
        let read = std::fs::read_to_string(path);
        let fault = |source| ConfigFault::Read { path: path.display().to_string(), source };
        read.map(drop).map_err(|source| unusable(&fault(source)))
    }

    pub(crate) fn load_quietly(&self, flags: &[FlagValue]) -> Result<Loaded, ConfigFault> {
        let mut flags = flags.to_vec();
        let mut flag = |flag, key, value: Option<String>| {
            flags.extend(value.map(|value| FlagValue { flag, key, value }));
        };
        flag("--log", "logging.level", self.log_filter.clone());
        flag("--log-format", "logging.format", self.log_format.map(|f| f.as_str().to_owned()));
        config::load(self.config_file.as_deref(), self.data_dir.path(), &flags)
    }

    /// `weir` with what a copied command needs to reach the same data directory.
    pub(crate) fn weir(&self) -> String {
        if self.own_data_dir {
            format!("weir --data-dir {}", shell_word(&self.data_dir.path().display().to_string()))
        } else {
            "weir".to_owned()
        }
    }
}

/// One code for every way in which a configuration cannot be used.
fn unusable(fault: &ConfigFault) -> Failure {
    Failure::new(Exit::Usage, chain(fault))
}

impl DatabaseArgs {
    pub(crate) fn flags(&self) -> Vec<FlagValue> {
        let mut flags = Vec::new();
        let mut flag = |flag, key, value: Option<String>| {
            flags.extend(value.map(|value| FlagValue { flag, key, value }));
        };
        flag("--database-url", "database.url", self.database_url.clone());
        flag("--pooler", "database.pooler", self.pooler.map(|p| p.as_str().to_owned()));
        let bindir = self.pg_bindir.as_ref().map(|dir| dir.display().to_string());
        flag("--pg-bindir", "database.pg_bindir", bindir);
        flags
    }
}

/// A text as one word of a shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_commands_survive_a_shell() {
        assert_eq!(shell_word("/var/lib/weir"), "/var/lib/weir");
        assert_eq!(shell_word("my data"), "'my data'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
