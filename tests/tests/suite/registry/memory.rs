//! What passes takes no memory: a layer many times as large as a Weir may become, lists of every size.

use std::{
    sync::Arc,
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
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use weir_tests::{
    memory,
    site::{self, Lock},
    weir::{Part, Place},
};

const PIECE: u64 = 1 << 20;
const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";

/// How much memory Weir may take at most while a layer passes, in MiB.
const MAX_WHILE_IT_PASSES: u64 = 150;

/// How much it may keep when it has served lists of every size, in MiB.
const MAX_AFTER_LISTS: u64 = 120;

/// How many versions the largest list has.
const N_VERSIONS: usize = 2_963;

/// A registry with one image of one layer, which it makes up while it sends it.
struct Registry {
    n_bytes: u64,
    manifest: Bytes,
    layer: String,
    lock: Arc<Lock>,
}

/// A piece of the layer, which no other one is like.
fn piece(at: u64) -> Bytes {
    let mut piece = vec![0x5a; usize::try_from(PIECE).expect("a small number")];
    piece[..8].copy_from_slice(&at.to_le_bytes());
    piece.into()
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

impl Registry {
    async fn start(n_bytes: u64) -> (Arc<Self>, String) {
        let mut hasher = Sha256::new();
        (0..n_bytes / PIECE).for_each(|n| hasher.update(piece(n * PIECE)));
        let layer = format!("sha256:{}", hex::encode(hasher.finalize()));
        let manifest = json!({"schemaVersion": 2, "mediaType": IMAGE,
            "layers": [{"digest": layer, "size": n_bytes}]});
        let manifest = manifest.to_string().into();
        let this = Arc::new(Self { n_bytes, manifest, layer, lock: Arc::default() });
        let url = site::start(Router::new().fallback(answer).with_state(Arc::clone(&this))).await;
        (this, url)
    }
}

async fn answer(State(registry): State<Arc<Registry>>, request: Request) -> Response {
    let path = request.uri().path();
    if path.ends_with(&digest(&registry.manifest)) {
        return ([(CONTENT_TYPE, IMAGE)], registry.manifest.clone()).into_response();
    }
    if !path.ends_with(&registry.layer) {
        return StatusCode::NOT_FOUND.into_response();
    }
    registry.lock.answer(registry.n_bytes, PIECE, |range| piece(range.start))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_layer_larger_than_all_memory_it_may_take_passes_while_it_comes() {
    let n_bytes = 1 << 30;
    let (registry, url) = Registry::start(n_bytes).await;
    let setting = format!("registries:\n  docker:\n    upstream: {url}/\n");
    let place = Place::on_a_test_database().await.setting(&setting);
    let weir = place.start(Part::Up).await;
    let manifest = format!("/v2/library/app/manifests/{}", digest(&registry.manifest));
    weir.client.get(&manifest).await.has(200);
    let (began, resting) = (Instant::now(), memory::most(&weir) >> 10);
    let path = format!("/v2/library/app/blobs/{}", registry.layer);
    let request = weir.client.request("GET", &path, &[]).timeout(Duration::from_mins(10));
    let response = request.send().await.expect("an answer");
    assert_eq!((response.status().as_u16(), response.content_length()), (200, Some(n_bytes)));
    let (mut body, mut hasher, mut n_read) = (response.bytes_stream(), Sha256::new(), 0);
    while let Some(piece) = body.next().await {
        let piece = piece.expect("a piece");
        if n_read == 0 {
            let n_sent = registry.lock.n_sent();
            assert!(n_sent <= n_bytes / 2, "{n_sent} bytes were there before the first came");
            registry.lock.open();
        }
        n_read += piece.len() as u64;
        hasher.update(&piece);
    }
    let got = format!("sha256:{}", hex::encode(hasher.finalize()));
    assert_eq!((n_read, got), (n_bytes, registry.layer.clone()));
    let peak = memory::most(&weir) >> 10;
    println!(
        "{} MiB in {:?}, {peak} MiB at most, {resting} at rest",
        n_bytes >> 20,
        began.elapsed()
    );
    assert!(peak < MAX_WHILE_IT_PASSES, "{peak} MiB");
}

/// A list of npm as large as the largest that are common.
fn packument() -> Value {
    let version = |n: usize| {
        let number = format!("{}.{}.{}", n / 400, n / 20 % 20, n % 20);
        let files: Vec<_> = (0..12).map(|file| format!("lib/{n}/part-{file}.js")).collect();
        let more: serde_json::Map<_, _> = (0..8)
            .map(|of| (format!("helper-{of}"), json!(format!("^{of}.{}.0", n % 90))))
            .collect();
        let tarball = format!("/large/-/large-{number}.tgz");
        let value = json!({"name": "large", "version": number, "license": "MIT",
            "description": "What it is for, said in a sentence of the usual length.",
            "dependencies": more, "files": files, "scripts": {"test": "run all of the tests"},
            "dist": {"tarball": tarball, "shasum": format!("{n:040x}")}});
        (number, value)
    };
    let versions: serde_json::Map<_, _> = (0..N_VERSIONS).map(version).collect();
    let time: serde_json::Map<_, _> =
        versions.keys().map(|of| (of.clone(), json!("2020-01-01T00:00:00.000Z"))).collect();
    json!({"name": "large", "dist-tags": {"latest": "7.8.2"}, "versions": versions, "time": time})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_of_every_size_in_every_form_leave_little_memory() {
    let large = Bytes::from(packument().to_string());
    assert!((2 << 20..8 << 20).contains(&large.len()), "{} bytes", large.len());
    let file = |n: usize| {
        json!({"filename": format!("six-1.{n}.0.tar.gz"), "size": 1,
            "url": format!("/files/six-1.{n}.0.tar.gz"), "hashes": {"sha256": format!("{n:064x}")}})
    };
    let files: Vec<_> = (0..30).map(file).collect();
    let small = json!({"meta": {"api-version": "1.1"}, "name": "six", "files": files});
    let small = Bytes::from(small.to_string());
    let lists = Router::new().fallback(move |request: Request| {
        let (kind, body) = match request.uri().path() {
            "/npm/large" => ("application/json", large.clone()),
            "/simple/six/" => ("application/vnd.pypi.simple.v1+json", small.clone()),
            _ => ("text/plain", Bytes::from_static(b"what is not asked for")),
        };
        async move { ([(CONTENT_TYPE, kind)], body) }
    });
    let url = site::start(lists).await;
    let place = Place::on_a_test_database().await.upstream(&format!("{url}/simple/"));
    let place = place.setting(&format!("  npm:\n    upstream: {url}/npm/\n"));
    let weir = place.start(Part::Up).await;
    for (ecosystem, package, versions) in [("npm", "large", "^7"), ("pypi", "six", ">=1.20")] {
        let rule = json!({"ecosystem": ecosystem, "package": package, "versions": versions,
            "reason": "not looked at yet", "mask": "hide"});
        weir.client.post("/api/rules", &rule).await.has(201);
    }
    let (began, resting) = (Instant::now(), memory::now(&weir) >> 10);
    let forms = [
        ("/npm/large", "application/json"),
        ("/npm/large", "application/vnd.npm.install-v1+json"),
        ("/pypi/simple/six/", "application/vnd.pypi.simple.v1+json"),
        ("/pypi/simple/six/", "text/html"),
    ];
    let asked = &weir.client;
    // Four at once of each form, packed and not, again and again.
    for round in 0..3 {
        for encoding in ["identity", "gzip"] {
            let all = forms.iter().cycle().take(16).map(|(path, accept)| async move {
                let headers = [("accept", *accept), ("accept-encoding", encoding)];
                let answer = asked.request("GET", path, &headers).send().await;
                let answer = answer.expect("an answer");
                assert_eq!(answer.status(), 200, "{path} {accept} {encoding}, round {round}");
                assert!(answer.bytes().await.expect("a list").len() > 500, "{path} {accept}");
            });
            join_all(all).await;
        }
    }
    let now = memory::now(&weir) >> 10;
    println!("{now} MiB after {:?}, {resting} before", began.elapsed());
    assert!(now <= MAX_AFTER_LISTS, "{now} MiB, {resting} before");
}
