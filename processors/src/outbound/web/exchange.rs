//! One request and its answer over a connection that is used for nothing else.

use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::{connect::Stream, hop::leads_on};

/// How many headers an answer may have.
const MAX_HEADERS: usize = 100;
/// How large they may be together, in bytes. It is also the largest piece of a body.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// An answer as it came over the wire.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Nothing where the answer only says where the page is.
    pub(super) body: Bytes,
    /// Whether the body broke off, or went on.
    pub(super) cut: bool,
    /// Whether it broke off.
    pub(super) broken: bool,
}

/// Asks, and reads at most `cap_bytes` of the body.
pub(super) async fn exchange(
    stream: Box<dyn Stream>,
    request: Request<Full<Bytes>>,
    cap_bytes: usize,
) -> Result<Raw, hyper::Error> {
    let mut http = http1::Builder::new();
    http.max_headers(MAX_HEADERS).max_header_size(MAX_HEAD_BYTES).max_buf_size(MAX_HEAD_BYTES);
    let (mut sender, connection) = http.handshake(TokioIo::new(stream)).await?;
    let asking = async move {
        let (head, mut body) = sender.send_request(request).await?.into_parts();
        let (status, headers) = (head.status, head.headers);
        let (mut read, mut cut, mut broken) = (BytesMut::new(), false, false);
        while !cut && !leads_on(status, &headers) {
            match body.frame().await {
                None => break,
                Some(Err(_)) => (cut, broken) = (true, true),
                Some(Ok(frame)) => {
                    let Ok(piece) = frame.into_data() else { continue };
                    let fits = piece.len().min(cap_bytes - read.len());
                    read.extend_from_slice(piece.get(..fits).unwrap_or_default());
                    cut = fits < piece.len();
                }
            }
        }
        Ok(Raw { status, headers, body: read.freeze(), cut, broken })
    };
    let (mut asking, connection) = (pin!(asking), pin!(connection));
    // The connection moves only while it is asked to; both end together, also when nobody waits.
    tokio::select! {
        biased;
        raw = &mut asking => raw,
        ended = connection => asking.await.map_err(|cause| ended.err().unwrap_or(cause)),
    }
}
