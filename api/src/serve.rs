//! The HTTP/1.1 server: bounded connections, bounded waits, and an end that loses nothing.
//!
//! At the soft stop `/readyz` fails and event streams end with a closing frame; requests in flight
//! finish; what is left at the deadline is dropped.
//!
//! Driven by hyper itself, because its HTTP/1 connection is what honours
//! [`hyper::ext::ReasonPhrase`]: the one part of a refusal that pip and uv print.

mod stall;

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use tracing::{debug, info, warn};
use weir_log::lifecycle::Lifecycle;

use self::stall::Stall;
use crate::{
    peer::Peer,
    state::{ApiState, Settings},
};

/// How long a request's head may take to arrive, and an idle connection may stay open.
const HEAD_PATIENCE: Duration = Duration::from_secs(30);
/// How long a client may take nothing of an answer that waits for it.
const STALL_PATIENCE: Duration = Duration::from_mins(2);
/// What hyper may hold of one connection, in bytes: the head of a request, or an answer that waits.
const BUFFER_BYTES: usize = 32 << 10;
/// Headers of a request.
const MAX_HEADERS: usize = 100;
/// A pause after the system refused to accept, so that the refusal does not spin.
const BREATHER: Duration = Duration::from_millis(50);

/// Serves until the soft stop, and returns when every connection has ended.
pub async fn serve(listener: TcpListener, state: ApiState, router: Router) {
    accept(listener, state.settings(), state.lifecycle(), router).await;
}

async fn accept(listener: TcpListener, settings: &Settings, lifecycle: &Lifecycle, router: Router) {
    // Connections end when they have finished, not when everything else stops.
    let connections = lifecycle.child();
    let draining = CancellationToken::new();
    let places = Arc::new(Semaphore::new(settings.max_connections));
    let ending = async {
        lifecycle.soft().cancelled().await;
        tokio::time::sleep(settings.linger).await;
    };
    let mut ending = pin!(ending);
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = &mut ending => break,
            next = next => next,
        };
        match (place, accepted) {
            (Ok(place), Ok((stream, peer))) => {
                let connection = connection(stream, peer, router.clone(), draining.clone(), place);
                connections.run("connection", connection);
            }
            (_, Err(fault)) => {
                warn!(error = %fault, "could not accept a connection");
                tokio::time::sleep(BREATHER).await;
            }
            // The semaphore is ours and is never closed.
            (Err(_), _) => break,
        }
    }
    drop(listener);
    draining.cancel();
    let in_time = connections.stop(settings.drain).await;
    info!(in_time, "stopped serving");
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    draining: CancellationToken,
    place: OwnedSemaphorePermit,
) {
    if let Err(fault) = stream.set_nodelay(true) {
        debug!(%peer, error = %fault, "could not turn off delays");
    }
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer));
        router.clone().oneshot(request)
    });
    let io = TokioIo::new(Stall::new(stream, STALL_PATIENCE));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_headers(MAX_HEADERS)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(io, service);
    let mut served = pin!(served);
    let outcome = tokio::select! {
        outcome = served.as_mut() => outcome,
        () = draining.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(fault) = outcome {
        debug!(%peer, error = %fault, "a connection broke");
    }
    drop(place);
}

#[cfg(test)]
mod tests {
    use axum::{Extension, routing::get};
    use hyper::ext::ReasonPhrase;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpSocket,
        sync::Notify,
    };

    use super::*;

    /// A server of a few routes, and the way to it.
    struct Server {
        address: SocketAddr,
        lifecycle: Lifecycle,
        reached: Arc<Notify>,
        go_on: Arc<Notify>,
    }

    async fn server(settings: Settings) -> Server {
        let (reached, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (told, awaited) = (Arc::clone(&reached), Arc::clone(&go_on));
        let router = Router::new()
            .route("/peer", get(async |Extension(Peer(peer)): Extension<Peer>| peer.to_string()))
            .route("/no", get(async || Extension(ReasonPhrase::from_static(b"Too young"))))
            .route(
                "/slow",
                get(async move || {
                    told.notify_one();
                    awaited.notified().await;
                    "done"
                }),
            );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let lifecycle = Lifecycle::new();
        let heeded = lifecycle.clone();
        lifecycle.run("server", async move {
            accept(listener, &settings, &heeded, router).await;
        });
        Server { address, lifecycle, reached, go_on }
    }

    impl Server {
        async fn connect(&self) -> TcpStream {
            TcpSocket::new_v4().unwrap().connect(self.address).await.unwrap()
        }

        async fn ask(&self, path: &str) -> TcpStream {
            let mut client = self.connect().await;
            let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
            client.write_all(request.as_bytes()).await.unwrap();
            client
        }
    }

    async fn told(mut client: TcpStream) -> String {
        let mut answer = String::new();
        let read = client.read_to_string(&mut answer);
        tokio::time::timeout(Duration::from_secs(10), read).await.expect("an end").unwrap();
        answer
    }

    #[tokio::test]
    async fn a_request_in_flight_is_answered_and_an_idle_connection_is_closed_at_the_soft_stop() {
        let server = server(Settings::new([7; 32])).await;
        let idle = server.connect().await;
        let busy = server.ask("/slow").await;
        server.reached.notified().await;
        server.lifecycle.soft().cancel();
        assert_eq!(told(idle).await, "");
        server.go_on.notify_one();
        let answer = told(busy).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("done"), "{answer}");
        assert!(server.lifecycle.stop(Duration::from_secs(10)).await);
        assert!(TcpSocket::new_v4().unwrap().connect(server.address).await.is_err());
    }

    #[tokio::test]
    async fn what_does_not_finish_is_dropped_at_the_deadline() {
        let settings = Settings { drain: Duration::from_millis(1), ..Settings::new([7; 32]) };
        let server = server(settings).await;
        let busy = server.ask("/slow").await;
        server.reached.notified().await;
        assert!(server.lifecycle.stop(Duration::from_secs(10)).await);
        assert_eq!(told(busy).await, "");
    }

    #[tokio::test]
    async fn a_handler_knows_its_peer_and_may_word_its_own_reason() {
        let server = server(Settings::new([7; 32])).await;
        let asked = server.ask("/peer").await;
        let own = asked.local_addr().unwrap().to_string();
        let refused = server.ask("/no").await;
        let answers = [told(asked).await, told(refused).await];
        assert!(answers[0].ends_with(&own), "{}", answers[0]);
        assert!(answers[1].starts_with("HTTP/1.1 200 Too young\r\n"), "{}", answers[1]);
    }

    #[tokio::test]
    async fn more_connections_than_there_are_places_wait_for_one() {
        let settings = Settings { max_connections: 1, ..Settings::new([7; 32]) };
        let server = server(settings).await;
        let first = server.ask("/slow").await;
        server.reached.notified().await;
        let mut second = server.ask("/peer").await;
        let mut byte = [0; 1];
        let early = tokio::time::timeout(Duration::from_millis(50), second.read(&mut byte)).await;
        assert!(early.is_err(), "served before there was a place");
        drop(first);
        tokio::time::timeout(Duration::from_secs(10), second.read_exact(&mut byte))
            .await
            .expect("a place")
            .unwrap();
        assert_eq!(&byte, b"H");
    }
}
