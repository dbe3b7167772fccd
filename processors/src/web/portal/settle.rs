//! The end of a request that was admitted, on record: settled once, with its charge.
//!
//! Also of what nobody will settle any more: a process was killed between the admission of a request
//! and its end. Whether it had left is not known, so it counts as failed (ruling A17).

use std::{sync::atomic::Ordering, time::Duration};

use tracing::{info, warn};
use weir_aggregates::{
    mint::{self, Account, Tax},
    web::gateway::{Command, Failure, Gateway, Refusal},
};
use weir_events::{
    mint::stream as account_stream,
    position::Position,
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
    web::{
        CACHE, Event, WebCacheInvalidated, WebCacheStored, WebEvictionCause, agent_stream,
        cache_stream,
        request::{HttpMethod, PortalError},
        transfer,
    },
};
use weir_projections::web::request_log::{self, LeftOver, Unsettled};

use super::{
    Portal,
    gateway::{internal, of_door},
    outside::Changed,
    record::{Recorded, settlement_key},
};
use crate::{
    caller::Caller,
    chain::chain,
    door::{Once, Pair, Paired},
    outbound::web::address::WebUrl,
    web::pages,
};

/// How much longer than a request may take it is left alone: its instance may be alive and slow.
const GRACE: Duration = Duration::from_secs(5);
/// How often one looks.
const EVERY: Duration = Duration::from_secs(5);
/// How many are settled at once.
const AT_ONCE: usize = 500;

/// How a request that was admitted ends.
pub(super) struct Settlement<'a> {
    /// Which one.
    pub(super) of: Unsettled,
    /// BLAKE3 of what was signed; zeros where that is not known any more.
    pub(super) request_hash: [u8; 32],
    /// What became of it.
    pub(super) command: &'a Command,
    /// What it costs, and the tax on that.
    pub(super) spark: u64,
    pub(super) tax: Tax,
    /// What is said beside it.
    pub(super) beside: Beside<'a>,
    /// In whose name.
    pub(super) caller: &'a Caller,
}

/// What is said of the cache where a request ends, in the same append.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    /// What may say something else because of it: what is cached of it comes after that.
    pub(super) changed: Option<&'a Changed>,
    /// What is cached of it.
    pub(super) stored: Option<&'a WebCacheStored>,
}

impl Beside<'_> {
    fn facts(&self, cycle: u64) -> Result<Vec<(StreamName, Vec<Event>)>, StreamNameFault> {
        let changed = self.changed.map(|changed| {
            let (pages, cause) = (changed.pages.clone(), WebEvictionCause::Changed);
            let said = WebCacheInvalidated { pages, cause, cycle };
            StreamName::new(CACHE).map(|stream| (stream, vec![said.into()]))
        });
        let stored = self.stored.map(|stored| {
            cache_stream(&stored.key).map(|stream| (stream, vec![stored.clone().into()]))
        });
        changed.into_iter().chain(stored).collect()
    }
}

/// Begins to settle what is left over, for as long as the process runs. Several processes may do so:
/// whoever is later finds nothing to do.
pub fn start(portal: &Portal) {
    let portal = portal.clone();
    let lifecycle = &portal.parts().lifecycle;
    let soft = lifecycle.soft().clone();
    let looking = portal.clone();
    lifecycle.run("web settlement", async move {
        let mut ticker = tokio::time::interval(EVERY);
        ticker.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let look = async {
            loop {
                ticker.tick().await;
                if let Err(error) = looking.settle_left_over().await {
                    warn!(%error, "what is left over of web requests is not settled yet");
                }
            }
        };
        soft.run_until_cancelled(look).await;
    });
}

impl Portal {
    /// Settles what is left over; answers how much.
    pub async fn settle_left_over(&self) -> Result<usize, PortalError> {
        let door = &self.parts().door;
        let age = self.parts().settings.timeout + GRACE;
        let micros = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let before = Timestamp::from_micros(door.now().micros().saturating_sub(micros));
        let found = request_log::unsettled(door.log().database(), before, AT_ONCE).await;
        let found = found.map_err(|fault| PortalError::Database(chain(&fault)))?;
        let mut n_settled = 0;
        for left in found {
            let Unsettled { agent, request, .. } = left.of;
            if self.inner.requests.is_under_way(&(agent, request)) {
                continue;
            }
            // One that cannot be settled keeps nobody else waiting.
            match self.give_up(left).await {
                Ok(true) => {
                    info!(%agent, %request, "a web request that was left over is settled as failed");
                    n_settled += 1;
                }
                Ok(false) => {}
                Err(error) => {
                    warn!(%agent, %request, %error, "a web request that was left over is not settled");
                }
            }
        }
        Ok(n_settled)
    }

    /// Settles one as failed, as if it had left; answers whether nobody else has settled it meanwhile.
    async fn give_up(&self, left: LeftOver) -> Result<bool, PortalError> {
        let LeftOver { of, method, url } = left;
        // What was sent may have come to where it was sent.
        let url = WebUrl::parse(&url).ok().filter(|_| method == HttpMethod::Post);
        let changed = pages::changed(&url).map(Changed::from);
        let words = "the gateway stopped before it was answered";
        let failure = Failure {
            request: of.request,
            error: PortalError::FetchFailed(words.to_owned()),
            left: true,
            hosts: Vec::new(),
            redirects: Vec::new(),
        };
        let (spark, caller) = (failure.cost().spark, Caller::processor("web"));
        let fail = async |tax: Tax| {
            let settlement = Settlement {
                of,
                request_hash: [0; 32],
                command: &Command::Fail(Box::new(failure.clone()), tax),
                spark,
                tax,
                beside: Beside { changed: changed.as_ref(), stored: None },
                caller: &caller,
            };
            self.settle(settlement).await
        };
        let mut said = fail(self.parts().settings.tax).await?;
        if matches!(said, Paired::SecondRefused(mint::Refusal::Beyond { .. })) {
            // The tax was raised since: so much was not set aside.
            said = fail(Tax { percent: 0 }).await?;
        }
        Ok(settled(said)?.is_some())
    }

    /// Puts the end of a request on record, with its charge and what is to be said of the cache, in one
    /// append.
    pub(super) async fn settle(
        &self,
        settlement: Settlement<'_>,
    ) -> Result<Paired<Gateway, Account>, PortalError> {
        let Settlement { of, request_hash, command, spark, tax, beside, caller } = settlement;
        let Unsettled { agent, request, cycle } = of;
        let stream = agent_stream(&agent, cycle).map_err(internal)?;
        let account = account_stream(&agent.to_string()).map_err(internal)?;
        let facts = beside.facts(cycle).map_err(internal)?;
        let pay = mint::Command::Settle {
            account: agent.to_string(),
            transfer: transfer(&request).to_string(),
            amount: spark,
            tax,
        };
        let pair = Pair::<Gateway, Account> {
            first: (&stream, command),
            second: Some((&account, &pay)),
            facts: &facts,
            once: Some(Once {
                key: settlement_key(&agent, &request),
                request_hash,
                answer: &Recorded::of_settlement,
            }),
        };
        let said = self.parts().door.execute_pair(&pair, caller).await.map_err(of_door)?;
        if let (Some(changed), Paired::Done(_, position)) = (beside.changed, &said) {
            changed.is_said.store(true, Ordering::Relaxed);
            self.parts().pages.are_invalid(&changed.pages, *position);
        }
        Ok(said)
    }
}

/// What a settlement says, and where it ends in the log; nothing, where the request was settled before.
pub(super) fn settled(
    said: Paired<Gateway, Account>,
) -> Result<Option<(Vec<Event>, Position)>, PortalError> {
    match said {
        Paired::Done(events, position) => Ok(Some((events, position))),
        Paired::FirstRefused(Refusal::NotUnderWay(_)) | Paired::Before(_) => Ok(None),
        Paired::FirstRefused(refusal) => Err(internal(refusal)),
        Paired::SecondRefused(refusal) => Err(internal(refusal)),
    }
}
