//! The rules about hosts.

mod import;

use axum::{Json, extract::State};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::web::rules::{Command, Refusal, check, is_default};
use weir_events::{
    position::Position,
    timestamp::Timestamp,
    web::rule::{Action, DomainRule},
};
use weir_processors::web::{portal::PortalGateway as _, rules::UpdateFault};
use weir_projections::web::domain_rules::{self, DomainRuleRow, Filter};

use super::{go_by, requests::portal, rules_of};
use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params, bad_parameter},
    auth::{
        By,
        needs::{WebRead, WebWrite},
    },
    problem::{
        Problem,
        table::{DOMAIN_RULE_REFUSED, NO_SUCH_DOMAIN_RULE},
    },
    state::ApiState,
    wait::{self, MinPosition},
};

/// The name of the list, in cursors.
const LIST: &str = "domain_rules";
/// Rules of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (100, 1_000);

/// The routes of rules.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list, put, remove)).merge(import::routes())
}

/// Rules in force, those that were changed last first.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainRules {
    rules: Vec<DomainRuleView>,
    /// Those that no operator keeps, and no rule beats: where packages come from, as this instance is
    /// set up. They stand on the first page.
    derived: Vec<RuleSaid>,
    /// Where the list goes on.
    next: Option<String>,
}

/// A rule in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainRuleView {
    /// Which hosts it is about, in its one spelling.
    pattern: String,
    /// `allow` or `block`.
    #[schema(value_type = String)]
    action: Action,
    /// What kind of host it is.
    category: String,
    /// What an agent is told.
    reason: String,
    /// `default` where it says what Weir brings along, word for word, `operator` otherwise.
    source: &'static str,
    /// Since when there is a rule for the pattern.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it became what it is.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// Who did it.
    updated_by: String,
    /// The event that made it what it is.
    #[schema(value_type = i64)]
    position: Position,
}

impl From<DomainRuleRow> for DomainRuleView {
    fn from(row: DomainRuleRow) -> Self {
        let DomainRuleRow { rule, created_at, updated_at, position, updated_by } = row;
        let source = if is_default(&rule) { "default" } else { "operator" };
        let DomainRule { pattern, action, category, reason } = rule;
        Self {
            pattern,
            action,
            category,
            reason,
            source,
            created_at,
            updated_at,
            updated_by,
            position,
        }
    }
}

/// A rule, as it is said.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSaid {
    /// Which hosts: a name, `*.name` for those below it, `**.name` for both, another glob, or `re:` and
    /// a regular expression over the whole host; `:port` behind a name or a glob means that port only.
    /// A bare name covers what is below it where it blocks, and is exact where it allows.
    pattern: String,
    /// `allow` or `block`.
    #[schema(value_type = String)]
    action: Action,
    /// What kind of host it is: 1 to 64 lower-case letters, digits, `_`, `-`.
    category: String,
    /// What an agent is told: 1 to 300 characters.
    reason: String,
}

impl From<DomainRule> for RuleSaid {
    fn from(rule: DomainRule) -> Self {
        let DomainRule { pattern, action, category, reason } = rule;
        Self { pattern, action, category, reason }
    }
}

impl From<RuleSaid> for DomainRule {
    fn from(said: RuleSaid) -> Self {
        let RuleSaid { pattern, action, category, reason } = said;
        Self { pattern, action, category, reason }
    }
}

/// Lists the rules about hosts, those that were changed last first
#[utoipa::path(
    get, path = "/api/web/rules", tag = "web", operation_id = "domain_rules",
    params(
        ("search" = Option<String>, Query, description = "What stands somewhere in the pattern"),
        ("action" = Option<String>, Query, description = "allow or block"),
        ("category" = Option<String>, Query, description = "The category"),
        ("limit" = Option<usize>, Query, description = "1 to 1000, 100 by default"),
        ("cursor" = Option<String>, Query, description = "Where the list before ended"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The rules", body = DomainRules)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<WebRead>,
    mut params: Params,
) -> Result<Json<DomainRules>, Problem> {
    let action = params.take::<String>("action")?.map(|name| {
        Action::find(&name).ok_or_else(|| bad_parameter("action", "there are: allow, block"))
    });
    // Patterns are in lower case, as hosts are.
    let search = params.take::<String>("search")?.map(|text| text.to_ascii_lowercase());
    let filter = Filter { search, action: action.transpose()?, category: params.take("category")? };
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    let key = format!("{filter:?}");
    let before = cursor.map(|cursor| state.cursors().read(LIST, &key, &cursor)).transpose()?;
    wait::projection(&state, "domain_rules", &mut params).await?;
    params.done()?;
    let rows = domain_rules::list(state.database(), &filter, before.map(Position), limit).await?;
    let last = rows.last().filter(|_| rows.len() == limit).map(|row| row.position);
    let next = last.map(|last| state.cursors().make(LIST, &key, last.0));
    let derived = match state.portal() {
        Some(portal) if before.is_none() => derived(portal.rules().derived(), &filter),
        _ => Vec::new(),
    };
    let rules = rows.into_iter().map(DomainRuleView::from).collect();
    Ok(Json(DomainRules { rules, derived, next }))
}

/// The derived rules that a filter wants.
fn derived(rules: Vec<DomainRule>, filter: &Filter) -> Vec<RuleSaid> {
    let wanted = |rule: &DomainRule| {
        filter.search.as_ref().is_none_or(|search| rule.pattern.contains(search))
            && filter.action.is_none_or(|action| rule.action == action)
            && filter.category.as_ref().is_none_or(|category| rule.category == *category)
    };
    rules.into_iter().filter(wanted).map(RuleSaid::from).collect()
}

/// Has a rule hold from now on, instead of what its pattern said before
#[utoipa::path(
    put, path = "/api/web/rules", tag = "web", operation_id = "set_domain_rule",
    params(("idempotency-key" = Option<String>, Header, description = "Makes a repetition known")),
    request_body = RuleSaid,
    responses(
        (status = 200, description = "The rule as it is in force on this instance", body = RuleSaid),
        (status = 422, description = "The rule makes no sense"),
    ),
)]
async fn put(
    State(state): State<ApiState>,
    Ask { body, caller, key, .. }: Ask<WebWrite, RuleSaid>,
) -> Result<Done<RuleSaid>, Problem> {
    let portal = portal(&state)?;
    let rule = check(&body.into())?;
    let executed = portal.update_domain_rule(rule.clone(), &caller, key).await?;
    Ok(Done::of(&executed, StatusCode::OK, rule.into()))
}

/// Has a pattern say nothing any more
#[utoipa::path(
    delete, path = "/api/web/rules", tag = "web", operation_id = "remove_domain_rule",
    params(
        ("pattern" = String, Query, description = "The pattern, in any spelling"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses(
        (status = 204, description = "It is in force no more on this instance"),
        (status = 404, description = "There is no rule for this pattern"),
    ),
)]
async fn remove(
    State(state): State<ApiState>,
    mut params: Params,
    Ask { caller, key, .. }: Ask<WebWrite, Nothing>,
) -> Result<Done<()>, Problem> {
    let rules = rules_of(&state)?;
    let pattern: Option<String> = params.take("pattern")?;
    params.done()?;
    let pattern = pattern.ok_or_else(|| bad_parameter("pattern", "name the rule's pattern"))?;
    let executed = rules.execute(&Command::Remove { pattern }, &caller, key).await?;
    if !executed.events.is_empty() {
        go_by(&state, executed.position).await?;
    }
    Ok(Done::silently(&executed))
}

impl From<UpdateFault> for Problem {
    fn from(fault: UpdateFault) -> Self {
        match fault {
            UpdateFault::Execute(fault) => fault.into(),
            UpdateFault::Late(late) => late.into(),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        let field = match refusal {
            Refusal::Unknown(_) => return Self::new(&NO_SUCH_DOMAIN_RULE, words),
            Refusal::BadPattern { .. } | Refusal::TooManyOdd => "pattern",
            Refusal::BadCategory => "category",
            Refusal::BadReason => "reason",
            Refusal::TooMany | Refusal::TooManyAtOnce(_) => {
                return Self::new(&DOMAIN_RULE_REFUSED, words);
            }
        };
        Self::of_field(&DOMAIN_RULE_REFUSED, field, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_field_that_makes_no_sense() {
        let rule = |pattern: &str, category: &str, reason: &str| DomainRule {
            pattern: pattern.to_owned(),
            action: Action::Allow,
            category: category.to_owned(),
            reason: reason.to_owned(),
        };
        for (bad, field) in [
            (rule("https://docs.rs/", "a", "b"), "pattern"),
            (rule("docs.rs", "A", "b"), "category"),
            (rule("docs.rs", "a", ""), "reason"),
        ] {
            let problem = Problem::from(check(&bad).unwrap_err());
            let document = serde_json::to_value(problem.view(None)).unwrap();
            assert_eq!(problem.status(), 422, "{document}");
            assert_eq!(document["errors"][0]["field"].as_str(), Some(field), "{document}");
        }
        assert_eq!(Problem::from(Refusal::Unknown("x".to_owned())).status(), 404);
        assert_eq!(Problem::from(Refusal::TooMany).status(), 422);
    }

    #[test]
    fn derived_rules_are_filtered_as_the_others_are() {
        let rule = |pattern: &str| DomainRule {
            pattern: pattern.to_owned(),
            action: Action::Block,
            category: "package_mgr".to_owned(),
            reason: "b".to_owned(),
        };
        let kept = |filter: &Filter| {
            let rules = derived(vec![rule("**.one.example"), rule("**.two.example")], filter);
            rules.into_iter().map(|rule| rule.pattern).collect::<Vec<_>>()
        };
        let all = ["**.one.example", "**.two.example"];
        assert_eq!(kept(&Filter::default()), all);
        let search = Filter { search: Some("two".to_owned()), ..Filter::default() };
        assert_eq!(kept(&search), ["**.two.example"]);
        let action = |action| Filter { action: Some(action), ..Filter::default() };
        assert_eq!(kept(&action(Action::Block)), all);
        assert!(kept(&action(Action::Allow)).is_empty());
        let category = Filter { category: Some("papers".to_owned()), ..Filter::default() };
        assert!(kept(&category).is_empty());
    }
}
