//! The read models of `registry`.

use weir_events::{
    position::Position,
    registry::{
        self, Ecosystem, Mask, MetadataFiltered, PackageAllowed, Rule, RuleAdded, RuleChanged,
        RuleRemoved,
        advisory::{AdvisoryPublished, AdvisoryWithdrawn, Withdrawal},
        policy::{Waiver, WaiverExpired, WaiverGranted, WaiverRequested, WaiverRevoked},
        sync::{SyncFailed, SyncRequested, SyncStarted, SyncSucceeded},
    },
    timestamp::Timestamp,
};
use weir_projections::registry::{
    block_log, blocked_packages, custom_rules,
    downloads::{self, Versions},
    seen_versions, sync_status,
    traffic::{self, Counts, Step},
};
use weir_tests::events::{allowed, blocked};

use super::{all_reach, append, stage};

pub(super) fn rule(id: &str, versions: &str) -> Rule {
    Rule {
        id: id.to_owned(),
        ecosystem: Ecosystem::Pypi,
        package: "six".to_owned(),
        versions: versions.to_owned(),
        reason: "not reviewed".to_owned(),
        mask: Mask::Hide,
    }
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
        document: None,
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

/// The n-th visit to a source, or a piece of one.
pub(super) fn visit(n: u64) -> Vec<registry::Event> {
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
pub(super) fn waived(n: u64) -> registry::Event {
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
