//! Asks an upstream for one list, on the condition that it is another than the one that is known.

use std::sync::Arc;

use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED},
};
use tokio::time::Instant;
use tracing::warn;

use super::{DocumentsFault, Inner, Keeping, Kept, Own, Source, says_less, shared::Shared, what};
use crate::{
    outbound::{Ask, Encoding, Page, Room, Trail},
    registry::stats::Count,
};

/// By what an upstream knows again what it gave.
#[derive(Debug, Clone, Default)]
pub(super) struct Validators {
    etag: Option<HeaderValue>,
    last_modified: Option<HeaderValue>,
}

impl Validators {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let of = |name| headers.get(name).cloned();
        Self { etag: of(ETAG), last_modified: of(LAST_MODIFIED) }
    }
}

impl<S: Source> Inner<S> {
    pub(super) async fn fetch(
        &self,
        key: &S::Key,
        old: Option<&Kept<S::Document>>,
        trail: &Trail,
    ) -> Result<(Kept<S::Document>, Option<Room>), DocumentsFault> {
        let fault =
            |cause| DocumentsFault::Unreachable { what: what::<S>(key), cause: Arc::new(cause) };
        let confirmed = |document: Option<Arc<S::Document>>, validators, shared, room| {
            let now = Instant::now();
            let kept = Kept {
                says_less: document
                    .as_deref()
                    .is_some_and(|document| says_less::<S>(old, document)),
                document,
                confirmed_at: now,
                retry_at: now,
                validators,
                lesser: None,
                shared,
            };
            Ok((kept, room))
        };
        if let Some(Own { content_type, body }) = S::own(key) {
            let content_type = (CONTENT_TYPE, HeaderValue::from_static(content_type));
            let page = Page {
                status: StatusCode::OK,
                headers: HeaderMap::from_iter([content_type]),
                url: S::url(&self.base, key),
                body: body.into(),
                room: None,
            };
            let (document, room) = read::<S>(key.clone(), page).await?;
            return confirmed(Some(Arc::new(document)), Validators::default(), None, room);
        }
        let with_list = old.filter(|old| old.document.is_some());
        let ask = Ask {
            method: S::METHOD,
            url: S::url(&self.base, key),
            reach: &self.reach,
            encoding: Encoding::Decoded,
            headers: conditions(S::headers(key), with_list.map(|old| &old.validators)),
            trail,
        };
        self.counters.count(Count::UpstreamRequest);
        let Keeping { bound, max_page_bytes, .. } = self.keeping;
        let (asked_at, began) = (Instant::now(), self.shared.as_ref().map(Shared::now));
        let shared = self.shared.as_ref().zip(began);
        let page = self.outbound.page(ask, max_page_bytes, bound).await;
        self.counters.upstream(asked_at.elapsed());
        let page = page.map_err(fault)?;
        match (page.status, with_list) {
            (StatusCode::OK, _) => {
                let validators = Validators::of(&page.headers);
                // Only what can be read is put down.
                let whole = shared.map(|_| page.clone());
                let (document, room) = read::<S>(key.clone(), page).await?;
                // What does not take the place of the old one here does not take it elsewhere either.
                let displaces = with_list.is_none_or(|old| !self.outlives(old, &document));
                let id = shared
                    .zip(whole.filter(|_| displaces))
                    .and_then(|((shared, began), page)| shared.put(&self.base, key, &page, began));
                confirmed(Some(Arc::new(document)), validators, id, room)
            }
            (StatusCode::NOT_MODIFIED, Some(old)) => {
                if let Some(((shared, began), id)) = shared.zip(old.shared) {
                    shared.confirm(&self.base, key, id, began);
                }
                confirmed(old.document.clone(), old.validators.clone(), old.shared, None)
            }
            (
                StatusCode::NOT_FOUND
                | StatusCode::GONE
                | StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS,
                old,
            ) if !old.is_some_and(|old| {
                S::OUTLIVES && old.confirmed_at.elapsed() < self.keeping.stale_for
            }) =>
            {
                if let Some((shared, _)) = shared {
                    shared.forget(&self.base, key);
                }
                confirmed(None, Validators::default(), None, None)
            }
            (status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN), None)
                if S::DENIED_IS_NONE && !self.reach.has_credentials() =>
            {
                let list = what::<S>(key);
                warn!(list, %status, "refused by the upstream without credentials, taken as not there");
                confirmed(None, Validators::default(), None, None)
            }
            (status, _) => Err(DocumentsFault::Status { what: what::<S>(key), status }),
        }
    }
}

fn conditions(mut headers: HeaderMap, validators: Option<&Validators>) -> HeaderMap {
    let Some(Validators { etag, last_modified }) = validators else { return headers };
    if let Some(etag) = etag {
        headers.insert(IF_NONE_MATCH, etag.clone());
    } else if let Some(last_modified) = last_modified {
        headers.insert(IF_MODIFIED_SINCE, last_modified.clone());
    }
    headers
}

pub(super) async fn read<S: Source>(
    key: S::Key,
    page: Page,
) -> Result<(S::Document, Option<Room>), DocumentsFault> {
    let of = key.clone();
    let reading = move || S::read(&of, &page).map(|document| (document, page.room));
    match tokio::task::spawn_blocking(reading).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(cause)) => {
            Err(DocumentsFault::Unreadable { what: what::<S>(&key), cause: Arc::new(cause) })
        }
        Err(_) => Err(DocumentsFault::Stopping),
    }
}
