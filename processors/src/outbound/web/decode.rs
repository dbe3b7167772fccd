//! Bodies out of their encodings, piece by piece and never further than was asked for.
//!
//! A few kilobytes can stand for gigabytes: what is counted is what comes out, of every layer.

use std::{
    io::{self, BufRead as _, BufReader, Read},
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use flate2::{
    bufread::GzDecoder,
    read::{DeflateDecoder, ZlibDecoder},
};
use http::{HeaderMap, header::CONTENT_ENCODING};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// What a server is told that we can read.
pub(super) const ACCEPTED: &str = "gzip, br, zstd, deflate";

/// How many encodings may be wrapped around each other.
const MAX_LAYERS: usize = 2;
/// The largest window of zstd that a web server may use (RFC 9659).
const MAX_ZSTD_WINDOW_BYTES: u64 = 8 << 20;
/// How many frames, or members, an encoding may be made of.
const MAX_PIECES: usize = 1_000;
/// What an encoding may add to what it holds, in bytes.
pub(super) const SLACK_BYTES: usize = 64 << 10;
const PIECE_BYTES: usize = 32 << 10;
const BROTLI_BUFFER_BYTES: usize = 8 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The body is not what its encoding says, or the encoding is none that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Undecodable {
    pub(super) encoding: Box<str>,
}

/// A body out of its encodings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) body: Bytes,
    /// Whether there was more, or should have been.
    pub(super) cut: bool,
    /// Whether it ended within its encoding.
    pub(super) broken: bool,
}

/// Takes a body out of its encodings, up to a number of bytes.
pub(super) async fn decode(
    headers: &HeaderMap,
    wire: Bytes,
    cap_bytes: usize,
) -> Result<Decoded, Undecodable> {
    let (codings, encoding) = codings(headers)?;
    if codings.is_empty() || wire.is_empty() {
        let cut = wire.len() > cap_bytes;
        let body = wire.slice(..wire.len().min(cap_bytes));
        return Ok(Decoded { body, cut, broken: false });
    }
    let mut reader: Box<dyn Read + Send> = Box::new(io::Cursor::new(wire));
    let overflown = Arc::new(AtomicBool::new(false));
    for coding in codings.iter().rev() {
        let within = Within {
            inner: reader,
            left: cap_bytes + SLACK_BYTES,
            overflown: Arc::clone(&overflown),
        };
        reader = opened(*coding, within);
    }
    let (mut body, mut cut, mut broken) = (Vec::new(), false, false);
    let mut piece = vec![0; PIECE_BYTES];
    while !cut {
        match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => {
                let fits = n.min(cap_bytes - body.len());
                body.extend_from_slice(piece.get(..fits).unwrap_or_default());
                cut = fits < n;
            }
            Err(_) if body.is_empty() && !overflown.load(Ordering::Relaxed) => {
                return Err(Undecodable { encoding });
            }
            Err(_) => (cut, broken) = (true, !overflown.load(Ordering::Relaxed)),
        }
        // Others are to move on meanwhile, and so is the clock.
        tokio::task::yield_now().await;
    }
    cut |= overflown.load(Ordering::Relaxed);
    Ok(Decoded { body: body.into(), cut, broken })
}

/// The encodings of a body in the order they were applied, and the words that say so.
fn codings(headers: &HeaderMap) -> Result<(Vec<Coding>, Box<str>), Undecodable> {
    let lines = headers.get_all(CONTENT_ENCODING).iter();
    let lines = lines.map(|line| line.to_str().unwrap_or("unreadable"));
    let said = lines.collect::<Vec<_>>().join(", ");
    let encoding = || named(&said);
    let mut codings = Vec::new();
    for word in said.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        codings.push(match word.to_ascii_lowercase().as_str() {
            "identity" => continue,
            "gzip" | "x-gzip" => Coding::Gzip,
            "deflate" => Coding::Deflate,
            "br" => Coding::Brotli,
            "zstd" => Coding::Zstd,
            _ => return Err(Undecodable { encoding: encoding() }),
        });
    }
    if codings.len() > MAX_LAYERS {
        return Err(Undecodable { encoding: encoding() });
    }
    Ok((codings, encoding()))
}

/// The encodings by the names that everybody knows: what a server writes there is text of the server's.
fn named(said: &str) -> Box<str> {
    const KNOWN: [&str; 13] = [
        "aes128gcm",
        "aws-chunked",
        "br",
        "compress",
        "dcb",
        "dcz",
        "deflate",
        "exi",
        "gzip",
        "identity",
        "pack200-gzip",
        "x-gzip",
        "zstd",
    ];
    let words = said.split(',').map(|word| word.trim().to_ascii_lowercase());
    let known = |word: String| KNOWN.iter().find(|known| **known == word).copied();
    let words = words.map(|word| known(word).unwrap_or("another encoding"));
    words.take(2 * MAX_LAYERS).collect::<Vec<_>>().join(", ").into()
}

fn opened(coding: Coding, source: Within) -> Box<dyn Read + Send> {
    match coding {
        Coding::Gzip => Box::new(Pieces::<GzDecoder<Source>>::new(source)),
        Coding::Deflate => Box::new(Deflate::Unknown(Some(source))),
        Coding::Brotli => {
            Box::new(brotli_decompressor::Decompressor::new(source, BROTLI_BUFFER_BYTES))
        }
        Coding::Zstd => Box::new(Pieces::<StreamingDecoder<Source, FrameDecoder>>::new(source)),
    }
}

/// What one layer may read of the one below.
struct Within {
    inner: Box<dyn Read + Send>,
    left: usize,
    overflown: Arc<AtomicBool>,
}

impl Read for Within {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.overflown.store(true, Ordering::Relaxed);
            return Err(io::Error::other("an inner encoding goes on and on"));
        }
        let room = self.left.min(piece.len());
        let n = self.inner.read(piece.get_mut(..room).unwrap_or_default())?;
        self.left -= n;
        Ok(n)
    }
}

/// The standard means zlib by `deflate`; many servers send what is inside of it.
enum Deflate {
    Unknown(Option<Within>),
    Zlib(ZlibDecoder<io::Chain<io::Cursor<Vec<u8>>, Within>>),
    Bare(DeflateDecoder<io::Chain<io::Cursor<Vec<u8>>, Within>>),
}

impl Read for Deflate {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        if let Self::Unknown(source) = self {
            let mut source = source.take().ok_or(io::ErrorKind::UnexpectedEof)?;
            let mut head = Vec::new();
            source.by_ref().take(2).read_to_end(&mut head)?;
            let zlib =
                matches!(*head, [a, b] if a & 0x0f == 8 && u16::from_be_bytes([a, b]) % 31 == 0);
            let whole = io::Cursor::new(head).chain(source);
            *self = if zlib {
                Self::Zlib(ZlibDecoder::new(whole))
            } else {
                Self::Bare(DeflateDecoder::new(whole))
            };
        }
        match self {
            Self::Unknown(_) => Ok(0),
            Self::Zlib(reader) => reader.read(piece),
            Self::Bare(reader) => reader.read(piece),
        }
    }
}

/// What one frame of zstd, or one member of gzip, is read from.
type Source = BufReader<Within>;

/// A frame of zstd, or a member of gzip: others may follow it.
trait Piece: Read + Sized {
    fn open(source: Source) -> io::Result<Self>;

    /// What follows it.
    fn close(self) -> Source;
}

impl Piece for GzDecoder<Source> {
    fn open(source: Source) -> io::Result<Self> {
        Ok(Self::new(source))
    }

    fn close(self) -> Source {
        self.into_inner()
    }
}

impl Piece for StreamingDecoder<Source, FrameDecoder> {
    fn open(source: Source) -> io::Result<Self> {
        Self::new_with_max_window_size(source, MAX_ZSTD_WINDOW_BYTES).map_err(io::Error::other)
    }

    fn close(self) -> Source {
        self.into_inner()
    }
}

/// One piece after the other. They are bounded, too: of those that hold nothing a body may have hundreds
/// of thousands, and each is work.
struct Pieces<P> {
    now: Now<P>,
    left: usize,
    overflown: Arc<AtomicBool>,
}

enum Now<P> {
    Between(Option<Source>),
    Inside(Box<P>),
}

impl<P: Piece> Pieces<P> {
    fn new(source: Within) -> Self {
        let overflown = Arc::clone(&source.overflown);
        Self { now: Now::Between(Some(BufReader::new(source))), left: MAX_PIECES, overflown }
    }
}

impl<P: Piece> Read for Pieces<P> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        loop {
            match &mut self.now {
                Now::Between(source) => {
                    let Some(mut source) = source.take() else { return Ok(0) };
                    if source.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let Some(left) = self.left.checked_sub(1) else {
                        self.overflown.store(true, Ordering::Relaxed);
                        return Err(io::Error::other("an encoding has piece after piece"));
                    };
                    self.left = left;
                    self.now = Now::Inside(Box::new(P::open(source)?));
                }
                Now::Inside(inside) => {
                    let n = inside.read(piece)?;
                    if n > 0 || piece.is_empty() {
                        return Ok(n);
                    }
                    let Now::Inside(inside) = mem::replace(&mut self.now, Now::Between(None))
                    else {
                        return Ok(0);
                    };
                    self.now = Now::Between(Some(inside.close()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
