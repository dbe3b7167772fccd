//! `weir dead-letters`: what a projection could not apply is listed, and applied when it can be.

use serde_json::json;
use sqlx::{Executor as _, Row as _};
use weir_tests::events::{blocked, facts};

use super::Desk;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_letter_is_listed_and_redelivered_and_what_cannot_be_says_so() {
    let desk = Desk::open().await;
    desk.shows("block_log").await;
    assert_eq!(desk.run(&["dead-letters", "ls"]).done().trim_end(), "no dead letters");
    let database = desk.place.database.as_ref().expect("a database");
    let log = database.log().await;
    log.log.append(facts("facts", &[blocked(1), blocked(2)])).await.expect("append");
    let last = log.log.ask_head().await.expect("the head").position.0;
    desk.weir.client.reaches("block_log", last).await;
    // As a build that could not apply them leaves them: without their rows, and one that is not in the
    // log any more.
    let mut intruder = database.intruder().await;
    let live = "SELECT schema FROM projections.builds WHERE name = 'block_log' AND state = 'live'";
    let schema: String = intruder.fetch_one(live).await.expect("a build").get(0);
    let lost = format!("DELETE FROM {schema}.block_log WHERE position >= {}", last - 1);
    intruder.execute(sqlx::AssertSqlSafe(lost)).await.expect("lose the rows");
    let park = async |intruder: &mut sqlx::PgConnection, position: i64, from: i64| {
        let sql = format!(
            "INSERT INTO projections.dead_letters (build, position, kind, attempts, actor, stream, error) \
             SELECT b.id, {position}, e.kind, 3, 'pekko://weir/x', e.stream, E'bad\\x1b[31m' \
             FROM projections.builds b, log.events e \
             WHERE b.name = 'block_log' AND b.state = 'live' AND e.position = {from}"
        );
        intruder.execute(sqlx::AssertSqlSafe(sql)).await.expect("a dead letter");
    };
    park(&mut intruder, last, last).await;
    park(&mut intruder, last - 1, last - 1).await;
    park(&mut intruder, last + 1_000, last).await;
    let listed = desk.run(&["dead-letters", "ls"]).done();
    let columns: Vec<_> = listed.lines().next().expect("a heading").split_whitespace().collect();
    assert_eq!(columns, ["PROJECTION", "POSITION", "KIND", "STREAM", "ATTEMPTS", "ERROR"]);
    let row = listed.lines().nth(1).expect("a row");
    for words in
        ["block_log", &(last - 1).to_string(), "PackageBlocked", "facts", "3", "bad\\u{1b}[31m"]
    {
        assert!(row.contains(words), "{words}: {row}");
    }
    assert_eq!(desk.run(&["dead-letters", "ls", "block_log"]).done(), listed);
    assert_eq!(
        desk.run(&["dead-letters", "ls", "custom_rules"]).done().trim_end(),
        "no dead letters"
    );
    desk.run(&["dead-letters", "ls", "nothing"]).ends(3, &["error: "]);

    let redeliver =
        |more: &[&str]| desk.run(&[&["dead-letters", "redeliver", "block_log"], more].concat());
    redeliver(&["--all", "--dry-run"]).ends(0, &["would redeliver 3 to block_log"]);
    let dry = redeliver(&[&last.to_string(), "--dry-run", "--json"]).json();
    assert_eq!(dry, json!({"would_redeliver": [last]}));
    redeliver(&[]).ends(2, &["<POSITION>"]);
    redeliver(&["1", "--all"]).ends(2, &["cannot be used with"]);
    redeliver(&["1"]).ends(3, &["error: "]);
    // A person who looks sees only what is there.
    let blocks = async || {
        let page = desk.weir.client.get("/api/blocks").await.expect(200).json();
        page["blocks"].as_array().expect("blocks").len()
    };
    assert_eq!(blocks().await, 0);
    let one = redeliver(&[&last.to_string()]).ends(0, &["1 redelivered, 0 failed"]);
    assert!(one.err.contains(&format!("position {last}: redelivered")), "{}", one.err);
    // The others get their turn although one fails.
    let rest = redeliver(&["--all", "--json"]).ends(1, &[]);
    let rest: serde_json::Value = serde_json::from_str(&rest.out).expect("JSON");
    assert_eq!(rest["redelivered"], 1, "{rest}");
    let failed = rest["failed"][0].as_str().expect("a failure");
    assert!(failed.starts_with(&format!("position {}: ", last + 1_000)), "{rest}");
    assert_eq!(blocks().await, 2);
    let left = desk.run(&["dead-letters", "ls", "--json"]).json();
    assert_eq!(left["dead_letters"].as_array().map(Vec::len), Some(1), "{left}");
    desk.weir.stop().await;
}
