//! Hears what is stored and forgotten, by whichever instance.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tracing::warn;
use weir_events::{envelope::Recorded, position::Cursor, web::Event};
use weir_log::{
    lifecycle::Lifecycle,
    tail::{Tail, TailFault},
};
use weir_projections::web::cache::Identity;

use super::{Gap, Pages, of_event};

/// Events taken from the tail at once.
const BATCH: usize = 1_000;
/// The pause after something went wrong.
const RETRY: Duration = Duration::from_millis(500);
/// How often, and for how long, one looks whether the read model has come to where the tail began, so
/// that nobody who wants a page has to. It may be another process's, or nobody's: it is asked for, and
/// not without a pause.
const LOOK: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(100));

pub(super) fn start(pages: &Pages, lifecycle: &Lifecycle) {
    let (pages, soft) = (pages.clone(), lifecycle.soft().clone());
    // From before anybody asks: what is stored from here on is heard.
    let tail = follow(&pages);
    let (own, stop) = (pages.clone(), soft.clone());
    lifecycle.run("cached pages, caught up", async move {
        stop.run_until_cancelled(catch_up(&own)).await;
    });
    lifecycle.run("cached pages", async move {
        soft.run_until_cancelled(run(&pages, tail)).await;
    });
}

async fn catch_up(pages: &Pages) {
    let (every, patience) = LOOK;
    let mut gaps = pages.inner.gap.subscribe();
    // The sender lives as long as the pages do.
    while let Ok(open) = gaps.wait_for(Option::is_some).await.map(|gap| *gap) {
        let Some(gap) = open else { continue };
        if !pages.closes(gap, patience).await {
            tokio::time::sleep(every).await;
        }
    }
}

fn follow(pages: &Pages) -> Tail {
    let log = pages.inner.door.log();
    let began = log.head();
    pages.inner.gap.send_replace(Some(Gap { began, since: Instant::now() }));
    pages.inner.heard.send_replace(began);
    log.tail(Cursor { incarnation: Some(log.incarnation()), position: began })
}

async fn run(pages: &Pages, mut tail: Tail) {
    loop {
        match tail.next(BATCH).await {
            Ok(batch) => {
                for event in &batch {
                    hear(pages, event);
                }
                if let Some(last) = batch.last() {
                    pages.inner.heard.send_replace(last.position);
                }
            }
            Err(TailFault::Stopped) => return,
            Err(TailFault::Read(fault)) => {
                // It goes on where it was: nothing is missed.
                warn!(error = %fault, "cached pages are not followed for the moment");
                tokio::time::sleep(RETRY).await;
            }
            Err(fault @ TailFault::Resync { .. }) => {
                warn!(error = %fault, "cached pages are forgotten and asked for anew");
                // Before anybody is told that all is heard of.
                pages.inner.forgotten.begin_anew();
                tail = follow(pages);
                pages.memory().clear(pages.inner.settings.max_memory_bytes);
            }
        }
    }
}

fn hear(pages: &Pages, event: &Recorded) {
    match event.decode::<Event>() {
        Some(Ok(Event::WebCacheStored(stored))) => {
            let page = Arc::new(of_event(&stored, event.position));
            pages.memory().learn(&Identity::from(&stored), event.position, Some(page));
        }
        Some(Ok(Event::WebCacheEvicted(evicted))) => {
            pages.memory().learn(&Identity::from(&evicted), event.position, None);
        }
        Some(Ok(Event::WebCacheInvalidated(said))) => {
            pages.inner.forgotten.hear(&said.pages, event.position);
        }
        Some(Err(fault)) => {
            warn!(position = %event.position, error = %fault, "an event about pages is unreadable");
        }
        _ => {}
    }
}
