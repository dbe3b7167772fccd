//! What works on the database itself: `weir migrate`, `weir verify`, `weir replay`.

use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _, PgConnection, Row as _};
use weir_tests::{
    database::{TestDatabase, at, cluster, fresh},
    deadline,
    events::{blocked, facts},
    weir::{Part, Place},
};

use super::run;

async fn execute(connection: &mut PgConnection, sql: &str) {
    connection.execute(sqlx::AssertSqlSafe(sql.to_owned())).await.expect("a statement");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_brought_to_this_builds_schema_once_and_a_dry_run_changes_nothing() {
    let place = Place::with_a_private_postgres();
    let empty = format!("empty_{}", fresh().simple());
    let mut admin = PgConnection::connect(&cluster()).await.expect("connect");
    execute(&mut admin, &format!("CREATE DATABASE {empty}")).await;
    let url = at(&cluster(), &empty);
    let migrate =
        |more: &[&str]| run(&place, &[&["migrate", "--database-url", &url], more].concat());
    let would = migrate(&["--dry-run"]).done();
    let needed = would.trim().strip_prefix("would migrate from 0 to ").expect(&would).to_owned();
    let n: i64 = needed.parse().expect("a number");
    let told = migrate(&["--dry-run", "--json"]).json();
    assert_eq!(told, json!({"from": 0, "to": n, "applied": false}));
    migrate(&[]).ends(0, &[&format!("migrated from 0 to {needed}")]);
    migrate(&[]).ends(0, &[&format!("the database is at migration {needed} already")]);
    assert_eq!(migrate(&["--json"]).json(), json!({"from": n, "to": n, "applied": false}));
    let pooled = ["a migration needs the database itself, not a pooler", "--pooler none"];
    migrate(&["--pooler", "transaction"]).ends(2, &pooled);

    // Another build's migration: nobody guesses at what it did.
    let mut inside = PgConnection::connect(&url).await.expect("connect");
    let tables = "SELECT table_schema || '.' || table_name FROM information_schema.tables \
                  WHERE table_name = '_sqlx_migrations'";
    let row = inside.fetch_one(tables).await.expect("its table");
    let table: String = row.get(0);
    execute(&mut inside, &format!("UPDATE {table} SET checksum = '\\x00' WHERE version = 1")).await;
    let up = ["up", "--listen", "127.0.0.1:0", "--database-url", &url];
    run(&place, &up).ends(1, &["fix: another build made this database"]);
    drop(inside);
    run(&place, &["migrate", "--database-url", "nonsense"]).ends(2, &["error: "]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_verified_against_the_key_of_its_directory_and_a_change_is_named_by_its_place() {
    let place = Place::on_a_test_database().await;
    let database = place.database.as_ref().expect("a database");
    let weir = place.start(Part::Up).await;
    let changed = weir.client.rule("six", ">=1.17", "not reviewed", "mark").await.position();
    deadline::until("it is sealed", async || {
        let status = weir.client.get("/api/status").await.expect(200).json();
        if status["sealed_to"].as_i64() >= Some(changed) { Ok(()) } else { Err(status) }
    })
    .await;
    weir.stop().await;
    let verify =
        |more: &[&str]| run(&place, &[&["verify", "--database-url", &database.url], more].concat());
    let told = verify(&[]).done();
    for words in ["seals verified", "last seal up to position ", "the log is as it was written"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains("no key was named"), "{told}");
    let told = verify(&["--json"]).json();
    assert_eq!((&told["good"], &told["report"]["findings"]), (&json!(true), &json!([])), "{told}");
    let key = told["trusted"][0].as_str().expect("the key of this directory").to_owned();
    assert_eq!(told["last_seal"]["public_key"], key);

    let stranger = "0f".repeat(32);
    verify(&["--trust", &stranger]).ends(6, &["the log was changed: "]);
    verify(&["--trust", &stranger, "--trust", &key]).ends(0, &["the log is as it was written"]);
    verify(&["--trust", "0f"]).ends(2, &["a public key has 64 hexadecimal digits"]);
    let elsewhere = Place::with_a_private_postgres();
    let unnamed = run(&elsewhere, &["verify", "--database-url", &database.url]);
    unnamed.ends(0, &["no key was named: every well-signed seal was trusted (see --trust)"]);
    run(&elsewhere, &["verify"]).ends(3, &["there is no database in", "fix: start Weir with"]);

    let mut intruder = database.intruder().await;
    let change =
        format!("UPDATE log.events SET payload = payload || '\\x00' WHERE position = {changed}");
    execute(&mut intruder, &change).await;
    let told = verify(&[]).ends(6, &["the log was changed: 1 findings"]).out;
    assert!(told.starts_with(&format!("position {changed}: ")), "{told}");
    let told: Value = serde_json::from_str(&verify(&["--json"]).ends(6, &[]).out).expect("JSON");
    assert_eq!(
        (&told["good"], &told["report"]["n_findings"]),
        (&json!(false), &json!(1)),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_model_that_differs_from_the_log_is_shown_row_by_row_and_built_anew() {
    let place = Place::on_a_test_database().await;
    let database: &TestDatabase = place.database.as_ref().expect("a database");
    let weir = place.start(Part::Up).await;
    let log = database.log().await;
    log.log.append(facts("facts", &[blocked(1), blocked(2), blocked(3)])).await.expect("append");
    let last = log.log.ask_head().await.expect("the head").position.0;
    weir.client.reaches("block_log", last).await;
    weir.stop().await;
    let replay =
        |more: &[&str]| run(&place, &[&["replay", "--database-url", &database.url], more].concat());
    let check = |code: i32| replay(&["block_log", "--check"]).ends(code, &[]).out;
    let told = check(0);
    assert!(told.contains("block_log: 3 rows, equal"), "{told}");
    assert!(told.contains("block_log equals a fresh build at position "), "{told}");

    let mut intruder = database.intruder().await;
    let live = "SELECT schema FROM projections.builds WHERE name = 'block_log' AND state = 'live'";
    let schema: String = intruder.fetch_one(live).await.expect("a build").get(0);
    execute(
        &mut intruder,
        &format!("UPDATE {schema}.block_log SET reason = 'a lie' WHERE position = {last}"),
    )
    .await;
    let told = check(6);
    for words in [
        "block_log: 1 rows only in the live build, 1 only in the fresh one",
        "  live   ",
        "a lie",
        "  fresh  ",
        "block_log differs from a fresh build at position ",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let told = replay(&["block_log", "--check", "--json"]).ends(6, &[]).out;
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let counts = ["only_live", "only_rebuilt"].map(|key| told["tables"][0][key].clone());
    assert_eq!((&told["equal"], counts), (&json!(false), [json!(1), json!(1)]), "{told}");

    let built = replay(&["block_log", "--json"]).json();
    assert_eq!((&built["state"], &built["resumed"]), (&json!("live"), &json!(false)), "{built}");
    check(0);
    let again = replay(&["block_log", "--restart"]).done();
    assert!(again.starts_with("block_log: build ") && again.contains(" is live, in "), "{again}");
    // From the middle on: what came before is not in it, and is not looked for.
    replay(&["block_log", "--from", &(last - 1).to_string()]).done();
    let told = check(0);
    assert!(told.contains("block_log: 1 rows, equal"), "{told}");

    replay(&["block_logg"]).ends(3, &["`block_logg`", "fix: did you mean `block_log`?"]);
    replay(&["nothing"]).ends(3, &["fix: there are: "]);
    replay(&["block_log", "--check", "--restart"]).ends(2, &["cannot be used with"]);
    run(&Place::with_a_private_postgres(), &["replay", "block_log"])
        .ends(3, &["there is no database in"]);
}
