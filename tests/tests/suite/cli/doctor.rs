//! `weir doctor`: each thing that is or will be wrong has its line, its reason and its remedy.

use std::{collections::BTreeMap, net::TcpListener, process::Command};

use axum::{Router, extract::Request, http::StatusCode};
use serde_json::Value;
use sqlx::Executor as _;
use weir_tests::{
    database::{at, cluster, fresh, weir_binary},
    events::{allowed, blocked, facts},
    site,
    weir::Place,
};

use super::{Desk, Ran, nobody};

/// What a doctor found, by what it looked at.
struct Found {
    ran: Ran,
    all: BTreeMap<String, Value>,
}

impl Found {
    fn of(command: &mut Command) -> Self {
        let ran =
            Ran::new(&["doctor", "--json"], &command.arg("--json").output().expect("run weir"));
        let told: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
        let checks = told["checks"].as_array().expect("checks").iter();
        let name = |check: &Value| check["what"].as_str().expect("a name").to_owned();
        let all: BTreeMap<_, _> = checks.map(|check| (name(check), check.clone())).collect();
        let count = |verdict: &str| all.values().filter(|it| it["verdict"] == verdict).count();
        assert_eq!(
            (told["ok"] == true, ran.code),
            (count("fail") == 0, Some(if count("fail") == 0 { 0 } else { 6 })),
            "{told}"
        );
        Self { ran, all }
    }

    /// Asserts a verdict, words of its reason, and words of its remedy.
    fn says(&self, what: &str, verdict: &str, why: &str, fix: &str) {
        let check = self.all.get(what).unwrap_or_else(|| panic!("{what}: {:?}", self.all));
        let text = |key: &str| check[key].as_str().unwrap_or_default();
        let said = text("verdict") == verdict && text("why").contains(why);
        assert!(said && text("fix").contains(fix), "{verdict}, {why}, {fix}: {check}");
    }
}

fn doctor(place: &Place, more: &[&str]) -> Command {
    let mut command = place.command(&[&["doctor"], more].concat());
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_weir_that_is_well_everything_is_looked_at_and_nothing_wrong() {
    let desk = Desk::open().await;
    let url = desk.place.database.as_ref().expect("a database").url.clone();
    desk.shows("block_log").await;
    let found = Found::of(&mut doctor(&desk.place, &["--offline", "--database-url", &url]));
    found.says("configuration", "ok", "weir.yaml", "");
    let port = format!("weir (process {}) answers at {}", desk.weir.pid(), desk.weir.url);
    found.says("port", "ok", &port, "");
    found.says("ui", "ok", "served", "");
    found.says("durability", "ok", "fsync, full_page_writes, synchronous_commit", "");
    found.says("hash chain", "ok", "events fit their hashes", "");
    found.says("projections", "ok", "keep up with position", "");
    found.says("open transactions", "ok", "the oldest is", "");
    found.says("clock", "ok", "ms from the database's", "");
    // The first admin's token has no end, and no registry is named yet.
    found.says("tokens", "warn", "in use never end: admin", "--expires-in 90d");
    found.says(
        "npm upstream",
        "warn",
        "not set: npm packages are not served",
        "set registries.npm.upstream",
    );
    assert_eq!(found.ran.code, Some(0));
    let told = Ran::new(
        &["doctor"],
        &doctor(&desk.place, &["--offline", "--database-url", &url]).output().expect("run weir"),
    );
    let told = told.done();
    assert!(told.contains("ok    hash chain: the last "), "{told}");
    assert!(
        told.contains("warn  tokens: ") && told.contains("\n      fix: issue new ones"),
        "{told}"
    );
    let last = told.lines().last().expect("a line");
    assert!(
        last.contains(&format!("{} looked at, ", found.all.len())) && last.ends_with(" 0 wrong"),
        "{last}"
    );
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_in_the_database_is_named_with_what_mends_it() {
    let desk = Desk::open().await;
    let database = desk.place.database.as_ref().expect("a database");
    let log = database.log().await;
    log.log.append(facts("facts", &[allowed(1), blocked(2), blocked(3)])).await.expect("append");
    let last = log.log.ask_head().await.expect("the head").position.0;
    desk.weir.client.reaches("block_log", last).await;
    let look =
        || Found::of(&mut doctor(&desk.place, &["--offline", "--database-url", &database.url]));
    let mut intruder = database.intruder().await;
    let letter = format!(
        "INSERT INTO projections.dead_letters (build, position, kind, attempts, actor, stream, error) \
         SELECT b.id, e.position, e.kind, 3, 'pekko://weir/x', e.stream, 'it is bad' \
         FROM projections.builds b, log.events e \
         WHERE b.name = 'block_log' AND b.state = 'live' AND e.position = {last}"
    );
    intruder.execute(sqlx::AssertSqlSafe(letter)).await.expect("a dead letter");
    look().says("projections", "warn", "1 events could not be applied", "weir dead-letters ls");
    let halt = "UPDATE projections.builds SET state = 'halted', halted_by = 'it is bad' \
                WHERE name = 'block_log'";
    intruder.execute(halt).await.expect("halt it");
    look().says(
        "projections",
        "fail",
        "block_log stands still at",
        "weir dead-letters ls block_log",
    );
    let change =
        format!("UPDATE log.events SET payload = payload || '\\x00' WHERE position = {last}");
    intruder.execute(sqlx::AssertSqlSafe(change)).await.expect("tamper");
    let changed = format!("the event at position {last} was changed");
    look().says("hash chain", "fail", &changed, "weir verify");
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_cannot_be_used_is_told_by_what_is_wrong_with_it() {
    let place = Place::with_a_private_postgres();
    let nowhere = Found::of(&mut doctor(&place, &["--offline"]));
    nowhere.says("database", "warn", "there is no database in", "up` makes it");
    let gone = "postgres:///nobody?host=/nowhere/at/all&user=weir";
    let gone = Found::of(&mut doctor(&place, &["--offline", "--database-url", gone]));
    gone.says("database", "fail", "", "check database.url, and that the server runs");
    let empty = format!("empty_{}", fresh().simple());
    let mut admin =
        <sqlx::PgConnection as sqlx::Connection>::connect(&cluster()).await.expect("connect");
    admin
        .execute(sqlx::AssertSqlSafe(format!("CREATE DATABASE {empty}")))
        .await
        .expect("a database");
    let url = at(&cluster(), &empty);
    let old = Found::of(&mut doctor(&place, &["--offline", "--database-url", &url]));
    old.says("schema", "fail", "", "`weir migrate`");
    old.says("postgres", "ok", "version 1", "");
    admin.execute(sqlx::AssertSqlSafe(format!("DROP DATABASE {empty}"))).await.expect("drop it");
    // A data directory that Postgres cannot live in.
    std::fs::create_dir_all(place.data_dir().join("pgdata")).expect("a folder");
    std::fs::write(place.data_dir().join("pgdata/PG_VERSION"), "9\n").expect("a version");
    let old = Found::of(&mut doctor(&place, &["--offline"]));
    old.says("postgres", "fail", "was made by Postgres 9", "do what the message says");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_upstream_is_asked_and_told_by_what_it_answers() {
    let answer = |request: Request| async move {
        match request.uri().path() {
            "/simple/pip/" => StatusCode::OK,
            "/v2/" | "/index/config.json" => StatusCode::UNAUTHORIZED,
            _ => StatusCode::NOT_FOUND,
        }
    };
    let base = site::start(Router::new().fallback(answer)).await;
    let (_held, dead) = nobody();
    let place = Place::with_a_private_postgres().setting(&format!(
        "server: {{port: 0}}\nregistries:\n  pypi: {{upstream: '{base}/simple/'}}\n  npm: {{upstream: '{base}/npm'}}\n  \
         cargo: {{upstream: '{base}/index/'}}\n  go: {{upstream: '{dead}/', checksum_database: sums.example}}\n  \
         docker: {{upstream: '{base}'}}\n"
    ));
    let found = Found::of(&mut doctor(&place, &[]));
    found.says("configuration", "ok", "weir.yaml", "");
    found.says("pypi upstream", "ok", &format!("{base}/simple/ answers"), "");
    found.says(
        "npm upstream",
        "fail",
        "answers 404 for npm",
        "as `npm config get registry` prints it",
    );
    found.says(
        "cargo upstream",
        "fail",
        "answers 401",
        "put user name and password into registries.cargo.upstream",
    );
    found.says(
        "go upstream",
        "fail",
        "does not answer: ",
        "check the network, and registries.go.upstream",
    );
    found.says("docker upstream", "ok", "answers, and asks for tokens", "");
    found.says(
        "checksum database",
        "warn",
        "what sums.example says is believed",
        "set registries.go.checksum_database to NAME+HASH+KEY",
    );
    // Offline nobody is asked; what stands in the configuration is looked at all the same.
    let place = Place::with_a_private_postgres().setting(&format!(
        "server: {{port: 7455}}\nregistries:\n  pypi: {{upstream: '{dead}/'}}\n  npm: {{upstream: 'http://localhost:7455/npm/'}}\n  cargo: {{enabled: false}}\n"
    ));
    let offline = Found::of(&mut doctor(&place, &["--offline"]));
    assert!(!offline.all.contains_key("pypi upstream"), "{:?}", offline.all);
    offline.says(
        "npm upstream",
        "fail",
        "it is this Weir itself",
        "set registries.npm.upstream to the registry behind it",
    );
    offline.says("cargo upstream", "ok", "disabled", "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_this_machine_will_not_do_is_said_before_it_fails() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken_at = taken.local_addr().expect("its address").port();
    let (_held, redis) = nobody();
    let redis = redis.replace("http://", "redis://ann:hunter2@");
    let settings = format!(
        "server: {{port: {taken_at}, public_url: 'https://weir.example/', max_connections: 400}}\n\
         cache: {{redis: {{url: '{redis}'}}}}\n\
         policy: {{profiles: [{{name: agent, min_age_hours: 72}}]}}\ndatabase: {{path: x.db}}\n"
    );
    let place = Place::with_a_private_postgres().setting(&settings);
    let mut command = doctor(&place, &["--offline"]);
    let found = Found::of(command.env("HTTPS_PROXY", "http://proxy.example:8080"));
    found.says(
        "configuration",
        "warn",
        "`database.path` means nothing here",
        "take the key out of the file",
    );
    found.says(
        "port",
        "fail",
        &format!("127.0.0.1:{taken_at} cannot be listened on"),
        "stop what listens there",
    );
    found.says(
        "proxy",
        "warn",
        "HTTPS_PROXY set, which Weir does not use",
        "reachable without a proxy",
    );
    found.says(
        "package clients",
        "warn",
        "a proxy on this machine would let everybody in",
        "server.trusted_proxies",
    );
    found.says(
        "profiles",
        "warn",
        "leaves its token out is bound by no profile",
        "auth.loopback_profile",
    );
    assert!(!found.ran.out.contains("hunter2"), "{}", found.ran.out);
    let checks: Value = serde_json::from_str(&found.ran.out).expect("JSON");
    let redis: Vec<&Value> = checks["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter(|it| it["what"] == "redis")
        .collect();
    let words = |nth: usize, key: &str| redis[nth][key].as_str().unwrap_or_default().to_owned();
    assert!(words(0, "why").contains("each instance asks the upstream by itself"), "{redis:?}");
    assert!(words(1, "fix").contains("set server.secret to the same 64"), "{redis:?}");
    drop(taken);

    let closed =
        settings.replace("max_connections", "trusted_proxies: ['10.0.0.1'], max_connections");
    let closed = format!("{closed}auth: {{loopback_profile: agent}}\n");
    let place = Place::with_a_private_postgres().setting(&closed);
    let found = Found::of(&mut doctor(&place, &["--offline"]));
    found.says("port", "ok", "is free", "");
    found.says("package clients", "ok", "on this machine need no token", "");
    found.says("profiles", "ok", "without a token on this machine: agent", "");
    let closed = closed.replace("loopback_profile: agent", "loopback_packages: closed");
    let place = Place::with_a_private_postgres().setting(&closed);
    let found = Found::of(&mut doctor(&place, &["--offline"]));
    found.says("package clients", "ok", "need a token everywhere", "");
    found.says("profiles", "ok", "nobody installs without a token", "");

    // Few files, and a folder whose name is too long for a socket.
    let long = place.path().join("d".repeat(120));
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 64 && exec \"$@\"", "sh"]).arg(weir_binary());
    shell.args(["doctor", "--offline", "--data-dir"]).arg(&long).current_dir("/");
    let found = Found::of(&mut shell);
    found.says(
        "open files",
        "warn",
        "this process may open 64",
        "set server.max_connections lower",
    );
    found.says(
        "socket path",
        "warn",
        "a short folder elsewhere is used",
        "choose a shorter --data-dir",
    );
}

#[tokio::test]
async fn a_configuration_that_cannot_be_read_hides_nothing_else() {
    let place = Place::with_a_private_postgres().setting("server: {prot: 80}\n");
    let found = Found::of(&mut doctor(&place, &["--offline"]));
    found.says("configuration", "fail", "did you mean `server.port`?", "see `weir config check`");
    assert!(found.all.contains_key("disk"), "{:?}", found.all);
    found.says("socket path", "ok", " bytes", "");
    let place = Place::with_a_private_postgres();
    let mut bare = doctor(&place, &["--clients"]);
    bare.env("PATH", place.path());
    let none = Found::of(&mut bare);
    none.says("package clients", "ok", "none is installed here: pip, uv, npm", "");
    Ran::new(&[], &doctor(&place, &["--clients", "--offline"]).output().expect("run weir"))
        .ends(2, &["cannot be used with"]);
}
