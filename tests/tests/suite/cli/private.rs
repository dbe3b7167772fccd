//! Commands on the private Postgres: they use the one that runs, start it where none does, and leave things
//! as they found them.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use serde_json::json;
use sqlx::{Connection as _, Executor as _, PgConnection, Row as _};
use weir_tests::weir::{Part, Place, signal};

use super::{Desk, program, run};

/// The postmasters that serve a data directory.
fn postmasters(place: &Place) -> usize {
    let pgdata = place.data_dir().join("pgdata").display().to_string();
    let found = Command::new("pgrep").args(["-c", "-f", "--", &format!("-D {pgdata}")]).output();
    let found = found.expect("pgrep").stdout;
    String::from_utf8_lossy(&found).trim().parse().expect("a count")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_use_the_postgres_that_runs_and_start_it_where_none_does() {
    let desk = Desk::at(Place::with_a_private_postgres()).await;
    let rule = desk.weir.client.rule("six", ">=1.17", "not reviewed", "mark").await.position();
    assert_eq!(postmasters(&desk.place), 1);
    let direct = ["token", "create", "rescue", "--scope", "admin", "--direct"];
    let secret = desk.run(&direct).ends(0, &["of `rescue`; it is shown this once"]).out;
    desk.weir.client.with_token(Some(secret.trim_end())).get("/api/tokens").await.has(200);
    let told = desk.run(&["doctor", "--offline", "--json"]).json();
    let checks = told["checks"].as_array().expect("checks");
    for what in ["hash chain", "durability", "postgres", "socket path"] {
        let check = checks.iter().find(|check| check["what"] == what).expect(what);
        assert_eq!(check["verdict"], "ok", "{check}");
    }
    assert_eq!(postmasters(&desk.place), 1, "the server's Postgres is the commands'");
    desk.weir.client.get("/api/rules").await.has(200);
    let Desk { place, weir } = desk;
    weir.stop().await;
    assert_eq!(postmasters(&place), 0);

    run(&place, &["migrate"]).ends(0, &["already"]);
    let verified = run(&place, &["verify", "--json"]).json();
    assert_eq!(verified["good"], true, "{verified}");
    let replayed = run(&place, &["replay", "block_log", "--json"]).json();
    assert_eq!(replayed["state"], "live", "{replayed}");
    assert_eq!(postmasters(&place), 0, "a command left its Postgres behind");
    // A file that a killed Postgres left is no obstacle.
    let pid = place.data_dir().join("pgdata/postmaster.pid");
    let pgdata = place.data_dir().join("pgdata").display().to_string();
    fs::write(&pid, format!("{}\n{pgdata}\n1\n54320\n", std::process::id())).expect("a stale file");
    let weir = place.start(Part::Up).await;
    weir.client.get(&format!("/api/events/{rule}")).await.has(200);
    weir.stop().await;
}

#[tokio::test]
async fn without_a_server_that_fits_nothing_is_made_and_what_would_is_said() {
    let place = Place::with_a_private_postgres();
    let bin = place.path().join("pg");
    let with = |code: i32, words: &[&str]| {
        let bindir = bin.display().to_string();
        let up = ["up", "--listen", "127.0.0.1:0", "--pg-bindir", &bindir];
        run(&place, &up).ends(code, words);
        assert!(!place.data_dir().join("pgdata").exists(), "{words:?}");
    };
    let remedy = "name the folder that holds both";
    with(1, &[&format!("in the configured `{}`", bin.display()), remedy]);
    for name in ["initdb", "postgres"] {
        program(&bin, name, "echo 'postgres (PostgreSQL) 13.4'");
    }
    with(1, &["is version 13, Weir needs 14 or newer; install", "or set WEIR_PG_BINDIR"]);
    program(&bin, "postgres", "echo 'hello'");
    with(1, &["postgres --version failed for", "hello"]);
    program(&bin, "postgres", "echo 'postgres (PostgreSQL) 17.2'");
    program(&bin, "initdb", "echo 'no space left'; exit 1");
    with(1, &["initdb failed for", "no space left"]);
    let nowhere = run(&place, &["postgres", "--pg-bindir", "/nowhere"]);
    nowhere.ends(1, &["in the configured `/nowhere`"]);
    assert_eq!(run(&place, &["down", "--json"]).json(), json!({"stopped": false}));
}

#[tokio::test]
async fn a_postgres_alone_says_where_it_is_and_ends_with_who_wanted_it() {
    let place = Place::with_a_private_postgres();
    for signal_it in [false, true] {
        let mut command = place.command(&["postgres"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("start weir");
        let mut url = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut url).expect("its address");
        let mut connection = PgConnection::connect(url.trim()).await.expect("connect");
        let kept = "CREATE TABLE IF NOT EXISTS kept AS SELECT 1 AS n";
        connection.execute(kept).await.expect("a table");
        let n = connection.fetch_one("SELECT n FROM kept").await.expect("what was kept");
        assert_eq!(n.get::<i32, _>(0), 1);
        drop(connection);
        let input = child.stdin.take();
        if signal_it {
            signal(child.id(), "TERM");
        } else {
            drop(input);
        }
        assert_eq!(child.wait().expect("its end").code(), Some(0));
        assert_eq!(postmasters(&place), 0);
    }
}
