//! Whether the process lives, and whether it can be asked anything: for supervisors and load
//! balancers, so open to all and silent about why.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header::CACHE_CONTROL};
use serde::Serialize;
use tracing::warn;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_log::migrate::{self, MigrateFault};
use weir_processors::registry::cache::redis::State as Redis;

use crate::{problem::chain, state::ApiState};

/// How long one check may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// What this process knows of the head may be this old.
const MAX_AGE: Duration = Duration::from_secs(2);

/// The routes of health.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(live)).routes(routes!(ready)).routes(routes!(health))
}

/// Whether the schema was found good. It only goes forward, so once is enough.
#[derive(Debug, Default)]
pub struct Schema(AtomicBool);

impl Schema {
    async fn check(&self, state: &ApiState) -> Check {
        if self.0.load(Ordering::Relaxed) {
            return Check::ok("migrations");
        }
        let checked = tokio::time::timeout(PATIENCE, migrate::check(state.database())).await;
        match checked {
            Ok(Ok(())) => {
                self.0.store(true, Ordering::Relaxed);
                Check::ok("migrations")
            }
            Ok(Err(fault @ MigrateFault::Older { .. })) => {
                Check::fails("migrations", fault.to_string())
            }
            Ok(Err(fault)) => {
                warn!(error = chain(&fault), "the schema cannot be checked");
                Check::fails("migrations", "the database does not answer")
            }
            Err(_) => Check::fails("migrations", "the database does not answer in time"),
        }
    }
}

/// Whether this instance can be asked anything.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ready` or `not ready`.
    status: &'static str,
    /// What was checked.
    checks: Vec<Check>,
}

/// One thing that was checked.
#[derive(Debug, Serialize, ToSchema)]
pub struct Check {
    /// What.
    name: &'static str,
    /// Whether it is good.
    ok: bool,
    /// What is wrong with it, or worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl Check {
    const fn ok(name: &'static str) -> Self {
        Self { name, ok: true, detail: None }
    }

    fn fails(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: false, detail: Some(detail.into()) }
    }
}

impl IntoResponse for Health {
    fn into_response(self) -> Response {
        let ready = self.checks.iter().all(|check| check.ok);
        let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let mut answer = (status, Json(self)).into_response();
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }
}

impl From<Vec<Check>> for Health {
    fn from(checks: Vec<Check>) -> Self {
        let ready = checks.iter().all(|check| check.ok);
        Self { status: if ready { "ready" } else { "not ready" }, checks }
    }
}

/// Says that the process lives
#[utoipa::path(
    get, path = "/livez", tag = "system", operation_id = "livez", security(()),
    responses((status = 200, description = "It lives", body = String)),
)]
async fn live() -> &'static str {
    "alive\n"
}

/// Says whether this instance can be asked anything
#[utoipa::path(
    get, path = "/readyz", tag = "system", operation_id = "readyz", security(()),
    responses(
        (status = 200, description = "Every check is good", body = Health),
        (status = 503, description = "One is not", body = Health),
    ),
)]
async fn ready(State(state): State<ApiState>) -> Health {
    let (database, migrations) = tokio::join!(database(&state), state.schema().check(&state));
    let mut checks =
        vec![stopping(state.stopping()), database, migrations, tail(&state), engine(&state)];
    checks.extend(state.packages().redis().map(|redis| shared_lists(&redis.state())));
    checks.into()
}

/// Says whether this instance can be asked anything: another name of `/readyz`
#[utoipa::path(
    get, path = "/health", tag = "system", security(()),
    responses(
        (status = 200, description = "Every check is good", body = Health),
        (status = 503, description = "One is not", body = Health),
    ),
)]
async fn health(state: State<ApiState>) -> Health {
    ready(state).await
}

fn stopping(stopping: bool) -> Check {
    if stopping {
        Check::fails("accepting", "this instance is stopping")
    } else {
        Check::ok("accepting")
    }
}

async fn database(state: &ApiState) -> Check {
    match tokio::time::timeout(PATIENCE, state.log().ask_head()).await {
        Ok(Ok(_)) => Check::ok("database"),
        Ok(Err(fault)) => {
            warn!(error = chain(&fault), "not ready, the database does not answer");
            Check::fails("database", "the database does not answer")
        }
        Err(_) => Check::fails("database", "the database does not answer in time"),
    }
}

/// The tail feeds streams, projections and the memory of revoked tokens.
fn tail(state: &ApiState) -> Check {
    let age = state.log().hub().age();
    if age <= MAX_AGE {
        Check::ok("tail")
    } else {
        Check::fails("tail", format!("the head was last confirmed {:.1} s ago", age.as_secs_f64()))
    }
}

/// Read models may lag or wait for a worker: that is said, and does not keep the instance from
/// answering.
fn engine(state: &ApiState) -> Check {
    let n_projections = state.engine().projections().count();
    let detail = Some(format!("{n_projections} projections; GET /api/projections shows their lag"));
    Check { name: "engine", ok: 0 < n_projections, detail }
}

/// Without Redis everything is served all the same: that it is down is said, and does not keep the
/// instance from answering.
fn shared_lists(redis: &Redis) -> Check {
    let detail = match redis {
        Redis::Up { read_only: false, .. } => None,
        Redis::Up { read_only: true, .. } => {
            Some("takes no lists; those it has are read".to_owned())
        }
        Redis::Down { since, .. } => Some(format!("down since {since}; lists are not shared")),
    };
    Check { name: "redis", ok: true, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_check_is_enough_and_each_is_listed() {
        let health = Health::from(vec![Check::ok("database"), stopping(true)]);
        insta::assert_snapshot!(
            serde_json::to_string(&health).unwrap(),
            @r#"{"status":"not ready","checks":[{"name":"database","ok":true},{"name":"accepting","ok":false,"detail":"this instance is stopping"}]}"#
        );
        assert_eq!(health.into_response().status(), 503);
        assert_eq!(Health::from(vec![stopping(false)]).into_response().status(), 200);
    }
}
