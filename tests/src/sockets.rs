//! A websocket of a test's own: says what it has to say to whoever comes, and counts who came.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpListener;
use tokio_tungstenite::{accept_async, tungstenite::Message};
use weir_log::lifecycle::Lifecycle;

/// A websocket. Ends with the test's runtime.
#[derive(Debug)]
pub struct Socket {
    /// Its address.
    pub url: String,
    /// Its port.
    pub port: u16,
    n_connected: Arc<AtomicUsize>,
}

impl Socket {
    /// Starts one that says these words to everybody, and listens until they go.
    ///
    /// # Panics
    /// When there is no port.
    pub async fn saying(words: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let n_connected = Arc::new(AtomicUsize::new(0));
        let (words, counter) =
            (words.iter().map(ToString::to_string).collect::<Vec<_>>(), Arc::clone(&n_connected));
        let lifecycle = Lifecycle::new();
        let each = lifecycle.clone();
        lifecycle.run("socket", async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (words, counter) = (words.clone(), Arc::clone(&counter));
                each.run("connection", async move {
                    let mut socket = accept_async(stream).await.expect("a handshake");
                    counter.fetch_add(1, Ordering::SeqCst);
                    for word in words {
                        socket.send(Message::text(word)).await.expect("say it");
                    }
                    while let Some(Ok(_)) = socket.next().await {}
                });
            }
        });
        Self { url: format!("ws://127.0.0.1:{port}/feed"), port, n_connected }
    }

    /// How many came.
    pub fn n_connected(&self) -> usize {
        self.n_connected.load(Ordering::SeqCst)
    }
}
