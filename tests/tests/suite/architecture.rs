//! The six invariants of ARCHITECTURE.md, each held by a test or a lint that cannot be switched off
//! unseen.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use weir_events::kind::{self, Subsystem};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// Every crate that one of ours needs, by name.
fn dependencies(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--offline"])
        .args(["--format", "{lib} {p}"])
        .current_dir(root())
        .output()
        .expect("cargo tree");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter_map(|line| line.split(' ').nth(1).map(str::to_owned)).collect()
}

/// Every Rust source below a folder, with its text.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

fn named<'a>(
    sources: &'a [(PathBuf, String)],
    words: &'a str,
) -> impl Iterator<Item = &'a Path> + 'a {
    sources.iter().filter(move |(_, text)| text.contains(words)).map(|(path, _)| path.as_path())
}

#[test]
fn aggregates_never_wait() {
    let needs = dependencies("weir-aggregates");
    for forbidden in ["tokio", "sqlx", "reqwest", "axum", "rand", "weir-log"] {
        assert!(!needs.contains(forbidden), "weir-aggregates needs {forbidden}");
    }
    assert!(needs.contains("weir-events"), "{needs:?}");
}

#[test]
fn projections_never_decide() {
    let needs = dependencies("weir-projections");
    assert!(!needs.contains("weir-aggregates"), "weir-projections can reach the machines");
    assert!(needs.contains("weir-log"), "{needs:?}");
}

#[test]
fn only_the_door_appends() {
    let mut found = BTreeSet::new();
    for folder in ["aggregates/src", "projections/src", "processors/src", "api/src", "tools/src"] {
        let sources = sources(folder);
        found.extend(named(&sources, "append::{").map(Path::to_owned));
        found.extend(named(&sources, "StreamWrite").map(Path::to_owned));
    }
    // Whoever names what an append is made of appends; faults and outcomes may be named by all.
    let writers: Vec<_> = found
        .into_iter()
        .filter(|path| fs::read_to_string(path).is_ok_and(|text| text.contains("StreamWrite")))
        .collect();
    // The door, and what it is made of.
    let door = root().join("processors/src/door.rs");
    let (own, others): (Vec<_>, Vec<_>) = writers
        .into_iter()
        .partition(|path| path.starts_with(door.with_extension("")) || *path == door);
    assert!(own.contains(&door), "{own:?}");
    assert_eq!(others, Vec::<PathBuf>::new());
}

#[test]
fn the_api_holds_no_sql() {
    let manifest = fs::read_to_string(root().join("api/Cargo.toml")).expect("its manifest");
    assert!(!manifest.contains("sqlx"), "weir-api depends on sqlx");
    let sources = sources("api/src");
    assert_eq!(named(&sources, "sqlx").collect::<Vec<_>>(), Vec::<&Path>::new());
}

#[test]
fn nothing_but_tools_reads_the_environment() {
    for folder in ["events", "aggregates/src", "projections/src", "processors/src", "api/src"] {
        let sources = sources(folder);
        for words in ["std::env::var", "env::var(", "env::vars", "env::var_os"] {
            assert_eq!(named(&sources, words).collect::<Vec<_>>(), Vec::<&Path>::new(), "{words}");
        }
    }
}

#[test]
fn nothing_but_outbound_opens_a_connection_to_the_outside() {
    for folder in ["aggregates/src", "projections/src", "processors/src", "api/src"] {
        let sources = sources(folder);
        for words in ["reqwest::Client", "Client::builder", "TcpStream::connect"] {
            let elsewhere: Vec<_> = named(&sources, words)
                .filter(|path| !path.to_string_lossy().contains("processors/src/outbound"))
                .filter(|path| !path.to_string_lossy().ends_with("tests.rs"))
                .collect();
            assert_eq!(elsewhere, Vec::<&Path>::new(), "{words}");
        }
    }
}

/// Redis is no outside: it is named by the operator, as Postgres is, and holds what this Weir signed.
/// It too has one door.
#[test]
fn nothing_but_its_cache_opens_a_connection_to_redis() {
    for folder in ["aggregates/src", "projections/src", "processors/src", "api/src", "tools/src"] {
        let sources = sources(folder);
        for words in ["redis::Client", "Client::open"] {
            let elsewhere: Vec<_> = named(&sources, words)
                .filter(|path| !path.ends_with("processors/src/registry/cache/redis/line.rs"))
                .collect();
            assert_eq!(elsewhere, Vec::<&Path>::new(), "{words}");
        }
    }
}

#[test]
fn every_kind_has_a_golden_file_an_owner_and_a_line_of_documentation() {
    for info in kind::table() {
        let subsystem = Subsystem::of(info.code).expect("a subsystem");
        let golden = format!("events/golden/{}.v{}.msgpack", info.name, info.schema);
        assert!(root().join(&golden).exists(), "{golden} is missing");
        let owner = format!("aggregates/src/{subsystem}.rs");
        assert!(root().join(&owner).exists(), "{} belongs to {owner}, which is missing", info.name);
        assert!(!info.doc.trim().is_empty(), "{} is not documented", info.name);
    }
}

/// BLAKE3 of every migration that was released, by number. Databases out there have run these very
/// texts, so they never change again. A release adds the rows of the migrations that are new in it;
/// nothing is released yet.
const RELEASED: &[(i64, &str)] = &[];

/// Which released migrations are not what was released: edited, or gone.
fn edited(migrations: &[(i64, &str, &str)], released: &[(i64, &str)]) -> Vec<i64> {
    let same = |&&(number, hash): &&(i64, &str)| {
        let text = migrations.iter().find(|m| m.0 == number).map(|m| m.2);
        text.is_some_and(|text| blake3::hash(text.as_bytes()).to_hex().as_str() == hash)
    };
    released.iter().filter(|row| !same(row)).map(|row| row.0).collect()
}

#[test]
fn released_migrations_are_never_edited() {
    assert_eq!(edited(weir_log::migrate::MIGRATIONS, RELEASED), Vec::<i64>::new());
}

#[test]
fn an_edited_or_removed_migration_is_noticed() {
    let migrations = [(1, "one", "SELECT 1"), (2, "two", "SELECT 2")];
    let hashes = migrations.map(|m| blake3::hash(m.2.as_bytes()).to_hex());
    let released = [(1, hashes[0].as_str()), (2, hashes[1].as_str())];
    assert_eq!(edited(&migrations, &released), Vec::<i64>::new());
    assert_eq!(edited(&[migrations[0], (2, "two", "SELECT 2 ")], &released), [2]);
    assert_eq!(edited(&migrations[1..], &released), [1]);
}

/// Every file is compiled in, under the number and name it has.
#[test]
fn migrations_are_numbered_without_a_gap() {
    let numbers: Vec<i64> = weir_log::migrate::MIGRATIONS.iter().map(|m| m.0).collect();
    let wanted: Vec<i64> = (1..).take(numbers.len()).collect();
    assert_eq!(numbers, wanted);
    for (number, name, text) in weir_log::migrate::MIGRATIONS {
        let file = root().join(format!("migrations/{number:04}_{name}.sql"));
        assert_eq!(fs::read_to_string(file).expect("its file"), *text);
    }
    let files = fs::read_dir(root().join("migrations")).expect("the migrations");
    let is_sql = |name: &std::ffi::OsStr| Path::new(name).extension().is_some_and(|e| e == "sql");
    let n_files = files.filter(|f| is_sql(&f.as_ref().expect("an entry").file_name())).count();
    assert_eq!(n_files, numbers.len(), "a migration is not compiled in");
}
