//! `weir config`: what is wrong stands where it is wrong, and what counts is shown with who said so.

use std::fs;

use serde_json::{Value, json};
use weir_tests::weir::Place;

use super::{Ran, run};

#[tokio::test]
async fn a_mistake_is_shown_with_its_line_and_with_what_was_meant() {
    for (yaml, words) in [
        (
            "server:\n  prot: 80\n",
            &[
                "weir.yaml:2:3: unknown key `server.prot`, did you mean `server.port`?",
                "2 |   prot: 80",
            ][..],
        ),
        (
            "server:\n  port: eighty\n",
            &["weir.yaml:2:9: `server.port`: ", "expected u16", "^^^^^^"],
        ),
        ("server: [80\n", &["weir.yaml:", "not a configuration"]),
        ("- server\n", &["weir.yaml:1:1: the file must hold sections with keys"]),
        ("server: 80\n", &["`server` is a section: write its keys below it"]),
        ("server:\n  host: a b\n", &["`a b` is neither an IP address nor the name of a host"]),
        ("server:\n  secret: short\n", &["weir.yaml:2:11", "64 hexadecimal digits"]),
        (
            "database:\n  url: ${WEIR_NOT_SET}\n",
            &["needs the environment variable WEIR_NOT_SET, which is not set"],
        ),
        (
            "registries:\n  npm:\n    upstream: ftp://a:b@x/\n",
            &["`ftp://a:…@x/` is not an http or https address"],
        ),
        ("cache:\n  max_size: big\n", &["`big` is not a size; write one like 64MiB or 50GB"]),
        ("cache:\n  redis:\n    url: http://x\n", &["`http://x` is not a redis or rediss address"]),
        ("cache:\n  redis:\n    prefix: 'a b'\n", &["`a b` is no prefix"]),
        (
            "server:\n  linger: 3 weeks\n",
            &["`3 weeks` is not a span of time; write one like 250ms, 30s or 24h"],
        ),
        ("sources:\n  osv:\n    sync_interval: 10ms\n", &["`10ms` is too short: 1s at least"]),
        ("sources:\n  osv:\n    retry_tries: 11\n", &["11 tries: there are 1 to 10"]),
        ("sources:\n  osv:\n    ecosystems: [docker]\n", &["no advisories about `docker`"]),
        ("sources:\n  openssf:\n    address: 'ssh://a:b@x/y'\n", &["write https://… or file:///…"]),
        (
            "registries:\n  go:\n    checksum_database: a+b\n",
            &["`registries.go.checksum_database`"],
        ),
        ("auth:\n  loopback_profile: nobodys\n", &["`auth.loopback_profile`", "nobodys"]),
        ("nexus:\n  ticks_per_cycle: 0\n", &["`nexus.ticks_per_cycle`"]),
        ("nexus:\n  clock: sundial\n", &["`nexus.clock`", "sundial"]),
        ("mint:\n  tax_percent: 101\n", &["`mint.tax_percent`", "101"]),
        ("web:\n  ports: [0]\n", &["`web.ports`"]),
        ("web:\n  default_action: ask\n", &["`web.default_action`", "ask"]),
        ("web:\n  allow_private: [everything]\n", &["`web.allow_private`", "everything"]),
        ("policy:\n  severity_floor: bad\n", &["`policy.severity_floor`", "bad"]),
        ("logging:\n  format: xml\n", &["`logging.format`", "xml"]),
    ] {
        let place = Place::with_a_private_postgres().setting(yaml);
        let told = run(&place, &["config", "check"]).ends(2, words);
        assert_eq!(told.out, "", "{yaml}");
        // Whatever is to be started says the same, before it makes anything.
        let same = run(&place, &["config", "show"]).ends(2, words);
        assert_eq!(same.err, told.err, "{yaml}");
    }
}

#[tokio::test]
async fn what_is_wrong_ends_a_start_and_is_told_whole_to_a_script() {
    let place = Place::with_a_private_postgres().setting("server:\n  prot: 80\n  hots: x\n");
    let told = run(&place, &["up", "--json"]).ends(2, &[]);
    let told: Value = serde_json::from_str(&told.err).expect("JSON");
    let error = told["error"].as_str().expect("an error");
    assert_eq!(error.matches("weir.yaml:").count(), 2, "{error}");
    assert!(!place.data_dir().join("pgdata").exists());
    // A slip in a variable or in a flag is told by its own name.
    let place = Place::with_a_private_postgres();
    let with = |name: &str, value: &str| {
        let mut command = place.command(&["config", "check"]);
        Ran::new(&["config", "check"], &command.env(name, value).output().expect("run weir"))
    };
    let words =
        ["environment WEIR__SERVER__PROT: unknown key `server.prot`, did you mean `server.port`?"];
    with("WEIR__SERVER__PROT", "80").ends(2, &words);
    with("WEIR__SERVER__PORT", "eighty")
        .ends(2, &["environment WEIR__SERVER__PORT: `server.port`: "]);
    with("WEIR__SERVER", "x").ends(2, &["it is a section: name one of its keys"]);
    with("WEIR__LOG__NOTIFY", "false").ends(0, &["the defaults count"]);
    let flag = run(&place, &["migrate", "--database-url", "postgres://x\u{7}/"]);
    flag.ends(2, &["flag --database-url: `database.url`", "control character U+0007"]);
}

#[tokio::test]
async fn what_counts_is_shown_with_who_said_it_and_without_secrets() {
    let place = Place::with_a_private_postgres().setting(
        "server:\n  port: 7411\n  secret: \"${SECRET}\"\n\
         database:\n  path: weir.db\n  url: postgres://weir:hunter2@db/weir\n",
    );
    let secret = "ab".repeat(32);
    let show = |more: &[&str]| {
        let arguments = [&["config", "show"], more].concat();
        let mut command = place.command(&arguments);
        let variables = [("SECRET", secret.as_str()), ("WEIR__SERVER__HOST", "0.0.0.0")];
        Ran::new(&arguments, &command.envs(variables).output().expect("run weir"))
    };
    let told = show(&["--origin"])
        .ends(0, &["warning: weir.yaml:5:3: `database.path` means nothing here"]);
    let row = |key: &str| {
        let row = told.out.lines().find(|line| line.split_whitespace().next() == Some(key));
        row.expect(key).split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("server.port"), "7411 weir.yaml:2:9");
    assert_eq!(row("server.host"), "0.0.0.0 environment WEIR__SERVER__HOST");
    assert_eq!(row("server.secret"), "${SECRET} weir.yaml:3:11");
    assert_eq!(row("database.url"), "postgres://weir:…@db/weir weir.yaml:6:8");
    assert_eq!(row("registries.npm.upstream"), "- default");
    let quiet = show(&["--quiet"]).ends(0, &[]);
    assert_eq!(quiet.err, "", "a warning is talk");
    assert!(quiet.out.starts_with("KEY") && !quiet.out.contains("ORIGIN"), "{}", quiet.out);
    let bare = show(&["--json"]).json();
    assert_eq!(
        (&bare["server.port"], &bare["database.url"]),
        (&json!(7411), &json!("postgres://weir:…@db/weir"))
    );
    let origin = show(&["--json", "--origin"]).json();
    let wanted = json!({"value": "0.0.0.0", "origin": "environment WEIR__SERVER__HOST"});
    assert_eq!(origin["server.host"], wanted);
    for told in [&told.out, &quiet.out, &bare.to_string(), &origin.to_string()] {
        assert!(!told.contains("hunter2") && !told.contains(&secret), "{told}");
    }
}

#[tokio::test]
async fn the_file_here_goes_before_the_one_in_the_data_directory() {
    let place = Place::with_a_private_postgres();
    let check = |words: &[&str]| run(&place, &["config", "check"]).ends(0, words);
    check(&["no weir.yaml here or in ", "the defaults count"]);
    fs::create_dir(place.data_dir()).expect("a folder");
    let inner = place.data_dir().join("weir.yaml");
    fs::write(&inner, "server: {port: 1}\n").expect("a configuration");
    check(&[&format!("{} is right", inner.display())]);
    fs::write(place.path().join("weir.yaml"), "server: {port: 2}\n").expect("a configuration");
    check(&["weir.yaml is right"]);
    let port = |more: &[&str]| {
        run(&place, &[&["config", "show", "--json"], more].concat()).json()["server.port"].clone()
    };
    assert_eq!(port(&[]), 2);
    let named = inner.display().to_string();
    assert_eq!(port(&["--config", &named]), 1);
    let checked = run(&place, &["config", "check", "--json", "--config", &named]).json();
    assert_eq!(checked, json!({"ok": true, "file": named, "warnings": []}));
}
