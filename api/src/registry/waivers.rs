//! Waivers of packages: permissions to pass in spite of a "no", for a while.

mod views;

use axum::{
    Json,
    extract::{Path, State},
};
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::waiver::{Refusal, Waivers};
use weir_events::{
    position::Position,
    registry::{Ecosystem, policy::Waiver},
    timestamp::Timestamp,
};
use weir_projections::registry::waivers::{self as rows, State as Standing};

use self::views::{WaiverPage, WaiverView};
use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params, bad_parameter},
    auth::{
        By,
        needs::{RulesRead, RulesWrite},
    },
    problem::{Problem, table::WAIVER_REFUSED},
    state::ApiState,
    wait::{self, MinPosition},
    waivers::{self, Live, WaiverRevocation},
};

/// The name of the list, in cursors.
const LIST: &str = "waivers";
/// Waivers of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (50, 1_000);

/// The routes of waivers.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list, request))
        .routes(routes!(grant))
        .routes(routes!(revoke))
}

/// Lists waivers, those of the past too, the newest first
#[utoipa::path(
    get, path = "/api/registry/waivers", tag = "registry", operation_id = "waivers",
    params(
        ("state" = Option<String>, Query, description = "waiting, granted, revoked or expired"),
        ("limit" = Option<usize>, Query, description = "1 to 1000, 50 by default"),
        ("cursor" = Option<String>, Query, description = "Where the list before ended"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The waivers", body = WaiverPage)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    mut params: Params,
) -> Result<Json<WaiverPage>, Problem> {
    let of_state = params.take::<String>("state")?.map(|name| {
        Standing::find(&name)
            .ok_or_else(|| bad_parameter("state", "there are: waiting, granted, revoked, expired"))
    });
    let of_state = of_state.transpose()?;
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    let key = format!("{of_state:?}");
    let before = cursor.map(|cursor| state.cursors().read(LIST, &key, &cursor)).transpose()?;
    wait::projection(&state, "waivers", &mut params).await?;
    params.done()?;
    let (before, now) = (before.map(Position), state.door().now());
    let rows = rows::list(state.database(), of_state, before, now, limit).await?;
    let last = rows.last().filter(|_| rows.len() == limit).map(|row| row.first_position);
    let next = last.map(|last| state.cursors().make(LIST, &key, last.0));
    Ok(Json(WaiverPage { waivers: rows.into_iter().map(WaiverView::from).collect(), next }))
}

/// What a waiver is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WaiverRequest {
    /// The ecosystem it is about: `pypi`, `npm`, `cargo`, `go` or `docker`.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters.
    package: String,
    /// A version constraint in the ecosystem's own syntax; every version, without.
    #[serde(default = "every_version")]
    versions: String,
    /// The rules and advisories that do not count, by id; everything but malware, without.
    #[serde(default)]
    waives: Vec<String>,
    /// The id of the one token that may pass; everybody may, without.
    token: Option<String>,
    /// Why: 1 to 300 characters.
    reason: String,
    /// Who answers for it: 1 to 300 characters.
    owner: String,
    /// When it ends (RFC 3339), within 366 days. Either this or `days`.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// In how many days it ends.
    days: Option<u16>,
}

fn every_version() -> String {
    "*".to_owned()
}

impl WaiverRequest {
    fn under(self, id: String, now: Timestamp) -> Result<Waiver, Problem> {
        let Self { ecosystem, package, versions, waives, token, reason, owner, .. } = self;
        let expires_at = waivers::end(self.expires_at, self.days, now)?;
        Ok(Waiver { id, ecosystem, package, versions, waives, token, reason, owner, expires_at })
    }
}

/// Asks for a waiver: in force at once, or waiting for a second person
#[utoipa::path(
    post, path = "/api/registry/waivers", tag = "registry", operation_id = "request_waiver",
    params(("idempotency-key" = Option<String>, Header, description = "Makes a repetition known")),
    request_body = WaiverRequest,
    responses(
        (
            status = 201,
            description = "The waiver: in force on this instance, or waiting for a second person",
            body = WaiverView,
        ),
        (status = 422, description = "The waiver makes no sense"),
    ),
)]
async fn request(
    State(state): State<ApiState>,
    Ask { body, caller, key, .. }: Ask<RulesWrite, WaiverRequest>,
) -> Result<Done<WaiverView>, Problem> {
    let waiver = body.under(state.door().new_id().to_string(), state.door().now())?;
    let second_person =
        state.packages().facts()?.needs_second_person(waiver.ecosystem, &waiver.waives);
    let (executed, known) =
        waivers::request::<Waivers>(&state, waiver, second_person, &caller, key).await?;
    let recorded = state.log().event(executed.position).await?.ok_or_else(waivers::missing)?;
    waivers::in_force::<Waivers>(&state, &executed).await?;
    Ok(Done::of(&executed, StatusCode::CREATED, WaiverView::begun(known, &recorded)))
}

/// Grants what somebody else asked for
#[utoipa::path(
    post, path = "/api/registry/waivers/{id}/grant", tag = "registry",
    operation_id = "grant_waiver",
    params(
        ("id" = String, Path, description = "The waiver"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses(
        (status = 204, description = "It is in force on this instance"),
        (status = 404, description = "Nothing waits under this id"),
        (status = 409, description = "Who asked for it cannot grant it"),
    ),
)]
async fn grant(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    ask: Ask<RulesWrite, Nothing>,
) -> Result<Done<()>, Problem> {
    waivers::grant::<Waivers, _>(&state, id, ask).await
}

/// Takes a waiver back, or says no to one that waits
#[utoipa::path(
    post, path = "/api/registry/waivers/{id}/revoke", tag = "registry",
    operation_id = "revoke_waiver",
    params(
        ("id" = String, Path, description = "The waiver"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    request_body = WaiverRevocation,
    responses(
        (status = 204, description = "It is in force no more, and will not be"),
        (status = 404, description = "Nothing is in force or waits under this id"),
        (status = 422, description = "The reason is none"),
    ),
)]
async fn revoke(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    ask: Ask<RulesWrite, WaiverRevocation>,
) -> Result<Done<()>, Problem> {
    waivers::revoke::<Waivers, _>(&state, id, ask).await
}

impl Live for Waivers {
    async fn go_by(state: &ApiState, position: Position) -> Result<(), Problem> {
        state.packages().go_by(position).await
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        let field = match refusal {
            Refusal::Any(refusal) => return refusal.into(),
            Refusal::BadPattern { .. } => "package",
            Refusal::BadConstraint { .. } => "versions",
            Refusal::BadNames => "waives",
            Refusal::BadToken(_) => "token",
        };
        Self::of_field(&WAIVER_REFUSED, field, words)
    }
}

#[cfg(test)]
mod tests {
    use weir_aggregates::waiver;

    use super::*;

    #[test]
    fn a_refusal_names_the_field_that_makes_no_sense() {
        let pattern = Refusal::BadPattern { pattern: "**".to_owned(), cause: "no" };
        for (refusal, status, field) in [
            (pattern, 422, Some("package")),
            (waiver::Refusal::BadWords.into(), 422, Some("reason")),
            (Refusal::BadNames, 422, Some("waives")),
            (Refusal::BadToken("x".to_owned()), 422, Some("token")),
            (waiver::Refusal::BadTime.into(), 422, Some("expires_at")),
            (waiver::Refusal::TooMany.into(), 422, None),
            (waiver::Refusal::Unknown("x".to_owned()).into(), 404, None),
            (waiver::Refusal::DuplicateId("x".to_owned()).into(), 409, None),
            (waiver::Refusal::SamePerson("x".to_owned()).into(), 409, None),
        ] {
            let problem = Problem::from(refusal);
            let document = serde_json::to_value(problem.view(None)).unwrap();
            assert_eq!(problem.status(), status, "{document}");
            assert_eq!(document["errors"][0]["field"].as_str(), field, "{document}");
        }
    }

    #[test]
    fn a_waiver_ends_at_a_time_or_in_days_and_is_about_every_version_unless_it_says_so() {
        let asked = |more: &str| {
            let body =
                format!(r#"{{"ecosystem":"pypi","package":"six","reason":"a","owner":"b"{more}}}"#);
            let request = serde_json::from_str::<WaiverRequest>(&body).unwrap();
            request.under("1".to_owned(), Timestamp::EPOCH)
        };
        let waiver = asked(r#","days":2"#).unwrap();
        assert_eq!((waiver.versions.as_str(), waiver.token), ("*", None));
        assert_eq!(waiver.expires_at, Timestamp::EPOCH.plus_seconds(172_800));
        let at = asked(r#","expires_at":"1970-01-01T00:00:09Z""#).unwrap().expires_at;
        assert_eq!(at, Timestamp::EPOCH.plus_seconds(9));
        for neither in ["", r#","days":2,"expires_at":"1970-01-01T00:00:09Z""#] {
            assert_eq!(asked(neither).unwrap_err().status(), 422, "{neither}");
        }
    }
}
