//! An artifact as it is asked for: where it comes from, and what is promised of it.

use super::{Promise, Shape};
use crate::{
    outbound::{Reach, Url},
    registry::cache::CacheKey,
};

/// An artifact somebody wants.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// What it is kept under.
    pub key: CacheKey,
    /// Where the upstream has it.
    pub url: Url,
    /// Where requests for it may go.
    pub reach: Reach,
    /// The SHA-256 its index promises.
    pub sha256: Option<[u8; 32]>,
    /// What its index promises where it promises no SHA-256. What is promised neither way, or by a
    /// weak hash only, is passed through and not kept.
    pub promise: Option<Promise>,
    /// What it must be beside that.
    pub shape: Shape,
    /// The size its index promises.
    pub size: Option<u64>,
    /// Its media type.
    pub content_type: &'static str,
    /// The media types it is asked for as, where the upstream has to be told.
    pub accept: Option<&'static str>,
}

impl Wanted {
    /// What is promised of it, where only the very same bytes fit that: `sha256 …`, `h1 …`.
    #[must_use]
    pub fn pinned(&self) -> Option<String> {
        let promise = || {
            let promise = self.promise.as_ref().filter(|promise| promise.strong());
            promise.map(ToString::to_string)
        };
        let sha256 = self.sha256.map(|sha256| format!("sha256 {}", hex::encode(sha256)));
        sha256.or_else(promise).or_else(|| self.shape.tag().map(|sum| format!("h1 {sum}")))
    }

    /// Whether its bytes can be verified so well that they may be kept.
    #[must_use]
    pub fn can_be_kept(&self) -> bool {
        let promised = self.sha256.is_some() || self.promise.as_ref().is_some_and(Promise::strong);
        promised || self.shape.tells()
    }
}
