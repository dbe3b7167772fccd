//! The scopes, as types: a handler's signature says what its caller must be allowed to do.

use weir_aggregates::access::Scope;

/// What a caller must be allowed to do.
pub trait Needs: Send + Sync + 'static {
    /// The scope; `None` is satisfied by any good token.
    const SCOPE: Option<Scope>;
}

macro_rules! needs {
    ($($(#[doc = $doc:literal])+ $name:ident = $scope:expr;)+) => {
        $($(#[doc = $doc])+
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Needs for $name {
            const SCOPE: Option<Scope> = $scope;
        })+
    };
}

needs! {
    /// Any good token.
    Anybody = None;
    /// Everything.
    Admin = Some(Scope::Admin);
    /// Read and tail events.
    EventsRead = Some(Scope::EventsRead);
    /// See projections.
    ProjectionsRead = Some(Scope::ProjectionsRead);
    /// Replay projections, redeliver dead letters.
    ProjectionsWrite = Some(Scope::ProjectionsWrite);
    /// See rules and blocks.
    RulesRead = Some(Scope::RulesRead);
    /// Change rules.
    RulesWrite = Some(Scope::RulesWrite);
    /// See, issue and revoke tokens.
    TokensWrite = Some(Scope::TokensWrite);
    /// Advance the epoch, drive the clock.
    NexusWrite = Some(Scope::NexusWrite);
    /// See accounts.
    MintRead = Some(Scope::MintRead);
    /// Grant spark.
    MintWrite = Some(Scope::MintWrite);
    /// See agents.
    AgentsRead = Some(Scope::AgentsRead);
    /// Register and revoke agents.
    AgentsWrite = Some(Scope::AgentsWrite);
    /// Ask the outside, as the agent that the token is of.
    WebFetch = Some(Scope::WebFetch);
    /// See what agents asked, what is cached, and the rules.
    WebRead = Some(Scope::WebRead);
    /// Change rules, answer for blocked requests, purge what is cached.
    WebWrite = Some(Scope::WebWrite);
}
