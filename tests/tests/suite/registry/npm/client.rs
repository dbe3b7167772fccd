//! The clients, each in a project and with a cache of its own, with nothing of the machine's own
//! configuration.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use weir_tests::{database::target, weir::Place};

/// A client, in the version that `tools/test` installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::registry) enum Client {
    Npm,
    Pnpm,
    Yarn,
    /// The yarn of today, which has little but the name from the one of before.
    Berry,
    Bun,
}

pub(in crate::registry) const CLIENTS: [Client; 5] =
    [Client::Npm, Client::Pnpm, Client::Yarn, Client::Berry, Client::Bun];

/// The registry that this machine's own npm uses, with a slash at its end.
pub(in crate::registry) fn upstream() -> String {
    let answer = Command::new("npm").args(["config", "get", "registry"]).output();
    let answer = String::from_utf8(answer.expect("npm: run tools/test").stdout).expect("text");
    format!("{}/", answer.trim().trim_end_matches('/'))
}

impl Client {
    pub(in crate::registry) const fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Berry => "berry",
            Self::Bun => "bun",
        }
    }

    pub(in crate::registry) const fn lock_file(self) -> &'static str {
        match self {
            Self::Npm => "package-lock.json",
            Self::Pnpm => "pnpm-lock.yaml",
            Self::Yarn | Self::Berry => "yarn.lock",
            Self::Bun => "bun.lock",
        }
    }

    fn program(self) -> PathBuf {
        // Both yarns call themselves `yarn`, so each lies in a folder of its own.
        let (folder, name) = match self {
            Self::Berry => ("berry", "yarn"),
            Self::Npm | Self::Pnpm | Self::Yarn | Self::Bun => ("npm", self.name()),
        };
        let program = target().join("tools").join(folder).join("node_modules/.bin").join(name);
        assert!(program.exists(), "{} is missing: run tools/test", program.display());
        program
    }

    /// Makes a project that asks for these packages.
    pub(in crate::registry) fn project(
        self,
        place: &Place,
        folder: &str,
        dependencies: &[(&str, &str)],
    ) -> Project {
        let folder = place.path().join(format!("{}-{folder}", self.name()));
        fs::create_dir_all(&folder).expect("a folder");
        let dependencies: BTreeMap<_, _> = dependencies.iter().copied().collect();
        let package = serde_json::json!({
            "name": "project", "version": "1.0.0", "license": "Apache-2.0",
            "dependencies": dependencies,
        });
        fs::write(folder.join("package.json"), package.to_string()).expect("write the project");
        if self == Self::Berry {
            // Says that this is a project, and not a part of one further up.
            fs::write(folder.join("yarn.lock"), "").expect("write its lock file");
        }
        Project { client: self, folder }
    }
}

/// A project of a client.
#[derive(Debug)]
pub(in crate::registry) struct Project {
    client: Client,
    folder: PathBuf,
}

impl Project {
    /// Installs it from a registry.
    pub(in crate::registry) fn install(&self, registry: &str) -> Output {
        let cache = self.folder.join("cache");
        let cache = cache.to_str().expect("a path of text");
        let flag = |name: &str, value: &str| format!("--{name}={value}");
        let arguments = match self.client {
            Client::Npm => vec![
                "install".to_owned(),
                flag("registry", registry),
                flag("cache", cache),
                "--no-audit".to_owned(),
                "--no-fund".to_owned(),
                "--replace-registry-host=never".to_owned(),
                "--fetch-retries=0".to_owned(),
            ],
            Client::Pnpm => vec![
                "install".to_owned(),
                flag("registry", registry),
                flag("store-dir", cache),
                flag("config.cache-dir", &format!("{cache}-metadata")),
                "--config.minimum-release-age=0".to_owned(),
                "--config.fetch-retries=0".to_owned(),
                "--reporter=append-only".to_owned(),
            ],
            Client::Yarn => vec![
                "install".to_owned(),
                "--registry".to_owned(),
                registry.to_owned(),
                "--cache-folder".to_owned(),
                cache.to_owned(),
                "--no-progress".to_owned(),
                "--non-interactive".to_owned(),
            ],
            Client::Berry => {
                return self.run_with(
                    &["install".to_owned()],
                    &[
                        ("YARN_NPM_REGISTRY_SERVER", registry),
                        ("YARN_UNSAFE_HTTP_WHITELIST", "127.0.0.1"),
                        ("YARN_GLOBAL_FOLDER", cache),
                        ("YARN_NODE_LINKER", "node-modules"),
                        ("YARN_ENABLE_IMMUTABLE_INSTALLS", "false"),
                        ("YARN_ENABLE_TELEMETRY", "false"),
                        ("YARN_HTTP_RETRY", "0"),
                        ("YARN_NPM_MINIMAL_AGE_GATE", "0"),
                    ],
                );
            }
            Client::Bun => vec![
                "install".to_owned(),
                flag("registry", registry),
                flag("cache-dir", cache),
                "--no-progress".to_owned(),
                "--backend=copyfile".to_owned(),
            ],
        };
        self.run(&arguments)
    }

    /// Where it is.
    pub(in crate::registry) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Asks npm something in this project.
    pub(in crate::registry) fn npm(&self, question: &[&str], registry: &str) -> Output {
        let mut arguments: Vec<_> = question.iter().map(|word| (*word).to_owned()).collect();
        arguments.push(format!("--registry={registry}"));
        arguments.push(format!("--cache={}", self.folder.join("cache").display()));
        self.run(&arguments)
    }

    fn run(&self, arguments: &[String]) -> Output {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &[String], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(self.client.program());
        for (name, _) in std::env::vars_os() {
            let upper = name.to_string_lossy().to_ascii_uppercase();
            let theirs = ["NPM_", "PNPM_", "YARN_", "BUN_"];
            if theirs.iter().any(|prefix| upper.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        let home = self.folder.join("home");
        fs::create_dir_all(&home).expect("a home");
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", &home)
            .env("XDG_CACHE_HOME", &home)
            .env("XDG_DATA_HOME", &home)
            .env("NPM_CONFIG_USERCONFIG", "/dev/null")
            .env("NPM_CONFIG_GLOBALCONFIG", home.join("npmrc"))
            .env("NPM_CONFIG_UPDATE_NOTIFIER", "false")
            .env("NO_COLOR", "1")
            .env("CI", "1")
            .envs(variables.iter().copied())
            .output()
            .expect("run the client")
    }

    /// What is installed: every file by its hash, every link by where it leads. What clients keep
    /// for themselves beside it, with times and addresses in it, is left out.
    pub(in crate::registry) fn tree(&self) -> BTreeMap<String, String> {
        let modules = self.folder.join("node_modules");
        let mut tree = BTreeMap::new();
        walk(&modules, &modules, &mut tree);
        tree
    }

    /// Its lock file, with the address of the registry taken out.
    pub(in crate::registry) fn lock(&self, registry: &str) -> String {
        let lock = self.folder.join(self.client.lock_file());
        let lock = fs::read_to_string(lock).expect("a lock file").replace(registry, "REGISTRY/");
        if self.client != Client::Bun {
            return lock;
        }
        // bun writes no address at all where the registry is the one it knows by itself.
        let words =
            lock.split('"').map(|word| if word.starts_with("REGISTRY/") { "" } else { word });
        words.collect::<Vec<_>>().join("\"")
    }

    /// The installed version of a package.
    pub(in crate::registry) fn installed(&self, package: &str) -> String {
        let modules = self.folder.join("node_modules");
        let hoisted = [modules.join(package), modules.join(".pnpm/node_modules").join(package)];
        let package = hoisted.iter().find(|folder| folder.exists()).expect("an installed package");
        let package = fs::read_to_string(package.join("package.json")).expect("its description");
        let package: serde_json::Value = serde_json::from_str(&package).expect("JSON");
        package["version"].as_str().expect("its version").to_owned()
    }
}

fn walk(root: &Path, folder: &Path, tree: &mut BTreeMap<String, String>) {
    const THEIRS: [&str; 7] = [
        ".package-lock.json",
        ".modules.yaml",
        ".yarn-integrity",
        ".yarn-state.yml",
        ".pnpm-workspace-state-v1.json",
        ".pnpm-workspace-state.json",
        ".pnpm/lock.yaml",
    ];
    for entry in fs::read_dir(folder).expect("an installed folder") {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(root).expect("below it").to_string_lossy().into_owned();
        if THEIRS.contains(&name.as_str()) {
            continue;
        }
        if path.is_symlink() {
            let target = fs::read_link(&path).expect("a link");
            tree.insert(name, target.to_string_lossy().into_owned());
        } else if path.is_dir() {
            walk(root, &path, tree);
        } else {
            let bytes = fs::read(&path).expect("an installed file");
            tree.insert(name, blake3::hash(&bytes).to_hex().to_string());
        }
    }
}
