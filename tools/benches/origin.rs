//! An upstream in this process, for what no public one has.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{
        StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
    serve::ListenerExt as _,
};
use bytes::Bytes;
use futures_util::stream;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::Fault;

/// What a path answers.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// These bytes.
    Of { kind: &'static str, body: Bytes },
    /// So many zeros, which nobody has to keep.
    Zeros(u64),
}

/// It is gone when dropped.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    contents: HashMap<String, Content>,
    n_asked: AtomicUsize,
}

static CHUNK: [u8; 64 << 10] = [0; 64 << 10];

impl Origin {
    /// Serves these by path, whatever stands behind a `?`.
    #[expect(clippy::disallowed_methods, reason = "aborted when it is dropped")]
    pub(crate) async fn start(contents: HashMap<String, Content>) -> Result<Self, Fault> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { contents, n_asked: AtomicUsize::new(0) });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            // It ends when it is aborted.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            drop(axum::serve(listener, router).await);
        });
        Ok(Self { address, shared, server })
    }

    /// How often it was asked for anything so far.
    pub(crate) fn n_asked(&self) -> usize {
        self.shared.n_asked.load(Ordering::Relaxed)
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    shared.n_asked.fetch_add(1, Ordering::Relaxed);
    match shared.contents.get(request.uri().path()) {
        None => StatusCode::NOT_FOUND.into_response(),
        Some(Content::Of { kind, body }) => ([(CONTENT_TYPE, *kind)], body.clone()).into_response(),
        Some(Content::Zeros(n)) => {
            let zeros = stream::unfold(*n, |left| async move {
                let most = CHUNK.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                let chunk = Bytes::from_static(CHUNK.get(..most).unwrap_or_default());
                let next = left - u64::try_from(most).unwrap_or(left);
                (most > 0).then_some((Ok::<_, std::convert::Infallible>(chunk), next))
            });
            ([(CONTENT_LENGTH, n.to_string())], Body::from_stream(zeros)).into_response()
        }
    }
}
