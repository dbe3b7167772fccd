//! A client of `GET /api/events` that does nothing but read: what it costs is the server's.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::Fault;

/// What stands before the id of each event, and nowhere else: the data of an event is one line.
const ID: &[u8] = b"\nid: ";

/// An open stream of events.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// How much of [`ID`] the bytes read so far end with.
    matched: usize,
    /// The position in the id that is being read, and in the last one that was read to its end.
    reading: Option<i64>,
    position: i64,
}

impl Client {
    /// Opens a stream at the head, and returns when the server has begun it.
    pub(crate) async fn open(server: SocketAddr, token: &str) -> Result<Self, Fault> {
        #[expect(clippy::disallowed_methods, reason = "a client on loopback, not Weir going out")]
        let mut stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        let request = format!(
            "GET /api/events HTTP/1.1\r\nhost: {server}\r\nauthorization: Bearer {token}\r\n\
             accept: text/event-stream\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let buffer = vec![0; 64 << 10];
        let mut client = Self { stream, buffer, matched: 0, reading: None, position: 0 };
        let mut head = Vec::new();
        // The first frame says where the stream begins.
        while Self::matched_in(&head) == 0 {
            let n = client.stream.read(&mut client.buffer).await?;
            head.extend_from_slice(client.buffer.get(..n).unwrap_or_default());
            if n == 0 || !head.starts_with(b"HTTP/1.1 200".get(..head.len().min(12)).unwrap_or(b""))
            {
                let said = String::from_utf8_lossy(&head).chars().take(300).collect::<String>();
                return Err(format!("the server did not open a stream: {said}").into());
            }
        }
        client.matched = 0;
        Ok(client)
    }

    fn matched_in(bytes: &[u8]) -> usize {
        bytes.windows(ID.len()).filter(|window| *window == ID).count()
    }

    /// The position of the last event received.
    pub(crate) const fn position(&self) -> i64 {
        self.position
    }

    /// Waits for bytes; answers how many events began in them.
    pub(crate) async fn events(&mut self) -> Result<usize, Fault> {
        let n_bytes = self.stream.read(&mut self.buffer).await?;
        if n_bytes == 0 {
            return Err("the server closed a stream".into());
        }
        let mut n = 0;
        for &byte in self.buffer.get(..n_bytes).unwrap_or_default() {
            // The first byte occurs once in it, so a mismatch can only begin anew.
            self.matched = match ID.get(self.matched) {
                Some(&wanted) if wanted == byte => self.matched + 1,
                _ => usize::from(byte == b'\n'),
            };
            if self.matched == ID.len() {
                n += 1;
                self.matched = 0;
                self.reading = Some(0);
            } else if let Some(position) = self.reading {
                // `<incarnation>-<position>`
                self.reading = match byte {
                    b'0'..=b'9' => Some(position.wrapping_mul(10) + i64::from(byte - b'0')),
                    b'\n' => {
                        self.position = position;
                        None
                    }
                    _ => Some(0),
                };
            }
        }
        Ok(n)
    }
}
