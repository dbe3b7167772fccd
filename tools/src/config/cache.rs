//! `cache`: where verified artifacts are kept, and where instances share lists of versions.

use std::path::PathBuf;

use weir_processors::registry::cache::redis::Options;

use super::section::section;
use super::value::{RedisPrefix, RedisUrl, Size, Span};

section! {
    /// Where verified artifacts are kept.
    Cache at "cache" {
        /// The folder; `cache` in the data directory unless given.
        path: Option<PathBuf> = None,
        /// How much may be kept; what was used longest ago goes first.
        max_size: Size = Size(50_000_000_000),
        /// How much of files that are still on their way may lie beside that, in the same folder. A file
        /// that does not fit is answered with 503; one that is larger than this never comes.
        max_staging: Size = Size(20_000_000_000),
        sections { redis: Redis, }
    }
}

section! {
    /// Where several instances share lists of versions, if anywhere. Each signs what it puts there
    /// with a key made of `server.secret`, which has to be the same on all of them, and takes nothing
    /// that is not signed so. Without Redis, or while it is down, each asks the upstream by itself.
    Redis at "cache.redis" {
        /// The Redis: `redis://weir:${REDIS_PASSWORD}@redis.example:6379/0`; `rediss://` with TLS.
        url: Option<RedisUrl> = None,
        /// What every key begins with: letters, digits, `.`, `_`, `-` and `:`.
        prefix: RedisPrefix = RedisPrefix::default(),
        /// How long a command may take. After one that takes longer Redis counts as down, and nobody
        /// waits for it until it answers again.
        timeout: Span = Span::millis(100),
        /// How long it may take to connect; nobody waits for that but the start.
        connect_timeout: Span = Span::seconds(1),
    }
}

impl Redis {
    /// How it is reached, if there is one.
    pub(crate) fn options(&self) -> Option<Options> {
        let url = self.url.as_ref()?.0.clone();
        let prefix = self.prefix.0.clone();
        let (timeout, connect_timeout) = (self.timeout.0, self.connect_timeout.0);
        Some(Options { url, prefix, timeout, connect_timeout })
    }
}
