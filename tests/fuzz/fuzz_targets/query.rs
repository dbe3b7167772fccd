//! What the API reads from an address: parameters, and in them the cursors and filters of tails.
#![no_main]

use axum::extract::FromRequestParts;
use futures_util::FutureExt;
use libfuzzer_sys::fuzz_target;
use weir_api::ask::Params;
use weir_events::{
    kind::{Kind, Subsystem},
    position::{Cursor, Position},
    stream::StreamName,
};
use weir_fuzz::recorded;
use weir_log::read::Filter;

fuzz_target!(|text: &str| {
    cursor(text);
    if let Ok(name) = StreamName::new(text) {
        let json = serde_json::to_string(&name).expect("a name");
        assert_eq!(serde_json::from_str::<StreamName>(&json).ok(), Some(name));
    }

    let Ok(request) = http::Request::builder().uri(format!("/api/events?{text}")).body(()) else {
        return;
    };
    let mut parts = request.into_parts().0;
    let read = Params::from_request_parts(&mut parts, &()).now_or_never();
    let Ok(mut params) = read.expect("nothing to wait for") else { return };
    if let Ok(limit) = params.limit(100, 1_000) {
        assert!((1..=1_000).contains(&limit));
    }
    if let Ok(Some(after)) = params.take::<String>("after") {
        cursor(&after);
    }
    let stream_prefix = params.take("stream").ok().flatten();
    let kinds: Vec<_> = params.names("kind").iter().filter_map(|name| Kind::find(name)).collect();
    for kind in &kinds {
        assert_eq!(Kind::find(&kind.name()), Some(*kind));
    }
    let subsystems = params.names("subsystem");
    let subsystems: Vec<_> = subsystems.iter().filter_map(|name| Subsystem::find(name)).collect();
    let filter = Filter {
        stream_prefix,
        kinds: kinds.iter().map(|kind| kind.0).collect(),
        kind_ranges: subsystems.iter().map(|_| (0x4000, 0x4fff)).collect(),
        principal: params.take("principal").ok().flatten(),
    };
    assert!(!filter.is_open() || filter.matches(&recorded(Kind(0x4005), 1, b"")));
    // Whatever is left was not understood, and is refused.
    let _refused = params.done();
});

/// A cursor that can be read is written as one that means the same.
fn cursor(text: &str) {
    if let Ok(cursor) = text.parse::<Cursor>() {
        assert!(cursor.position >= Position::START);
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
    }
}
