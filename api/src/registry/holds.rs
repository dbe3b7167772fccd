//! Holds: what tokens of a profile may not have before a person has said yes.

use axum::{
    Json,
    extract::{Path, State},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::hold::{Command, Holds, Known, Refusal};
use weir_events::{
    registry::{
        Ecosystem,
        hold::{Ground, HOLDS, Hold, Word},
    },
    stream::StreamName,
    timestamp::Timestamp,
};

use crate::{
    answer::Done,
    ask::{Ask, Params, bad_parameter},
    auth::{
        By,
        needs::{RulesRead, RulesWrite},
    },
    problem::{
        Problem,
        table::{
            BOUND_BY_PROFILE, HOLD_ANSWERED, HOLD_REFUSED, NO_SUCH_HOLD, NOT_FOUND, SECOND_PERSON,
        },
    },
    state::ApiState,
};

const SECONDS_AN_HOUR: i64 = 3_600;
/// How long an answer holds when nobody says, in hours: a week.
const HOURS: u32 = 168;

/// The routes of holds.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(answer))
}

/// Holds whose time is not over, the newest first.
#[derive(Debug, Serialize, ToSchema)]
struct HoldPage {
    holds: Vec<HoldView>,
}

/// A question to a person, and what was said.
#[derive(Debug, Serialize, ToSchema)]
struct HoldView {
    /// Its id (UUID version 7).
    id: String,
    /// `pending`, `allowed` or `denied`.
    state: &'static str,
    /// The token that asks.
    token: String,
    /// The name of its principal.
    principal: String,
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// The package, by its normalised name.
    package: String,
    /// The version; none where the file's name does not tell.
    version: Option<String>,
    /// The file that was asked for.
    file: String,
    /// Why a person is asked: `new-package`, `new-version` or `advisory`.
    #[schema(value_type = String)]
    ground: Ground,
    /// The advisory, where it is one.
    advisory: Option<String>,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    requested_at: Timestamp,
    /// Until when it can be answered, or its answer holds.
    #[schema(value_type = String, format = DateTime)]
    until: Timestamp,
    /// Who answered.
    answered_by: Option<String>,
    /// Why so.
    reason: Option<String>,
}

fn state_of(known: &Known) -> &'static str {
    known.answer.as_ref().map_or("pending", |answer| answer.word.done())
}

impl From<&Known> for HoldView {
    fn from(known: &Known) -> Self {
        let (state, until) = (state_of(known), known.until());
        let Hold { id, token_id: token, principal, ecosystem, package, version, file, .. } =
            known.hold.clone();
        Self {
            id,
            state,
            token,
            principal,
            ecosystem,
            package,
            version,
            file,
            ground: known.hold.ground,
            advisory: known.hold.advisory.clone(),
            requested_at: known.hold.requested_at,
            until,
            answered_by: known.answer.as_ref().map(|answer| answer.answered_by.clone()),
            reason: known.answer.as_ref().map(|answer| answer.reason.clone()),
        }
    }
}

/// Lists holds whose time is not over, the newest first
#[utoipa::path(
    get, path = "/api/registry/holds", tag = "registry", operation_id = "holds",
    params(("state" = Option<String>, Query, description = "pending, allowed or denied")),
    responses((status = 200, description = "The holds", body = HoldPage)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    mut params: Params,
) -> Result<Json<HoldPage>, Problem> {
    let wanted = params.take::<String>("state")?;
    params.done()?;
    if wanted.as_deref().is_some_and(|it| !["pending", "allowed", "denied"].contains(&it)) {
        return Err(bad_parameter("state", "there are: pending, allowed, denied"));
    }
    let (known, _) = state.door().load::<Holds>(&stream()?).await?;
    let is_wanted = |known: &&Known| wanted.as_deref().is_none_or(|it| it == state_of(known));
    let holds = known.at(state.door().now()).rev().filter(is_wanted).map(HoldView::from);
    Ok(Json(HoldPage { holds: holds.collect() }))
}

/// A person's word.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct HoldAnswer {
    /// Why: 1 to 300 characters.
    reason: String,
    /// How many hours it holds, at most 366 days; a week, without.
    hours: Option<u32>,
    /// Whether it takes the place of an answer that stands; otherwise one that says the opposite is
    /// refused, and one that says the same changes nothing.
    #[serde(default)]
    replace: bool,
}

/// Says whether what waits may pass
#[utoipa::path(
    post, path = "/api/registry/holds/{id}/{word}", tag = "registry", operation_id = "answer_hold",
    params(
        ("id" = String, Path, description = "The hold"),
        ("word" = String, Path, description = "`allow` or `deny`"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    request_body = HoldAnswer,
    responses(
        (status = 204, description = "It passes, or it does not, on this instance"),
        (status = 403, description = "Whoever is bound by a profile does not answer"),
        (status = 404, description = "There is no such hold, or its time is over"),
        (status = 409, description = "Who asked does not answer; or somebody has said the opposite"),
        (status = 422, description = "The answer makes no sense"),
    ),
)]
async fn answer(
    State(state): State<ApiState>,
    Path((id, word)): Path<(String, String)>,
    Ask { body, principal, caller, key, .. }: Ask<RulesWrite, HoldAnswer>,
) -> Result<Done<()>, Problem> {
    let no_word = || Problem::new(&NOT_FOUND, "a hold is answered with allow or deny");
    let word = Word::find(&word).ok_or_else(no_word)?;
    let HoldAnswer { reason, hours, replace } = body;
    let seconds = i64::from(hours.unwrap_or(HOURS)) * SECONDS_AN_HOUR;
    let until = state.door().now().plus_seconds(seconds);
    let (by, grantor) = (caller.principal.to_string(), principal.grantor());
    let command = Command::Answer { id, word, by, grantor, reason, until, replace };
    let executed = state.door().execute::<Holds>(&stream()?, &command, &caller, key).await?;
    state.packages().go_by_if_new(&executed).await?;
    Ok(Done::silently(&executed))
}

fn stream() -> Result<StreamName, Problem> {
    StreamName::new(HOLDS).map_err(|fault| Problem::internal(&fault))
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        let field = match refusal {
            Refusal::Unknown(_) => return Self::new(&NO_SUCH_HOLD, words),
            Refusal::Bound(_) => return Self::new(&BOUND_BY_PROFILE, words),
            Refusal::SamePerson(_) => return Self::new(&SECOND_PERSON, words),
            Refusal::Answered(_) => return Self::new(&HOLD_ANSWERED, words),
            Refusal::TooManyWaiting | Refusal::TooMany => return Self::new(&HOLD_REFUSED, words),
            Refusal::BadReason => "reason",
            Refusal::BadTime => "hours",
        };
        Self::of_field(&HOLD_REFUSED, field, words)
    }
}

#[cfg(test)]
mod tests {
    use weir_events::registry::hold::HoldAnswered;

    use super::*;

    fn answered() -> HoldAnswered {
        HoldAnswered {
            id: "x".to_owned(),
            word: Word::Deny,
            answered_by: "ann".to_owned(),
            reason: "no".to_owned(),
            until: Timestamp::EPOCH,
        }
    }

    #[test]
    fn a_refusal_names_the_field_that_makes_no_sense() {
        for (refusal, status, field) in [
            (Refusal::BadReason, 422, Some("reason")),
            (Refusal::BadTime, 422, Some("hours")),
            (Refusal::TooMany, 422, None),
            (Refusal::Unknown("x".to_owned()), 404, None),
            (Refusal::Bound("agent".to_owned()), 403, None),
            (Refusal::SamePerson("robot".to_owned()), 409, None),
            (Refusal::Answered(Box::new(answered())), 409, None),
        ] {
            let problem = Problem::from(refusal);
            let document = serde_json::to_value(problem.view(None)).unwrap();
            assert_eq!(problem.status(), status, "{document}");
            assert_eq!(document["errors"][0]["field"].as_str(), field, "{document}");
        }
    }
}
