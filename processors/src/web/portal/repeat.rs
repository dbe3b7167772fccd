//! A request that comes again: its first answer, wherever and whenever that was given.

use std::time::Duration;

use weir_events::web::{Asked, Event, request::PortalResponse};

use super::{
    Portal, Stop,
    admit::{Submission, response},
    gateway::{internal, of_door},
    record::{Recorded, settlement_key},
};
use weir_events::web::request::PortalError;

/// How much longer than a request may take one waits for another instance to be done with it.
const GRACE: Duration = Duration::from_secs(2);
/// Events taken from the tail at once.
const BATCH: usize = 1_000;
/// What an agent is told of a page that is no longer kept.
const GONE: &str = "the content of this answer is no longer kept; ask again with a new id";

impl Portal {
    /// The first answer to a request.
    pub(super) async fn again(
        &self,
        submission: &Submission,
        recorded: Recorded,
    ) -> Result<PortalResponse, Stop> {
        let recorded = match recorded {
            Recorded::Admitted { .. } => self.end_of(submission).await?,
            other => other,
        };
        match recorded {
            Recorded::Answered(done) => {
                let content = self.parts().pages.content(&done.content).await?;
                let mut answer = response(&done, content.as_deref().unwrap_or_default());
                if content.is_none() {
                    answer.filtered.warnings.push(GONE.to_owned());
                }
                Ok(answer)
            }
            Recorded::Refused(refused) => Err(Stop::Recorded(refused)),
            Recorded::Admitted { .. } => Err(timeout(self.parts().settings.timeout).into()),
        }
    }

    /// What becomes of a request that is under way: here, on another instance, or nowhere any more.
    async fn end_of(&self, submission: &Submission) -> Result<Recorded, Stop> {
        let Asked { agent, request, .. } = submission.asked;
        if let Some(ended) = self.inner.requests.under_way(&(agent, request)).await {
            let ended = ended.map_err(internal)?;
            return Ok(match ended {
                Ok((done, _)) => Recorded::Answered(Box::new((*done).clone())),
                Err(error) => Recorded::Refused(error.refused(Some(request))),
            });
        }
        let patience = self.parts().settings.timeout + GRACE;
        let waited = tokio::time::timeout(patience, self.seen_ending(submission)).await;
        waited.map_err(|_| timeout(patience))?
    }

    async fn seen_ending(&self, submission: &Submission) -> Result<Recorded, Stop> {
        let Asked { agent, request, .. } = submission.asked;
        let log = self.parts().door.log();
        // The tail is older than what is looked up: nothing falls in between.
        let mut tail = log.tail(log.head());
        let known = log.remembered(settlement_key(&agent, &request)).await.map_err(of_door)?;
        if let Some(known) = known {
            return Ok(Recorded::decode(&known.answer).map_err(internal)?);
        }
        loop {
            let batch = tail.next(BATCH).await.map_err(internal)?;
            let ends = batch.iter().filter_map(|event| event.decode::<Event>()?.ok());
            let mine = |event: &Event| {
                match event {
                    Event::WebRequestCompleted(done) => Some(&done.asked),
                    Event::WebRequestBlocked(blocked) => Some(&blocked.asked),
                    Event::WebRequestFailed(failed) => Some(&failed.asked),
                    _ => None,
                }
                .is_some_and(|asked| asked.agent == agent && asked.request == request)
            };
            let ended = ends.filter(mine).find_map(|event| Recorded::of_end(&event));
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
    }
}

fn timeout(patience: Duration) -> PortalError {
    PortalError::Timeout(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX))
}
