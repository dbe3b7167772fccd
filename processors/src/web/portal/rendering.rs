//! A page as agents get it. What several of them want done to the same page is done once.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use tokio::{
    sync::OnceCell,
    time::{Instant, timeout_at},
};
use weir_events::web::{
    content::{ContentFilter, FilterReport},
    request::{Hash256, HttpMethod, PortalError},
};

use super::{Portal, admit::Submission, gateway::internal, outside::Page};
use crate::web::filter::{Filtered, essence, filter, filter_beginning};

/// A page without its code.
#[derive(Debug, Clone)]
pub(super) struct Rendering {
    pub(super) content: Bytes,
    pub(super) content_type: String,
    pub(super) filtered: FilterReport,
    pub(super) title: Option<String>,
}

/// The renderings of one page, each made once, and stored once.
#[derive(Debug, Default)]
pub(super) struct Renderings(Mutex<HashMap<Hash256, Arc<Made>>>);

/// One rendering, by whoever makes it first.
#[derive(Debug, Default)]
pub(super) struct Made {
    rendering: OnceCell<Rendering>,
    /// Whether somebody has taken it on to store it, and whether it is.
    claimed: AtomicBool,
    stored: AtomicBool,
}

impl Renderings {
    fn of(&self, variant: Hash256) -> Arc<Made> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(variant).or_default())
    }

    /// Whether all that anybody wants of the page is stored.
    pub(super) fn are_stored(&self) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.values().all(|made| made.stored.load(Ordering::Relaxed))
    }
}

impl Made {
    /// Whether it is on the caller to store it.
    pub(super) fn claim(&self) -> bool {
        !self.claimed.swap(true, Ordering::Relaxed)
    }

    /// It is stored.
    pub(super) fn mark_stored(&self) {
        self.stored.store(true, Ordering::Relaxed);
    }

    /// It was not stored after all.
    pub(super) fn give_back(&self) {
        self.claimed.store(false, Ordering::Relaxed);
    }
}

impl Portal {
    /// A page as one request wants it, before its time is up.
    pub(super) async fn rendered(
        &self,
        submission: &Submission,
        page: &Arc<Page>,
        until: Instant,
    ) -> Result<(Rendering, Arc<Made>), PortalError> {
        if !submission.filter.strip_code_blocks {
            self.parts().rules.all_keep_code(&submission.asked.agent, &page.redirected)?;
        }
        let made = page.renderings.of(submission.variant);
        let making = made.rendering.get_or_try_init(|| self.render(submission, page));
        let ended = timeout_at(until, making).await;
        let rendering = ended.unwrap_or_else(|_| Err(self.timeout()))?.clone();
        Ok((rendering, made))
    }

    async fn render(
        &self,
        submission: &Submission,
        page: &Arc<Page>,
    ) -> Result<Rendering, PortalError> {
        if submission.asked.method == HttpMethod::Head || page.body.is_empty() {
            // What a server calls a body that nobody reads is not passed on as it stands.
            let content_type = essence::shown(page.content_type.as_deref()).to_owned();
            let (content, filtered) = (Bytes::new(), FilterReport::default());
            return Ok(Rendering { content, content_type, filtered, title: None });
        }
        let Filtered { content, content_type, mut report, title, .. } =
            self.filter(submission.filter, page).await?;
        if page.broken {
            report.warnings.push("the answer broke off: this is not all of it".to_owned());
        }
        let (content, content_type) = (Bytes::from(content), content_type.to_owned());
        Ok(Rendering { content, content_type, filtered: report, title })
    }

    /// It is work for processors: not on the threads that everybody waits on, and not too much of it.
    async fn filter(
        &self,
        wanted: ContentFilter,
        page: &Arc<Page>,
    ) -> Result<Filtered, PortalError> {
        let permit = Arc::clone(&self.inner.filtering).acquire_owned().await.map_err(internal)?;
        let page = Arc::clone(page);
        let caps = self.parts().settings.caps;
        let filtered = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let filter = if page.truncated { filter_beginning } else { filter };
            filter(&page.body, page.content_type.as_deref(), &wanted, caps)
        });
        let filtered = filtered.await.map_err(internal)?;
        filtered.map_err(|unfit| PortalError::FetchFailed(unfit.to_string()))
    }
}
