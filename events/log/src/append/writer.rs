//! The one writer of a process: takes what is waiting, writes it as one batch in one round trip,
//! and tells each caller what became of its append.
//!
//! A batch carries a number. When the way to the database breaks and nobody knows whether the
//! batch was committed, it is sent again under the same number, which cannot write it twice.

mod send;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, oneshot};
use tracing::{debug, warn};
use uuid::Uuid;
use weir_events::{
    envelope::Recorded,
    position::{Position, StreamVersion},
};

use self::send::{Answer, Sender};
use super::{
    Append, AppendFault, Appended, Outcome,
    archived::Archived,
    plan::{Plan, Versions, Waiting, plan},
};
use crate::{
    database::{Database, DatabaseFault},
    idempotency::{self, CommandKey},
    leaf,
    lifecycle::Lifecycle,
    tail::Hub,
};

/// Rounds an append may lose to other processes before its caller is told to come back.
const MAX_ROUNDS: u32 = 50;
/// Appends that are enough to share a commit: while these are written, others can gather.
const ENOUGH: usize = 1_024;
/// How often callers get their turn before a batch is made.
const MAX_TURNS: u32 = 16;
/// How long the database may be away before waiting appends that were never sent are refused.
const PATIENCE_UNSENT: Duration = Duration::from_secs(5);
/// How long the database may be away before a batch of unknown outcome is given up.
const PATIENCE_SENT: Duration = Duration::from_secs(30);

type Reply = oneshot::Sender<Result<Outcome, AppendFault>>;

/// An append on its way through the writer.
#[derive(Debug)]
pub(super) struct Job {
    append: Append,
    leaves: Vec<[u8; 32]>,
    n_bytes: usize,
    n_rounds: u32,
    reply: Reply,
}

impl Waiting for Job {
    fn append(&self) -> &Append {
        &self.append
    }

    fn n_bytes(&self) -> usize {
        self.n_bytes
    }
}

/// The way to the writer of this process.
#[derive(Debug, Clone)]
pub struct WriterHandle(mpsc::Sender<Job>);

impl WriterHandle {
    /// Hands an append to the writer and waits for its outcome.
    pub(crate) async fn submit(&self, append: Append) -> Result<Outcome, AppendFault> {
        // Hashed here, by the caller: the writer is one task for the whole process.
        let leaves: Vec<_> = append
            .writes
            .iter()
            .flat_map(|write| write.events.iter().map(move |event| (&write.stream, event)))
            .map(|(stream, event)| leaf::of_new(stream, event, append.recorded_at))
            .collect();
        let events = append.writes.iter().flat_map(|w| &w.events);
        let n_bytes = events.map(|e| e.payload.len() + e.meta.len()).sum();
        let (reply, outcome) = oneshot::channel();
        self.0.try_send(Job { append, leaves, n_bytes, n_rounds: 0, reply }).map_err(
            |refused| match refused {
                mpsc::error::TrySendError::Full(_) => AppendFault::Busy,
                mpsc::error::TrySendError::Closed(_) => {
                    AppendFault::Unavailable("this process is shutting down".to_owned())
                }
            },
        )?;
        let stopped = || AppendFault::Unknown("the writer was stopped meanwhile".to_owned());
        outcome.await.unwrap_or_else(|_| Err(stopped()))
    }
}

/// The writer task.
#[derive(Debug)]
pub struct Writer {
    database: Database,
    hub: Hub,
    sender: Sender,
    versions: Versions,
    queue: VecDeque<Job>,
    /// Callers that the last batch answered.
    n_answered: usize,
    /// Restores of the log that the hub had noticed at the last batch.
    n_restores: u64,
}

impl Writer {
    /// Starts the writer of this process under the id `id`.
    pub(crate) fn start(
        database: Database,
        hub: Hub,
        id: Uuid,
        capacity: usize,
        lifecycle: &Lifecycle,
    ) -> WriterHandle {
        let (handle, jobs) = mpsc::channel(capacity.max(1));
        let sender = Sender::new(database.clone(), id);
        let versions = Versions::default();
        let queue = VecDeque::new();
        let n_restores = hub.n_restores();
        let writer = Self { database, hub, sender, versions, queue, n_answered: 0, n_restores };
        let soft = lifecycle.soft().clone();
        lifecycle.run("log writer", async move {
            writer.run(jobs, soft).await;
        });
        WriterHandle(handle)
    }

    async fn run(
        mut self,
        mut jobs: mpsc::Receiver<Job>,
        soft: tokio_util::sync::CancellationToken,
    ) {
        loop {
            if self.queue.is_empty() {
                let next = tokio::select! {
                    biased;
                    job = jobs.recv() => job,
                    () = soft.cancelled(), if !jobs.is_closed() => {
                        // What was accepted is still written; nothing more is accepted.
                        jobs.close();
                        continue;
                    }
                };
                let Some(job) = next else { return };
                self.queue.push_back(job);
            }
            self.gather(&mut jobs).await;
            self.n_answered = self.write_one_batch().await;
        }
    }

    /// Takes what is waiting. Callers who were just answered often come back at once, and may share
    /// the commit: they get their turn first. Nothing here waits for time to pass.
    async fn gather(&mut self, jobs: &mut mpsc::Receiver<Job>) {
        let enough = self.n_answered.min(ENOUGH);
        for turn in 0..=MAX_TURNS {
            let before = self.queue.len();
            while self.queue.len() < super::plan::MAX_BATCH_EVENTS {
                let Ok(job) = jobs.try_recv() else { break };
                self.queue.push_back(job);
            }
            let stalled = turn > 0 && self.queue.len() == before;
            if self.queue.len() >= enough || stalled || turn == MAX_TURNS {
                break;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Answers how many callers it gave an answer.
    async fn write_one_batch(&mut self) -> usize {
        let n_restores = self.hub.n_restores();
        if std::mem::replace(&mut self.n_restores, n_restores) != n_restores {
            // Versions went down, for once.
            self.versions = Versions::default();
        }
        let Plan { jobs, streams, refused } = plan(&mut self.queue, &self.versions);
        // What the database said counts against what was waiting then, and not against who reads on.
        self.versions.forget_freshness();
        for (job, outcome) in refused {
            answer(job.reply, Ok(outcome));
        }
        let n_jobs = jobs.len();
        if jobs.is_empty() {
            return n_jobs;
        }
        let streams_exist = streams.keys().all(|stream| self.versions.exists(stream));
        let batch = send::Batch::new(&jobs, &streams, streams_exist);
        let answered = self.send_until_known(&batch).await;
        drop(batch);
        match answered {
            Ok(Answer::Written { first, bases }) => {
                for ((stream, share), base) in streams.iter().zip(&bases) {
                    self.versions.learn(stream, base + share.n_events);
                }
                let bases = streams.into_keys().zip(bases).collect();
                self.hub.offer(deliver(jobs, first, bases));
            }
            Ok(Answer::Stale { versions }) => {
                for (stream, version) in streams.keys().zip(versions) {
                    self.versions.learn_fresh(stream, version);
                }
                self.put_back(jobs);
            }
            Ok(Answer::Archived) => {
                let archived = Archived::of(&self.database, &streams).await;
                self.answer_archived(jobs, archived);
            }
            Ok(Answer::Remembered) => self.answer_remembered(jobs).await,
            Err(fault) => {
                warn!(error = %fault, n_appends = n_jobs, "a batch could not be written");
                for job in jobs {
                    answer(job.reply, Err(fault.clone()));
                }
            }
        }
        n_jobs
    }

    /// Sends a batch, again and again under the same number, until its outcome is known or
    /// patience ends.
    async fn send_until_known(&mut self, batch: &send::Batch<'_>) -> Result<Answer, AppendFault> {
        let started = Instant::now();
        let mut backoff = Duration::from_millis(5);
        let mut sent = false;
        loop {
            let cause = match self.sender.send(batch).await {
                Ok(answer) => return Ok(answer),
                Err(send::SendFault::Refused(cause)) if !sent => {
                    return Err(AppendFault::Unavailable(cause));
                }
                Err(send::SendFault::WriterForgotten) => {
                    self.versions = Versions::default();
                    if sent {
                        let cause = "the database was restored meanwhile";
                        return Err(AppendFault::Unknown(cause.to_owned()));
                    }
                    "the database was restored".to_owned()
                }
                Err(send::SendFault::Lost(cause)) => {
                    sent = true;
                    cause
                }
                // This try was rolled back or never began. An earlier one may still go through:
                // then nothing is known until the database says what became of the number.
                Err(
                    send::SendFault::Refused(cause)
                    | send::SendFault::NotSent(cause)
                    | send::SendFault::TryAgain(cause),
                ) => cause,
            };
            debug!(%cause, "sending a batch again");
            let patience = if sent { PATIENCE_SENT } else { PATIENCE_UNSENT };
            if started.elapsed() > patience {
                if sent {
                    self.sender.abandon();
                    return Err(AppendFault::Unknown(cause));
                }
                return Err(AppendFault::Unavailable(cause));
            }
            tokio::time::sleep(backoff).await;
            backoff = (backoff * 2).min(Duration::from_millis(250));
        }
    }

    /// Some commands of the batch were recorded before: they get the first answer, the others go
    /// again.
    async fn answer_remembered(&mut self, jobs: Vec<Job>) {
        let keys: Vec<CommandKey> =
            jobs.iter().filter_map(|job| job.append.remember.as_ref().map(|r| r.key)).collect();
        let found = match idempotency::find(&self.database, &keys).await {
            Ok(found) => found,
            Err(fault) => {
                for job in jobs {
                    answer(job.reply, Err(AppendFault::Unavailable(fault.cause.to_string())));
                }
                return;
            }
        };
        let known = |job: &Job| {
            let key = job.append.remember.as_ref()?.key;
            let (_, first) = found.iter().find(|(found, _)| *found == key)?;
            Some(first.clone())
        };
        // Twins that wait for the next batch have their answer too: left there, each would cost its
        // neighbours another round.
        let waiting = self.queue.drain(..).collect::<Vec<_>>();
        for job in waiting {
            match known(&job) {
                Some(first) => answer(job.reply, Ok(Outcome::Duplicate(first))),
                None => self.queue.push_back(job),
            }
        }
        let mut again = Vec::with_capacity(jobs.len());
        for job in jobs {
            match known(&job) {
                Some(first) => answer(job.reply, Ok(Outcome::Duplicate(first))),
                None => again.push(job),
            }
        }
        // They lost nothing to another process.
        self.put_in_front(again);
    }

    /// Appends that name an archived stream are told so, the others go again.
    fn answer_archived(&mut self, jobs: Vec<Job>, archived: Result<Archived, DatabaseFault>) {
        let archived = match archived {
            Ok(archived) => archived,
            Err(fault) => {
                for job in jobs {
                    answer(job.reply, Err(AppendFault::Unavailable(fault.cause.to_string())));
                }
                return;
            }
        };
        let mut again = Vec::with_capacity(jobs.len());
        for job in jobs {
            match archived.named_by(&job.append).cloned() {
                Some(stream) => answer(job.reply, Err(AppendFault::Archived(stream))),
                None => again.push(job),
            }
        }
        // They lost nothing to another process, and a batch that was refused so is smaller now.
        self.put_in_front(again);
    }

    /// Puts back what lost a round to another process.
    fn put_back(&mut self, jobs: Vec<Job>) {
        for mut job in jobs.into_iter().rev() {
            job.n_rounds += 1;
            if job.n_rounds > MAX_ROUNDS {
                answer(job.reply, Err(AppendFault::Busy));
            } else {
                self.queue.push_front(job);
            }
        }
    }

    fn put_in_front(&mut self, jobs: Vec<Job>) {
        for job in jobs.into_iter().rev() {
            self.queue.push_front(job);
        }
    }
}

fn answer(reply: Reply, outcome: Result<Outcome, AppendFault>) {
    // A caller that went away does not need to know.
    drop(reply.send(outcome));
}

/// Tells each caller where its append went, and makes the recorded events for the tails of this
/// process, which then need not read them back.
fn deliver(
    jobs: Vec<Job>,
    first: Position,
    mut bases: std::collections::HashMap<weir_events::stream::StreamName, i64>,
) -> Vec<Arc<Recorded>> {
    let mut position = first;
    let mut events = Vec::new();
    for job in jobs {
        let start = position;
        let mut versions = Vec::with_capacity(job.append.writes.len());
        let mut leaves = job.leaves.iter();
        for write in job.append.writes {
            let version = bases.entry(write.stream.clone()).or_default();
            for event in write.events {
                *version += 1;
                events.push(Arc::new(Recorded {
                    position,
                    stream: write.stream.clone(),
                    version: StreamVersion(*version),
                    kind: event.kind,
                    schema: event.schema,
                    payload: event.payload,
                    meta: event.meta,
                    recorded_at: job.append.recorded_at,
                    hash: leaves.next().copied().unwrap_or_default(),
                }));
                position = position.next();
            }
            versions.push(StreamVersion(*version));
        }
        let appended = Appended { first: start, last: position.plus(-1), versions };
        answer(job.reply, Ok(Outcome::Appended(appended)));
    }
    events
}
