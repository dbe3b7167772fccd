//! Fetching: asked of the upstream, verified while it comes, kept when it fits.

use std::{io, sync::Arc};

use http::{HeaderMap, HeaderValue, Method, StatusCode, header::ACCEPT};
use sha2::Digest as _;
use tokio::sync::watch;
use tracing::{info, warn};
use weir_events::{
    registry::{CacheStored, UpstreamRejected},
    timestamp::Timestamp,
};

use super::{
    Bounds, DownloadFault, Downloads, Wanted,
    arrival::{Arrival, Fetched},
    promise::Check,
    shape::ShapeFault,
    transfer::{Origin, State},
};
use crate::{
    caller::Caller,
    outbound::{Ask, Encoding, Reply, Trail},
    registry::{
        cache::{Artifact, ArtifactCache, Looked, Meta, Unhashed},
        stats::Count,
    },
};

impl<C: ArtifactCache> Downloads<C> {
    /// Fetches, verifies and keeps. `None` when it is kept already.
    pub(super) async fn fetch(
        &self,
        wanted: &Wanted,
        trail: &Trail,
        state: &watch::Sender<State>,
    ) -> Result<Option<Fetched>, DownloadFault> {
        let is_here = match self.kept(wanted).await? {
            Some(Looked::Right(cached)) => {
                state.send_replace(State::Kept(cached));
                true
            }
            Some(Looked::Unhashed(found)) => self.verified(wanted, found, state).await?,
            None => false,
        };
        if is_here {
            return Ok(None);
        }
        // From now on it is the upstream that is waited for.
        state.send_replace(State::Asking);
        // Sooner than a client is told that nothing comes.
        let slot = tokio::time::timeout(self.0.bounds.first / 2, self.0.slots.acquire()).await;
        let _slot = slot.map_err(|_| DownloadFault::Busy)?.map_err(|_| DownloadFault::Stopping)?;
        let began = self.0.ledger.now();
        let mut reply = self.ask(Method::GET, wanted, trail).await?;
        let announced = reply.content_length();
        if let (Some(promised), Some(announced)) = (wanted.size, announced)
            && promised != announced
        {
            let cause = format!("{announced} bytes instead of {promised}");
            return Err(DownloadFault::Mismatch(cause));
        }
        let max_bytes = self.0.bounds.max_bytes;
        let size = wanted.size.or(announced);
        if size.is_some_and(|size| size > max_bytes) {
            return Err(DownloadFault::Mismatch(format!("more than {max_bytes} bytes")));
        }
        let most = size.unwrap_or(u64::MAX).min(max_bytes);
        let Bounds { first, room, .. } = &self.0.bounds;
        let place = room.place(size, *first / 4).await?;
        let mut arrival = Arrival::new(self.0.cache.stage().await?, wanted, place)?;
        while let Some(chunk) = reply.chunk().await? {
            if chunk.is_empty() {
                continue;
            }
            // All that came before this piece; this one waits for the next, or for the verdict.
            let (file, available) = (Arc::clone(&arrival.file), arrival.n_bytes);
            let origin = Origin::Upstream;
            state.send_replace(State::Coming { file, size, available, origin });
            if arrival.n_bytes + chunk.len() as u64 > most {
                return Err(DownloadFault::Mismatch(format!("more than {most} bytes")));
            }
            arrival.place.reach(arrival.n_bytes + chunk.len() as u64)?;
            arrival = arrival.take(chunk).await?;
        }
        self.keep(wanted, arrival, size, began).await.map(Some)
    }

    /// Hashes a kept file that nobody has looked at yet; of a large one, readers get all but the last
    /// piece meanwhile. `false` where it is not what it was, and nobody has read any of it.
    async fn verified(
        &self,
        wanted: &Wanted,
        found: Unhashed,
        state: &watch::Sender<State>,
    ) -> Result<bool, DownloadFault> {
        let (size, file) = (found.meta().size, found.file());
        let leaves = size > self.0.bounds.hashed_first_bytes;
        let hashed = |available| {
            if leaves && available < size {
                let (file, size, origin) = (Arc::clone(&file), Some(size), Origin::Kept);
                state.send_replace(State::Coming { file, size, available, origin });
            }
        };
        match self.0.cache.verify(&wanted.key, found, hashed).await? {
            Some(cached) => {
                self.note_use(&cached).await;
                state.send_replace(State::Kept(cached));
                Ok(true)
            }
            None if leaves => Err(DownloadFault::Broken),
            None => Ok(false),
        }
    }

    async fn ask(
        &self,
        method: Method,
        wanted: &Wanted,
        trail: &Trail,
    ) -> Result<Reply, DownloadFault> {
        let ask = Ask {
            method,
            url: wanted.url.clone(),
            reach: &wanted.reach,
            encoding: Encoding::Verbatim,
            headers: wanted.accept.map(accepting).unwrap_or_default(),
            trail,
        };
        self.0.counters.count(Count::UpstreamRequest);
        let reply = self.0.outbound.open(ask).await?;
        match reply.status() {
            StatusCode::OK => Ok(reply),
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                Err(DownloadFault::NotFound(wanted.url.clone()))
            }
            status => Err(DownloadFault::Status { url: wanted.url.clone(), status }),
        }
    }

    /// The size of an artifact as the upstream tells it, for those who only ask for it.
    pub async fn size(&self, wanted: &Wanted, trail: &Trail) -> Result<Option<u64>, DownloadFault> {
        Ok(self.ask(Method::HEAD, wanted, trail).await?.content_length())
    }

    async fn keep(
        &self,
        wanted: &Wanted,
        arrival: Arrival,
        size: Option<u64>,
        began: Timestamp,
    ) -> Result<Fetched, DownloadFault> {
        let Arrival { staged, file, hasher, check, n_bytes, place } = arrival;
        if let Some(size) = size.filter(|size| *size != n_bytes) {
            return Err(DownloadFault::Mismatch(format!("{n_bytes} bytes instead of {size}")));
        }
        let found: [u8; 32] = hasher.finalize().into();
        if let Some(promised) = wanted.sha256.filter(|promised| *promised != found) {
            let (found, promised) = (hex::encode(found), hex::encode(promised));
            return Err(DownloadFault::Mismatch(format!("sha256 {found} instead of {promised}")));
        }
        let also = check.map(Check::found);
        if let (Some(found), Some(promised)) = (&also, &wanted.promise)
            && !promised.admits(found)
        {
            return Err(DownloadFault::Mismatch(format!("{found} instead of {promised}")));
        }
        let (shape, looked_at) = (wanted.shape.clone(), Arc::clone(&file));
        let looking = tokio::task::spawn_blocking(move || shape.verify(&looked_at)).await;
        let shaped = looking.map_err(io::Error::other)?.map_err(|fault| match fault {
            ShapeFault::Mismatch(cause) => DownloadFault::Mismatch(cause),
            ShapeFault::Disk(fault) => DownloadFault::Disk(fault),
        })?;
        if !wanted.can_be_kept() {
            let place = Some(Arc::new(place));
            return Ok(Fetched { file, size: n_bytes, kept: None, place });
        }
        let sha256 = hex::encode(found);
        let meta = Meta {
            size: n_bytes,
            sha256: sha256.clone(),
            promise: also.map(|promise| promise.to_string()).or(shaped),
            ttl: self.0.bounds.kept_for.map(|kept_for| kept_for.as_secs()),
            created_at: began,
            etag: None,
            content_type: wanted.content_type.to_owned(),
        };
        // The bytes are right, so readers get them even where there is no room to keep them.
        let kept = match self.0.cache.set(wanted.key.clone(), Artifact { staged, meta }).await {
            Ok(true) => Some(sha256),
            Ok(false) => {
                info!(file = wanted.key.file(), "a file was purged on its way, and is not kept");
                None
            }
            Err(fault) => {
                warn!(file = wanted.key.file(), error = %fault, "a verified file could not be kept");
                None
            }
        };
        let place = kept.is_none().then(|| Arc::new(place));
        Ok(Fetched { file, size: n_bytes, kept, place })
    }

    pub(super) async fn record_stored(
        &self,
        wanted: &Wanted,
        sha256: String,
        size_bytes: u64,
        caller: &Caller,
    ) {
        let stored = CacheStored {
            ecosystem: wanted.key.ecosystem(),
            package: wanted.key.package().to_owned(),
            file: wanted.key.file().to_owned(),
            sha256,
            size_bytes,
        };
        info!(package = stored.package, file = stored.file, size_bytes, "file verified and kept");
        if let Err(fault) = self.0.ledger.record(stored, caller).await {
            warn!(error = %fault, "a kept file could not be recorded");
        }
    }

    pub(super) async fn record_rejected(&self, wanted: &Wanted, cause: &str, caller: &Caller) {
        let rejected = UpstreamRejected {
            ecosystem: wanted.key.ecosystem(),
            package: wanted.key.package().to_owned(),
            file: wanted.key.file().to_owned(),
            cause: cause.to_owned(),
        };
        if let Err(fault) = self.0.ledger.record(rejected, caller).await {
            warn!(error = %fault, "a rejected file could not be recorded");
        }
    }
}

fn accepting(types: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(types))])
}
