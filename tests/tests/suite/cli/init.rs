//! `weir init`: a configuration of what this machine's clients use, and clients that ask Weir, with their
//! owner's word. The clients here are the test's own, and say what it has them say.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use weir_tests::{database::weir_binary, weir::Place};

use super::{Ran, program};

/// A database of sums with the first public key of RFC 8032.
const SUMS: &str = "sums.example+93b9e21d+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";

const CARGO: &str = "[source.crates-io]\nreplace-with = \"company\"\n[source.company]\n\
                     registry = \"sparse+https://cargo.mirror.example/index\"\n";

/// A user whose home is in a place, and who has these programs and no other.
struct User<'a> {
    place: &'a Place,
    variables: Vec<(String, String)>,
}

impl<'a> User<'a> {
    fn of(place: &'a Place) -> Self {
        fs::create_dir_all(place.path().join("bin")).expect("a folder");
        Self { place, variables: Vec::new() }
    }

    /// With clients that name registries of a company.
    fn with_clients(place: &'a Place) -> Self {
        let user = Self::of(place);
        let pip = "[ \"$1\" = -m ] && echo https://ann:hunter2@pypi.mirror.example/simple";
        user.has("python3", pip);
        user.has("npm", "echo https://npm.mirror.example/");
        let go = format!(
            "case \"$2\" in GOPROXY) echo 'direct,https://go.mirror.example' ;; \
             GOSUMDB) echo '{SUMS}' ;; esac"
        );
        user.has("go", &go);
        user.wrote("cargo/config.toml", CARGO);
        user
    }

    fn has(&self, name: &str, script: &str) {
        program(&self.place.path().join("bin"), name, script);
    }

    fn wrote(&self, file: &str, text: &str) -> PathBuf {
        let file = self.place.path().join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, text).expect("a file");
        file
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What a user with nothing else set would run.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command(arguments);
        self.bare(&mut command);
        command.env("PATH", self.place.path().join("bin"));
        command
    }

    fn bare(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            let lower = name.to_string_lossy().to_lowercase();
            let theirs = ["cargo_", "npm_", "go", "pip_", "uv_", "xdg_", "containers_"];
            if theirs.iter().any(|prefix| lower.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        let home = self.place.path();
        command.env("HOME", home).env("CARGO_HOME", home.join("cargo"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::new(arguments, &self.command(arguments).output().expect("run weir"))
    }

    /// Runs a command at a terminal, and types an answer.
    fn types(&self, arguments: &[&str], answer: &str) -> (Option<i32>, String) {
        const TERMINAL: &str = "import os, pty, sys\n\
            sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
        let mut python = Command::new("python3");
        python.args(["-c", TERMINAL]).arg(weir_binary()).args(arguments);
        python.arg("--data-dir").arg(self.place.data_dir());
        self.bare(&mut python);
        python.current_dir(self.place.path()).env("TERM", "xterm").env_remove("NO_COLOR");
        python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = python.spawn().expect("python3: run tools/test");
        let mut input = child.stdin.take().expect("its input");
        input.write_all(answer.as_bytes()).expect("type");
        let ended = child.wait_with_output().expect("its end");
        drop(input);
        let said = [ended.stdout, ended.stderr].concat();
        (ended.status.code(), String::from_utf8_lossy(&said).into_owned())
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[tokio::test]
async fn what_each_client_names_is_written_down_and_nothing_is_written_over() {
    let place = Place::with_a_private_postgres();
    let user = User::with_clients(&place);
    let file = place.path().join("weir.yaml");
    let words = [
        "registries.pypi.upstream is https://ann:…@pypi.mirror.example/simple/, as pip config get",
        "registries.npm.upstream is https://npm.mirror.example/, as npm config get registry says",
        "registries.cargo.upstream is https://cargo.mirror.example/index/, as ",
        "registries.go.upstream is https://go.mirror.example/, as go env GOPROXY says",
        "warning: registries.docker.upstream is left out: no docker on this machine says which",
        "sources.osv.enabled stays false, as it is configured now",
    ];
    let shown = user.run(&["init", "--dry-run"]).ends(0, &words);
    assert!(shown.out.contains("upstream: \"https://npm.mirror.example/\""), "{}", shown.out);
    assert!(!file.exists(), "a dry run wrote it");

    user.run(&["init"]).ends(0, &words).ends(0, &["wrote weir.yaml"]);
    let text = read(&file);
    assert_eq!(text.trim_end(), shown.out.trim_end(), "it was shown otherwise");
    assert!(text.contains("hunter2") && text.contains(SUMS), "{text}");
    let mode = fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it may hold a password");
    user.run(&["config", "check"]).ends(0, &["weir.yaml is right"]);
    let counts = user.run(&["config", "show", "--json"]).json();
    assert_eq!(counts["registries.go.upstream"], "https://go.mirror.example/");
    assert_eq!(counts["registries.go.checksum_database"], SUMS);

    let there = ["weir.yaml is there already", "fix: add --force to replace it, or --dry-run"];
    user.run(&["init"]).ends(5, &there);
    user.has("npm", "echo https://other.example/npm");
    let told =
        user.run(&["init", "--force", "--json"]).ends(0, &["kept the old one as weir.yaml.old"]);
    let told: Value = serde_json::from_str(&told.out).expect("JSON");
    assert_eq!(told["registries.npm.upstream"], "https://other.example/npm/");
    assert_eq!(told["registries.pypi.upstream"], "https://ann:…@pypi.mirror.example/simple/");
    assert_eq!(
        (&told["registries.docker.upstream"], &told["path"]),
        (&Value::Null, &json!("weir.yaml"))
    );
    assert_eq!(read(&place.path().join("weir.yaml.old")), text);
    assert!(read(&file).contains("https://other.example/npm/"));
}

#[tokio::test]
async fn what_names_no_registry_is_left_out_and_what_was_asked_before_stays() {
    let place = Place::with_a_private_postgres();
    let user = User::of(&place);
    user.has("npm", "echo ftp://ann:hunter2@files.example/");
    user.has("go", "echo off");
    user.wrote("cargo/config.toml", &CARGO.replace("sparse+", ""));
    // pip itself has nothing configured, and one interpreter of two has none.
    user.has("python3", "exit 1");
    user.has("python", "[ \"$1\" = -c ] && echo https://default.example/simple");
    let told = user.run(&["init", "--dry-run"]).ends(0, &[
        "registries.pypi.upstream is https://default.example/simple/, as the pip of python says",
        "npm config get registry names `ftp://ann:…@files.example/`, which is no address of a registry",
        "names `https://cargo.mirror.example/index`, which is no sparse index",
        "no go on this machine says which registry it uses",
        "set it to serve Go modules",
    ]);
    assert!(!told.err.contains("hunter2") && !told.out.contains("hunter2"), "{told:?}");
    user.wrote("cargo/config.toml", "[source");
    user.run(&["init", "--dry-run"])
        .ends(0, &["registries.cargo.upstream is left out: could not read"]);

    // Whoever asks Weir already says nothing of what is behind it: that stays as it is.
    let own = "server: {port: 7433}\nregistries:\n  npm: {upstream: 'https://ann:hunter2@kept.example/'}\n  \
               go: {upstream: 'https://go.kept.example/', checksum_database: sums.example}\n";
    user.wrote("own.yaml", own);
    user.has("npm", "echo http://localhost:7433/npm/");
    let again = user.run(&["init", "--config", "own.yaml", "--dry-run"]).ends(0, &[
        "registries.npm.upstream stays https://ann:…@kept.example/: npm config get registry names",
        "which is this Weir itself",
        "registries.go.upstream stays https://go.kept.example/",
    ]);
    for kept in
        ["upstream: \"https://ann:hunter2@kept.example/\"", "checksum_database: sums.example"]
    {
        assert!(again.out.contains(kept), "{kept}: {}", again.out);
    }
    assert_eq!(read(&place.path().join("own.yaml")), own);
}

#[tokio::test]
async fn a_source_that_cannot_be_reached_is_switched_off_and_said_to_be() {
    let (_held, dead) = super::nobody();
    let place = Place::with_a_private_postgres().setting(&format!(
        "sources: {{osv: {{address: '{dead}/'}}, openssf: {{address: 'file:///nowhere/at/all'}}}}\n"
    ));
    let user = User::of(&place);
    let told = user.run(&["init", "--dry-run", "--json"]).ends(
        0,
        &[
            &format!("warning: osv is switched off: {dead}/ cannot be used from this machine now"),
            "set sources.openssf.enabled to true when it can",
        ],
    );
    let told: Value = serde_json::from_str(&told.out).expect("JSON");
    let off = (&told["sources.osv.enabled"], &told["sources.openssf.enabled"]);
    assert_eq!(off, (&json!(false), &json!(false)), "{told}");
    let text = told["text"].as_str().expect("a configuration");
    assert_eq!(text.lines().filter(|line| line.trim() == "enabled: false").count(), 2, "{text}");
}

/// Settings under which everything is served.
fn all_served() -> String {
    let one = |name| format!("  {name}: {{upstream: 'https://{name}.example/'}}\n");
    format!("registries:\n{}", ["pypi", "npm", "cargo", "go", "docker"].map(one).concat())
}

const CLIENTS: [(&str, &str, &str); 6] = [
    ("npm", ".npmrc", "registry=http://127.0.0.1:7444/npm/"),
    ("cargo", "cargo/config.toml", "index = \"sparse+http://127.0.0.1:7444/cargo/\""),
    ("go", ".config/go/env", "GOPROXY=http://127.0.0.1:7444/go"),
    ("pip", ".config/pip/pip.conf", "index-url = http://127.0.0.1:7444/pypi/simple/"),
    ("uv", ".config/uv/uv.toml", "url = \"http://127.0.0.1:7444/pypi/simple/\""),
    ("podman", ".config/containers/registries.conf.d/weir.conf", "location = \"127.0.0.1:7444\""),
];

#[tokio::test]
async fn each_client_asks_weir_once_its_owner_says_so_and_asks_as_before_when_he_says_that() {
    let place = Place::with_a_private_postgres().setting(&all_served());
    let user = User::of(&place);
    let url = ["--url", "http://127.0.0.1:7444"];
    for (client, file, line) in CLIENTS {
        let path = place.path().join(file);
        let init = |more: &[&'static str]| [&["init", "--clients", client], more].concat();
        let asked = ["cannot ask whether to write this file: there is no terminal", "add --yes"];
        user.run(&init(&url)).ends(2, &asked).ends(2, &[line]);
        for answer in ["n\n", "\n", "perhaps\n"] {
            let (code, said) = user.types(&init(&url), answer);
            assert_eq!(code, Some(0), "{client}: {said}");
            assert!(
                said.contains("write this file? [y/N]") && said.contains(line),
                "{client}: {said}"
            );
            assert!(said.contains("nothing was written") && !path.exists(), "{client}: {said}");
        }
        let (code, said) = user.types(&init(&url), "y\n");
        assert_eq!(code, Some(0), "{client}: {said}");
        assert!(said.contains("clients ask Weir now"), "{client}: {said}");
        assert!(read(&path).contains(line), "{client}: {}", read(&path));
        user.run(&init(&url)).ends(0, &[&format!("{client}: nothing is to be done")]);
        let undone = user.run(&init(&["--undo", "--yes"]));
        undone.ends(
            0,
            &["what Weir wrote is taken out of", "clients ask again what they asked before"],
        );
        assert!(!path.exists(), "{client}: what is left: {}", read(&path));
    }
}

#[tokio::test]
async fn what_goes_before_a_file_is_named_and_the_file_left_as_it_is() {
    let place = Place::with_a_private_postgres().setting(&all_served());
    for (client, name, value, words) in [
        ("npm", "NPM_CONFIG_REGISTRY", "https://a.example/", "is set in the environment"),
        ("go", "GOPROXY", "https://a.example/", "GOPROXY is set in the environment"),
        ("go", "GOENV", "off", "GOENV is off, so go reads no file"),
        ("pip", "PIP_INDEX_URL", "https://a.example/", "PIP_INDEX_URL is set in the environment"),
        ("pip", "PIP_NO_INDEX", "1", "PIP_NO_INDEX is set in the environment"),
        ("pip", "PIP_CONFIG_FILE", "/dev/null", "names /dev/null, so pip reads no file"),
        ("uv", "UV_DEFAULT_INDEX", "https://a.example/", "UV_DEFAULT_INDEX is set"),
        ("uv", "UV_NO_CONFIG", "1", "UV_NO_CONFIG is set"),
        ("podman", "CONTAINERS_REGISTRIES_CONF", "/x", "CONTAINERS_REGISTRIES_CONF is set"),
    ] {
        let user = User::of(&place).set(name, value);
        let init =
            ["init", "--clients", client, "--url", "http://127.0.0.1:7444", "--yes", "--json"];
        let told = user.run(&init).ends(5, &[]);
        let told: Value = serde_json::from_str(&told.out).expect("JSON");
        let step = &told["clients"][0];
        assert_eq!((&step["step"], &told["done"]), (&json!("leave"), &json!(false)), "{told}");
        assert!(step["why"].as_str().is_some_and(|why| why.contains(words)), "{name}: {told}");
    }
    for (client, file, line) in CLIENTS {
        assert!(!read(&place.path().join(file)).contains(line), "{client}");
    }
    let none = Place::with_a_private_postgres();
    let words = ["npm: left as it is: npm packages are not served: set registries.npm.upstream"];
    User::of(&none).run(&["init", "--clients", "npm", "--yes"]).ends(5, &words);
}

#[tokio::test]
async fn a_weir_on_another_machine_wants_a_token_and_its_clients_are_told_how() {
    let place = Place::with_a_private_postgres().setting(&all_served());
    let user = User::of(&place);
    let kept = user.wrote(".npmrc", "registry=https://before.example/\nfund=false\n");
    let far = ["init", "--clients", "npm,pip", "--url", "http://weir.example:7400/", "--yes"];
    user.run(&far).ends(
        0,
        &[
            "whose old content is kept as ",
            "a Weir on another machine wants a token: make one with `weir token create`",
            "trusted-host = weir.example",
        ],
    );
    assert_eq!(
        read(&kept.with_file_name(".npmrc.before-weir")),
        "registry=https://before.example/\nfund=false\n"
    );
    // Who changed it since keeps both.
    fs::write(&kept, read(&kept) + "audit=false\n").expect("a change");
    user.run(&["init", "--clients", "npm", "--undo", "--yes"]).done();
    assert_eq!(read(&kept), "registry=https://before.example/\nfund=false\naudit=false\n");
    assert!(place.path().join(".npmrc.before-weir").exists());
    user.run(&["init", "--clients", "gem"]).ends(2, &["npm, cargo, go, pip, uv, docker, podman"]);
    user.run(&["init", "--clients", "npm", "--force"]).ends(2, &["cannot be used with"]);
    user.run(&["init", "--undo"]).ends(2, &["--clients"]);
}
