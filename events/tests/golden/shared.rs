//! One event of every kind of the small subsystems that all others use.

use weir_events::{
    access::{
        self, AgentRegistered, AgentRevoked, SessionEnd, SessionEnded, SessionOpened, TokenIssued,
        TokenRevoked,
    },
    log::{self, DeadLetterRedelivered, ReplayCancelled, ReplayRequested},
    mint::{self, SparkGranted, SparkReleased, SparkReserved, SparkTransferred},
    nexus::{self, ClockDriven, ClockSet, CycleStarted, EpochAdvanced, Pace},
    position::Position,
    timestamp::Timestamp,
    web::request::{AgentId, PublicKey},
};

pub(super) fn of_log() -> Vec<log::Event> {
    vec![
        ReplayRequested { projection: "block_log".to_owned(), from: Position(7) }.into(),
        ReplayCancelled { projection: "block_log".to_owned() }.into(),
        DeadLetterRedelivered { projection: "block_log".to_owned(), position: Position(9) }.into(),
    ]
}

pub(super) fn of_access() -> Vec<access::Event> {
    let public_key = PublicKey::new([7; 32]);
    let agent = AgentId::of_key(&public_key);
    vec![
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
    ]
}

pub(super) fn of_nexus() -> Vec<nexus::Event> {
    vec![
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
    ]
}

pub(super) fn of_mint() -> Vec<mint::Event> {
    let (ann, transfer) = ("ann".to_owned(), "00ff".repeat(16));
    vec![
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
    ]
}
