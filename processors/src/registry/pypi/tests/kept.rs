//! Files that lie here from before this process started: nobody has looked at their bytes yet.

use std::time::Duration;

use futures_util::future::join_all;
use http::{StatusCode, header::CONTENT_LENGTH};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::*;

const FILE: &str = "/files/six/six-1.16.0.tar.gz";
const UPSTREAM: &str = "/packages/six-1.16.0.tar.gz";

/// A Weir that keeps a file of an earlier start, of which so much is hashed before it leaves.
async fn restarted(bytes: &[u8], hashed_first_bytes: u64) -> Weir {
    restarted_with(bytes, |config| config.bounds.hashed_first_bytes = hashed_first_bytes).await
}

/// A Weir that keeps a file of an earlier start.
async fn restarted_with(bytes: &[u8], adjust: impl FnOnce(&mut Config)) -> Weir {
    let weir = Weir::start_with(adjust).await;
    let hash = hex::encode(Sha256::digest(bytes));
    let file = serde_json::json!({"filename": "six-1.16.0.tar.gz", "url": format!("../..{UPSTREAM}"),
        "hashes": {"sha256": hash}});
    weir.upstream.page("six", &serde_json::json!({"files": [file]}));
    weir.upstream.put(UPSTREAM, Canned::new(bytes.to_vec()));
    assert_eq!(body(weir.get(FILE).await).await.unwrap(), bytes);
    weir.until("kept", || weir.recorded().contains(&"stored")).await;
    weir.plugin.cache().forget_trust();
    weir
}

/// Changes the last byte of the kept file, where it lies.
fn damage(weir: &Weir, bytes: &[u8]) {
    let mut damaged = bytes.to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(weir.root().join("files/pypi/six/six-1.16.0.tar.gz"), damaged).unwrap();
}

/// How many wait for their turn to hash.
fn n_waiting(turns: &Arc<Semaphore>) -> usize {
    // The cache and whoever looks, and who holds all permits.
    Arc::strong_count(turns) - 3
}

#[tokio::test]
async fn a_crowd_has_a_kept_file_hashed_once_and_who_asks_for_its_size_not_at_all() {
    let weir = restarted(b"good!", 64 << 20).await;
    let turns = weir.plugin.cache().turns();
    let n_turns = u32::try_from(turns.available_permits()).unwrap();
    let held = Arc::clone(&turns).acquire_many_owned(n_turns).await.unwrap();
    let head = weir.head(FILE).await;
    assert_eq!(
        (head.status, &head.headers[CONTENT_LENGTH]),
        (StatusCode::OK, &"5".parse().unwrap())
    );
    assert_eq!(n_waiting(&turns), 0);
    let crowd = join_all((0..64).map(|_| weir.get(FILE)));
    let hashing = async {
        weir.until("waiting", || n_waiting(&turns) > 0).await;
        // All of them have had their turn to ask.
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(n_waiting(&turns), 1);
        drop(held);
    };
    let (answers, ()) = tokio::join!(crowd, hashing);
    for answer in answers {
        assert_eq!(body(answer).await.unwrap(), "good!");
    }
    assert_eq!(weir.upstream.n_asked(UPSTREAM), 1);
}

#[tokio::test]
async fn a_kept_file_that_is_not_what_it_was_is_fetched_anew_before_anybody_sees_it() {
    let weir = restarted(b"good!", 64 << 20).await;
    damage(&weir, b"good!");
    let answers = join_all((0..8).map(|_| weir.get(FILE))).await;
    for answer in answers {
        assert_eq!(body(answer).await.unwrap(), "good!");
    }
    assert_eq!(weir.upstream.n_asked(UPSTREAM), 2);
}

/// It once was waited for as long as what lies here may take to be hashed, which is an hour.
#[tokio::test]
async fn where_a_kept_file_is_not_what_it_was_the_upstream_is_not_waited_for_any_longer() {
    let first = Duration::from_secs(1);
    let weir = restarted_with(b"good!", |config| config.bounds.first = first).await;
    damage(&weir, b"good!");
    let never = Arc::new(Semaphore::new(0));
    weir.upstream.put(UPSTREAM, Canned::new("good!").held(&never));
    let before = weir.plugin.stats();
    let answer = tokio::time::timeout(30 * first, weir.get(FILE)).await.expect("it is told");
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    assert_eq!(answer.reason.as_deref(), Some("the upstream has sent nothing for 1s"));
    let after = weir.plugin.stats();
    let n_more = (after.file_hits - before.file_hits, after.file_misses - before.file_misses);
    assert_eq!(n_more, (0, 1), "hits and misses");
}

#[tokio::test]
async fn a_kept_file_that_is_what_it_was_counts_as_here() {
    let weir = restarted(b"good!", 64 << 20).await;
    let before = weir.plugin.stats();
    assert_eq!(body(weir.get(FILE).await).await.unwrap(), "good!");
    let after = weir.plugin.stats();
    let n_more = (after.file_hits - before.file_hits, after.file_misses - before.file_misses);
    assert_eq!(n_more, (1, 0), "hits and misses");
}

#[tokio::test]
async fn a_large_kept_file_leaves_while_it_is_hashed_and_ends_well_only_if_it_is_right() {
    let whole = vec![7; 9 << 20];
    for right in [true, false] {
        let weir = restarted(&whole, 1 << 20).await;
        if !right {
            damage(&weir, &whole);
        }
        let turns = weir.plugin.cache().turns();
        let n_turns = u32::try_from(turns.available_permits()).unwrap();
        let held = Arc::clone(&turns).acquire_many_owned(n_turns).await.unwrap();
        let first_turn = async {
            weir.until("waiting", || n_waiting(&turns) == 1).await;
            // One turn, and the next one waits behind this.
            let next = Arc::clone(&turns).acquire_many_owned(n_turns);
            drop(held);
            next.await.unwrap()
        };
        let (answer, held) = tokio::join!(weir.get(FILE), first_turn);
        assert_eq!(answer.headers[CONTENT_LENGTH], whole.len().to_string().as_str());
        let Body::Stream(mut stream) = answer.body else { panic!("no stream") };
        let mut n_read = stream.next().await.unwrap().unwrap().len();
        assert!(n_read > 0 && n_read < whole.len());
        drop(held);
        let mut ended_well = true;
        while let Some(piece) = stream.next().await {
            match piece {
                Ok(piece) => n_read += piece.len(),
                Err(_) => ended_well = false,
            }
        }
        assert_eq!((ended_well, n_read == whole.len()), (right, right));
        assert_eq!(weir.upstream.n_asked(UPSTREAM), 1);
        // Whoever asks again has it from the upstream, where it was wrong.
        assert_eq!(body(weir.get(FILE).await).await.unwrap(), whole);
        assert_eq!(weir.upstream.n_asked(UPSTREAM), if right { 1 } else { 2 });
    }
}
