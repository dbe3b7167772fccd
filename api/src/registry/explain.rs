//! Everything that is known for and against one version, and what becomes of it.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::{
    access::Refusal,
    registry::{
        name::{normalise, valid},
        profile::Asker,
        verdict::{Candidate, Cited, Excuse, Objection, Verdict},
        version::Version,
    },
};
use weir_events::{
    registry::{
        Ecosystem, Mask,
        advisory::{Class, Severity},
    },
    timestamp::Timestamp,
};

use weir_processors::{
    door::ExecuteFault,
    registry::{sightings::recall, tellings},
};

use crate::{
    ask::{Params, bad_parameter},
    auth::{By, needs::RulesRead},
    problem::{Problem, table::UNKNOWN_TOKEN},
    state::ApiState,
};

/// The longest version that is asked about, in bytes.
const MAX_VERSION_BYTES: usize = 256;

/// The route of explanations.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(explain))
}

/// What becomes of a version, and why.
#[derive(Debug, Serialize, ToSchema)]
pub struct Explained {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// The package, by its normalised name.
    package: String,
    /// The version.
    version: String,
    /// `allow`, `warn` (it passes because the ecosystem is audited only, or because what is said against
    /// it is only to be told), `excused` (it passes because of a waiver, or because it is a fix) or
    /// `block`.
    verdict: &'static str,
    /// What a client is told, where it is refused or warned.
    told: Option<String>,
    /// The waiver because of which it passes.
    waiver: Option<String>,
    /// The advisory because of which it may be younger than others.
    fixes: Option<String>,
    /// Everything that is said against it and counts, whether it is waived or not.
    objections: Vec<ObjectionView>,
    /// When it was published, as far as it was told here.
    #[schema(value_type = Option<String>, format = DateTime)]
    published_at: Option<Timestamp>,
    /// When this Weir saw it first, where a minimum age is in force.
    #[schema(value_type = Option<String>, format = DateTime)]
    first_seen_at: Option<Timestamp>,
    /// From when on it is old enough.
    #[schema(value_type = Option<String>, format = DateTime)]
    ripens_at: Option<Timestamp>,
    /// How many rules are about the package.
    n_rules: usize,
    /// How many advisories are about the package.
    n_advisories: usize,
    /// The policy: the position of the last event that changed it.
    policy_revision: i64,
}

/// Something said against a version.
#[derive(Debug, Serialize, ToSchema)]
pub struct ObjectionView {
    /// Who says it: `rules`, `blocklist`, `minimum-age`, or a source of advisories.
    source: String,
    /// The id of its rule or advisory, or the name of its source.
    id: String,
    /// Why.
    reason: String,
    /// How the version looks in lists.
    #[schema(value_type = String)]
    mask: Mask,
    /// What an advisory says beyond that.
    advisory: Option<AdvisoryView>,
}

/// An advisory as evidence.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdvisoryView {
    /// `vulnerability` or `malware`.
    #[schema(value_type = String)]
    class: Class,
    /// How bad it is.
    #[schema(value_type = String)]
    severity: Severity,
    /// What of it the version falls under.
    hit: String,
    /// BLAKE3 of what it says, hexadecimal.
    digest: String,
    /// The lowest later version that is said to fix it.
    fixed_by: Option<String>,
}

impl From<&Arc<Objection>> for ObjectionView {
    fn from(objection: &Arc<Objection>) -> Self {
        let advisory = |cited: &Cited| AdvisoryView {
            class: cited.class,
            severity: cited.severity,
            hit: cited.hit.to_string(),
            digest: cited.digest.clone(),
            fixed_by: cited.fixed_by.clone(),
        };
        Self {
            source: objection.source.clone(),
            id: objection.id().to_owned(),
            reason: objection.reason.clone(),
            mask: objection.mask,
            advisory: objection.cited.as_ref().map(advisory),
        }
    }
}

/// What becomes of a version, in words.
pub(super) struct Outcome {
    pub(super) verdict: &'static str,
    pub(super) told: Option<String>,
    pub(super) waiver: Option<String>,
    pub(super) fixes: Option<String>,
}

impl Outcome {
    pub(super) fn of(verdict: &Verdict) -> Self {
        let (told, waiver, fixes) = match verdict {
            Verdict::Allow => (None, None, None),
            Verdict::Block(objection) | Verdict::Warn(objection) => {
                (Some(objection.to_string()), None, None)
            }
            Verdict::Advise(objection) => (Some(objection.advice()), None, None),
            Verdict::Excused(Excuse::Waiver { id, .. }) => (None, Some(id.clone()), None),
            Verdict::Excused(Excuse::Fix { advisory }) => (None, None, Some(advisory.clone())),
        };
        let verdict = match verdict {
            Verdict::Allow => "allow",
            Verdict::Excused(_) => "excused",
            Verdict::Warn(_) | Verdict::Advise(_) => "warn",
            Verdict::Block(_) => "block",
        };
        Self { verdict, told, waiver, fixes }
    }
}

/// The profile of the token that would ask. One that nobody has is bound by none, and what would become
/// of what it asks for would be made up.
pub(super) async fn profile_of(
    state: &ApiState,
    token: Option<&str>,
) -> Result<Option<String>, Problem> {
    let Some(token) = token else { return Ok(None) };
    state.tokens().profile_of(token).await.map_err(|fault| match fault {
        ExecuteFault::Refused(Refusal::Unknown) => {
            let shown: String = token.chars().take(40).collect();
            Problem::of_field(&UNKNOWN_TOKEN, "token", format!("no token has the id `{shown}`"))
        }
        fault => fault.into(),
    })
}

/// Says what becomes of a version, with everything that is known
#[utoipa::path(
    get, path = "/api/registry/explain", tag = "registry", operation_id = "explain",
    params(
        ("ecosystem" = String, Query, description = "pypi, npm, cargo, go or docker"),
        ("package" = String, Query, description = "The package, in any spelling"),
        ("version" = String, Query, description = "The version"),
        ("published_at" = Option<String>, Query, description = "When it was published (RFC 3339)"),
        ("token" = Option<String>, Query, description = "The id of the token that would ask"),
    ),
    responses(
        (status = 200, description = "What becomes of it, and why", body = Explained),
        (status = 422, description = "No token has this id"),
    ),
)]
async fn explain(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    mut params: Params,
) -> Result<Json<Explained>, Problem> {
    let missing = |name| bad_parameter(name, "without it nothing can be said");
    let ecosystem: String = params.take("ecosystem")?.ok_or_else(|| missing("ecosystem"))?;
    let ecosystem = Ecosystem::find(&ecosystem)
        .ok_or_else(|| bad_parameter("ecosystem", "there are: pypi, npm, cargo, go, docker"))?;
    let package: String = params.take("package")?.ok_or_else(|| missing("package"))?;
    if !valid(ecosystem, &package) {
        return Err(bad_parameter("package", "no package of this ecosystem can have this name"));
    }
    let version: String = params.take("version")?.ok_or_else(|| missing("version"))?;
    if version.len() > MAX_VERSION_BYTES {
        return Err(bad_parameter("version", "a version has 1 to 256 bytes"));
    }
    let published_at = params.take("published_at")?;
    let token: Option<String> = params.take("token")?;
    params.done()?;
    let parsed = Version::parse(ecosystem, &version);
    let now = state.door().now();
    let profile = profile_of(&state, token.as_deref()).await?;
    let asker = Asker { token: token.as_deref(), profile: profile.as_deref() };
    let mut dossier = state.packages().facts()?.about_for(ecosystem, &package, asker, now);
    let package = normalise(ecosystem, &package).into_owned();
    let mut first_seen_at = None;
    if dossier.counts_age() {
        let seen = recall(state.door(), ecosystem, &package).await?;
        first_seen_at = seen.first_seen_at(&parsed);
        dossier = dossier.seeing(Arc::new(seen));
    }
    let told = if dossier.reads_lists() {
        tellings::recall(state.door(), ecosystem, &package, parsed.as_str()).await?
    } else {
        None
    };
    let candidate = Candidate::published(Some(&parsed), published_at).telling(told.as_ref());
    let verdict = dossier.judge(&candidate);
    let Outcome { verdict, told, waiver, fixes } = Outcome::of(&verdict);
    Ok(Json(Explained {
        ecosystem,
        package,
        version,
        verdict,
        told,
        waiver,
        fixes,
        objections: dossier.objections(&candidate).iter().map(ObjectionView::from).collect(),
        published_at,
        first_seen_at,
        ripens_at: dossier.ripens_at(&candidate),
        n_rules: dossier.rules().len(),
        n_advisories: dossier.said().about().len(),
        policy_revision: dossier.revision,
    }))
}
