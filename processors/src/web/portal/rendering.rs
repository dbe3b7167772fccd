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
    sync::{OnceCell, watch},
    time::{Instant, timeout_at},
};
use weir_events::web::{
    content::{ContentFilter, FilterReport},
    request::{Hash256, HttpMethod, PortalError},
};

use super::{Portal, admit::Submission, gateway::internal, outside::Page};
use crate::{
    flights::GivenUp,
    web::filter::{Caps, Filtered, essence, filter, filter_beginning},
};

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

/// What the work on a rendering comes to, once it is done.
type Work = watch::Receiver<Option<Result<Rendering, PortalError>>>;

/// One rendering, by whoever wants it first.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// The work on it, from when it has begun: it goes on whoever still waits for it.
    work: OnceCell<Work>,
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

    /// Whether somebody has taken it on to store one of them, and has not done so yet.
    pub(super) fn are_being_stored(&self) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.values().any(|made| {
            made.claimed.load(Ordering::Relaxed) && !made.stored.load(Ordering::Relaxed)
        })
    }
}

impl Made {
    /// The rendering, or why there is none: whoever has the work begun, all hear what it comes to.
    async fn rendering(
        &self,
        begin: impl Future<Output = Result<Work, PortalError>>,
    ) -> Result<Rendering, PortalError> {
        let mut work = self.work.get_or_try_init(|| begin).await?.clone();
        let given_up = || internal(GivenUp);
        let done = work.wait_for(Option::is_some).await.map_err(|_| given_up())?;
        done.clone().unwrap_or_else(|| Err(given_up()))
    }

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
        let making = made.rendering(self.begin(submission, page));
        let rendering = timeout_at(until, making).await.unwrap_or_else(|_| Err(self.timeout()))?;
        Ok((rendering, made))
    }

    /// Begins to make a rendering, as soon as there is room for that. It is work for processors: not on
    /// the threads that everybody waits on, and not too much of it.
    async fn begin(&self, submission: &Submission, page: &Arc<Page>) -> Result<Work, PortalError> {
        if submission.asked.method == HttpMethod::Head || page.body.is_empty() {
            // What a server calls a body that nobody reads is not passed on as it stands.
            let content_type = essence::shown(page.content_type.as_deref()).to_owned();
            let (content, filtered) = (Bytes::new(), FilterReport::default());
            let rendering = Rendering { content, content_type, filtered, title: None };
            return Ok(watch::channel(Some(Ok(rendering))).1);
        }
        let permit = Arc::clone(&self.inner.filtering).acquire_owned().await.map_err(internal)?;
        let (page, wanted, caps) =
            (Arc::clone(page), submission.filter, self.parts().settings.caps);
        let (done, work) = watch::channel(None);
        // Nobody can end it: who gives up waiting leaves it to the others.
        drop(tokio::task::spawn_blocking(move || {
            let _permit = permit;
            done.send_replace(Some(render(&page, &wanted, caps)));
        }));
        Ok(work)
    }
}

fn render(page: &Page, wanted: &ContentFilter, caps: Caps) -> Result<Rendering, PortalError> {
    let filter = if page.truncated { filter_beginning } else { filter };
    let filtered = filter(&page.body, page.content_type.as_deref(), wanted, caps);
    let Filtered { content, content_type, mut report, title, .. } =
        filtered.map_err(|unfit| PortalError::FetchFailed(unfit.to_string()))?;
    if page.broken {
        report.warnings.push("the answer broke off: this is not all of it".to_owned());
    }
    let (content, content_type) = (Bytes::from(content), content_type.to_owned());
    Ok(Rendering { content, content_type, filtered: report, title })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use futures_util::{FutureExt as _, poll};

    use super::*;

    fn rendering(content: &'static str) -> Rendering {
        Rendering {
            content: Bytes::from_static(content.as_bytes()),
            content_type: "text/plain".to_owned(),
            filtered: FilterReport::default(),
            title: None,
        }
    }

    /// Each who waited once had it made anew, beside those that nobody waited for any more.
    #[tokio::test]
    async fn what_outlasts_the_first_who_waits_is_made_once_for_all() {
        let unfit = || PortalError::FetchFailed("it is a picture".to_owned());
        for outcome in [Ok(rendering("words")), Err(unfit())] {
            let (made, n_begun) = (Made::default(), AtomicUsize::new(0));
            let (done, work) = watch::channel(None);
            let begin = || async {
                n_begun.fetch_add(1, Ordering::Relaxed);
                Ok(work.clone())
            };
            assert!(made.rendering(begin()).now_or_never().is_none(), "his time is up");
            let mut second = Box::pin(made.rendering(begin()));
            assert!(poll!(&mut second).is_pending());
            done.send_replace(Some(outcome.clone()));
            let third = made.rendering(begin());
            for told in [second.await, third.await] {
                assert_eq!(told.map(|it| it.content), outcome.clone().map(|it| it.content));
            }
            assert_eq!(n_begun.load(Ordering::Relaxed), 1);
        }
    }

    #[tokio::test]
    async fn work_that_breaks_down_is_nobodys_to_wait_for() {
        let (made, (done, work)) = (Made::default(), watch::channel(None));
        let mut waits = Box::pin(made.rendering(async { Ok(work) }));
        assert!(poll!(&mut waits).is_pending());
        drop(done);
        assert!(matches!(waits.await, Err(PortalError::Internal(_))));
    }

    #[tokio::test]
    async fn work_that_has_not_begun_is_begun_by_the_next() {
        let (made, work) = (Made::default(), watch::channel(Some(Ok(rendering("words")))).1);
        assert!(made.rendering(std::future::pending()).now_or_never().is_none(), "no room");
        assert_eq!(made.rendering(async { Ok(work) }).await.unwrap().content, "words");
    }

    /// Near the end of a cycle one may store what is for the moment to the next.
    #[test]
    fn a_page_is_being_stored_from_when_it_is_taken_on_until_it_is_stored_or_given_back() {
        let all = Renderings::default();
        let (one, _other) = (all.of(Hash256::new([1; 32])), all.of(Hash256::new([2; 32])));
        assert!(!all.are_being_stored());
        assert!(one.claim());
        assert!(all.are_being_stored());
        one.give_back();
        assert!(!all.are_being_stored());
        assert!(one.claim() && !one.claim());
        one.mark_stored();
        assert!(!all.are_being_stored() && !all.are_stored());
    }
}
