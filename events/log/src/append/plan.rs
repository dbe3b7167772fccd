//! Which waiting appends go together into the next batch. Pure: the database is the authority, and
//! what this process remembers of versions only saves it work.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use weir_events::{position::StreamVersion, stream::StreamName};

use super::{Append, Expected, Outcome};
use crate::idempotency::CommandKey;

/// Bounds of one batch: enough to share a commit, little enough to answer soon.
pub(super) const MAX_BATCH_EVENTS: usize = 2_000;
pub(super) const MAX_BATCH_BYTES: usize = 8 << 20;
/// Streams whose versions are remembered.
const MAX_REMEMBERED: usize = 100_000;

/// Last known versions. They never go down, so "older than known" is certain; "newer than known"
/// is only certain where the database has just said so.
#[derive(Debug, Default)]
pub(super) struct Versions {
    known: HashMap<StreamName, i64>,
    fresh: HashSet<StreamName>,
}

impl Versions {
    pub(super) fn learn(&mut self, stream: &StreamName, version: i64) {
        if self.known.len() >= MAX_REMEMBERED && !self.known.contains_key(stream) {
            self.known.clear();
        }
        self.known.insert(stream.clone(), version);
    }

    /// The database just said so, in answer to the batch about to be planned again.
    pub(super) fn learn_fresh(&mut self, stream: &StreamName, version: i64) {
        self.learn(stream, version);
        self.fresh.insert(stream.clone());
    }

    /// Whether the stream was seen in the database.
    pub(super) fn exists(&self, stream: &StreamName) -> bool {
        self.known.get(stream).is_some_and(|&version| version > 0)
    }

    pub(super) fn forget_freshness(&mut self) {
        self.fresh.clear();
    }

    /// The stream's version, if expecting `version` is certainly wrong.
    fn contradicts(&self, stream: &StreamName, version: i64) -> Option<i64> {
        let known = *self.known.get(stream)?;
        let wrong = version < known || (version > known && self.fresh.contains(stream));
        wrong.then_some(known)
    }
}

/// What a batch asks of one stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    /// The version it must have before; `None` when nobody cares.
    pub(super) assumed: Option<i64>,
    /// The events it gets.
    pub(super) n_events: i64,
}

/// Anything that carries an append through the queue.
pub(super) trait Waiting {
    fn append(&self) -> &Append;
    fn n_bytes(&self) -> usize;
}

/// A batch: whole appends, in the order they came.
#[derive(Debug)]
pub(super) struct Plan<J> {
    pub(super) jobs: Vec<J>,
    pub(super) streams: BTreeMap<StreamName, Share>,
    /// Appends that need no database to be refused.
    pub(super) refused: Vec<(J, Outcome)>,
}

/// Takes what fits together from the front of the queue. What must wait for the batch's outcome
/// stays in the queue, in order.
pub(super) fn plan<J: Waiting>(queue: &mut VecDeque<J>, versions: &Versions) -> Plan<J> {
    let mut plan = Plan { jobs: Vec::new(), streams: BTreeMap::new(), refused: Vec::new() };
    let mut keys: HashSet<CommandKey> = HashSet::new();
    let mut deferred = VecDeque::new();
    let (mut n_events, mut n_bytes) = (0, 0);
    while let Some(job) = queue.pop_front() {
        let size = job.append().writes.iter().map(|w| w.events.len()).sum::<usize>();
        let full = n_events + size > MAX_BATCH_EVENTS || n_bytes + job.n_bytes() > MAX_BATCH_BYTES;
        if full && n_events > 0 {
            queue.push_front(job);
            break;
        }
        let key = job.append().remember.as_ref().map(|r| r.key);
        if key.is_some_and(|key| keys.contains(&key)) {
            deferred.push_back(job);
            continue;
        }
        match fit(job.append(), &plan.streams, versions) {
            Fit::Together(shares) => {
                plan.streams.extend(shares);
                keys.extend(key);
                n_events += size;
                n_bytes += job.n_bytes();
                plan.jobs.push(job);
            }
            Fit::Later => deferred.push_back(job),
            Fit::Never(outcome) => plan.refused.push((job, outcome)),
        }
    }
    while let Some(job) = deferred.pop_back() {
        queue.push_front(job);
    }
    plan
}

enum Fit {
    Together(Vec<(StreamName, Share)>),
    Later,
    Never(Outcome),
}

fn fit(append: &Append, planned: &BTreeMap<StreamName, Share>, versions: &Versions) -> Fit {
    let mut shares = Vec::with_capacity(append.writes.len());
    for write in &append.writes {
        let mut share = planned.get(&write.stream).copied().unwrap_or_default();
        if let Expected::Exact(StreamVersion(version)) = write.expected {
            if share.n_events == 0 {
                if let Some(actual) = versions.contradicts(&write.stream, version) {
                    let (stream, actual) = (write.stream.clone(), StreamVersion(actual));
                    return Fit::Never(Outcome::Conflict { stream, actual });
                }
                share.assumed = Some(version);
            } else if share.assumed.is_none_or(|base| base + share.n_events != version) {
                return Fit::Later;
            }
        }
        share.n_events += i64::try_from(write.events.len()).unwrap_or(i64::MAX);
        shares.push((write.stream.clone(), share));
    }
    Fit::Together(shares)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use weir_events::{envelope::NewEvent, kind::Kind, timestamp::Timestamp};

    use super::*;
    use crate::{append::StreamWrite, idempotency::Remember};

    struct Job(Append);

    impl Waiting for Job {
        fn append(&self) -> &Append {
            &self.0
        }

        fn n_bytes(&self) -> usize {
            10
        }
    }

    fn job(stream: &str, expected: Option<i64>, key: Option<u8>) -> Job {
        let event =
            NewEvent { kind: Kind(1), schema: 1, payload: Bytes::new(), meta: Bytes::new() };
        Job(Append {
            writes: vec![StreamWrite {
                stream: StreamName::new(stream).unwrap(),
                expected: expected.map_or(Expected::Any, |v| Expected::Exact(StreamVersion(v))),
                events: vec![event],
            }],
            remember: key.map(|k| Remember {
                key: CommandKey([k; 32]),
                request_hash: [0; 32],
                answer: Bytes::new(),
            }),
            recorded_at: Timestamp::EPOCH,
        })
    }

    fn planned(jobs: Vec<Job>, versions: &Versions) -> (usize, usize, usize) {
        let mut queue = jobs.into();
        let plan = plan(&mut queue, versions);
        (plan.jobs.len(), plan.refused.len(), queue.len())
    }

    #[test]
    fn writers_that_follow_each_other_share_a_batch_and_rivals_wait_for_its_outcome() {
        let versions = Versions::default();
        let chain = vec![job("a", Some(3), None), job("a", Some(4), None)];
        assert_eq!(planned(chain, &versions), (2, 0, 0));
        let rivals = vec![job("a", Some(3), None), job("a", Some(3), None)];
        assert_eq!(planned(rivals, &versions), (1, 0, 1));
        let facts = vec![job("f", None, None), job("f", None, None), job("f", Some(2), None)];
        assert_eq!(planned(facts, &versions), (2, 0, 1));
    }

    #[test]
    fn an_older_version_is_refused_from_memory_a_newer_one_only_when_the_database_just_said_so() {
        let mut versions = Versions::default();
        versions.learn(&StreamName::new("a").unwrap(), 5);
        assert_eq!(planned(vec![job("a", Some(4), None)], &versions), (0, 1, 0));
        assert_eq!(planned(vec![job("a", Some(6), None)], &versions), (1, 0, 0));
        versions.learn_fresh(&StreamName::new("a").unwrap(), 5);
        assert_eq!(planned(vec![job("a", Some(6), None)], &versions), (0, 1, 0));
        versions.forget_freshness();
        assert_eq!(planned(vec![job("a", Some(6), None)], &versions), (1, 0, 0));
    }

    #[test]
    fn the_same_key_twice_waits_for_the_first_ones_outcome() {
        let twice = vec![job("a", None, Some(1)), job("b", None, Some(1)), job("c", None, Some(2))];
        assert_eq!(planned(twice, &Versions::default()), (2, 0, 1));
    }

    #[test]
    fn a_batch_has_a_bound_and_the_rest_keeps_its_order() {
        let many: Vec<_> = (0..MAX_BATCH_EVENTS + 5).map(|_| job("f", None, None)).collect();
        assert_eq!(planned(many, &Versions::default()), (MAX_BATCH_EVENTS, 0, 5));
    }
}
