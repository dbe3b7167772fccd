//! Whole installations by real clients: through Weir, cold and warm, against the registry itself.

use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::process::Command;

use super::{
    OPEN,
    upstreams::{Upstreams, known},
};
use crate::{
    Fault, chain,
    effort::{Effort, Pair, alternate},
    instance::Instance,
    line::{Line, Target},
    options::Options,
    report::{Missing, Report, again},
    server::Setup,
};

/// Where everything is installed. It is thrown away at the end of all: ext4 takes no inode again that was
/// deleted minutes ago, and looks at each of them to find that out, so whoever deletes between two
/// installations measures that.
const FOLDER: &str = "install";

/// How long one installation may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// A client, what it installs, and what it installs where there is little time.
#[derive(Debug, Clone, Copy)]
struct Client {
    ecosystem: &'static str,
    warm: &'static str,
    cold: &'static str,
    packages: &'static [&'static str],
    few: &'static [&'static str],
}

const CLIENTS: [Client; 3] = [
    Client {
        ecosystem: "npm",
        warm: "install.warm.npm",
        cold: "install.cold.npm",
        packages: &["express@5", "axios@1", "chalk@5", "commander@14", "lodash@4", "eslint@9"],
        few: &["debug@4"],
    },
    Client {
        ecosystem: "pypi",
        warm: "install.warm.pypi",
        cold: "install.cold.pypi",
        packages: &["flask", "requests", "rich", "sqlalchemy", "numpy"],
        few: &["six"],
    },
    Client {
        ecosystem: "cargo",
        warm: "install.warm.cargo",
        cold: "install.cold.cargo",
        packages: &["serde_json", "regex", "clap", "tokio", "hyper", "tracing-subscriber"],
        few: &["itoa"],
    },
];

pub(super) async fn run(
    options: &Options,
    effort: Effort,
    upstreams: Result<&Upstreams, &String>,
    report: &mut Report,
) {
    for client in CLIENTS {
        let what = "a whole installation with an empty cache of the client's";
        let against = "the registry itself";
        let warm = Line::new(client.warm, what, "s", against, Target::AtMost(0.8));
        let cold = Line::new(client.cold, what, "s", against, Target::AtMost(1.15));
        for (line, is_warm) in [(warm, true), (cold, false)] {
            if options.wants(line.name) {
                let measured = measure(options, effort, upstreams, client, is_warm).await;
                let measured = measured.map(|pair| {
                    let packages = client.of(effort).join(" ");
                    let kept = if is_warm { "Weir has it all" } else { "Weir has nothing yet" };
                    line.clone().pair(pair).noting(format!("{packages}; {kept}"))
                });
                report.add(line, measured.map_err(|fault| again(&fault, &chain(fault.as_ref()))));
            }
        }
    }
    drop(fs::remove_dir_all(options.scratch.join(FOLDER)));
}

async fn measure(
    options: &Options,
    effort: Effort,
    upstreams: Result<&Upstreams, &String>,
    client: Client,
    warm: bool,
) -> Result<Pair, Fault> {
    let upstreams = known(upstreams)?;
    let direct = upstreams.of(client.ecosystem)?;
    let bench = Bench {
        options,
        client,
        packages: client.of(effort),
        direct: direct.clone(),
        folder: options.scratch.join(FOLDER).join(if warm { client.warm } else { client.cold }),
        nth: Cell::new(0),
    };
    // What the first one finds slow is not the client's, nor Weir's.
    bench.install(&direct).await?;
    let firewall = if warm {
        let firewall = bench.firewall(upstreams).await?;
        bench.install(&firewall.url(client.path())).await?;
        Some(firewall)
    } else {
        None
    };
    let pair = alternate(
        effort.n_rounds,
        || async {
            if let Some(firewall) = &firewall {
                return bench.install(&firewall.url(client.path())).await;
            }
            let fresh = bench.firewall(upstreams).await?;
            let took = bench.install(&fresh.url(client.path())).await?;
            fresh.stop().await?;
            Ok(took)
        },
        || bench.install(&direct),
    );
    let pair = pair.await?;
    if let Some(firewall) = firewall {
        firewall.stop().await?;
    }
    Ok(pair)
}

impl Client {
    const fn of(self, effort: Effort) -> &'static [&'static str] {
        if effort.quick { self.few } else { self.packages }
    }

    /// What clients are told of Weir, without a `/` at its end.
    const fn path(self) -> &'static str {
        match self.ecosystem.as_bytes() {
            b"npm" => "npm",
            b"pypi" => "pypi/simple",
            _ => "cargo",
        }
    }
}

struct Bench<'a> {
    options: &'a Options,
    client: Client,
    packages: &'static [&'static str],
    /// The registry itself.
    direct: String,
    folder: PathBuf,
    nth: Cell<usize>,
}

impl Bench<'_> {
    /// A Weir that has nothing yet.
    async fn firewall(&self, upstreams: &Upstreams) -> Result<Instance, Fault> {
        self.nth.set(self.nth.get() + 1);
        let name = format!("install_{}_{}", self.client.ecosystem, self.nth.get());
        let setup = Setup { part: "api", variables: &OPEN, config: Some(upstreams.config.clone()) };
        Instance::start(self.options, &name, &setup).await
    }

    /// Installs everything anew from a registry; how many seconds it took.
    async fn install(&self, registry: &str) -> Result<f64, Fault> {
        self.nth.set(self.nth.get() + 1);
        let folder = self.folder.join(self.nth.get().to_string());
        fs::create_dir_all(&folder)?;
        let mut command = match self.client.ecosystem {
            "npm" => self.npm(&folder, registry)?,
            "pypi" => self.uv(&folder, registry)?,
            _ => self.cargo(&folder, registry)?,
        };
        command.current_dir(&folder).stdin(Stdio::null()).kill_on_drop(true);
        let began = Instant::now();
        let output = tokio::time::timeout(PATIENCE, command.output()).await??;
        let took = began.elapsed().as_secs_f64();
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().rev().find(|line| !line.trim().is_empty());
            return Err(format!("{}: {}", output.status, last.unwrap_or_default()).into());
        }
        Ok(took)
    }

    fn npm(&self, folder: &Path, registry: &str) -> Result<Command, Fault> {
        fs::write(folder.join("package.json"), "{}")?;
        let mut command = Command::new("npm");
        command.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--cache"]);
        command.arg(folder.join("cache")).arg(format!("--registry={registry}/"));
        command.args(self.packages);
        Ok(command)
    }

    fn uv(&self, folder: &Path, registry: &str) -> Result<Command, Fault> {
        let places = ["../tools/bin/uv", "python/bin/uv"].map(|path| self.options.peers.join(path));
        let places =
            places.into_iter().chain(["/usr/local/bin/uv", "/usr/bin/uv"].map(PathBuf::from));
        let program = places.into_iter().find(|place| place.exists());
        let program = program.ok_or_else(|| Missing("uv is not installed".to_owned()))?;
        let mut command = Command::new(program);
        command.args(["pip", "install", "--no-config", "--system-certs", "--cache-dir"]);
        command
            .arg(folder.join("cache"))
            .arg("--target")
            .arg(folder.join("site"))
            .arg("--index-url");
        command.arg(format!("{registry}/")).args(self.packages);
        for variable in ["UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL"] {
            command.env_remove(variable);
        }
        Ok(command)
    }

    #[expect(clippy::disallowed_methods, reason = "what cargo itself reads, not Weir")]
    fn cargo(&self, folder: &Path, registry: &str) -> Result<Command, Fault> {
        let dependencies: String =
            self.packages.iter().flat_map(|package| [*package, " = \"*\"\n"]).collect();
        let manifest =
            "[package]\nname = \"measured\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n";
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/lib.rs"), "")?;
        fs::write(folder.join("Cargo.toml"), format!("{manifest}[dependencies]\n{dependencies}"))?;
        fs::create_dir_all(folder.join("home"))?;
        let config = folder.join("home/config.toml");
        if registry == self.direct {
            // What this machine's cargo asks: what its user has set, or nothing.
            let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
            let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
            let own = home.map(|home| home.join("config.toml")).filter(|own| own.exists());
            if let Some(own) = own {
                fs::copy(own, config)?;
            }
        } else {
            let replaced = format!(
                "[source.crates-io]\nreplace-with = \"measured\"\n\n\
                 [source.measured]\nregistry = \"sparse+{registry}/\"\n"
            );
            fs::write(config, replaced)?;
        }
        let mut command = Command::new("cargo");
        command.arg("fetch").env("CARGO_HOME", folder.join("home"));
        // Set by the cargo that runs this.
        for variable in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_TARGET_DIR", "RUSTUP_TOOLCHAIN"] {
            command.env_remove(variable);
        }
        Ok(command)
    }
}
