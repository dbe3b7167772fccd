//! The elements of actor paths, each read by itself from the same text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_actor::{
    ActorName, ActorPath, ActorPathParts, ActorPathScheme, ActorPathValidator, ActorUid,
    GuardianSegments, PathAuthority, PathSegment, SystemName, encode_segment,
};

fuzz_target!(|text: &str| {
    let segment = PathSegment::new(text);
    assert_eq!(ActorPathValidator::validate_segment(text), segment.clone().map(|_| ()));
    if let Ok(segment) = &segment {
        assert_eq!(segment.raw(), text);
        assert_eq!(encode_segment(&segment.decoded()).is_ok(), !text.starts_with('$'));
    }
    assert_eq!(ActorName::new(text).is_ok(), segment.is_ok() && !text.starts_with('$'));

    let user = |system| {
        let parts = ActorPathParts::local(ActorPathScheme::Pekko, system);
        ActorPath::guardian_of(parts, GuardianSegments::User)
    };
    if let Ok(name) = encode_segment(text) {
        assert_eq!(name.segment().decoded(), text);
        let path = user(SystemName::new("weir").expect("a name")).child(&name).expect("a path");
        assert_eq!(path.to_canonical().parse().as_ref(), Ok(&path));
    }
    if let Ok(uid) = text.parse::<ActorUid>() {
        assert_eq!(uid.to_string(), text);
        let path = user(SystemName::new("weir").expect("a name")).with_uid(uid).expect("a path");
        assert_eq!(path.to_canonical().parse().as_ref(), Ok(&path));
    }
    if let Ok(system) = SystemName::new(text) {
        let path = user(system);
        assert_eq!(path.to_canonical().parse().as_ref(), Ok(&path));
    }
    if let Ok(authority) = text.parse::<PathAuthority>() {
        assert_eq!(authority.to_string(), text);
        assert_eq!(PathAuthority::new(authority.host(), authority.port()).as_ref(), Ok(&authority));
        let system = SystemName::new("weir").expect("a name");
        let parts = ActorPathParts::remote(ActorPathScheme::PekkoTcp, system, authority);
        let path = ActorPath::guardian_of(parts, GuardianSegments::System);
        assert_eq!(path.to_canonical().parse().as_ref(), Ok(&path));
    }
});
