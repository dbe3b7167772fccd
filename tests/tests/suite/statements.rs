//! Every statement written in the sources is one that the migrated database can prepare.

use std::{fs, path::PathBuf};

use sqlx::{Connection, Executor, PgConnection, SqlSafeStr};
use weir_tests::database::TestDatabase;

/// The statements of the fixed tables: constants that begin with an SQL verb. Read models' own
/// statements name tables that only exist inside a build; their suites run every one of them.
fn statements() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<_> =
        ["events/log/src", "projections/src/engine", "processors/src"].map(|f| root.join(f)).into();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            for piece in text.split("const ").skip(1) {
                let Some((name, rest)) = piece.split_once(": &str = \"") else { continue };
                let Some((statement, _)) = rest.split_once("\";") else { continue };
                let verbs = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"];
                if verbs.iter().any(|verb| statement.trim_start().starts_with(verb)) {
                    let place = format!("{} {name}", path.display());
                    found.push((place, statement.replace("\\\"", "\"").replace("\\\n", "\n")));
                }
            }
        }
    }
    found
}

#[tokio::test]
async fn every_constant_statement_prepares() {
    let database = TestDatabase::create().await;
    let mut connection = PgConnection::connect(&database.url).await.expect("connect");
    let statements = statements();
    assert!(statements.len() >= 15, "only {} statements were found", statements.len());
    for (place, statement) in statements {
        let prepared = connection
            .prepare(sqlx::AssertSqlSafe(statement.clone()).into_sql_str())
            .await
            .map(drop);
        assert!(prepared.is_ok(), "{place}: {prepared:?}\n{statement}");
    }
}
