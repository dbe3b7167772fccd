//! Where a credential stands in a request: a token in `authorization` (Bearer, the password of Basic,
//! or alone, as cargo sends it), or a browser's session in its cookie.

use base64::{Engine, prelude::BASE64_STANDARD};
use http::{
    HeaderMap,
    header::{AUTHORIZATION, COOKIE},
};

use crate::problem::{Problem, table::UNAUTHENTICATED};

/// The name of the session cookie, over TLS and without. Browsers let nobody but this very host,
/// over TLS, set a cookie of the first name.
const COOKIE_NAMES: [&str; 2] = ["__Host-weir_session", "weir_session"];

/// The name of the session cookie on this kind of connection; the other one means nothing there.
const fn cookie_name(https: bool) -> &'static str {
    let [over_tls, plain] = COOKIE_NAMES;
    if https { over_tls } else { plain }
}

/// What somebody shows to be let in. Never printed by accident.
pub(super) enum Credential {
    /// A token, as programs send it.
    Token(String),
    /// The secret of a session, as a browser sends it by itself.
    Session(String),
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Token(_) => "Token",
            Self::Session(_) => "Session",
        })
    }
}

impl Credential {
    /// The credential of a request, if it has one. What a program says in `authorization` goes
    /// before what a browser sends by itself.
    pub(super) fn of(headers: &HeaderMap, https: bool) -> Result<Option<Self>, Problem> {
        let token = token(headers)?.map(Self::Token);
        Ok(token.or_else(|| session(headers, https).map(Self::Session)))
    }
}

/// The token in `authorization`, if there is one.
pub(super) fn token(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(None) };
    let token = value.to_str().ok().and_then(token_of).ok_or_else(|| {
        let detail = "`authorization` is neither `Bearer <token>`, nor `Basic` with the token \
                      as password, nor a token alone";
        Problem::new(&UNAUTHENTICATED, detail)
    })?;
    Ok(Some(token))
}

/// The secret of the session in the cookie, if there is one.
pub(crate) fn session(headers: &HeaderMap, https: bool) -> Option<String> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == cookie_name(https))
        .map(|(_, secret)| secret.to_owned())
}

fn token_of(value: &str) -> Option<String> {
    let value = value.trim();
    let Some((scheme, rest)) = value.split_once(' ') else {
        return value.starts_with("rf_").then(|| value.to_owned());
    };
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

/// The cookie that keeps a session for so many seconds, or, without one, takes it away.
pub(crate) fn session_cookie(session: Option<(&str, i64)>, https: bool) -> String {
    let (name, (secret, seconds)) = (cookie_name(https), session.unwrap_or_default());
    let secure = if https { "; Secure" } else { "" };
    format!("{name}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
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

    fn found(lines: &[(&'static str, &str)]) -> Option<(&'static str, String)> {
        Some(match Credential::of(&headers(lines), false).unwrap()? {
            Credential::Token(token) => ("token", token),
            Credential::Session(secret) => ("session", secret),
        })
    }

    #[test]
    fn a_token_is_found_wherever_programs_can_send_it() {
        let token = |token: &str| Some(("token", token.to_owned()));
        assert_eq!(found(&[("authorization", "Bearer rf_1")]), token("rf_1"));
        assert_eq!(found(&[("authorization", "bearer  rf_1 ")]), token("rf_1"));
        assert_eq!(found(&[("authorization", " rf_1")]), token("rf_1"));
        let basic = format!("Basic {}", BASE64_STANDARD.encode("__token__:rf_1:x"));
        assert_eq!(found(&[("authorization", &basic)]), token("rf_1:x"));
        let cookie = found(&[("cookie", "theme=dark; weir_session=s1")]);
        assert_eq!(cookie, Some(("session", "s1".to_owned())));
        assert_eq!(found(&[("cookie", "weir_session_2=x; other=y")]), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn what_a_program_says_goes_before_the_cookie() {
        let both = found(&[("cookie", "weir_session=s1"), ("authorization", "Bearer rf_2")]);
        assert_eq!(both, Some(("token", "rf_2".to_owned())));
    }

    #[test]
    fn over_tls_only_the_cookie_counts_that_nobody_else_can_set() {
        let both = headers(&[("cookie", "weir_session=laid; __Host-weir_session=own")]);
        assert_eq!(session(&both, true).as_deref(), Some("own"));
        assert_eq!(session(&both, false).as_deref(), Some("laid"));
        assert_eq!(session(&headers(&[("cookie", "weir_session=laid")]), true), None);
    }

    #[test]
    fn an_authorization_nobody_can_read_is_not_passed_over() {
        let not_text = format!("Basic {}", BASE64_STANDARD.encode([0xff, b':', 0xfe]));
        for bad in ["Bearer", "Bearer ", "Basic !", "Basic YQ==", "Digest x", "xx_1", &not_text] {
            let refused = Credential::of(&headers(&[("authorization", bad)]), false).unwrap_err();
            assert_eq!(refused.status(), 401, "{bad}");
        }
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        assert_eq!(
            session_cookie(Some(("s1", 60)), true),
            "__Host-weir_session=s1; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure"
        );
        assert_eq!(
            session_cookie(None, false),
            "weir_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
        );
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Credential::Token("rf_secret".to_owned())), "Token");
        assert_eq!(format!("{:?}", Credential::Session("secret".to_owned())), "Session");
    }
}
