//! A website of a test's own: counts who asks for what, and holds answers back where a test says so.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt as _, stream};
use http::{HeaderName, HeaderValue, StatusCode};
use tokio::{net::TcpListener, sync::Semaphore};

use crate::site;

/// A website. Ends with the test's runtime.
#[derive(Debug)]
pub struct Outside {
    /// Its address, without a slash at its end.
    pub url: String,
    /// Its port.
    pub port: u16,
    shared: Arc<Mutex<Shared>>,
}

/// What it answers at a path.
#[derive(Debug, Clone)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Bytes,
    /// Whether the connection ends behind it, before the answer does.
    pub breaks_off: bool,
}

#[derive(Debug, Default)]
struct Shared {
    pages: HashMap<String, Page>,
    asked: Vec<String>,
    /// What every answer waits for.
    gate: Option<Arc<Semaphore>>,
}

impl Page {
    /// A page of HTML.
    pub fn html(body: &str) -> Self {
        let headers = vec![("content-type", "text/html; charset=utf-8".to_owned())];
        Self { status: 200, headers, body: Bytes::from(body.to_owned()), breaks_off: false }
    }

    /// A redirect.
    pub fn redirect(to: &str) -> Self {
        let headers = vec![("location", to.to_owned())];
        Self { status: 302, headers, body: Bytes::new(), breaks_off: false }
    }

    /// The same page, with a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

impl Outside {
    /// Starts one that answers every path with a sentence about itself.
    ///
    /// # Panics
    /// When there is no port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let shared = Arc::new(Mutex::new(Shared::default()));
        serve(listener, &shared);
        Self { url: format!("http://127.0.0.1:{port}"), port, shared }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers at another address of this machine, too; answers where, without a slash at the end.
    ///
    /// # Panics
    /// When the port is taken there.
    pub async fn also_at(&self, ip: &str) -> String {
        let listener = TcpListener::bind((ip, self.port)).await.expect("the port");
        serve(listener, &self.shared);
        format!("http://{ip}:{}", self.port)
    }

    /// Puts a page at a path.
    pub fn put(&self, path: &str, page: Page) {
        self.shared().pages.insert(path.to_owned(), page);
    }

    /// The page at a path.
    ///
    /// # Panics
    /// When none was put there.
    pub fn page(&self, path: &str) -> Page {
        self.shared().pages.get(path).cloned().expect("a page")
    }

    /// How often a path was asked for.
    pub fn asked(&self, path: &str) -> usize {
        self.shared().asked.iter().filter(|asked| *asked == path).count()
    }

    /// How often it was asked for anything.
    pub fn n_asked(&self) -> usize {
        self.shared().asked.len()
    }

    /// From now on every answer waits, until the semaphore has a permit for it.
    pub fn hold(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        self.shared().gate = Some(Arc::clone(&gate));
        gate
    }

    /// From now on nothing waits.
    pub fn release(&self) {
        self.shared().gate = None;
    }
}

fn serve(listener: TcpListener, shared: &Arc<Mutex<Shared>>) {
    let router = Router::new().fallback(answer).with_state(Arc::clone(shared));
    site::serve(listener, router);
}

async fn answer(State(shared): State<Arc<Mutex<Shared>>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let (page, gate) = {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.asked.push(path.clone());
        (shared.pages.get(&path).cloned(), shared.gate.clone())
    };
    if let Some(gate) = gate {
        gate.acquire().await.expect("the gate").forget();
    }
    let page = page.unwrap_or_else(|| {
        Page::html(&format!("<title>{path}</title><p>This is the page at {path}.</p>"))
    });
    let status = StatusCode::from_u16(page.status).expect("a status");
    let body = page.body;
    let body = if page.breaks_off {
        // What there is goes out when nothing more is there at once.
        let end = async {
            tokio::task::yield_now().await;
            Err(io::Error::other("the connection ends"))
        };
        Body::from_stream(stream::once(async { Ok(body) }).chain(stream::once(end)))
    } else {
        Body::from(body)
    };
    let mut response = (status, body).into_response();
    for (name, value) in page.headers {
        let value = HeaderValue::try_from(value).expect("a value");
        response.headers_mut().append(HeaderName::from_static(name), value);
    }
    response
}
