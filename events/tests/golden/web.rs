//! One event of every kind of `web`.

use weir_events::{
    position::Position,
    timestamp::Timestamp,
    web::{
        self, Asked, ContentFiltered, Invalidated, PortalReportPublished, QuotaExhausted,
        WebCacheEvicted, WebCacheExpired, WebCacheHit, WebCacheInvalidated, WebCacheStored,
        WebEvictionCause, WebRedirect, WebRequestBlocked, WebRequestCompleted, WebRequestFailed,
        WebRequestSubmitted,
        approval::{ApprovalWord, WebApprovalAnswered, WebApprovalCounted, WebApprovalRequested},
        content::{ContentFilter, FilterReport},
        request::{AgentId, ApiInteractionKind, Cost, Hash256, HttpMethod, PortalReport, TopUser},
        rule::{
            Action, DomainRule, DomainRuleUpdated, Permits, WebWaiver, WebWaiverExpired,
            WebWaiverGranted, WebWaiverRequested, WebWaiverRevoked,
        },
    },
};

fn web_waiver() -> WebWaiver {
    WebWaiver {
        id: "0193a000-0000-7000-8000-000000000002".to_owned(),
        permits: Permits::Code,
        pattern: Some("**.example.org".to_owned()),
        agent: Some(AgentId::new([7; 32])),
        reason: "its examples are what is studied".to_owned(),
        owner: "team a".to_owned(),
        expires_at: Timestamp::from_micros(1_795_824_000_123_456),
    }
}

pub(super) fn events() -> Vec<web::Event> {
    let hash = |byte: u8| Hash256::new([byte; 32]);
    let agent = AgentId::new([0xa9; 32]);
    let asked = Asked {
        request: hash(1),
        agent,
        url: "https://docs.rs/six?q=7#top".to_owned(),
        method: HttpMethod::Get,
        purpose: "learn how six counts".to_owned(),
        cycle: 3,
        tick: 777,
    };
    let report = FilterReport {
        code_blocks_removed: 2,
        bytes_stripped: 140,
        transformations: 1,
        warnings: vec!["high code density detected".to_owned()],
    };
    let hosts = vec!["docs.rs".to_owned()];
    let rule = DomainRule {
        pattern: "docs.rs".to_owned(),
        action: Action::Allow,
        category: "documentation".to_owned(),
        reason: "documentation of crates".to_owned(),
    };
    vec![
        WebRequestSubmitted {
            asked: asked.clone(),
            interaction: ApiInteractionKind::RestGet,
            key: hash(2),
            filter: ContentFilter::default(),
            epoch: 3,
            quota: 5,
            transfer: hash(3),
            reserved: Cost::GET,
            approval: None,
        }
        .into(),
        WebRequestCompleted {
            asked: asked.clone(),
            status: 200,
            content_type: "text/html; charset=utf-8".to_owned(),
            content: hash(4),
            content_size: 1_234,
            cached: false,
            cost: Cost::GET,
            tax: 1,
            filtered: report.clone(),
            hosts: hosts.clone(),
            paused_at: None,
            back_off: Some(2),
            redirects: Vec::new(),
            approval: None,
            variant: None,
        }
        .into(),
        WebRequestBlocked {
            asked: asked.clone(),
            code: 0x0702,
            error: "DomainBlocked".to_owned(),
            reason: "`github.com` is blocked: code".to_owned(),
            domain: Some("github.com".to_owned()),
            cost: Cost::FAILED,
            tax: 1,
            hosts: hosts.clone(),
            redirects: Vec::new(),
        }
        .into(),
        WebRequestFailed {
            asked,
            code: 0x0703,
            error: "Timeout".to_owned(),
            reason: "the outside did not answer within 10000 ms".to_owned(),
            cost: Cost::FAILED,
            tax: 1,
            hosts,
            redirects: Vec::new(),
        }
        .into(),
        ContentFiltered { request: hash(1), agent, cycle: 3, report: report.clone() }.into(),
        WebCacheHit { request: hash(1), agent, cycle: 3, key: hash(2), variant: hash(5) }.into(),
        WebCacheStored {
            key: hash(2),
            variant: hash(5),
            owner: Some(agent),
            url: "https://docs.rs/six?q=7".to_owned(),
            method: HttpMethod::Get,
            status: 200,
            content_type: "text/html; charset=utf-8".to_owned(),
            content: hash(4),
            content_size: 1_234,
            filtered: report,
            title: Some("six".to_owned()),
            request: hash(1),
            cycle: 3,
            ttl: 4,
            redirected: Vec::new(),
            also: Vec::new(),
            asked_at: None,
        }
        .into(),
        WebCacheEvicted {
            key: hash(2),
            variant: hash(5),
            owner: None,
            cause: WebEvictionCause::Expired,
            cycle: 7,
        }
        .into(),
        WebCacheExpired { cycle: 7, n_pages: 12 }.into(),
        WebCacheInvalidated {
            pages: Invalidated::Keys(vec![hash(2), hash(3)]),
            cause: WebEvictionCause::Changed,
            cycle: 7,
        }
        .into(),
        DomainRuleUpdated { pattern: rule.pattern.clone(), rule: Some(rule) }.into(),
        WebWaiverRequested { waiver: web_waiver(), requested_by: "ann".to_owned() }.into(),
        WebWaiverGranted {
            waiver: web_waiver(),
            requested_by: "ann".to_owned(),
            granted_by: "bob".to_owned(),
        }
        .into(),
        WebWaiverRevoked {
            id: web_waiver().id,
            revoked_by: "bob".to_owned(),
            reason: "not needed any more".to_owned(),
        }
        .into(),
        WebWaiverExpired { id: web_waiver().id }.into(),
        QuotaExhausted { agent, cycle: 3, tick: 777, used: 5, max: 5 }.into(),
        PortalReportPublished {
            report: PortalReport {
                cycle: 3,
                total_requests: 8,
                cache_hit_rate: 0.25,
                domains_accessed: vec!["docs.rs".to_owned()],
                top_users: vec![TopUser { agent, requests: 8 }],
                code_filter_hits: 1,
                blocked_requests: 2,
                total_cost: Cost { ticks: 12, spark: 7 },
            },
            state_hash: hash(6),
            revision: 0,
        }
        .into(),
        WebApprovalRequested {
            approval: hash(7),
            agent,
            url: "https://github.com/six".to_owned(),
            method: HttpMethod::Get,
            purpose: "learn how six counts".to_owned(),
            host: "github.com".to_owned(),
            reason: "code".to_owned(),
            expires_at: Timestamp::from_micros(1_795_824_000_000_000),
            said: None,
        }
        .into(),
        WebApprovalAnswered {
            approval: hash(7),
            word: ApprovalWord::Allow,
            reason: "it is the specification".to_owned(),
            by: "ann".to_owned(),
            until: Timestamp::from_micros(1_795_824_600_000_000),
        }
        .into(),
        WebApprovalCounted {
            agent,
            approval: hash(7),
            at: Timestamp::from_micros(1_795_823_900_000_000),
            expires_at: Timestamp::from_micros(1_795_824_000_000_000),
            answered: vec![hash(8)],
        }
        .into(),
    ]
}

/// What was added to events since their first golden files: written where there is any, and read.
pub(super) fn added() -> Vec<web::Event> {
    let redirect = WebRedirect {
        url: "https://github.com/six".to_owned(),
        action: Action::Block,
        rule: Some("github.com".to_owned()),
        reason: "code".to_owned(),
    };
    let added = events().into_iter().filter_map(|event| {
        let redirects = vec![redirect.clone()];
        Some(match event {
            web::Event::WebRequestCompleted(done) => {
                let (approval, variant) = (Hash256::new([7; 32]), Hash256::new([5; 32]));
                WebRequestCompleted {
                    redirects,
                    approval: Some(approval),
                    variant: Some(variant),
                    paused_at: Some(780),
                    ..done
                }
                .into()
            }
            web::Event::WebRequestBlocked(it) => WebRequestBlocked { redirects, ..it }.into(),
            web::Event::WebRequestFailed(it) => WebRequestFailed { redirects, ..it }.into(),
            web::Event::PortalReportPublished(it) => {
                PortalReportPublished { revision: 1, ..it }.into()
            }
            web::Event::WebCacheEvicted(it) => {
                WebCacheEvicted { cause: WebEvictionCause::Changed, ..it }.into()
            }
            web::Event::WebCacheStored(it) => {
                let also = vec![Hash256::new([8; 32]), Hash256::new([9; 32])];
                WebCacheStored { also, asked_at: Some(Position(12)), ..it }.into()
            }
            web::Event::WebCacheInvalidated(it) => {
                let (pages, cause) =
                    (Invalidated::Host("docs.rs".to_owned()), WebEvictionCause::Purged);
                WebCacheInvalidated { pages, cause, ..it }.into()
            }
            _ => return None,
        })
    });
    added.collect()
}
