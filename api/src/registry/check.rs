//! What becomes of everything that a lock file, a bill of materials or a list of package URLs names.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::{runtime::Handle, sync::Semaphore};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::{dossier::Dossier, profile::Asker, seen::Seen};
use weir_events::registry::Ecosystem;
use weir_processors::registry::{
    check::{
        CheckFault, Component, Dated, Judged, Kind, Listing, MAX_ENTRIES, MAX_TEXT_BYTES, judge,
        read,
    },
    sightings::recall,
};

use super::explain::{ObjectionView, Outcome, profile_of};
use crate::{
    ask::{collect_within, parse},
    auth::{By, needs::RulesRead},
    problem::{
        Problem,
        table::{BAD_BODY, BUSY, CHECK_REFUSED, INTERNAL},
    },
    state::ApiState,
};

/// The largest body: the largest file, and what its quotes and line ends cost as JSON.
const MAX_BODY_BYTES: usize = MAX_TEXT_BYTES + MAX_TEXT_BYTES / 4;

/// How many versions are looked up before others may change what is known.
const AT_ONCE: usize = 500;

/// How many streams of sightings are read at once, where age counts.
const RECALLED_AT_ONCE: usize = 8;

/// Files that are checked at once: a large one takes many times its size.
static PLACES: Semaphore = Semaphore::const_new(2);

/// The route of checks.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(check))
}

/// What is to be checked: package URLs, a file, or a bill of materials; one of them.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CheckRequest {
    /// Package URLs, like `pkg:npm/left-pad@1.3.0`.
    purls: Option<Vec<String>>,
    /// A file.
    lock: Option<LockFile>,
    /// A bill of materials: `CycloneDX` or SPDX.
    #[schema(value_type = Option<Object>)]
    sbom: Option<Box<RawValue>>,
    /// The id of the token that would ask: where a waiver is for one token, or it names a profile.
    token: Option<String>,
}

/// A file that names versions of packages.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LockFile {
    /// What kind of file it is: `package-lock`, `yarn`, `pnpm`, `cargo`, `requirements`, `uv`,
    /// `poetry`, `go-sum`, `go-mod`, `cyclonedx` or `spdx`. Its content tells, without.
    kind: Option<String>,
    /// What stands in it.
    text: String,
}

/// What becomes of everything that was named.
#[derive(Debug, Serialize, ToSchema)]
pub struct Checked {
    /// What kind of file it was.
    #[schema(value_type = Option<String>)]
    kind: Option<&'static str>,
    /// How much there is of everything.
    summary: Summary,
    /// Each version of a package, by ecosystem, package and version.
    components: Vec<ComponentView>,
    /// What could not be judged.
    not_judged: Vec<UnjudgedView>,
    /// The policy: the position of the last event that changed it.
    policy_revision: i64,
}

/// How much there is of everything.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Summary {
    /// Versions of packages.
    components: usize,
    /// Those that are refused.
    blocked: usize,
    /// Those that pass with a warning, for their ecosystem is audited only.
    warned: usize,
    /// Those that pass because of a waiver, or because they are a fix.
    excused: usize,
    /// Those against which nothing is said.
    allowed: usize,
    /// What could not be judged.
    not_judged: usize,
    /// Those whose age would matter and is told neither by the file nor by our own clock: they are
    /// judged as if they were old enough.
    age_unknown: usize,
}

/// What becomes of a version.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComponentView {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// The package, by its normalised name.
    package: String,
    /// The version.
    version: String,
    /// `allow`, `warn`, `excused` or `block`.
    verdict: &'static str,
    /// What a client is told, where it is refused or warned.
    #[serde(skip_serializing_if = "Option::is_none")]
    told: Option<String>,
    /// The waiver because of which it passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiver: Option<String>,
    /// The advisory because of which it may be younger than others.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<String>,
    /// Everything that is said against it and counts, whether it is waived or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    objections: Vec<ObjectionView>,
    /// Whether its age would matter and is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    age_unknown: bool,
}

/// Something that could not be judged.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnjudgedView {
    /// The entry.
    entry: String,
    /// Why not.
    reason: String,
}

/// Says what becomes of everything that a lock file, a bill of materials or package URLs name
#[utoipa::path(
    post, path = "/api/registry/check", tag = "registry", operation_id = "check",
    request_body = CheckRequest,
    responses(
        (status = 200, description = "What becomes of each version", body = Checked),
        (status = 422, description = "The file cannot be read, or no token has this id"),
    ),
)]
async fn check(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    request: Request,
) -> Result<Json<Checked>, Problem> {
    let _place = PLACES.try_acquire().map_err(|_| {
        Problem::new(&BUSY, "other files are being checked at this moment").retry_after(1)
    })?;
    let (parts, body) = request.into_parts();
    let body = collect_within(&parts.headers, body, MAX_BODY_BYTES).await?;
    let runtime = Handle::current();
    let work = move || {
        let asked: CheckRequest = parse(&parts.headers, &body)?;
        drop(body);
        let token = asked.token.clone();
        let (kind, listing) = listing(asked)?;
        let profile = runtime.block_on(profile_of(&state, token.as_deref()))?;
        let asker = Asker { token: token.as_deref(), profile: profile.as_deref() };
        judged(&state, &runtime, kind, &listing, asker)
    };
    let checked = tokio::task::spawn_blocking(work).await;
    checked.map_err(|_| Problem::new(&INTERNAL, "the check broke off"))?.map(Json)
}

/// What is named.
fn listing(asked: CheckRequest) -> Result<(Option<Kind>, Listing), Problem> {
    let refused = |fault: CheckFault| Problem::new(&CHECK_REFUSED, fault.to_string());
    match asked {
        CheckRequest { purls: Some(purls), lock: None, sbom: None, .. } => {
            let mut listing = Listing::default();
            purls.iter().try_for_each(|purl| listing.purl(purl)).map_err(refused)?;
            Ok((None, listing))
        }
        CheckRequest { purls: None, lock: Some(LockFile { kind, text }), sbom: None, .. } => {
            let unknown = || {
                let detail = format!("there are: {}", Kind::names());
                Problem::of_field(&BAD_BODY, "lock.kind", detail)
            };
            let kind = kind.map(|name| Kind::find(&name).ok_or_else(unknown)).transpose()?;
            read(kind, &text).map(|(kind, listing)| (Some(kind), listing)).map_err(refused)
        }
        CheckRequest { purls: None, lock: None, sbom: Some(sbom), .. } => {
            let kind = Kind::of(sbom.get());
            let kind = kind.filter(|kind| matches!(kind, Kind::CycloneDx | Kind::Spdx));
            let unknown = || {
                Problem::of_field(&BAD_BODY, "sbom", "a bill is a CycloneDX or an SPDX document")
            };
            let (kind, listing) =
                read(Some(kind.ok_or_else(unknown)?), sbom.get()).map_err(refused)?;
            Ok((Some(kind), listing))
        }
        _ => {
            let detail = format!("send one of purls, lock and sbom, of at most {MAX_ENTRIES}");
            Err(Problem::new(&BAD_BODY, format!("{detail} different entries")))
        }
    }
}

/// What becomes of it.
fn judged(
    state: &ApiState,
    runtime: &Handle,
    kind: Option<Kind>,
    listing: &Listing,
    asker: Asker<'_>,
) -> Result<Checked, Problem> {
    let now = state.door().now();
    let all: Vec<(&Component, Option<Dated>)> = listing.components().collect();
    let mut components = Vec::with_capacity(all.len());
    let mut summary = Summary { components: all.len(), ..Summary::default() };
    // The oldest that was gone by: what is answered is known at least as of then.
    let mut policy_revision = state.packages().facts()?.revision();
    for some in all.chunks(AT_ONCE) {
        let dossiers: Vec<_> = {
            let facts = state.packages().facts()?;
            policy_revision = policy_revision.min(facts.revision());
            let about =
                |(it, _): &(&Component, _)| facts.about_for(it.ecosystem, &it.package, asker, now);
            some.iter().map(about).collect()
        };
        let names = some.iter().map(|(component, _)| component.package.as_str());
        let seen = runtime.block_on(seen(state, names.zip(&dossiers)))?;
        for (((component, dated), dossier), seen) in some.iter().zip(&dossiers).zip(seen) {
            let judged = judge(dossier, seen, component, *dated);
            components.push(view(component, &judged, &mut summary));
        }
    }
    let not_judged = listing
        .unjudged()
        .map(|it| UnjudgedView { entry: it.entry.clone(), reason: it.reason.clone() });
    let not_judged: Vec<_> = not_judged.collect();
    summary.not_judged = not_judged.len();
    let kind = kind.map(Kind::as_str);
    Ok(Checked { kind, summary, components, not_judged, policy_revision })
}

/// What our own clock says of packages, each where the age of its versions counts.
async fn seen<'a>(
    state: &ApiState,
    packages: impl Iterator<Item = (&'a str, &'a Dossier)>,
) -> Result<Vec<Arc<Seen>>, Problem> {
    let one = |(package, dossier): (&'a str, &'a Dossier)| async move {
        if !dossier.counts_age() {
            return Ok(Arc::new(Seen::nothing()));
        }
        recall(state.door(), dossier.ecosystem(), package).await.map(Arc::new)
    };
    let all = stream::iter(packages).map(one).buffered(RECALLED_AT_ONCE);
    Ok(all.try_collect().await?)
}

fn view(component: &Component, judged: &Judged, summary: &mut Summary) -> ComponentView {
    let Outcome { verdict, told, waiver, fixes } = Outcome::of(&judged.verdict);
    let count = match verdict {
        "block" => &mut summary.blocked,
        "warn" => &mut summary.warned,
        "excused" => &mut summary.excused,
        _ => &mut summary.allowed,
    };
    *count += 1;
    summary.age_unknown += usize::from(judged.age_unknown);
    ComponentView {
        ecosystem: component.ecosystem,
        package: component.package.clone(),
        version: component.version.clone(),
        verdict,
        told,
        waiver,
        fixes,
        objections: judged.objections.iter().map(ObjectionView::from).collect(),
        age_unknown: judged.age_unknown,
    }
}
