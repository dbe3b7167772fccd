//! Bodies that say when all of a file was sent: by that its version is known here, and by nothing else.

use std::{io, sync::Arc};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use weir_events::registry::FileDelivered;
use weir_log::lifecycle::Lifecycle;

use super::{Artifact, Gate, Voice};
use crate::{
    caller::Caller,
    registry::{answer::Body, cache::ArtifactCache, known::Known, ledger::Ledger},
};

/// What is to be put on record once all was sent.
struct Delivery {
    known: Known,
    ledger: Arc<Ledger>,
    lifecycle: Lifecycle,
    delivered: FileDelivered,
    caller: Caller,
}

impl Delivery {
    /// Nobody waits for the record.
    fn record(self) {
        let Self { known, ledger, lifecycle, delivered, caller } = self;
        lifecycle.run("delivered", async move {
            known.delivered(&ledger, delivered, &caller).await;
        });
    }
}

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// The body of a whole file, of a size that may be known.
    pub(super) fn whole(
        &self,
        pieces: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
        size: Option<u64>,
        artifact: &Artifact,
        caller: &Caller,
    ) -> Body {
        let Some(delivered) = artifact.delivery(self.ecosystem) else {
            return Body::Stream(pieces.boxed());
        };
        let delivery = Delivery {
            known: self.known.clone(),
            ledger: Arc::clone(&self.ledger),
            lifecycle: self.lifecycle.clone(),
            delivered,
            caller: caller.clone(),
        };
        Body::Stream(watched(pieces, size, || delivery.record()).boxed())
    }
}

/// The same pieces; once the last was taken, `all_sent`. Who knows the size takes no more than that, and
/// never asks for the end.
fn watched(
    pieces: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    size: Option<u64>,
    all_sent: impl FnOnce() + Send + 'static,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let start = (pieces.boxed(), 0_u64, Some(all_sent));
    stream::unfold(start, move |(mut pieces, sent, mut all_sent)| async move {
        match pieces.next().await {
            None => {
                // A stream that ends well is always right, and all of it was taken.
                if let Some(all_sent) = all_sent {
                    all_sent();
                }
                None
            }
            Some(Err(fault)) => Some((Err(fault), (pieces, sent, None))),
            Some(Ok(piece)) => {
                let sent = sent + piece.len() as u64;
                if size.is_some_and(|size| sent >= size)
                    && let Some(all_sent) = all_sent.take()
                {
                    all_sent();
                }
                Some((Ok(piece), (pieces, sent, all_sent)))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Whether all counts as sent, after so many pieces of this were taken.
    async fn sent(pieces: &[Result<&'static str, ()>], size: Option<u64>, n_taken: usize) -> bool {
        let all_sent = Arc::new(AtomicBool::new(false));
        let broken = |()| io::Error::other("broken off");
        let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        let pieces: Vec<_> = pieces.iter().map(|it| it.map(bytes).map_err(broken)).collect();
        let told = Arc::clone(&all_sent);
        let pieces = stream::iter(pieces);
        let mut watched = std::pin::pin!(watched(pieces, size, move || {
            told.store(true, Ordering::SeqCst);
        }));
        for _ in 0..n_taken {
            drop(watched.next().await);
        }
        all_sent.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn all_was_sent_once_the_last_byte_was_taken_and_never_where_it_broke_off() {
        let (whole, broken) = ([Ok("ab"), Ok("c")], [Ok("ab"), Err(())]);
        assert!(!sent(&whole, Some(3), 1).await);
        assert!(sent(&whole, Some(3), 2).await, "who knows the size asks for no end");
        assert!(!sent(&whole, None, 2).await);
        assert!(sent(&whole, None, 3).await, "who does not, asks for it");
        assert!(!sent(&broken, Some(3), 3).await);
        assert!(!sent(&broken, None, 3).await);
        assert!(sent(&[], None, 1).await);
    }
}
