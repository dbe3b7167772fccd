//! Verifying the log: every leaf against its row, every seal against its leaves, positions and
//! versions against their neighbours, the head against the last seal.
//!
//! What it finds it names by position, or by range where a tamperer rewrote row and leaf alike.

use std::{collections::HashMap, fmt};

use serde::Serialize;
use tokio::sync::mpsc;
use weir_events::{
    envelope::Recorded,
    position::{Position, StreamVersion},
};

use crate::{
    Log, leaf,
    open::ask_head,
    read::{ReadFault, read_range},
    seal::{Fold, Seal, seals_after},
};

/// Events read and hashed as one piece of work.
const CHUNK: i64 = 5_000;
/// Findings that are listed; more are only counted.
const MAX_FINDINGS: usize = 10_000;

/// Something that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// The row at this position does not fit its leaf.
    Changed {
        /// Where.
        position: Position,
    },
    /// No row has this position.
    Missing {
        /// The first missing position.
        first: Position,
        /// The last missing position.
        last: Position,
    },
    /// A row lies beyond the log's head.
    BeyondHead {
        /// Where.
        position: Position,
    },
    /// A stream's versions do not count up by one here.
    VersionBroken {
        /// Where.
        position: Position,
        /// The version it should have.
        expected: StreamVersion,
        /// The version it has.
        found: StreamVersion,
    },
    /// The leaves of a sealed range do not fit its seal: row and leaf were rewritten.
    Resealed {
        /// The first position of the range.
        first: Position,
        /// The last position of the range.
        last: Position,
    },
    /// A seal does not follow the seal before, or its signature does not fit.
    SealBroken {
        /// The last position the seal covers.
        last: Position,
    },
    /// A seal is signed with a key nobody here trusts.
    SealUntrusted {
        /// The last position the seal covers.
        last: Position,
        /// The public key, hexadecimal.
        public_key: String,
    },
    /// The log ends before its last seal does: its tail was cut off.
    Truncated {
        /// The head of the log.
        head: Position,
        /// The last sealed position.
        sealed_to: Position,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { position } => {
                write!(f, "position {position}: the event does not fit its leaf hash")
            }
            Self::Missing { first, last } if first == last => {
                write!(f, "position {first}: missing")
            }
            Self::Missing { first, last } => write!(f, "positions {first} to {last}: missing"),
            Self::BeyondHead { position } => write!(f, "position {position}: beyond the head"),
            Self::VersionBroken { position, expected, found } => {
                write!(f, "position {position}: version {found} where {expected} must be")
            }
            Self::Resealed { first, last } => {
                write!(f, "positions {first} to {last}: the leaves do not fit their seal")
            }
            Self::SealBroken { last } => write!(f, "the seal up to position {last} is broken"),
            Self::SealUntrusted { last, public_key } => {
                write!(f, "the seal up to position {last} is signed by unknown key {public_key}")
            }
            Self::Truncated { head, sealed_to } => {
                write!(f, "the log ends at {head}, but was sealed up to {sealed_to}: cut off")
            }
        }
    }
}

/// The result of a verification.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// Events looked at.
    pub n_events: u64,
    /// Bytes hashed.
    pub n_bytes: u64,
    /// Seals looked at.
    pub n_seals: u64,
    /// The last position a seal covers.
    pub sealed_to: Position,
    /// The head of the log.
    pub head: Position,
    /// What does not fit, in order of position.
    pub findings: Vec<Finding>,
    /// How many did not fit, those beyond the list included.
    pub n_findings: u64,
}

impl Report {
    /// Whether everything fits.
    pub const fn good(&self) -> bool {
        self.n_findings == 0
    }

    fn find(&mut self, finding: Finding) {
        self.n_findings += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }
}

/// What to verify, and whom to trust.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// Public keys whose seals are trusted; empty trusts every well-signed seal.
    pub trusted: Vec<[u8; 32]>,
    /// Only the events after this position (0: all). Ranges that begin before are not checked
    /// against their seals.
    pub after: Position,
}

impl Log {
    /// Verifies the log. `progress` is told the position reached, from time to time.
    pub async fn verify(
        &self,
        options: VerifyOptions,
        mut progress: impl FnMut(Position, Position) + Send,
    ) -> Result<Report, ReadFault> {
        let database = self.database();
        let head = ask_head(database).await?.position;
        let (chunks, inbox) = mpsc::channel::<Work>(4);
        // Hashing is work for a thread of its own, beside the one that waits for the database.
        let checking = tokio::task::spawn_blocking(move || check(inbox, head, options));
        let after = self.walk(&chunks, head, &mut progress).await;
        drop(chunks);
        let report = checking.await.map_err(|_| ReadFault::Malformed {
            after: Position::START,
            what: "the checking thread died",
        });
        after?;
        report
    }

    async fn walk(
        &self,
        chunks: &mpsc::Sender<Work>,
        head: Position,
        progress: &mut (impl FnMut(Position, Position) + Send),
    ) -> Result<(), ReadFault> {
        let database = self.database();
        let mut sealed = Position::START;
        loop {
            let seals = seals_after(database, sealed, 1_000).await?;
            let Some(last) = seals.last() else { break };
            sealed = last.last;
            if chunks.send(Work::Seals(seals)).await.is_err() {
                return Ok(());
            }
        }
        let mut after = Position::START;
        // One chunk beyond the head, and whatever lies further still: rows that nobody appended.
        while after <= head {
            let upto = if after == head { Position(i64::MAX) } else { after.plus(CHUNK).min(head) };
            let mut events = Vec::new();
            let mut from = after;
            loop {
                let read = read_range(database, from, upto, |event| {
                    events.push(event);
                    Ok(())
                });
                match read.await {
                    Err(ReadFault::Malformed { after: last, .. }) if last < upto => {
                        from = last.next();
                    }
                    other => break other?,
                }
            }
            let work = Work::Events { after, upto: upto.min(head), events };
            if chunks.send(work).await.is_err() {
                return Ok(());
            }
            if after == head {
                break;
            }
            after = upto;
            progress(after, head);
        }
        Ok(())
    }
}

enum Work {
    Seals(Vec<Seal>),
    Events { after: Position, upto: Position, events: Vec<Recorded> },
}

/// The state of the check, on its own thread.
struct Check {
    report: Report,
    options: VerifyOptions,
    head: Position,
    seals: std::collections::VecDeque<Seal>,
    fold: Fold,
    chain: [u8; 32],
    sealed_to: Position,
    versions: HashMap<[u8; 16], i64>,
}

fn check(mut inbox: mpsc::Receiver<Work>, head: Position, options: VerifyOptions) -> Report {
    let mut check = Check {
        report: Report { head, ..Report::default() },
        options,
        head,
        seals: std::collections::VecDeque::new(),
        fold: Fold::default(),
        chain: [0; 32],
        sealed_to: Position::START,
        versions: HashMap::new(),
    };
    while let Some(work) = inbox.blocking_recv() {
        match work {
            Work::Seals(seals) => seals.into_iter().for_each(|seal| check.seal(seal)),
            Work::Events { after, upto, events } => check.events(after, upto, &events),
        }
    }
    check.finish()
}

impl Check {
    /// A seal must follow the one before, and be signed by somebody trusted.
    fn seal(&mut self, seal: Seal) {
        self.report.n_seals += 1;
        let follows = seal.previous == self.chain && seal.first == self.sealed_to.next();
        if !follows || !seal.holds() {
            self.report.find(Finding::SealBroken { last: seal.last });
        } else if !self.options.trusted.is_empty()
            && !self.options.trusted.contains(&seal.public_key)
        {
            let public_key = hex::encode(seal.public_key);
            self.report.find(Finding::SealUntrusted { last: seal.last, public_key });
        }
        self.chain = seal.chain;
        self.sealed_to = seal.last;
        self.seals.push_back(seal);
    }

    fn events(&mut self, after: Position, upto: Position, events: &[Recorded]) {
        let mut last = after;
        for event in events {
            if event.position > self.head {
                self.report.find(Finding::BeyondHead { position: event.position });
                continue;
            }
            self.gap(last, event.position);
            last = event.position;
            self.event(event);
        }
        self.gap(last, upto.next());
    }

    /// Positions between two neighbours are missing. A row that cannot even be read is one.
    fn gap(&mut self, last: Position, next: Position) {
        if next > last.next() {
            let finding = Finding::Missing { first: last.next(), last: next.plus(-1) };
            self.report.find(finding);
            self.fold_upto(next.plus(-1));
        }
    }

    fn event(&mut self, event: &Recorded) {
        let position = event.position;
        self.fold_upto(position.plus(-1));
        if self.options.after < position {
            self.report.n_events += 1;
            self.report.n_bytes += event.size_bytes() as u64;
            if leaf::of_recorded(event) != event.hash {
                self.report.find(Finding::Changed { position });
            }
        }
        let mut name = [0; 16];
        blake3::Hasher::new()
            .update(event.stream.as_str().as_bytes())
            .finalize_xof()
            .fill(&mut name);
        let version = self.versions.entry(name).or_insert(0);
        let expected = StreamVersion(*version + 1);
        *version = event.version.0;
        if event.version != expected {
            let found = event.version;
            self.report.find(Finding::VersionBroken { position, expected, found });
        }
        self.fold.add(position, event.version, &event.hash);
        self.fold_upto(position);
    }

    /// Closes every seal that ends at or before a position.
    fn fold_upto(&mut self, position: Position) {
        while let Some(seal) = self.seals.pop_front_if(|seal| seal.last <= position) {
            let root = std::mem::take(&mut self.fold).root();
            if root != seal.root && self.options.after < seal.first {
                self.report.find(Finding::Resealed { first: seal.first, last: seal.last });
            }
        }
    }

    fn finish(mut self) -> Report {
        self.fold_upto(self.head);
        self.report.sealed_to = self.sealed_to;
        if self.sealed_to > self.head {
            let (head, sealed_to) = (self.head, self.sealed_to);
            self.report.find(Finding::Truncated { head, sealed_to });
        }
        self.report
    }
}
