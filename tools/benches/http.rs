//! Clients: one that asks as it is told to, and one that costs next to nothing.

use std::{net::SocketAddr, time::Duration};

use reqwest::Client;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::Fault;

/// How long one answer may take: some of the others need seconds for their first.
const PATIENCE: Duration = Duration::from_mins(2);
/// What ends the head of an answer.
const END: &[u8] = b"\r\n\r\n";

/// A client that asks as it is told to, and unpacks nothing.
#[expect(clippy::disallowed_methods, reason = "what clients do, not Weir going out")]
pub(crate) fn client() -> Result<Client, Fault> {
    // Another part of the program may have chosen it already.
    drop(rustls::crypto::ring::default_provider().install_default());
    Ok(Client::builder().timeout(PATIENCE).build()?)
}

/// A connection that stays open. It sends what it is given and reads answers to their end, no more:
/// what a request costs is the server's.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(server: SocketAddr) -> Result<Self, Fault> {
        #[expect(clippy::disallowed_methods, reason = "a client on loopback, not Weir going out")]
        let stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(256 << 10) })
    }

    /// Sends a request and reads its answer, which has to be a good one; the body of it.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<&[u8], Fault> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let body = loop {
            self.more().await?;
            let end = self.buffer.windows(END.len()).position(|window| window == END);
            if let Some(end) = end {
                break end + END.len();
            }
        };
        let head = self.buffer.get(..body).unwrap_or_default();
        let head = String::from_utf8_lossy(head).into_owned();
        let n_bytes = length(&head).ok_or_else(|| format!("an answer without a length: {head}"))?;
        let good = head.starts_with("HTTP/1.1 200");
        while self.buffer.len() < body + n_bytes {
            self.more().await?;
        }
        let body = self.buffer.get(body..).unwrap_or_default();
        if good { Ok(body) } else { Err(String::from_utf8_lossy(body).into_owned().into()) }
    }

    async fn more(&mut self) -> Result<(), Fault> {
        let read = tokio::time::timeout(PATIENCE, self.stream.read_buf(&mut self.buffer));
        if read.await?? == 0 { Err("the server closed a connection".into()) } else { Ok(()) }
    }
}

/// How long the body is, by the head of an answer.
fn length(head: &str) -> Option<usize> {
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    })
}
