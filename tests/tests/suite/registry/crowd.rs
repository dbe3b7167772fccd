//! A crowd asks for one large file that is not here: the upstream is asked once, all have the right
//! bytes, and nobody waits for the end of it to see its beginning.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{StreamExt as _, future::join_all};
use http::{StatusCode, header::CONTENT_TYPE};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use weir_tests::{
    database::long,
    deadline, memory,
    site::{self, Lock},
    weir::{Part, Place},
};

const PIECE: u64 = 64 << 10;
const FILE: &str = "big-1.0.tar.gz";
/// How much memory Weir may take, whatever comes through it.
const MAX_MIB: u64 = 200;

/// An index with one file, whose second half waits.
struct Upstream {
    body: Bytes,
    digest: String,
    n_files: AtomicUsize,
    lock: Arc<Lock>,
}

impl Upstream {
    async fn start(size: usize) -> (Arc<Self>, String) {
        // Each place has other bytes, so that a piece in the wrong one is noticed.
        let words =
            (0..size as u64 / 8).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
        let body: Bytes = words.collect::<Vec<u8>>().into();
        let digest = hex::encode(Sha256::digest(&body));
        let (n_files, lock) = (AtomicUsize::new(0), Arc::default());
        let this = Arc::new(Self { body, digest, n_files, lock });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&this));
        (this, format!("{}/simple/", site::start(router).await))
    }
}

async fn answer(State(upstream): State<Arc<Upstream>>, request: Request) -> Response {
    let size = upstream.body.len();
    match request.uri().path() {
        "/simple/big/" => {
            let file = json!({"filename": FILE, "url": format!("/files/{FILE}"), "size": size,
                "hashes": {"sha256": upstream.digest}});
            let page = json!({"meta": {"api-version": "1.1"}, "name": "big", "files": [file]});
            let kind = "application/vnd.pypi.simple.v1+json";
            ([(CONTENT_TYPE, kind)], page.to_string()).into_response()
        }
        path if path.ends_with(FILE) => {
            upstream.n_files.fetch_add(1, Ordering::SeqCst);
            let body = upstream.body.clone();
            upstream.lock.answer(size as u64, PIECE, move |range| {
                let place = |at: u64| usize::try_from(at).expect("a place in it");
                body.slice(place(range.start)..place(range.end))
            })
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_that_asks_for_one_large_file_makes_one_fetch_and_all_have_it_in_little_memory() {
    let (n, size) = if long() { (500, 100 << 20) } else { (100, 16 << 20) };
    let (upstream, simple) = Upstream::start(size).await;
    let place = Place::on_a_test_database().await.upstream(&simple);
    let weir = place.start(Part::Up).await;
    // Who asks for a file has asked for its list.
    weir.client.get("/pypi/simple/big/").await.has(200);
    // What a resting process takes is no part of it.
    let resting = memory::most(&weir) >> 10;
    let n_begun = AtomicUsize::new(0);
    let first_at = AtomicU64::new(0);
    let began = Instant::now();
    let path = format!("/pypi/files/big/{FILE}");
    let downloads = (0..n).map(|_| async {
        let request = weir.client.request("GET", &path, &[]).timeout(Duration::from_mins(20));
        let response = request.send().await.expect("an answer");
        let status = response.status();
        assert!(status == 200, "{status}: {:?}", response.text().await);
        assert_eq!(response.content_length(), Some(size as u64));
        let (mut body, mut at) = (response.bytes_stream(), 0);
        while let Some(piece) = body.next().await {
            let piece = piece.expect("a piece");
            assert!(upstream.body[at..].starts_with(&piece), "other bytes at {at}");
            if at == 0 && n_begun.fetch_add(1, Ordering::SeqCst) == 0 {
                first_at.store(upstream.lock.n_sent(), Ordering::SeqCst);
            }
            at += piece.len();
        }
        assert_eq!(at, size, "all of it");
    });
    let opening = async {
        deadline::within(Duration::from_mins(5), "all have its beginning", async || {
            let begun = n_begun.load(Ordering::SeqCst);
            if begun == n { Ok(()) } else { Err(begun) }
        })
        .await;
        let sent = upstream.lock.n_sent();
        assert!(
            sent <= size as u64 / 2 + PIECE,
            "the upstream has sent {sent} of {size} bytes already"
        );
        let opened = began.elapsed();
        upstream.lock.open();
        opened
    };
    let (_, opened) = tokio::join!(join_all(downloads), opening);
    let (took, peak) = (began.elapsed(), memory::most(&weir) >> 10);
    println!(
        "{n} clients, {} MiB each: all had its beginning after {opened:?} (the first when {} KiB \
         had left the upstream), the whole after {took:?}; {} fetch; {peak} MiB at most, {resting} \
         at rest",
        size >> 20,
        first_at.load(Ordering::SeqCst) >> 10,
        upstream.n_files.load(Ordering::SeqCst),
    );
    assert_eq!(upstream.n_files.load(Ordering::SeqCst), 1, "one fetch");
    assert!(peak < MAX_MIB, "{peak} MiB");
}
