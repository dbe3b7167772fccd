//! Reading one's own writes: `?min_position=N` waits until what is read is at least so new, bounded.

use std::time::Duration;

use weir_events::position::Position;
use weir_projections::engine::wait::WaitFault;

use crate::{
    ask::Params,
    problem::{Problem, table::NOT_REACHED},
    state::ApiState,
};

/// Longer than this nobody is kept waiting for a position.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until a read model has passed the position that was asked for, if one was.
pub async fn projection(
    state: &ApiState,
    name: &'static str,
    params: &mut Params,
) -> Result<(), Problem> {
    match params.take("min_position")?.map(Position) {
        Some(wanted) => reached(state, name, wanted).await,
        None => Ok(()),
    }
}

/// Waits until a read model has passed a position.
pub(crate) async fn reached(
    state: &ApiState,
    name: &'static str,
    wanted: Position,
) -> Result<(), Problem> {
    let reached: Result<Position, WaitFault> =
        state.engine().wait_for(name, wanted, PATIENCE).await;
    Ok(reached.map(drop)?)
}

/// Checks that the log itself has reached the position that was asked for, if one was. Events are
/// read from where they are written, so there is nothing to wait for.
pub async fn log(state: &ApiState, params: &mut Params) -> Result<(), Problem> {
    let Some(wanted) = params.take("min_position")?.map(Position) else { return Ok(()) };
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
