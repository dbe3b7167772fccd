//! Websites of a test's own, on loopback, until the test ends.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_LENGTH;
use tokio::{net::TcpListener, sync::Semaphore};
use weir_log::lifecycle::Lifecycle;

/// A place to serve at, and its address: `http://127.0.0.1:PORT`.
pub async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    (listener, url)
}

/// Serves something there.
pub fn serve(listener: TcpListener, router: Router) {
    Lifecycle::new().run("site", async move {
        axum::serve(listener, router).await.expect("serve");
    });
}

/// Serves something, and says where: `http://127.0.0.1:PORT`.
pub async fn start(router: Router) -> String {
    let (listener, url) = listen().await;
    serve(listener, router);
    url
}

/// What holds the second half of each body back until it is opened.
#[derive(Debug)]
pub struct Lock {
    n_sent: AtomicU64,
    gate: Semaphore,
}

impl Default for Lock {
    fn default() -> Self {
        Self { n_sent: AtomicU64::new(0), gate: Semaphore::new(0) }
    }
}

impl Lock {
    /// How many bytes have left, of the body that got furthest lately.
    pub fn n_sent(&self) -> u64 {
        self.n_sent.load(Ordering::SeqCst)
    }

    /// Lets everything go, also what is asked for later.
    pub fn open(&self) {
        self.gate.add_permits(1);
    }

    /// Answers with so many bytes, in pieces of the given size; `bytes` makes what stands in a range.
    pub fn answer(
        self: &Arc<Self>,
        n_bytes: u64,
        size: u64,
        bytes: impl Fn(Range<u64>) -> Bytes + Clone + Send + 'static,
    ) -> Response {
        let pieces = stream::unfold((Arc::clone(self), 0), move |(lock, at)| {
            let bytes = bytes.clone();
            async move {
                if at >= n_bytes {
                    return None;
                }
                if at >= n_bytes / 2 {
                    // Once it is open, it is open for all that comes.
                    drop(lock.gate.acquire().await.expect("a gate"));
                }
                let end = (at + size).min(n_bytes);
                lock.n_sent.store(end, Ordering::SeqCst);
                Some((Ok::<_, std::io::Error>(bytes(at..end)), (lock, end)))
            }
        });
        ([(CONTENT_LENGTH, n_bytes.to_string())], Body::from_stream(pieces)).into_response()
    }
}
