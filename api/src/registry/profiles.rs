//! Profiles: the stricter policies that tokens can name.

use axum::{
    Json,
    extract::{Path, State},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::profile::{Command, Profiles, Refusal};
use weir_events::{
    registry::{
        advisory::Severity,
        hold::Ground,
        policy::Mode,
        profile::{PROFILES, Profile, Quota},
    },
    stream::StreamName,
};

use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params},
    auth::{
        By,
        needs::{RulesRead, RulesWrite},
    },
    problem::{
        Problem,
        table::{BOUND_BY_PROFILE, MISSING_SCOPE, NO_SUCH_PROFILE, PROFILE_REFUSED},
    },
    state::ApiState,
};

/// The routes of profiles.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(set, remove))
}

/// The profiles there are, by name.
#[derive(Debug, Serialize, ToSchema)]
struct ProfilePage {
    profiles: Vec<ProfileView>,
}

/// What tokens of one kind are judged by beside everything else.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
struct ProfileView {
    /// Its name: what a token says.
    name: String,
    /// `enforce`, or `audit`: what is forbidden passes with a warning; `null`: as the ecosystem says.
    #[schema(value_type = Option<String>)]
    mode: Option<Mode>,
    /// How old a version must be at least, in hours; 0: as old as the settings say.
    min_age_hours: u32,
    /// The least severity of a vulnerability that counts, where that is less than the settings say.
    #[schema(value_type = Option<String>)]
    severity_floor: Option<Severity>,
    /// How much each of its tokens may download.
    quota: QuotaView,
    /// What a person has to answer before it passes: `new-package`, `new-version`, `advisory`.
    #[schema(value_type = Vec<String>)]
    hold: Vec<Ground>,
}

/// How much a token may download; `null` is not counted. Hours and days are those of UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct QuotaView {
    /// Files in an hour.
    downloads_per_hour: Option<u32>,
    /// Files in a day.
    downloads_per_day: Option<u32>,
    /// Bytes in a day.
    bytes_per_day: Option<u64>,
}

impl From<Quota> for QuotaView {
    fn from(quota: Quota) -> Self {
        let Quota { downloads_per_hour, downloads_per_day, bytes_per_day } = quota;
        Self { downloads_per_hour, downloads_per_day, bytes_per_day }
    }
}

impl From<QuotaView> for Quota {
    fn from(quota: QuotaView) -> Self {
        let QuotaView { downloads_per_hour, downloads_per_day, bytes_per_day } = quota;
        Self { downloads_per_hour, downloads_per_day, bytes_per_day }
    }
}

impl From<&Profile> for ProfileView {
    fn from(profile: &Profile) -> Self {
        let Profile { name, mode, min_age_hours, severity_floor, quota, hold } = profile.clone();
        Self { name, mode, min_age_hours, severity_floor, quota: quota.into(), hold }
    }
}

/// Lists profiles, by name
#[utoipa::path(
    get, path = "/api/registry/profiles", tag = "registry", operation_id = "profiles",
    responses((status = 200, description = "The profiles", body = ProfilePage)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    params: Params,
) -> Result<Json<ProfilePage>, Problem> {
    params.done()?;
    let (known, _) = state.door().load::<Profiles>(&stream()?).await?;
    Ok(Json(ProfilePage { profiles: known.profiles().map(ProfileView::from).collect() }))
}

/// What a profile is to say.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ProfileRequest {
    /// `enforce`, or `audit`, which needs scope `admin`; as the ecosystem says, without.
    #[schema(value_type = Option<String>)]
    mode: Option<Mode>,
    /// How old a version must be at least, in hours; as old as the settings say, without.
    #[serde(default)]
    min_age_hours: u32,
    /// The least severity of a vulnerability that counts: `low`, `medium`, `high` or `critical`; as
    /// the settings say, without.
    #[schema(value_type = Option<String>)]
    severity_floor: Option<Severity>,
    /// How much each of its tokens may download; as much as it wants, without.
    #[serde(default)]
    quota: QuotaView,
    /// What a person has to answer before it passes: `new-package` (nothing of it was ever let through
    /// here), `new-version`, `advisory` (what an advisory warns of, but for malware); nothing, without.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>)]
    hold: Vec<Ground>,
}

impl ProfileRequest {
    fn under(self, name: String) -> Profile {
        let Self { mode, min_age_hours, severity_floor, quota, hold } = self;
        Profile { name, mode, min_age_hours, severity_floor, quota: quota.into(), hold }
    }
}

/// Makes a profile, or has it say something else
#[utoipa::path(
    put, path = "/api/registry/profiles/{name}", tag = "registry", operation_id = "set_profile",
    params(
        ("name" = String, Path, description = "Its name: 1 to 40 of a-z, 0-9, `-` and `_`"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    request_body = ProfileRequest,
    responses(
        (status = 200, description = "What holds from now on, on this instance", body = ProfileView),
        (status = 403, description = "Only an administrator has a profile let pass what is forbidden"),
        (status = 422, description = "The profile makes no sense"),
    ),
)]
async fn set(
    State(state): State<ApiState>,
    Path(name): Path<String>,
    Ask { body, principal, caller, key, .. }: Ask<RulesWrite, ProfileRequest>,
) -> Result<Done<ProfileView>, Problem> {
    let profile = body.under(name);
    let view = ProfileView::from(&profile);
    let command = Command::Set { profile, by: principal.grantor() };
    let executed = state.door().execute::<Profiles>(&stream()?, &command, &caller, key).await?;
    state.packages().go_by_if_new(&executed).await?;
    Ok(Done::of(&executed, StatusCode::OK, view))
}

/// Removes a profile: tokens that name it get nothing
#[utoipa::path(
    delete, path = "/api/registry/profiles/{name}", tag = "registry", operation_id = "remove_profile",
    params(
        ("name" = String, Path, description = "Its name"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses(
        (status = 204, description = "It is gone, on this instance"),
        (status = 404, description = "There is none of this name"),
    ),
)]
async fn remove(
    State(state): State<ApiState>,
    Path(name): Path<String>,
    Ask { principal, caller, key, .. }: Ask<RulesWrite, Nothing>,
) -> Result<Done<()>, Problem> {
    let command = Command::Remove { name, by: principal.grantor() };
    let executed = state.door().execute::<Profiles>(&stream()?, &command, &caller, key).await?;
    state.packages().go_by_if_new(&executed).await?;
    Ok(Done::silently(&executed))
}

pub(crate) fn stream() -> Result<StreamName, Problem> {
    StreamName::new(PROFILES).map_err(|fault| Problem::internal(&fault))
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        let field = match refusal {
            Refusal::Unknown(_) => return Self::new(&NO_SUCH_PROFILE, words),
            Refusal::AuditNeedsAdmin => return Self::of_field(&MISSING_SCOPE, "mode", words),
            Refusal::Bound(_) => return Self::new(&BOUND_BY_PROFILE, words),
            Refusal::TooMany => return Self::new(&PROFILE_REFUSED, words),
            Refusal::BadName(_) => "name",
            Refusal::BadAge => "min_age_hours",
            Refusal::BadQuota => "quota",
            Refusal::BadHold => "hold",
            Refusal::BadFloor => "severity_floor",
        };
        Self::of_field(&PROFILE_REFUSED, field, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_field_that_makes_no_sense() {
        for (refusal, status, field) in [
            (Refusal::BadName("X".to_owned()), 422, Some("name")),
            (Refusal::BadAge, 422, Some("min_age_hours")),
            (Refusal::BadQuota, 422, Some("quota")),
            (Refusal::BadFloor, 422, Some("severity_floor")),
            (Refusal::AuditNeedsAdmin, 403, Some("mode")),
            (Refusal::Bound("agent".to_owned()), 403, None),
            (Refusal::TooMany, 422, None),
            (Refusal::Unknown("x".to_owned()), 404, None),
        ] {
            let problem = Problem::from(refusal);
            let document = serde_json::to_value(problem.view(None)).unwrap();
            assert_eq!(problem.status(), status, "{document}");
            assert_eq!(document["errors"][0]["field"].as_str(), field, "{document}");
        }
    }

    #[test]
    fn a_profile_that_says_little_changes_nothing_and_a_typo_is_no_profile() {
        let read = |body: &str| serde_json::from_str::<ProfileRequest>(body);
        let profile = read("{}").unwrap().under("agent".to_owned());
        assert_eq!(profile, Profile { name: "agent".to_owned(), ..Profile::default() });
        assert!(read(r#"{"min_age": 3}"#).is_err());
        assert!(read(r#"{"mode": "warn"}"#).is_err());
    }
}
