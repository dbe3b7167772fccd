//! An upstream in this process, for what no public one has.

use std::{collections::HashMap, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{
        StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::Fault;

/// What a path answers.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// These bytes.
    Of { kind: &'static str, body: Bytes },
    /// So many zeros, which nobody has to keep.
    Zeros(u64),
}

/// It is gone when dropped.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) address: SocketAddr,
    server: JoinHandle<()>,
}

static CHUNK: [u8; 64 << 10] = [0; 64 << 10];

impl Origin {
    /// Serves these, by path.
    #[expect(clippy::disallowed_methods, reason = "aborted when it is dropped")]
    pub(super) async fn start(contents: HashMap<String, Content>) -> Result<Self, Fault> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let router = Router::new().fallback(answer).with_state(Arc::new(contents));
        let server = tokio::spawn(async move {
            // It ends when it is aborted.
            drop(axum::serve(listener, router).await);
        });
        Ok(Self { address, server })
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(all): State<Arc<HashMap<String, Content>>>, request: Request) -> Response {
    match all.get(request.uri().path()) {
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
