//! All events of one first cause: which they are is a read model's knowledge, what they say is the
//! log's.

use weir_events::{
    envelope::{EventView, Recorded},
    position::Position,
};
use weir_log::Log;
use weir_projections::log::causation::{self, MAX_CHAIN};

use super::Chain;
use crate::{problem::Problem, state::ApiState, wait};

/// What knows which they are.
pub(super) const MODEL: &str = "causation";
/// Positions this near each other are read at once.
const NEAR: u64 = 64;
/// The most events read at once.
const AT_ONCE: usize = 1_000;

/// The chain an event stands in.
pub(super) async fn of(state: &ApiState, event: &Recorded) -> Result<Chain, Problem> {
    let correlation_id = event.meta()?.correlation_id;
    wait::reached(state, MODEL, event.position).await?;
    let links = causation::chain(state.database(), event.position).await?;
    let positions: Vec<Position> = links.iter().map(|link| link.position).collect();
    let mut events = Vec::with_capacity(positions.len());
    for stretch in stretches(&positions) {
        read(state.log(), stretch, &mut events).await?;
    }
    Ok(Chain { correlation_id, events, truncated: MAX_CHAIN <= positions.len() })
}

/// Positions in order, cut where the next one is far off.
fn stretches(positions: &[Position]) -> impl Iterator<Item = &[Position]> {
    positions
        .chunk_by(|one, next| one.distance_to(*next) <= NEAR)
        .flat_map(|near| near.chunks(AT_ONCE / usize::try_from(NEAR).unwrap_or(1)))
}

async fn read(
    log: &Log,
    positions: &[Position],
    events: &mut Vec<EventView>,
) -> Result<(), Problem> {
    let (Some(first), Some(last)) = (positions.first(), positions.last()) else { return Ok(()) };
    let mut at = first.plus(-1);
    // Large events come in several pages.
    while at < *last {
        let n_left = usize::try_from(at.distance_to(*last)).unwrap_or(AT_ONCE);
        let page = log.read(at, n_left).await?;
        let Some(end) = page.last().map(|event| event.position) else { break };
        let wanted = page.iter().filter(|event| positions.binary_search(&event.position).is_ok());
        events.extend(wanted.map(|event| EventView::from(&**event)));
        at = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_near_is_read_at_once_and_never_too_much() {
        let positions: Vec<Position> = [1, 2, 60, 200, 201].map(Position).to_vec();
        let cut: Vec<&[Position]> = stretches(&positions).collect();
        assert_eq!(cut, [&positions[..3], &positions[3..]]);
        let sparse: Vec<Position> = (0..1_000).map(|n| Position(n * 64)).collect();
        let n_read: Vec<u64> =
            stretches(&sparse).map(|s| s[0].distance_to(s[s.len() - 1]) + 1).collect();
        assert!(n_read.iter().all(|n| *n <= AT_ONCE as u64), "{n_read:?}");
        assert_eq!(stretches(&sparse).map(<[_]>::len).sum::<usize>(), sparse.len());
        assert_eq!(stretches(&[]).count(), 0);
    }
}
