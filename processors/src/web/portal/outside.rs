//! What the outside gives, in the words of the gateway.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header::CONTENT_TYPE};
use serde_json::json;
use weir_events::{
    timestamp::Timestamp,
    web::request::{ApiInteractionKind, ErrorClass, HttpMethod, PortalError},
};

use super::{Portal, admit::Submission};
use crate::{
    chain::chain,
    outbound::web::{
        ask::{self, PageAsk},
        fault::{EgressFault, Why},
        hop::{Hop, HopJudge, HopRefusal, Pass},
        snapshot::{Ended, Frame, Snapshot, SnapshotAsk},
    },
    web::pages::{self, Answered, CycleTime, Plan},
};

/// A page, decoded, with its code still in it.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) body: Bytes,
    pub(super) hosts: Vec<String>,
    headers: HeaderMap,
    truncated: bool,
    at: Timestamp,
}

/// Why there is none.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) error: PortalError,
    /// Whether anything left.
    pub(super) left: bool,
    pub(super) hosts: Vec<String>,
}

impl Trouble {
    pub(super) const fn nothing_left(error: PortalError) -> Self {
        Self { error, left: false, hosts: Vec::new() }
    }
}

impl Page {
    /// How long others, or the one who asked, may be shown it.
    pub(super) fn plan(
        &self,
        method: HttpMethod,
        interaction: ApiInteractionKind,
        (time, ttl): (CycleTime, u32),
    ) -> Option<Plan> {
        let answered = Answered {
            method,
            interaction,
            status: self.status,
            headers: &self.headers,
            truncated: self.truncated,
            authorized: false,
            at: self.at,
        };
        pages::plan(&answered, time, ttl)
    }
}

/// The rules, and what a human has said of the first address.
struct Judge<J> {
    rules: J,
    approved: bool,
}

impl<J: HopJudge> HopJudge for Judge<J> {
    fn judge(&self, hop: &Hop<'_>) -> Result<Pass, HopRefusal> {
        if self.approved && hop.number == 0 { Ok(Pass::ThisPort) } else { self.rules.judge(hop) }
    }
}

impl Portal {
    /// Asks the outside.
    pub(super) async fn outside(&self, submission: &Submission) -> Result<Page, Trouble> {
        let egress = &self.parts().egress;
        let judge = Judge { rules: self.parts().rules.hops(), approved: submission.approved };
        let agent = *submission.asked.agent.as_bytes();
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
            let ask = SnapshotAsk { agent, url, text, authorization: None, max_bytes };
            let heard = egress.snapshot(ask, &judge).await;
            return heard
                .map(|heard| snapped(heard, self.parts().door.now()))
                .map_err(|fault| self.trouble(fault));
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
            authorization: None,
            body,
            max_decoded_bytes: max_bytes,
        };
        let fetched = egress.fetch(ask, &judge).await;
        fetched.map(|read| page(read, self.parts().door.now())).map_err(|fault| self.trouble(fault))
    }

    fn trouble(&self, fault: EgressFault) -> Trouble {
        let EgressFault { why, contacted, .. } = fault;
        let hosts: Vec<String> = contacted.into_iter().map(String::from).collect();
        let error = self.error(why);
        // Who was not refused was tried, and a name that cannot be resolved is a failure like another
        // (ruling A16); only what was refused before a packet left costs nothing.
        let tried = matches!(error.class(), ErrorClass::Internal);
        Trouble { left: tried || !hosts.is_empty(), error, hosts }
    }

    /// What an agent is told. No message tells what a name resolves to.
    pub(super) fn error(&self, why: Why) -> PortalError {
        let reason = why.to_string();
        match why {
            Why::Ask(_) => PortalError::InvalidRequest(reason),
            Why::Url { hop: 0, .. } => PortalError::InvalidUrl(reason),
            Why::Refused { host, .. }
            | Why::Port { host, .. }
            | Why::Inside { host, .. }
            | Why::Downgrade { host }
            | Why::CrossOrigin { host } => {
                PortalError::DomainBlocked { domain: host.into(), reason }
            }
            Why::Redirects { max } => {
                PortalError::TooManyRedirects(u32::try_from(max).unwrap_or(u32::MAX))
            }
            Why::Timeout { ms } => PortalError::Timeout(ms),
            Why::Busy => PortalError::RateLimited { retry_ticks: 1 },
            Why::BackingOff { until, .. } => {
                PortalError::RateLimited { retry_ticks: self.ticks_until(until) }
            }
            Why::Url { .. }
            | Why::Location { .. }
            | Why::Unresolved { .. }
            | Why::Astray { .. }
            | Why::Broken { .. }
            | Why::Undecodable { .. }
            | Why::Partial { .. }
            | Why::NotWebsocket { .. } => PortalError::FetchFailed(chain(&why)),
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

fn page(page: ask::Page, at: Timestamp) -> Page {
    Page {
        status: page.status.as_u16(),
        content_type: page.content_type().map(str::to_owned),
        hosts: page.contacted.into_iter().map(String::from).collect(),
        headers: page.headers,
        truncated: page.truncated,
        at,
        body: page.body,
    }
}

/// What was heard at a websocket, as a document.
fn snapped(snapshot: Snapshot, at: Timestamp) -> Page {
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
        headers: HeaderMap::from_iter([(CONTENT_TYPE, json)]),
        truncated: false,
        at,
    }
}
