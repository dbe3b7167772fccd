//! The lines of a trial under way. What is not asked for is not worked on: a client that reads no more
//! stops it, one that goes away ends it.

use std::{convert::Infallible, time::Instant};

use bytes::Bytes;
use futures_util::{Stream, stream};
use tokio::sync::SemaphorePermit;
use weir_events::timestamp::Timestamp;
use weir_processors::registry::what_if::{By, Trying};

use super::{
    PATIENCE,
    view::{Progress, WhatIfLine, WhatIfView},
};
use crate::{
    problem::{Problem, table::STOPPING},
    state::ApiState,
};

/// What was asked, as far as it is told again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) days: usize,
    pub(super) since: Timestamp,
    pub(super) by: By,
    pub(super) limit: usize,
}

/// A trial under way, and who is told of it.
pub(super) struct Lines {
    state: ApiState,
    trying: Trying,
    told: Told,
    began: Instant,
    /// The policy when it began.
    revision: Option<i64>,
    /// Others may try one when this ends.
    place: SemaphorePermit<'static>,
}

impl Lines {
    pub(super) fn of(
        state: ApiState,
        trying: Trying,
        told: Told,
        place: SemaphorePermit<'static>,
    ) -> Self {
        let revision = revision(&state);
        Self { state, trying, told, began: Instant::now(), revision, place }
    }

    /// The lines: where it is, as it goes on, then the end.
    pub(super) fn stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        stream::unfold(Some(self), |lines| async move {
            let (line, lines) = lines?.next().await;
            let mut text = serde_json::to_vec(&line).unwrap_or_default();
            text.push(b'\n');
            Some((Ok(text.into()), lines))
        })
    }

    async fn next(self) -> (WhatIfLine, Option<Self>) {
        let Self { state, trying, told, began, revision: before, place } = self;
        if state.stopping() {
            let problem = Problem::new(&STOPPING, "this instance is stopping").retry_after(1);
            return (WhatIfLine::failed(&problem), None);
        }
        let trying = match trying.go_on().await {
            Ok(trying) => trying,
            Err(fault) => {
                tracing::warn!(error = %fault, "a policy could not be tried");
                return (WhatIfLine::failed(&fault.into()), None);
            }
        };
        let (reached, difference) = (trying.reached(), trying.difference());
        if reached.done() || began.elapsed() > PATIENCE {
            let by_one_policy = told.by == By::Then || revision(&state) == before;
            let result = WhatIfView::of(told, reached, difference, began.elapsed(), by_one_policy);
            return (WhatIfLine::Result(Box::new(result)), None);
        }
        let progress = Progress::of(reached, difference, began.elapsed());
        let lines = Self { state, trying, told, began, revision: before, place };
        (WhatIfLine::Progress(progress), Some(lines))
    }
}

/// The policy in force.
fn revision(state: &ApiState) -> Option<i64> {
    state.packages().facts().ok().map(|facts| facts.revision())
}
