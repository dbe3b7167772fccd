use super::*;

#[tokio::test]
async fn a_filtered_list_is_recorded_once_for_each_principal_package_and_revision() {
    let ledger = Ledger::in_memory();
    let filtered = |package: &str, policy_revision| MetadataFiltered {
        ecosystem: Ecosystem::Pypi,
        package: package.to_owned(),
        hidden: vec!["1.0".to_owned()],
        marked: Vec::new(),
        policy_revision,
        document: String::new(),
    };
    let key = |revision: i64| blake3::hash(&revision.to_be_bytes());
    let (ann, bob) = (Caller::principal("ann", "1"), Caller::principal("bob", "2"));
    // Another token of the same name.
    let other_ann = Caller::principal("ann", "3");
    for (package, revision, caller, first) in [
        ("six", 1, &ann, true),
        ("six", 1, &ann, false),
        ("six", 2, &ann, true),
        ("six", 1, &bob, true),
        ("six", 1, &other_ann, true),
        ("seven", 1, &ann, true),
        ("seven", 1, &ann, false),
    ] {
        let (known, filtered) = (key(revision), filtered(package, revision));
        let recorded = ledger.filtered(List::Versions, filtered, &known, caller);
        let recorded = recorded.await.unwrap();
        assert_eq!(recorded, first, "{package} {revision} {}", caller.actor);
    }
    let known = key(1);
    let searched = ledger.filtered(List::Search, filtered("six", 1), &known, &ann);
    let searched = searched.await.unwrap();
    assert!(searched, "a search is another list");
    assert_eq!(ledger.events().len(), 6);
}

#[test]
fn a_list_of_versions_never_outgrows_an_event() {
    let mut versions = vec!["1.0.0".to_owned(); 100_000];
    shorten(&mut versions);
    assert_eq!(versions.len(), MAX_VERSIONS_BYTES / 10);
    let mut few = vec!["1.0".to_owned()];
    shorten(&mut few);
    assert_eq!(few.len(), 1);
}
