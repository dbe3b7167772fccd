//! What a batch of events changes of the waivers: some begin, some are granted, some end. In this
//! order, which is the order of each waiver's life. Where a log says otherwise (a waiver that ends
//! twice), the batch is applied in several rounds, so that the last word counts whatever the batches
//! are.

use std::{collections::HashMap, sync::Arc};

use sqlx::PgConnection;
use time::OffsetDateTime;
use weir_events::{
    envelope::Recorded,
    registry::{
        Event,
        policy::{Waiver, WaiverExpired, WaiverGranted, WaiverRequested, WaiverRevoked},
    },
};

use super::State;
use crate::{decode, engine::ApplyFault};

const BEGIN: &str = "
    INSERT INTO waivers (id, first_position, position, state, requested_by, requested_at, ecosystem,
        package, versions, waives, token, reason, owner, expires_at)
    SELECT id, at, at, 'waiting', requested_by, requested_at, ecosystem, package, versions,
        ARRAY(SELECT jsonb_array_elements_text(waives::jsonb)), token, reason, owner, expires_at
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[], $5::text[], $6::text[],
        $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::timestamptz[])
        AS began (id, at, requested_by, requested_at, ecosystem, package, versions, waives, token,
            reason, owner, expires_at)
    ON CONFLICT (id) DO NOTHING";

const GRANT: &str = "
    UPDATE waivers SET state = 'granted', position = granted.at, granted_by = granted.by,
        granted_at = granted.moment
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[])
        AS granted (id, at, by, moment)
    WHERE waivers.id = granted.id";

const END: &str = "
    UPDATE waivers SET state = ended.state, position = ended.at, ended_by = ended.by,
        ended_at = ended.moment, end_reason = ended.reason
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[], $5::text[], $6::text[])
        AS ended (id, at, by, moment, state, reason)
    WHERE waivers.id = ended.id";

/// What happened to which waiver, where and when.
#[derive(Default)]
struct Steps {
    id: Vec<String>,
    at: Vec<i64>,
    by: Vec<Option<String>>,
    moment: Vec<OffsetDateTime>,
}

impl Steps {
    fn push(&mut self, event: &Recorded, id: String, by: Option<String>) {
        self.id.push(id);
        self.at.push(event.position.0);
        self.by.push(by);
        self.moment.push(event.recorded_at.datetime());
    }
}

/// How far a waiver came in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Began,
    Granted,
    Ended,
}

/// What a batch changes, in rounds: none of them has two words about one stage of a waiver, nor an
/// earlier stage after a later one.
#[derive(Default)]
pub(super) struct Rounds {
    done: Vec<Changes>,
    last: Changes,
    stages: HashMap<String, Stage>,
}

impl Rounds {
    pub(super) fn of(batch: &[Arc<Recorded>]) -> Result<Self, ApplyFault> {
        let mut rounds = Self::default();
        for event in decode::events::<Event>(batch) {
            let (at, event) = event?;
            let (id, stage) = match &event {
                Event::WaiverRequested(it) => (&it.waiver.id, Stage::Began),
                Event::WaiverGranted(it) => (&it.waiver.id, Stage::Granted),
                Event::WaiverRevoked(it) => (&it.id, Stage::Ended),
                Event::WaiverExpired(it) => (&it.id, Stage::Ended),
                _ => continue,
            };
            rounds.reach(id, stage);
            rounds.last.take(at, event);
        }
        Ok(rounds)
    }

    fn reach(&mut self, id: &str, stage: Stage) {
        if self.stages.get(id).is_some_and(|reached| *reached >= stage) {
            self.done.push(std::mem::take(&mut self.last));
            self.stages.clear();
        }
        self.stages.insert(id.to_owned(), stage);
    }

    pub(super) async fn apply(self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        for changes in self.done.into_iter().chain([self.last]) {
            changes.apply(tx).await?;
        }
        Ok(())
    }
}

/// What one round changes.
#[derive(Default)]
struct Changes {
    began: Steps,
    waivers: Vec<Waiver>,
    granted: Steps,
    ended: Steps,
    states: Vec<&'static str>,
    reasons: Vec<Option<String>>,
}

impl Changes {
    fn take(&mut self, at: &Recorded, event: Event) {
        match event {
            Event::WaiverRequested(WaiverRequested { waiver, requested_by }) => {
                self.begin(at, waiver, requested_by);
            }
            Event::WaiverGranted(WaiverGranted { waiver, requested_by, granted_by }) => {
                self.granted.push(at, waiver.id.clone(), Some(granted_by));
                // One that needed nobody else begins with its grant.
                self.begin(at, waiver, requested_by);
            }
            Event::WaiverRevoked(WaiverRevoked { id, revoked_by, reason }) => {
                self.ended.push(at, id, Some(revoked_by));
                self.states.push(State::Revoked.as_str());
                self.reasons.push(Some(reason));
            }
            Event::WaiverExpired(WaiverExpired { id }) => {
                self.ended.push(at, id, None);
                self.states.push(State::Expired.as_str());
                self.reasons.push(None);
            }
            _ => {}
        }
    }

    fn begin(&mut self, at: &Recorded, waiver: Waiver, requested_by: String) {
        self.began.push(at, waiver.id.clone(), Some(requested_by));
        self.waivers.push(waiver);
    }

    async fn apply(self, tx: &mut PgConnection) -> Result<(), ApplyFault> {
        let Self { began, waivers, granted, ended, states, reasons } = self;
        if !began.id.is_empty() {
            begin(began, waivers, tx).await?;
        }
        if !granted.id.is_empty() {
            let Steps { id, at, by, moment } = granted;
            let query = sqlx::query(GRANT).bind(id).bind(at).bind(by).bind(moment);
            query.execute(&mut *tx).await?;
        }
        if !ended.id.is_empty() {
            let Steps { id, at, by, moment } = ended;
            let query = sqlx::query(END).bind(id).bind(at).bind(by).bind(moment);
            query.bind(states).bind(reasons).execute(tx).await?;
        }
        Ok(())
    }
}

async fn begin(
    began: Steps,
    waivers: Vec<Waiver>,
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    let (mut ecosystems, mut packages, mut versions) = (vec![], vec![], vec![]);
    let (mut waives, mut tokens, mut reasons) = (vec![], vec![], vec![]);
    let (mut owners, mut ends) = (vec![], vec![]);
    for waiver in waivers {
        ecosystems.push(waiver.ecosystem.as_str());
        packages.push(waiver.package);
        versions.push(waiver.versions);
        // As JSON, for Postgres has no arrays of arrays of different lengths.
        waives.push(serde_json::Value::from(waiver.waives).to_string());
        tokens.push(waiver.token);
        reasons.push(waiver.reason);
        owners.push(waiver.owner);
        ends.push(waiver.expires_at.datetime());
    }
    let Steps { id, at, by, moment } = began;
    sqlx::query(BEGIN)
        .bind(id)
        .bind(at)
        .bind(by)
        .bind(moment)
        .bind(ecosystems)
        .bind(packages)
        .bind(versions)
        .bind(waives)
        .bind(tokens)
        .bind(reasons)
        .bind(owners)
        .bind(ends)
        .execute(tx)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_of_a_waiver_comes_once_in_a_round_and_in_order() {
        use Stage::{Began, Ended, Granted};

        let n_rounds = |steps: &[(&str, Stage)]| {
            let mut rounds = Rounds::default();
            for (id, stage) in steps {
                rounds.reach(id, *stage);
            }
            rounds.done.len() + 1
        };
        assert_eq!(n_rounds(&[]), 1);
        assert_eq!(n_rounds(&[("a", Began), ("a", Granted), ("b", Granted), ("a", Ended)]), 1);
        assert_eq!(n_rounds(&[("a", Ended), ("b", Ended)]), 1, "they are two");
        assert_eq!(n_rounds(&[("a", Ended), ("a", Ended)]), 2, "the later word counts");
        assert_eq!(n_rounds(&[("a", Granted), ("a", Ended), ("a", Granted)]), 2);
        assert_eq!(n_rounds(&[("a", Ended), ("a", Began), ("a", Granted), ("a", Ended)]), 2);
        assert_eq!(n_rounds(&[("a", Began), ("a", Began), ("a", Began)]), 3);
    }
}
