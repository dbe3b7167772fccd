//! The web gateway's way out: pages and websockets for agents, from a world that is hostile.
//!
//! Every address, also one that a redirect leads to, goes the same way: its one spelling
//! ([`address`]), the rules ([`HopJudge`]), a place, its name resolved once and every address of it
//! judged, a connection to one of those very addresses ([`connect`]). There are no cookies, no
//! credentials, no referrer, no proxy of the environment and no connection that is used twice. Whatever
//! is read has a bound, and all of it together one in time. There is nothing here that asks for
//! `robots.txt`: what is fetched, an agent has asked for.

pub mod address;
pub mod ask;
mod backoff;
pub mod connect;
mod decode;
mod exchange;
pub mod fault;
pub mod hop;
pub mod places;
pub mod snapshot;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, Method, Request, StatusCode, Uri,
    header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT},
};
use http_body_util::Full;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use self::{
    address::{UrlFault, WebUrl},
    ask::{Agent, Page, PageAsk, Terms, kept},
    backoff::BackOff,
    connect::{Connect, Network, Stream, judge_literal, open, resolve, tls},
    decode::{ACCEPTED, SLACK_BYTES, decode},
    exchange::{Raw, exchange},
    fault::{AskFault, EgressFault, Why},
    hop::{Hop, HopJudge, HopRefusal, Pass, Step},
    places::{Place, Places, Room, Seat},
};
use super::{
    address::Exemption,
    resolve::{Resolve, SystemResolver},
};
use crate::clock::Clock;

/// How many requests of one agent may wait for a place.
const MAX_WAITING_PER_AGENT: usize = 32;

/// What an operator says about the way out.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a request may take, waiting for a place included.
    pub total: Duration,
    /// How many redirects are followed.
    pub max_redirects: usize,
    /// How many requests are under way at once.
    pub at_once: usize,
    /// How many of them to one host.
    pub per_host: usize,
    /// How many may wait for a place.
    pub max_waiting: usize,
    /// What is reached although it does not lie in the world.
    pub allow_private: Vec<Exemption>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(10),
            max_redirects: 2,
            at_once: 8,
            per_host: 2,
            max_waiting: 256,
            allow_private: Vec::new(),
        }
    }
}

/// The way out for agents. Cheap to clone; the clones share its places.
#[derive(Debug, Clone)]
pub struct Egress(Arc<Parts>);

struct Parts {
    settings: Settings,
    resolver: Arc<dyn Resolve>,
    connector: Arc<dyn Connect>,
    tls: TlsConnector,
    places: Places,
    back_off: BackOff,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// TLS could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("could not set up TLS for the web gateway")]
pub struct SetupFault(#[from] rustls::Error);

/// How far a request has come.
#[derive(Debug, Default)]
struct Journey {
    hops: Vec<String>,
    contacted: Vec<Box<str>>,
    /// What is kept of the redirects that were followed.
    redirects: Vec<(StatusCode, HeaderMap)>,
    /// Whether one of them set a cookie.
    sets_cookie: bool,
    /// When somebody outside was first asked anything.
    asked: Option<Instant>,
    /// The addresses that may say something else because of what was sent.
    changed: Vec<WebUrl>,
    /// What something is sent to, as long as nobody knows what came of it.
    open: Option<WebUrl>,
}

/// An open connection, and the place it takes.
struct Line {
    stream: Box<dyn Stream>,
    place: Place,
    /// As long as one asks, one is among those who may.
    seat: Arc<Seat>,
}

impl Egress {
    /// The way out, over the network.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, SetupFault> {
        let resolver = Arc::new(SystemResolver::default());
        Ok(Self::with(settings, clock, resolver, Arc::new(Network), tls()?))
    }

    /// The way out by another resolver and other connections.
    pub(crate) fn with(
        settings: Settings,
        clock: Arc<dyn Clock>,
        resolver: Arc<dyn Resolve>,
        connector: Arc<dyn Connect>,
        tls: TlsConnector,
    ) -> Self {
        let places = Places::new(Room {
            at_once: settings.at_once,
            per_host: settings.per_host,
            waiting: settings.max_waiting,
            waiting_per_agent: MAX_WAITING_PER_AGENT,
        });
        let back_off = BackOff::new(clock);
        Self(Arc::new(Parts { settings, resolver, connector, tls, places, back_off }))
    }

    /// Refuses an address where that takes no packet: by the rules, its port or the address it is.
    /// [`fetch`](Self::fetch) does the same again.
    pub fn check(&self, url: &WebUrl, judge: &dyn HopJudge) -> Result<(), Why> {
        self.pass(url, 0, judge)
    }

    /// A seat for a request that is about to leave, unless too many wait already, or the host has
    /// asked to be left alone.
    pub fn seat(&self, agent: Agent, url: &WebUrl) -> Result<Seat, Why> {
        self.welcome(url.host())?;
        self.0.places.seat(agent).map_err(|_| Why::Busy)
    }

    /// A seat for a request that was let in without one, as soon as too many do not wait any more.
    pub async fn seat_when_free(&self, agent: Agent) -> Seat {
        self.0.places.seat_when_free(agent).await
    }

    /// Whether a host has not asked to be left alone.
    pub fn welcome(&self, host: &str) -> Result<(), Why> {
        self.0.back_off.check(host).map_err(|until| Why::BackingOff { host: host.into(), until })
    }

    /// Fetches a page, with redirects, each of them judged before it is followed.
    pub async fn fetch(&self, ask: PageAsk, judge: &dyn HopJudge) -> Result<Page, EgressFault> {
        let mut journey = Journey::default();
        let page = Box::pin(self.within(&ask.terms, self.walk(&ask, judge, &mut journey))).await;
        page.map_err(|why| journey.ended(why))
    }

    async fn within<T>(
        &self,
        terms: &Terms,
        work: impl Future<Output = Result<T, Why>>,
    ) -> Result<T, Why> {
        let total = self.0.settings.total;
        let ms = u64::try_from(total.as_millis()).unwrap_or(u64::MAX);
        let own = Instant::now() + total;
        let until = terms.until.map_or(own, |agreed| agreed.min(own));
        timeout_at(until, work).await.map_err(|_| Why::Timeout { ms })?
    }

    async fn walk(
        &self,
        ask: &PageAsk,
        judge: &dyn HopJudge,
        journey: &mut Journey,
    ) -> Result<Page, Why> {
        ask.check()?;
        let url = WebUrl::parse(&ask.url).map_err(|cause| Why::Url { hop: 0, to: None, cause })?;
        let mut step = Step { url, method: ask.method.clone(), body: ask.body.clone() };
        loop {
            if step.url.scheme().websocket() {
                return Err(AskFault::Scheme(step.url.shown().into()).into());
            }
            let hop = journey.hops.len();
            let request = request(ask, &step, hop)?;
            let line = self.line(ask.agent, &ask.terms, &step.url, judge, journey).await?;
            let Line { stream, place, seat } = line;
            let host = || Box::from(step.url.host());
            journey.open = (step.method == Method::POST).then(|| step.url.clone());
            let raw = exchange(stream, request, ask.max_decoded_bytes + SLACK_BYTES).await;
            drop(seat);
            let raw = raw.map_err(|cause| Why::Broken { host: host(), cause: cause.into() })?;
            self.0.back_off.note(step.url.host(), raw.status, &raw.headers);
            journey.open = None;
            journey.changed.extend(step.changes(raw.status, &raw.headers));
            let Some(next) = step.after(hop, raw.status, &raw.headers)? else {
                return page(&step.url, raw, ask.max_decoded_bytes, journey, place).await;
            };
            let max = self.0.settings.max_redirects;
            if hop == max {
                return Err(Why::Redirects { max, to: next.url.shown().into() });
            }
            let (headers, sets_cookie) = kept(&raw.headers);
            journey.redirects.push((raw.status, headers));
            journey.sets_cookie |= sets_cookie;
            step = next;
        }
    }

    /// Everything that can be said against an address without asking anybody.
    fn pass(&self, url: &WebUrl, hop: usize, judge: &dyn HopJudge) -> Result<(), Why> {
        let port = url.port();
        let host = || Box::from(url.host());
        let judged = judge.judge(&Hop { number: hop, url });
        let refused = |HopRefusal { reason }| Why::Refused { hop, host: host(), reason };
        let pass = judged.map_err(refused)?;
        if pass == Pass::WebPorts && port != 80 && port != 443 {
            return Err(Why::Port { hop, host: host(), port });
        }
        judge_literal(url, hop, &self.0.settings.allow_private).map(drop)
    }

    /// Judges a hop, waits for its place, and connects.
    async fn line(
        &self,
        agent: Agent,
        terms: &Terms,
        url: &WebUrl,
        judge: &dyn HopJudge,
        journey: &mut Journey,
    ) -> Result<Line, Why> {
        let parts = &*self.0;
        let (hop, host) = (journey.hops.len(), url.host());
        self.pass(url, hop, judge)?;
        self.welcome(host)?;
        journey.hops.push(url.to_string());
        let seat = match &terms.seat {
            Some(seat) => Arc::clone(seat),
            None => Arc::new(parts.places.seat(agent).map_err(|_| Why::Busy)?),
        };
        let place = parts.places.take(&seat, host).await.map_err(|_| Why::Busy)?;
        // Whoever was before us may have been told to stay away.
        self.welcome(host)?;
        journey.asked.get_or_insert_with(Instant::now);
        let judged = resolve(url, hop, &*parts.resolver, &parts.settings.allow_private).await?;
        if !journey.contacted.iter().any(|one| **one == *host) {
            journey.contacted.push(host.into());
        }
        let stream = open(url, &judged, &*parts.connector, &parts.tls).await?;
        Ok(Line { stream, place, seat })
    }
}

impl Journey {
    fn ended(self, why: Why) -> EgressFault {
        let Self { hops, contacted, asked, mut changed, open, .. } = self;
        changed.extend(open);
        let (contacted, changed, asked) = (contacted.into(), changed.into(), asked.is_some());
        EgressFault { why, hops, contacted, asked, changed }
    }
}

/// What is sent: what was judged, byte for byte, and nothing of ours that tells where it came from.
fn request(ask: &PageAsk, step: &Step, hop: usize) -> Result<Request<Full<Bytes>>, Why> {
    let unsendable = |cause: http::Error| {
        let cause = UrlFault::Unreadable(cause.to_string().into());
        Why::Url { hop, to: None, cause }
    };
    let uri = Uri::try_from(step.url.target()).map_err(|cause| unsendable(cause.into()))?;
    let body = step.body.clone().unwrap_or_default();
    let mut request = Request::builder()
        .method(step.method.clone())
        .uri(uri)
        .header(HOST, step.url.authority())
        .header(USER_AGENT, super::USER_AGENT)
        .header(ACCEPT_ENCODING, ACCEPTED);
    if step.method == Method::POST {
        request = request.header(CONTENT_LENGTH, body.len());
    }
    if !ask.headers.contains_key(ACCEPT) {
        request = request.header(ACCEPT, "*/*");
    }
    for (name, value) in &ask.headers {
        if name != CONTENT_TYPE || step.body.is_some() {
            request = request.header(name, value);
        }
    }
    request.body(Full::new(body)).map_err(unsendable)
}

async fn page(
    url: &WebUrl,
    raw: Raw,
    max_decoded_bytes: usize,
    journey: &mut Journey,
    place: Place,
) -> Result<Page, Why> {
    let host = || Box::from(url.host());
    if raw.status == StatusCode::PARTIAL_CONTENT {
        return Err(Why::Partial { host: host() });
    }
    let decoded = decode(&raw.headers, raw.body, max_decoded_bytes).await;
    let decoded =
        decoded.map_err(|fault| Why::Undecodable { host: host(), encoding: fault.encoding })?;
    let (headers, sets_cookie) = kept(&raw.headers);
    Ok(Page {
        status: raw.status,
        hops: std::mem::take(&mut journey.hops),
        contacted: std::mem::take(&mut journey.contacted),
        headers,
        redirects: std::mem::take(&mut journey.redirects),
        sets_cookie: sets_cookie || journey.sets_cookie,
        changed: std::mem::take(&mut journey.changed),
        body: decoded.body,
        truncated: raw.cut || decoded.cut,
        // What was read of it only so far ends within its encoding, too.
        broken: raw.broken || decoded.broken && !raw.cut,
        took: journey.asked.map_or(Duration::ZERO, |asked| asked.elapsed()),
        place: Some(Arc::new(place)),
    })
}

#[cfg(test)]
mod tests;
