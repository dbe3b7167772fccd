//! Waivers over HTTP, whatever they are about: how one is asked for, granted by a second person and
//! taken back. What one says, and how it is shown, is for those who have the routes.
//!
//! A person is the name of a principal. Two tokens of one name are one person, so nobody is the
//! second one to their own request; who may issue tokens can make up names, and stands in the log
//! with that.

use serde::Deserialize;
use utoipa::ToSchema;
use weir_aggregates::waiver::{Change, Command, Keeps, Known, Refusal};
use weir_events::{
    position::{Position, StreamVersion},
    stream::StreamName,
    timestamp::Timestamp,
};
use weir_processors::{
    caller::Caller,
    door::{Executed, IdempotencyKey},
};

use crate::{
    answer::Done,
    ask::{Ask, Nothing},
    problem::{
        Problem,
        table::{NO_SUCH_WAIVER, SECOND_PERSON, WAIVER_EXISTS, WAIVER_REFUSED},
    },
    state::ApiState,
};

const SECONDS_A_DAY: i64 = 86_400;

/// Waivers of a kind, and who in this process goes by them.
pub(crate) trait Live: Keeps<Refusal: Into<Problem>> {
    /// Waits until this instance goes by what stands at a position.
    fn go_by(
        state: &ApiState,
        position: Position,
    ) -> impl Future<Output = Result<(), Problem>> + Send;
}

/// Why a waiver is taken back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaiverRevocation {
    /// Why: 1 to 300 characters.
    reason: String,
}

/// When a waiver ends: at a time, or in a number of days.
pub(crate) fn end(
    at: Option<Timestamp>,
    days: Option<u16>,
    now: Timestamp,
) -> Result<Timestamp, Problem> {
    match (at, days) {
        (Some(at), None) => Ok(at),
        (None, Some(days)) => Ok(now.plus_seconds(i64::from(days) * SECONDS_A_DAY)),
        (None, None) | (Some(_), Some(_)) => {
            let detail = "say when it ends: either as `expires_at` or in `days`";
            Err(Problem::of_field(&WAIVER_REFUSED, "expires_at", detail))
        }
    }
}

/// Asks for a waiver, and answers with what its event says of it.
pub(crate) async fn request<M: Live>(
    state: &ApiState,
    waiver: M::Waiver,
    second_person: bool,
    caller: &Caller,
    key: Option<IdempotencyKey>,
) -> Result<(Executed<M::Event>, Known<M::Waiver>), Problem> {
    let command = Command::Request { waiver, by: caller.principal.to_string(), second_person };
    let executed = state.door().execute::<M>(&stream::<M>()?, &command, caller, key).await?;
    let begun = executed.events.iter().find_map(|event| match M::change(event) {
        Some(Change::Stands(known)) => Some(known),
        _ => None,
    });
    let known = begun.ok_or_else(missing)?;
    Ok((executed, known))
}

/// Grants what somebody else asked for.
pub(crate) async fn grant<M: Live, N>(
    state: &ApiState,
    id: String,
    Ask { caller, key, .. }: Ask<N, Nothing>,
) -> Result<Done<()>, Problem> {
    let command = Command::Grant { id, by: caller.principal.to_string() };
    let executed = state.door().execute::<M>(&stream::<M>()?, &command, &caller, key).await?;
    in_force::<M>(state, &executed).await?;
    Ok(Done::silently(&executed))
}

/// Takes a waiver back, or says no to one that waits.
pub(crate) async fn revoke<M: Live, N>(
    state: &ApiState,
    id: String,
    Ask { body: WaiverRevocation { reason }, caller, key, .. }: Ask<N, WaiverRevocation>,
) -> Result<Done<()>, Problem> {
    let command = Command::Revoke { id, by: caller.principal.to_string(), reason };
    let executed = state.door().execute::<M>(&stream::<M>()?, &command, &caller, key).await?;
    in_force::<M>(state, &executed).await?;
    Ok(Done::silently(&executed))
}

/// Waits until this instance goes by what a command left behind, also where somebody else was
/// quicker to do the same.
pub(crate) async fn in_force<M: Live>(
    state: &ApiState,
    executed: &Executed<M::Event>,
) -> Result<(), Problem> {
    let position = if executed.events.is_empty() {
        let stream = stream::<M>()?;
        let (_, version) = state.door().load::<M>(&stream).await?;
        let before = StreamVersion(version.0.saturating_sub(1));
        let last = state.log().read_stream(&stream, before, 1).await?;
        last.last().map_or(executed.position, |event| event.position)
    } else {
        executed.position
    };
    M::go_by(state, position).await
}

/// The stream that a kind of waivers stands in.
pub(crate) fn stream<M: Live>() -> Result<StreamName, Problem> {
    StreamName::new(M::STREAM).map_err(|fault| Problem::internal(&fault))
}

/// A waiver was recorded, and its event is not there.
pub(crate) fn missing() -> Problem {
    Problem::internal(&std::io::Error::other("a waiver without its event"))
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        let field = match refusal {
            Refusal::Unknown(_) | Refusal::BadId(_) => return Self::new(&NO_SUCH_WAIVER, words),
            Refusal::DuplicateId(_) => return Self::new(&WAIVER_EXISTS, words),
            Refusal::SamePerson(_) => return Self::new(&SECOND_PERSON, words),
            Refusal::TooMany | Refusal::NotYet(_) => return Self::new(&WAIVER_REFUSED, words),
            Refusal::BadWords => "reason",
            Refusal::BadTime => "expires_at",
        };
        Self::of_field(&WAIVER_REFUSED, field, words)
    }
}
