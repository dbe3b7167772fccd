//! Packages over HTTP, in the words of package clients: pip and uv print the reason phrase of a
//! refusal and nothing else, so that is where the reason stands. What is answered is the plugin's.

use std::{future::pending, pin::pin, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body as HttpBody,
    extract::{Request, State},
    response::Response,
    routing::any,
};
use bytes::Bytes;
use http::{
    Method, StatusCode,
    header::{RETRY_AFTER, WWW_AUTHENTICATE},
    request::Parts,
};
use hyper::ext::ReasonPhrase;
use percent_encoding::percent_decode_str;
use tokio::sync::{
    OwnedSemaphorePermit,
    broadcast::{self, error::RecvError},
};
use weir_aggregates::access::Scope;
use weir_events::timestamp::Timestamp;
use weir_processors::{
    access::{Principal, Revoked},
    registry::{
        answer::{Answer, Body},
        plugin::{Asked, Bodies, RegistryPlugin},
    },
};

use crate::{
    ask::collect_within,
    auth::{client, installer},
    base::base,
    problem::{Problem, table::BUSY},
    state::ApiState,
};

/// How long a request waits for room for its body.
const ROOM_WITHIN: Duration = Duration::from_secs(5);

/// The routes of an ecosystem, below its own prefix.
pub fn router<P: RegistryPlugin>(plugin: Arc<P>, scope: Scope) -> Router<ApiState> {
    let prefix = plugin.path_prefix();
    let serve = move |State(state): State<ApiState>, request: Request| {
        let plugin = Arc::clone(&plugin);
        async move { http(serve(&*plugin, scope, &state, request).await) }
    };
    // Behind a day, the registry as it was then.
    let routes = ["", "/{day}"].into_iter().map(|day| {
        Router::new()
            .route(&format!("{day}{prefix}"), any(serve.clone()))
            .route(&format!("{day}{prefix}/"), any(serve.clone()))
            .route(&format!("{day}{prefix}/{{*path}}"), any(serve.clone()))
    });
    routes.fold(Router::new(), Router::merge)
}

/// As of when a path wants the registry, and the path without that: `/@2026-10-01/pypi/simple/six/`.
/// A day is meant to its end. `None` where what stands there is no time.
fn as_of<'a>(path: &'a str, prefix: &str) -> Option<(Option<Timestamp>, &'a str)> {
    if let Some(below) = path.strip_prefix(prefix) {
        return Some((None, below));
    }
    let (day, rest) = path.strip_prefix("/@")?.split_once('/')?;
    let below = path.get(path.len() - rest.len() - 1..)?.strip_prefix(prefix)?;
    let time = percent_decode_str(day).decode_utf8().ok()?;
    let whole_day = || format!("{time}T23:59:59.999999Z").parse().ok();
    let time = time.parse().ok().or_else(whole_day)?;
    Some((Some(time), below))
}

async fn serve<P: RegistryPlugin>(
    plugin: &P,
    scope: Scope,
    state: &ApiState,
    request: Request,
) -> Answer {
    let (parts, body) = request.into_parts();
    let public_url = state.settings().public_url.as_deref();
    let base = base(public_url, client(state, &parts), &parts.headers);
    let refusal = |problem| refusal(plugin, &problem, &base);
    // First the ear, then the question: a revocation in between is heard.
    let mut revocations = state.revocations();
    let principal = match installer(state, &parts, scope).await {
        Ok(principal) => principal,
        Err(problem) => return refusal(problem),
    };
    let body = match take(plugin, &parts, body).await {
        Ok(body) => body,
        Err(problem) => return refusal(problem),
    };
    // As it came: decoded by the plugin, once.
    let path = parts.uri.path();
    let Some((as_of, below)) = as_of(path, plugin.path_prefix()) else {
        let why = "a registry of the past stands below a day: /@2026-10-01/pypi/simple/";
        return plugin.say(StatusCode::NOT_FOUND, why, why);
    };
    // Addresses in the answer lead to the same past.
    let before = path.get(1..path.len() - below.len() - plugin.path_prefix().len());
    let base = match before.filter(|_| as_of.is_some()) {
        Some(day) if !base.is_empty() => format!("{base}/{}", day.trim_end_matches('/')),
        _ => base,
    };
    let asked = Asked {
        method: &parts.method,
        version: parts.version,
        path: below,
        query: parts.uri.query(),
        headers: &parts.headers,
        base: &base,
        body: &body,
        as_of,
    };
    let caller = principal.caller();
    let answer = pin!(plugin.answer(&asked, &caller));
    tokio::select! {
        biased;
        // Some wait long for their answer: for a person's word, or for the upstream.
        () = revoked(&mut revocations, &principal) => {
            match installer(state, &parts, scope).await {
                Ok(_) => plugin.say(StatusCode::UNAUTHORIZED, GONE, GONE),
                Err(problem) => self::refusal(plugin, &problem, &base),
            }
        }
        answer = answer => answer,
    }
}

/// What is told where a token ends while its request is answered, and nothing more is known.
const GONE: &str = "the token may have been revoked meanwhile; ask again";

/// Waits until somebody's token is revoked, or may have been; for ever, where there is none.
async fn revoked(revocations: &mut broadcast::Receiver<Revoked>, principal: &Principal) {
    let Some(token_id) = principal.token_id.as_deref() else { return pending().await };
    loop {
        match revocations.recv().await {
            Ok(Revoked::Token(id)) if *id == *token_id => return,
            Ok(Revoked::Agent(agent)) if principal.agent == Some(agent) => return,
            Ok(Revoked::Token(_) | Revoked::Session(_) | Revoked::Agent(_)) => {}
            // Ours may have been among those that were missed.
            Ok(Revoked::Perhaps) | Err(RecvError::Lagged(_)) => return,
            // Nothing is followed any more, as the process stops.
            Err(RecvError::Closed) => return pending().await,
        }
    }
}

/// Takes the body of a request where its plugin takes any. It keeps its room until the last one who
/// holds it is done.
async fn take<P: RegistryPlugin>(
    plugin: &P,
    parts: &Parts,
    body: HttpBody,
) -> Result<Bytes, Problem> {
    let read = parts.method == Method::GET || parts.method == Method::HEAD;
    let Some(Bodies { max_bytes, rooms }) = plugin.bodies().filter(|_| !read) else {
        return Ok(Bytes::new());
    };
    let room = tokio::time::timeout(ROOM_WITHIN, Arc::clone(rooms).acquire_owned()).await;
    let Ok(Ok(room)) = room else {
        return Err(Problem::new(&BUSY, "too many requests with a body; try again").retry_after(1));
    };
    let body = collect_within(&parts.headers, body, max_bytes).await?;
    Ok(Bytes::from_owner(Roomed { body, _room: room }))
}

/// A body, and the room it takes.
struct Roomed {
    body: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Roomed {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// A problem in the words of an ecosystem, and what its clients are to show where they are not known.
fn refusal<P: RegistryPlugin>(plugin: &P, problem: &Problem, base: &str) -> Answer {
    let answer = plugin.say(problem.status(), problem.detail(), problem.detail());
    let answer = match problem.retry_after_seconds() {
        Some(seconds) => answer.with(RETRY_AFTER, seconds.into()),
        None => answer,
    };
    if problem.status() == StatusCode::UNAUTHORIZED {
        answer.with(WWW_AUTHENTICATE, plugin.challenge(base))
    } else {
        answer
    }
}

/// An answer as HTTP. An error in its body breaks the connection.
fn http(answer: Answer) -> Response {
    let Answer { status, reason, headers, body } = answer;
    let mut response = Response::new(match body {
        Body::Empty => HttpBody::empty(),
        Body::Whole(bytes) => HttpBody::from(bytes),
        Body::Stream(stream) => HttpBody::from_stream(stream),
    });
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    if let Some(reason) = reason.and_then(|reason| ReasonPhrase::try_from(reason).ok()) {
        response.extensions_mut().insert(reason);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::io;

    use axum::routing::get;
    use futures_util::{StreamExt as _, stream};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpSocket},
        sync::Semaphore,
    };
    use weir_aggregates::registry::dossier::Dossier;
    use weir_events::registry::Ecosystem;
    use weir_log::lifecycle::Lifecycle;
    use weir_processors::{
        caller::Caller,
        registry::{cache::CacheKey, stats::Counters},
    };

    use super::*;
    use crate::problem::table::UNAUTHENTICATED;

    /// An ecosystem that has room for one body, and words of its own.
    struct Talker(Counters, Arc<Semaphore>);

    impl Default for Talker {
        fn default() -> Self {
            Self(Counters::default(), Arc::new(Semaphore::new(1)))
        }
    }

    impl RegistryPlugin for Talker {
        type Request = ();
        type Document = ();
        type Filtered = ();

        fn name(&self) -> Ecosystem {
            Ecosystem::Npm
        }

        fn path_prefix(&self) -> &'static str {
            "/npm"
        }

        fn bodies(&self) -> Option<Bodies<'_>> {
            Some(Bodies { max_bytes: 16, rooms: &self.1 })
        }

        fn say(&self, status: StatusCode, text: &str, reason: &str) -> Answer {
            Answer::text(status, format!("in our words: {text}")).because(reason)
        }

        fn parse_request(&self, _: &Asked<'_>) -> Result<(), Box<Answer>> {
            Ok(())
        }

        async fn handle_request(&self, (): (), _: &Caller) -> Answer {
            Answer::empty(StatusCode::OK)
        }

        fn filter_metadata(&self, (): &(), _: &Dossier) {}

        fn cache_key(&self, (): &()) -> Option<CacheKey> {
            None
        }

        fn counters(&self) -> &Counters {
            &self.0
        }
    }

    fn parts(method: Method) -> Parts {
        let mut parts = Request::new(HttpBody::empty()).into_parts().0;
        parts.method = method;
        parts
    }

    #[tokio::test(start_paused = true)]
    async fn no_body_is_read_before_there_is_room_for_it() {
        let talker = Talker::default();
        let first = take(&talker, &parts(Method::POST), HttpBody::from("first")).await.unwrap();
        let touched = HttpBody::from_stream(stream::poll_fn(
            |_| -> std::task::Poll<Option<io::Result<Bytes>>> {
                panic!("it is read");
            },
        ));
        let refused = take(&talker, &parts(Method::POST), touched).await.unwrap_err();
        assert_eq!(
            (refused.status(), refused.retry_after_seconds()),
            (503.try_into().unwrap(), Some(1))
        );
        // Whoever reads waits for nobody, and brings nothing.
        let nothing = take(&talker, &parts(Method::GET), HttpBody::from("x")).await.unwrap();
        assert!(nothing.is_empty());
        let held = first.clone();
        drop(first);
        assert!(take(&talker, &parts(Method::POST), HttpBody::from("x")).await.is_err());
        assert_eq!(held, "first");
        drop(held);
        assert_eq!(take(&talker, &parts(Method::POST), HttpBody::from("x")).await.unwrap(), "x");
    }

    #[test]
    fn a_day_before_the_prefix_is_meant_to_its_end() {
        let at = |path| as_of(path, "/npm").map(|(at, path)| (at.map(|at| at.to_string()), path));
        let end = Some("2026-10-01T23:59:59.999999Z".to_owned());
        assert_eq!(at("/npm/x"), Some((None, "/x")));
        assert_eq!(at("/@2026-10-01/npm/x"), Some((end, "/x")));
        let noon = Some("2026-10-01T12:00:00Z".to_owned());
        assert_eq!(at("/@2026-10-01T12:00:00Z/npm"), Some((noon.clone(), "")));
        assert_eq!(at("/@2026-10-01T12%3A00%3A00Z/npm/"), Some((noon, "/")));
        for bad in ["/@yesterday/npm/x", "/2026-10-01/npm/x", "/@2026-13-01/npm/x", "/@/npm", "/x"]
        {
            assert_eq!(at(bad), None, "{bad}");
        }
    }

    /// What a client reads from the wire.
    async fn wire(request: &str) -> String {
        let router = Router::new()
            .route(
                "/no",
                get(async || {
                    http(
                        Answer::text(StatusCode::FORBIDDEN, "No.")
                            .because("Blocked by Weir: too young"),
                    )
                }),
            )
            .route(
                "/cut",
                get(async || {
                    let pieces =
                        [Ok(Bytes::from_static(b"abc")), Err(io::Error::other("does not fit"))];
                    let body = Body::Stream(stream::iter(pieces).boxed());
                    http(Answer::stream(StatusCode::OK, "text/plain", None, body))
                }),
            )
            .route("/size", get(async || http(Answer::text(StatusCode::OK, "four").without_body())))
            .route(
                "/who",
                get(async || {
                    let problem = Problem::new(&UNAUTHENTICATED, "send a token");
                    http(refusal(&Talker::default(), &problem, ""))
                }),
            );
        let lifecycle = Lifecycle::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        lifecycle.run("server", async move { axum::serve(listener, router).await.unwrap() });
        let mut client = TcpSocket::new_v4().unwrap().connect(address).await.unwrap();
        let request = format!("{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn the_reason_stands_in_the_status_line() {
        let answer = wire("GET /no").await;
        assert!(answer.starts_with("HTTP/1.1 403 Blocked by Weir: too young\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nNo.\n"), "{answer}");
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_does_not_end_cleanly() {
        let answer = wire("GET /cut").await;
        assert!(!answer.ends_with("0\r\n\r\n"), "the end that says all is well: {answer}");
    }

    #[tokio::test]
    async fn head_tells_the_size_of_what_it_does_not_send() {
        let answer = wire("HEAD /size").await;
        assert!(
            answer.contains("content-length: 5\r\n") && answer.ends_with("\r\n\r\n"),
            "{answer}"
        );
    }

    #[tokio::test]
    async fn who_is_not_known_is_asked_for_a_password() {
        let answer = wire("GET /who").await;
        assert!(answer.starts_with("HTTP/1.1 401 send a token\r\n"), "{answer}");
        assert!(answer.contains("www-authenticate: Basic realm=\"weir\"\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nin our words: send a token\n"), "{answer}");
    }
}
