//! One event of every kind of `registry`.

use weir_events::{
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
};

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

/// Events with what was added to them since their bytes were kept.
pub(super) fn added() -> Vec<registry::Event> {
    let told = Some("00ff".repeat(16));
    let mut events = events();
    for event in &mut events {
        match event {
            registry::Event::PackageAllowed(allowed) => allowed.document.clone_from(&told),
            registry::Event::PackageBlocked(blocked) => blocked.document.clone_from(&told),
            _ => {}
        }
    }
    events
}

pub(super) fn events() -> Vec<registry::Event> {
    let (six, file) = ("six".to_owned(), "six-1.17.0.tar.gz".to_owned());
    let sha256 = "ff70335d468e7eb6ec65b95b99d3a2836546063f63acc5171de367e834932a81".to_owned();
    let (ecosystem, source) = (Ecosystem::Pypi, "osv".to_owned());
    vec![
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
            document: None,
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
            document: None,
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
    ]
}
