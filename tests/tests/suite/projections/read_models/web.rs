//! The read models of `web`, beside `suite/web/read_models.rs`.

use std::collections::BTreeMap;

use weir_events::{
    timestamp::Timestamp,
    web::{
        self, PortalReportPublished,
        approval::{ApprovalWord, Said, WebApprovalAnswered, WebApprovalRequested},
        content::ContentFilter,
        request::{Cost, HttpMethod, PortalReport},
        rule::{Action, DomainRule, DomainRuleUpdated},
    },
};
use weir_projections::web::domain_rules::{self, Filter};
use weir_tests::web as web_events;

use super::{all_reach, append, stage};

/// The n-th thing that agents do: some ask in vain, some twice, and some are never answered.
pub(super) fn browsed(n: u64) -> Vec<web::Event> {
    let agent = web_events::agent(u8::try_from(n % 3).expect("an agent"));
    let asked = web_events::asked(n, agent, n / 10);
    let content = web_events::hash(n);
    let owner = n.is_multiple_of(4).then_some(agent);
    let stored = web_events::stored(&web_events::asked(n % 12, agent, n / 10), owner, content);
    match n % 6 {
        0 => vec![
            web_events::submitted(&asked).into(),
            web_events::completed(&asked, content, 2).into(),
            stored.into(),
        ],
        1 => vec![web_events::submitted(&asked).into()],
        2 => {
            let before = web_events::asked(n - 1, agent, n / 10);
            vec![web_events::failed(&before, Cost::FAILED).into()]
        }
        3 if n % 12 == 3 => vec![web_events::too_early(&asked).into()],
        3 => vec![web_events::blocked(&asked, Cost::NONE).into()],
        4 => {
            vec![web_events::hit(&stored, &asked).into(), web_events::shown(&asked, content).into()]
        }
        _ if n % 24 == 5 => vec![web_events::expired(1, n / 10).into()],
        _ if n % 12 == 5 => vec![
            web_events::evicted(&stored, n / 10).into(),
            web_events::too_early(&asked).into(),
            web_events::submitted(&asked).into(),
        ],
        _ => vec![
            web_events::submitted(&asked).into(),
            web_events::blocked(&asked, Cost::FAILED).into(),
        ],
    }
}

/// One of two steps in the life of four questions to a human.
pub(super) fn asked_about(n: u64) -> Vec<web::Event> {
    let approval = web_events::hash(n / 2 % 4);
    if n.is_multiple_of(2) {
        let asked = WebApprovalRequested {
            approval,
            agent: web_events::agent(1),
            url: format!("https://github.com/{n}"),
            method: HttpMethod::Get,
            purpose: "to learn".to_owned(),
            host: "github.com".to_owned(),
            reason: "code".to_owned(),
            expires_at: Timestamp::from_micros(1_795_824_000_000_000),
            said: n.is_multiple_of(3).then(|| Said {
                headers: BTreeMap::from([("accept".to_owned(), "text/html".to_owned())]),
                filter: ContentFilter::default(),
                body: None,
            }),
        };
        return vec![asked.into()];
    }
    let answered = WebApprovalAnswered {
        approval,
        word: if n % 4 == 1 { ApprovalWord::Allow } else { ApprovalWord::Deny },
        reason: format!("reason {n}"),
        by: "ann".to_owned(),
        until: Timestamp::from_micros(1_795_824_600_000_000),
    };
    vec![answered.into()]
}

/// A report that says something else than was counted.
pub(super) fn published(cycle: u64) -> PortalReportPublished {
    let report = PortalReport {
        cycle,
        total_requests: 1_000,
        cache_hit_rate: 0.25,
        domains_accessed: vec!["a.example".to_owned()],
        top_users: Vec::new(),
        code_filter_hits: 1,
        blocked_requests: 2,
        total_cost: Cost::GET,
    };
    PortalReportPublished { report, state_hash: web_events::hash(cycle), revision: 0 }
}

/// The n-th thing that is said about one of a few hosts.
pub(super) fn ruled(n: u64) -> web::Event {
    let pattern = format!("n{}.example", n % 4);
    let rule = (n % 7 != 6).then(|| DomainRule {
        pattern: pattern.clone(),
        action: if n.is_multiple_of(3) { Action::Block } else { Action::Allow },
        category: "test".to_owned(),
        reason: format!("the {n}th word"),
    });
    DomainRuleUpdated { pattern, rule }.into()
}

#[tokio::test]
async fn rules_about_hosts_are_listed_the_last_changed_first_and_found_by_what_they_say() {
    let (stage, worker) = stage().await;
    let database = stage.log.log.database();
    let events: Vec<_> = (0..15).map(ruled).collect();
    let last = append(&stage, "web/rules", &events).await;
    all_reach(&stage, last).await;
    let all = domain_rules::list(database, &Filter::default(), None, 10).await.expect("rows");
    let told: Vec<_> = all.iter().map(|row| (&*row.rule.pattern, &*row.rule.reason)).collect();
    // The seventh word, and the fourteenth, took back what was said about n2 and n1.
    let wanted = [
        ("n2.example", "the 14th word"),
        ("n0.example", "the 12th word"),
        ("n3.example", "the 11th word"),
    ];
    assert_eq!(told, wanted);
    let page = domain_rules::list(database, &Filter::default(), Some(all[0].position), 1).await;
    assert_eq!(page.expect("rows"), all[1..2]);
    let filter = Filter { search: Some("n3".to_owned()), ..Filter::default() };
    assert_eq!(domain_rules::list(database, &filter, None, 10).await.expect("rows"), all[2..]);
    let filter = Filter { action: Some(Action::Block), ..Filter::default() };
    assert_eq!(domain_rules::list(database, &filter, None, 10).await.expect("rows"), all[1..2]);
    let filter = Filter { category: Some("other".to_owned()), ..Filter::default() };
    assert!(domain_rules::list(database, &filter, None, 10).await.expect("rows").is_empty());
    let found = domain_rules::find(database, "n0.example").await.expect("an answer");
    assert_eq!(found.as_ref(), Some(&all[1]));
    assert!(found.is_some_and(|row| row.created_at <= row.updated_at));
    assert_eq!(domain_rules::find(database, "n1.example").await.expect("an answer"), None);
    worker.stop().await;
}
