//! The way to a server: one HTTP client, problems as failures with a code and a remedy.

pub(crate) mod lines;
pub(crate) mod sse;
pub(crate) mod stream;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, Url};
use serde_json::Value;

use crate::cli::ServerArgs;
use crate::context::Context;
use crate::exit::{EndsWith as _, Exit, Failure};
use crate::output::Output;

/// Answers of the API are small; whatever is larger is not one.
const MAX_ANSWER_BYTES: usize = 64 << 20;
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_mins(1);
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A server, and as whom it is talked to.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    token: Option<HeaderValue>,
    /// What to try when nobody answers.
    remedy: String,
    output: Output,
    /// Whether it was said that the newest may be missing.
    told: Arc<AtomicBool>,
}

impl Client {
    /// The server that the flags, the environment, a running Weir or the configuration name.
    pub(crate) fn new(context: &Context, args: &ServerArgs) -> Result<Self, Failure> {
        let running = context.data_dir.running().map(|running| running.url);
        let configured = || {
            let server = context.load(&[]).map(|loaded| loaded.config.server)?;
            let host = match &*server.host {
                "0.0.0.0" => "127.0.0.1".to_owned(),
                "::" => "[::1]".to_owned(),
                host if host.contains(':') && !host.starts_with('[') => format!("[{host}]"),
                host => host.to_owned(),
            };
            Ok::<_, Failure>(format!("http://{host}:{}", server.port))
        };
        let address = match (&args.server, running.filter(|url| !url.is_empty())) {
            (Some(given), _) => given.clone(),
            (None, Some(running)) => running,
            (None, None) => configured()?,
        };
        let base: crate::config::HttpUrl =
            address.parse().map_err(|why: String| Failure::new(Exit::Usage, why))?;
        // The token of the data directory is for the Weir of the data directory: never shown to a
        // server that somebody named, unless it is on this machine.
        let kept = || context.data_dir.credentials().filter(|_| is_ours(args, &base.0));
        let token = args.token.clone().or_else(kept);
        Ok(Self {
            http: http_client()?,
            base: base.0,
            token: token.as_deref().map(bearer).transpose()?,
            remedy: format!(
                "start it with `{} up`, or name another server with --server or WEIR_SERVER",
                context.weir()
            ),
            output: context.output,
            told: Arc::default(),
        })
    }

    /// Where the server is.
    pub(crate) const fn base(&self) -> &Url {
        &self.base
    }

    /// Asks for a document. `path` is below the server's address: `api/status`.
    pub(crate) async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Value, Failure> {
        self.answer(self.request(Method::GET, path, query)?).await
    }

    /// Asks for what a read model shows of all that is recorded by now: a list read after a command
    /// shows what it did. Of one that cannot keep up, what it has is better than nothing, and said; who
    /// asks for more of it then is not kept waiting again.
    pub(crate) async fn read(
        &self,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<Value, Failure> {
        if self.told.load(Ordering::Relaxed) {
            return self.get(path, query).await;
        }
        let newest = [query, &[("min_position", "head".to_owned())]].concat();
        match self.get(path, &newest).await {
            Err(late) if late.problem.as_ref().is_some_and(is_late) => {
                self.told.store(true, Ordering::Relaxed);
                self.output.say(&format!("note: the newest may be missing: {}", late.message));
                self.get(path, query).await
            }
            answer => answer,
        }
    }

    /// The status of an answer, for who wants to know no more.
    pub(crate) async fn status_of(&self, path: &str) -> Result<u16, Failure> {
        let request = self.request(Method::GET, path, &[])?.timeout(ANSWER_WITHIN);
        let response = request.send().await.map_err(|fault| self.unreachable(&fault))?;
        Ok(response.status().as_u16())
    }

    /// Sends a command that says all it has to say in its address.
    pub(crate) async fn command(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<Value, Failure> {
        self.answer(self.request(method, path, query)?).await
    }

    /// Sends a command. The key makes it safe to send twice.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let key = uuid::Builder::from_random_bytes(rand::random()).into_uuid().to_string();
        let mut request = self.request(method, path, &[])?.header(IDEMPOTENCY_KEY, key);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        self.answer(request).await
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<RequestBuilder, Failure> {
        let mut url = self.url(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.http.request(method, url).header(ACCEPT, "application/json");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        Ok(request)
    }

    /// An address below the server's own, which may have a path itself (behind a proxy).
    fn url(&self, path: &str) -> Result<Url, Failure> {
        let mut base = self.base.clone();
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        base.join(path).ends_with(Exit::Usage)
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Value, Failure> {
        let response =
            request.timeout(ANSWER_WITHIN).send().await.map_err(|f| self.unreachable(&f))?;
        if !response.status().is_success() {
            return Err(refusal(response).await);
        }
        let body = whole(response).await?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|fault| {
            Failure::failed(format!("{} does not answer like a Weir: {fault}", self.base))
                .hint("check the address given with --server or WEIR_SERVER")
        })
    }

    fn unreachable(&self, fault: &reqwest::Error) -> Failure {
        let exit = if fault.is_timeout() && !fault.is_connect() {
            Exit::RetryLater
        } else {
            Exit::Unreachable
        };
        Failure::new(exit, format!("could not reach {}: {}", self.base, root(fault)))
            .hint(self.remedy.clone())
    }
}

fn is_ours(args: &ServerArgs, base: &Url) -> bool {
    args.server.is_none() || crate::discovery::is_loopback(base.host_str().unwrap_or_default())
}

/// What is at the bottom of a fault of the connection: the layers above say only that there is one.
pub(crate) fn root(fault: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = fault;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// The client of our own server: not the way to the outside.
#[expect(clippy::disallowed_methods, reason = "a client of our own server, from the command line")]
fn http_client() -> Result<reqwest::Client, Failure> {
    crate::tls::install();
    let client = reqwest::Client::builder()
        .user_agent(concat!("weir-cli/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_WITHIN)
        .build()?;
    Ok(client)
}

fn bearer(token: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::try_from(format!("Bearer {}", token.trim()))
        .map_err(|_| Failure::new(Exit::Usage, "the token is not one: it has odd characters"))?;
    value.set_sensitive(true);
    Ok(value)
}

async fn whole(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ends_with(Exit::Unreachable)? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(Failure::failed("the answer of the server is too large"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What a refusal of the server means here.
pub(crate) async fn refusal(response: Response) -> Failure {
    let status = response.status().as_u16();
    let retry_after =
        response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = whole(response).await.unwrap_or_default();
    problem(status, retry_after, &body)
}

fn problem(status: u16, retry_after: Option<u64>, body: &[u8]) -> Failure {
    let problem: Option<Value> =
        serde_json::from_slice(body).ok().filter(|problem: &Value| problem["title"].is_string());
    let Some(problem) = problem else {
        let message = format!("the server answered {status} without saying why");
        return Failure::new(Exit::of_status(status), message)
            .hint("check the address: is there a Weir, or something in front of it?");
    };
    told(status, retry_after, problem)
}

/// What a problem means that came after the answer had begun.
pub(crate) fn failed(problem: &Value) -> Failure {
    let status = problem["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    told(status.unwrap_or(500), None, problem.clone())
}

fn told(status: u16, retry_after: Option<u64>, problem: Value) -> Failure {
    let title = problem["title"].as_str().unwrap_or_default();
    let mut message = match problem["detail"].as_str() {
        Some(detail) if detail != title => format!("{title}: {detail}"),
        _ => title.to_owned(),
    };
    for error in problem["errors"].as_array().into_iter().flatten() {
        let field = error["field"].as_str().or_else(|| error["pointer"].as_str());
        let _infallible = match (field, error["detail"].as_str()) {
            (Some(_), Some(said)) if message.ends_with(said) => Ok(()),
            (Some(field), Some(detail)) => write!(message, "\n  {field}: {detail}"),
            _ => write!(message, "\n  {error}"),
        };
    }
    let mut failure = Failure::new(Exit::of_status(status), message);
    failure.hint = remedy(status, retry_after, failure_code(&problem));
    failure.problem = Some(problem);
    failure
}

/// Whether a read model has not come as far as was asked.
fn is_late(problem: &Value) -> bool {
    matches!(failure_code(problem), "not_reached" | "projection_halted")
}

/// The code of a problem, by which it is known.
fn failure_code(problem: &Value) -> &str {
    problem["code"].as_str().unwrap_or_default()
}

fn remedy(status: u16, retry_after: Option<u64>, code: &str) -> Option<String> {
    let seconds = retry_after.map(|seconds| format!(" in {seconds} s")).unwrap_or_default();
    match status {
        401 => Some(
            "show a token with --token or WEIR_TOKEN; the first one was printed by the first \
             `weir up`, and kept in the file `credentials` of its data directory"
                .to_owned(),
        ),
        // What is refused whoever asks is not helped by another token, and its words say what does.
        403 if code != "missing_scope" => None,
        403 => Some("use a token with the scope it needs; `weir token ls` shows scopes".to_owned()),
        429 if code == "portal_quota" => {
            Some("the next cycle has new ones; `weir nexus show` says when it begins".to_owned())
        }
        429 | 503 => Some(format!("try again{seconds}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_token_is_shown_on_this_machine_only() {
        let named =
            |server: Option<&str>| ServerArgs { server: server.map(str::to_owned), token: None };
        let ours =
            |server: Option<&str>, base: &str| is_ours(&named(server), &Url::parse(base).unwrap());
        assert!(ours(None, "https://weir.example/"));
        assert!(ours(Some("x"), "http://127.0.0.1:7400/"));
        assert!(ours(Some("x"), "http://[::1]:7400/"));
        assert!(ours(Some("x"), "http://localhost:7400/"));
        assert!(!ours(Some("x"), "https://weir.example/"));
        assert!(!ours(Some("x"), "http://127.0.0.1.weir.example/"));
    }

    #[test]
    fn a_problem_is_told_with_its_detail_and_what_to_do() {
        let body = br#"{"title":"Too many requests","detail":"10 failures","status":429}"#;
        let failure = problem(429, Some(30), body);
        assert_eq!(failure.message, "Too many requests: 10 failures");
        assert_eq!(failure.hint.as_deref(), Some("try again in 30 s"));
        assert_eq!(failure.exit, Exit::RetryLater);
        assert_eq!(failure.problem.unwrap()["status"], 429);
    }

    #[test]
    fn another_token_is_told_of_only_where_it_helps() {
        for (code, helps) in [("missing_scope", true), ("portal_domain_blocked", false)] {
            let body = format!(r#"{{"title":"No","status":403,"code":"{code}"}}"#);
            assert_eq!(problem(403, None, body.as_bytes()).hint.is_some(), helps, "{code}");
        }
        let body = br#"{"title":"Used up","status":429,"code":"portal_quota"}"#;
        let hint = problem(429, Some(1), body).hint.unwrap_or_default();
        assert!(hint.contains("next cycle"), "{hint}");
    }

    #[test]
    fn the_fields_that_are_wrong_are_listed() {
        let body = br#"{"title":"Bad request","errors":[{"field":"mask","detail":"unknown"}]}"#;
        let failure = problem(400, None, body);
        assert_eq!(failure.message, "Bad request\n  mask: unknown");
        assert_eq!(failure.exit, Exit::Usage);
    }

    #[test]
    fn something_that_is_no_weir_is_noticed() {
        let failure = problem(502, None, b"<html>Bad gateway</html>");
        assert_eq!(failure.exit, Exit::RetryLater);
        assert!(failure.message.contains("502"), "{}", failure.message);
    }
}
