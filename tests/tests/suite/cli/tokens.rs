//! `weir token`: issued once, shown once, gone at once.

use weir_tests::weir::Place;

use super::{Desk, Ran, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_alone_on_standard_output_does_what_its_scopes_say_and_ends_when_it_is_revoked()
{
    let desk = Desk::open().await;
    let create = ["token", "create", "reader", "--scope", "events:read", "--expires-in", "30d"];
    let made = desk.run(&create).ends(0, &["of `reader`; it is shown this once"]);
    let secret = made.out.trim_end();
    assert!(secret.starts_with("rf_") && !secret.contains(char::is_whitespace), "{secret}");
    assert!(!made.err.contains(secret), "it is shown twice");
    let id = made.err.split_whitespace().nth(1).expect("its id").to_owned();

    let as_reader = |arguments: &[&str]| {
        let mut command = desk.place.command(arguments);
        Ran::new(arguments, &command.env("WEIR_TOKEN", secret).output().expect("run weir"))
    };
    as_reader(&["events", "get", "1"]).ends(0, &["\"position\": 1"]);
    let scope = "fix: use a token with the scope it needs; `weir token ls` shows scopes";
    as_reader(&["rules", "add", "pypi", "six", "*", "--reason", "x"]).ends(4, &[scope]);

    desk.shows("api_tokens").await;
    let row = |state: &str| {
        let listed = desk.run(&["token", "ls"]).done();
        let row = listed.lines().find(|line| line.starts_with(&id)).expect("its row").to_owned();
        assert!(row.contains("events:read") && row.ends_with(state), "{row}");
        row
    };
    assert!(!row("live").contains("never"), "it ends by itself");
    let what = format!("revoke token {id}");
    assert_eq!(desk.run(&["token", "revoke", &id, "--dry-run"]).done(), "");
    desk.run(&["token", "revoke", &id]).ends(2, &[&format!("cannot ask whether to {what}")]);
    as_reader(&["events", "get", "1"]).done();
    let revoked = desk.run(&["token", "revoke", &id, "--yes"]).done();
    assert_eq!(revoked.trim_end(), format!("token {id} is revoked"));
    as_reader(&["events", "get", "1"]).ends(4, &["fix: show a token with --token or WEIR_TOKEN"]);
    desk.shows("api_tokens").await;
    row("revoked");
    desk.run(&["token", "revoke", "0000000000000000", "--yes"]).ends(3, &["error: "]);
    desk.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_cannot_be_meant_is_not_asked_for() {
    let place = Place::with_a_private_postgres();
    let create = |more: &[&str]| run(&place, &[&["token", "create", "x"], more].concat());
    create(&["--scope", "events:raed"]).ends(2, &["did you mean `events:read`?", "rules:write"]);
    create(&["--scope", "everything"]).ends(2, &["there is no such scope; there are admin"]);
    create(&[]).ends(2, &["--scope"]);
    create(&["--scope", "admin", "--expires-in", "soon"])
        .ends(2, &["`soon` is not a span of time"]);
    create(&["--scope", "admin", "--agent", "me"]).ends(2, &["--agent"]);
    create(&["--scope", "admin", "--direct", "--server", "http://x"]).ends(2, &["--direct"]);
    create(&["--scope", "admin", "--server", "ftp://x"]).ends(2, &["`ftp://x` is not an http"]);
    create(&["--scope", "admin", "--token", "a\nb"]).ends(2, &["it has odd characters"]);
    // Nothing was made to find that out.
    create(&["--scope", "admin", "--direct"]).ends(3, &["there is no database in", "up`, or name"]);
    assert!(!place.data_dir().join("pgdata").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lost_every_token_has_one_issued_on_the_database_itself() {
    let desk = Desk::open().await;
    let url = desk.place.database.as_ref().expect("a database").url.clone();
    let direct =
        ["token", "create", "rescue", "--scope", "admin", "--direct", "--expires-in", "1h"];
    let database = ["--database-url", &url];
    let made = desk.run(&[&direct[..], &database, &["--json"]].concat()).json();
    assert_eq!(made["name"], "rescue");
    let secret = made["secret"].as_str().expect("its secret");
    let rescued = desk.weir.client.with_token(Some(secret));
    rescued.get("/api/tokens").await.has(200);
    let issued = rescued.get("/api/events?kind=TokenIssued&limit=1000").await.expect(200).json();
    let events = issued["events"].as_array().expect("events");
    let ours = events.iter().find(|event| event["payload"]["name"] == "rescue").expect("an event");
    assert!(ours["payload"]["expires_at"].is_string(), "{ours}");
    assert!(!issued.to_string().contains(secret), "the log holds the secret");
    let listed = desk.run(&["token", "ls", "--json", "--token", secret]).json();
    assert!(listed["tokens"].as_array().is_some_and(|all| all.len() >= 2), "{listed}");
    let broken = [&direct[..], &["--profile", "nobodys", "--database-url", &url]].concat();
    desk.run(&broken).ends(1, &["nobodys"]);
    desk.weir.stop().await;
}
