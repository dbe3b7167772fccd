//! How each client is asked for the canary, and how it is brought to ask Weir.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tokio::process::Command;
use weir_aggregates::registry::canary::{VERSION, package_with};
use weir_events::registry::Ecosystem;

use crate::discovery::{self, Named};
use crate::environment;

/// A package client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Pip,
    Uv,
    Npm,
    Pnpm,
    Yarn,
    /// The yarn of today.
    Berry,
    Bun,
    Cargo,
    Go,
    Skopeo,
}

pub(super) const CLIENTS: [Client; 10] = [
    Client::Pip,
    Client::Uv,
    Client::Npm,
    Client::Pnpm,
    Client::Yarn,
    Client::Berry,
    Client::Bun,
    Client::Cargo,
    Client::Go,
    Client::Skopeo,
];

impl Client {
    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::Pip => "pip",
            Self::Uv => "uv",
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn | Self::Berry => "yarn",
            Self::Bun => "bun",
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Skopeo => "skopeo",
        }
    }

    pub(super) const fn what(self) -> &'static str {
        match self {
            Self::Berry => "yarn berry",
            _ => self.program(),
        }
    }

    pub(super) const fn ecosystem(self) -> Ecosystem {
        match self {
            Self::Pip | Self::Uv => Ecosystem::Pypi,
            Self::Npm | Self::Pnpm | Self::Yarn | Self::Berry | Self::Bun => Ecosystem::Npm,
            Self::Cargo => Ecosystem::Cargo,
            Self::Go => Ecosystem::Go,
            Self::Skopeo => Ecosystem::Docker,
        }
    }

    /// Whether it is installed. Which of the two yarns `yarn` is, it says itself.
    pub(super) async fn is_here(self) -> bool {
        if !environment::in_path(self.program()) {
            return false;
        }
        let old = async || {
            let version = discovery::ask("yarn", &["--version"]).await;
            version.is_some_and(|version| version.starts_with("1.") || version.starts_with("0."))
        };
        match self {
            Self::Yarn => old().await,
            Self::Berry => !old().await,
            _ => true,
        }
    }

    /// What it is configured to ask, as far as somebody tells.
    pub(super) async fn named(self) -> Option<Named> {
        let (program, key, by) = match self {
            Self::Pip | Self::Npm | Self::Cargo | Self::Go => {
                return discovery::named(self.ecosystem()).await.ok();
            }
            Self::Pnpm => ("pnpm", "registry", "pnpm config get registry"),
            Self::Yarn => ("yarn", "registry", "yarn config get registry"),
            Self::Berry => ("yarn", "npmRegistryServer", "yarn config get npmRegistryServer"),
            Self::Uv | Self::Bun | Self::Skopeo => return None,
        };
        let address = discovery::ask(program, &["config", "get", key]).await?;
        Some(Named { address, by: by.to_owned() })
    }

    /// What brings it to ask the Weir at an address.
    pub(super) fn fix(self, base: &str) -> String {
        let host = base.split_once("://").map_or(base, |(_, host)| host);
        let bare = host.rsplit_once(':').map_or(host, |(bare, _)| bare);
        match self {
            Self::Pip | Self::Uv | Self::Npm | Self::Cargo | Self::Go => {
                format!("weir init --clients {}", self.program())
            }
            Self::Pnpm | Self::Yarn | Self::Bun => {
                "weir init --clients npm, whose configuration it reads too".to_owned()
            }
            Self::Berry => format!(
                "write into ~/.yarnrc.yml: npmRegistryServer: \"{base}/npm/\"{}",
                if base.starts_with("http://") {
                    format!(", and unsafeHttpWhitelist: [\"{bare}\"]")
                } else {
                    String::new()
                }
            ),
            Self::Skopeo => format!(
                "name Weir before the image: docker://{host}/alpine:3.20, or let it stand for a \
                 registry in ~/.config/containers/registries.conf: location = \"{host}\""
            ),
        }
    }

    /// Asks for the canary of a word from an empty folder. What it keeps, it keeps in there.
    pub(super) fn command(self, folder: &Path, word: &str) -> io::Result<Command> {
        let name = package_with(self.ecosystem(), word);
        let exact = format!("{name}=={VERSION}");
        let path = |name: &str| folder.join(name).display().to_string();
        let flag = |flag: &str, name: &str| format!("--{flag}={}", path(name));
        let words: Vec<String> = match self {
            // Only built packages, so that nothing of a package that somebody else may call by this
            // name is run.
            Self::Pip => {
                let fixed = "download --no-deps --only-binary=:all: --no-input --no-cache-dir \
                             --disable-pip-version-check --retries=0 --timeout=20";
                words(fixed, [flag("dest", "got"), exact])
            }
            Self::Uv => {
                fs::write(folder.join("canary.in"), format!("{exact}\n"))?;
                let fixed = "pip compile --no-build --no-python-downloads --no-header canary.in";
                words(fixed, [flag("cache-dir", "cache")])
            }
            Self::Npm => {
                let fixed = "pack --ignore-scripts --logs-max=0 --fetch-retries=0 \
                             --no-update-notifier";
                words(fixed, [flag("cache", "cache"), format!("{name}@{VERSION}")])
            }
            Self::Pnpm => {
                let fixed = "install --ignore-scripts --ignore-workspace --no-frozen-lockfile \
                             --config.fetch-retries=0 --config.minimum-release-age=0 \
                             --reporter=append-only";
                let kept = [
                    flag("store-dir", "store"),
                    flag("config.cache-dir", "cache"),
                    flag("config.state-dir", "state"),
                ];
                words(fixed, kept)
            }
            Self::Yarn => {
                let fixed =
                    "install --no-lockfile --ignore-scripts --non-interactive --no-progress";
                words(fixed, [flag("cache-folder", "cache")])
            }
            Self::Berry => {
                // Says that this is a project, and not a part of one further up.
                fs::write(folder.join("yarn.lock"), "")?;
                words("install", [])
            }
            Self::Bun => {
                let fixed = "install --ignore-scripts --no-progress --no-save";
                words(fixed, [flag("cache-dir", "cache")])
            }
            Self::Cargo => {
                fs::create_dir_all(folder.join("src"))?;
                fs::write(folder.join("src/lib.rs"), "")?;
                let manifest = format!(
                    "[package]\nname = \"canary\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
                     [dependencies]\n{name} = \"={VERSION}\"\n[workspace]\n"
                );
                fs::write(folder.join("Cargo.toml"), manifest)?;
                words("fetch", [])
            }
            Self::Go => words("mod download", [format!("{name}@v{VERSION}")]),
            Self::Skopeo => {
                // Without the library, as people write it.
                let short = name.rsplit('/').next().unwrap_or(&name);
                words("inspect --retry-times=0", [format!("docker://{short}:{VERSION}")])
            }
        };
        if matches!(self, Self::Pnpm | Self::Yarn | Self::Berry | Self::Bun) {
            let project = format!(
                "{{\"name\":\"canary\",\"version\":\"0.0.0\",\"private\":true,\
                 \"dependencies\":{{\"{name}\":\"{VERSION}\"}}}}"
            );
            fs::write(folder.join("package.json"), project)?;
        }
        let mut command = Command::new(self.program());
        command.args(words).current_dir(folder).env("NO_COLOR", "1").env("CI", "1");
        // A package manager that has to be downloaded first is not installed.
        command.env("COREPACK_ENABLE_NETWORK", "0");
        match self {
            Self::Pip => {
                command.env("PIP_REQUIRE_VIRTUALENV", "0");
            }
            Self::Npm | Self::Pnpm | Self::Yarn | Self::Bun => {
                for name in ["XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
                    command.env(name, folder.join("own"));
                }
            }
            Self::Berry => {
                command
                    .env("YARN_GLOBAL_FOLDER", folder.join("own"))
                    .env("YARN_NODE_LINKER", "node-modules")
                    .env("YARN_ENABLE_IMMUTABLE_INSTALLS", "false")
                    .env("YARN_ENABLE_SCRIPTS", "false")
                    .env("YARN_ENABLE_TELEMETRY", "false")
                    .env("YARN_HTTP_RETRY", "0")
                    .env("YARN_NPM_MINIMAL_AGE_GATE", "0");
            }
            Self::Cargo => {
                command.env("CARGO_HOME", cargo_home(folder)?).env("CARGO_NET_RETRY", "0");
            }
            Self::Go => {
                command
                    .env("GOMODCACHE", folder.join("modules"))
                    .env("GOCACHE", folder.join("built"))
                    .env("GOTOOLCHAIN", "local")
                    .env("GOWORK", "off");
            }
            // It makes a lock where its tokens would be.
            Self::Uv if !uv_has_tokens() => {
                command.env("UV_CREDENTIALS_DIR", folder.join("own"));
            }
            Self::Uv | Self::Skopeo => {}
        }
        Ok(command)
    }
}

fn words<const N: usize>(fixed: &str, more: [String; N]) -> Vec<String> {
    fixed.split_ascii_whitespace().map(str::to_owned).chain(more).collect()
}

/// A home for cargo with the user's configuration and tokens, and a cache of its own.
fn cargo_home(folder: &Path) -> io::Result<PathBuf> {
    let home = folder.join("home");
    fs::create_dir(&home)?;
    if let Some(theirs) = discovery::cargo_home() {
        for name in ["config", "config.toml", "credentials", "credentials.toml"] {
            let file = theirs.join(name);
            if file.is_file() {
                symlink(fs::canonicalize(file)?, home.join(name))?;
            }
        }
    }
    Ok(home)
}

/// Whether the user has given tokens to uv to keep.
fn uv_has_tokens() -> bool {
    let set = |name: &str| environment::var(name).filter(|value| !value.is_empty());
    let own = || Some(PathBuf::from(set("UV_CREDENTIALS_DIR")?));
    let data = || Some(PathBuf::from(set("XDG_DATA_HOME")?).join("uv/credentials"));
    let usual = || Some(PathBuf::from(set("HOME")?).join(".local/share/uv/credentials"));
    let folder = own().or_else(data).or_else(usual);
    folder.is_some_and(|folder| folder.join("credentials.toml").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_told_what_to_write() {
        for client in CLIENTS {
            let fix = client.fix("http://10.0.0.7:7400");
            let told = fix.contains("weir init --clients") || fix.contains("10.0.0.7:7400");
            assert!(told, "{client:?}: {fix}");
        }
        let berry = Client::Berry.fix("http://10.0.0.7:7400");
        assert!(berry.ends_with("unsafeHttpWhitelist: [\"10.0.0.7\"]"), "{berry}");
        assert!(!Client::Berry.fix("https://weir.example").contains("unsafe"));
    }

    #[tokio::test]
    async fn who_is_asked_keeps_everything_in_the_folder() {
        for client in CLIENTS {
            let folder = tempfile::tempdir().unwrap();
            let command = client.command(folder.path(), "0a1b").unwrap();
            let command = command.as_std();
            assert_eq!(command.get_current_dir(), Some(folder.path()), "{client:?}");
            let place = folder.path().display().to_string();
            let named = command.get_args().any(|word| word.to_string_lossy().contains(&place));
            let set = command.get_envs().any(|(_, value)| {
                value.is_some_and(|value| value.to_string_lossy().contains(&place))
            });
            assert!(named || set || client == Client::Skopeo, "{client:?}");
        }
    }
}
