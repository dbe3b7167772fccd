//! What a request says: its parameters, its body, its idempotency key. Checked here once, with the
//! field named where something is wrong.

mod body;
mod params;

use std::{marker::PhantomData, sync::Arc};

use axum::extract::{FromRequest, FromRequestParts, Request};
use http::{HeaderMap, HeaderName, request::Parts};
use serde::{Deserialize, de::DeserializeOwned};
use utoipa::ToSchema;
use weir_log::idempotency::CommandKey;
use weir_processors::{access::Principal, caller::Caller, door::IdempotencyKey};

pub use self::params::Params;
pub(crate) use self::{
    body::{collect_within, drain, parse, read},
    params::bad_parameter,
};
use crate::{
    auth::{By, needs::Needs},
    problem::{Problem, table::BAD_IDEMPOTENCY_KEY},
    state::ApiState,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The longest idempotency key, in bytes.
const MAX_KEY_BYTES: usize = 255;

/// The body of a command that says all it has to say in its address.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// A command of somebody who may give it (`N`), with its body (`T`).
#[derive(Debug)]
pub struct Ask<N, T> {
    /// The body. An empty one reads as `{}`.
    pub body: T,
    /// Who asks.
    pub principal: Principal,
    /// In whose name.
    pub caller: Caller,
    /// What makes a repetition known, when the caller sent one.
    pub key: Option<IdempotencyKey>,
    needs: PhantomData<N>,
}

impl<N: Needs, T: DeserializeOwned> FromRequest<ApiState> for Ask<N, T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let By { principal, .. } = By::<N>::from_request_parts(&mut parts, state).await?;
        let bytes = body::collect(&parts.headers, body).await?;
        let key = idempotency_key(&parts, principal.id(), &bytes)?;
        let body = body::parse(&parts.headers, &bytes)?;
        let traceparent = traceparent(&parts.headers);
        let caller = Caller { traceparent, ..principal.caller() };
        Ok(Self { body, principal, caller, key, needs: PhantomData })
    }
}

fn idempotency_key(
    parts: &Parts,
    principal: &str,
    body: &[u8],
) -> Result<Option<IdempotencyKey>, Problem> {
    let mut values = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let good = !value.is_empty()
        && value.len() <= MAX_KEY_BYTES
        && value.as_bytes().iter().all(|b| matches!(b, b' '..=b'~'))
        && values.next().is_none();
    let key = value.to_str().ok().filter(|_| good).ok_or_else(|| {
        let detail = format!("send one key of 1 to {MAX_KEY_BYTES} printable ASCII characters");
        Problem::new(&BAD_IDEMPOTENCY_KEY, detail)
    })?;
    let address = parts.uri.path_and_query().map_or("", http::uri::PathAndQuery::as_str);
    let mut hasher = blake3::Hasher::new_derive_key("weir request v1");
    for part in [parts.method.as_str().as_bytes(), address.as_bytes(), body] {
        hasher.update(&(part.len() as u64).to_be_bytes()).update(part);
    }
    let request_hash = *hasher.finalize().as_bytes();
    Ok(Some(IdempotencyKey { key: CommandKey::of(principal, key), request_hash }))
}

/// The trace the caller belongs to; what is no W3C trace context is dropped, as its specification
/// asks.
fn traceparent(headers: &HeaderMap) -> Option<Arc<str>> {
    let value = headers.get(TRACEPARENT)?.to_str().ok()?;
    let parts: Vec<&str> = value.split('-').collect();
    let [version, trace, parent, flags] = parts.as_slice() else { return None };
    let hexadecimal = |part: &str, len: usize| {
        part.len() == len && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let good = hexadecimal(version, 2)
        && *version != "ff"
        && hexadecimal(trace, 32)
        && hexadecimal(parent, 16)
        && hexadecimal(flags, 2)
        && [trace, parent].iter().all(|id| id.bytes().any(|b| b != b'0'));
    good.then(|| value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(method: &str, address: &str, key: Option<&str>) -> Parts {
        let mut request = Request::builder().method(method).uri(address);
        if let Some(key) = key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn the_same_request_has_the_same_key_and_another_one_shows() {
        let asked = |method, address, body: &[u8]| {
            idempotency_key(&parts(method, address, Some("k")), "admin", body).unwrap().unwrap()
        };
        let first = asked("POST", "/api/rules", b"{}");
        assert_eq!(asked("POST", "/api/rules", b"{}"), first);
        for other in [
            asked("PUT", "/api/rules", b"{}"),
            asked("POST", "/api/rules/1", b"{}"),
            asked("POST", "/api/rules", b"{ }"),
        ] {
            assert_eq!(other.key, first.key);
            assert_ne!(other.request_hash, first.request_hash);
        }
        let ci = idempotency_key(&parts("POST", "/api/rules", Some("k")), "ci", b"{}");
        assert_ne!(ci.unwrap().unwrap().key, first.key);
    }

    #[test]
    fn a_key_is_one_short_line_of_ascii() {
        assert!(idempotency_key(&parts("POST", "/", None), "a", b"").unwrap().is_none());
        let long = "x".repeat(256);
        for bad in ["", "a\tb", &long] {
            let refused = idempotency_key(&parts("POST", "/", Some(bad)), "a", b"").unwrap_err();
            assert_eq!(refused.kind().code, "bad_idempotency_key");
        }
    }

    #[test]
    fn a_trace_context_is_taken_whole_or_not_at_all() {
        let of = |value: &str| {
            traceparent(&HeaderMap::from_iter([(TRACEPARENT, value.parse().unwrap())]))
        };
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(of(good).as_deref(), Some(good));
        for bad in [
            "",
            "00-x-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
