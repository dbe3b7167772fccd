//! From a request as it came to its judgement, on record.

use std::sync::Arc;

use tokio::time::Instant;
use weir_aggregates::{
    mint::{self, Account},
    web::gateway::{Admission, BackOff, Command, Gateway, Given, MAX_BACK_OFF, Refusal},
};
use weir_events::{
    mint::stream as account_stream,
    web::{
        Asked, Event, WebRequestCompleted, WebRequestSubmitted, agent_stream,
        content::ContentFilter,
        request::{
            AgentId, ApiInteractionKind, Hash256, PortalError, PortalRequest, PortalResponse,
        },
        transfer,
    },
};
use weir_log::idempotency::{CommandKey, Remembered};

use super::{
    Portal,
    fetch::Wanted,
    gateway::{internal, of_door},
    record::{Recorded, admission_key},
};
use crate::{
    caller::Caller,
    door::{Once, Pair, Paired},
    outbound::web::address::WebUrl,
    web::pages::Cached,
};

/// A request whose signature and shape are right.
#[derive(Debug, Clone)]
pub(super) struct Submission {
    pub(super) request: Arc<PortalRequest>,
    pub(super) asked: Asked,
    /// BLAKE3 of what was signed.
    pub(super) request_hash: [u8; 32],
    pub(super) filter: ContentFilter,
    pub(super) key: Hash256,
    pub(super) variant: Hash256,
    pub(super) interaction: ApiInteractionKind,
    pub(super) url: Arc<WebUrl>,
    /// Whether a human lets it through.
    pub(super) approved: bool,
    /// What it waits for with others, where it does.
    pub(super) wanted: Option<Wanted>,
    /// When it came.
    pub(super) came: Instant,
    pub(super) caller: Caller,
}

/// What was judged.
#[derive(Debug)]
pub(super) enum Judged {
    /// It is admitted: what it costs is reserved.
    Admitted(Box<WebRequestSubmitted>),
    /// The cache has it.
    Hit(Box<WebRequestCompleted>, Arc<Cached>),
    /// It was asked before, for the same.
    Before(Recorded),
}

impl Portal {
    /// Has it judged by all that is known before a packet leaves, and puts that on record.
    pub(super) async fn admit(
        &self,
        submission: &Submission,
        admission: Admission,
        hit: Option<Arc<Cached>>,
    ) -> Result<Judged, PortalError> {
        let Asked { agent, cycle, request, .. } = submission.asked;
        let stream = agent_stream(&agent, cycle).map_err(internal)?;
        let account = account_stream(&agent.to_string()).map_err(internal)?;
        let carried = self.carried(&agent, cycle).await?;
        let admission = Box::new(Admission { carried, ..admission });
        let reserve = mint::Command::Reserve {
            account: agent.to_string(),
            transfer: transfer(&request).to_string(),
            amount: admission.worst().spark,
            tax: self.parts().settings.tax,
        };
        let needs_spark = admission.hit.is_none();
        let once = Once::<Gateway> {
            key: admission_key(&agent, &request),
            request_hash: submission.request_hash,
            answer: &Recorded::of_admission,
        };
        let command = Command::Admit(admission.clone());
        let pair = Pair::<Gateway, Account> {
            first: (&stream, &command),
            second: needs_spark.then_some((&account, &reserve)),
            facts: &[],
            once: Some(once),
        };
        let door = &self.parts().door;
        let said = door.execute_pair(&pair, &submission.caller).await.map_err(of_door)?;
        match said {
            Paired::Done(events, _) => judged(events, hit.as_ref()),
            Paired::FirstRefused(Refusal::No(error)) => Err(error),
            Paired::FirstRefused(fault) => Err(internal(fault)),
            Paired::Before(before) => said_before(&before, submission.request_hash),
            Paired::SecondRefused(refusal) => {
                let error = unpaid(&refusal);
                let command = Command::Bounce(admission, error.clone());
                let pair = Pair::<Gateway, Account> {
                    first: (&stream, &command),
                    second: None,
                    facts: &[],
                    once: Some(Once { answer: &Recorded::of_admission, ..pair_once(submission) }),
                };
                let said = door.execute_pair(&pair, &submission.caller).await.map_err(of_door)?;
                bounced(&said, error, submission.request_hash)
            }
        }
    }

    /// The pause that the cycles before left over: the refusals of this one say nothing of it. After a
    /// while there is none left, however late the outside asked for it.
    pub(super) async fn carried(
        &self,
        agent: &AgentId,
        cycle: u64,
    ) -> Result<BackOff, PortalError> {
        let parts = self.parts();
        let state = parts.nexus.state().await.map_err(of_door)?;
        let settings = &parts.settings;
        let late = settings
            .tick
            .map_or(u128::MAX, |tick| settings.timeout.as_nanos().div_ceil(tick.as_nanos().max(1)));
        let longest = u64::try_from(late).unwrap_or(u64::MAX).saturating_add(MAX_BACK_OFF + 1);
        let per_cycle = state.schedule().map_or(1, |schedule| schedule.ticks_per_cycle).max(1);
        let n_back = cycles_back(state.ticks_into_cycle(parts.door.now()), per_cycle, longest);
        let mut carried = BackOff::default();
        for n in (1..=n_back).rev() {
            let Some(before) = cycle.checked_sub(n) else { continue };
            let stream = agent_stream(agent, before).map_err(internal)?;
            let (state, _) = parts.door.load::<Gateway>(&stream).await.map_err(of_door)?;
            carried = carried.before(&state);
        }
        Ok(carried)
    }
}

/// How many cycles one looks back for a pause that is not over, `into` ticks after the last one.
fn cycles_back(into: u64, per_cycle: u32, longest: u64) -> u64 {
    let Some(left) = longest.checked_sub(into) else { return 0 };
    (left / u64::from(per_cycle)).min(MAX_BACK_OFF) + 1
}

fn pair_once(submission: &Submission) -> Once<'_, Gateway> {
    let Asked { agent, request, .. } = &submission.asked;
    let key: CommandKey = admission_key(agent, request);
    Once { key, request_hash: submission.request_hash, answer: &Recorded::of_admission }
}

/// What a request was told before, if it is the same.
fn said_before(before: &Remembered, request_hash: [u8; 32]) -> Result<Judged, PortalError> {
    if before.request_hash != request_hash {
        let words = "this id was used before, for another request; choose another for each";
        return Err(PortalError::InvalidRequest(words.to_owned()));
    }
    Recorded::decode(&before.answer).map(Judged::Before).map_err(internal)
}

/// What a request is told that could not be paid for here: that, unless another instance has judged it
/// meanwhile (ruling A19).
fn bounced(
    said: &Paired<Gateway, Account>,
    unpaid: PortalError,
    request_hash: [u8; 32],
) -> Result<Judged, PortalError> {
    match said {
        Paired::Before(before) => said_before(before, request_hash),
        Paired::Done(..) | Paired::FirstRefused(_) | Paired::SecondRefused(_) => Err(unpaid),
    }
}

fn judged(events: Vec<Event>, hit: Option<&Arc<Cached>>) -> Result<Judged, PortalError> {
    let said = events.into_iter().find_map(|event| match event {
        Event::WebRequestSubmitted(submitted) => Some(Judged::Admitted(submitted.into())),
        Event::WebRequestCompleted(done) => {
            hit.map(|hit| Judged::Hit(done.into(), Arc::clone(hit)))
        }
        _ => None,
    });
    said.ok_or_else(|| PortalError::Internal("a judgement without a word".to_owned()))
}

/// What an account that cannot pay is told.
pub(super) fn unpaid(refusal: &mint::Refusal) -> PortalError {
    match refusal {
        // Some of them are over soon.
        mint::Refusal::TooMany => PortalError::RateLimited { retry_ticks: 1 },
        // So long ago that its answer is forgotten.
        mint::Refusal::Over(_) => PortalError::InvalidRequest(
            "this id was used and paid for before; choose another for each request".to_owned(),
        ),
        refusal => PortalError::PermissionDenied(refusal.to_string()),
    }
}

/// What the cache has, as the machine wants it.
pub(super) fn given(cached: &Cached) -> Given {
    Given {
        variant: cached.variant,
        status: cached.status,
        content_type: cached.content_type.clone(),
        content: cached.content,
        content_size: cached.size(),
        filtered: cached.filtered.clone(),
    }
}

/// What an agent is answered.
pub(super) fn response(done: &WebRequestCompleted, content: &[u8]) -> PortalResponse {
    PortalResponse {
        request_id: done.asked.request,
        status: done.status,
        content: content.to_vec().into(),
        content_type: done.content_type.clone(),
        filtered: done.filtered.clone(),
        cached: done.cached,
        cost: done.cost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was told that it could not be paid for, and was fetched and charged elsewhere.
    #[test]
    fn what_was_judged_elsewhere_meanwhile_is_told_as_it_was_judged_there() {
        let unpaid = || PortalError::PermissionDenied("insufficient spark".to_owned());
        let admitted = Recorded::Admitted { cycle: 3 };
        let before = |request_hash| {
            let answer = weir_events::codec::to_bytes("a test", &admitted).unwrap().into();
            let first = weir_events::position::Position(7);
            Paired::Before(Remembered { request_hash, answer, first, n_events: 2 })
        };
        let told = bounced(&before([1; 32]), unpaid(), [1; 32]).unwrap();
        assert!(matches!(&told, Judged::Before(said) if *said == admitted), "{told:?}");
        let other = bounced(&before([2; 32]), unpaid(), [1; 32]).unwrap_err();
        assert!(matches!(other, PortalError::InvalidRequest(_)), "{other}");
        let refused = Paired::FirstRefused(Refusal::No(unpaid()));
        assert_eq!(bounced(&refused, unpaid(), [1; 32]).unwrap_err(), unpaid());
    }

    #[test]
    fn one_looks_back_as_far_as_a_pause_may_reach() {
        // Of 17 ticks, and an answer that took ten.
        for (into, per_cycle, cycles) in [
            (0, 256, 1),
            (27, 256, 1),
            (28, 256, 0),
            (0, 10, 3),
            (7, 10, 3),
            (8, 10, 2),
            (0, 1, 17),
        ] {
            assert_eq!(cycles_back(into, per_cycle, 27), cycles, "{into} {per_cycle}");
        }
        assert_eq!(cycles_back(0, 1, u64::MAX), 17, "and no further");
    }
}
