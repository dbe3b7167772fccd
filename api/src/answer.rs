//! What a command is answered with: the status, the position it left behind, and whether it is the
//! first answer said again.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use weir_events::position::Position;
use weir_processors::door::Executed;

/// Where the log stood when this was answered, or where a command's own events ended.
pub(crate) const WEIR_POSITION: HeaderName = HeaderName::from_static("weir-position");

const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// A command was carried out.
#[derive(Debug)]
pub struct Done<T> {
    status: StatusCode,
    body: Option<T>,
    position: Position,
    replayed: bool,
}

impl<T> Done<T> {
    /// What came of a command, as the caller is told.
    pub const fn of<E>(executed: &Executed<E>, status: StatusCode, body: T) -> Self {
        let (position, replayed) = (executed.position, executed.replayed);
        Self { status, body: Some(body), position, replayed }
    }
}

impl Done<()> {
    /// What came of a command that has nothing to tell.
    pub const fn silently<E>(executed: &Executed<E>) -> Self {
        let (position, replayed) = (executed.position, executed.replayed);
        Self { status: StatusCode::NO_CONTENT, body: None, position, replayed }
    }
}

impl<T: Serialize> IntoResponse for Done<T> {
    fn into_response(self) -> Response {
        let mut answer = match self.body {
            Some(body) => (self.status, Json(body)).into_response(),
            None => self.status.into_response(),
        };
        answer.headers_mut().insert(WEIR_POSITION, self.position.0.into());
        if self.replayed {
            answer.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_answer_says_so_and_is_else_the_same() {
        let executed =
            |replayed| Executed::<()> { position: Position(7), events: Vec::new(), replayed };
        let first = Done::of(&executed(false), StatusCode::CREATED, "x").into_response();
        let again = Done::of(&executed(true), StatusCode::CREATED, "x").into_response();
        assert_eq!((first.status(), again.status()), (StatusCode::CREATED, StatusCode::CREATED));
        assert_eq!(first.headers()[WEIR_POSITION], "7");
        assert_eq!(again.headers()[WEIR_POSITION], "7");
        assert!(!first.headers().contains_key(IDEMPOTENT_REPLAYED));
        assert_eq!(again.headers()[IDEMPOTENT_REPLAYED], "true");
        assert_eq!(Done::silently(&executed(false)).into_response().status(), 204);
    }
}
