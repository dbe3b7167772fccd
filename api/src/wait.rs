//! Reading one's own writes: `?min_position=N` waits until what is read is at least so new, bounded;
//! `?min_position=head` until it has all that is recorded by now, whoever wrote it.

use std::{str::FromStr, time::Duration};

use tokio::time::{Instant, timeout_at};

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        KnownFormat, RefOr, Schema, SchemaFormat,
        schema::{ObjectBuilder, OneOfBuilder, Type},
    },
};
use weir_events::position::Position;
use weir_projections::engine::wait::WaitFault;

use crate::{
    ask::Params,
    problem::{Problem, table::NOT_REACHED},
    state::ApiState,
};

/// Longer than this nobody is kept waiting for a position.
const PATIENCE: Duration = Duration::from_secs(5);

/// How new an answer has to be: a position in the log, or `head` for all that is recorded by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MinPosition {
    /// It has all up to here.
    At(i64),
    /// It has all that was recorded when the question came.
    Head,
}

impl PartialSchema for MinPosition {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::Int64);
        let position = ObjectBuilder::new().schema_type(Type::Integer).format(Some(format));
        let head = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["head"]));
        let words = "A position in the log, or `head` for all that is recorded by now";
        OneOfBuilder::new().item(position).item(head).description(Some(words)).into()
    }
}

impl ToSchema for MinPosition {}

impl FromStr for MinPosition {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "head" => Ok(Self::Head),
            position => {
                position.parse().map(Self::At).map_err(|_| "it is a position in the log, or `head`")
            }
        }
    }
}

/// Waits until a read model has passed the position that was asked for, if one was.
pub async fn projection(
    state: &ApiState,
    name: &'static str,
    params: &mut Params,
) -> Result<(), Problem> {
    let deadline = Instant::now() + PATIENCE;
    let wanted = match params.take("min_position")? {
        None => return Ok(()),
        Some(MinPosition::At(position)) => Position(position),
        // The database says it: what another instance recorded may not have been heard of here.
        Some(MinPosition::Head) => {
            let Ok(head) = timeout_at(deadline, state.log().ask_head()).await else {
                let detail = "the log did not say in time where it ends";
                return Err(Problem::new(&NOT_REACHED, detail).retry_after(1));
            };
            head?.position
        }
    };
    reached_by(state, name, wanted, deadline).await
}

/// Waits until a read model has passed a position.
pub(crate) async fn reached(
    state: &ApiState,
    name: &'static str,
    wanted: Position,
) -> Result<(), Problem> {
    reached_by(state, name, wanted, Instant::now() + PATIENCE).await
}

async fn reached_by(
    state: &ApiState,
    name: &'static str,
    wanted: Position,
    deadline: Instant,
) -> Result<(), Problem> {
    let left = deadline.saturating_duration_since(Instant::now());
    let reached: Result<Position, WaitFault> = state.engine().wait_for(name, wanted, left).await;
    Ok(reached.map(drop)?)
}

/// Checks that the log itself has reached the position that was asked for, if one was. Events are
/// read from where they are written, so there is nothing to wait for.
pub async fn log(state: &ApiState, params: &mut Params) -> Result<(), Problem> {
    let Some(MinPosition::At(wanted)) = params.take("min_position")? else { return Ok(()) };
    let wanted = Position(wanted);
    if wanted <= state.log().head() {
        return Ok(());
    }
    let head = state.log().ask_head().await?.position;
    if wanted <= head {
        return Ok(());
    }
    let detail = format!("the log stands at {head}, before {wanted}");
    Err(Problem::new(&NOT_REACHED, detail).retry_after(1))
}
