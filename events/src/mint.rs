//! Accounts in spark, in which agents pay for what they have fetched. Streams: `mint/<account>`.
//!
//! An account's own stream holds what it gets and what it pays. What the treasury has got is the sum
//! of all transfers to it, which the read model keeps: it never pays, so nothing is judged by it.

use serde::{Deserialize, Serialize};

use crate::{
    codec::events,
    stream::{StreamName, StreamNameFault},
};

/// The account that all charges go to.
pub const TREASURY: &str = "treasury";

/// The stream of an account.
pub fn stream(account: &str) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("mint/{account}"))
}

events! {
    /// Events of subsystem `mint` (range 0x1300).
    Event {
        /// An operator gave spark to an account.
        0x1301 v 1 SparkGranted,
        /// Spark was set aside for a request, before anything leaves.
        0x1302 v 1 SparkReserved,
        /// Spark went from one account to another, out of what was set aside for it.
        0x1303 v 1 SparkTransferred,
        /// What was set aside is free again: nothing was owed.
        0x1304 v 1 SparkReleased,
    }
}

/// An operator gave spark to an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkGranted {
    /// The account.
    pub account: String,
    /// How much.
    pub amount: u64,
    /// What for.
    pub reason: String,
}

/// Spark was set aside for a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkReserved {
    /// Whose it is.
    pub account: String,
    /// The transfer it is set aside for: SHA-256 of the request's id and `cost`, 64 hexadecimal digits.
    pub transfer: String,
    /// The most that may come to be owed, tax included.
    pub amount: u64,
}

/// Spark went from one account to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkTransferred {
    /// The transfer: the reservation it is taken from ends.
    pub transfer: String,
    /// Who paid.
    pub from: String,
    /// Who got it.
    pub to: String,
    /// How much was paid, without the tax.
    pub amount: u64,
    /// The tax on top of it; goes to the treasury.
    pub tax: u64,
    /// What was set aside for it; what was not owed is free again.
    pub reserved: u64,
}

/// What was set aside is free again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkReleased {
    /// Whose it is.
    pub account: String,
    /// The transfer that will not be.
    pub transfer: String,
    /// What was set aside for it.
    pub reserved: u64,
}
