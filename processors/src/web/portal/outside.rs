//! What the outside gives, in the words of the gateway.

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header::CONTENT_TYPE};
use serde_json::json;
use tokio::time::Instant;
use weir_events::{
    timestamp::Timestamp,
    web::{
        Invalidated, WebRedirect,
        request::{AgentId, ApiInteractionKind, CachePolicy, Hash256, HttpMethod, PortalError},
        rule::Action,
    },
};

use super::{Portal, admit::Submission, rendering::Renderings};
use crate::{
    chain::chain,
    outbound::web::{
        address::WebUrl,
        ask::{self, PageAsk, Terms},
        fault::{EgressFault, Why},
        hop::{Hop, HopJudge, HopRefusal, Pass},
        places::{Place, Seat},
        snapshot::{Ended, Frame, Snapshot, SnapshotAsk},
    },
    web::{
        filter,
        pages::{self, Answered, Came, CycleTime, Moment, Names},
        rules::{Rules, Verdict},
    },
};

/// A page, decoded, with its code still in it.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) body: Bytes,
    pub(super) hosts: Vec<String>,
    /// The origins that redirects led to, in order.
    pub(super) redirected: Vec<String>,
    /// The addresses that they led to, by the keys that GET has there, in order.
    pub(super) hops: Vec<Hash256>,
    /// What it is forgotten by on account of them.
    pub(super) way: Names,
    /// What became of the redirects, in order.
    pub(super) redirects: Vec<WebRedirect>,
    /// What may say something else because it was asked for.
    pub(super) changed: Option<Changed>,
    headers: HeaderMap,
    /// What the redirects said, in order.
    on_the_way: Vec<(StatusCode, HeaderMap)>,
    sets_cookie: bool,
    /// Whether it is more than what is read of it.
    pub(super) truncated: bool,
    /// Whether it broke off on its way.
    pub(super) broken: bool,
    /// When it came, by the clock.
    at: Timestamp,
    /// Where the log stood when it was asked for.
    pub(super) asked_at: Moment,
    /// The same, for those who ask what came first.
    pub(super) came: Instant,
    /// How long it took.
    took: Duration,
    /// What was made of it.
    pub(super) renderings: Renderings,
    /// The place it takes up, until it is filtered.
    place: Mutex<Option<Arc<Place>>>,
}

/// Why there is none.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) error: PortalError,
    /// Whether anything left.
    pub(super) left: bool,
    pub(super) hosts: Vec<String>,
    /// What became of the redirects, in order.
    pub(super) redirects: Vec<WebRedirect>,
    /// What may say something else because it was asked for.
    pub(super) changed: Option<Changed>,
}

/// What may say something else because something was sent.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) pages: Invalidated,
    /// Whether it is on record.
    pub(super) is_said: AtomicBool,
}

impl Changed {
    fn of(urls: &[WebUrl]) -> Option<Self> {
        pages::changed(urls).map(Self::from)
    }
}

impl From<Invalidated> for Changed {
    fn from(pages: Invalidated) -> Self {
        Self { pages, is_said: AtomicBool::default() }
    }
}

impl Trouble {
    /// A name that was asked for has left, also where it leads inside (ruling A11): in names one can
    /// write letters. What was refused before that costs nothing, nor does what never got past the queue
    /// here.
    fn of(fault: EgressFault) -> Self {
        let EgressFault { why, contacted, asked, changed, .. } = fault;
        let hosts = contacted.into_iter().map(String::from).collect();
        let (error, changed) = (Portal::error(why), Changed::of(&changed));
        Self { error, left: asked, hosts, redirects: Vec::new(), changed }
    }

    pub(super) const fn nothing_left(error: PortalError) -> Self {
        Self { error, left: false, hosts: Vec::new(), redirects: Vec::new(), changed: None }
    }
}

impl Page {
    /// Whether all may be given it who asked for it before it came.
    pub(super) fn is_shareable(&self, method: HttpMethod, interaction: ApiInteractionKind) -> bool {
        pages::is_shareable(&self.answered(method, interaction))
    }

    /// Whether those may be given it, too, who ask for it now.
    pub(super) fn is_reusable(&self, method: HttpMethod, interaction: ApiInteractionKind) -> bool {
        pages::is_reusable(&self.answered(method, interaction))
    }

    /// Has the next page fetched.
    pub(super) fn make_room(&self) {
        drop(self.place.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// How long others, or the one who asked, may be shown it, as the page of a key.
    pub(super) fn plan(
        &self,
        key: Hash256,
        (method, interaction): (HttpMethod, ApiInteractionKind),
        (time, ttl): (CycleTime, u32),
    ) -> Option<CachePolicy> {
        // The next one who asks may get all of it.
        if self.broken {
            return None;
        }
        pages::plan(key, &self.answered(method, interaction), time, ttl)
    }

    fn answered(&self, method: HttpMethod, interaction: ApiInteractionKind) -> Answered<'_> {
        Answered {
            method,
            interaction,
            status: self.status,
            headers: &self.headers,
            redirects: &self.on_the_way,
            sets_cookie: self.sets_cookie,
            truncated: self.truncated,
            came: Came { at: self.at, took: self.took, ago: self.came.elapsed() },
        }
    }
}

/// The rules, and what a human has said of the first address. Remembers what was said of redirects.
struct Judge {
    rules: Rules,
    approved: bool,
    redirects: Mutex<Vec<WebRedirect>>,
}

impl HopJudge for Judge {
    fn judge(&self, hop: &Hop<'_>) -> Result<Pass, HopRefusal> {
        if self.approved && hop.number == 0 {
            return Ok(Pass::ThisPort);
        }
        let Verdict { action, rule, reason, .. } = self.rules.judge(hop.url);
        if hop.number > 0 {
            let (url, reason) = (hop.url.shown(), reason.clone());
            let mut redirects = self.redirects.lock().unwrap_or_else(PoisonError::into_inner);
            redirects.push(WebRedirect { url, action, rule, reason });
        }
        match action {
            // Its port was judged with it.
            Action::Allow => Ok(Pass::ThisPort),
            Action::Block => Err(HopRefusal { reason: reason.into() }),
        }
    }
}

impl Judge {
    fn new(rules: &Rules, approved: bool) -> Self {
        Self { rules: rules.clone(), approved, redirects: Mutex::default() }
    }

    /// The redirects, each with the last word on it.
    fn redirects(self, why: Option<&Why>) -> Vec<WebRedirect> {
        let mut all = self.redirects.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(why) = why else { return all };
        let blocked = |url: &str, reason: String| {
            let (url, action) = (url.to_owned(), Action::Block);
            WebRedirect { url, action, rule: None, reason }
        };
        match (why, why.forbids()) {
            (Why::Url { to: Some(to), cause, .. }, _) => all.push(blocked(to, cause.to_string())),
            (Why::Redirects { to, .. }, _) => all.push(blocked(to, why.to_string())),
            (Why::Downgrade { to, .. } | Why::CrossOrigin { to, .. }, Some((_, reason))) => {
                all.push(blocked(to, reason));
            }
            // What rules let through, its address does not.
            (Why::Port { hop, .. } | Why::Inside { hop, .. }, Some((_, reason))) => {
                if let Some(one) = hop.checked_sub(1).and_then(|nth| all.get_mut(nth)) {
                    *one = blocked(&one.url, reason);
                }
            }
            _ => {}
        }
        all
    }
}

impl Portal {
    /// Asks the outside.
    pub(super) async fn outside(
        &self,
        submission: &Submission,
        terms: Terms,
    ) -> Result<Page, Trouble> {
        let egress = &self.parts().egress;
        let judge = Judge::new(&self.parts().rules, submission.approved);
        let agent = *submission.asked.agent.as_bytes();
        let asked_at = self.parts().pages.now();
        let max_bytes = self.parts().settings.max_page_bytes;
        let request = &submission.request;
        let body = request.body.as_ref().map(|body| Bytes::copy_from_slice(body.as_slice()));
        if submission.interaction == ApiInteractionKind::WebsocketSnap {
            let text = body.map(|body| String::from_utf8(body.to_vec())).transpose();
            let text = text.map_err(|_| {
                let words = "what a websocket is sent is UTF-8".to_owned();
                Trouble::nothing_left(PortalError::InvalidRequest(words))
            })?;
            let url = submission.url.as_str().to_owned();
            let ask = SnapshotAsk { agent, url, text, max_bytes, terms };
            let heard = egress.snapshot(ask, &judge).await;
            return match heard {
                Ok(heard) => Ok(snapped(heard, (self.parts().door.now(), asked_at))),
                Err(fault) => Err(Self::trouble(fault, judge)),
            };
        }
        let ask = PageAsk {
            agent,
            method: match request.method {
                HttpMethod::Get => Method::GET,
                HttpMethod::Post => Method::POST,
                HttpMethod::Head => Method::HEAD,
            },
            url: submission.url.as_str().to_owned(),
            headers: headers(submission).map_err(Trouble::nothing_left)?,
            body,
            max_decoded_bytes: max_bytes,
            terms,
        };
        match egress.fetch(ask, &judge).await {
            Ok(read) => {
                let page = page(read, (self.parts().door.now(), asked_at));
                let page = self.whole_or_not(page).await;
                Ok(Page { redirects: judge.redirects(None), ..page })
            }
            Err(fault) => Err(Self::trouble(fault, judge)),
        }
    }

    /// Says of a page, too, whether decoding makes it longer than what is read of one: then it is cut, and
    /// nobody else's (ruling A6).
    async fn whole_or_not(&self, page: Page) -> Page {
        if page.truncated {
            return page;
        }
        let (body, declared) = (page.body.clone(), page.content_type.clone());
        let caps = self.parts().settings.caps;
        // It is decoded for that, where it is long.
        let overflows = tokio::task::spawn_blocking(move || {
            filter::overflows(&body, declared.as_deref(), caps)
        });
        // What nobody knows to be whole is not shown as that.
        let truncated = overflows.await.unwrap_or(true);
        Page { truncated, ..page }
    }

    fn trouble(fault: EgressFault, judge: Judge) -> Trouble {
        let redirects = judge.redirects(Some(&fault.why));
        Trouble { redirects, ..Trouble::of(fault) }
    }

    /// Whether an address may be left for, as far as no packet tells.
    pub(super) fn reachable(&self, url: &WebUrl, approved: bool) -> Result<(), PortalError> {
        let judge = Judge::new(&self.parts().rules, approved);
        self.parts().egress.check(url, &judge).map_err(Self::error)
    }

    /// A seat for a request that is about to leave; its agent is told to come again where there is
    /// none, or the host has asked to be left alone.
    pub(super) fn seat(&self, agent: &AgentId, url: &WebUrl) -> Result<Seat, PortalError> {
        self.parts().egress.seat(*agent.as_bytes(), url).map_err(|why| self.not_yet(why))
    }

    /// What an agent is told before it is admitted: it may come again.
    pub(super) fn not_yet(&self, why: Why) -> PortalError {
        match why {
            Why::Busy => PortalError::RateLimited { retry_ticks: 1 },
            Why::BackingOff { until, .. } => {
                PortalError::RateLimited { retry_ticks: self.ticks_until(until) }
            }
            why => Self::error(why),
        }
    }

    /// The time of a request is up.
    pub(super) fn timeout(&self) -> PortalError {
        let total = self.parts().settings.timeout;
        PortalError::Timeout(u64::try_from(total.as_millis()).unwrap_or(u64::MAX))
    }

    /// What an agent is told. No message tells what a name resolves to.
    fn error(why: Why) -> PortalError {
        if let Some((domain, reason)) = why.forbids() {
            return PortalError::DomainBlocked { domain: domain.to_owned(), reason };
        }
        let reason = why.to_string();
        match why {
            Why::Ask(_) => PortalError::InvalidRequest(reason),
            Why::Url { hop: 0, .. } => PortalError::InvalidUrl(reason),
            Why::Redirects { max, .. } => {
                PortalError::TooManyRedirects(u32::try_from(max).unwrap_or(u32::MAX))
            }
            Why::Timeout { ms } => PortalError::Timeout(ms),
            // The end of a request is its end: only another one may come again.
            Why::Busy | Why::BackingOff { .. } => {
                PortalError::FetchFailed(format!("{reason}; ask again later, with a new id"))
            }
            why => PortalError::FetchFailed(chain(&why)),
        }
    }

    /// How many ticks it is until then, where the wall clock moves them.
    pub(super) fn ticks_until(&self, until: Timestamp) -> u64 {
        let micros = until.micros().saturating_sub(self.parts().door.now().micros());
        let left = Duration::from_micros(u64::try_from(micros).unwrap_or_default());
        let tick = self.parts().settings.tick.unwrap_or(left).max(Duration::from_millis(1));
        u64::try_from(left.as_micros().div_ceil(tick.as_micros())).unwrap_or(u64::MAX).max(1)
    }
}

/// The headers of a request that are sent along: their names and values were looked at.
fn headers(submission: &Submission) -> Result<HeaderMap, PortalError> {
    let read = |name: &str, value: &str| {
        let name = HeaderName::try_from(name).ok()?;
        Some((name, HeaderValue::try_from(value).ok()?))
    };
    submission
        .request
        .headers
        .as_map()
        .iter()
        .map(|(name, value)| {
            let unfit = || PortalError::InvalidRequest(format!("header `{name}` cannot be sent"));
            read(name, value).ok_or_else(unfit)
        })
        .collect()
}

fn page(page: ask::Page, (at, asked_at): (Timestamp, Moment)) -> Page {
    let led_to = page.hops.get(1..).unwrap_or_default();
    let led_to: Vec<_> = led_to.iter().filter_map(|hop| WebUrl::parse(hop).ok()).collect();
    let (redirected, hops) =
        (origins(&led_to), led_to.iter().map(pages::address).collect::<Vec<_>>());
    // It is told what came of what it has changed itself.
    let changes = |hop: &&Hash256| page.changed.iter().any(|url| pages::address(url) == **hop);
    let unchanged: Vec<_> = hops.iter().filter(|hop| !changes(hop)).copied().collect();
    Page {
        status: page.status.as_u16(),
        content_type: page.content_type().map(str::to_owned),
        way: Names::on_the_way(&redirected, &unchanged),
        redirected,
        hops,
        changed: Changed::of(&page.changed),
        hosts: page.contacted.into_iter().map(String::from).collect(),
        redirects: Vec::new(),
        headers: page.headers,
        on_the_way: page.redirects,
        sets_cookie: page.sets_cookie,
        truncated: page.truncated,
        broken: page.broken,
        at,
        asked_at,
        came: Instant::now(),
        took: page.took,
        renderings: Renderings::default(),
        place: Mutex::new(page.place),
        body: page.body,
    }
}

/// The origins of addresses, in order, one that follows itself once.
fn origins(hops: &[WebUrl]) -> Vec<String> {
    let mut origins: Vec<String> = hops.iter().map(WebUrl::origin).collect();
    origins.dedup();
    origins
}

/// What was heard at a websocket, as a document.
fn snapped(snapshot: Snapshot, (at, asked_at): (Timestamp, Moment)) -> Page {
    let frames: Vec<_> = snapshot
        .frames
        .into_iter()
        .map(|frame| match frame {
            Frame::Text(text) => json!({"text": text}),
            // No program is passed on, in whatever form.
            Frame::Binary(bytes) => json!({"binary_bytes": bytes.len()}),
        })
        .collect();
    let ended = match snapshot.ended {
        Ended::Closed => "closed",
        Ended::Frames => "frames",
        Ended::Bytes => "bytes",
        Ended::Time => "time",
    };
    let body = json!({"frames": frames, "ended": ended}).to_string();
    let json = HeaderValue::from_static("application/json");
    Page {
        status: 101,
        content_type: Some("application/json".to_owned()),
        body: Bytes::from(body),
        hosts: vec![snapshot.host.into()],
        redirected: Vec::new(),
        hops: Vec::new(),
        way: Names::default(),
        redirects: Vec::new(),
        changed: None,
        headers: HeaderMap::from_iter([(CONTENT_TYPE, json)]),
        on_the_way: Vec::new(),
        sets_cookie: false,
        truncated: false,
        broken: false,
        at,
        asked_at,
        came: Instant::now(),
        took: Duration::ZERO,
        renderings: Renderings::default(),
        place: Mutex::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an agent was told once named the host, and then named it again.
    #[test]
    fn what_is_forbidden_is_said_of_a_host_that_is_named_once() {
        let (host, to) = (|| Box::from("a.example"), || Box::from("http://b.example/"));
        for (why, words) in [
            (Why::Refused { hop: 0, host: host(), reason: "code".into() }, "code"),
            (Why::Refused { hop: 2, host: host(), reason: "code".into() }, "code (redirect 2)"),
            (
                Why::Port { hop: 0, host: host(), port: 22 },
                "port 22 is not reached unless a rule names it",
            ),
            (
                Why::Inside { hop: 1, host: host() },
                "it does not stand in the world outside (redirect 1)",
            ),
            (Why::Downgrade { host: host(), to: to() }, "it redirects from https to http"),
            (
                Why::CrossOrigin { host: host(), to: to() },
                "it redirects a POST with its body to another origin",
            ),
        ] {
            let told = Portal::error(why);
            assert_eq!(told.to_string(), format!("`a.example` is blocked: {words}"));
            assert_eq!(told.code(), 0x0702);
        }
        let told = Portal::error(Why::Timeout { ms: 9 });
        assert_eq!(told, PortalError::Timeout(9));
    }

    /// A name that leads inside was once asked for as often as one liked, and told whoever keeps it.
    #[test]
    fn who_has_a_name_asked_for_has_left_wherever_it_leads() {
        let (hop, host) = (0, || Box::from("a.example"));
        for (why, asked, left) in [
            (Why::Inside { hop, host: host() }, true, true),
            (Why::Unresolved { host: host() }, true, true),
            (Why::Inside { hop, host: host() }, false, false),
            (Why::Port { hop, host: host(), port: 22 }, false, false),
            (Why::Busy, false, false),
        ] {
            let words = why.to_string();
            let (contacted, changed) = (Box::default(), Box::default());
            let fault = EgressFault { why, hops: Vec::new(), contacted, asked, changed };
            assert_eq!(Trouble::of(fault).left, left, "{words} {asked}");
        }
    }
}
