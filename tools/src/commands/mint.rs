//! `weir mint`: accounts in spark.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Subcommand)]
pub(crate) enum MintCommand {
    /// List accounts: what they have, and what they have paid
    Ls(LsArgs),
    /// Grant spark to an account
    Grant(GrantArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GrantArgs {
    /// The account: an agent's id, or any name of letters, digits, `.`, `_` and `-`
    account: String,
    /// How much, in spark
    amount: u64,
    /// What for
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &MintCommand) -> Result<Exit, Failure> {
    match command {
        MintCommand::Ls(args) => ls(context, args),
        MintCommand::Grant(args) => grant(context, args),
    }
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let (mut accounts, mut after) = (Vec::new(), String::new());
        loop {
            let page = client.read("api/mint/accounts", &[("after", after.clone())]).await?;
            accounts.extend(page["accounts"].as_array().into_iter().flatten().cloned());
            match page["next"].as_str() {
                Some(next) => next.clone_into(&mut after),
                None => break,
            }
        }
        let answer = json!({ "accounts": accounts });
        context.output.data(&answer, || {
            let rows: Vec<Vec<String>> = accounts.iter().map(row).collect();
            table(&["ACCOUNT", "BALANCE", "RESERVED", "GRANTED", "PAID", "TAX"], &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn row(account: &Value) -> Vec<String> {
    let name = account["account"].as_str().map_or_else(|| "-".to_owned(), harmless);
    let numbers =
        ["balance", "reserved", "granted", "paid", "tax"].map(|key| account[key].to_string());
    [name].into_iter().chain(numbers).collect()
}

fn grant(context: &Context, args: &GrantArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let body = json!({"account": args.account, "amount": args.amount, "reason": args.reason});
        let answer = client.send(Method::POST, "api/mint/grants", Some(&body)).await?;
        context.output.data(&answer, || {
            format!("{} has {} spark now, {} free", args.account, answer["balance"], answer["free"])
        })?;
        Ok(Exit::Done)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_what_an_account_has_and_has_paid() {
        let account = json!({"account": "ann", "balance": 93, "reserved": 4, "granted": 100,
            "paid": 6, "tax": 1, "n_transfers": 2});
        assert_eq!(row(&account), ["ann", "93", "4", "100", "6", "1"]);
    }
}
