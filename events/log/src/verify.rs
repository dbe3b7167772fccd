//! Verifying the log: every leaf against its row, every seal against its leaves, positions and
//! versions against their neighbours, the head against the last seal.
//!
//! What it finds it names by position, or by range where a tamperer rewrote row and leaf alike.

mod finding;

use std::collections::HashMap;

use futures_util::{StreamExt, stream};
use serde::Serialize;
use tokio::sync::mpsc;
use weir_events::{
    envelope::Recorded,
    position::{Position, StreamVersion},
    stream::StreamName,
};

pub use self::finding::Finding;
use crate::{
    Log,
    database::{Database, DatabaseFault},
    leaf,
    open::ask_head,
    read::{ReadFault, read_range},
    seal::{Fold, Seal, seals_after},
};

/// Events read and hashed as one piece of work.
const CHUNK: i64 = 5_000;
/// Pieces in work at once: each is read over a connection of its own and hashed on a thread of its
/// own. Their order is kept.
const PIECES: usize = 3;
/// Findings that are listed; more are only counted.
const MAX_FINDINGS: usize = 10_000;

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
        // Seals before the head: what is sealed lies at or before any head that is read later, so
        // a log that grows meanwhile is never taken for one that was cut off.
        let seals = all_seals(database).await?;
        let head = ask_head(database).await?.position;
        let (chunks, inbox) = mpsc::channel::<Work>(4);
        // What depends on the order is work for a thread of its own.
        let skip = options.after;
        let checking = tokio::task::spawn_blocking(move || check(inbox, head, seals, options));
        let walked = self.walk(&chunks, head, skip, &mut progress).await;
        drop(chunks);
        let report = checking.await.map_err(|_| ReadFault::Malformed {
            after: Position::START,
            what: "the checking thread died",
        });
        walked?;
        report
    }

    async fn walk(
        &self,
        chunks: &mpsc::Sender<Work>,
        head: Position,
        skip: Position,
        progress: &mut (impl FnMut(Position, Position) + Send),
    ) -> Result<(), ReadFault> {
        let database = self.database();
        let mut pieces =
            stream::iter(ranges(head))
                .map(|(after, upto)| async move {
                    (after, upto, piece(database, after, upto, skip).await)
                })
                .buffered(PIECES);
        while let Some((after, upto, events)) = pieces.next().await {
            let work = Work::Events { after, upto, events: events? };
            if chunks.send(work).await.is_err() {
                return Ok(());
            }
            progress(upto, head);
        }
        let beyond = beyond_head(database).await?;
        // A checking thread that died is reported by whoever waits for it.
        drop(chunks.send(Work::Beyond(beyond)).await);
        Ok(())
    }
}

/// Every seal, in order.
async fn all_seals(database: &Database) -> Result<Vec<Seal>, ReadFault> {
    let mut seals: Vec<Seal> = Vec::new();
    loop {
        let after = seals.last().map_or(Position::START, |seal| seal.last);
        let page = seals_after(database, after, 1_000).await?;
        if page.is_empty() {
            return Ok(seals);
        }
        seals.extend(page);
    }
}

const BEYOND: &str = "
    SELECT position FROM log.events WHERE position > $1 ORDER BY position LIMIT 1000";

/// Rows that lie beyond the head: nobody appended them. The head is asked again after looking, so
/// that what was appended meanwhile is not taken for one.
async fn beyond_head(database: &Database) -> Result<Vec<Position>, ReadFault> {
    let fault = DatabaseFault::of("look beyond the log's head");
    let head = ask_head(database).await?.position;
    let mut tx = database.begin().await?;
    let rows: Vec<i64> =
        sqlx::query_scalar(BEYOND).bind(head.0).fetch_all(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    let head = ask_head(database).await?.position;
    Ok(rows.into_iter().map(Position).filter(|position| *position > head).collect())
}

/// The ranges the log is read in.
fn ranges(head: Position) -> impl Iterator<Item = (Position, Position)> {
    let mut after = Position::START;
    std::iter::from_fn(move || {
        let from = after;
        after = from.plus(CHUNK).min(head);
        (from < head).then_some((from, after))
    })
}

/// Reads a range and hashes it. A row that cannot even be read is left out.
async fn piece(
    database: &Database,
    after: Position,
    upto: Position,
    skip: Position,
) -> Result<Vec<Checked>, ReadFault> {
    let mut events = Vec::new();
    let mut from = after;
    loop {
        let read = read_range(database, from, upto, |event| {
            events.push(event);
            Ok(())
        });
        match read.await {
            Err(ReadFault::Malformed { after: last, .. }) if last < upto => from = last.next(),
            other => break other?,
        }
    }
    let hashing = tokio::task::spawn_blocking(move || {
        let mut leaves = leaf::Leaves::default();
        let mut check = |event: Recorded| {
            let fits = event.position <= skip || leaves.of(&event) == event.hash;
            Checked { event, fits }
        };
        events.into_iter().map(&mut check).collect()
    });
    hashing.await.map_err(|_| ReadFault::Malformed { after, what: "the hashing thread died" })
}

enum Work {
    Beyond(Vec<Position>),
    Events { after: Position, upto: Position, events: Vec<Checked> },
}

/// An event, and whether it fits its leaf.
struct Checked {
    event: Recorded,
    fits: bool,
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
    last_name: Option<(StreamName, [u8; 16])>,
}

fn check(
    mut inbox: mpsc::Receiver<Work>,
    head: Position,
    seals: Vec<Seal>,
    options: VerifyOptions,
) -> Report {
    let mut check = Check {
        report: Report { head, ..Report::default() },
        options,
        head,
        seals: std::collections::VecDeque::new(),
        fold: Fold::default(),
        chain: [0; 32],
        sealed_to: Position::START,
        versions: HashMap::new(),
        last_name: None,
    };
    for seal in seals {
        check.seal(seal);
    }
    while let Some(work) = inbox.blocking_recv() {
        match work {
            Work::Beyond(positions) => {
                for position in positions {
                    check.report.find(Finding::BeyondHead { position });
                }
            }
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

    fn events(&mut self, after: Position, upto: Position, events: &[Checked]) {
        let mut last = after;
        for Checked { event, fits } in events {
            self.gap(last, event.position);
            last = event.position;
            self.event(event, *fits);
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

    fn event(&mut self, event: &Recorded, fits: bool) {
        let position = event.position;
        self.fold_upto(position.plus(-1));
        if self.options.after < position {
            self.report.n_events += 1;
            self.report.n_bytes += event.size_bytes() as u64;
            if !fits {
                self.report.find(Finding::Changed { position });
            }
        }
        let name = self.name(&event.stream);
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

    /// A short name for a stream, of the same size for all: a log may have millions.
    fn name(&mut self, stream: &StreamName) -> [u8; 16] {
        if let Some((last, name)) = &self.last_name
            && last == stream
        {
            return *name;
        }
        let mut name = [0; 16];
        name.copy_from_slice(&blake3::hash(stream.as_str().as_bytes()).as_bytes()[..16]);
        self.last_name = Some((stream.clone(), name));
        name
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
