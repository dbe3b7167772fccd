//! Bodies: bounded in size and time, JSON only, and read with the name of the field that is wrong.

use std::time::Duration;

use axum::{body::Body, extract::Request};
use bytes::Bytes;
use http::HeaderMap;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::{
    auth::is_json,
    problem::{
        Problem,
        table::{BAD_BODY, BODY_TOO_LARGE, REQUEST_TIMEOUT, UNSUPPORTED_MEDIA_TYPE},
    },
};

/// The largest JSON body.
const MAX_BODY_BYTES: usize = 1 << 20;

/// How much of a body that is too large is let go by before it is refused.
const MAX_DRAINED_BYTES: usize = 16 << 20;

/// How long that may take.
const MAX_DRAINING: Duration = Duration::from_secs(1);

/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// Takes the body of a request that needs no credentials.
pub(crate) async fn read<T: DeserializeOwned>(request: Request) -> Result<T, Problem> {
    let (parts, body) = request.into_parts();
    let bytes = collect(&parts.headers, body).await?;
    parse(&parts.headers, &bytes)
}

pub(super) async fn collect(headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    collect_within(headers, body, MAX_BODY_BYTES).await
}

/// Lets a body that is refused go by for a moment: who writes all of it before it reads would see a
/// broken connection instead of the answer.
pub(crate) async fn drain(mut body: Body) {
    let draining = async {
        let mut n_bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            n_bytes += frame.data_ref().map_or(0, Bytes::len);
            if n_bytes > MAX_DRAINED_BYTES {
                break;
            }
        }
    };
    // However it ends, the answer is the same.
    drop(tokio::time::timeout(MAX_DRAINING, draining).await);
}

/// Takes a body of any kind, up to a bound of its own.
pub(crate) async fn collect_within(
    headers: &HeaderMap,
    body: Body,
    max_bytes: usize,
) -> Result<Bytes, Problem> {
    let too_large =
        || Problem::new(&BODY_TOO_LARGE, format!("a body has at most {max_bytes} bytes here"));
    let declared = headers.get(http::header::CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > max_bytes as u64) {
        drain(body).await;
        return Err(too_large());
    }
    let limited = Limited::new(body, max_bytes).collect();
    match tokio::time::timeout(PATIENCE, limited).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(fault)) if fault.downcast_ref::<LengthLimitError>().is_some() => Err(too_large()),
        Ok(Err(_)) => Err(Problem::new(&BAD_BODY, "the body was cut short")),
        Err(_) => {
            let detail = format!("the body was not here within {} s", PATIENCE.as_secs());
            Err(Problem::new(&REQUEST_TIMEOUT, detail))
        }
    }
}

/// Reads a body of JSON.
pub(crate) fn parse<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<T, Problem> {
    if !bytes.is_empty() && !is_json(headers) {
        let detail = "the body is not said to be JSON: send `content-type: application/json`";
        return Err(Problem::new(&UNSUPPORTED_MEDIA_TYPE, detail));
    }
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    // A list would be read as the members in their order.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Problem::new(&BAD_BODY, "the body is a list; send an object, `{…}`"));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let body = serde_path_to_error::deserialize(&mut deserializer).map_err(|fault| {
        let (path, detail) = (fault.path().to_string(), fault.into_inner().to_string());
        match field(&path, &detail) {
            Some(field) => Problem::of_field(&BAD_BODY, field, detail),
            None => Problem::new(&BAD_BODY, detail),
        }
    })?;
    deserializer.end().map_err(|fault| Problem::new(&BAD_BODY, fault.to_string()))?;
    Ok(body)
}

/// The field an objection is about: the one it points at, or the one it misses there.
fn field(path: &str, detail: &str) -> Option<String> {
    let here = path.trim_matches(['.', '?']);
    let missing = detail.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    match (here, missing) {
        ("", None) => None,
        ("", Some(missing)) => Some(missing.to_owned()),
        (here, None) => Some(here.to_owned()),
        (here, Some(missing)) => Some(format!("{here}.{missing}")),
    }
}

#[cfg(test)]
mod tests {
    use http::header::CONTENT_TYPE;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Wish {
        names: Vec<String>,
    }

    fn json() -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_TYPE, "application/json".parse().unwrap())])
    }

    fn problem(headers: &HeaderMap, body: &[u8]) -> (u16, String, String) {
        let problem = parse::<Wish>(headers, body).unwrap_err();
        let document = serde_json::to_value(problem.view(None)).unwrap();
        let field = document["errors"][0]["field"].as_str().unwrap_or_default().to_owned();
        (problem.status().as_u16(), problem.kind().code.to_owned(), field)
    }

    #[test]
    fn a_list_is_no_object() {
        for body in [&br#"[["a"]]"#[..], b" \n[]"] {
            let (status, ..) = problem(&json(), body);
            assert_eq!(status, 400);
        }
    }

    #[test]
    fn what_is_wrong_with_a_body_is_named_by_its_field() {
        let says = |status, code: &str, field: &str| (status, code.to_owned(), field.to_owned());
        assert_eq!(problem(&json(), br#"{"names":["a",3]}"#), says(400, "bad_body", "names[1]"));
        assert_eq!(problem(&json(), br#"{"naems":[]}"#), says(400, "bad_body", "naems"));
        assert_eq!(problem(&json(), b"{"), says(400, "bad_body", ""));
        assert_eq!(problem(&json(), br#"{"names":[]} x"#), says(400, "bad_body", ""));
        assert_eq!(problem(&json(), b""), says(400, "bad_body", "names"));
        assert_eq!(field("rule", "missing field `package` at line 1").unwrap(), "rule.package");
        let wrong = says(415, "unsupported_media_type", "");
        assert_eq!(problem(&HeaderMap::new(), br#"{"names":[]}"#), wrong);
    }

    #[test]
    fn a_body_that_need_not_be_there_reads_as_an_empty_object() {
        assert!(parse::<super::super::Nothing>(&HeaderMap::new(), b"").is_ok());
        assert!(parse::<super::super::Nothing>(&json(), b"{}").is_ok());
        assert!(parse::<super::super::Nothing>(&json(), br#"{"a":1}"#).is_err());
    }

    #[tokio::test]
    async fn a_body_is_cut_off_at_its_bound_whatever_it_declares() {
        let large = vec![b' '; MAX_BODY_BYTES + 1];
        let refused = collect(&HeaderMap::new(), Body::from(large)).await.unwrap_err();
        assert_eq!(refused.status(), 413);
        let mut lying = HeaderMap::new();
        lying.insert(http::header::CONTENT_LENGTH, u64::MAX.into());
        assert_eq!(collect(&lying, Body::empty()).await.unwrap_err().status(), 413);
        let just = vec![b' '; MAX_BODY_BYTES];
        assert_eq!(collect(&json(), Body::from(just)).await.unwrap().len(), MAX_BODY_BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_not_waited_for() {
        let never =
            Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
        assert_eq!(collect(&json(), never).await.unwrap_err().status(), 408);
    }
}
