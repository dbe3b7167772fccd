//! Paths and texts for the laws: valid ones, nearly valid ones, and anything.

use core::num::NonZeroU64;
use proptest::{collection::vec, option, prelude::*, sample::select};
use weir_actor::{
    ActorPath, ActorPathParser, ActorPathParts, ActorPathScheme, ActorUid, GuardianSegments,
    PathAuthority, SystemName, encode_segment,
};

/// Text that `encode_segment` takes.
pub(crate) fn sayable() -> impl Strategy<Value = String> {
    "[ -#%-~][ -~]{0,20}".prop_filter("names another segment", |s| s != "." && s != "..")
}

/// Paths from a small world, so that equal ones are met often, built without the parser.
pub(crate) fn path() -> impl Strategy<Value = ActorPath> {
    let host = select(vec!["localhost", "node-b.example", "10.0.0.1", "[::1]", "[2001:db8::a]"]);
    let address = (
        select(vec![ActorPathScheme::Pekko, ActorPathScheme::PekkoTcp]),
        select(vec!["weir", "My_sys-2"]),
        option::of((host, 1_u16..)),
    );
    let guardian = select(vec![GuardianSegments::User, GuardianSegments::System]);
    let names = vec(prop_oneof![select(vec!["a", "b"]).prop_map(str::to_owned), sayable()], 0..15);
    let uid = option::of(prop_oneof![1_u64..4, any::<u64>()]);
    (address, option::of((guardian, names)), uid).prop_filter_map(
        "longer than a path may be",
        |((scheme, system, listens), below, uid)| {
            let system = SystemName::new(system).ok()?;
            let parts = match listens {
                Some((host, port)) => {
                    let authority = PathAuthority::new(host, port).ok()?;
                    ActorPathParts::remote(scheme, system, authority)
                }
                None => ActorPathParts::local(scheme, system),
            };
            let Some((guardian, names)) = below else { return Some(ActorPath::root(parts)) };
            let guardian = ActorPath::guardian_of(parts, guardian);
            let path = names
                .iter()
                .try_fold(guardian, |path, name| path.child(&encode_segment(name).ok()?).ok())?;
            match uid.and_then(NonZeroU64::new) {
                Some(uid) => path.with_uid(ActorUid::new(uid)).ok(),
                None => Some(path),
            }
        },
    )
}

/// Two paths, often equal, or equal but for the uid or one segment, and never sharing memory.
pub(crate) fn pair() -> impl Strategy<Value = (ActorPath, ActorPath)> {
    (path(), path(), 0..5).prop_filter_map("longer than a path may be", |(left, other, which)| {
        let text = match which {
            0 => left.to_canonical(),
            1 => left.without_uid().to_canonical(),
            2 => format!("{}#77", left.child(&encode_segment("a").ok()?).ok()?),
            3 => left.parent()?.to_canonical(),
            _ => other.to_canonical(),
        };
        Some((left, ActorPathParser::parse(&text).ok()?))
    })
}

/// Text made of the pieces of paths, right and wrong ones, so that the parser is led far in.
pub(crate) fn nearly_a_path() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "/", "/", "/", "a", "b", "user", "$x", "%20", "%2F", "%2f", "%61", "%C3%A4", "%", "..",
        ".", "*", "#", "5", "-7", "0", "+", "@", ":", "[::1]", "host", "2552", "?", "ä", "\0", " ",
    ]);
    let start = select(vec![
        "",
        "pekko:",
        "pekko://",
        "pekko://s",
        "pekko://s@",
        "pekko://s@h:1",
        "pekko.tcp://s@[::1]:1/",
        "pekko://s/user",
        "pekko://s/user/",
        "pekko://s/system/a",
    ]);
    let right = select(vec!["/a", "/b", "/$x", "/%20", "/a%2F*", "/x:y@z"]);
    let (right, any) = (vec(right, 0..9), vec(pieces, 0..6));
    (start, right, any, 0..3).prop_map(|(start, right, any, which)| {
        let any = if which == 0 { String::new() } else { any.concat() };
        format!("{start}{}{any}", right.concat())
    })
}

/// A valid path of which up to three characters are replaced.
pub(crate) fn damaged() -> impl Strategy<Value = String> {
    let damage = vec(
        (any::<prop::sample::Index>(), select(vec!['a', '/', '2', '%', '#', '$', '\u{e9}'])),
        0..4,
    );
    (path(), damage).prop_map(|(path, damage)| {
        let mut text: Vec<char> = path.to_canonical().chars().collect();
        for (at, character) in damage {
            let at = at.index(text.len());
            text[at] = character;
        }
        text.into_iter().collect()
    })
}

/// Any text at all.
pub(crate) fn anything() -> impl Strategy<Value = String> {
    prop_oneof![4 => nearly_a_path(), 4 => damaged(), 1 => any::<String>(), 1 => "\\PC{0,40}"]
}
