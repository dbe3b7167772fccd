use std::cell::Cell;

use super::*;

fn of(manifests: &[Digest], blobs: &[Digest]) -> Manifest {
    Manifest {
        media_type: "",
        manifests: manifests.to_vec(),
        indexes: Vec::new(),
        blobs: blobs.iter().map(|blob| (*blob, 1)).collect(),
    }
}

impl Kin {
    /// How a manifest stands for who asks by its digest.
    fn standing(
        &self,
        name: &Name,
        digest: Digest,
        passes: &impl Fn(&Reference) -> bool,
    ) -> Standing {
        self.best(name, &[digest], None, passes).unwrap().1
    }
}

#[test]
fn what_is_said_of_a_tag_holds_for_everything_behind_it() {
    let [index, child, blob, other] = [b"i", b"c", b"b", b"o"].map(|text| Digest::of(text));
    let name: Name = "a/b".parse().unwrap();
    let [bad, good] = ["bad", "good"].map(|tag| tag.parse::<Tag>().unwrap());
    let by = |tag: &Tag| Reference::Tag(tag.clone());
    let but = |refused: Reference| move |asked: &Reference| *asked != refused;
    let kin = Kin::default();
    let nameless = Standing::Nameless(Reference::Digest(child));
    assert_eq!(kin.standing(&name, child, &|_| true), nameless);
    kin.learn(&name, index, Some(&bad), &of(&[child], &[]));
    kin.learn(&name, child, None, &of(&[], &[blob]));
    assert_eq!(kin.standing(&name, child, &but(by(&bad))), Standing::Refused(by(&bad)));
    assert_eq!(kin.standing(&name, child, &|_| true), Standing::Passes(by(&bad)));
    assert_eq!(kin.named_by(&name, blob).into_keys().collect::<Vec<_>>(), [child]);
    // Forbidden by digest: the index, and so its child; or the child alone.
    let refused = Reference::Digest(index);
    assert_eq!(kin.standing(&name, child, &but(refused.clone())), Standing::Refused(refused));
    let refused = Reference::Digest(child);
    assert_eq!(kin.standing(&name, index, &but(refused.clone())), Standing::Passes(by(&bad)));
    assert_eq!(kin.standing(&name, child, &but(refused.clone())), Standing::Refused(refused));
    assert_eq!(kin.within(&name, child), [index]);
    assert!(kin.within(&name, index).is_empty() && kin.within(&name, other).is_empty());
    // Another way to it that is open.
    kin.learn(&name, other, Some(&good), &of(&[child], &[]));
    assert_eq!(kin.standing(&name, child, &but(by(&bad))), Standing::Passes(by(&good)));
    // Of another repository nothing was seen.
    let elsewhere: Name = "a/c".parse().unwrap();
    assert_eq!(kin.standing(&elsewhere, child, &but(by(&bad))), nameless);
}

#[test]
fn indexes_that_name_each_other_do_not_go_on_forever() {
    let [a, b] = [b"a", b"b"].map(|text| Digest::of(text));
    let (kin, name) = (Kin::default(), "a/b".parse().unwrap());
    kin.learn(&name, a, None, &of(&[b], &[]));
    kin.learn(&name, b, None, &of(&[a], &[]));
    assert_eq!(kin.standing(&name, a, &|_| true), Standing::Unknown(Beyond::Depth));
    assert_eq!(kin.within(&name, a), [b]);
}

#[test]
fn of_several_manifests_the_best_counts_and_the_outermost_indexes_are_told_first() {
    let [outer, inner, child, alone] = [b"o", b"i", b"c", b"a"].map(|text| Digest::of(text));
    let (kin, name) = (Kin::default(), "a/b".parse::<Name>().unwrap());
    let bad: Tag = "bad".parse().unwrap();
    kin.learn(&name, outer, Some(&bad), &of(&[inner], &[]));
    kin.learn(&name, inner, None, &of(&[child], &[]));
    let by = Reference::Tag(bad);
    let refuses = |asked: &Reference| *asked != by;
    assert_eq!(kin.best(&name, &[], None, &refuses), None);
    let refused = Some((child, Standing::Refused(by.clone())));
    assert_eq!(kin.best(&name, &[child], None, &refuses), refused);
    let nameless = Some((alone, Standing::Nameless(Reference::Digest(alone))));
    assert_eq!(kin.best(&name, &[child, alone], None, &refuses), nameless);
    let passes = Some((child, Standing::Passes(by.clone())));
    assert_eq!(kin.best(&name, &[alone, child], None, &|_| true), passes);
    assert_eq!(kin.images(&name, &[child, inner, alone], 9), [outer, inner, child, alone]);
    assert_eq!(kin.images(&name, &[alone, child], 2), [alone, child]);
}

/// Once, each way that leads to a manifest was gone by itself: there are n³ of them here.
#[test]
fn each_name_is_asked_about_once_and_not_too_many_of_them() {
    let layers: Vec<Vec<Digest>> = (0..MAX_DEPTH)
        .map(|layer| (0..64).map(|n| Digest::of(format!("{layer} {n}").as_bytes())).collect())
        .collect();
    let (kin, name) = (Kin::default(), "a/b".parse::<Name>().unwrap());
    let bad: Tag = "bad".parse().unwrap();
    for pair in layers.windows(2) {
        for index in &pair[1] {
            kin.learn(&name, *index, None, &of(&pair[0], &[]));
        }
    }
    for index in &layers[MAX_DEPTH - 1] {
        kin.learn(&name, *index, Some(&bad), &of(&[], &[]));
    }
    let n_asked = Cell::new(0);
    let refuses = |asked: &Reference| {
        n_asked.set(n_asked.get() + 1);
        matches!(asked, Reference::Digest(_))
    };
    let child = layers[0][0];
    let by = Standing::Refused(Reference::Tag(bad));
    assert_eq!(kin.standing(&name, child, &refuses), by);
    assert_eq!(n_asked.get(), 1 + 64 + 64 + 2 * 64);
    assert_eq!(kin.images(&name, &layers[0], 100).len(), 100);
    // Under more tags than are asked about: it does not pass, though nothing is against the last one.
    let tags: Vec<Tag> = (0..200).map(|n| format!("t{n}").parse().unwrap()).collect();
    for index in &layers[1] {
        for tag in &tags {
            kin.learn(&name, *index, Some(tag), &of(&[], &[]));
        }
    }
    n_asked.set(0);
    assert!(matches!(kin.standing(&name, child, &refuses), Standing::Refused(_)));
    assert!(n_asked.get() <= MAX_ASKED + MAX_WAYS, "{}", n_asked.get());
}

/// Once, what was found at the last level by looking was not asked about at the next request.
#[test]
fn the_names_of_what_stands_as_deep_as_anybody_looks_are_asked_about_and_no_deeper_ones() {
    let (kin, name) = (Kin::default(), "a/b".parse::<Name>().unwrap());
    let digests: Vec<Digest> =
        (0..=MAX_DEPTH + 1).map(|n| Digest::of(n.to_string().as_bytes())).collect();
    for pair in digests.windows(2) {
        kin.learn(&name, pair[1], None, &of(&pair[..1], &[]));
    }
    let bad: Tag = "bad".parse().unwrap();
    let by = Reference::Tag(bad.clone());
    let refuses = |asked: &Reference| *asked != by;
    kin.learn(&name, digests[MAX_DEPTH + 1], Some(&bad), &of(&[], &[]));
    for passes in [&refuses as &dyn Fn(&Reference) -> bool, &|_: &Reference| true] {
        let standing = kin.standing(&name, digests[0], &passes);
        assert_eq!(standing, Standing::Unknown(Beyond::Depth));
    }
    assert_eq!(kin.standing(&name, digests[1], &refuses), Standing::Refused(by.clone()));
    assert_eq!(kin.standing(&name, digests[1], &|_| true), Standing::Passes(by.clone()));
    assert_eq!(kin.within(&name, digests[1]).len(), MAX_DEPTH);
}

#[test]
fn what_more_indexes_lead_to_than_are_asked_about_is_not_known_to_pass() {
    let (kin, name) = (Kin::default(), "a/b".parse::<Name>().unwrap());
    let nth = |n: usize| Digest::of(n.to_string().as_bytes());
    let [child, top] = [b"c", b"t"].map(|text| Digest::of(text));
    for n in 0..64 {
        kin.learn(&name, nth(n), None, &of(&[child], &[]));
        let above: Vec<Digest> = (0..64).map(|m| nth(64 + 64 * n + m)).collect();
        for index in &above {
            kin.learn(&name, *index, None, &of(&[nth(n)], &[]));
        }
        kin.learn(&name, top, Some(&"good".parse().unwrap()), &of(&above, &[]));
    }
    assert_eq!(kin.standing(&name, child, &|_| true), Standing::Unknown(Beyond::Names));
    assert!(matches!(kin.standing(&name, nth(0), &|_| true), Standing::Passes(_)));
}

/// Once, 256 forbidden images of the same base layer left no room for the one that is allowed.
#[test]
fn what_is_only_looked_at_leaves_room_for_what_passes() {
    let (kin, name) = (Kin::default(), "a/b".parse::<Name>().unwrap());
    let [child, blob] = [b"c", b"b"].map(|text| Digest::of(text));
    let all: Vec<Digest> = (0..=MAX_WAYS).map(|n| Digest::of(n.to_string().as_bytes())).collect();
    let (good, blocked) = all.split_last().unwrap();
    let refuses = |asked: &Reference| blocked.iter().all(|it| *asked != Reference::Digest(*it));
    let look = || {
        for index in blocked {
            kin.learn_behind(&name, *index, None, &of(&[child], &[blob]));
        }
    };
    look();
    assert!(matches!(kin.standing(&name, child, &refuses), Standing::Refused(_)));
    kin.learn(&name, *good, None, &of(&[child], &[blob]));
    for _ in 0..2 {
        let nameless = Standing::Nameless(Reference::Digest(*good));
        assert_eq!(kin.standing(&name, child, &refuses), nameless);
        let named_by = kin.named_by(&name, blob);
        assert_eq!((named_by.get(good), named_by.len()), (Some(&1), MAX_WAYS));
        look();
    }
}

#[test]
fn a_tag_of_who_takes_no_index_leads_past_tags_and_past_no_index_that_is_forbidden() {
    let (kin, name) = (Kin::default(), "a/b".parse::<Name>().unwrap());
    let [old, other, child] = [b"o", b"p", b"c"].map(|text| Digest::of(text));
    let [v1, bad] = ["v1", "bad"].map(|tag| tag.parse::<Tag>().unwrap());
    let by = |tag: &Tag| Reference::Tag(tag.clone());
    let all_but = |refused: &[Reference]| {
        let refused = refused.to_vec();
        move |asked: &Reference| !refused.contains(asked)
    };
    let narrow = Standing::Narrow(by(&v1));
    // By the tag that it is asked for, whether that was learned or not.
    let asked = kin.best(&name, &[child], Some(&v1), &|_| true);
    assert_eq!(asked, Some((child, narrow.clone())));
    kin.learn_narrow(&name, child, &v1, &of(&[], &[]));
    assert_eq!(kin.standing(&name, child, &|_| true), narrow);
    let refused = Standing::Refused(by(&v1));
    assert_eq!(kin.standing(&name, child, &all_but(&[by(&v1)])), refused);
    // In an index that has a name of its own.
    kin.learn_behind(&name, old, Some(&bad), &of(&[child], &[]));
    assert_eq!(kin.standing(&name, child, &|_| true), Standing::Passes(by(&bad)));
    assert_eq!(kin.standing(&name, child, &all_but(&[by(&bad)])), narrow);
    let forbidden = Reference::Digest(old);
    let refuses = all_but(std::slice::from_ref(&forbidden));
    assert_eq!(kin.standing(&name, child, &refuses), Standing::Refused(forbidden.clone()));
    let asked = kin.best(&name, &[child], Some(&v1), &refuses);
    assert_eq!(asked, Some((child, Standing::Refused(forbidden.clone()))));
    // However it is reached, and whichever manifest reached it first.
    let [first, last] = [[0_u8], [1]].map(|text| Digest::of(&text));
    for manifest in [first, last] {
        kin.learn_narrow(&name, manifest, &v1, &of(&[], &[]));
    }
    kin.learn_behind(&name, old, Some(&bad), &of(&[first, last], &[]));
    for both in [[first, last], [last, first]] {
        let best = kin.best(&name, &both, None, &refuses);
        assert_eq!(best, Some((both[0], Standing::Refused(forbidden.clone()))));
    }
    // Nor past one that is forbidden where another one has no name.
    kin.learn_behind(&name, other, None, &of(&[child], &[]));
    assert_eq!(kin.standing(&name, child, &all_but(&[by(&bad)])), narrow);
    let nameless = Standing::Nameless(Reference::Digest(other));
    assert_eq!(kin.standing(&name, child, &refuses), nameless);
}
