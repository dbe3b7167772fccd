//! Where a token stands in a request: Bearer, the password of Basic, or the session cookie.

use base64::{Engine, prelude::BASE64_STANDARD};
use http::{
    HeaderMap,
    header::{AUTHORIZATION, COOKIE},
};

use crate::problem::{Problem, table::UNAUTHENTICATED};

/// The name of the session cookie.
const COOKIE_NAME: &str = "weir_session";

/// A token, and where it stood. Never printed by accident.
pub(super) struct Credential {
    token: String,
    from_cookie: bool,
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.from_cookie { "Credential(cookie)" } else { "Credential(header)" })
    }
}

impl Credential {
    /// The token of a request, if it has one. What a program says in `authorization` goes before
    /// what a browser sends by itself.
    pub(super) fn of(headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        if let Some(explicit) = Self::explicit(headers)? {
            return Ok(Some(explicit));
        }
        let cookies = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let token = cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, _)| *name == COOKIE_NAME)
            .map(|(_, token)| token.to_owned());
        Ok(token.map(|token| Self { token, from_cookie: true }))
    }

    /// The token in `authorization`, if there is one.
    pub(super) fn explicit(headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        let Some(value) = headers.get(AUTHORIZATION) else { return Ok(None) };
        let token = value.to_str().ok().and_then(token_of).ok_or_else(|| {
            let detail = "`authorization` is neither `Bearer <token>` nor `Basic` with the token \
                          as password";
            Problem::new(&UNAUTHENTICATED, detail)
        })?;
        Ok(Some(Self { token, from_cookie: false }))
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) const fn is_cookie(&self) -> bool {
        self.from_cookie
    }
}

fn token_of(value: &str) -> Option<String> {
    let (scheme, rest) = value.trim().split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return (!rest.is_empty()).then(|| rest.to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(rest).ok()?).ok()?;
    let (_anybody, password) = decoded.split_once(':')?;
    Some(password.to_owned())
}

/// The cookie that opens a session, or, without a token, ends it.
pub(crate) fn session_cookie(token: Option<&str>, max_age: Option<i64>, secure: bool) -> String {
    let value = token.unwrap_or_default();
    let max_age = if token.is_none() { Some(0) } else { max_age };
    let max_age = max_age.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    let secure = if secure { "; Secure" } else { "" };
    format!("{COOKIE_NAME}={value}; Path=/; HttpOnly; SameSite=Strict{max_age}{secure}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    fn found(lines: &[(&'static str, &str)]) -> Option<(String, bool)> {
        let credential = Credential::of(&headers(lines)).unwrap()?;
        Some((credential.token().to_owned(), credential.is_cookie()))
    }

    #[test]
    fn a_token_is_found_wherever_clients_can_send_it() {
        let bearer = |token: &str| Some((token.to_owned(), false));
        assert_eq!(found(&[("authorization", "Bearer rf_1")]), bearer("rf_1"));
        assert_eq!(found(&[("authorization", "bearer  rf_1 ")]), bearer("rf_1"));
        let basic = format!("Basic {}", BASE64_STANDARD.encode("__token__:rf_1:x"));
        assert_eq!(found(&[("authorization", &basic)]), bearer("rf_1:x"));
        let cookie = found(&[("cookie", "theme=dark; weir_session=rf_1")]);
        assert_eq!(cookie, Some(("rf_1".to_owned(), true)));
        assert_eq!(found(&[("cookie", "weir_session_2=x; other=y")]), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn what_a_program_says_goes_before_the_cookie() {
        let both = found(&[("cookie", "weir_session=rf_1"), ("authorization", "Bearer rf_2")]);
        assert_eq!(both, Some(("rf_2".to_owned(), false)));
    }

    #[test]
    fn an_authorization_nobody_can_read_is_not_passed_over() {
        let not_text = format!("Basic {}", BASE64_STANDARD.encode([0xff, b':', 0xfe]));
        for bad in ["Bearer", "Bearer ", "Basic !", "Basic YQ==", "Digest x", "rf_1", &not_text] {
            let refused = Credential::of(&headers(&[("authorization", bad)])).unwrap_err();
            assert_eq!(refused.status(), 401, "{bad}");
        }
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        assert_eq!(
            session_cookie(Some("rf_1"), Some(60), true),
            "weir_session=rf_1; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure"
        );
        assert_eq!(
            session_cookie(None, None, false),
            "weir_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
        );
    }

    #[test]
    fn a_token_is_not_printed() {
        let credential = Credential { token: "rf_secret".to_owned(), from_cookie: true };
        assert_eq!(format!("{credential:?}"), "Credential(cookie)");
    }
}
