//! Clients of HTTP/1.0, as some proxies are: an answer without a size ends for them as one does that
//! breaks off.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use http::{StatusCode, header::CONTENT_TYPE};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpSocket,
    sync::Semaphore,
};
use weir_tests::{
    site,
    weir::{Part, Place, Weir},
};

/// What both files are promised to be.
const PROMISED: &[u8] = b"good!";

/// An index that tells no sizes; the last piece of each file waits for a permit.
async fn index() -> (String, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let router = Router::new().fallback(answer).with_state(Arc::clone(&gate));
    let simple = format!("{}/simple/", site::start(router).await);
    (simple, gate)
}

async fn answer(State(gate): State<Arc<Semaphore>>, request: Request) -> Response {
    let pieces = match request.uri().path() {
        "/simple/six/" => {
            let file = |name: &str| {
                json!({"filename": name, "url": format!("/files/{name}"),
                    "hashes": {"sha256": hex::encode(Sha256::digest(PROMISED))}})
            };
            let files = [file("six-1.0.tar.gz"), file("six-2.0.tar.gz")];
            let page = json!({"meta": {"api-version": "1.1"}, "name": "six", "files": files});
            let kind = "application/vnd.pypi.simple.v1+json";
            return ([(CONTENT_TYPE, kind)], page.to_string()).into_response();
        }
        "/files/six-1.0.tar.gz" => ["go", "od", "!"],
        "/files/six-2.0.tar.gz" => ["ev", "il", "!"],
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let pieces = stream::unfold((pieces.into_iter(), gate), |(mut pieces, gate)| async move {
        let piece = pieces.next()?;
        if pieces.len() == 0 {
            gate.acquire().await.ok()?.forget();
        }
        Some((Ok::<_, std::io::Error>(Bytes::from_static(piece.as_bytes())), (pieces, gate)))
    });
    Body::from_stream(pieces).into_response()
}

/// All that comes for a request.
async fn asked(weir: &Weir, token: &str, version: &str, path: &str) -> String {
    let address = weir.url.strip_prefix("http://").expect("an address").parse().expect("one");
    let socket = TcpSocket::new_v4().expect("a socket");
    let mut client = socket.connect(address).await.expect("a connection");
    let request = format!(
        "GET {path} HTTP/{version}\r\nhost: weir\r\nconnection: close\r\n\
         authorization: Bearer {token}\r\n\r\n"
    );
    client.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.expect("an answer");
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_http_1_0_is_never_sent_a_part_of_a_file_that_ends_like_a_whole_one() {
    let (simple, gate) = index().await;
    let place = Place::on_a_test_database().await.upstream(&simple);
    let weir = place.start(Part::Up).await;
    let token = place.token().expect("a token");
    let (right, wrong) = ("/pypi/files/six/six-1.0.tar.gz", "/pypi/files/six/six-2.0.tar.gz");

    // By HTTP/1.1 it is clear that there is no end.
    gate.add_permits(1);
    let broken = asked(&weir, &token, "1.1", wrong).await;
    assert!(!broken.contains("200 OK") || !broken.ends_with("0\r\n\r\n"), "{broken}");

    gate.add_permits(1);
    let refused = asked(&weir, &token, "1.0", wrong).await;
    assert!(refused.contains(" 502 ") && refused.contains("do not fit"), "{refused}");
    gate.add_permits(1);
    let whole = asked(&weir, &token, "1.0", right).await;
    assert!(whole.contains(" 200 OK") && whole.contains("content-length: 5\r\n"), "{whole}");
    assert!(whole.ends_with("\r\n\r\ngood!"), "{whole}");
    weir.stop().await;
}
