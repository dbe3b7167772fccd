//! What agents may do in an epoch, and what it costs them.

use std::{iter::Sum, ops::Add};

use serde::{Deserialize, Serialize};

use super::{Hash256, HttpMethod};

/// What something costs. Ticks are kept in the log, spark is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Cost {
    /// In ticks.
    pub ticks: u64,
    /// In spark.
    pub spark: u64,
}

impl Cost {
    /// Nothing.
    pub const NONE: Self = Self { ticks: 0, spark: 0 };
    /// A page that was read.
    pub const GET: Self = Self { ticks: 3, spark: 2 };
    /// Something that was sent.
    pub const POST: Self = Self { ticks: 3, spark: 3 };
    /// A page that was asked about.
    pub const HEAD: Self = Self { ticks: 2, spark: 1 };
    /// An answer for which nothing left.
    pub const CACHE_HIT: Self = Self { ticks: 1, spark: 0 };
    /// Something left, and nothing came of it.
    pub const FAILED: Self = Self { ticks: 1, spark: 1 };

    /// What a request of this method costs when it is answered by the outside.
    pub const fn of(method: HttpMethod) -> Self {
        match method {
            HttpMethod::Get => Self::GET,
            HttpMethod::Post => Self::POST,
            HttpMethod::Head => Self::HEAD,
        }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            ticks: self.ticks.saturating_add(other.ticks),
            spark: self.spark.saturating_add(other.spark),
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::NONE, Add::add)
    }
}

/// What agents may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessLevel {
    /// Nothing.
    Closed,
    /// Read pages, and ask about them.
    ReadOnly,
    /// Send something too, and talk to APIs.
    ReadWrite,
}

impl AccessLevel {
    /// What agents may do in an epoch.
    pub const fn at(epoch: u32) -> Self {
        match epoch {
            0..=2 => Self::Closed,
            3 => Self::ReadOnly,
            _ => Self::ReadWrite,
        }
    }

    /// Whether they may use a method.
    pub const fn allows(self, method: HttpMethod) -> bool {
        match self {
            Self::Closed => false,
            Self::ReadOnly => matches!(method, HttpMethod::Get | HttpMethod::Head),
            Self::ReadWrite => true,
        }
    }

    /// The name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::ReadOnly => "read-only",
            Self::ReadWrite => "read-write",
        }
    }
}

/// How many requests an agent has in a cycle of an epoch.
pub const fn quota(epoch: u32) -> u32 {
    match epoch {
        0..=2 => 0,
        _ => (epoch - 3).saturating_mul(2).saturating_add(5),
    }
}

/// How a page is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CachePolicy {
    /// For how many cycles it may be shown.
    pub ttl: u32,
    /// The page: SHA-256 of the canonical address without fragment, the method's byte and the body.
    pub key: Hash256,
    /// Whether others may be shown it.
    pub shared: bool,
}
