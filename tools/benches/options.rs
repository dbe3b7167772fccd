//! What the script `tools/bench` says: it knows the machine, this program only measures.

use std::path::PathBuf;

use clap::Parser;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Suite {
    Log,
    Registry,
    Web,
    /// Each of them.
    All,
}

impl Suite {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Registry => "registry",
            Self::Web => "web",
            Self::All => "all",
        }
    }

    /// The suites it is made of.
    pub(crate) const fn parts(self) -> &'static [Self] {
        match self {
            Self::Log => &[Self::Log],
            Self::Registry => &[Self::Registry],
            Self::Web => &[Self::Web],
            Self::All => &[Self::Log, Self::Registry, Self::Web],
        }
    }
}

/// The measuring half of `tools/bench`.
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of a command line")]
pub(crate) struct Options {
    /// What is measured.
    #[arg(long)]
    pub(crate) suite: Suite,
    /// Ends within 50 seconds.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also what takes many minutes.
    #[arg(long)]
    pub(crate) long: bool,
    /// One last line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Only the lines whose name begins with this.
    #[arg(long)]
    pub(crate) only: Option<String>,
    /// The private Postgres to measure on.
    #[arg(long)]
    pub(crate) database: String,
    /// The folder of `pgbench`.
    #[arg(long)]
    pub(crate) bindir: Option<PathBuf>,
    /// The folder with what was installed to be measured against.
    #[arg(long)]
    pub(crate) peers: PathBuf,
    /// The folder with real pages.
    #[arg(long)]
    pub(crate) corpora: PathBuf,
    /// A folder for files that are thrown away.
    #[arg(long)]
    pub(crate) scratch: PathBuf,
    /// The `weir` binary.
    #[arg(long)]
    pub(crate) weir: Option<PathBuf>,
    /// The index that this machine's pip asks.
    #[arg(long)]
    pub(crate) index: Option<String>,
    /// What the machine is.
    #[arg(long)]
    pub(crate) machine: String,
    /// Where the picture and the figures go.
    #[arg(long)]
    pub(crate) results: Option<PathBuf>,
    /// `cargo bench` says this to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    /// Whether a line is asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| name.starts_with(only))
    }
}
