//! Accounts: what agents have to pay with, and who gave it to them.

use axum::{
    Json,
    extract::{Path, State},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::mint::{Account, Command, Refusal};
use weir_events::{mint, position::Position, timestamp::Timestamp};
use weir_projections::mint::accounts::{self, AccountRow};

use crate::{
    answer::Done,
    ask::{Ask, Params},
    auth::{
        By,
        needs::{MintRead, MintWrite},
    },
    problem::{
        Problem,
        table::{GRANT_REFUSED, INSUFFICIENT_SPARK, NO_SUCH_ACCOUNT},
    },
    state::ApiState,
    wait::{self, MinPosition},
};

/// The most accounts one answer holds.
const AT_ONCE: usize = 1_000;

/// The longest name of an account, in characters.
const MAX_NAME_CHARS: usize = 80;

/// The routes of accounts.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(grant))
}

/// Accounts, by name.
#[derive(Debug, Serialize, ToSchema)]
pub struct Accounts {
    accounts: Vec<AccountView>,
    /// The name to go on after (`after=`), where there are more.
    next: Option<String>,
}

/// An account, in spark.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountView {
    /// Whose it is; `treasury` is where charges go.
    account: String,
    /// What it has, with what is set aside.
    balance: i64,
    /// What is set aside for requests that are under way.
    reserved: i64,
    /// What it was granted, all in all.
    granted: i64,
    /// What it has paid, without tax; what was paid to it, of the treasury.
    paid: i64,
    /// The tax on that.
    tax: i64,
    /// How many transfers that were.
    n_transfers: i64,
    /// The event that made it what it is.
    #[schema(value_type = i64)]
    position: Position,
    /// When that was.
    #[schema(value_type = String, format = DateTime)]
    changed_at: Timestamp,
}

impl From<AccountRow> for AccountView {
    fn from(row: AccountRow) -> Self {
        let AccountRow { account, balance, reserved, granted, paid, tax, .. } = row;
        let AccountRow { n_transfers, position, changed_at, .. } = row;
        Self { account, balance, reserved, granted, paid, tax, n_transfers, position, changed_at }
    }
}

/// Lists accounts, by name
#[utoipa::path(
    get, path = "/api/mint/accounts", tag = "mint", operation_id = "accounts",
    params(
        ("after" = Option<String>, Query, description = "Go on after this account"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The accounts", body = Accounts)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<MintRead>,
    mut params: Params,
) -> Result<Json<Accounts>, Problem> {
    wait::projection(&state, "accounts", &mut params).await?;
    let after: Option<String> = params.take("after")?;
    params.done()?;
    let rows = accounts::list(state.database(), after.as_deref(), AT_ONCE).await?;
    let full = rows.len() == AT_ONCE;
    let accounts: Vec<AccountView> = rows.into_iter().map(AccountView::from).collect();
    let next = accounts.last().filter(|_| full).map(|last| last.account.clone());
    Ok(Json(Accounts { accounts, next }))
}

/// Shows an account
#[utoipa::path(
    get, path = "/api/mint/accounts/{account}", tag = "mint", operation_id = "account",
    params(
        ("account" = String, Path, description = "The account"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses(
        (status = 200, description = "The account", body = AccountView),
        (status = 404, description = "Nothing was ever granted to it"),
    ),
)]
async fn show(
    State(state): State<ApiState>,
    _: By<MintRead>,
    Path(account): Path<String>,
    mut params: Params,
) -> Result<Json<AccountView>, Problem> {
    wait::projection(&state, "accounts", &mut params).await?;
    params.done()?;
    // Nothing else was ever granted anything, and not every text can be asked for.
    let row =
        if named(&account) { accounts::find(state.database(), &account).await? } else { None };
    let missing = || {
        let shown: String = account.chars().take(MAX_NAME_CHARS).collect();
        Problem::new(&NO_SUCH_ACCOUNT, format!("there is no account `{shown}`"))
    };
    Ok(Json(row.ok_or_else(missing)?.into()))
}

/// Spark for an account.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct GrantRequest {
    /// The account: an agent's id, or any name of letters, digits, `.`, `_` and `-`.
    account: String,
    /// How much.
    amount: u64,
    /// What for: 1 to 500 characters.
    reason: String,
}

/// What was granted.
#[derive(Debug, Serialize, ToSchema)]
pub struct GrantView {
    /// The account.
    account: String,
    /// How much it was granted.
    amount: u64,
    /// What it has now, with what is set aside.
    balance: u64,
    /// What of that is free.
    free: u64,
}

/// Grants spark to an account
#[utoipa::path(
    post, path = "/api/mint/grants", tag = "mint", operation_id = "grant_spark",
    params(("idempotency-key" = Option<String>, Header, description = "Makes a repetition known")),
    request_body = GrantRequest,
    responses(
        (status = 201, description = "What was granted", body = GrantView),
        (status = 422, description = "Nothing, too much, to nobody, or for no reason"),
    ),
)]
async fn grant(
    State(state): State<ApiState>,
    Ask { body, caller, key, .. }: Ask<MintWrite, GrantRequest>,
) -> Result<Done<GrantView>, Problem> {
    let GrantRequest { account, amount, reason } = body;
    let stream = mint::stream(&account).ok().filter(|_| named(&account)).ok_or_else(|| {
        let words = "an account has 1 to 80 letters, digits, `.`, `_` or `-`";
        Problem::of_field(&GRANT_REFUSED, "account", words)
    })?;
    let command = Command::Grant { account: account.clone(), amount, reason };
    let executed = state.door().execute::<Account>(&stream, &command, &caller, key).await?;
    let (known, _) = state.door().load::<Account>(&stream).await?;
    let view = GrantView { account, amount, balance: known.balance, free: known.free() };
    Ok(Done::of(&executed, StatusCode::CREATED, view))
}

fn named(account: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !account.is_empty() && account.len() <= MAX_NAME_CHARS && account.chars().all(plain)
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        match refusal {
            Refusal::Insufficient { .. }
            | Refusal::TooMany
            | Refusal::Over(_)
            | Refusal::Beyond { .. } => Self::new(&INSUFFICIENT_SPARK, words),
            Refusal::BadAmount => Self::of_field(&GRANT_REFUSED, "amount", words),
            Refusal::BadReason => Self::of_field(&GRANT_REFUSED, "reason", words),
            Refusal::Treasury => Self::of_field(&GRANT_REFUSED, "account", words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_a_name_that_a_stream_can_have() {
        for good in ["ann", "treasury", "a-b_c.d", &"f".repeat(80)] {
            assert!(named(good) && mint::stream(good).is_ok(), "{good}");
        }
        for bad in ["", "a/b", "a b", "ä", "a\n", "\0", &"f".repeat(81)] {
            assert!(!named(bad), "{bad}");
        }
    }
}
