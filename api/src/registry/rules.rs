//! The operator's rules: what is forbidden, and why.

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::{Command, Firewall, MAX_RULES, Refusal, STREAM};
use weir_events::{
    position::Position,
    registry::{Ecosystem, Event, Mask, Rule},
    stream::StreamName,
    timestamp::Timestamp,
};
use weir_processors::door::Executed;
use weir_projections::registry::custom_rules::{self, RuleRow};

use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params},
    auth::{
        By,
        needs::{RulesRead, RulesWrite},
    },
    problem::{
        Problem,
        table::{NO_SUCH_RULE, RULE_EXISTS, RULE_REFUSED},
    },
    state::ApiState,
    wait::{self, MinPosition},
};

/// Rules asked of the read model at once.
const AT_ONCE: usize = 1_000;

/// The routes of rules.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list, add)).routes(routes!(change, remove))
}

/// The rules in force, the oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct Rules {
    rules: Vec<RuleView>,
}

/// A rule in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct RuleView {
    /// Its id (UUID version 7).
    id: String,
    /// The ecosystem it is about.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters.
    package: String,
    /// A version constraint in the ecosystem's own syntax; `*` is every version.
    versions: String,
    /// What a person is told.
    reason: String,
    /// How the versions look in lists: `mark`, `hide` or `deny-only`.
    #[schema(value_type = String)]
    mask: Mask,
    /// The event that made it what it is.
    #[schema(value_type = i64)]
    position: Position,
    /// When that was.
    #[schema(value_type = String, format = DateTime)]
    changed_at: Timestamp,
    /// Who did it.
    changed_by: String,
}

impl From<RuleRow> for RuleView {
    fn from(row: RuleRow) -> Self {
        let RuleRow { rule, position, changed_at, changed_by } = row;
        let Rule { id, ecosystem, package, versions, reason, mask } = rule;
        Self { id, ecosystem, package, versions, reason, mask, position, changed_at, changed_by }
    }
}

/// Lists the rules in force, the oldest first
#[utoipa::path(
    get, path = "/api/rules", tag = "registry", operation_id = "rules",
    params(("min_position" = Option<MinPosition>, Query, description = "At least so new an answer")),
    responses((status = 200, description = "The rules", body = Rules)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    mut params: Params,
) -> Result<Json<Rules>, Problem> {
    wait::projection(&state, "custom_rules", &mut params).await?;
    params.done()?;
    let mut rules: Vec<RuleView> = Vec::new();
    while rules.len() < MAX_RULES {
        let last = rules.last().map(|rule| rule.id.as_str());
        let page = custom_rules::list(state.database(), last, AT_ONCE).await?;
        let full = page.len() == AT_ONCE;
        rules.extend(page.into_iter().map(RuleView::from));
        if !full {
            break;
        }
    }
    Ok(Json(Rules { rules }))
}

/// What a rule is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RuleRequest {
    /// The ecosystem it is about: `pypi`, `npm`, `cargo`, `go` or `docker`.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters.
    package: String,
    /// A version constraint in the ecosystem's own syntax; every version, without.
    #[serde(default = "every_version")]
    versions: String,
    /// What a person is told: 1 to 300 characters.
    reason: String,
    /// How the versions look in lists: `mark` (without one), `hide` or `deny-only`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    mask: Mask,
}

pub(super) fn every_version() -> String {
    "*".to_owned()
}

impl RuleRequest {
    fn under(self, id: String) -> Rule {
        let Self { ecosystem, package, versions, reason, mask } = self;
        Rule { id, ecosystem, package, versions, reason, mask }
    }
}

/// Adds a rule
#[utoipa::path(
    post, path = "/api/rules", tag = "registry", operation_id = "add_rule",
    params(("idempotency-key" = Option<String>, Header, description = "Makes a repetition known")),
    request_body = RuleRequest,
    responses(
        (status = 201, description = "The rule, in force on this instance", body = RuleView),
        (status = 422, description = "The rule makes no sense"),
    ),
)]
async fn add(
    State(state): State<ApiState>,
    Ask { body, caller, key, .. }: Ask<RulesWrite, RuleRequest>,
) -> Result<Done<RuleView>, Problem> {
    let rule = body.under(state.door().new_id().to_string());
    let command = Command::Add(rule);
    let executed = state.door().execute::<Firewall>(&stream()?, &command, &caller, key).await?;
    Ok(Done::of(&executed, StatusCode::CREATED, view(&state, &executed).await?))
}

/// Replaces a rule
#[utoipa::path(
    put, path = "/api/rules/{id}", tag = "registry", operation_id = "change_rule",
    params(
        ("id" = String, Path, description = "The rule"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    request_body = RuleRequest,
    responses(
        (status = 200, description = "The rule as it is now", body = RuleView),
        (status = 422, description = "The rule makes no sense"),
    ),
)]
async fn change(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    Ask { body, caller, key, .. }: Ask<RulesWrite, RuleRequest>,
) -> Result<Response, Problem> {
    let command = Command::Change(body.under(id.clone()));
    let executed = state.door().execute::<Firewall>(&stream()?, &command, &caller, key).await?;
    if executed.events.is_empty() {
        // It is so already: the read model knows since when.
        wait::reached(&state, "custom_rules", executed.position).await?;
        let row = custom_rules::find(state.database(), &id).await?;
        let row =
            row.ok_or_else(|| Problem::new(&NO_SUCH_RULE, format!("there is no rule {id}")))?;
        return Ok(Json(RuleView::from(row)).into_response());
    }
    let view = view(&state, &executed).await?;
    Ok(Done::of(&executed, StatusCode::OK, view).into_response())
}

/// Removes a rule
#[utoipa::path(
    delete, path = "/api/rules/{id}", tag = "registry", operation_id = "remove_rule",
    params(
        ("id" = String, Path, description = "The rule"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses((status = 204, description = "It is in force no more")),
)]
async fn remove(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    Ask { caller, key, .. }: Ask<RulesWrite, Nothing>,
) -> Result<Done<()>, Problem> {
    let command = Command::Remove { id };
    let executed = state.door().execute::<Firewall>(&stream()?, &command, &caller, key).await?;
    state.packages().go_by(executed.position).await?;
    Ok(Done::silently(&executed))
}

/// The rule that a command left behind, as its event says; in force here before anybody is told.
async fn view(state: &ApiState, executed: &Executed<Event>) -> Result<RuleView, Problem> {
    let missing = || Problem::internal(&std::io::Error::other("a rule without its event"));
    let recorded = state.log().event(executed.position).await?.ok_or_else(missing)?;
    let rule = executed.events.iter().find_map(|event| match event {
        Event::RuleAdded(added) => Some(added.rule.clone()),
        Event::RuleChanged(changed) => Some(changed.rule.clone()),
        _ => None,
    });
    let row = RuleRow {
        rule: rule.ok_or_else(missing)?,
        position: recorded.position,
        changed_at: recorded.recorded_at,
        changed_by: recorded.meta()?.principal.as_ref().to_owned(),
    };
    state.packages().go_by(executed.position).await?;
    Ok(row.into())
}

fn stream() -> Result<StreamName, Problem> {
    StreamName::new(STREAM).map_err(|fault| Problem::internal(&fault))
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        match refusal {
            Refusal::Unknown(_) | Refusal::BadId(_) => Self::new(&NO_SUCH_RULE, words),
            Refusal::DuplicateId(_) => Self::new(&RULE_EXISTS, words),
            Refusal::BadPattern { .. } => Self::of_field(&RULE_REFUSED, "package", words),
            Refusal::BadConstraint { .. } => Self::of_field(&RULE_REFUSED, "versions", words),
            Refusal::BadReason => Self::of_field(&RULE_REFUSED, "reason", words),
            Refusal::TooManyRules => Self::new(&RULE_REFUSED, words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_field_that_makes_no_sense() {
        let pattern = Refusal::BadPattern { pattern: "**".to_owned(), cause: "no" };
        for (refusal, status, field) in [
            (pattern, 422, Some("package")),
            (Refusal::BadReason, 422, Some("reason")),
            (Refusal::TooManyRules, 422, None),
            (Refusal::Unknown("x".to_owned()), 404, None),
            (Refusal::DuplicateId("x".to_owned()), 409, None),
        ] {
            let problem = Problem::from(refusal);
            let document = serde_json::to_value(problem.view(None)).unwrap();
            assert_eq!(problem.status(), status, "{document}");
            assert_eq!(document["errors"][0]["field"].as_str(), field, "{document}");
        }
    }

    #[test]
    fn a_rule_that_says_little_means_every_version_marked() {
        let body = r#"{"ecosystem":"pypi","package":"six","reason":"old"}"#;
        let rule = serde_json::from_str::<RuleRequest>(body).unwrap().under("1".to_owned());
        assert_eq!((rule.versions.as_str(), rule.mask), ("*", Mask::Mark));
        let typo = r#"{"ecosystem":"pypi","package":"six","reason":"old","version":"1"}"#;
        assert!(serde_json::from_str::<RuleRequest>(typo).is_err());
    }
}
