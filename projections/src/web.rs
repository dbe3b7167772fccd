//! The web gateway: what agents asked, what is cached, what it adds up to, which hosts they reach. The
//! views stand in schema `portal`.

pub mod approvals;
pub mod cache;
pub mod content;
pub mod domain_rules;
pub mod reports;
pub mod request_log;

use serde::Serialize;
use sqlx::{Row, postgres::PgRow};
use url::Url;
use weir_events::{
    codec,
    envelope::Recorded,
    web::request::{AgentId, Hash256},
};

use crate::engine::ApplyFault;

/// The schema of the views.
const VIEWS: &str = "portal";

/// The host of an address, as everybody who fetches sees it; empty where there is none.
fn host_of(address: &str) -> String {
    let url = Url::parse(address).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    host.strip_suffix('.').unwrap_or(host).to_owned()
}

/// Hashes as their hexadecimal digits.
fn names_of<'a>(hashes: impl IntoIterator<Item = &'a Hash256>) -> Vec<String> {
    hashes.into_iter().map(ToString::to_string).collect()
}

/// Cycles, ticks and amounts are far below.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A value as `MessagePack`, in a column.
fn packed<T: Serialize>(
    event: &Recorded,
    what: &'static str,
    value: &T,
) -> Result<Vec<u8>, ApplyFault> {
    codec::to_bytes(what, value)
        .map_err(|cause| ApplyFault::Undecodable { position: event.position, cause })
}

fn wrong<E: std::error::Error + Send + Sync + 'static>(cause: E) -> sqlx::Error {
    sqlx::Error::Decode(Box::new(cause))
}

fn hash(row: &PgRow, column: &str) -> Result<Hash256, sqlx::Error> {
    Hash256::try_from(row.try_get::<&[u8], _>(column)?).map_err(wrong)
}

fn hash_if_any(row: &PgRow, column: &str) -> Result<Option<Hash256>, sqlx::Error> {
    let bytes: Option<&[u8]> = row.try_get(column)?;
    bytes.map(|bytes| Hash256::try_from(bytes).map_err(wrong)).transpose()
}

fn agent(row: &PgRow, column: &str) -> Result<AgentId, sqlx::Error> {
    row.try_get::<&str, _>(column)?.parse().map_err(wrong)
}

fn agent_if_any(row: &PgRow, column: &str) -> Result<Option<AgentId>, sqlx::Error> {
    let text: Option<&str> = row.try_get(column)?;
    text.map(|text| text.parse().map_err(wrong)).transpose()
}

fn unsigned(row: &PgRow, column: &str) -> Result<u64, sqlx::Error> {
    row.try_get::<i64, _>(column).map(|number| u64::try_from(number).unwrap_or(0))
}

fn status(row: &PgRow, column: &str) -> Result<u16, sqlx::Error> {
    u16::try_from(row.try_get::<i32, _>(column)?).map_err(wrong)
}

fn unpacked<T: serde::de::DeserializeOwned>(
    row: &PgRow,
    column: &str,
    what: &'static str,
) -> Result<T, sqlx::Error> {
    codec::from_bytes(what, row.try_get(column)?).map_err(wrong)
}

/// Finds a method by its name.
fn method(name: &str) -> Option<weir_events::web::request::HttpMethod> {
    use weir_events::web::request::HttpMethod;
    HttpMethod::ALL.into_iter().find(|method| method.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_a_client_would_connect_to() {
        for (address, host) in [
            ("https://Docs.RS/serde?q#f", "docs.rs"),
            ("http://docs.rs.:8080/", "docs.rs"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://[::1]:80/", "[::1]"),
            ("nothing", ""),
            ("", ""),
        ] {
            assert_eq!(host_of(address), host, "{address}");
        }
    }
}
