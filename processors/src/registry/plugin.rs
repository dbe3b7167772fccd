//! What an ecosystem is here: how its clients ask, what they are told, what its lists look like
//! after the rules went over them.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use tokio::sync::Semaphore;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::{
    answer::Answer,
    cache::CacheKey,
    stats::{Counters, Stats},
};
use crate::caller::Caller;

/// A request of a package client, as it came.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Its method.
    pub method: &'a Method,
    /// The version of HTTP it came by.
    pub version: Version,
    /// Its path below the ecosystem's prefix, still encoded, with the slash it begins with.
    pub path: &'a str,
    /// Its query, still encoded.
    pub query: Option<&'a str>,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Where this Weir is for the client: `https://weir.example`, without a slash at its end. Empty
    /// where nothing says so.
    pub base: &'a str,
    /// Its body, as it came; empty where the plugin takes none.
    pub body: &'a Bytes,
    /// As of when the registry is to look, where that is not now.
    pub as_of: Option<Timestamp>,
}

/// The bodies a plugin takes.
#[derive(Debug, Clone, Copy)]
pub struct Bodies<'a> {
    /// The largest one.
    pub max_bytes: usize,
    /// A permit for each that is here or being read: to be had before any of it is.
    pub rooms: &'a Arc<Semaphore>,
}

/// One ecosystem of packages.
pub trait RegistryPlugin: Send + Sync + 'static {
    /// A request that was understood.
    type Request: Send;
    /// A list of versions as the upstream gives it.
    type Document: Send + Sync;
    /// What the rules make of it.
    type Filtered: Send;

    /// The ecosystem.
    fn name(&self) -> Ecosystem;

    /// Where its addresses begin.
    fn path_prefix(&self) -> &'static str;

    /// The bodies that are taken; without any, none is read.
    fn bodies(&self) -> Option<Bodies<'_>> {
        None
    }

    /// What its clients are told in their own words: a text of one or more lines, and the reason for
    /// those who show nothing else.
    fn say(&self, status: StatusCode, text: &str, reason: &str) -> Answer;

    /// What a client that is not known is told to show, where this Weir is at `base` for it. A token
    /// as the password of Basic, unless the ecosystem has words of its own.
    fn challenge(&self, _base: &str) -> HeaderValue {
        HeaderValue::from_static("Basic realm=\"weir\"")
    }

    /// Understands a request, or answers it at once: redirects, refusals, nonsense.
    fn parse_request(&self, asked: &Asked<'_>) -> Result<Self::Request, Box<Answer>>;

    /// Answers a request. Never fails: what goes wrong is an answer too.
    fn handle_request(
        &self,
        request: Self::Request,
        caller: &Caller,
    ) -> impl Future<Output = Answer> + Send;

    /// What becomes of a list, by what is known of its package. A pure function.
    fn filter_metadata(&self, document: &Self::Document, dossier: &Dossier) -> Self::Filtered;

    /// Where the artifact a request is about is kept, if it is about one.
    fn cache_key(&self, request: &Self::Request) -> Option<CacheKey>;

    /// What is counted of what happens.
    fn counters(&self) -> &Counters;

    /// What happened since the process started.
    fn stats(&self) -> Stats {
        self.counters().stats()
    }

    /// Answers a client, and counts the answer.
    fn answer(&self, asked: &Asked<'_>, caller: &Caller) -> impl Future<Output = Answer> + Send {
        // Before anything waits: what was asked is borrowed.
        let request = self.parse_request(asked);
        async move {
            let answer = match request {
                Ok(request) => self.handle_request(request, caller).await,
                Err(answer) => *answer,
            };
            self.counters().answered(answer.status);
            answer
        }
    }
}
