//! Reads an artifact while it is still coming.

use std::{
    fs::File,
    io,
    ops::Range,
    os::unix::fs::FileExt as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use futures_util::{Stream, stream};

use super::{DownloadFault, Opened, transfer::State};

/// How much is read at once, at least and at most: what a stream holds in memory.
const PIECE_BYTES: (u64, u64) = (16 << 10, 256 << 10);

/// How much all streams hold in memory together, as long as pieces of the least size allow it.
const PIECES_BYTES: u64 = 8 << 20;

/// How many streams there are: memory is the process's, and so is their number.
static N_STREAMS: AtomicU64 = AtomicU64::new(0);

/// One of the streams there are.
#[derive(Debug)]
struct Counted;

impl Counted {
    fn new() -> Self {
        N_STREAMS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        N_STREAMS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How much to read at once: the more streams there are, the less.
fn piece_bytes(n_streams: u64) -> u64 {
    (PIECES_BYTES / n_streams.max(1)).clamp(PIECE_BYTES.0, PIECE_BYTES.1)
}

/// Streams a range of an artifact; without one, all of it. The last byte is not given before the
/// whole artifact is known to be right: a stream that ends well is always right.
pub fn read(
    opened: Opened,
    range: Option<Range<u64>>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let (at, end) = range.map_or((0, None), |range| (range.start, Some(range.end)));
    let counted = Counted::new();
    stream::try_unfold((opened, at, counted), move |(mut opened, at, counted)| async move {
        let Some((file, upto)) = readable(&mut opened, at, end).await? else { return Ok(None) };
        let length = (upto - at).min(piece_bytes(N_STREAMS.load(Ordering::Relaxed)));
        let bytes = read_at(file, at, length).await?;
        let next = at + bytes.len() as u64;
        Ok(Some((bytes, (opened, next, counted))))
    })
}

/// Waits until something can be read from `at` on, and says up to where; `None` at the end.
async fn readable(
    opened: &mut Opened,
    at: u64,
    end: Option<u64>,
) -> io::Result<Option<(Arc<File>, u64)>> {
    let whole = |file: &Arc<File>, size: u64| {
        let upto = end.map_or(size, |end| end.min(size));
        (at < upto).then(|| (Arc::clone(file), upto))
    };
    let transfer = match opened {
        Opened::Kept(cached) => return Ok(whole(&cached.file, cached.meta.size)),
        Opened::Coming(transfer) => transfer,
    };
    loop {
        match &*transfer.state.borrow_and_update() {
            State::Kept(cached) => return Ok(whole(&cached.file, cached.meta.size)),
            State::Done { file, size, .. } => return Ok(whole(file, *size)),
            State::Failed(fault) => return Err(io::Error::other(fault.to_string())),
            State::Coming { file, available, .. } => {
                let upto = end.map_or(*available, |end| (*available).min(end.saturating_sub(1)));
                if at < upto {
                    return Ok(Some((Arc::clone(file), upto)));
                }
            }
            State::Looking | State::Asking => {}
        }
        let gone = |_| io::Error::other(DownloadFault::Stopping.to_string());
        transfer.state.changed().await.map_err(gone)?;
    }
}

async fn read_at(file: Arc<File>, at: u64, length: u64) -> io::Result<Bytes> {
    let reading = move || {
        let mut piece = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file.read_exact_at(&mut piece, at)?;
        Ok(Bytes::from(piece))
    };
    tokio::task::spawn_blocking(reading).await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_streams_there_are_the_less_each_reads_at_once() {
        for (n_streams, bytes) in [
            (0, 256 << 10),
            (1, 256 << 10),
            (32, 256 << 10),
            (64, 128 << 10),
            (500, 16_777),
            (9_999, 16 << 10),
        ] {
            assert_eq!(piece_bytes(n_streams), bytes, "{n_streams}");
        }
    }
}
