//! From a request as it came to all that is known of it before it is judged.

use std::sync::Arc;

use tokio::time::Instant;
use weir_aggregates::web::gateway::{Admission, BackOff};
use weir_events::web::{
    Asked,
    approval::{Said, WebApprovalRequested},
    content::ContentFilter,
    request::{AgentId, ApiInteractionKind, Hash256, HttpMethod, PortalError, PortalRequest},
    rule::Action,
};

use super::{
    Portal, Stop,
    admit::{Submission, given},
    fetch::Wanted,
    gateway::{internal, of_door},
};
use crate::{
    caller::Caller,
    outbound::web::{address::WebUrl, places::Seat},
    web::{
        approvals::{self, AskFault},
        graphql,
        pages::{self, Cached, Names},
    },
};

/// A request that is about to be judged.
pub(super) struct Read {
    pub(super) submission: Submission,
    pub(super) admission: Admission,
    /// What the cache has.
    pub(super) hit: Option<Arc<Cached>>,
    /// Its seat, where it is to leave.
    pub(super) seat: Option<Arc<Seat>>,
}

impl Portal {
    /// Checks signature and shape, and gathers what the judgement needs: nothing of this waits for
    /// the outside.
    pub(super) async fn read(&self, request: PortalRequest, caller: &Caller) -> Result<Read, Stop> {
        let (parts, came) = (self.parts(), Instant::now());
        let moment = parts.nexus.now().await.map_err(of_door)?;
        let canonical = parts.agents.verify(&request, moment.tick).await?;
        let url = url_of(&request)?;
        let sent = request
            .body
            .as_ref()
            .map(|body| (request.headers.get("content-type").unwrap_or_default(), body.as_slice()));
        let interaction = interaction(request.method, sent, &url)?;
        let asked = Asked {
            request: request.id,
            agent: request.agent,
            url: String::from_utf8_lossy(request.url.as_slice()).into_owned(),
            method: request.method,
            purpose: request.purpose.clone(),
            cycle: moment.cycle,
            tick: moment.tick,
        };
        let body = request
            .body
            .as_ref()
            .map(weir_events::web::request::Octets::as_slice)
            .unwrap_or_default();
        let filter = request.effective_filter();
        let key = pages::key(url.as_str(), request.method, body);
        let variant = variant(&request, &filter);
        let mut ban = self.ban(&request, &url, &filter);
        let mut approval = None;
        if matches!(ban, Some(PortalError::DomainBlocked { .. })) {
            let asked = approvals::of(&request, &url).map_err(internal)?;
            if parts.approvals.allows(&asked).await.map_err(of_door)? {
                (ban, approval) = (self.unfit(&request, &url, &filter, true), Some(asked));
            }
        }
        let cacheable = interaction == ApiInteractionKind::RestGet
            || interaction == ApiInteractionKind::RestPost;
        let hit = if ban.is_none() && cacheable {
            let found = parts.pages.lookup(&key, &variant, &request.agent, moment.cycle).await?;
            found.filter(|found| self.may_show(&request.agent, &filter, found))
        } else {
            None
        };
        // Who is let through alone goes alone, and a hit goes nowhere.
        let is_shared = interaction == ApiInteractionKind::RestGet && approval.is_none();
        let wanted = (is_shared && hit.is_none()).then(|| {
            let headers = request.headers.as_map().clone().into_iter().collect();
            let names = Names::asked(&url, &key, request.method);
            Wanted { key, headers, forgotten: parts.pages.forgotten(&names) }
        });
        let mut seat = None;
        if ban.is_none() && hit.is_none() && !self.is_under_way(wanted.as_ref()) {
            match self.seat(&request.agent, &url) {
                Ok(found) => seat = Some(Arc::new(found)),
                Err(error) => ban = Some(error),
            }
        }
        let admission = Admission {
            asked: asked.clone(),
            interaction,
            filter,
            key,
            epoch: moment.epoch,
            requests_per_tick: parts.settings.requests_per_tick,
            carried: BackOff::default(),
            ban,
            approval,
            hit: hit.as_deref().map(given),
        };
        let submission = Submission {
            request_hash: *blake3::hash(&canonical).as_bytes(),
            request: Arc::new(request),
            asked,
            filter,
            interaction,
            key,
            variant,
            url: Arc::new(url),
            approved: approval.is_some(),
            wanted,
            came,
            caller: caller.clone(),
        };
        Ok(Read { submission, admission, hit, seat })
    }

    /// Whether what redirects led to may be asked, and shown like this, still.
    pub(super) fn may_show(&self, agent: &AgentId, filter: &ContentFilter, found: &Cached) -> bool {
        let rules = &self.parts().rules;
        rules.all_allowed(&found.redirected)
            && (filter.strip_code_blocks || rules.all_keep_code(agent, &found.redirected).is_ok())
    }

    /// Whether somebody has the same fetched already.
    fn is_under_way(&self, wanted: Option<&Wanted>) -> bool {
        wanted.is_some_and(|wanted| self.inner.fetches.is_under_way(wanted))
    }

    /// Why the address may not be asked, or not like this.
    fn ban(
        &self,
        request: &PortalRequest,
        url: &WebUrl,
        filter: &ContentFilter,
    ) -> Option<PortalError> {
        let rules = &self.parts().rules;
        let verdict = rules.judge(url);
        if verdict.action == Action::Block {
            let (domain, reason) = (url.host().to_owned(), verdict.reason);
            return Some(PortalError::DomainBlocked { domain, reason });
        }
        self.unfit(request, url, filter, false)
    }

    /// Why the address is not reached whatever the rules say, or the page may not be given out like
    /// this.
    fn unfit(
        &self,
        request: &PortalRequest,
        url: &WebUrl,
        filter: &ContentFilter,
        approved: bool,
    ) -> Option<PortalError> {
        if let Err(error) = self.reachable(url, approved) {
            return Some(error);
        }
        let rules = &self.parts().rules;
        if filter.strip_code_blocks || rules.may_keep_code(Some(&request.agent), url) {
            return None;
        }
        let words = "`strip_code_blocks: false` needs a waiver for this agent or this host";
        Some(PortalError::PermissionDenied(words.to_owned()))
    }

    /// Asks a human to let a request through that a rule blocks; answers what the question is known by.
    pub async fn ask_a_human(
        &self,
        request: PortalRequest,
        caller: &Caller,
    ) -> Result<Hash256, PortalError> {
        let parts = self.parts();
        let moment = parts.nexus.now().await.map_err(of_door)?;
        parts.agents.verify(&request, moment.tick).await?;
        let url = url_of(&request)?;
        let filter = request.effective_filter();
        let (host, reason) = match self.ban(&request, &url, &filter) {
            Some(PortalError::DomainBlocked { domain, reason }) => (domain, reason),
            Some(error) => return Err(error),
            None => {
                let words = "no rule blocks this request: there is nothing to ask";
                return Err(PortalError::InvalidRequest(words.to_owned()));
            }
        };
        // What lies inside is not reached whatever a human says.
        self.reachable(&url, true)?;
        let approval = approvals::of(&request, &url).map_err(internal)?;
        let said = Said::by(&request);
        let asked = WebApprovalRequested {
            approval,
            agent: request.agent,
            url: url.as_str().to_owned(),
            method: request.method,
            purpose: request.purpose,
            host,
            reason,
            expires_at: parts.approvals.expiry(),
            said: Some(said),
        };
        match parts.approvals.ask(asked, caller).await {
            Ok(()) => Ok(approval),
            Err(AskFault::Full(until)) => {
                Err(PortalError::RateLimited { retry_ticks: self.ticks_until(until) })
            }
            Err(fault) => Err(internal(fault)),
        }
    }
}

/// The address of a request, in its one spelling.
fn url_of(request: &PortalRequest) -> Result<WebUrl, PortalError> {
    let text = std::str::from_utf8(request.url.as_slice())
        .map_err(|_| PortalError::InvalidUrl("it is not UTF-8".to_owned()))?;
    WebUrl::parse(text).map_err(|fault| PortalError::InvalidUrl(fault.to_string()))
}

/// What kind of interaction a request is (ruling A25), by what it sends: its type, and the body.
pub(super) fn interaction(
    method: HttpMethod,
    sent: Option<(&str, &[u8])>,
    url: &WebUrl,
) -> Result<ApiInteractionKind, PortalError> {
    if url.scheme().websocket() {
        return if method == HttpMethod::Get {
            Ok(ApiInteractionKind::WebsocketSnap)
        } else {
            let words = "a websocket is asked for with GET".to_owned();
            Err(PortalError::InvalidRequest(words))
        };
    }
    let refused = |why: graphql::Why| PortalError::InvalidRequest(format!("GraphQL: {why}"));
    let mut asks = graphql::judge_url(url.as_str()).map_err(refused)?;
    if let Some((content_type, body)) = sent.filter(|_| method == HttpMethod::Post) {
        asks |= graphql::judge_body(content_type, body).map_err(refused)?;
    }
    if asks {
        return Ok(ApiInteractionKind::GraphQL);
    }
    Ok(match method {
        HttpMethod::Get | HttpMethod::Head => ApiInteractionKind::RestGet,
        HttpMethod::Post => ApiInteractionKind::RestPost,
    })
}

/// The rendering: the filter, and the headers that may have the outside answer otherwise (ruling A5).
fn variant(request: &PortalRequest, filter: &ContentFilter) -> Hash256 {
    let of_filter = pages::variant(filter);
    let headers = request.headers.as_map();
    if headers.is_empty() {
        return of_filter;
    }
    let mut parts: Vec<&[u8]> = vec![of_filter.as_bytes()];
    for (name, value) in headers {
        parts.extend([b"\n".as_slice(), name.as_bytes(), b":", value.as_bytes()]);
    }
    Hash256::of(&parts)
}
