//! A bucket of advisories as OSV has it, in the process of the test: one archive for each ecosystem.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{
    StatusCode,
    header::{ETAG, IF_NONE_MATCH},
};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Mutex as Gate, OwnedMutexGuard},
    task::JoinHandle,
};

/// A running bucket; gone when dropped.
#[derive(Debug)]
pub struct Bucket {
    /// Its address.
    pub url: String,
    shared: Arc<Mutex<Shared>>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    archives: HashMap<String, Bytes>,
    broken: Option<StatusCode>,
    n_answered: HashMap<u16, usize>,
    n_asked: usize,
    gate: Arc<Gate<()>>,
}

/// A record about version 1.0.0 of a package.
pub fn record(id: &str, ecosystem: &str, package: &str, more: Value) -> (String, String) {
    let mut record = json!({
        "id": id,
        "modified": "2026-11-01T00:00:00Z",
        "summary": format!("malicious code in {package}"),
        "affected": [{"package": {"ecosystem": ecosystem, "name": package},
            "versions": ["1.0.0"]}],
    });
    if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
        record.extend(more);
    }
    (id.to_owned(), record.to_string())
}

impl Bucket {
    /// Starts an empty one.
    #[expect(clippy::disallowed_methods, reason = "aborted when the bucket is dropped")]
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("its address"));
        let shared = Arc::<Mutex<Shared>>::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("serve the bucket");
        });
        Self { url, shared, server }
    }

    /// Puts the archive of an ecosystem, by OSV's name for it.
    pub fn put(&self, ecosystem: &str, records: &[(String, String)]) {
        let archive = Bytes::from(zip(records));
        let path = format!("/{ecosystem}/all.zip");
        self.lock().archives.insert(path, archive);
    }

    /// Answers everything with this status, or again as it should.
    pub fn breaks(&self, status: Option<u16>) {
        self.lock().broken = status.map(|status| StatusCode::from_u16(status).expect("a status"));
    }

    /// Lets everybody wait for their answers until what it gives is dropped.
    pub async fn holds(&self) -> OwnedMutexGuard<()> {
        let gate = Arc::clone(&self.lock().gate);
        gate.lock_owned().await
    }

    /// How often it was asked for something.
    pub fn n_asked(&self) -> usize {
        self.lock().n_asked
    }

    /// How often it has answered with a status.
    pub fn n_answered(&self, status: u16) -> usize {
        self.lock().n_answered.get(&status).copied().unwrap_or(0)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(shared): State<Arc<Mutex<Shared>>>, request: Request) -> Response {
    let gate = {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.n_asked += 1;
        Arc::clone(&shared.gate)
    };
    drop(gate.lock().await);
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let archive = shared.archives.get(request.uri().path()).cloned();
    let answer = match (shared.broken, archive) {
        (Some(status), _) => status.into_response(),
        (None, None) => StatusCode::NOT_FOUND.into_response(),
        (None, Some(archive)) => {
            let tag = format!("\"{}\"", &blake3::hash(&archive).to_hex()[..16]);
            if request.headers().get(IF_NONE_MATCH).is_some_and(|known| known == tag.as_str()) {
                StatusCode::NOT_MODIFIED.into_response()
            } else {
                ([(ETAG, tag)], archive).into_response()
            }
        }
    };
    *shared.n_answered.entry(answer.status().as_u16()).or_default() += 1;
    answer
}

/// An archive of records, stored as they are.
pub fn zip(records: &[(String, String)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    let short = |n: usize| u16::try_from(n).expect("a short").to_le_bytes();
    let long = |n: usize| u32::try_from(n).expect("a long").to_le_bytes();
    for (id, body) in records {
        let (name, offset) = (format!("{id}.json"), archive.len());
        let mut crc = flate2::Crc::new();
        crc.update(body.as_bytes());
        let mut common = [20, 0, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
        common.extend(crc.sum().to_le_bytes());
        common.extend(long(body.len()));
        common.extend(long(body.len()));
        common.extend(short(name.len()));
        common.extend([0, 0]);
        archive.extend(b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(name.as_bytes());
        archive.extend(body.as_bytes());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(long(offset));
        directory.extend(name.as_bytes());
    }
    // The number of entries has 16 bits: more need the wide form.
    let (n, size, offset) = (records.len(), directory.len(), archive.len());
    archive.extend(directory);
    if n >= 0xffff {
        let end = archive.len() as u64;
        archive.extend(b"PK\x06\x06");
        archive.extend(44_u64.to_le_bytes());
        archive.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [n, n, size, offset] {
            archive.extend((number as u64).to_le_bytes());
        }
        archive.extend(b"PK\x06\x07\0\0\0\0");
        archive.extend(end.to_le_bytes());
        archive.extend([1, 0, 0, 0]);
    }
    archive.extend(b"PK\x05\x06\0\0\0\0");
    let n = u16::try_from(n).unwrap_or(u16::MAX).to_le_bytes();
    archive.extend(n);
    archive.extend(n);
    archive.extend(long(size));
    archive.extend(long(offset));
    archive.extend([0, 0]);
    archive
}
