//! The session of the web UI: its browser keeps a secret of its own where no script can read it,
//! never the token.

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header::SET_COOKIE};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::access::Scope;
use weir_events::timestamp::Timestamp;
use weir_processors::access::{Opened, Principal};

use crate::{
    ask,
    auth::{Whoever, check_sign_in, check_site, client, session, session_cookie},
    problem::Problem,
    state::ApiState,
};

/// The routes of the session.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(sign_in, who, sign_out))
}

/// Opens a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SignIn {
    /// The token.
    token: String,
}

/// Who is signed in, if anybody.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct SessionView {
    /// The name the token was issued under; `null` when nobody is signed in.
    principal: Option<String>,
    /// What it may do.
    scopes: Vec<&'static str>,
    /// When it ends.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

impl From<&Principal> for SessionView {
    fn from(principal: &Principal) -> Self {
        Self {
            principal: Some(principal.name.as_ref().to_owned()),
            scopes: principal.scopes.iter().copied().map(Scope::as_str).collect(),
            expires_at: principal.expires_at,
        }
    }
}

/// Signs in
#[utoipa::path(
    post, path = "/api/session", tag = "session", security(()),
    request_body = SignIn,
    responses((status = 200, description = "Signed in; the cookie is set", body = SessionView)),
)]
async fn sign_in(State(state): State<ApiState>, request: Request) -> Result<Response, Problem> {
    check_sign_in(request.headers())?;
    let (parts, body) = request.into_parts();
    let client = client(&state, &parts);
    let SignIn { token } = ask::read(Request::from_parts(parts, body)).await?;
    let principal = state.tokens().verify(&token, client.address).await?;
    let lifetime = state.settings().session_lifetime;
    let (tokens, of) = (state.tokens().clone(), principal.clone());
    let opening = async move { tokens.open_session(&of, lifetime).await };
    let Opened { secret, expires_at } = carried_through(&state, "sign-in", opening).await??;
    let seconds = (expires_at.micros() - state.door().now().micros()) / 1_000_000;
    let cookie = session_cookie(Some((&secret, seconds)), client.https);
    let view = SessionView { expires_at: Some(expires_at), ..SessionView::from(&principal) };
    with_cookie(&cookie, Json(view))
}

/// Shows who is signed in, if anybody
#[utoipa::path(
    get, path = "/api/session", tag = "session", operation_id = "session", security(()),
    responses((status = 200, description = "Who is signed in", body = SessionView)),
)]
async fn who(Whoever(principal): Whoever) -> Json<SessionView> {
    Json(principal.as_ref().map(SessionView::from).unwrap_or_default())
}

/// Signs out
///
/// The session opens nothing any more, on any instance, whoever kept a copy of the cookie.
#[utoipa::path(
    delete, path = "/api/session", tag = "session", security(()),
    responses((status = 204, description = "Signed out; the cookie is gone")),
)]
async fn sign_out(State(state): State<ApiState>, request: Request) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let client = client(&state, &parts);
    // Without a cookie there is nothing that another site could take away.
    if let Some(secret) = session(&parts.headers, client.https) {
        check_site(&parts.method, &parts.headers)?;
        let tokens = state.tokens().clone();
        let ending = async move { tokens.end_session(&secret).await };
        carried_through(&state, "sign-out", ending).await??;
    }
    with_cookie(&session_cookie(None, client.https), StatusCode::NO_CONTENT)
}

/// Does something to its end, also when the one who asked goes away.
async fn carried_through<T: Send + 'static>(
    state: &ApiState,
    name: &'static str,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Problem> {
    let (done, answer) = oneshot::channel();
    state.lifecycle().run(name, async move {
        // Whoever asked may be gone: the work was what mattered.
        drop(done.send(work.await));
    });
    answer.await.map_err(|fault| Problem::internal(&fault))
}

fn with_cookie(cookie: &str, answer: impl IntoResponse) -> Result<Response, Problem> {
    let mut cookie = HeaderValue::from_str(cookie).map_err(|fault| Problem::internal(&fault))?;
    cookie.set_sensitive(true);
    let mut answer = answer.into_response();
    answer.headers_mut().insert(SET_COOKIE, cookie);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_says_who_what_and_until_when() {
        let principal = Principal {
            expires_at: Some(Timestamp::EPOCH),
            ..Principal::without_token("admin", &[Scope::Admin])
        };
        assert_eq!(
            serde_json::to_string(&SessionView::from(&principal)).unwrap(),
            r#"{"principal":"admin","scopes":["admin"],"expires_at":"1970-01-01T00:00:00Z"}"#
        );
        assert_eq!(
            serde_json::to_string(&SessionView::default()).unwrap(),
            r#"{"principal":null,"scopes":[],"expires_at":null}"#
        );
    }
}
