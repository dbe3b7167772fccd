//! YAML as lock files use it: no anchors, and bounds for everything.

use serde::Deserialize;

use super::{CheckFault, Kind, MAX_ENTRIES, MAX_TEXT_BYTES, unreadable};

/// What one entry costs in the reader: its maps, its keys and its values.
const NODES_AN_ENTRY: usize = 60;

/// Reads every document of a text.
pub(super) fn documents<'de, T: Deserialize<'de>>(
    kind: Kind,
    text: &'de str,
) -> Result<Vec<T>, CheckFault> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_ENTRIES * NODES_AN_ENTRY,
            max_events: 2 * MAX_ENTRIES * NODES_AN_ENTRY,
            max_depth: 16,
            max_documents: 8,
            max_aliases: 0,
            max_anchors: 0,
            max_merge_keys: 0,
            max_total_scalar_bytes: MAX_TEXT_BYTES,
        },
    };
    serde_saphyr::from_multiple_with_options(text, options).map_err(|fault| {
        let place = fault.location().map(|at| format!("line {}: ", at.line()));
        let words = fault.without_snippet().to_string();
        unreadable(kind, &format!("{}{words}", place.unwrap_or_default()))
    })
}
