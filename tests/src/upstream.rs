//! A Python index of a test's own: counts who asks for what, and can hold a file back in the middle.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use http::{
    StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH},
};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use crate::site;

/// An index. Ends with the test's runtime.
#[derive(Debug)]
pub struct Index {
    /// The address of its pages: what `registries.pypi.upstream` is to be.
    pub simple: String,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    files: HashMap<String, Lying>,
    asked: Vec<String>,
    /// What second halves of files wait for.
    gate: Option<Arc<Semaphore>>,
    down: bool,
}

#[derive(Debug, Clone)]
struct Lying {
    kind: &'static str,
    body: Bytes,
}

/// The bytes of a file.
pub fn content(file: &str) -> Vec<u8> {
    file.bytes().cycle().take(100_000).collect()
}

impl Index {
    /// Starts one that has nothing.
    pub async fn start() -> Self {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let simple = format!("{}/simple/", site::start(router).await);
        Self { simple, shared }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a project with these versions, and no others.
    pub fn project(&self, name: &str, versions: &[&str]) {
        let mut files = Vec::new();
        for version in versions {
            let file = format!("{name}-{version}.tar.gz");
            let body = content(&file);
            files.push(json!({
                "filename": file, "url": format!("../../files/{file}"), "size": body.len(),
                "hashes": {"sha256": hex::encode(Sha256::digest(&body))},
            }));
            let lying = Lying { kind: "application/octet-stream", body: body.into() };
            self.shared().files.insert(format!("/files/{file}"), lying);
        }
        let page = json!({"meta": {"api-version": "1.1"}, "name": name, "versions": versions,
            "files": files});
        let kind = "application/vnd.pypi.simple.v1+json";
        let lying = Lying { kind, body: page.to_string().into() };
        self.shared().files.insert(format!("/simple/{name}/"), lying);
    }

    /// Publishes a project with one wheel, beside which its metadata lie.
    pub fn wheel(&self, name: &str, version: &str) {
        let file = format!("{name}-{version}-py3-none-any.whl");
        let (body, metadata) = (content(&file), format!("Name: {name}\nVersion: {version}\n"));
        let of = |bytes: &[u8]| json!({"sha256": hex::encode(Sha256::digest(bytes))});
        let page = json!({"meta": {"api-version": "1.1"}, "name": name, "versions": [version],
            "files": [{"filename": file, "url": format!("../../files/{file}"),
                "size": body.len(), "hashes": of(&body), "core-metadata": of(metadata.as_bytes())}]});
        let kind = "application/vnd.pypi.simple.v1+json";
        for (path, kind, body) in [
            (format!("/files/{file}"), "application/octet-stream", Bytes::from(body)),
            (format!("/files/{file}.metadata"), "text/plain", Bytes::from(metadata)),
            (format!("/simple/{name}/"), kind, Bytes::from(page.to_string())),
        ] {
            self.shared().files.insert(path, Lying { kind, body });
        }
    }

    /// How often something was asked for: `/simple/six/`, `/files/six-1.16.0.tar.gz`.
    pub fn asked(&self, path: &str) -> usize {
        self.shared().asked.iter().filter(|asked| *asked == path).count()
    }

    /// From now on files stop in their middle, until the semaphore has a permit for each.
    pub fn hold(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        self.shared().gate = Some(Arc::clone(&gate));
        gate
    }

    /// From now on it fails, or no more.
    pub fn down(&self, down: bool) {
        self.shared().down = down;
    }
}

async fn answer(State(shared): State<Arc<Mutex<Shared>>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let (found, gate, down) = {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.asked.push(path.clone());
        let gate = shared.gate.clone().filter(|_| path.starts_with("/files/"));
        (shared.files.get(&path).cloned(), gate, shared.down)
    };
    if down {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let Some(Lying { kind, body }) = found else {
        return (StatusCode::NOT_FOUND, "nothing here").into_response();
    };
    let etag = format!("\"{}\"", hex::encode(Sha256::digest(&body)));
    if request.headers().get(IF_NONE_MATCH).is_some_and(|known| known == etag.as_str()) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let head = [(CONTENT_TYPE, kind.to_owned()), (ETAG, etag)];
    let Some(gate) = gate else { return (head, body).into_response() };
    let length = [(CONTENT_LENGTH, body.len().to_string())];
    let middle = body.len() / 2;
    let halves = [body.slice(..middle), body.slice(middle..)].into_iter().enumerate();
    let halves = stream::unfold((halves, gate), |(mut halves, gate)| async move {
        let (n, half) = halves.next()?;
        if n > 0 {
            gate.acquire().await.ok()?.forget();
        }
        Some((Ok::<_, std::io::Error>(half), (halves, gate)))
    });
    (head, length, Body::from_stream(halves)).into_response()
}
