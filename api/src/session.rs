//! The session of the web UI: a token, kept by the browser where no script can read it.

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{COOKIE, SET_COOKIE},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::access::Scope;
use weir_events::timestamp::Timestamp;
use weir_processors::access::Principal;

use crate::{
    ask,
    auth::{By, check_site, client, needs::Anybody, same_site, session_cookie},
    problem::{Problem, table::CROSS_SITE},
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

/// Who is signed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionView {
    /// The name the token was issued under.
    principal: String,
    /// What it may do.
    scopes: Vec<&'static str>,
    /// When it ends.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

impl From<&Principal> for SessionView {
    fn from(principal: &Principal) -> Self {
        Self {
            principal: principal.name.as_ref().to_owned(),
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
    if !same_site(request.headers()) {
        return Err(Problem::new(&CROSS_SITE, "another site made the browser send this"));
    }
    let (parts, body) = request.into_parts();
    let client = client(&state, &parts);
    let SignIn { token } = ask::read(Request::from_parts(parts, body)).await?;
    let principal = state.tokens().verify(&token, client.address).await?;
    let now = state.door().now();
    let max_age = principal.expires_at.map(|end| (end.micros() - now.micros()) / 1_000_000);
    let cookie = session_cookie(Some(&token), max_age, client.https);
    with_cookie(&cookie, Json(SessionView::from(&principal)))
}

/// Shows who is signed in
#[utoipa::path(
    get, path = "/api/session", tag = "session", operation_id = "session",
    responses((status = 200, description = "Who is signed in", body = SessionView)),
)]
async fn who(By { principal, .. }: By<Anybody>) -> Json<SessionView> {
    Json(SessionView::from(&principal))
}

/// Signs out
#[utoipa::path(
    delete, path = "/api/session", tag = "session", security(()),
    responses((status = 204, description = "Signed out; the cookie is gone")),
)]
async fn sign_out(headers: HeaderMap) -> Result<Response, Problem> {
    // Without a cookie there is nothing that another site could take away.
    if headers.contains_key(COOKIE) {
        check_site(&Method::DELETE, &headers)?;
    }
    with_cookie(&session_cookie(None, None, false), StatusCode::NO_CONTENT)
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
    }

    #[tokio::test]
    async fn signing_out_takes_the_cookie_away_but_not_for_another_site() {
        let gone = sign_out(HeaderMap::new()).await.unwrap();
        assert_eq!(gone.status(), StatusCode::NO_CONTENT);
        let cookie = gone.headers()[SET_COOKIE].to_str().unwrap();
        assert!(cookie.starts_with("weir_session=;") && cookie.contains("Max-Age=0"), "{cookie}");
        let headers = HeaderMap::from_iter([(COOKIE, "weir_session=rf_1".parse().unwrap())]);
        assert_eq!(sign_out(headers).await.unwrap_err().status(), 403);
    }
}
