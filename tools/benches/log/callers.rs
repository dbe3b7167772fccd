//! Callers of the log: each appends, waits until it is durable, and appends again.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use weir_events::stream::StreamName;
use weir_log::{Log, append::Outcome};

use crate::{Fault, database::fresh, events};

/// Callers with a stream each, which they keep through all rounds.
#[derive(Debug)]
pub(crate) struct Callers {
    log: Log,
    callers: Vec<Caller>,
}

#[derive(Debug)]
struct Caller {
    stream: StreamName,
    version: i64,
}

/// What a round of calls came to.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// Durable events a second.
    pub(crate) rate: f64,
    /// Milliseconds each append took.
    pub(crate) millis: Vec<f64>,
}

impl Callers {
    /// Callers on fresh streams; the first append of each, which makes its stream, is done.
    pub(crate) async fn new(log: &Log, n: usize) -> Result<Self, Fault> {
        let callers: Result<Vec<_>, Fault> = (0..n)
            .map(|_| {
                let stream = StreamName::new(format!("bench/{}", fresh().simple()))?;
                Ok(Caller { stream, version: 0 })
            })
            .collect();
        let mut this = Self { log: log.clone(), callers: callers? };
        this.run(Duration::from_millis(100)).await?;
        Ok(this)
    }

    /// Lets all of them call for a while, each expecting the version it last saw.
    pub(crate) async fn run(&mut self, span: Duration) -> Result<Round, Fault> {
        let began = Instant::now();
        let mut running = JoinSet::new();
        for mut caller in self.callers.drain(..) {
            let log = self.log.clone();
            running.spawn(async move {
                let mut millis = Vec::new();
                let event = events::plain();
                while began.elapsed() < span {
                    let called = Instant::now();
                    let events = vec![event.clone()];
                    let append = events::append(&caller.stream, Some(caller.version), events);
                    match log.append(append).await? {
                        Outcome::Appended(_) => caller.version += 1,
                        other => return Err(Fault::from(format!("an append came to {other:?}"))),
                    }
                    millis.push(called.elapsed().as_secs_f64() * 1_000.0);
                }
                Ok((caller, millis))
            });
        }
        let mut all = Vec::new();
        while let Some(ended) = running.join_next().await {
            let (caller, millis) = ended??;
            self.callers.push(caller);
            all.extend(millis);
        }
        Ok(Round { rate: crate::effort::rate(all.len(), began), millis: all })
    }
}
