//! Tokens: issued once, revoked at most once. Stream `access/token/<id>`.

pub mod agent;

use weir_events::{
    access::{Event, TokenIssued, TokenRevoked},
    kind::Subsystem,
    registry::Ecosystem,
    timestamp::Timestamp,
    web::request::AgentId,
};

use crate::{
    machine::{Context, Decision, Machine},
    words::are_plain,
};

/// The longest name of a token, in characters.
pub const MAX_NAME_CHARS: usize = 80;

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Everything.
    Admin,
    /// Read and tail events.
    EventsRead,
    /// See projections.
    ProjectionsRead,
    /// Replay projections, redeliver dead letters.
    ProjectionsWrite,
    /// See rules and blocks.
    RulesRead,
    /// Change rules.
    RulesWrite,
    /// Issue and revoke tokens.
    TokensWrite,
    /// Advance the epoch, drive the clock.
    NexusWrite,
    /// See accounts.
    MintRead,
    /// Grant spark.
    MintWrite,
    /// See agents.
    AgentsRead,
    /// Register and revoke agents.
    AgentsWrite,
    /// Ask the outside, as the agent that the token is of.
    WebFetch,
    /// See what agents asked, what is cached, and the rules.
    WebRead,
    /// Change rules, answer for blocked requests, purge what is cached.
    WebWrite,
    /// Install Python packages.
    RegistryPypi,
    /// Install npm packages.
    RegistryNpm,
    /// Install Rust crates.
    RegistryCargo,
    /// Install Go modules.
    RegistryGo,
    /// Pull container images.
    RegistryDocker,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 20] = [
        Self::Admin,
        Self::EventsRead,
        Self::ProjectionsRead,
        Self::ProjectionsWrite,
        Self::RulesRead,
        Self::RulesWrite,
        Self::TokensWrite,
        Self::NexusWrite,
        Self::MintRead,
        Self::MintWrite,
        Self::AgentsRead,
        Self::AgentsWrite,
        Self::WebFetch,
        Self::WebRead,
        Self::WebWrite,
        Self::RegistryPypi,
        Self::RegistryNpm,
        Self::RegistryCargo,
        Self::RegistryGo,
        Self::RegistryDocker,
    ];

    /// The name used in the API and in events.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::EventsRead => "events:read",
            Self::ProjectionsRead => "projections:read",
            Self::ProjectionsWrite => "projections:write",
            Self::RulesRead => "rules:read",
            Self::RulesWrite => "rules:write",
            Self::TokensWrite => "tokens:write",
            Self::NexusWrite => "nexus:write",
            Self::MintRead => "mint:read",
            Self::MintWrite => "mint:write",
            Self::AgentsRead => "agents:read",
            Self::AgentsWrite => "agents:write",
            Self::WebFetch => "web:fetch",
            Self::WebRead => "web:read",
            Self::WebWrite => "web:write",
            Self::RegistryPypi => "registry:pypi",
            Self::RegistryNpm => "registry:npm",
            Self::RegistryCargo => "registry:cargo",
            Self::RegistryGo => "registry:go",
            Self::RegistryDocker => "registry:docker",
        }
    }

    /// What it takes to install packages of an ecosystem.
    pub const fn of_packages(ecosystem: Ecosystem) -> Self {
        match ecosystem {
            Ecosystem::Pypi => Self::RegistryPypi,
            Ecosystem::Npm => Self::RegistryNpm,
            Ecosystem::Cargo => Self::RegistryCargo,
            Ecosystem::Go => Self::RegistryGo,
            Ecosystem::Docker => Self::RegistryDocker,
        }
    }

    /// Finds a scope by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == name)
    }
}

/// Who hands out what others may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grantor {
    /// What he may do himself: nobody hands out what he does not have.
    pub scopes: Vec<Scope>,
    /// The profile that binds him: nobody hands out more freedom than he has.
    pub profile: Option<String>,
}

impl Grantor {
    /// Who may do everything.
    #[must_use]
    pub fn admin() -> Self {
        Self { scopes: vec![Scope::Admin], profile: None }
    }

    /// Whether he may do everything.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.scopes.contains(&Scope::Admin)
    }

    fn has(&self, scope: Scope) -> bool {
        self.is_admin() || self.scopes.contains(&scope)
    }
}

/// What is known of the profile that a token is to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// It names none, or one that only makes things stricter.
    Stricter,
    /// It lets pass what is forbidden, and only warns.
    Audit,
    /// There is no such profile.
    Unknown,
}

/// What is known of the agent whose own a token is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is nobody's.
    Nobody,
    /// The agent is trusted.
    Trusted,
    /// There is no such agent, or it was revoked.
    Unknown,
}

/// The machine of one token.
#[derive(Debug)]
pub struct Token;

/// Where a token stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum State {
    /// Nobody has issued it.
    #[default]
    Unknown,
    /// It opens what its scopes say, until it expires.
    Live(TokenIssued),
    /// It opens nothing any more.
    Revoked(TokenIssued),
}

impl State {
    /// What the token is, if it opens anything at `now`.
    pub fn live_at(&self, now: Timestamp) -> Option<&TokenIssued> {
        match self {
            Self::Live(token) if token.expires_at.is_none_or(|end| now < end) => Some(token),
            _ => None,
        }
    }
}

/// What can be asked of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Issue it.
    Issue {
        /// What it is to be.
        token: Box<TokenIssued>,
        /// Who issues it.
        by: Grantor,
        /// What its profile does.
        binding: Binding,
        /// Where its agent stands.
        standing: Standing,
    },
    /// Revoke it.
    Revoke,
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The id is taken.
    #[error("token {0} exists already")]
    AlreadyIssued(String),
    /// There is no such token.
    #[error("there is no such token")]
    Unknown,
    /// The name is empty, too long or not printable.
    #[error(
        "a token's name has 1 to {MAX_NAME_CHARS} characters, none of them hidden or a control character"
    )]
    BadName,
    /// A scope nobody knows, or none at all.
    #[error("`{0}` is not a scope; choose from {known}", known = known_scopes())]
    BadScope(String),
    /// A scope that whoever issues the token does not have himself.
    #[error("only who has scope `{0}`, or `admin`, may issue a token with it")]
    Beyond(String),
    /// No profile of this name.
    #[error("there is no profile `{0}`; `weir profiles ls` lists those there are")]
    NoProfile(String),
    /// Who is bound by a profile would hand out more freedom.
    #[error("whoever is bound by profile `{0}` issues tokens of that profile only")]
    Bound(String),
    /// A profile that lets pass what is forbidden.
    #[error(
        "only who has scope `admin` may issue a token of `{0}`: it lets pass what is forbidden"
    )]
    AuditNeedsAdmin(String),
    /// No agent of this id.
    #[error("agent {0} is not registered, or was revoked; `weir agent ls` lists those there are")]
    NoAgent(AgentId),
    /// Nobody asks the outside but agents.
    #[error("a token with scope `web:fetch` is an agent's own: name the agent")]
    NeedsAgent,
    /// An agent's token could outlive the agent in another that it issued.
    #[error("an agent's own token cannot have scope `{0}`: it would hand out what outlives it")]
    NotForAgents(&'static str),
    /// It would end before it begins.
    #[error("the token would have expired at {0} already")]
    ExpiresInThePast(Timestamp),
}

fn known_scopes() -> String {
    Scope::ALL.map(Scope::as_str).join(", ")
}

impl Machine for Token {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Access;

    fn decide(state: &State, command: &Command, context: &Context) -> Decision<Event, Refusal> {
        match (command, state) {
            (Command::Issue { token, by, binding, standing }, State::Unknown) => {
                let objection = objection(token, by, *binding, context.now);
                match objection.or_else(|| objection_to_agent(token, *standing)) {
                    None => Decision::accept(TokenIssued::clone(token)),
                    Some(refusal) => Decision::refuse(refusal),
                }
            }
            (Command::Issue { token, .. }, _) => {
                Decision::refuse(Refusal::AlreadyIssued(token.token_id.clone()))
            }
            (Command::Revoke, State::Unknown) => Decision::refuse(Refusal::Unknown),
            (Command::Revoke, State::Live(token)) => {
                Decision::accept(TokenRevoked { token_id: token.token_id.clone() })
            }
            // Revoking twice is what two operators at three in the morning do; both are right.
            (Command::Revoke, State::Revoked(_)) => Decision::nothing(),
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::TokenIssued(token) => *state = State::Live(token.clone()),
            Event::TokenRevoked(_) => {
                if let State::Live(token) = std::mem::take(state) {
                    *state = State::Revoked(token);
                }
            }
            // Browsers come and go; the token stays what it is. Agents have streams of their own.
            Event::SessionOpened(_)
            | Event::SessionEnded(_)
            | Event::AgentRegistered(_)
            | Event::AgentRevoked(_) => {}
        }
    }
}

fn objection(
    token: &TokenIssued,
    by: &Grantor,
    binding: Binding,
    now: Timestamp,
) -> Option<Refusal> {
    if !are_plain(&token.name, MAX_NAME_CHARS) {
        return Some(Refusal::BadName);
    }
    if token.scopes.is_empty() {
        return Some(Refusal::BadScope(String::new()));
    }
    if let Some(bad) = token.scopes.iter().find(|name| Scope::find(name).is_none()) {
        return Some(Refusal::BadScope(bad.chars().take(40).collect()));
    }
    let given = token.scopes.iter().filter_map(|name| Scope::find(name));
    let mut beyond = given.filter(|scope| !by.has(*scope));
    if let Some(scope) = beyond.next() {
        return Some(Refusal::Beyond(scope.as_str().to_owned()));
    }
    if let Some(own) = by.profile.as_ref().filter(|_| by.profile != token.profile) {
        return Some(Refusal::Bound(own.clone()));
    }
    let profile = || token.profile.clone().unwrap_or_default();
    match binding {
        Binding::Unknown => {
            return Some(Refusal::NoProfile(profile().chars().take(40).collect()));
        }
        Binding::Audit if !by.is_admin() => return Some(Refusal::AuditNeedsAdmin(profile())),
        Binding::Audit | Binding::Stricter => {}
    }
    token.expires_at.filter(|end| *end <= now).map(Refusal::ExpiresInThePast)
}

fn objection_to_agent(token: &TokenIssued, standing: Standing) -> Option<Refusal> {
    let has = |scope: Scope| token.scopes.iter().any(|name| name == scope.as_str());
    match (token.agent, standing) {
        (None, _) => has(Scope::WebFetch).then_some(Refusal::NeedsAgent),
        (Some(_), Standing::Trusted) => {
            // Nor may it write the rules that it is held to, open the epoch, or pay itself.
            let handing_out = [
                Scope::Admin,
                Scope::TokensWrite,
                Scope::AgentsWrite,
                Scope::WebWrite,
                Scope::RulesWrite,
                Scope::NexusWrite,
                Scope::MintWrite,
            ];
            let scope = handing_out.into_iter().find(|scope| has(*scope))?;
            Some(Refusal::NotForAgents(scope.as_str()))
        }
        (Some(agent), Standing::Nobody | Standing::Unknown) => Some(Refusal::NoAgent(agent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fold;

    const NOW: Context = Context { now: Timestamp::from_micros(1_000_000) };

    fn issued() -> TokenIssued {
        TokenIssued {
            token_id: "0123456789abcdef".to_owned(),
            name: "ci".to_owned(),
            scopes: vec!["registry:pypi".to_owned()],
            expires_at: Some(Timestamp::from_micros(2_000_000)),
            profile: None,
            agent: None,
        }
    }

    fn issue(token: TokenIssued) -> Command {
        let (by, binding) = (Grantor::admin(), Binding::Stricter);
        Command::Issue { token: Box::new(token), by, binding, standing: Standing::Nobody }
    }

    fn decide(history: &[Event], command: &Command) -> Decision<Event, Refusal> {
        Token::decide(&fold::<Token>(history), command, &NOW)
    }

    #[test]
    fn each_ecosystem_has_a_scope_of_its_own() {
        for ecosystem in Ecosystem::ALL {
            let scope = Scope::of_packages(ecosystem);
            assert_eq!(scope.as_str(), format!("registry:{ecosystem}"));
            assert!(Scope::ALL.contains(&scope));
        }
    }

    #[test]
    fn a_token_is_issued_once() {
        assert_eq!(decide(&[], &issue(issued())), Decision::accept(issued()));
        let again = decide(&[issued().into()], &issue(issued()));
        assert_eq!(again, Decision::refuse(Refusal::AlreadyIssued(issued().token_id)));
    }

    #[test]
    fn what_a_token_may_not_be_called_or_may_not_do_is_refused_by_name() {
        for (change, refusal) in [
            (|t: &mut TokenIssued| t.name = String::new(), Refusal::BadName),
            (|t| t.name = "a\u{7}".to_owned(), Refusal::BadName),
            (|t| t.name = "an\u{200b}n".to_owned(), Refusal::BadName),
            (|t| t.name = "x".repeat(81), Refusal::BadName),
            (|t| t.scopes = vec![], Refusal::BadScope(String::new())),
            (|t| t.scopes = vec!["root".to_owned()], Refusal::BadScope("root".to_owned())),
            (|t| t.expires_at = Some(NOW.now), Refusal::ExpiresInThePast(NOW.now)),
        ] as [(fn(&mut TokenIssued), Refusal); 7]
        {
            let mut token = issued();
            change(&mut token);
            assert_eq!(decide(&[], &issue(token)), Decision::refuse(refusal));
        }
        let longest = TokenIssued { name: "ö".repeat(MAX_NAME_CHARS), ..issued() };
        assert_eq!(decide(&[], &issue(longest)).refusal, None);
    }

    #[test]
    fn nobody_hands_out_what_he_does_not_have() {
        let issue = |scopes: &[Scope], by: &[Scope]| {
            let scopes = scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
            let token = Box::new(TokenIssued { scopes, ..issued() });
            let by = Grantor { scopes: by.to_vec(), profile: None };
            let (binding, standing) = (Binding::Stricter, Standing::Nobody);
            decide(&[], &Command::Issue { token, by, binding, standing }).refusal
        };
        let porter = [Scope::TokensWrite, Scope::EventsRead];
        assert_eq!(issue(&[Scope::EventsRead], &porter), None);
        assert_eq!(issue(&porter, &porter), None);
        for beyond in [Scope::Admin, Scope::RulesWrite] {
            let refused = Some(Refusal::Beyond(beyond.as_str().to_owned()));
            assert_eq!(issue(&[Scope::EventsRead, beyond], &porter), refused);
        }
        for scope in Scope::ALL {
            let alone = (scope == Scope::WebFetch).then_some(Refusal::NeedsAgent);
            assert_eq!(issue(&[scope], &[Scope::Admin]), alone);
            assert!(issue(&[scope], &[]).is_some());
        }
    }

    #[test]
    fn nobody_hands_out_more_freedom_than_he_has() {
        let issue = |of: Option<&str>, by: Option<&str>, scope, binding| {
            let token = Box::new(TokenIssued { profile: of.map(str::to_owned), ..issued() });
            let by = Grantor {
                scopes: vec![Scope::TokensWrite, Scope::RegistryPypi, scope],
                profile: by.map(str::to_owned),
            };
            let standing = Standing::Nobody;
            decide(&[], &Command::Issue { token, by, binding, standing }).refusal
        };
        let (agent, trial) = (Some("agent"), Some("trial"));
        let plain = Scope::RulesRead;
        assert_eq!(issue(agent, None, plain, Binding::Stricter), None);
        assert_eq!(issue(agent, agent, plain, Binding::Stricter), None);
        let bound = Some(Refusal::Bound("agent".to_owned()));
        for (other, scope) in [(None, plain), (trial, plain), (None, Scope::Admin)] {
            assert_eq!(issue(other, agent, scope, Binding::Stricter), bound, "{other:?}");
        }
        let refused = Some(Refusal::AuditNeedsAdmin("trial".to_owned()));
        assert_eq!(issue(trial, None, plain, Binding::Audit), refused);
        assert_eq!(issue(trial, None, Scope::Admin, Binding::Audit), None);
        let unknown = Some(Refusal::NoProfile("trial".to_owned()));
        assert_eq!(issue(trial, None, Scope::Admin, Binding::Unknown), unknown);
    }

    #[test]
    fn a_token_is_an_agents_own_while_it_is_trusted_and_hands_out_nothing() {
        let agent = AgentId::new([7; 32]);
        let issue = |scopes: &[Scope], standing| {
            let scopes = scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
            let token = Box::new(TokenIssued { scopes, agent: Some(agent), ..issued() });
            let (by, binding) = (Grantor::admin(), Binding::Stricter);
            decide(&[], &Command::Issue { token, by, binding, standing }).refusal
        };
        let fetch = [Scope::WebFetch, Scope::RegistryNpm];
        assert_eq!(issue(&fetch, Standing::Trusted), None);
        for standing in [Standing::Unknown, Standing::Nobody] {
            assert_eq!(issue(&fetch, standing), Some(Refusal::NoAgent(agent)));
        }
        for scope in [
            Scope::Admin,
            Scope::TokensWrite,
            Scope::AgentsWrite,
            Scope::WebWrite,
            Scope::RulesWrite,
            Scope::NexusWrite,
            Scope::MintWrite,
        ] {
            let refused = issue(&[Scope::WebFetch, scope], Standing::Trusted);
            assert_eq!(refused, Some(Refusal::NotForAgents(scope.as_str())));
        }
        let nobodys = TokenIssued { scopes: vec!["web:fetch".to_owned()], ..issued() };
        assert_eq!(decide(&[], &self::issue(nobodys)).refusal, Some(Refusal::NeedsAgent));
    }

    #[test]
    fn a_revoked_token_opens_nothing_and_revoking_it_again_changes_nothing() {
        let revoked = TokenRevoked { token_id: issued().token_id };
        let live = vec![Event::from(issued())];
        assert_eq!(decide(&live, &Command::Revoke), Decision::accept(revoked.clone()));
        let dead = vec![issued().into(), revoked.into()];
        assert_eq!(decide(&dead, &Command::Revoke), Decision::nothing());
        assert_eq!(decide(&[], &Command::Revoke), Decision::refuse(Refusal::Unknown));
        assert_eq!(fold::<Token>(&dead).live_at(NOW.now), None);
        assert_eq!(fold::<Token>(&live).live_at(NOW.now), Some(&issued()));
    }

    #[test]
    fn a_token_ends_at_its_very_moment() {
        let state = fold::<Token>(&[issued().into()]);
        assert!(state.live_at(Timestamp::from_micros(1_999_999)).is_some());
        assert!(state.live_at(Timestamp::from_micros(2_000_000)).is_none());
    }

    #[test]
    fn every_scope_is_found_by_its_name() {
        for scope in Scope::ALL {
            assert_eq!(Scope::find(scope.as_str()), Some(scope));
        }
        // Whoever misspells a scope is told all there are.
        let told = Refusal::BadScope("root".to_owned()).to_string();
        assert!(
            told.starts_with("`root` is not a scope; choose from admin, events:read, "),
            "{told}"
        );
        assert!(Scope::ALL.iter().all(|scope| told.contains(scope.as_str())), "{told}");
    }
}
