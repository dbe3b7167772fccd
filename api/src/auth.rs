//! Who is asking, and whether they may. Every handler names the scope it needs in its own
//! signature, as [`By`] or as [`crate::ask::Ask`]; a handler without one is open to all.

mod credential;
pub mod needs;
mod site;

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use http::{HeaderMap, header::HOST, request::Parts};
use tokio::sync::broadcast;
use weir_aggregates::access::Scope;
use weir_processors::access::{Principal, Revoked};

use self::{credential::Credential, needs::Needs};
use crate::{
    peer::{Client, Peer},
    problem::{
        Problem,
        table::{BAD_TOKEN, MISSING_SCOPE, UNAUTHENTICATED},
    },
    state::ApiState,
};

pub(crate) use self::{
    credential::{session, session_cookie},
    site::{check as check_site, check_sign_in, is_json, same_site},
};

/// The principal that package clients on this machine act as, when they need no token.
const LOCAL: &str = "local";

/// Somebody who may do what `N` says.
#[derive(Debug, Clone)]
pub struct By<N> {
    /// Who it is.
    pub principal: Principal,
    needs: PhantomData<N>,
}

impl<N: Needs> FromRequestParts<ApiState> for By<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let principal = authenticate(state, parts).await?;
        N::SCOPE.map_or(Ok(()), |scope| permit(&principal, scope))?;
        Ok(Self { principal, needs: PhantomData })
    }
}

/// Somebody, or nobody: for what a browser asks before its person has signed in. What is shown and
/// opens nothing is refused, but for a session that has ended: that is how being signed out looks.
#[derive(Debug, Clone)]
pub struct Whoever(pub Option<Principal>);

impl FromRequestParts<ApiState> for Whoever {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let client = client(state, parts);
        let Some(credential) = Credential::of(&parts.headers, client.https)? else {
            return Ok(Self(None));
        };
        let from_a_browser = matches!(credential, Credential::Session(_));
        match verify(state, parts, client, credential).await {
            Err(refused) if from_a_browser && refused.kind().code == BAD_TOKEN.code => {
                Ok(Self(None))
            }
            other => other.map(|principal| Self(Some(principal))),
        }
    }
}

/// Somebody who may, with word of every revocation since just before that was found out: for
/// answers that outlive the request.
#[derive(Debug)]
pub struct Watched<N> {
    /// Who it is.
    pub principal: Principal,
    /// The ids of tokens revoked since.
    pub revocations: broadcast::Receiver<Revoked>,
    needs: PhantomData<N>,
}

impl<N: Needs> FromRequestParts<ApiState> for Watched<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        // First the ear, then the question: a revocation in between is heard.
        let revocations = state.revocations();
        let By { principal, needs } = By::<N>::from_request_parts(parts, state).await?;
        Ok(Self { principal, revocations, needs })
    }
}

/// What is known of the client behind a request.
pub(crate) fn client(state: &ApiState, parts: &Parts) -> Client {
    let peer = parts.extensions.get::<Peer>().copied();
    Client::of(peer, &parts.headers, &state.settings().trusted_proxies)
}

/// Who asks, whatever he may do.
pub(crate) async fn authenticate(state: &ApiState, parts: &Parts) -> Result<Principal, Problem> {
    let client = client(state, parts);
    let credential = Credential::of(&parts.headers, client.https)?.ok_or_else(nobody)?;
    verify(state, parts, client, credential).await
}

async fn verify(
    state: &ApiState,
    parts: &Parts,
    client: Client,
    credential: Credential,
) -> Result<Principal, Problem> {
    match credential {
        Credential::Token(token) => Ok(state.tokens().verify(&token, client.address).await?),
        Credential::Session(secret) => {
            site::check(&parts.method, &parts.headers)?;
            Ok(state.tokens().verify_session(&secret).await?)
        }
    }
}

fn nobody() -> Problem {
    Problem::new(&UNAUTHENTICATED, "send a token as `authorization: Bearer rf_…`, or sign in")
}

fn permit(principal: &Principal, scope: Scope) -> Result<(), Problem> {
    if principal.may(scope) {
        return Ok(());
    }
    let detail =
        format!("`{}` may not do this: it needs scope `{}`", principal.name, scope.as_str());
    Err(Problem::new(&MISSING_SCOPE, detail))
}

/// Who installs packages: a token with `scope`, or, where that is open, anybody on this machine.
/// The caller says the problem in the words of its own protocol.
pub async fn installer(
    state: &ApiState,
    parts: &Parts,
    scope: Scope,
) -> Result<Principal, Problem> {
    if let Some(token) = credential::token(&parts.headers)? {
        let address = client(state, parts).address;
        let principal = state.tokens().verify(&token, address).await?;
        permit(&principal, scope)?;
        return Ok(principal);
    }
    let open = state.settings().loopback_packages_open;
    if open && client(state, parts).local && same_site(&parts.headers) && asks_here(&parts.headers)
    {
        let profile = state.settings().loopback_profile.clone();
        return Ok(Principal { profile, ..Principal::without_token(LOCAL, &[scope]) });
    }
    Err(nobody())
}

/// Whether the request was addressed to this machine by a name of its own. A page whose name was
/// rebound to loopback sends its own name here.
fn asks_here(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return true };
    let Ok(authority) = host.parse::<http::uri::Authority>() else { return false };
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    match address {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => name == "localhost" || name.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_asked_for_by_name_and_admin_has_them_all() {
        let reader = Principal::without_token("ci", &[Scope::EventsRead]);
        assert!(permit(&reader, Scope::EventsRead).is_ok());
        let refused = permit(&reader, Scope::RulesWrite).unwrap_err();
        assert_eq!(refused.status(), 403);
        assert!(refused.detail().contains("`rules:write`"), "{}", refused.detail());
        let admin = Principal::without_token("admin", &[Scope::Admin]);
        assert!(Scope::ALL.into_iter().all(|scope| permit(&admin, scope).is_ok()));
    }

    #[test]
    fn a_rebound_name_is_not_this_machine() {
        let asks = |host: &str| asks_here(&HeaderMap::from_iter([(HOST, host.parse().unwrap())]));
        for here in ["127.0.0.1:7400", "localhost:7400", "localhost", "[::1]:7400", "a.localhost"] {
            assert!(asks(here), "{here}");
        }
        for elsewhere in ["evil.example:7400", "192.0.2.1", "localhost.evil.example", "a b"] {
            assert!(!asks(elsewhere), "{elsewhere}");
        }
        assert!(asks_here(&HeaderMap::new()));
    }
}
