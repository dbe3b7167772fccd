//! Actor paths: what can be read is canonical, and everything made of it reads back.
#![no_main]

use std::cmp::Ordering;

use libfuzzer_sys::fuzz_target;
use weir_actor::{
    ActorName, ActorPath, ActorPathComparator, ActorPathFormatter, ActorPathValidator,
};

fuzz_target!(|text: &str| {
    let parsed = text.parse::<ActorPath>();
    assert_eq!(ActorPathValidator::validate(text), parsed.clone().map(|_| ()));
    let path = match parsed {
        Ok(path) => path,
        Err(fault) => {
            assert!(!fault.to_string().is_empty());
            return;
        }
    };
    let canonical = path.to_canonical();
    assert!(canonical.len() <= ActorPath::MAX_BYTES);
    assert_eq!(canonical.parse().as_ref(), Ok(&path));
    // One slash at the end is no difference; everything else is as it was written.
    let bare = |text: &str| text.strip_suffix('/').unwrap_or(text).to_owned();
    assert_eq!(bare(&canonical), bare(text));

    let plain = path.without_uid();
    assert_eq!(plain.to_canonical(), ActorPathFormatter::format_without_uid(&path));
    assert!(ActorPathComparator::eq(&path, &plain));
    assert_eq!(ActorPathComparator::cmp(&path, &plain), Ordering::Equal);
    if let Some(uid) = path.uid() {
        assert_eq!(plain.with_uid(uid).as_ref(), Ok(&path));
    }

    let Some(parent) = path.parent() else {
        assert_eq!(plain, ActorPath::root(path.parts().clone()));
        return;
    };
    assert_eq!(parent.to_canonical().parse().as_ref(), Ok(&parent));
    assert_ne!(ActorPathComparator::cmp(&parent, &path), Ordering::Equal);
    assert_eq!(
        ActorPathComparator::cmp(&parent, &path),
        ActorPathComparator::cmp(&path, &parent).reverse()
    );
    // Reserved names can be read, not given.
    let name = path.name().map(|segment| ActorName::new(segment.raw()));
    if let Some(Ok(name)) = name {
        assert_eq!(parent.child(&name).as_ref(), Ok(&plain));
    }
});
