//! `weir init --clients`: the clients of a user ask Weir with one command, and stop with another.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;
use weir_tests::weir::{Part, Place, Weir};

use super::said;

/// What the user's files held before.
const CARGO_CONFIG: &str = "# mine\n[net]\nretry = 0";
const PIP_CONF: &str = "[install]\nuser = no\n[global]\nindex-url = https://mirror.example/\n";
const NPMRC: &str = "registry=https://mirror.example/\nfund=false\n";

/// A Weir in front of what this machine's clients use, as `weir init` finds it out.
async fn weir() -> (Place, Weir) {
    let place = Place::on_a_test_database().await;
    let written = place.run(&["init"]);
    assert!(written.status.success(), "{}", said(&written));
    let weir = place.start(Part::Up).await;
    (place, weir)
}

/// A command of a user whose home is in the place, and who has nothing set.
fn as_user(command: &mut Command, place: &Place) -> Output {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let lower = name.to_lowercase();
        let theirs = ["cargo_", "rustc", "npm_", "go", "pip_", "uv_"];
        if theirs.iter().any(|prefix| lower.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    let home = place.path();
    command
        .env("npm_config_userconfig", home.join(".npmrc"))
        .env("npm_config_cache", home.join("npm-cache"))
        .env("CARGO_HOME", home.join("cargo"))
        .env("GOENV", home.join("go-env"))
        .env("PIP_CONFIG_FILE", home.join("pip.conf"))
        .env("UV_CONFIG_FILE", home.join("uv.toml"));
    command.output().expect("run it")
}

fn init(place: &Place, arguments: &[&str]) -> Output {
    as_user(&mut place.command(&[&["init", "--clients"], arguments, &["--json"]].concat()), place)
}

fn steps(output: &Output) -> Vec<String> {
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let clients = said["clients"].as_array().expect("clients").iter();
    clients.map(|client| format!("{} {}", client["client"], client["step"])).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_ask_weir_after_one_command_and_what_they_asked_before_after_another() {
    let (place, weir) = weir().await;
    let (config, npmrc) = (place.path().join("cargo/config.toml"), place.path().join(".npmrc"));
    fs::create_dir_all(place.path().join("cargo")).expect("a home");
    fs::write(&config, CARGO_CONFIG).expect("its configuration");
    fs::write(&npmrc, NPMRC).expect("its configuration");
    let (pip_conf, uv_toml) = (place.path().join("pip.conf"), place.path().join("uv.toml"));
    fs::write(&pip_conf, PIP_CONF).expect("its configuration");

    // Nobody can be asked here, so nothing is written without a word.
    for (arguments, code) in [(&[][..], 2), (&["--dry-run"], 0)] {
        let output = init(&place, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", said(&output));
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        for words in [format!("registry={}/npm/", weir.url), "replace-with = \"weir\"".to_owned()] {
            assert!(shown.contains(&words), "{shown}");
        }
        assert_eq!((read(&config).as_str(), read(&npmrc).as_str()), (CARGO_CONFIG, NPMRC));
    }

    let written = init(&place, &["--yes"]);
    assert_eq!(
        steps(&written),
        ["npm", "cargo", "go", "pip", "uv"].map(|client| format!("\"{client}\" \"write\"")),
        "{}",
        said(&written)
    );
    let again = init(&place, &["--yes"]);
    assert_eq!(
        steps(&again),
        ["npm", "cargo", "go", "pip", "uv"].map(|client| format!("\"{client}\" \"nothing\"")),
        "{}",
        said(&again)
    );
    // Now the clients name Weir itself, and what it asks itself stays what it was.
    let config_of = |place: &Place| read(&place.path().join("weir.yaml"));
    let before = config_of(&place);
    let url = ["--force", "--config", "weir.yaml"];
    let again = as_user(
        place
            .command(&[&["init"], &url[..]].concat())
            .env("WEIR__SERVER__PORT", weir.url.rsplit(':').next().expect("its port")),
        &place,
    );
    assert!(said(&again).contains("is this Weir itself"), "{}", said(&again));
    assert_eq!(config_of(&place), before);
    let asked = as_user(Command::new("npm").args(["config", "get", "registry"]), &place);
    assert_eq!(String::from_utf8_lossy(&asked.stdout).trim(), format!("{}/npm/", weir.url));
    let asked = as_user(Command::new("go").args(["env", "GOPROXY"]), &place);
    assert_eq!(String::from_utf8_lossy(&asked.stdout).trim(), format!("{}/go", weir.url));
    let project = place.path().join("project");
    fs::create_dir_all(project.join("src")).expect("a project");
    fs::write(project.join("src/lib.rs"), "").expect("its code");
    let manifest = "[package]\nname = \"project\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
                    [dependencies]\nhex = \"=0.4.3\"\n";
    fs::write(project.join("Cargo.toml"), manifest).expect("its manifest");
    let fetched = as_user(Command::new("cargo").arg("fetch").current_dir(&project), &place);
    assert!(fetched.status.success(), "{}", said(&fetched));
    let events = weir.client.get("/api/events?kind=PackageAllowed&limit=10").await.expect(200);
    assert!(events.body.contains("hex-0.4.3.crate"), "{}", events.body);

    let asked = as_user(Command::new("python3").args(["-m", "pip", "config", "list"]), &place);
    let index = format!("global.index-url='{}/pypi/simple/'", weir.url);
    assert!(said(&asked).contains(&index), "{}", said(&asked));
    // Each of them proves it.
    let proved = as_user(&mut place.command(&["doctor", "--clients", "--json"]), &place);
    let proved: Value = serde_json::from_slice(&proved.stdout).expect("JSON");
    let checks = proved["checks"].as_array().expect("checks");
    for client in ["npm", "cargo", "go", "pip", "uv"] {
        let check = checks.iter().find(|check| check["what"] == client).expect(client);
        assert!(check["verdict"] == "ok", "{check}");
    }

    let undone = init(&place, &["--undo", "--yes"]);
    assert_eq!(
        steps(&undone),
        ["npm", "cargo", "go", "pip", "uv"].map(|client| format!("\"{client}\" \"undo\"")),
        "{}",
        said(&undone)
    );
    assert_eq!((read(&config).as_str(), read(&npmrc).as_str()), (CARGO_CONFIG, NPMRC));
    assert_eq!((read(&pip_conf).as_str(), uv_toml.exists()), (PIP_CONF, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_beside_weir_is_for_its_owner_to_take_out() {
    let (place, _weir) = weir().await;
    let (pip_conf, uv_toml) = (place.path().join("pip.conf"), place.path().join("uv.toml"));
    let beside = "[global]\nextra-index-url = https://mirror.example/\n";
    let named = "[[index]]\nurl = \"https://mirror.example/\"\n";
    fs::write(&pip_conf, beside).expect("its configuration");
    fs::write(&uv_toml, named).expect("its configuration");
    let output = init(&place, &["pip,uv", "--yes"]);
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert_eq!(steps(&output), [r#""pip" "leave""#, r#""uv" "leave""#]);
    assert_eq!((read(&pip_conf).as_str(), read(&uv_toml).as_str()), (beside, named));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_for_images_is_pointed_at_weir_and_back_and_every_other_byte_stays() {
    const DAEMON: &str =
        "{\n\t\"debug\": false,\n\t\"registry-mirrors\": [\"https://mirror.example\"]\n}\n";
    let images = "registries:\n  docker:\n    upstream: http://127.0.0.1:9/\n";
    let place = Place::on_a_test_database().await.setting(images);
    let weir = place.start(Part::Up).await;
    let home = place.path().join("home");
    let daemon = home.join(".config/docker/daemon.json");
    let containers = home.join(".config/containers/registries.conf.d/weir.conf");
    fs::create_dir_all(daemon.parent().expect("a folder")).expect("a folder");
    fs::write(&daemon, DAEMON).expect("its configuration");
    let init = |arguments: &[&str]| {
        let ours = ["init", "--clients", "docker,podman"];
        let mut command = place.command(&[&ours[..], arguments, &["--json"]].concat());
        command.env("HOME", &home).env_remove("XDG_CONFIG_HOME");
        as_user(command.env_remove("CONTAINERS_REGISTRIES_CONF"), &place)
    };
    let both = |step: &str| ["docker", "podman"].map(|client| format!("\"{client}\" \"{step}\""));

    let shown = init(&["--dry-run"]);
    let told = said(&shown);
    let host = weir.url.strip_prefix("http://").expect("plain HTTP");
    for words in [
        "- \t\"registry-mirrors\": [\"https://mirror.example\"]".to_owned(),
        format!("+ \t\"registry-mirrors\": [\"{}\", \"https://mirror.example\"]", weir.url),
        format!("location = \"{host}\""),
        "passes by a mirror that refuses".to_owned(),
    ] {
        assert!(told.contains(&words), "{words}: {told}");
    }
    assert_eq!((read(&daemon).as_str(), containers.exists()), (DAEMON, false));
    let written = init(&["--yes"]);
    assert_eq!(steps(&written), both("write"), "{}", said(&written));
    assert_eq!(read(&daemon.with_file_name("daemon.json.before-weir")), DAEMON);
    let now: Value = serde_json::from_str(&read(&daemon)).expect("JSON");
    assert_eq!(now["registry-mirrors"][0], weir.url, "{now}");
    assert_eq!(steps(&init(&["--yes"])), both("nothing"));

    // It names the registry, and Weir answers.
    let image = "docker://127.0.0.1:9/library/weir-canary:1.0.0";
    let mut skopeo = Command::new("skopeo");
    skopeo.args(["inspect", "--retry-times=0", image]).env("HOME", &home);
    let asked = as_user(skopeo.env_remove("CONTAINERS_REGISTRIES_CONF"), &place);
    assert!(said(&asked).contains("the canary sings"), "{}", said(&asked));

    assert_eq!(steps(&init(&["--undo", "--yes"])), both("undo"));
    assert_eq!((read(&daemon).as_str(), containers.exists()), (DAEMON, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_is_replaced_already_is_for_its_owner_to_decide() {
    let (place, _weir) = weir().await;
    let config = place.path().join("cargo/config.toml");
    fs::create_dir_all(place.path().join("cargo")).expect("a home");
    let company = "[source.crates-io]\nreplace-with = \"company\"\n";
    fs::write(&config, company).expect("its configuration");
    let output = init(&place, &["cargo", "--yes"]);
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert_eq!(steps(&output), [r#""cargo" "leave""#]);
    assert_eq!(read(&config), company);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_goes_before_the_users_file_is_named_and_weir_is_not_said_to_be_asked() {
    let (place, weir) = weir().await;
    let project = place.path().join("project");
    fs::create_dir_all(&project).expect("a project");
    fs::write(project.join("package.json"), "{}").expect("its manifest");
    fs::write(project.join(".npmrc"), "registry=https://mirror.example/\n").expect("its registry");
    let mut command = place.command(&["init", "--clients", "npm", "--yes"]);
    command.arg("--config").arg(place.path().join("weir.yaml"));
    let output = as_user(command.current_dir(&project), &place);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("npm still asks https://mirror.example/ here"), "{said}");
    assert!(said.contains("but not everywhere"), "{said}");
    // The user's own file is written all the same: elsewhere it counts.
    assert!(read(&place.path().join(".npmrc")).contains(&weir.url), "{said}");
}
