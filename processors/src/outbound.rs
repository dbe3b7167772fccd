//! The only way out: every connection that Weir opens to the outside is opened here.
//!
//! An address is fetched only when it lies in the [`Reach`] of the request. Redirects are followed
//! here, at most five, inside the same reach, and never from HTTPS to HTTP. Elsewhere than to the
//! upstream's own origin, only public addresses are connected to. Proxy variables of the environment
//! are ignored, nothing of a client's headers is passed on, answers have bounds in time and size.
//!
//! What agents ask for goes by [`web`] instead: it trusts nobody's addresses, and judges them by the
//! same table ([`address`]).

pub mod address;
pub mod git;
pub mod polite;
mod public;
mod reach;
pub mod resolve;
pub mod tokens;
pub mod web;

use std::{
    error::Error,
    sync::{Arc, Once},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{ACCEPT_ENCODING, AUTHORIZATION, LOCATION},
};
pub use reach::{Origin, Reach, ReachFault};
pub use reqwest::Url;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use self::public::PublicOnly;

/// What Weir calls itself.
pub const USER_AGENT: &str = concat!("weir/", env!("CARGO_PKG_VERSION"));

/// Carries the ids of every Weir a request has come through, so that a circle is noticed.
pub const INSTANCE_HEADER: &str = "x-weir-instance";

const MAX_REDIRECTS: usize = 5;
const MAX_TRAIL: usize = 8;

/// A page beyond this size needs [`Room`].
const SMALL_PAGE_BYTES: u64 = 1 << 20;

/// How many pages beyond it may be in memory at once on their way in.
const MAX_LARGE_PAGES: usize = 2;

/// How long a large page waits for room. The time does not count as the upstream's.
const ROOM_WITHIN: Duration = Duration::from_mins(1);

/// How long the outside may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// To connect, TLS included.
    pub connect: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_secs(30) }
    }
}

/// The way out. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Outbound {
    /// To the upstreams' own origins, wherever they stand.
    home: Clients,
    /// To everywhere else: public addresses only.
    abroad: Clients,
    large_pages: Arc<Semaphore>,
    instance: Uuid,
}

#[derive(Debug, Clone)]
struct Clients {
    decoding: reqwest::Client,
    verbatim: reqwest::Client,
}

/// Room in memory for a large page. Who holds the page, or what was made of it and is not counted
/// elsewhere, holds this.
#[derive(Debug, Clone)]
pub struct Room {
    _permit: Arc<OwnedSemaphorePermit>,
}

/// The outside did not give us what we asked for.
#[derive(Debug, thiserror::Error)]
pub enum OutboundFault {
    /// The client could not be made.
    #[error("could not set up TLS and HTTP for outbound connections")]
    Setup(#[source] reqwest::Error),
    /// The address lies outside what this request may reach.
    #[error("refused to fetch `{url}`")]
    Refused {
        /// The address.
        url: String,
        /// Why not.
        #[source]
        cause: ReachFault,
    },
    /// Redirects do not end, or lead nowhere.
    #[error("`{url}` redirects without an end or without an address")]
    Redirects {
        /// Where it began.
        url: String,
    },
    /// The connection failed or broke off.
    #[error("could not fetch `{url}`")]
    Broken {
        /// The address.
        url: String,
        /// What broke.
        #[source]
        cause: reqwest::Error,
    },
    /// The answer is larger than it may be.
    #[error("`{url}` answers with more than {cap_bytes} bytes")]
    TooLarge {
        /// The address.
        url: String,
        /// The bound.
        cap_bytes: u64,
    },
    /// Others take the room for large answers.
    #[error("`{url}` has a large answer, and there was no room for it within {ROOM_WITHIN:?}")]
    NoRoom {
        /// The address.
        url: String,
    },
    /// The upstream wants a token, and there is none to be had.
    #[error("there is no token for `{url}`")]
    NoToken {
        /// The address.
        url: String,
        /// Why not.
        #[source]
        cause: Box<tokens::TokenFault>,
    },
    /// The whole answer took too long.
    #[error("`{url}` took longer than {bound:?}")]
    TooSlow {
        /// The address.
        url: String,
        /// The bound.
        bound: Duration,
    },
}

/// How the body of an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Documents: gzip on the way, decoded exactly once.
    Decoded,
    /// Artifacts: byte for byte as they lie there; asked for without any encoding.
    Verbatim,
}

/// The Weirs a request has come through: `x-weir-instance` as it was received.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Trail(Vec<Uuid>);

impl Trail {
    /// Reads the trail of a request. Ids that are none are skipped: they are not ours.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(INSTANCE_HEADER).into_iter();
        let ids = values.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','));
        Self(ids.filter_map(|id| Uuid::try_parse(id.trim()).ok()).take(MAX_TRAIL).collect())
    }

    /// Whether it came from a client, and through no Weir before.
    #[must_use]
    pub fn begins_here(&self) -> bool {
        self.0.is_empty()
    }

    /// How many Weirs it has come through, as far as that is read: eight at most. Work that asks an
    /// upstream is shared by requests that agree in this, and by nobody else.
    ///
    /// Where Weirs ask each other in a circle, work of one of them waits at another only for work of one
    /// hop more, so that all of it ends, at the latest where a trail is too long. And what a trail says
    /// is a client's word: who invents one has work of a few kinds done, not as much as there are ids,
    /// and who came through no Weir never shares what comes of it.
    #[must_use]
    pub const fn n_hops(&self) -> usize {
        self.0.len()
    }

    /// Whether the request has been here already, or has come through more Weirs than is sane.
    #[must_use]
    pub fn closes_a_circle_at(&self, instance: Uuid) -> bool {
        self.0.contains(&instance) || self.0.len() >= MAX_TRAIL
    }

    fn beyond(&self, instance: Uuid) -> Option<HeaderValue> {
        let ids: Vec<_> = self.0.iter().chain([&instance]).map(Uuid::to_string).collect();
        HeaderValue::try_from(ids.join(", ")).ok()
    }
}

/// One request to the outside.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// GET or HEAD.
    pub method: Method,
    /// The address.
    pub url: Url,
    /// Where the request and its redirects may go.
    pub reach: &'a Reach,
    /// How the body is wanted.
    pub encoding: Encoding,
    /// Headers made here: validators, what is accepted. Never a client's own.
    pub headers: HeaderMap,
    /// The Weirs behind this request.
    pub trail: &'a Trail,
}

/// An answer whose body is still to come.
#[derive(Debug)]
pub struct Reply {
    response: reqwest::Response,
}

/// An answer as a whole.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Where it came from, after redirects.
    pub url: Url,
    /// Its body.
    pub body: Bytes,
    /// The room it takes, where it is large.
    pub room: Option<Room>,
}

impl Outbound {
    /// Makes the way out for one instance of Weir. `instance` is told to every upstream, and should
    /// be the same on all instances that share a log.
    pub fn new(instance: Uuid, limits: Limits) -> Result<Self, OutboundFault> {
        install_tls();
        let clients = |anywhere| {
            let client =
                |encoding| client(encoding, anywhere, limits).map_err(OutboundFault::Setup);
            Ok(Clients {
                decoding: client(Encoding::Decoded)?,
                verbatim: client(Encoding::Verbatim)?,
            })
        };
        let large_pages = Arc::new(Semaphore::new(MAX_LARGE_PAGES));
        Ok(Self { home: clients(true)?, abroad: clients(false)?, large_pages, instance })
    }

    /// Who we are to our upstreams.
    #[must_use]
    pub const fn instance(&self) -> Uuid {
        self.instance
    }

    /// Waits for room for a page that did not come this way, where it needs some.
    pub(crate) async fn room(&self, size_bytes: u64) -> Option<Room> {
        if size_bytes <= SMALL_PAGE_BYTES {
            return None;
        }
        // Nobody closes it.
        let permit = Arc::clone(&self.large_pages).acquire_owned().await.ok()?;
        Some(Room { _permit: Arc::new(permit) })
    }

    /// Takes the room of all large pages.
    #[cfg(test)]
    pub(crate) fn fill(&self) -> OwnedSemaphorePermit {
        let n_pages = u32::try_from(MAX_LARGE_PAGES).unwrap();
        Arc::clone(&self.large_pages).try_acquire_many_owned(n_pages).unwrap()
    }

    /// Asks, follows redirects, and gives back the first answer that is none.
    pub async fn open(&self, ask: Ask<'_>) -> Result<Reply, OutboundFault> {
        let mut url = ask.url.clone();
        let scope = ask.reach.tokens_for(&url).and_then(|tokens| tokens.scope_of(&url));
        let mut renewed = false;
        for _ in 0..=MAX_REDIRECTS {
            ask.reach
                .check(&url)
                .map_err(|cause| OutboundFault::Refused { url: url.to_string(), cause })?;
            let clients = if ask.reach.anywhere(&url) { &self.home } else { &self.abroad };
            let client = match ask.encoding {
                Encoding::Decoded => &clients.decoding,
                Encoding::Verbatim => &clients.verbatim,
            };
            let mut request =
                client.request(ask.method.clone(), url.clone()).headers(ask.headers.clone());
            if let Some(trail) = ask.trail.beyond(self.instance) {
                request = request.header(INSTANCE_HEADER, trail);
            }
            if ask.encoding == Encoding::Verbatim {
                request = request.header(ACCEPT_ENCODING, "identity");
            }
            let tokens = ask.reach.tokens_for(&url).zip(scope.as_deref());
            let token = tokens.and_then(|(tokens, scope)| tokens.kept(scope));
            let credentials = token.clone().or_else(|| ask.reach.credentials_for(&url));
            if let Some(credentials) = credentials {
                request = request.header(AUTHORIZATION, credentials);
            }
            let response = request.send().await.map_err(|cause| unsent(&url, cause))?;
            if response.status() == StatusCode::UNAUTHORIZED
                && !std::mem::replace(&mut renewed, true)
                && let Some((tokens, scope)) = tokens
                && let Some(challenge) = tokens::Challenge::of(response.headers())
            {
                let renewing = tokens.renew(self, ask.reach, &challenge, scope, token.as_ref());
                // A request for a token is one of those that are made here.
                Box::pin(renewing).await.map_err(|cause| OutboundFault::NoToken {
                    url: url.to_string(),
                    cause: Box::new(cause),
                })?;
                continue;
            }
            if !redirects(response.status()) {
                return Ok(Reply { response });
            }
            let target = response.headers().get(LOCATION).and_then(|v| v.to_str().ok());
            match target.and_then(|target| url.join(target).ok()) {
                Some(next) if url.scheme() == "https" && next.scheme() != "https" => {
                    let cause = ReachFault::Downgrade;
                    return Err(OutboundFault::Refused { url: next.to_string(), cause });
                }
                Some(next) => url = next,
                None => return Err(OutboundFault::Redirects { url: url.to_string() }),
            }
        }
        Err(OutboundFault::Redirects { url: ask.url.to_string() })
    }

    /// Asks for a document as a whole, within a bound on its size and on the time that the upstream
    /// takes. Where it turns out to be large and there is no room, the upstream is not kept waiting: it
    /// is asked again when there is.
    pub async fn page(
        &self,
        ask: Ask<'_>,
        cap_bytes: u64,
        bound: Duration,
    ) -> Result<Page, OutboundFault> {
        let url = ask.url.to_string();
        let fetch = async |ask, room| {
            let whole =
                async { self.open(ask).await?.page(cap_bytes, room, &self.large_pages).await };
            let too_slow = |_| OutboundFault::TooSlow { url: url.clone(), bound };
            tokio::time::timeout(bound, whole).await.map_err(too_slow)?
        };
        if let Some(page) = fetch(ask.clone(), None).await? {
            return Ok(page);
        }
        let no_room = || OutboundFault::NoRoom { url: url.clone() };
        let room = Arc::clone(&self.large_pages).acquire_owned();
        let room = tokio::time::timeout(ROOM_WITHIN, room).await.map_err(|_| no_room())?;
        let room = room.map_err(|_| no_room())?;
        fetch(ask, Some(room)).await?.ok_or_else(no_room)
    }
}

impl Reply {
    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Its headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The size it announces.
    pub fn content_length(&self) -> Option<u64> {
        // Not `Response::content_length`, which answers 0 for HEAD.
        self.headers().get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }

    /// The next piece of the body; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, OutboundFault> {
        let read = self.response.chunk().await;
        read.map_err(|cause| OutboundFault::Broken { url: self.response.url().to_string(), cause })
    }

    /// The answer as a whole; `None` where it is large and there is no room for it.
    async fn page(
        mut self,
        cap_bytes: u64,
        mut room: Option<OwnedSemaphorePermit>,
        large_pages: &Arc<Semaphore>,
    ) -> Result<Option<Page>, OutboundFault> {
        let url = self.response.url().clone();
        let too_large = || OutboundFault::TooLarge { url: url.to_string(), cap_bytes };
        let announced = self.content_length().unwrap_or_default();
        if announced > cap_bytes {
            return Err(too_large());
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            let length = body.len() + chunk.len();
            if length as u64 > cap_bytes {
                return Err(too_large());
            }
            if announced.max(length as u64) > SMALL_PAGE_BYTES && room.is_none() {
                let Ok(permit) = Arc::clone(large_pages).try_acquire_owned() else {
                    return Ok(None);
                };
                room = Some(permit);
            }
            body.extend_from_slice(&chunk);
        }
        let room = room.filter(|_| body.len() as u64 > SMALL_PAGE_BYTES);
        let room = room.map(|permit| Room { _permit: Arc::new(permit) });
        let (status, headers) = (self.status(), self.headers().clone());
        Ok(Some(Page { status, headers, url, body: body.freeze(), room }))
    }
}

/// Sees to it that the process has what TLS needs.
pub(crate) fn install_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error says that the process has a provider already, which serves as well.
        rustls::crypto::ring::default_provider().install_default().unwrap_or_default();
    });
}

/// Why a request could not be sent: what the resolver refused is refused, not broken.
fn unsent(url: &Url, cause: reqwest::Error) -> OutboundFault {
    let mut causes = std::iter::successors(cause.source(), |&cause| cause.source());
    let refusal = causes.find_map(|cause| cause.downcast_ref::<ReachFault>()).cloned();
    let url = url.to_string();
    match refusal {
        Some(cause) => OutboundFault::Refused { url, cause },
        None => OutboundFault::Broken { url, cause },
    }
}

const fn redirects(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// The one place where a client is made.
#[expect(clippy::disallowed_methods, reason = "this is the module that others must go through")]
fn client(
    encoding: Encoding,
    anywhere: bool,
    limits: Limits,
) -> Result<reqwest::Client, reqwest::Error> {
    let client = reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .gzip(encoding == Encoding::Decoded)
        .connect_timeout(limits.connect)
        .read_timeout(limits.idle)
        .pool_idle_timeout(Duration::from_mins(1));
    if anywhere { client.build() } else { client.dns_resolver(Arc::new(PublicOnly)).build() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_noticed_and_so_is_an_endless_chain() {
        let (ours, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut headers = HeaderMap::new();
        assert!(!Trail::of(&headers).closes_a_circle_at(ours));
        headers.insert(INSTANCE_HEADER, Trail::default().beyond(other).unwrap());
        let trail = Trail::of(&headers);
        assert!(!trail.closes_a_circle_at(ours));
        headers.insert(INSTANCE_HEADER, trail.beyond(ours).unwrap());
        assert!(Trail::of(&headers).closes_a_circle_at(ours));
        assert!(Trail::of(&headers).closes_a_circle_at(other));
        assert!(Trail(vec![other; MAX_TRAIL]).closes_a_circle_at(ours));
        headers.insert(INSTANCE_HEADER, HeaderValue::from_static("nonsense, and more"));
        assert_eq!(Trail::of(&headers), Trail::default());
    }
}
