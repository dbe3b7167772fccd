//! What each account has, what is set aside of it, and what it has paid.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::BoxFuture;
use serde::Serialize;
use sqlx::{PgConnection, Row, postgres::PgRow};
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    mint::Event,
    position::Position,
    timestamp::Timestamp,
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `mint.accounts`.
#[derive(Debug)]
pub struct Accounts;

const VIEW: &str = "mint.accounts";

/// An account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountRow {
    /// Whose it is.
    pub account: String,
    /// What it has, in spark, with what is set aside.
    pub balance: i64,
    /// What is set aside.
    pub reserved: i64,
    /// What it was granted, all in all.
    pub granted: i64,
    /// What it has paid, without tax; what was paid to it, of the treasury.
    pub paid: i64,
    /// The tax on that.
    pub tax: i64,
    /// How many transfers that were.
    pub n_transfers: i64,
    /// The event that made it what it is.
    pub position: Position,
    /// When that was.
    pub changed_at: Timestamp,
}

const LIST: &str = "
    SELECT account, balance, reserved, granted, paid, tax, n_transfers, position, changed_at
    FROM mint.accounts WHERE account > $1 ORDER BY account LIMIT $2";

const ONE: &str = "
    SELECT account, balance, reserved, granted, paid, tax, n_transfers, position, changed_at
    FROM mint.accounts WHERE account = $1";

/// Accounts after one, by name.
pub async fn list(
    database: &Database,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<AccountRow>, QueryFault> {
    let query = sqlx::query(LIST).bind(after.unwrap_or("")).bind(query::limit(limit));
    query::rows(database, VIEW, query, from_row).await
}

/// An account by its name.
pub async fn find(database: &Database, account: &str) -> Result<Option<AccountRow>, QueryFault> {
    Ok(query::rows(database, VIEW, sqlx::query(ONE).bind(account), from_row).await?.pop())
}

fn from_row(row: &PgRow) -> Result<AccountRow, sqlx::Error> {
    Ok(AccountRow {
        account: row.try_get("account")?,
        balance: row.try_get("balance")?,
        reserved: row.try_get("reserved")?,
        granted: row.try_get("granted")?,
        paid: row.try_get("paid")?,
        tax: row.try_get("tax")?,
        n_transfers: row.try_get("n_transfers")?,
        position: query::position(row, "position")?,
        changed_at: query::moment(row, "changed_at")?,
    })
}

const UPSERT: &str = "
    INSERT INTO accounts AS old
        (account, balance, reserved, granted, paid, tax, n_transfers, position, changed_at)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
        $6::bigint[], $7::bigint[], $8::bigint[], $9::timestamptz[])
    ON CONFLICT (account) DO UPDATE SET
        balance = old.balance + excluded.balance, reserved = old.reserved + excluded.reserved,
        granted = old.granted + excluded.granted, paid = old.paid + excluded.paid,
        tax = old.tax + excluded.tax, n_transfers = old.n_transfers + excluded.n_transfers,
        position = excluded.position, changed_at = excluded.changed_at";

/// What a batch changes of an account.
#[derive(Debug, Clone, Copy)]
struct Change<'a> {
    balance: i64,
    reserved: i64,
    granted: i64,
    paid: i64,
    tax: i64,
    n_transfers: i64,
    last: &'a Recorded,
}

#[derive(Debug, Default)]
struct Changes<'a>(BTreeMap<String, Change<'a>>);

impl<'a> Changes<'a> {
    fn of(&mut self, account: String, last: &'a Recorded) -> &mut Change<'a> {
        let new =
            Change { balance: 0, reserved: 0, granted: 0, paid: 0, tax: 0, n_transfers: 0, last };
        let change = self.0.entry(account).or_insert(new);
        change.last = last;
        change
    }

    fn fold(&mut self, at: &'a Recorded, event: Event) {
        match event {
            Event::SparkGranted(granted) => {
                let change = self.of(granted.account, at);
                change.balance += amount(granted.amount);
                change.granted += amount(granted.amount);
            }
            Event::SparkReserved(reserved) => {
                self.of(reserved.account, at).reserved += amount(reserved.amount);
            }
            Event::SparkReleased(released) => {
                self.of(released.account, at).reserved -= amount(released.reserved);
            }
            Event::SparkTransferred(paid) => {
                let (sum, tax) = (amount(paid.amount), amount(paid.tax));
                self.of(paid.from.clone(), at).reserved -= amount(paid.reserved);
                for (account, sign) in [(paid.from, -1), (paid.to, 1)] {
                    let change = self.of(account, at);
                    change.balance += sign * (sum + tax);
                    change.paid += sum;
                    change.tax += tax;
                    change.n_transfers += 1;
                }
            }
        }
    }
}

/// Amounts are far below: no account holds more than 2^53.
fn amount(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

async fn upsert(changes: Changes<'_>, tx: &mut PgConnection) -> Result<(), ApplyFault> {
    let column = |of: fn(&Change<'_>) -> i64| changes.0.values().map(of).collect::<Vec<_>>();
    let (balance, reserved) = (column(|c| c.balance), column(|c| c.reserved));
    let (granted, paid, tax) = (column(|c| c.granted), column(|c| c.paid), column(|c| c.tax));
    let (n_transfers, position) = (column(|c| c.n_transfers), column(|c| c.last.position.0));
    let at: Vec<_> = changes.0.values().map(|c| c.last.recorded_at.datetime()).collect();
    let accounts: Vec<String> = changes.0.into_keys().collect();
    sqlx::query(UPSERT)
        .bind(accounts)
        .bind(balance)
        .bind(reserved)
        .bind(granted)
        .bind(paid)
        .bind(tax)
        .bind(n_transfers)
        .bind(position)
        .bind(at)
        .execute(tx)
        .await?;
    Ok(())
}

impl Projection for Accounts {
    fn name(&self) -> &'static str {
        "accounts"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Mint
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x1301), Kind(0x1302), Kind(0x1303), Kind(0x1304)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/mint/accounts.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["accounts"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let mut changes = Changes::default();
            for event in decode::events::<Event>(batch) {
                let (at, event) = event?;
                changes.fold(at, event);
            }
            if changes.0.is_empty() {
                return Ok(());
            }
            upsert(changes, tx).await
        })
    }
}
