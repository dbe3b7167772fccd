//! What happens at the web gateway, as events to append in tests.

use weir_events::{
    nexus::CycleStarted,
    web::{
        Asked, WebCacheEvicted, WebCacheExpired, WebCacheHit, WebCacheStored, WebEvictionCause,
        WebRequestBlocked, WebRequestCompleted, WebRequestFailed, WebRequestSubmitted,
        content::{ContentFilter, FilterReport},
        request::{AgentId, ApiInteractionKind, Cost, Hash256, HttpMethod},
        transfer,
    },
};

/// The n-th agent.
pub const fn agent(n: u8) -> AgentId {
    AgentId::new([n; 32])
}

/// The n-th hash.
pub fn hash(n: u64) -> Hash256 {
    Hash256::of(&[&n.to_be_bytes()])
}

/// The n-th request, of an agent, in a cycle.
pub fn asked(n: u64, agent: AgentId, cycle: u64) -> Asked {
    Asked {
        request: hash(n),
        agent,
        url: format!("https://docs{}.example/page/{n}", n % 3),
        method: HttpMethod::Get,
        purpose: "to learn how it is done".to_owned(),
        cycle,
        tick: cycle * 256 + n % 256,
    }
}

/// It was admitted.
pub fn submitted(asked: &Asked) -> WebRequestSubmitted {
    WebRequestSubmitted {
        asked: asked.clone(),
        interaction: ApiInteractionKind::RestGet,
        key: Hash256::of(&[asked.url.as_bytes()]),
        filter: ContentFilter::default(),
        epoch: 4,
        quota: 7,
        transfer: transfer(&asked.request),
        reserved: Cost::GET,
        approval: None,
    }
}

/// What a filter did to the n-th page.
pub fn filtered(n: u32) -> FilterReport {
    FilterReport {
        code_blocks_removed: n,
        bytes_stripped: u64::from(n) * 100,
        transformations: 0,
        warnings: Vec::new(),
    }
}

/// It was answered by the outside, by a host of its own name.
pub fn completed(asked: &Asked, content: Hash256, n_blocks: u32) -> WebRequestCompleted {
    WebRequestCompleted {
        asked: asked.clone(),
        status: 200,
        content_type: "text/markdown; charset=utf-8".to_owned(),
        content,
        content_size: 10,
        cached: false,
        cost: Cost::GET,
        tax: 1,
        filtered: filtered(n_blocks),
        hosts: vec![host(&asked.url)],
        paused_at: None,
        back_off: None,
        redirects: Vec::new(),
        approval: None,
        variant: Some(hash(0)),
    }
}

/// It was answered from the cache.
pub fn shown(asked: &Asked, content: Hash256) -> WebRequestCompleted {
    WebRequestCompleted {
        cached: true,
        cost: Cost::CACHE_HIT,
        tax: 0,
        hosts: Vec::new(),
        ..completed(asked, content, 0)
    }
}

/// It was refused.
pub fn blocked(asked: &Asked, cost: Cost) -> WebRequestBlocked {
    WebRequestBlocked {
        asked: asked.clone(),
        code: 0x0702,
        error: "DomainBlocked".to_owned(),
        reason: "`evil.example` is blocked: no rule".to_owned(),
        domain: Some("evil.example".to_owned()),
        cost,
        tax: cost.spark,
        hosts: if cost == Cost::NONE { Vec::new() } else { vec![host(&asked.url)] },
        redirects: Vec::new(),
    }
}

/// It was refused for its pace, and may come again.
pub fn too_early(asked: &Asked) -> WebRequestBlocked {
    WebRequestBlocked {
        code: 0x0701,
        error: "RateLimited".to_owned(),
        reason: "too many requests; ask again in 1 ticks".to_owned(),
        domain: None,
        ..blocked(asked, Cost::NONE)
    }
}

/// It came to nothing.
pub fn failed(asked: &Asked, cost: Cost) -> WebRequestFailed {
    WebRequestFailed {
        asked: asked.clone(),
        code: 0x0703,
        error: "Timeout".to_owned(),
        reason: "the outside did not answer within 10000 ms".to_owned(),
        cost,
        tax: cost.spark,
        hosts: if cost == Cost::NONE { Vec::new() } else { vec![host(&asked.url)] },
        redirects: Vec::new(),
    }
}

/// Its page was cached, for four cycles.
pub fn stored(asked: &Asked, owner: Option<AgentId>, content: Hash256) -> WebCacheStored {
    WebCacheStored {
        key: Hash256::of(&[asked.url.as_bytes()]),
        variant: hash(0),
        owner,
        url: asked.url.clone(),
        method: asked.method,
        status: 200,
        content_type: "text/markdown; charset=utf-8".to_owned(),
        content,
        content_size: 10,
        filtered: filtered(1),
        title: Some("A page".to_owned()),
        request: asked.request,
        cycle: asked.cycle,
        ttl: 4,
        redirected: Vec::new(),
        also: Vec::new(),
        asked_at: None,
    }
}

/// It was shown.
pub fn hit(stored: &WebCacheStored, asked: &Asked) -> WebCacheHit {
    let Asked { request, agent, cycle, .. } = *asked;
    WebCacheHit { request, agent, cycle, key: stored.key, variant: stored.variant }
}

/// It was forgotten.
pub const fn evicted(stored: &WebCacheStored, cycle: u64) -> WebCacheEvicted {
    let WebCacheStored { key, variant, owner, .. } = *stored;
    WebCacheEvicted { key, variant, owner, cause: WebEvictionCause::Expired, cycle }
}

/// All were forgotten whose time had come in a cycle.
pub const fn expired(n_pages: u64, cycle: u64) -> WebCacheExpired {
    WebCacheExpired { cycle, n_pages }
}

/// A cycle began after another.
pub const fn begun(cycle: u64, after: Option<u64>) -> CycleStarted {
    CycleStarted { cycle, tick: cycle * 256, epoch: 4, after }
}

fn host(url: &str) -> String {
    let host = url.split('/').nth(2);
    host.unwrap_or_default().to_owned()
}
