//! An upstream in this process: answers what a test put there, counts who asked.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderName, StatusCode, header::CONTENT_LENGTH};
use tokio::{net::TcpListener, sync::Semaphore};
use weir_log::lifecycle::Lifecycle;

use crate::outbound::Url;

/// What is answered at one path.
#[derive(Debug, Clone)]
pub(crate) struct Canned {
    status: StatusCode,
    headers: Vec<(HeaderName, String)>,
    pieces: Vec<Bytes>,
    /// One permit for each piece.
    gate: Option<Arc<Semaphore>>,
    /// A permit for each answer, also for one that nothing has changed.
    held: Option<Arc<Semaphore>>,
    breaks_off: bool,
    /// What it says its length is, where it says so although it comes in pieces.
    announced: Option<usize>,
}

impl Canned {
    pub(crate) fn new(body: impl Into<Bytes>) -> Self {
        Self {
            status: StatusCode::OK,
            headers: Vec::new(),
            pieces: vec![body.into()],
            gate: None,
            held: None,
            breaks_off: false,
            announced: None,
        }
    }

    pub(crate) fn status(status: StatusCode) -> Self {
        Self { status, ..Self::new("sorry") }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// In pieces, each of which waits for a permit.
    pub(crate) fn gated(pieces: &[&[u8]], gate: &Arc<Semaphore>) -> Self {
        let pieces = pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect();
        Self { pieces, gate: Some(Arc::clone(gate)), ..Self::new("") }
    }

    /// Held back as a whole until there is a permit, also where nothing has changed.
    pub(crate) fn held(mut self, gate: &Arc<Semaphore>) -> Self {
        self.held = Some(Arc::clone(gate));
        self
    }

    pub(crate) fn announcing(mut self, n_bytes: usize) -> Self {
        self.announced = Some(n_bytes);
        self
    }

    pub(crate) fn breaking_off(mut self) -> Self {
        self.breaks_off = true;
        self
    }
}

#[derive(Debug, Default)]
struct Inner {
    canned: HashMap<String, Canned>,
    asked: Vec<(String, String, HeaderMap)>,
    /// The last query of each path.
    queries: HashMap<String, String>,
}

type Shared = Arc<Mutex<Inner>>;

#[derive(Debug, Clone)]
pub(crate) struct Fake {
    base: Url,
    inner: Shared,
}

impl Fake {
    pub(crate) async fn start(lifecycle: &Lifecycle) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let inner = Shared::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&inner));
        lifecycle.run("fake upstream", async move {
            axum::serve(listener, router).await.unwrap();
        });
        Self { base, inner }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        self.base.join(path).unwrap()
    }

    pub(crate) fn put(&self, path: &str, canned: Canned) {
        self.inner.lock().unwrap().canned.insert(path.to_owned(), canned);
    }

    pub(crate) fn remove(&self, path: &str) {
        self.inner.lock().unwrap().canned.remove(path);
    }

    /// How often a path was asked for.
    pub(crate) fn n_asked(&self, path: &str) -> usize {
        self.inner.lock().unwrap().asked.iter().filter(|(_, asked, _)| asked == path).count()
    }

    /// Every path that was asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.inner.lock().unwrap().asked.iter().map(|(_, path, _)| path.clone()).collect()
    }

    /// The last query that a path was asked with.
    pub(crate) fn last_query(&self, path: &str) -> Option<String> {
        self.inner.lock().unwrap().queries.get(path).cloned()
    }

    /// The headers of the last request for a path.
    pub(crate) fn last_headers(&self, path: &str) -> HeaderMap {
        let inner = self.inner.lock().unwrap();
        inner.asked.iter().rev().find(|(_, asked, _)| asked == path).unwrap().2.clone()
    }
}

async fn answer(State(inner): State<Shared>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let canned = {
        let mut inner = inner.lock().unwrap();
        let method = request.method().to_string();
        inner.asked.push((method, path.clone(), request.headers().clone()));
        if let Some(query) = request.uri().query() {
            inner.queries.insert(path.clone(), query.to_owned());
        }
        inner.canned.get(&path).cloned()
    };
    let mut response = Response::builder();
    let Some(canned) = canned else {
        return response.status(StatusCode::NOT_FOUND).body(Body::from("nothing here")).unwrap();
    };
    if let Some(held) = &canned.held {
        held.acquire().await.unwrap().forget();
    }
    let unchanged = canned.headers.iter().any(|(name, value)| {
        name == http::header::ETAG
            && request
                .headers()
                .get(http::header::IF_NONE_MATCH)
                .is_some_and(|known| known == value)
    });
    if unchanged {
        return response.status(StatusCode::NOT_MODIFIED).body(Body::empty()).unwrap();
    }
    for (name, value) in &canned.headers {
        response = response.header(name, value);
    }
    response = response.status(canned.status);
    if let Some(length) = canned.announced {
        response = response.header(CONTENT_LENGTH, length);
    }
    if request.method() == http::Method::HEAD {
        let length: usize = canned.pieces.iter().map(Bytes::len).sum();
        return response.header(CONTENT_LENGTH, length).body(Body::empty()).unwrap();
    }
    let Canned { pieces, gate, breaks_off, .. } = canned;
    if gate.is_none() && !breaks_off {
        return response.body(Body::from(pieces.concat())).unwrap();
    }
    let end = breaks_off.then(|| Err(io::Error::other("the cable is cut")));
    let pieces = pieces.into_iter().map(Ok).chain(end);
    let body = stream::unfold((pieces, gate), |(mut pieces, gate)| async move {
        let piece = pieces.next()?;
        if let Some(gate) = &gate {
            gate.acquire().await.unwrap().forget();
        }
        Some((piece, (pieces, gate)))
    });
    response.body(Body::from_stream(body)).unwrap()
}
