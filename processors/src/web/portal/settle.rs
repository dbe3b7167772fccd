//! Settling what nobody will settle any more: a process was killed between the admission of a request
//! and its end. Whether it had left is not known, so it counts as failed (ruling A17).

use std::time::Duration;

use tracing::{info, warn};
use weir_aggregates::{
    mint::{self, Account, Tax},
    web::gateway::{Command, Failure, Gateway, Refusal},
};
use weir_events::{
    mint::stream as account_stream,
    timestamp::Timestamp,
    web::{agent_stream, request::PortalError, transfer},
};
use weir_projections::web::request_log::{self, Unsettled};

use super::{
    Portal,
    gateway::{internal, of_door},
    record::{Recorded, settlement_key},
};
use crate::{
    caller::Caller,
    chain::chain,
    door::{Once, Pair, Paired},
};

/// How much longer than a request may take it is left alone: its instance may be alive and slow.
const GRACE: Duration = Duration::from_secs(5);
/// How often one looks.
const EVERY: Duration = Duration::from_secs(5);
/// How many are settled at once.
const AT_ONCE: usize = 500;

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
            let Unsettled { agent, request, .. } = left;
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

    async fn give_up(&self, left: Unsettled) -> Result<bool, PortalError> {
        match self.settle_as_failed(left, self.parts().settings.tax).await? {
            Paired::Done(..) => Ok(true),
            // It was settled meanwhile.
            Paired::FirstRefused(Refusal::NotUnderWay(_)) | Paired::Before(_) => Ok(false),
            Paired::FirstRefused(refusal) => Err(internal(refusal)),
            // The tax was raised since: so much was not set aside.
            Paired::SecondRefused(mint::Refusal::Beyond { .. }) => {
                let untaxed = self.settle_as_failed(left, Tax { percent: 0 }).await?;
                match untaxed {
                    Paired::SecondRefused(refusal) => Err(internal(refusal)),
                    said => Ok(matches!(said, Paired::Done(..))),
                }
            }
            Paired::SecondRefused(refusal) => Err(internal(refusal)),
        }
    }

    async fn settle_as_failed(
        &self,
        left: Unsettled,
        tax: Tax,
    ) -> Result<Paired<Gateway, Account>, PortalError> {
        let Unsettled { agent, request, cycle } = left;
        let stream = agent_stream(&agent, cycle).map_err(internal)?;
        let account = account_stream(&agent.to_string()).map_err(internal)?;
        let words = "the gateway stopped before it was answered";
        let failure = Failure {
            request,
            error: PortalError::FetchFailed(words.to_owned()),
            left: true,
            hosts: Vec::new(),
            redirects: Vec::new(),
        };
        let pay = mint::Command::Settle {
            account: agent.to_string(),
            transfer: transfer(&request).to_string(),
            amount: failure.cost().spark,
            tax,
        };
        let command = Command::Fail(Box::new(failure), tax);
        let pair = Pair::<Gateway, Account> {
            first: (&stream, &command),
            second: Some((&account, &pay)),
            facts: None,
            once: Some(Once {
                key: settlement_key(&agent, &request),
                request_hash: [0; 32],
                answer: &Recorded::of_settlement,
            }),
        };
        let caller = Caller::processor("web");
        self.parts().door.execute_pair(&pair, &caller).await.map_err(of_door)
    }
}
