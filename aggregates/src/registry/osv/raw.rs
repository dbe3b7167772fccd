//! A record as it stands in JSON: what decides whether a version is affected is typed, the rest is
//! kept as text and read leniently.

use std::borrow::Cow;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::ranges::RawRange;

/// Reads a member that may be missing, or not be what we know it as: then it says nothing.
pub(super) fn lenient<T: DeserializeOwned>(member: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(member?.get()).ok()
}

/// A record.
#[derive(Deserialize)]
pub(super) struct RawRecord<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) modified: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) withdrawn: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) aliases: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) summary: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) severity: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) affected: Option<Vec<RawAffected<'a>>>,
    #[serde(borrow)]
    pub(super) database_specific: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct RawAffected<'a> {
    #[serde(borrow)]
    pub(super) package: Option<RawPackage<'a>>,
    #[serde(borrow)]
    pub(super) severity: Option<&'a RawValue>,
    pub(super) versions: Option<Vec<String>>,
    #[serde(borrow)]
    pub(super) ranges: Option<Vec<RawRange<'a>>>,
    #[serde(borrow)]
    pub(super) database_specific: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct RawPackage<'a> {
    #[serde(borrow)]
    pub(super) ecosystem: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
pub(super) struct RecordSpecific {
    pub(super) severity: Option<String>,
    #[serde(rename = "malicious-packages-origins")]
    pub(super) origins: Option<Box<RawValue>>,
}

#[derive(Deserialize, Default)]
pub(super) struct AffectedSpecific {
    pub(super) informational: Option<String>,
}
