//! Lists in the place that several instances share, as [`Documents`](super::Documents) uses it: taken
//! out where another instance has asked later than this one, and put there when this one has asked.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use http::{
    HeaderMap, HeaderName, StatusCode,
    header::{CONTENT_TYPE, ETAG, LAST_MODIFIED, LINK},
};
use tokio::time::Instant;
use tracing::warn;
use uuid::Uuid;
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::{
    Kept, Source,
    fetch::{Validators, read},
    says_less,
};
use crate::{
    outbound::{Outbound, Page, Room, Url},
    registry::cache::{
        CachePlugin as _, RedisCache,
        redis::{Confirmed, Fresh, Id, MAX_LIFETIME, PageKey},
    },
};

/// What is put down of an answer's headers: what some ecosystem reads of them.
const HEADERS: [HeaderName; 5] =
    [CONTENT_TYPE, ETAG, LAST_MODIFIED, LINK, HeaderName::from_static("docker-content-digest")];

/// The shared place, as lists of one kind see it.
#[derive(Debug)]
pub(super) struct Shared<S> {
    cache: RedisCache,
    ecosystem: Ecosystem,
    instance: Uuid,
    /// How long a list may be kept after it was last confirmed.
    lifetime: Duration,
    /// The largest list.
    max_page_bytes: u64,
    kind: PhantomData<fn() -> S>,
}

impl<S: Source> Shared<S> {
    pub(super) fn new(
        cache: RedisCache,
        ecosystem: Ecosystem,
        outbound: &Outbound,
        keeping: &super::Keeping,
    ) -> Self {
        let lifetime = keeping.stale_for.max(keeping.ttl).min(MAX_LIFETIME);
        let (instance, max_page_bytes) = (outbound.instance(), keeping.max_page_bytes);
        Self { cache, ecosystem, instance, lifetime, max_page_bytes, kind: PhantomData }
    }

    /// Where a list lies: instances that ask another upstream, or in other words, do not meet, nor do
    /// those of another log.
    fn place(&self, base: &Url, key: &S::Key) -> Option<PageKey> {
        if S::own(key).is_some() {
            return None;
        }
        let (method, url, headers) = (S::METHOD, S::url(base, key), S::headers(key));
        let mut asked = vec![
            self.instance.as_bytes(),
            S::NOUN.as_bytes(),
            method.as_str().as_bytes(),
            url.as_str().as_bytes(),
        ];
        for (name, value) in &headers {
            asked.extend([name.as_str().as_bytes(), value.as_bytes()]);
        }
        PageKey::new(self.ecosystem, S::package(key), &asked)
    }

    /// What another instance knows of a list and this one does not, if there is such.
    pub(super) async fn newer(
        &self,
        base: &Url,
        key: &S::Key,
        old: Option<&Kept<S::Document>>,
        outbound: &Outbound,
    ) -> Option<(Kept<S::Document>, Option<Room>)> {
        let place = self.place(base, key)?;
        if let Some((old, id)) = old.and_then(|old| Some((old, old.shared?))) {
            // The same page, confirmed again, need not be read again.
            let confirmed = self.cache.confirmed(&place).await.ok()?;
            if let Some(confirmed) = confirmed.filter(|confirmed| confirmed.id == id) {
                let confirmed_at = self.instant(confirmed.at)?;
                let again =
                    || Kept { confirmed_at, retry_at: confirmed_at, lesser: None, ..old.clone() };
                return (old.confirmed_at < confirmed_at).then(|| (again(), None));
            }
        }
        // That it does not answer was told where it was found out.
        let found = self.cache.get(&place).await.ok()??;
        let confirmed_at = self.instant(found.confirmed_at)?;
        let page = found.page;
        if old.is_some_and(|old| confirmed_at <= old.confirmed_at)
            || self.max_page_bytes < page.size_bytes
        {
            return None;
        }
        let room = outbound.room(page.size_bytes).await;
        let (id, headers, url) = (page.id, page.headers.clone(), page.url.clone());
        let validators = Validators::of(&headers);
        let body = tokio::task::spawn_blocking(move || page.body()).await.ok()?;
        let page = body.map(|body| Page { status: StatusCode::OK, headers, url, body, room });
        let document = match page {
            Ok(page) => read::<S>(key.clone(), page).await.map_err(|fault| fault.to_string()),
            Err(fault) => Err(fault.to_string()),
        };
        let (document, room) = document
            .inspect_err(|error| warn!(list = %key, error, "a shared list cannot be read"))
            .ok()?;
        let kept = Kept {
            says_less: says_less::<S>(old, &document),
            lesser: None,
            document: Some(Arc::new(document)),
            confirmed_at,
            retry_at: confirmed_at,
            validators,
            shared: Some(id),
        };
        Some((kept, room))
    }

    /// Puts down a page that was just fetched; answers what it is called there.
    pub(super) fn put(
        &self,
        base: &Url,
        key: &S::Key,
        page: &Page,
        began: Timestamp,
    ) -> Option<Id> {
        let place = self.place(base, key)?;
        let id = Id::fresh();
        let of = |name: HeaderName| Some((name.clone(), page.headers.get(name)?.clone()));
        let fresh = Fresh {
            id,
            created_at: began,
            lifetime: self.lifetime,
            url: page.url.clone(),
            headers: HEADERS.into_iter().filter_map(of).collect::<HeaderMap>(),
            body: page.body.clone(),
            room: page.room.clone(),
        };
        self.cache.keep(place, fresh);
        Some(id)
    }

    /// Notes that the upstream has confirmed a page.
    pub(super) fn confirm(&self, base: &Url, key: &S::Key, id: Id, began: Timestamp) {
        if let Some(place) = self.place(base, key) {
            self.cache.confirm(place, Confirmed { id, at: began }, self.lifetime);
        }
    }

    /// Takes away what the upstream has no more.
    pub(super) fn forget(&self, base: &Url, key: &S::Key) {
        if let Some(place) = self.place(base, key) {
            self.cache.forget(place);
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.cache.now()
    }

    /// When that was, by this process's own measure. What is a little ahead was just now.
    fn instant(&self, at: Timestamp) -> Option<Instant> {
        let age = u64::try_from(self.cache.now().micros().saturating_sub(at.micros()));
        Instant::now().checked_sub(Duration::from_micros(age.unwrap_or(0)))
    }
}
