//! Tokens of an upstream that wants to see one for each repository: fetched where its challenge says,
//! kept until they expire.
//!
//! Follows the distribution specification's token authentication, as far as reading needs it.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use http::{HeaderMap, HeaderValue, Method, StatusCode, header::WWW_AUTHENTICATE};
use reqwest::Url;
use serde::Deserialize;

use super::{Ask, Encoding, Outbound, OutboundFault, Reach, Trail};

/// The largest answer with a token.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

/// How long a token may be in coming.
const BOUND: Duration = Duration::from_secs(15);

/// How many tokens are kept.
const MAX_KEPT: usize = 4_096;

/// How long a token is good where its answer does not say.
const DEFAULT_SECONDS: u64 = 60;

/// The longest time a token is kept, whatever its answer says.
const MAX_SECONDS: u64 = 3_600;

/// How long before its end a token is no longer used.
const MARGIN_SECONDS: u64 = 5;

/// There is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenFault {
    /// The challenge names no address.
    #[error("`{0}`, where the upstream says that its tokens are, is no address")]
    Realm(String),
    /// It could not be asked for.
    #[error(transparent)]
    Outbound(#[from] OutboundFault),
    /// It was refused.
    #[error("`{realm}` answers {status} instead of a token")]
    Status {
        /// Where it was asked for.
        realm: String,
        /// The status.
        status: StatusCode,
    },
    /// The answer holds none.
    #[error("`{0}` answers without a token that can be sent")]
    Unreadable(String),
}

/// What an upstream says of its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// Where they are.
    pub realm: String,
    /// Whom they are for.
    pub service: Option<String>,
}

impl Challenge {
    /// The first challenge that asks for a token.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let lines = headers.get_all(WWW_AUTHENTICATE).into_iter();
        lines.filter_map(|line| line.to_str().ok()).find_map(Self::parse)
    }

    /// Reads `Bearer realm="…",service="…"`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, mut rest) = text.trim().split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut service) = (None, None);
        loop {
            rest = rest.trim_start_matches([' ', ',', '\t']);
            let Some((name, value)) = rest.split_once('=') else { break };
            let value = value.trim_start();
            let (value, after) = match value.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"')?,
                None => value.split_once(',').unwrap_or((value, "")),
            };
            match name.trim().to_ascii_lowercase().as_str() {
                "realm" => realm = Some(value.to_owned()),
                "service" => service = Some(value.to_owned()),
                _ => {}
            }
            rest = after;
        }
        Some(Self { realm: realm?, service })
    }
}

/// The tokens of one upstream.
#[derive(Debug)]
pub struct Tokens {
    /// The path below which repositories lie: `/v2/`.
    base: String,
    kept: Mutex<HashMap<String, Kept>>,
    /// One at a time: who waited looks first whether another one got it.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Kept {
    /// Marked as sensitive: not shown by `Debug`.
    value: HeaderValue,
    until: Instant,
}

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<u64>,
}

impl Tokens {
    /// None yet, for the repositories below a path.
    #[must_use]
    pub fn below(base: impl Into<String>) -> Self {
        let (kept, renewing) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { base: base.into(), kept, renewing }
    }

    /// What a token for an address must be good for: to pull from its repository.
    pub(super) fn scope_of(&self, url: &Url) -> Option<String> {
        let mut parts = url.path().strip_prefix(&self.base)?.rsplitn(3, '/');
        let (_, _, name) = (parts.next()?, parts.next()?, parts.next()?);
        Some(format!("repository:{name}:pull"))
    }

    /// The token for a scope, while it is good.
    pub(super) fn kept(&self, scope: &str) -> Option<HeaderValue> {
        let kept = self.all();
        let kept = kept.get(scope).filter(|kept| Instant::now() < kept.until)?;
        Some(kept.value.clone())
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches a token in the place of one that is good no more.
    pub(super) async fn renew(
        &self,
        outbound: &Outbound,
        reach: &Reach,
        challenge: &Challenge,
        scope: &str,
        old: Option<&HeaderValue>,
    ) -> Result<(), TokenFault> {
        let _turn = self.renewing.lock().await;
        if self.kept(scope).is_some_and(|kept| Some(&kept) != old) {
            return Ok(());
        }
        self.all().remove(scope);
        let mut realm = Url::parse(&challenge.realm)
            .map_err(|_| TokenFault::Realm(challenge.realm.chars().take(200).collect()))?;
        let shown = realm.to_string();
        realm.query_pairs_mut().append_pair("scope", scope);
        if let Some(service) = &challenge.service {
            realm.query_pairs_mut().append_pair("service", service);
        }
        let reach = reach.of_tokens(&realm);
        let trail = Trail::default();
        let ask = Ask {
            method: Method::GET,
            url: realm,
            reach: &reach,
            encoding: Encoding::Decoded,
            headers: HeaderMap::new(),
            trail: &trail,
        };
        let page = outbound.page(ask, MAX_ANSWER_BYTES, BOUND).await?;
        if page.status != StatusCode::OK {
            return Err(TokenFault::Status { realm: shown, status: page.status });
        }
        let answer: Option<Answer> = serde_json::from_slice(&page.body).ok();
        let seconds = answer.as_ref().and_then(|answer| answer.expires_in);
        let token = answer.and_then(|answer| answer.token.or(answer.access_token));
        let value = token.and_then(|token| HeaderValue::try_from(format!("Bearer {token}")).ok());
        let mut value = value.ok_or(TokenFault::Unreadable(shown))?;
        value.set_sensitive(true);
        let seconds = seconds.unwrap_or(DEFAULT_SECONDS).clamp(2 * MARGIN_SECONDS, MAX_SECONDS);
        let until = Instant::now() + Duration::from_secs(seconds - MARGIN_SECONDS);
        let mut kept = self.all();
        if kept.len() >= MAX_KEPT {
            let now = Instant::now();
            kept.retain(|_, kept| now < kept.until);
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
        }
        kept.insert(scope.to_owned(), Kept { value, until });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_says_where_tokens_are() {
        let of = |text| Challenge::parse(text).map(|found| (found.realm, found.service));
        let both = Some(("https://auth.example/token".to_owned(), Some("reg".to_owned())));
        assert_eq!(
            of(r#"Bearer realm="https://auth.example/token",service="reg",scope="a:b,c""#),
            both
        );
        assert_eq!(of(r#"bearer service=reg, realm="https://auth.example/token""#), both);
        for nothing in
            ["Basic realm=\"x\"", "Bearer", "Bearer service=\"x\"", "Bearer realm=\"x", ""]
        {
            assert_eq!(of(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_token_is_for_one_repository() {
        let tokens = Tokens::below("/mirror/v2/");
        let scope = |url: &str| tokens.scope_of(&Url::parse(url).unwrap());
        let found = scope("https://r.example/mirror/v2/library/x/manifests/latest?x=/y");
        assert_eq!(found.as_deref(), Some("repository:library/x:pull"));
        assert_eq!(scope("https://r.example/mirror/v2/"), None);
        assert_eq!(scope("https://r.example/v2/library/x/manifests/latest"), None);
    }
}
