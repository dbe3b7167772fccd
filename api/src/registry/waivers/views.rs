//! Waivers as they are shown.

use serde::Serialize;
use utoipa::ToSchema;
use weir_aggregates::waiver::Known;
use weir_events::{
    envelope::Recorded,
    position::Position,
    registry::{Ecosystem, policy::Waiver},
    timestamp::Timestamp,
};
use weir_projections::registry::waivers::{State, WaiverRow};

/// Waivers, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WaiverPage {
    pub(super) waivers: Vec<WaiverView>,
    /// Where the list goes on.
    pub(super) next: Option<String>,
}

/// A waiver, and who did what to it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WaiverView {
    /// Its id (UUID version 7).
    id: String,
    /// `waiting` (for a second person), `granted`, `revoked` or `expired`.
    #[schema(value_type = String)]
    state: State,
    /// The ecosystem it is about.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters.
    package: String,
    /// A version constraint in the ecosystem's own syntax; `*` is every version.
    versions: String,
    /// The rules and advisories that do not count, by id; none: everything but malware.
    waives: Vec<String>,
    /// The id of the one token that may pass; none: everybody may.
    token: Option<String>,
    /// Why.
    reason: String,
    /// Who answers for it.
    owner: String,
    /// When it ends.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// The event that made it what it is.
    #[schema(value_type = i64)]
    position: Position,
    /// Who asked for it.
    requested_by: String,
    /// When that was.
    #[schema(value_type = String, format = DateTime)]
    requested_at: Timestamp,
    /// Who said yes.
    granted_by: Option<String>,
    /// When that was.
    #[schema(value_type = Option<String>, format = DateTime)]
    granted_at: Option<Timestamp>,
    /// Who took it back.
    ended_by: Option<String>,
    /// When it was taken back, or recorded as over.
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
    /// Why it was taken back.
    end_reason: Option<String>,
}

impl WaiverView {
    /// What a request left behind, as its event says.
    pub(super) fn begun(known: Known<Waiver>, recorded: &Recorded) -> Self {
        let Known { waiver, requested_by, granted_by } = known;
        let (at, position) = (recorded.recorded_at, recorded.position);
        let state = if granted_by.is_some() { State::Granted } else { State::Waiting };
        Self::from(WaiverRow {
            waiver,
            state,
            first_position: position,
            position,
            requested_by,
            requested_at: at,
            granted_at: granted_by.as_ref().map(|_| at),
            granted_by,
            ended_by: None,
            ended_at: None,
            end_reason: None,
        })
    }
}

impl From<WaiverRow> for WaiverView {
    fn from(row: WaiverRow) -> Self {
        let Waiver { id, ecosystem, package, versions, waives, token, reason, owner, expires_at } =
            row.waiver;
        Self {
            id,
            state: row.state,
            ecosystem,
            package,
            versions,
            waives,
            token,
            reason,
            owner,
            expires_at,
            position: row.position,
            requested_by: row.requested_by,
            requested_at: row.requested_at,
            granted_by: row.granted_by,
            granted_at: row.granted_at,
            ended_by: row.ended_by,
            ended_at: row.ended_at,
            end_reason: row.end_reason,
        }
    }
}
