//! Holds every read model to its version: tables that change need a new one, or builds of both
//! shapes would pass for the same.

use std::collections::BTreeSet;

use crate::{
    all,
    engine::{Kinds, Projection},
};

/// Name, version, and the hash of its SQL without comments and blanks. When this test fails, raise
/// the read model's version, and write both here.
const VERSIONS: &[(&str, i32, &str)] = &[
    ("causation", 1, "29c9187dfd5b2225"),
    ("agents", 1, "95568387153b2087"),
    ("api_tokens", 3, "8dd7d1b0d98e0398"),
    ("accounts", 1, "592366779cb46fd5"),
    ("block_log", 2, "50c5fd79a078fe1e"),
    ("blocked_packages", 1, "e30166e7aa1855cc"),
    ("custom_rules", 1, "91dd26dffd5a07ac"),
    ("downloads", 1, "6b58895c04806d4d"),
    ("known_versions", 1, "69d2bccc8509d33b"),
    ("seen_versions", 1, "df7f8697a33edb42"),
    ("sync_status", 1, "dd9bbf939bc96446"),
    ("traffic", 1, "f047d2f08f96b6e5"),
    ("waivers", 1, "8f3536193809c5a1"),
    ("request_log", 3, "fc37914592ef3b8e"),
    ("cache", 5, "20d586c92199367d"),
    ("reports", 6, "904e0ed69ac7bf56"),
    ("web_approvals", 2, "c35bc0955301008d"),
    ("domain_rules", 1, "6c4bd0d80bf258a0"),
];

/// What of the SQL the database sees.
fn hash(projection: &dyn Projection) -> String {
    let lines = projection.ddl().lines().map(|line| line.split("--").next().unwrap_or(""));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    blake3::hash(words.join(" ").as_bytes()).to_hex()[..16].to_owned()
}

#[test]
fn tables_do_not_change_without_a_new_version() {
    let found: Vec<_> = all().iter().map(|p| (p.name(), p.version(), hash(&**p))).collect();
    let known: Vec<_> = VERSIONS.iter().map(|&(n, v, hash)| (n, v, hash.to_owned())).collect();
    assert_eq!(found, known);
}

#[test]
fn names_are_unique_and_fit_the_database_and_views_do_not_meet() {
    let (mut names, mut views) = (BTreeSet::new(), BTreeSet::new());
    for projection in all() {
        let name = projection.name();
        assert!(names.insert(name), "{name} stands twice");
        let fits = name.len() <= 40
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        assert!(fits, "{name}");
        for table in projection.tables() {
            assert!(projection.ddl().contains(&format!("CREATE TABLE {table} (")), "{table}");
            assert!(views.insert((projection.views(), table)), "{table} stands twice");
        }
        assert_eq!(projection.ddl().matches("CREATE TABLE").count(), projection.tables().len());
    }
}

#[test]
fn kinds_that_are_wanted_exist_and_belong_to_the_subsystem() {
    for projection in all() {
        let Kinds::These(kinds) = projection.kinds() else { continue };
        for kind in kinds {
            let info = kind.info().map(|info| info.name);
            assert!(info.is_some(), "{}: {kind:?}", projection.name());
        }
        assert!(!kinds.is_empty(), "{} wants nothing", projection.name());
    }
}
