//! The laws of reading and writing, for any path and for any text.

use crate::strategies::{anything, pair, path, sayable};
use core::{
    cmp::Ordering,
    hash::{Hash, Hasher},
};
use proptest::prelude::*;
use std::{collections::HashSet, hash::DefaultHasher};
use weir_actor::{
    ActorName, ActorPath, ActorPathComparator, ActorPathFormatter, ActorPathParser,
    ActorPathValidator, ActorUid, PathAuthority, PathSegment, SystemName, encode_segment,
};

/// What the canonical form of a readable text is, said without the crate: the text with the root's
/// slash added or one trailing slash dropped.
fn canonical(text: &str) -> String {
    let slashes = text.matches('/').count();
    match text.strip_suffix('/') {
        _ if slashes == 2 => format!("{text}/"),
        Some(bare) if slashes != 3 => bare.to_owned(),
        _ => text.to_owned(),
    }
}

fn hash_without_uid(path: &ActorPath) -> u64 {
    let mut hasher = DefaultHasher::new();
    ActorPathComparator::hash(path, &mut hasher);
    hasher.finish()
}

fn hash_of(path: &ActorPath) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_is_written_canonically(text in anything()) {
        if let Ok(path) = ActorPathParser::parse(&text) {
            prop_assert_eq!(ActorPathFormatter::format(&path), canonical(&text));
        }
    }

    #[test]
    fn what_is_written_is_read_back(path in path()) {
        let text = ActorPathFormatter::format(&path);
        prop_assert_eq!(ActorPathParser::parse(&text), Ok(path));
    }

    #[test]
    fn a_canonical_text_is_a_fixed_point(text in anything()) {
        if let Ok(path) = ActorPathParser::parse(&text) {
            let again = ActorPathParser::parse(&path.to_canonical());
            prop_assert_eq!(again, Ok(path));
        }
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_in_it(text in anything()) {
        match ActorPathParser::parse(&text) {
            Ok(path) => prop_assert!(path.to_canonical().len() <= ActorPath::MAX_BYTES),
            Err(error) => {
                prop_assert!(error.offset() <= text.len());
                prop_assert!(text.is_char_boundary(error.offset()));
            }
        }
        // Whatever a part accepts, it gives back as it was.
        prop_assert!(!PathSegment::new(&text).is_ok_and(|s| s.raw() != text));
        prop_assert!(!SystemName::new(&text).is_ok_and(|s| s.as_str() != text));
        prop_assert!(!text.parse::<PathAuthority>().is_ok_and(|a| a.to_string() != text));
        prop_assert!(!text.parse::<ActorUid>().is_ok_and(|u| u.to_string() != text));
    }

    #[test]
    fn the_validator_answers_as_the_parser(text in anything()) {
        let parsed = ActorPathParser::parse(&text).map(|_| ());
        prop_assert_eq!(ActorPathValidator::validate(&text), parsed);
        let segment = PathSegment::new(&text).map(|_| ());
        prop_assert_eq!(ActorPathValidator::validate_segment(&text), segment);
    }

    #[test]
    fn equal_paths_have_equal_hashes_and_equal_texts((left, right) in pair()) {
        let same = ActorPathComparator::eq(&left, &right);
        prop_assert_eq!(
            same,
            ActorPathFormatter::format_without_uid(&left)
                == ActorPathFormatter::format_without_uid(&right)
        );
        prop_assert_eq!(left == right, left.to_canonical() == right.to_canonical());
        if same {
            prop_assert_eq!(hash_without_uid(&left), hash_without_uid(&right));
        }
        if left == right {
            prop_assert_eq!(hash_of(&left), hash_of(&right));
        }
    }

    #[test]
    fn the_uid_changes_neither_equality_nor_hash_nor_order(path in path()) {
        let bare = path.without_uid();
        prop_assert!(ActorPathComparator::eq(&path, &bare));
        prop_assert_eq!(hash_without_uid(&path), hash_without_uid(&bare));
        prop_assert_eq!(ActorPathComparator::cmp(&path, &bare), Ordering::Equal);
        prop_assert_eq!(path == bare, path.uid().is_none());
    }

    #[test]
    fn the_order_is_total(a in path(), b in path(), c in path()) {
        let cmp = ActorPathComparator::cmp;
        prop_assert_eq!(cmp(&a, &b), cmp(&b, &a).reverse());
        prop_assert_eq!(cmp(&a, &b) == Ordering::Equal, ActorPathComparator::eq(&a, &b));
        if cmp(&a, &b).is_le() && cmp(&b, &c).is_le() {
            prop_assert!(cmp(&a, &c).is_le());
        }
    }

    #[test]
    fn paths_with_equal_leaves_do_not_collide(path in path(), a in sayable(), b in sayable()) {
        let below = |name: &str| {
            path.child(&encode_segment(name).ok()?).ok()?.child(&ActorName::new("leaf").ok()?).ok()
        };
        if let (true, Some(left), Some(right)) = (a != b, below(&a), below(&b)) {
            prop_assert_ne!(hash_without_uid(&left), hash_without_uid(&right));
        }
    }

    #[test]
    fn text_from_outside_comes_back_and_keeps_its_own_name(a in sayable(), b in sayable()) {
        let (left, right) = (encode_segment(&a).unwrap(), encode_segment(&b).unwrap());
        prop_assert_eq!(left.segment().decoded(), a.as_str());
        prop_assert_eq!(left == right, a == b);
        prop_assert!(!left.segment().raw().contains('/'));
    }

    #[test]
    fn a_raw_segment_is_the_only_form_of_its_text(text in anything()) {
        for raw in text.split('/') {
            if let Ok(name) = ActorName::new(raw) {
                let again = encode_segment(&name.segment().decoded());
                prop_assert_eq!(again, Ok(name));
            }
        }
    }

    #[test]
    fn a_childs_parent_is_the_path(path in path(), text in sayable()) {
        let name = encode_segment(&text).unwrap();
        if let Ok(child) = path.child(&name) {
            prop_assert_eq!(child.name(), Some(name.segment()));
            prop_assert_eq!(child.parent(), Some(path.without_uid()));
        }
    }
}

#[test]
fn the_same_name_in_another_system_does_not_collide() {
    let texts = ["pekko://a", "pekko://b", "pekko.tcp://a", "pekko://a@h:1", "pekko://a@h:2"];
    let hash = |text| hash_without_uid(&format!("{text}/user/leaf").parse::<ActorPath>().unwrap());
    let hashes: HashSet<u64> = texts.into_iter().map(hash).collect();
    assert_eq!(hashes.len(), texts.len());
}

#[test]
fn equal_paths_and_valid_texts_are_met_often_enough_to_mean_something() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let (mut n_read, mut n_equal) = (0, 0);
    for _ in 0..1_000 {
        let text = anything().new_tree(&mut runner).unwrap().current();
        n_read += usize::from(ActorPathParser::parse(&text).is_ok());
        let (left, right) = pair().new_tree(&mut runner).unwrap().current();
        n_equal += usize::from(ActorPathComparator::eq(&left, &right));
    }
    assert!((100..900).contains(&n_read), "{n_read} of 1,000 texts were paths");
    assert!((100..900).contains(&n_equal), "{n_equal} of 1,000 pairs were equal");
}
