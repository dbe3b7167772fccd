//! Files whose length nobody tells, for who must know it: their bytes are counted, or the client would
//! not notice that they break off.

use std::time::Duration;

use http::{
    StatusCode,
    header::{CONTENT_LENGTH, RETRY_AFTER},
};
use sha2::{Digest as _, Sha256};
use tokio::{sync::Semaphore, time::timeout};
use weir_aggregates::registry::facts::Facts;
use weir_events::registry::{
    Event,
    profile::{Profile, ProfileSet, Quota},
};

use super::*;
use crate::caller::Caller;

const FILE: &str = "/files/six/six-1.16.0.tar.gz";
const UPSTREAM: &str = "/packages/six-1.16.0.tar.gz";

/// For what should come at once.
const LONG: Duration = Duration::from_secs(20);

/// A Weir whose upstream tells no lengths and sends each piece on a permit, and somebody whose bytes it
/// counts.
async fn counting(pieces: &[&[u8]], measuring: Duration) -> (Weir, Arc<Semaphore>, Caller) {
    let weir = Weir::start_with(|config| config.bounds.measuring = measuring).await;
    let hash = hex::encode(Sha256::digest(pieces.concat()));
    let file = serde_json::json!({"filename": "six-1.16.0.tar.gz", "url": format!("../..{UPSTREAM}"),
        "hashes": {"sha256": hash}});
    weir.upstream.page("six", &serde_json::json!({"files": [file]}));
    let gate = Arc::new(Semaphore::new(0));
    weir.upstream.put(UPSTREAM, Canned::gated(pieces, &gate));
    let quota = Quota { bytes_per_day: Some(1_000), ..Quota::default() };
    let profile = Profile { name: "agent".to_owned(), quota, ..Profile::default() };
    let mut facts = Facts::default();
    facts.apply(1, &ProfileSet { profile }.into());
    facts.settle();
    (weir.set_facts)(facts);
    let agent = Caller { profile: Some("agent".into()), ..Caller::principal("robot", "7") };
    (weir, gate, agent)
}

/// What was charged.
fn spent(weir: &Weir) -> Vec<u64> {
    let spent = |event: &Event| match event {
        Event::QuotaSpent(spent) => Some(spent.bytes),
        _ => None,
    };
    weir.events().iter().filter_map(spent).collect()
}

#[tokio::test]
async fn a_length_that_nobody_tells_is_waited_for_only_so_long_and_costs_nothing_meanwhile() {
    let (weir, gate, agent) = counting(&[b"go", b"od", b"!"], Duration::from_millis(50)).await;
    gate.add_permits(2);
    let answer = timeout(LONG, weir.get_by(&agent, FILE)).await.expect("not for an hour");
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.headers[RETRY_AFTER], "1");
    let told = text(answer).await;
    assert!(told.contains("does not say how large") && told.contains("ask again"), "{told}");
    assert_eq!((weir.recorded(), spent(&weir)), (Vec::new(), Vec::new()));
    // Whose bytes nobody counts need not wait.
    assert_eq!(weir.get(FILE).await.status, StatusCode::OK);

    // The download has gone on.
    gate.add_permits(1);
    weir.until("kept", || weir.recorded().contains(&"stored")).await;
    let answer = weir.get_by(&agent, FILE).await;
    assert_eq!((answer.status, body(answer).await.unwrap().len()), (StatusCode::OK, 5));
    assert_eq!((spent(&weir), weir.upstream.n_asked(UPSTREAM)), (vec![5], 1));
}

#[tokio::test]
async fn a_length_that_comes_in_time_is_charged_and_one_that_never_comes_is_not() {
    let (weir, gate, agent) = counting(&[b"go", b"od", b"!"], LONG).await;
    gate.add_permits(3);
    let answer = weir.get_by(&agent, FILE).await;
    assert_eq!((answer.status, body(answer).await.unwrap().len()), (StatusCode::OK, 5));
    assert_eq!(spent(&weir), [5]);

    let (weir, gate, agent) = counting(&[b"go", b"od", b"!"], LONG).await;
    gate.add_permits(2);
    weir.upstream.put(UPSTREAM, Canned::gated(&[b"go", b"od"], &gate).breaking_off());
    let cutting = async {
        weir.until("opened", || weir.plugin.stats().file_misses == 1).await;
        gate.add_permits(1);
    };
    let (answer, ()) = tokio::join!(weir.get_by(&agent, FILE), cutting);
    assert_eq!((answer.status, spent(&weir)), (StatusCode::BAD_GATEWAY, Vec::new()));
    assert!(!weir.recorded().contains(&"allowed"), "{:?}", weir.recorded());
}

#[tokio::test]
async fn of_many_readers_of_a_file_one_waits_to_pin_it() {
    let weir = Weir::start().await;
    let (first, second) = (vec![b'a'; 300_000], vec![b'b'; 300_000]);
    let hash = hex::encode(Sha256::digest([&first[..], &second].concat()));
    let file = serde_json::json!({"filename": "six-1.16.0.tar.gz", "url": format!("../..{UPSTREAM}"),
        "hashes": {"sha256": hash}});
    weir.upstream.page("six", &serde_json::json!({"files": [file]}));
    let gate = Arc::new(Semaphore::new(2));
    weir.upstream.put(UPSTREAM, Canned::gated(&[&first, &second[..1], &second[1..]], &gate));
    let reader = weir.get(FILE).await;
    let n_tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = n_tasks();
    let others = futures_util::future::join_all((0..64).map(|_| weir.get(FILE))).await;
    assert!(others.iter().all(|answer| answer.status == StatusCode::OK));
    let more = n_tasks().saturating_sub(before);
    assert!(more < 8, "{more} tasks more for 64 readers more");
    drop((reader, others));
    gate.add_permits(1);
    weir.until("pinned", || weir.pinned().len() == 1).await;
}

#[tokio::test]
async fn by_http_1_0_a_file_of_a_size_that_nobody_tells_is_whole_before_it_begins() {
    for (pieces, right) in
        [([b"go".as_slice(), b"od", b"!"], true), ([b"ev".as_slice(), b"il", b"!"], false)]
    {
        let weir = Weir::start().await;
        let hash = hex::encode(Sha256::digest(b"good!"));
        let file = serde_json::json!({"filename": "six-1.16.0.tar.gz",
            "url": format!("../..{UPSTREAM}"), "hashes": {"sha256": hash}});
        weir.upstream.page("six", &serde_json::json!({"files": [file]}));
        let gate = Arc::new(Semaphore::new(2));
        weir.upstream.put(UPSTREAM, Canned::gated(&pieces, &gate));
        let asked = async {
            weir.until("asked", || weir.upstream.n_asked(UPSTREAM) == 1).await;
            gate.add_permits(1);
        };
        let (answer, ()) = tokio::join!(weir.get_by_1_0(FILE), asked);
        if right {
            assert_eq!(answer.headers[CONTENT_LENGTH], "5");
            assert_eq!(body(answer).await.unwrap(), "good!");
        } else {
            assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
            assert!(!weir.recorded().contains(&"allowed"));
        }
    }
}
