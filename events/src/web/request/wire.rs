//! Why a request is not answered, in the words and numbers of the wire.

use serde::{Deserialize, Serialize};

use super::Hash256;

/// The code of what failed within.
const INTERNAL: u16 = 0x07FF;
/// What is told of it outside.
const INTERNAL_WORDS: &str = "an internal fault; ask again, and tell the operator if it stays";

/// What kind of error it is, on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// The agent may not.
    Unauthorized,
    /// The agent may not any more, for now.
    QuotaExceeded,
    /// It was tried, and came to nothing.
    Internal,
    /// What was asked makes no sense.
    InvalidRequest,
}

impl ErrorClass {
    /// The class that a code belongs to.
    pub const fn of(code: u16) -> Self {
        match code {
            0x0700 | 0x0702 | 0x0705 => Self::Unauthorized,
            0x0701 => Self::QuotaExceeded,
            0x0704 => Self::InvalidRequest,
            _ => Self::Internal,
        }
    }
}

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortalError {
    /// Nothing is allowed in this epoch.
    #[error("the portal is closed in epoch {epoch}; it opens in epoch 3")]
    PortalClosed {
        /// The epoch.
        epoch: u32,
    },
    /// In this epoch agents only read.
    #[error("epoch {epoch} allows GET and HEAD only; {what} is allowed from epoch 4 on")]
    ReadOnlyEpoch {
        /// The epoch.
        epoch: u32,
        /// What was asked for.
        what: &'static str,
    },
    /// The cycle's requests are used up.
    #[error("{used} of {max} requests of this cycle are used")]
    QuotaExceeded {
        /// How many are used.
        used: u32,
        /// How many there are.
        max: u32,
    },
    /// The agent asks too often.
    #[error("too many requests; ask again in {retry_ticks} ticks")]
    RateLimited {
        /// In how many ticks it may ask again.
        retry_ticks: u64,
    },
    /// A rule, or what the host's address is, forbids the host.
    #[error("`{domain}` is blocked: {reason}")]
    DomainBlocked {
        /// The host.
        domain: String,
        /// Why.
        reason: String,
    },
    /// The outside gave nothing that could be passed on.
    #[error("could not fetch: {0}")]
    FetchFailed(String),
    /// The outside took too long.
    #[error("the outside did not answer within {0} ms")]
    Timeout(u64),
    /// One redirect led to the next, and on.
    #[error("more than {0} redirects")]
    TooManyRedirects(u32),
    /// The address is none, or none that may be asked for.
    #[error("the address is not acceptable: {0}")]
    InvalidUrl(String),
    /// The request has not the shape of one.
    #[error("the request is not acceptable: {0}")]
    InvalidRequest(String),
    /// The agent is not who it says, may not do this, or cannot pay for it.
    #[error("{0}")]
    PermissionDenied(String),
    /// The database did not answer as it should.
    #[error("the database failed: {0}")]
    Database(String),
    /// Something else went wrong within.
    #[error("an internal fault: {0}")]
    Internal(String),
}

impl PortalError {
    /// The code on the wire.
    pub const fn code(&self) -> u16 {
        match self {
            Self::PortalClosed { .. } | Self::ReadOnlyEpoch { .. } => 0x0700,
            Self::QuotaExceeded { .. } | Self::RateLimited { .. } => 0x0701,
            Self::DomainBlocked { .. } => 0x0702,
            Self::FetchFailed(_) | Self::Timeout(_) | Self::TooManyRedirects(_) => 0x0703,
            Self::InvalidUrl(_) | Self::InvalidRequest(_) => 0x0704,
            Self::PermissionDenied(_) => 0x0705,
            Self::Database(_) | Self::Internal(_) => INTERNAL,
        }
    }

    /// The class on the wire.
    pub const fn class(&self) -> ErrorClass {
        ErrorClass::of(self.code())
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::PortalClosed { .. } => "PortalClosed",
            Self::ReadOnlyEpoch { .. } => "ReadOnlyEpoch",
            Self::QuotaExceeded { .. } => "QuotaExceeded",
            Self::RateLimited { .. } => "RateLimited",
            Self::DomainBlocked { .. } => "DomainBlocked",
            Self::FetchFailed(_) => "FetchFailed",
            Self::Timeout(_) => "Timeout",
            Self::TooManyRedirects(_) => "TooManyRedirects",
            Self::InvalidUrl(_) => "InvalidUrl",
            Self::InvalidRequest(_) => "InvalidRequest",
            Self::PermissionDenied(_) => "PermissionDenied",
            Self::Database(_) => "Database",
            Self::Internal(_) => "Internal",
        }
    }

    /// It as the answer to a request.
    pub fn refused(&self, request_id: Option<Hash256>) -> Refused {
        let retry_ticks = match self {
            Self::RateLimited { retry_ticks } => Some(*retry_ticks),
            _ => None,
        };
        let refused = Refused::of(request_id, self.code(), self.name(), self.to_string());
        Refused { retry_ticks, ..refused }
    }
}

/// That a request is not answered, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The request, where it could be read.
    pub request_id: Option<Hash256>,
    /// What kind of error it is.
    pub class: ErrorClass,
    /// The code.
    pub code: u16,
    /// The error's name.
    pub error: String,
    /// Why.
    pub message: String,
    /// In how many ticks it may be asked again, under the same id, where it may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ticks: Option<u64>,
}

impl Refused {
    /// An error as the answer to a request; what failed within is nobody's business outside.
    pub fn of(request_id: Option<Hash256>, code: u16, error: &str, reason: String) -> Self {
        let message = if code == INTERNAL { INTERNAL_WORDS.to_owned() } else { reason };
        let (class, error) = (ErrorClass::of(code), error.to_owned());
        Self { request_id, class, code, error, message, retry_ticks: None }
    }
}
