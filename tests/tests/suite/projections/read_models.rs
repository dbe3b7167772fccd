//! The read models show what happened, whatever the batches were.

mod access;
mod registry;
mod web;

use weir_events::{
    access::{AgentRegistered, AgentRevoked, TokenIssued, TokenRevoked},
    codec::EventSet,
    mint::{self, SparkGranted, SparkReleased, SparkReserved, SparkTransferred},
    nexus,
    position::Position,
    registry::{
        RuleAdded, RuleChanged, RuleRemoved,
        blocklist::{BlocklistRuleAdded, STREAM},
        policy::WAIVERS,
    },
    web::request::{AgentId, PublicKey},
};
use weir_log::append::Outcome;
use weir_projections::{
    all, engine::EngineOptions, log::causation, query::QueryFault, registry::custom_rules,
};
use weir_tests::{
    deadline::PATIENCE,
    events::{allowed, blocked, facts, meta},
    process::{Process, options},
    web as web_events,
};

use self::{
    registry::{rule, visit, waived},
    web::{asked_about, browsed, published, ruled},
};
use super::Stage;

async fn append<E: EventSet>(stage: &Stage, to: &str, events: &[E]) -> Position {
    match stage.log.log.append(facts(to, events)).await.expect("append") {
        Outcome::Appended(at) => at.last,
        other => panic!("{other:?}"),
    }
}

/// One of four steps in the life of two accounts.
fn paid(n: u64) -> mint::Event {
    let (account, transfer) = (format!("a{}", n % 2), (n / 8).to_string());
    match n % 8 / 2 {
        0 => SparkGranted { account, amount: 100, reason: "a new month".to_owned() }.into(),
        1 => SparkReserved { account, transfer, amount: 5 }.into(),
        2 if n.is_multiple_of(2) => SparkReleased { account, transfer, reserved: 5 }.into(),
        2 => SparkTransferred {
            transfer,
            from: account,
            to: mint::TREASURY.to_owned(),
            amount: 2,
            tax: 1,
            reserved: 5,
        }
        .into(),
        _ => SparkGranted { account, amount: n, reason: "more".to_owned() }.into(),
    }
}

/// A stage where all read models live, in batches of few events.
async fn stage() -> (Stage, Process) {
    let stage = Stage::new(all()).await;
    let small = EngineOptions { live_batch: 3, ..options() };
    let worker = Process::start(&stage.database, all(), small).await;
    (stage, worker)
}

async fn all_reach(stage: &Stage, last: Position) {
    for projection in all() {
        stage.asking.wait_for(projection.name(), last, PATIENCE).await.expect("it gets there");
    }
}

#[tokio::test]
async fn before_a_worker_ran_a_query_says_what_is_missing() {
    let stage = Stage::new(all()).await;
    let missing = custom_rules::list(stage.log.log.database(), None, 10).await;
    let missing = missing.expect_err("nothing is built");
    assert!(matches!(missing, QueryFault::NotBuilt("registry.custom_rules")), "{missing:?}");
    assert!(missing.passing());
}

#[tokio::test]
async fn a_chain_is_every_event_of_one_first_cause_in_order() {
    let (stage, worker) = stage().await;
    let first = meta();
    let mut chain = Vec::new();
    let mut cause = None;
    for _ in 0..3 {
        append(&stage, "elsewhere", &[blocked(1)]).await;
        let mut meta = meta();
        (meta.correlation_id, meta.causation_id) = (first.correlation_id, cause);
        cause = Some(meta.event_id);
        let mut append = facts("chain", &[blocked(2)]);
        append.writes[0].events[0] =
            weir_events::envelope::NewEvent::new(&blocked(2), &meta).expect("encode");
        match stage.log.log.append(append).await.expect("append") {
            Outcome::Appended(at) => chain.push((at.last, meta.event_id, meta.causation_id)),
            other => panic!("{other:?}"),
        }
    }
    stage.reaches("causation", stage.log.log.head()).await;
    let database = stage.log.log.database();
    for (position, ..) in &chain {
        let links = causation::chain(database, *position).await.expect("a chain");
        assert!(links.iter().all(|link| link.correlation_id == first.correlation_id));
        let said: Vec<_> =
            links.iter().map(|link| (link.position, link.event_id, link.causation_id)).collect();
        assert_eq!(said, chain);
    }
    assert!(causation::chain(database, Position(99)).await.expect("a chain").is_empty());
    worker.stop().await;
}

#[tokio::test]
async fn every_read_model_is_the_same_rebuilt_in_large_batches_as_lived_in_small_ones() {
    let (stage, worker) = stage().await;
    let mut last = Position::START;
    for n in 0..63_u64 {
        let id = format!("r{}", n % 5);
        let one: weir_events::registry::Event = match n % 6 {
            0 => RuleAdded { rule: rule(&id, ">=1") }.into(),
            1 => RuleChanged { rule: rule(&id, &format!(">={n}")) }.into(),
            2 => RuleRemoved { id }.into(),
            _ => blocked(n % 7),
        };
        last = append(&stage, "facts", &[one, blocked(n % 3), allowed(n)]).await;
        let token: weir_events::access::Event = if n % 2 == 0 {
            let token_id = format!("t{n}");
            TokenIssued {
                token_id,
                name: "t".into(),
                scopes: vec![],
                expires_at: None,
                profile: None,
                agent: None,
            }
            .into()
        } else {
            TokenRevoked { token_id: format!("t{}", n - 1) }.into()
        };
        last = last.max(append(&stage, "tokens", &[token]).await);
        let public_key = PublicKey::new([u8::try_from(n / 2).unwrap_or_default(); 32]);
        let id = AgentId::of_key(&public_key);
        let agent: weir_events::access::Event = if n % 2 == 0 {
            AgentRegistered { agent: id, name: format!("a{n}"), public_key }.into()
        } else {
            AgentRevoked { agent: id }.into()
        };
        last = last.max(append(&stage, "agents", &[agent]).await);
        last = last.max(append(&stage, "registry/source/osv", &visit(n)).await);
        let listed: weir_events::registry::Event =
            BlocklistRuleAdded { rule: rule("b", "*") }.into();
        last = last.max(append(&stage, STREAM, &[listed]).await);
        last = last.max(append(&stage, WAIVERS, &[waived(n)]).await);
        last = last.max(append(&stage, "mint/ann", &[paid(n)]).await);
        last = last.max(append(&stage, "web/agents", &browsed(n)).await);
        last = last.max(append(&stage, "web/approval/a", &asked_about(n)).await);
        if n % 10 == 9 {
            let (cycle, after) = (n / 10 + 1, (n > 10).then_some(n / 10));
            let begun: nexus::Event = web_events::begun(cycle, after).into();
            last = last.max(append(&stage, "nexus", &[begun]).await);
        }
        if n % 20 == 12 {
            let report: weir_events::web::Event = published(n / 10 - 1).into();
            last = last.max(append(&stage, weir_events::web::REPORTS, &[report]).await);
        }
        last = last.max(append(&stage, "web/rules", &[ruled(n)]).await);
    }
    all_reach(&stage, last).await;
    for projection in all() {
        let report = stage.asking.check(projection.name(), |_| ()).await.expect("a report");
        assert!(report.equal(), "{}: {report:#?}", projection.name());
        assert!(report.tables.iter().all(|table| table.n_rows > 0), "{report:?}");
    }
    worker.stop().await;
}
