//! The read models show what happened, whatever the batches were.

use std::collections::BTreeMap;

use weir_events::{
    access::{self, AgentRegistered, AgentRevoked, TokenIssued, TokenRevoked},
    codec::EventSet,
    mint::{self, SparkGranted, SparkReleased, SparkReserved, SparkTransferred},
    nexus,
    position::Position,
    registry::{
        self, Ecosystem, Mask, MetadataFiltered, PackageAllowed, Rule, RuleAdded, RuleChanged,
        RuleRemoved,
        advisory::{AdvisoryPublished, AdvisoryWithdrawn, Withdrawal},
        blocklist::{BlocklistRuleAdded, STREAM},
        policy::{WAIVERS, Waiver, WaiverExpired, WaiverGranted, WaiverRequested, WaiverRevoked},
        sync::{SyncFailed, SyncRequested, SyncStarted, SyncSucceeded},
    },
    timestamp::Timestamp,
    web::{
        self, PortalReportPublished,
        approval::{ApprovalWord, Said, WebApprovalAnswered, WebApprovalRequested},
        content::ContentFilter,
        request::{AgentId, Cost, HttpMethod, PortalReport, PublicKey},
        rule::{Action, DomainRule, DomainRuleUpdated},
    },
};
use weir_log::append::Outcome;
use weir_projections::{
    access::{agents, api_tokens},
    all,
    engine::EngineOptions,
    log::causation,
    query::QueryFault,
    registry::{
        block_log, blocked_packages, custom_rules,
        downloads::{self, Versions},
        seen_versions, sync_status,
        traffic::{self, Counts, Step},
    },
    web::domain_rules::{self, Filter},
};
use weir_tests::{
    deadline::PATIENCE,
    events::{allowed, blocked, facts, meta},
    process::{Process, options},
    web as web_events,
};

use super::Stage;

async fn append<E: EventSet>(stage: &Stage, to: &str, events: &[E]) -> Position {
    match stage.log.log.append(facts(to, events)).await.expect("append") {
        Outcome::Appended(at) => at.last,
        other => panic!("{other:?}"),
    }
}

fn rule(id: &str, versions: &str) -> Rule {
    Rule {
        id: id.to_owned(),
        ecosystem: Ecosystem::Pypi,
        package: "six".to_owned(),
        versions: versions.to_owned(),
        reason: "not reviewed".to_owned(),
        mask: Mask::Hide,
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
async fn blocks_are_listed_newest_first_page_by_page_and_counted_per_version() {
    let (stage, worker) = stage().await;
    let database = stage.log.log.database();
    let events: Vec<_> = (0..40).map(|n| blocked(n % 4)).collect();
    let last = append(&stage, "registry/decisions/2026-11-28/pypi", &events).await;
    all_reach(&stage, last).await;

    let (mut before, mut positions) = (None, Vec::new());
    loop {
        let page = block_log::list(database, &block_log::Filter::default(), before, 15).await;
        let page = page.expect("a page");
        let Some(oldest) = page.last() else { break };
        before = Some(oldest.position);
        positions.extend(page.iter().map(|row| row.position.0));
    }
    assert_eq!(positions, (1..=40).rev().collect::<Vec<_>>());
    let filter = block_log::Filter {
        ecosystem: Some(Ecosystem::Pypi),
        packages: Some(vec!["six".to_owned()]),
        source: Some("rules".to_owned()),
        principal: Some("tester".to_owned()),
        ..block_log::Filter::default()
    };
    let rows = block_log::list(database, &filter, None, 1_000).await.expect("rows");
    assert_eq!(rows.len(), 40);
    assert_eq!(rows[0].reason, "six 1.3 is not to be used here");
    assert_eq!((rows[0].version.as_deref(), rows[0].mask), (Some("1.3"), Mask::Mark));
    let other = block_log::Filter { packages: Some(vec!["seven".to_owned()]), ..filter };
    assert!(block_log::list(database, &other, None, 10).await.expect("rows").is_empty());

    let of = |filter| async move { block_log::list(database, &filter, None, 100).await };
    let version = Some("1.3".to_owned());
    let version = of(block_log::Filter { version, ..block_log::Filter::default() }).await;
    assert_eq!(version.expect("rows").len(), 10);
    let rule_id = Some("0190a1b2-0000-7000-8000-000000000001".to_owned());
    let ruled = of(block_log::Filter { rule_id, ..block_log::Filter::default() }).await;
    assert_eq!(ruled.expect("rows").len(), 40);
    let advisory_id = Some("GHSA-1".to_owned());
    let advised = of(block_log::Filter { advisory_id, ..block_log::Filter::default() }).await;
    assert!(advised.expect("rows").is_empty());

    let packages = blocked_packages::list(database, None, 10).await.expect("rows");
    let counts: Vec<_> = packages
        .iter()
        .map(|row| (row.version.as_deref().unwrap_or(""), row.n_blocks, row.last_position.0))
        .collect();
    assert_eq!(counts, [("1.3", 10, 40), ("1.2", 10, 39), ("1.1", 10, 38), ("1.0", 10, 37)]);
    worker.stop().await;
}

#[tokio::test]
async fn traffic_is_counted_by_hour_and_ecosystem_and_by_day_and_package() {
    let (stage, worker) = stage().await;
    let database = stage.log.log.database();
    let filtered = MetadataFiltered {
        ecosystem: Ecosystem::Npm,
        package: "left-pad".to_owned(),
        hidden: vec!["1.0.0".to_owned()],
        marked: Vec::new(),
        policy_revision: 1,
        document: String::new(),
    };
    let npm = PackageAllowed {
        ecosystem: Ecosystem::Npm,
        package: "left-pad".to_owned(),
        version: None,
        file: "left-pad-1.0.1.tgz".to_owned(),
        sha256: None,
        policy_revision: 1,
        published_at: None,
        late: false,
        warning: None,
        excuse: None,
        profile: None,
        served: None,
    };
    let mut events: Vec<registry::Event> = (0..7).map(allowed).collect();
    events.extend((0..4).map(blocked));
    events.extend([filtered.into(), npm.into()]);
    let last = append(&stage, "registry/decisions/2026-11-28/pypi", &events).await;
    all_reach(&stage, last).await;

    let at = stage.log.log.event(last).await.expect("an answer").expect("an event").recorded_at;
    for (step, seconds) in [(Step::Hour, 3_600), (Step::Day, 86_400)] {
        let width = seconds * 1_000_000;
        let began = Timestamp::from_micros(at.micros() / width * width);
        let rows = traffic::over_time(database, began, step, None).await.expect("rows");
        let said: Vec<_> = rows.iter().map(|r| (r.at, r.ecosystem, r.counts)).collect();
        let counts = |n_allowed, n_blocked, n_filtered| Counts { n_allowed, n_blocked, n_filtered };
        let wanted =
            [(began, Ecosystem::Npm, counts(1, 0, 1)), (began, Ecosystem::Pypi, counts(7, 4, 0))];
        assert_eq!(said, wanted);
        let later = traffic::over_time(database, began.plus_seconds(seconds), step, None).await;
        assert!(later.expect("rows").is_empty());
        let npm = traffic::over_time(database, began, step, Some(Ecosystem::Npm)).await;
        assert_eq!(npm.expect("rows").len(), 1);
        let top =
            traffic::top(database, began.plus_seconds(-86_400), None, 10).await.expect("rows");
        let top: Vec<_> =
            top.iter().map(|r| (r.package.as_str(), r.n_allowed, r.n_blocked)).collect();
        assert_eq!(top, [("six", 7, 4), ("left-pad", 1, 0)]);
    }

    let of = |names: &'static [&'static str]| async move {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let rows = seen_versions::list(database, Ecosystem::Pypi, &names, 5).await.expect("rows");
        rows.into_iter().map(|r| (r.version, r.n_allowed, r.n_blocked)).collect::<Vec<_>>()
    };
    let said = of(&["six"]).await;
    let said: Vec<_> = said.iter().map(|(v, a, b)| (v.as_str(), *a, *b)).collect();
    // Refused last, then let through last.
    assert_eq!(said, [("1.3", 1, 1), ("1.2", 1, 1), ("1.1", 1, 1), ("1.0", 1, 1), ("1.6", 1, 0)]);
    assert_eq!(of(&["nothing", "s*x"]).await.len(), 5);
    assert_eq!(of(&["si_", "s%", "left-pad"]).await, []);
    let (pypi, npm) = (Ecosystem::Pypi, Ecosystem::Npm);
    let mut of = Versions::default();
    for (ecosystem, package, version) in
        [(pypi, "six", "1.1"), (pypi, "six", "1.6"), (npm, "left-pad", ""), (npm, "six", "1.2")]
    {
        of.push(ecosystem, package, version);
    }
    let rows = downloads::list(database, &of, None, 10).await.expect("rows");
    let said: Vec<_> = rows.iter().map(|r| (r.ecosystem, r.version.as_deref())).collect();
    assert_eq!(said, [(npm, None), (pypi, Some("1.6")), (pypi, Some("1.1"))]);
    assert!(rows.iter().all(|r| r.principal == "tester" && r.n_downloads == 1));
    assert!(rows.iter().all(|r| r.first_at <= r.last_at && r.last_position < last.next()));
    let next = downloads::list(database, &of, Some(rows[0].last_position), 1).await.expect("rows");
    assert_eq!(next, rows[1..2]);
    let totals = downloads::totals(database, &of).await.expect("rows");
    let said: Vec<_> =
        totals.iter().map(|r| (&*r.version, r.n_principals, r.n_downloads)).collect();
    assert_eq!(said, [("", 1, 1), ("1.1", 1, 1), ("1.6", 1, 1)]);
    assert_eq!(downloads::n_principals(database, &of).await.expect("a number"), 1);
    assert_eq!(downloads::packages(database, pypi, "", 9).await.expect("rows"), ["six"]);
    assert_eq!(downloads::packages(database, npm, "left-pad", 9).await.expect("rows"), [""; 0]);
    let (mut after, mut files) = (None, Vec::new());
    let names = ["six".to_owned(), "left-pad".to_owned()];
    loop {
        let page = downloads::files(database, pypi, &names, after.as_ref(), 3).await;
        let page = page.expect("rows");
        after = page.last().cloned();
        files.extend(page.iter().map(|row| row.file.clone()));
        if page.len() < 3 {
            break;
        }
    }
    let wanted: Vec<_> = (0..7).map(|n| format!("six-1.{n}.tar.gz")).collect();
    assert_eq!(files, wanted);
    let one =
        traffic::top(database, Timestamp::EPOCH, Some(Ecosystem::Npm), 1).await.expect("rows");
    assert_eq!(one.iter().map(|r| r.package.as_str()).collect::<Vec<_>>(), ["left-pad"]);
    worker.stop().await;
}

#[tokio::test]
async fn rules_in_force_are_the_last_word_on_each_and_removed_ones_are_gone() {
    let (stage, worker) = stage().await;
    let database = stage.log.log.database();
    let events: [registry::Event; 6] = [
        RuleAdded { rule: rule("a", ">=1") }.into(),
        RuleAdded { rule: rule("b", ">=1") }.into(),
        RuleChanged { rule: rule("a", ">=2") }.into(),
        RuleRemoved { id: "b".to_owned() }.into(),
        RuleAdded { rule: rule("c", ">=1") }.into(),
        RuleChanged { rule: rule("a", ">=3") }.into(),
    ];
    let last = append(&stage, "registry/rules", &events).await;
    all_reach(&stage, last).await;
    let rules = custom_rules::list(database, None, 10).await.expect("rows");
    let said: Vec<_> = rules
        .iter()
        .map(|row| (row.rule.id.as_str(), row.rule.versions.as_str(), row.position.0))
        .collect();
    assert_eq!(said, [("a", ">=3", 6), ("c", ">=1", 5)]);
    assert_eq!(custom_rules::list(database, Some("a"), 10).await.expect("rows").len(), 1);
    assert_eq!(custom_rules::find(database, "b").await.expect("an answer"), None);
    let found = custom_rules::find(database, "a").await.expect("an answer").expect("a rule");
    assert_eq!((found.rule, found.changed_by.as_str()), (rule("a", ">=3"), "tester"));
    worker.stop().await;
}

#[tokio::test]
async fn tokens_are_listed_with_their_scopes_and_their_end() {
    let (stage, worker) = stage().await;
    let database = stage.log.log.database();
    let issued = |id: &str, scopes: &[&str]| TokenIssued {
        token_id: id.to_owned(),
        name: format!("token {id}"),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        expires_at: (id == "b").then_some(Timestamp::from_micros(9_000_000)),
        profile: (id == "b").then(|| "agent".to_owned()),
        agent: (id == "b").then(|| AgentId::new([7; 32])),
    };
    let events: [access::Event; 4] = [
        issued("a", &["admin", "an odd \"scope\""]).into(),
        issued("b", &["rules:read"]).into(),
        TokenRevoked { token_id: "a".to_owned() }.into(),
        issued("c", &[]).into(),
    ];
    let last = append(&stage, "access/token/any", &events).await;
    all_reach(&stage, last).await;
    let tokens = api_tokens::list(database, None, 10).await.expect("rows");
    let ids: Vec<_> = tokens.iter().map(|t| (t.id.as_str(), t.revoked_at.is_some())).collect();
    assert_eq!(ids, [("c", false), ("b", false), ("a", true)]);
    assert_eq!(tokens[2].scopes, ["admin", "an odd \"scope\""]);
    assert_eq!(
        (tokens[0].scopes.len(), tokens[1].expires_at.map(Timestamp::micros)),
        (0, Some(9_000_000))
    );
    let found = api_tokens::find(database, "b").await.expect("an answer").expect("a token");
    assert_eq!((found.name.as_str(), found.issued_by.as_str()), ("token b", "tester"));
    assert_eq!(found.profile.as_deref(), Some("agent"));
    assert_eq!(found.agent, Some("07".repeat(32)));
    assert_eq!(tokens[0].agent, None);
    assert_eq!(api_tokens::find(database, "d").await.expect("an answer"), None);
    worker.stop().await;
}

#[tokio::test]
async fn agents_are_listed_with_their_keys_and_who_revoked_them() {
    let (stage, worker) = stage().await;
    let database = stage.log.log.database();
    let agent = |n: u8| AgentId::of_key(&PublicKey::new([n; 32]));
    let registered = |n: u8| {
        let (name, public_key) = (format!("agent {n}"), PublicKey::new([n; 32]));
        access::Event::from(AgentRegistered { agent: agent(n), name, public_key })
    };
    let revoked = |n: u8| access::Event::from(AgentRevoked { agent: agent(n) });
    let events = [registered(1), registered(2), revoked(1), registered(3), revoked(1)];
    let last = append(&stage, "access/agent/any", &events).await;
    all_reach(&stage, last).await;
    let agents = agents::list(database, None, 10).await.expect("rows");
    let told: Vec<_> = agents.iter().map(|a| (a.name.as_str(), a.revoked_at.is_some())).collect();
    assert_eq!(told, [("agent 3", false), ("agent 2", false), ("agent 1", true)]);
    let next = agents::list(database, Some(agents[1].position), 10).await.expect("rows");
    assert_eq!(next, agents[2..]);
    let found = agents::find(database, &agent(1)).await.expect("an answer").expect("an agent");
    assert_eq!((found.id, found.public_key), (agent(1).to_string(), "01".repeat(32)));
    assert_eq!((found.registered_by, found.revoked_by), ("tester".into(), Some("tester".into())));
    assert_eq!(agents::find(database, &agent(4)).await.expect("an answer"), None);
    worker.stop().await;
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

/// The n-th visit to a source, or a piece of one.
fn visit(n: u64) -> Vec<registry::Event> {
    let (source, ecosystem) = ("osv".to_owned(), (!n.is_multiple_of(3)).then_some(Ecosystem::Npm));
    let started = SyncStarted { source: source.clone(), ecosystem }.into();
    let revision = (!n.is_multiple_of(4)).then(|| n.to_string());
    let succeeded = SyncSucceeded {
        source: source.clone(),
        ecosystem,
        n_records: n % 5,
        n_unreadable: n % 2,
        n_published: n % 3,
        n_changed: 1,
        n_withdrawn: 0,
        duration_ms: n,
        revision,
    };
    let (cause, asked) = (n.to_string(), source.clone());
    let failed = SyncFailed { source, ecosystem, duration_ms: n, cause }.into();
    let asked = SyncRequested { source: asked, believe_losses: n.is_multiple_of(2) }.into();
    match n % 4 {
        0 => vec![started, succeeded.into()],
        1 => vec![asked, started],
        2 => vec![failed],
        _ => vec![started, failed, asked],
    }
}

#[tokio::test]
async fn sources_stand_as_their_last_visits_ended() {
    let (stage, worker) = stage().await;
    let database = stage.log.log.database();
    let mut last = Position::START;
    for n in [0, 12, 18] {
        last = append(&stage, "registry/source/osv", &visit(n)).await;
    }
    let advisory = |n: u64| {
        weir_tests::advisories::advisory(Ecosystem::Npm, &format!("A-{n}"), "x", "1", None)
    };
    let published = (0..5).map(|n| AdvisoryPublished { advisory: advisory(n) }.into());
    let gone = AdvisoryWithdrawn {
        source: "osv".to_owned(),
        ecosystem: Ecosystem::Npm,
        id: "A-1".to_owned(),
        cause: Withdrawal::Gone,
    };
    let news: Vec<registry::Event> = published.chain([gone.into()]).collect();
    last = last.max(append(&stage, "registry/advisories/osv/npm", &news).await);
    stage.reaches("sync_status", last).await;
    let tally = sync_status::tally(database).await.expect("a tally");
    assert_eq!(tally, [("osv".to_owned(), Some(Ecosystem::Npm), 4)]);
    let status = sync_status::list(database).await.expect("the status");
    let [whole] = &status[..] else { panic!("{status:?}") };
    assert_eq!((whole.ecosystem, whole.n_records, whole.cause.as_deref()), (None, 2, Some("18")));
    assert!(whole.succeeded_at.is_some() && whole.failed_at.is_some(), "{whole:?}");
    let history = sync_status::history(database, "osv", None, 10).await.expect("a history");
    let told: Vec<_> = history.iter().map(|visit| (visit.duration_ms, &visit.cause)).collect();
    assert_eq!(told, [(18, &Some("18".to_owned())), (12, &None), (0, &None)]);
    let older = sync_status::history(database, "osv", Some(history[1].position), 10).await;
    assert_eq!(older.expect("older ones"), history[2..]);
    assert!(sync_status::requests(database).await.expect("requests").is_empty());
    worker.stop().await;
}

/// The n-th thing that happens to one of a few waivers.
fn waived(n: u64) -> registry::Event {
    let id = format!("w{}", n / 4 % 5);
    let waiver = Waiver {
        id: id.clone(),
        ecosystem: Ecosystem::Npm,
        package: "x".to_owned(),
        versions: "*".to_owned(),
        waives: vec![format!("A-{n}")],
        token: None,
        reason: "reviewed".to_owned(),
        owner: "ann".to_owned(),
        expires_at: Timestamp::from_micros(1_800_000_000_000_000),
    };
    let (requested_by, granted_by) = ("ann".to_owned(), "bob".to_owned());
    match n % 4 {
        0 => WaiverRequested { waiver, requested_by }.into(),
        1 => WaiverGranted { waiver, requested_by, granted_by }.into(),
        2 if n.is_multiple_of(3) => WaiverExpired { id }.into(),
        2 => WaiverRevoked { id, revoked_by: granted_by, reason: "no more".to_owned() }.into(),
        _ => blocked(n),
    }
}

/// The n-th thing that agents do: some ask in vain, some twice, and some are never answered.
fn browsed(n: u64) -> Vec<web::Event> {
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
fn asked_about(n: u64) -> Vec<web::Event> {
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
fn published(cycle: u64) -> PortalReportPublished {
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
fn ruled(n: u64) -> web::Event {
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

#[tokio::test]
async fn every_read_model_is_the_same_rebuilt_in_large_batches_as_lived_in_small_ones() {
    let (stage, worker) = stage().await;
    let mut last = Position::START;
    for n in 0..63_u64 {
        let id = format!("r{}", n % 5);
        let one: registry::Event = match n % 6 {
            0 => RuleAdded { rule: rule(&id, ">=1") }.into(),
            1 => RuleChanged { rule: rule(&id, &format!(">={n}")) }.into(),
            2 => RuleRemoved { id }.into(),
            _ => blocked(n % 7),
        };
        last =
            append(&stage, "facts", &[one, blocked(n % 3), weir_tests::events::allowed(n)]).await;
        let token: access::Event = if n % 2 == 0 {
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
        let agent: access::Event = if n % 2 == 0 {
            AgentRegistered { agent: id, name: format!("a{n}"), public_key }.into()
        } else {
            AgentRevoked { agent: id }.into()
        };
        last = last.max(append(&stage, "agents", &[agent]).await);
        last = last.max(append(&stage, "registry/source/osv", &visit(n)).await);
        let listed: registry::Event = BlocklistRuleAdded { rule: rule("b", "*") }.into();
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
            let report: web::Event = published(n / 10 - 1).into();
            last = last.max(append(&stage, web::REPORTS, &[report]).await);
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
