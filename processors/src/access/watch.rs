//! Revocations, wherever they are made, are in force on this instance as soon as its tail hears of
//! them. While the tail hears nothing, memory is not trusted.

use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

use tokio::sync::broadcast;
use tracing::warn;
use weir_events::access::Event;
use weir_log::{lifecycle::Lifecycle, tail::TailFault};

use super::Tokens;

/// Events taken from the tail at once.
const BATCH: usize = 1_000;
/// How often the age of what is known is looked at while nothing happens.
const LOOK: Duration = Duration::from_millis(100);

/// What an open stream must hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    /// This token was revoked.
    Token(String),
    /// Any token may have been: the log was restored, and nobody can say what was in between.
    Perhaps,
}

impl Tokens {
    /// Follows the log for revocations, and tells `revoked` of each, so that open streams of its
    /// owner can be closed.
    pub fn follow(&self, revoked: broadcast::Sender<Revoked>, lifecycle: &Lifecycle) {
        let (tokens, soft) = (self.clone(), lifecycle.soft().clone());
        lifecycle.run("token watch", async move {
            soft.run_until_cancelled(tokens.watch(revoked)).await;
        });
    }

    async fn watch(&self, revoked: broadcast::Sender<Revoked>) {
        let log = self.inner.door.log();
        let mut tail = log.tail(log.head());
        loop {
            let age = log.hub().age();
            match tokio::time::timeout(LOOK, tail.next(BATCH)).await {
                Ok(Ok(events)) => {
                    for event in events {
                        let Some(Ok(Event::TokenRevoked(gone))) = event.decode::<Event>() else {
                            continue;
                        };
                        self.forget(&gone.token_id);
                        // Nobody listening is fine: no stream is open.
                        drop(revoked.send(Revoked::Token(gone.token_id)));
                    }
                }
                Ok(Err(TailFault::Stopped)) => return,
                // The tail stands where it stood; meanwhile memory grows too old to be trusted.
                Ok(Err(TailFault::Read(fault))) => {
                    warn!(error = %fault, "revocations cannot be read for the moment");
                    tokio::time::sleep(LOOK).await;
                    continue;
                }
                Ok(Err(fault @ TailFault::Resync { .. })) => {
                    warn!(error = %fault, "lost track of revocations; every token is checked anew");
                    self.verified().forget_all();
                    drop(revoked.send(Revoked::Perhaps));
                    tail = log.tail(log.head());
                    tokio::time::sleep(LOOK).await;
                    continue;
                }
                Err(_) => {}
            }
            // Everything up to the head was seen, and the head is known to have been the head.
            if tail.position() >= log.head()
                && let Some(at) = Instant::now().checked_sub(age)
            {
                let mut knew =
                    self.inner.knew_all_at.lock().unwrap_or_else(PoisonError::into_inner);
                *knew = at.max(*knew);
            }
        }
    }
}
