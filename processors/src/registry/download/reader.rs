//! Reads an artifact while it is still coming.

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt as _, sync::Arc};

use bytes::Bytes;
use futures_util::{Stream, stream};

use super::{DownloadFault, Opened, transfer::State};

/// How much is read at once: what a stream holds in memory.
const PIECE_BYTES: u64 = 256 << 10;

/// Streams a range of an artifact; without one, all of it. The last byte is not given before the
/// whole artifact is known to be right: a stream that ends well is always right.
pub fn read(
    opened: Opened,
    range: Option<Range<u64>>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let (at, end) = range.map_or((0, None), |range| (range.start, Some(range.end)));
    stream::try_unfold((opened, at), move |(mut opened, at)| async move {
        let Some((file, upto)) = readable(&mut opened, at, end).await? else { return Ok(None) };
        let length = (upto - at).min(PIECE_BYTES);
        let bytes = read_at(file, at, length).await?;
        let next = at + bytes.len() as u64;
        Ok(Some((bytes, (opened, next))))
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
            State::Asking => {}
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
