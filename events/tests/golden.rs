//! Golden files: every kind in every schema ever written decodes for ever.
//!
//! `golden/<Kind>.v<schema>.msgpack` holds the stored bytes, `….json` what they must be read as
//! today. They are never edited: a new schema adds files and an upcaster.

#![expect(clippy::expect_used, clippy::panic, reason = "a test says what it expected")]

use std::{fs, path::PathBuf};

use proptest::prelude::*;
use weir_events::{
    access::{
        self, AgentRegistered, AgentRevoked, SessionEnd, SessionEnded, SessionOpened, TokenIssued,
        TokenRevoked,
    },
    codec::{self, EventSet},
    kind::{self, Kind},
    log::{self, DeadLetterRedelivered, ReplayCancelled, ReplayRequested},
    mint::{self, SparkGranted, SparkReleased, SparkReserved, SparkTransferred},
    nexus::{self, ClockDriven, ClockSet, CycleStarted, EpochAdvanced, Pace},
    position::Position,
    registry::{
        self, CacheEvicted, CachePurged, CacheStored, Ecosystem, EvictionCause, FileDelivered,
        Mask, MetadataFiltered, PackageAllowed, PackageBlocked, Rule, RuleAdded, RuleChanged,
        RuleRemoved, UpstreamRejected,
        advisory::{
            Advisory, AdvisoryChanged, AdvisoryPublished, AdvisoryWithdrawn, Affected, Class, End,
            Severity, Window, Withdrawal,
        },
        blocklist::{BlocklistRuleAdded, BlocklistRuleRemoved},
        hold::{Ground, Hold, HoldAnswered, PackageRequested, Word},
        policy::{
            EcosystemSettings, Mode, NameReleased, NameReserved, Required, Reserved, Settings,
            SettingsChanged, Waiver, WaiverExpired, WaiverGranted, WaiverRequested, WaiverRevoked,
        },
        profile::{Profile, ProfileRemoved, ProfileSet, QuotaSpent},
        sighting::{DigestPinned, TrustLost, VersionTold, VersionsSeen, Vouched},
        sync::{SyncFailed, SyncRequested, SyncStarted, SyncSucceeded},
    },
    timestamp::Timestamp,
    web::{
        self, Asked, ContentFiltered, PortalReportPublished, QuotaExhausted, WebCacheEvicted,
        WebCacheHit, WebCacheStored, WebEvictionCause, WebRequestBlocked, WebRequestCompleted,
        WebRequestFailed, WebRequestSubmitted,
        approval::{ApprovalWord, WebApprovalAnswered, WebApprovalRequested},
        content::{ContentFilter, FilterReport},
        request::{
            AgentId, ApiInteractionKind, Cost, Hash256, HttpMethod, PortalReport, PublicKey,
            TopUser,
        },
        rule::{
            Action, DomainRule, DomainRuleUpdated, Permits, WebWaiver, WebWaiverExpired,
            WebWaiverGranted, WebWaiverRequested, WebWaiverRevoked,
        },
    },
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

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

fn rule() -> Rule {
    Rule {
        id: "0193a000-0000-7000-8000-000000000001".to_owned(),
        ecosystem: Ecosystem::Pypi,
        package: "six".to_owned(),
        versions: ">=1.17".to_owned(),
        reason: "not reviewed yet".to_owned(),
        mask: Mask::DenyOnly,
    }
}

fn advisory() -> Advisory {
    let window =
        |introduced: Option<&str>, end| Window { introduced: introduced.map(str::to_owned), end };
    Advisory {
        source: "osv".to_owned(),
        ecosystem: Ecosystem::Pypi,
        id: "GHSA-0000-0000-0000".to_owned(),
        aliases: vec!["CVE-2026-0001".to_owned()],
        class: Class::Vulnerability,
        summary: "six times seven is not always 42".to_owned(),
        modified: Some(Timestamp::from_micros(1_795_824_000_123_456)),
        affected: vec![Affected {
            package: "six".to_owned(),
            severity: Severity::High,
            versions: vec!["1.2".to_owned(), "1.3.1".to_owned()],
            windows: vec![
                window(None, End::Fixed("1.1".to_owned())),
                window(Some("1.2"), End::LastAffected("1.3.1".to_owned())),
                window(Some("1.5"), End::Limit("1.6".to_owned())),
                window(Some("1.7"), End::Open),
            ],
            widened: false,
        }],
        digest: "00ff".repeat(16),
    }
}

fn settings() -> Settings {
    let young = EcosystemSettings {
        ecosystem: Ecosystem::Npm,
        mode: Mode::Audit,
        min_age_hours: 72,
        fix_exemption: true,
    };
    Settings {
        ecosystems: vec![young],
        required: vec![Required { source: "osv".to_owned(), ecosystem: Ecosystem::Pypi }],
        ..Settings::default()
    }
}

fn waiver() -> Waiver {
    Waiver {
        id: "0193a000-0000-7000-8000-000000000002".to_owned(),
        ecosystem: Ecosystem::Pypi,
        package: "six".to_owned(),
        versions: "<1.4".to_owned(),
        waives: vec![advisory().id],
        token: Some("0123456789abcdef".to_owned()),
        reason: "not reachable from our code".to_owned(),
        owner: "ann".to_owned(),
        expires_at: Timestamp::from_micros(1_795_824_000_000_000),
    }
}

fn reserved() -> Reserved {
    Reserved { ecosystem: Ecosystem::Npm, package: "@acme/*".to_owned() }
}

fn profile() -> Profile {
    Profile {
        name: "agent".to_owned(),
        mode: Some(Mode::Enforce),
        min_age_hours: 168,
        severity_floor: Some(Severity::Low),
        ..Profile::default()
    }
}

fn web_events() -> Vec<web::Event> {
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
    ]
}

/// One event of every kind, encoded as this build writes it.
fn samples() -> Vec<codec::Encoded> {
    let (six, file) = ("six".to_owned(), "six-1.17.0.tar.gz".to_owned());
    let sha256 = "ff70335d468e7eb6ec65b95b99d3a2836546063f63acc5171de367e834932a81".to_owned();
    let ecosystem = Ecosystem::Pypi;
    let log_events: [log::Event; 3] = [
        ReplayRequested { projection: "block_log".to_owned(), from: Position(7) }.into(),
        ReplayCancelled { projection: "block_log".to_owned() }.into(),
        DeadLetterRedelivered { projection: "block_log".to_owned(), position: Position(9) }.into(),
    ];
    let public_key = PublicKey::new([7; 32]);
    let agent = AgentId::of_key(&public_key);
    let access_events: [access::Event; 6] = [
        TokenIssued {
            token_id: "0123456789abcdef".to_owned(),
            name: "ci".to_owned(),
            scopes: vec!["registry:pypi".to_owned()],
            expires_at: Some(Timestamp::from_micros(1_795_824_000_123_456)),
            profile: None,
            agent: None,
        }
        .into(),
        TokenRevoked { token_id: "0123456789abcdef".to_owned() }.into(),
        SessionOpened {
            session: "fedcba9876543210".to_owned(),
            token_id: "0123456789abcdef".to_owned(),
            expires_at: Timestamp::from_micros(1_795_824_000_123_456),
        }
        .into(),
        SessionEnded {
            session: "fedcba9876543210".to_owned(),
            token_id: "0123456789abcdef".to_owned(),
            cause: SessionEnd::SignedOut,
        }
        .into(),
        AgentRegistered { agent, name: "reader".to_owned(), public_key }.into(),
        AgentRevoked { agent }.into(),
    ];
    let (ann, transfer) = ("ann".to_owned(), "00ff".repeat(16));
    let nexus_events: [nexus::Event; 4] = [
        EpochAdvanced { from: 2, to: 3, reason: "rehearsed".to_owned() }.into(),
        ClockSet {
            pace: Pace::Wall { tick_micros: 1_000_000 },
            ticks_per_cycle: 256,
            since: Timestamp::from_micros(1_795_824_000_123_456),
            tick: 512,
            cycle: 3,
        }
        .into(),
        ClockDriven { ticks: 7 }.into(),
        CycleStarted { cycle: 4, tick: 768, epoch: 3, after: Some(3) }.into(),
    ];
    let mint_events: [mint::Event; 4] = [
        SparkGranted { account: ann.clone(), amount: 100, reason: "a new month".to_owned() }.into(),
        SparkReserved { account: ann.clone(), transfer: transfer.clone(), amount: 4 }.into(),
        SparkTransferred {
            transfer: transfer.clone(),
            from: ann.clone(),
            to: mint::TREASURY.to_owned(),
            amount: 2,
            tax: 1,
            reserved: 4,
        }
        .into(),
        SparkReleased { account: ann, transfer, reserved: 4 }.into(),
    ];
    let source = "osv".to_owned();
    let registry_events: [registry::Event; 35] = [
        PackageAllowed {
            ecosystem,
            package: six.clone(),
            version: Some("1.16.0".to_owned()),
            file: file.clone(),
            sha256: Some(sha256.clone()),
            policy_revision: 3,
            published_at: None,
            late: false,
            warning: None,
            excuse: None,
            profile: None,
            served: None,
        }
        .into(),
        PackageBlocked {
            ecosystem,
            package: six.clone(),
            version: None,
            file: file.clone(),
            source: "rules".to_owned(),
            rule_id: Some(rule().id),
            reason: rule().reason,
            mask: Mask::Hide,
            policy_revision: 3,
            evidence: None,
            published_at: None,
            late: false,
            profile: None,
        }
        .into(),
        MetadataFiltered {
            ecosystem,
            package: six.clone(),
            hidden: vec!["1.17.0".to_owned()],
            marked: Vec::new(),
            policy_revision: 3,
            document: sha256.clone(),
        }
        .into(),
        RuleAdded { rule: rule() }.into(),
        RuleChanged { rule: rule() }.into(),
        RuleRemoved { id: rule().id }.into(),
        CacheStored {
            ecosystem,
            package: six.clone(),
            file: file.clone(),
            sha256: sha256.clone(),
            size_bytes: 34_031,
        }
        .into(),
        CacheEvicted {
            ecosystem,
            package: six.clone(),
            file: file.clone(),
            sha256,
            size_bytes: 34_031,
            cause: EvictionCause::Lru,
        }
        .into(),
        UpstreamRejected { ecosystem, package: six, file, cause: "another SHA-256".to_owned() }
            .into(),
        AdvisoryPublished { advisory: advisory() }.into(),
        AdvisoryChanged { advisory: advisory() }.into(),
        AdvisoryWithdrawn {
            source: source.clone(),
            ecosystem,
            id: advisory().id,
            cause: Withdrawal::Declared,
        }
        .into(),
        SyncStarted { source: source.clone(), ecosystem: Some(ecosystem) }.into(),
        SyncSucceeded {
            source: source.clone(),
            ecosystem: None,
            n_records: 20_000,
            n_unreadable: 1,
            n_published: 12,
            n_changed: 3,
            n_withdrawn: 2,
            duration_ms: 4_200,
            revision: Some("\"5d41402a\"".to_owned()),
        }
        .into(),
        SyncFailed {
            source: source.clone(),
            ecosystem: Some(ecosystem),
            duration_ms: 30_000,
            cause: "the source did not answer within 30 s".to_owned(),
        }
        .into(),
        SettingsChanged { settings: settings() }.into(),
        WaiverRequested { waiver: waiver(), requested_by: "ann".to_owned() }.into(),
        WaiverGranted {
            waiver: waiver(),
            requested_by: "ann".to_owned(),
            granted_by: "bob".to_owned(),
        }
        .into(),
        WaiverRevoked {
            id: waiver().id,
            revoked_by: "bob".to_owned(),
            reason: "1.4 is out".to_owned(),
        }
        .into(),
        WaiverExpired { id: waiver().id }.into(),
        NameReserved { reserved: reserved() }.into(),
        NameReleased { reserved: reserved() }.into(),
        BlocklistRuleAdded { rule: rule() }.into(),
        BlocklistRuleRemoved { id: rule().id }.into(),
        SyncRequested { source, believe_losses: true }.into(),
        CachePurged {
            ecosystem: Some(ecosystem),
            package: Some("six*".to_owned()),
            versions: Some(">=1.17".to_owned()),
            before: Timestamp::from_micros(1_760_000_000_000_000),
            n_files: 2,
            size_bytes: 68_062,
            n_documents: 1,
        }
        .into(),
        FileDelivered {
            ecosystem,
            package: "six".to_owned(),
            version: Some("1.17.0".to_owned()),
            file: "six-1.17.0.tar.gz".to_owned(),
        }
        .into(),
        DigestPinned {
            ecosystem,
            package: "six".to_owned(),
            file: "six-1.17.0.tar.gz".to_owned(),
            digest: format!("sha256 {}", "00ff".repeat(16)),
            pinned_at: Timestamp::from_micros(1_795_824_000_123_456),
        }
        .into(),
        VersionTold {
            ecosystem,
            package: "six".to_owned(),
            version: Some("1.17.0".to_owned()),
            file: "six-1.17.0.tar.gz".to_owned(),
            lost: Some(TrustLost {
                has: Vouched::Nothing,
                had: Vouched::Provenance,
                earlier: "1.16.0".to_owned(),
            }),
            newcomer: None,
            licence: Some("MIT".to_owned()),
            told_at: Timestamp::from_micros(1_795_824_000_123_456),
        }
        .into(),
        VersionsSeen {
            ecosystem,
            package: "six".to_owned(),
            names: vec!["six-1.17.0.tar.gz".to_owned()],
            first_look: false,
            seen_at: Timestamp::from_micros(1_795_824_000_123_456),
        }
        .into(),
        ProfileSet { profile: profile() }.into(),
        ProfileRemoved { name: profile().name }.into(),
        PackageRequested {
            hold: Hold {
                id: "0193a000-0000-7000-8000-000000000003".to_owned(),
                token_id: "0123456789abcdef".to_owned(),
                principal: "robot".to_owned(),
                ecosystem,
                package: "six".to_owned(),
                version: Some("1.17.0".to_owned()),
                file: "six-1.17.0.tar.gz".to_owned(),
                ground: Ground::Advisory,
                advisory: Some(advisory().id),
                requested_at: Timestamp::from_micros(1_795_824_000_000_000),
                expires_at: Timestamp::from_micros(1_795_910_400_000_000),
            },
        }
        .into(),
        HoldAnswered {
            id: "0193a000-0000-7000-8000-000000000003".to_owned(),
            word: Word::Allow,
            answered_by: "ann".to_owned(),
            reason: "looked at it".to_owned(),
            until: Timestamp::from_micros(1_795_910_400_000_000),
        }
        .into(),
        QuotaSpent { token_id: "0123456789abcdef".to_owned(), hour: 17, bytes: 11_053 }.into(),
    ];
    let encode = |result: Result<codec::Encoded, _>| result.expect("a sample that can be encoded");
    log_events
        .iter()
        .map(|e| encode(e.encode()))
        .chain(access_events.iter().map(|e| encode(e.encode())))
        .chain(nexus_events.iter().map(|e| encode(e.encode())))
        .chain(mint_events.iter().map(|e| encode(e.encode())))
        .chain(registry_events.iter().map(|e| encode(e.encode())))
        .chain(web_events().iter().map(|e| encode(e.encode())))
        .collect()
}

/// Reads a golden file; a missing one is proposed beside its place and the test fails.
fn golden(name: &str, proposal: &[u8]) -> Vec<u8> {
    let path = folder().join(name);
    fs::read(&path).unwrap_or_else(|_| {
        let proposed = folder().join(format!("{name}.new"));
        fs::write(&proposed, proposal).expect("propose a golden file");
        panic!("golden file {name} is missing; look at {name}.new and rename it")
    })
}

#[test]
fn every_kind_has_a_golden_file_of_its_schema_and_decodes_to_what_it_was() {
    let samples = samples();
    for info in kind::table() {
        let sample = samples.iter().find(|s| s.kind == info.code);
        let sample = sample.unwrap_or_else(|| panic!("no sample of {}", info.name));
        assert_eq!(sample.schema, info.schema, "{}", info.name);
        let stem = format!("{}.v{}", info.name, info.schema);
        let bytes = golden(&format!("{stem}.msgpack"), &sample.payload);
        let read = codec::payload_json(info.code, info.schema, &bytes).expect(info.name);
        let mut json = serde_json::to_string_pretty(&read).expect("JSON");
        json.push('\n');
        let wanted = golden(&format!("{stem}.json"), json.as_bytes());
        assert_eq!(json.as_bytes(), wanted, "{stem}.json");
        assert_eq!(bytes, sample.payload, "{stem} is written differently now: a new schema?");
    }
}

#[test]
fn every_golden_file_ever_written_still_decodes() {
    let mut n_files = 0;
    for entry in fs::read_dir(folder()).expect("the golden folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("a file name");
        let Some(stem) = name.strip_suffix(".msgpack") else { continue };
        let (kind, schema) = stem.split_once(".v").expect("<Kind>.v<schema>");
        let kind = Kind::find(kind).unwrap_or_else(|| panic!("{kind} is gone from the table"));
        let schema = schema.parse().expect("a schema version");
        let bytes = fs::read(folder().join(&name)).expect("the file");
        let read = codec::payload_json(kind, schema, &bytes).expect(stem);
        let wanted = fs::read(folder().join(format!("{stem}.json"))).expect("its JSON");
        let wanted: serde_json::Value = serde_json::from_slice(&wanted).expect("JSON");
        assert_eq!(read, wanted, "{stem}");
        n_files += 1;
    }
    assert_eq!(n_files, kind::table().count(), "one file a kind while no schema has changed");
}

#[test]
fn a_field_this_build_does_not_know_is_passed_over() {
    #[derive(serde::Serialize)]
    struct Newer {
        token_id: &'static str,
        revoked_because: &'static str,
    }
    let newer = Newer { token_id: "0123456789abcdef", revoked_because: "leaked" };
    let bytes = codec::to_bytes("TokenRevoked", &newer).expect("bytes");
    let read = access::Event::decode(Kind(0x1102), 1, &bytes).expect("its kind").expect("read");
    assert_eq!(read, TokenRevoked { token_id: "0123456789abcdef".to_owned() }.into());
}

proptest! {
    #[test]
    fn what_is_encoded_decodes_to_itself(
        package in ".{0,40}", version in proptest::option::of(".{0,20}"), file in ".{0,60}",
        reason in ".{0,200}", revision in 0..i64::MAX,
    ) {
        let event = registry::Event::from(PackageBlocked {
            ecosystem: Ecosystem::Npm, package, version, file, source: "rules".to_owned(),
            rule_id: None, reason, mask: Mask::Mark, policy_revision: revision, evidence: None, published_at: None, late: false,
            profile: None,
        });
        let encoded = event.encode().expect("bytes");
        let read = registry::Event::decode(encoded.kind, encoded.schema, &encoded.payload);
        prop_assert_eq!(read.expect("its kind").expect("read"), event);
    }

    #[test]
    fn bytes_that_are_no_event_are_an_error_and_never_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        for info in kind::table() {
            drop(codec::payload_json(info.code, info.schema, &bytes));
        }
        drop(codec::from_bytes::<weir_events::envelope::Meta>("meta", &bytes));
    }
}
