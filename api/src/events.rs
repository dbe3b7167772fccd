//! Events: a page of them, one of them, all that belong together, and the live stream.

mod accept;
mod chain;
mod filter;

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderName};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::{
    envelope::EventView,
    kind::{self, Subsystem},
    position::{Cursor, Position},
};

use self::accept::{Representation, preferred};
use crate::{
    ask::{Params, bad_parameter},
    auth::{By, Watched, needs::EventsRead},
    openapi::EventDoc,
    problem::{
        Problem,
        table::{BAD_CURSOR, CURSOR_OF_ANOTHER_LIFE, NO_SUCH_EVENT},
    },
    sse::{self, Wish},
    state::ApiState,
    wait::{self, MinPosition},
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Events of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (100, 1_000);

/// The routes of events.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(one))
        .routes(routes!(together))
        .routes(routes!(kinds))
}

/// A page of events, the newest last.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventPage {
    /// The events.
    #[schema(value_type = Vec<EventDoc>)]
    events: Vec<EventView>,
    /// Where the log stands.
    #[schema(value_type = i64)]
    head: Position,
    /// The position of the first event of the page.
    #[schema(value_type = Option<i64>)]
    first: Option<Position>,
    /// The position of the last.
    #[schema(value_type = Option<i64>)]
    last: Option<Position>,
}

/// Events that one first cause set off.
#[derive(Debug, Serialize, ToSchema)]
pub struct Chain {
    /// What they have in common.
    correlation_id: uuid::Uuid,
    /// The events, in the order of the log.
    #[schema(value_type = Vec<EventDoc>)]
    events: Vec<EventView>,
    /// Whether there are more than these, which are the first.
    truncated: bool,
}

/// Kinds of events.
#[derive(Debug, Serialize, ToSchema)]
pub struct Kinds {
    kinds: Vec<KindView>,
}

/// A kind of event.
#[derive(Debug, Serialize, ToSchema)]
pub struct KindView {
    /// The code, never reused.
    code: i32,
    /// The name.
    name: &'static str,
    /// The subsystem whose range holds the code.
    subsystem: Option<&'static str>,
    /// The schema version written today.
    schema: i16,
    /// What happened, in one sentence.
    doc: &'static str,
}

/// Reads or follows events
///
/// With `accept: application/json` a page, the newest last: the first `limit` after `after`, else
/// the last `limit` before `before`, else the last `limit` there are.
///
/// With `accept: text/event-stream` a live stream from after `after` (or the header
/// `Last-Event-ID`, which goes before it), else from the head. Blocks: first `retry:` and `id:`;
/// each event with `id: <incarnation>-<position>` and the event as `data:`; `event: heartbeat`
/// every 5 s; `event: resync` when the cursor is not of this log; `event: closing` when the stream
/// ends and the client should connect again.
#[utoipa::path(
    get, path = "/api/events", tag = "events", operation_id = "events",
    params(
        ("after" = Option<String>, Query, description = "A position, or an event's id as the stream gave it"),
        ("before" = Option<i64>, Query, description = "Pages only: events before this position"),
        ("limit" = Option<usize>, Query, description = "Pages only: 1 to 1000, 100 by default"),
        ("stream" = Option<String>, Query, description = "Streams whose names begin so"),
        ("kind" = Option<String>, Query, description = "Names of kinds, separated by commas"),
        ("subsystem" = Option<String>, Query, description = "Names of subsystems, separated by commas"),
        ("principal" = Option<String>, Query, description = "Events in the name of this principal"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
        ("last-event-id" = Option<String>, Header, description = "Streams only: where the client left off"),
    ),
    responses(
        (status = 200, description = "A page, or a stream", content((EventPage = "application/json"), (String = "text/event-stream"))),
        (status = 410, description = "The cursor is older than what is kept, or of another life of the log"),
    ),
)]
async fn list(
    State(state): State<ApiState>,
    watched: Watched<EventsRead>,
    headers: HeaderMap,
    mut params: Params,
) -> Result<Response, Problem> {
    let filter = filter::take(&mut params)?;
    let after = params.take::<Cursor>("after")?;
    match preferred(&headers)? {
        Representation::Stream => {
            let after = last_event_id(&headers)?.or(after);
            wait::log(&state, &mut params).await?;
            params.done()?;
            let Watched { principal, revocations, .. } = watched;
            sse::open(&state, principal, revocations, Wish { after, filter }).await
        }
        Representation::Page => {
            let before = params.take("before")?.map(Position);
            let limit = params.limit(PAGE.0, PAGE.1)?;
            wait::log(&state, &mut params).await?;
            params.done()?;
            let head = state.log().head();
            let before = match (after, before) {
                (None, None) => Some(Position(i64::MAX)),
                (_, before) => before,
            };
            let after = after.map_or(Ok(Position::START), |cursor| in_this_life(&state, cursor))?;
            let events = state.log().page(&filter, after, before, limit).await?;
            let events: Vec<EventView> = events.iter().map(EventView::from).collect();
            let ends = |event: Option<&EventView>| event.map(|event| event.position);
            let (first, last) = (ends(events.first()), ends(events.last()));
            let head = last.map_or(head, |last| head.max(last));
            Ok(Json(EventPage { events, head, first, last }).into_response())
        }
    }
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<Cursor>, Problem> {
    let Some(id) = headers.get(LAST_EVENT_ID).filter(|id| !id.is_empty()) else { return Ok(None) };
    let fault = |what: String| Problem::of_field(&BAD_CURSOR, "last-event-id", what);
    let id = id.to_str().map_err(|fault_| fault(fault_.to_string()))?;
    id.parse()
        .map(Some)
        .map_err(|cursor: weir_events::position::CursorFault| fault(cursor.to_string()))
}

fn in_this_life(state: &ApiState, cursor: Cursor) -> Result<Position, Problem> {
    let life = state.log().incarnation();
    if cursor.incarnation.is_some_and(|other| other != life) {
        let detail = format!("the log lives as {life} now; start again without a cursor");
        return Err(Problem::new(&CURSOR_OF_ANOTHER_LIFE, detail));
    }
    Ok(cursor.position)
}

/// Shows one event
#[utoipa::path(
    get, path = "/api/events/{position}", tag = "events", operation_id = "event",
    params(("position" = i64, Path, description = "Its place in the log"), ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer")),
    responses((status = 200, description = "The event", body = EventDoc)),
)]
async fn one(
    State(state): State<ApiState>,
    _: By<EventsRead>,
    Path(position): Path<String>,
    mut params: Params,
) -> Result<Json<EventView>, Problem> {
    let position = position_of(&position)?;
    wait::log(&state, &mut params).await?;
    params.done()?;
    let event = state.log().event(position).await?.ok_or_else(|| no_event(&state, position))?;
    Ok(Json(EventView::from(&event)))
}

/// Shows all events that one first cause set off
#[utoipa::path(
    get, path = "/api/events/{position}/chain", tag = "events", operation_id = "event_chain",
    params(("position" = i64, Path, description = "The place of any of them"), ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer")),
    responses((status = 200, description = "The events, in the order of the log", body = Chain)),
)]
async fn together(
    State(state): State<ApiState>,
    _: By<EventsRead>,
    Path(position): Path<String>,
    mut params: Params,
) -> Result<Json<Chain>, Problem> {
    let position = position_of(&position)?;
    wait::projection(&state, chain::MODEL, &mut params).await?;
    params.done()?;
    let event = state.log().event(position).await?.ok_or_else(|| no_event(&state, position))?;
    Ok(Json(chain::of(&state, &event).await?))
}

/// Lists the kinds of events
#[utoipa::path(
    get, path = "/api/kinds", tag = "events",
    responses((status = 200, description = "Every kind this build knows", body = Kinds)),
)]
async fn kinds(_: By<EventsRead>, params: Params) -> Result<Json<Kinds>, Problem> {
    params.done()?;
    let view = |info: &'static kind::KindInfo| KindView {
        code: info.code.0,
        name: info.name,
        subsystem: Subsystem::of(info.code).map(Subsystem::as_str),
        schema: info.schema,
        doc: info.doc.trim(),
    };
    Ok(Json(Kinds { kinds: kind::table().map(view).collect() }))
}

pub(crate) fn position_of(text: &str) -> Result<Position, Problem> {
    let position = text.parse().ok().filter(|position| *position >= 0).map(Position);
    let shown = || text.chars().take(40).collect::<String>();
    position.ok_or_else(|| bad_parameter("position", format!("`{}` is no position", shown())))
}

fn no_event(state: &ApiState, position: Position) -> Problem {
    let head = state.log().head();
    Problem::new(&NO_SUCH_EVENT, format!("nothing stands at {position}; the log ends at {head}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_a_number_that_can_be_one() {
        assert_eq!(position_of("42").unwrap(), Position(42));
        for bad in ["", "-1", "x", "1.5", "99999999999999999999"] {
            assert_eq!(position_of(bad).unwrap_err().status(), 400, "{bad}");
        }
    }

    #[test]
    fn the_browsers_own_cursor_is_read_like_any_other() {
        let sent =
            |id: &str| last_event_id(&HeaderMap::from_iter([(LAST_EVENT_ID, id.parse().unwrap())]));
        assert_eq!(sent("42").unwrap().map(|c| c.position), Some(Position(42)));
        assert_eq!(sent("").unwrap(), None);
        assert_eq!(sent("x-42").unwrap_err().kind().code, "bad_cursor");
        assert_eq!(last_event_id(&HeaderMap::new()).unwrap(), None);
    }
}
