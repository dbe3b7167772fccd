//! What is said of hosts, as this process knows it: rules and waivers folded from the log at the
//! start and followed from then on, so that a rule added on any instance counts here a moment later.
//! Names are judged here, and no address behind them: that is for whoever connects.

mod fault;
mod live;

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use tracing::{info, warn};
use weir_aggregates::web::{
    derived::Registries,
    domain::NO_RULE,
    host::Host,
    rules::{Command, Refusal, Rules as Keeper},
    waiver::CompiledWaiver,
};
use weir_events::{
    position::Position,
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
    web::{
        Event,
        request::{AgentId, PortalError},
        rule::{Action, DomainRule, Permits, RULES},
    },
};
use weir_log::{database::patiently, lifecycle::Lifecycle};

use self::live::{History, Known, Live};
pub use self::{fault::RulesFault, live::NotThereYet};
use crate::{
    caller::Caller,
    door::{Door, ExecuteFault, Executed, IdempotencyKey},
    follower::{FollowFault, Follower},
    outbound::web::address::{UrlFault, WebUrl},
};

/// Why a port is not reached.
const PORT: &str = "the port is not allowed: a rule that allows the host has to name it";

/// How long who updates a rule waits until it counts here.
const PATIENCE: Duration = Duration::from_secs(2);

/// How hosts are judged beside the rules.
#[derive(Debug, Clone)]
pub struct RulesSettings {
    /// What becomes of a host that no rule names.
    pub default: Action,
    /// The ports that are reached without a rule that names them.
    pub ports: Vec<u16>,
    /// Where package registries are.
    pub registries: Registries,
}

/// The live rules of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rules {
    door: Door,
    stream: StreamName,
    settings: Arc<RulesSettings>,
    live: Arc<Live>,
}

/// A rule does not hold, or not yet.
#[derive(Debug, thiserror::Error)]
pub enum UpdateFault {
    /// It was not put on record.
    #[error(transparent)]
    Execute(#[from] ExecuteFault<Refusal>),
    /// It is on record, and not in force here yet.
    #[error(transparent)]
    Late(#[from] NotThereYet),
}

/// What is said of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What becomes of it.
    pub action: Action,
    /// The pattern of the rule that says so, where one does.
    pub rule: Option<String>,
    /// What kind of host it is.
    pub category: Option<String>,
    /// What an agent is told.
    pub reason: String,
    /// The waiver that lets it through in spite of that, by its id.
    pub waived_by: Option<String>,
}

impl RulesSettings {
    /// Package registries first, which no rule lets through; then the rules, Block before Allow; a
    /// waiver lets through what all of these block. The port comes last.
    fn judge(&self, known: &Known, host: &Host, port: u16, now: Timestamp) -> Verdict {
        let word = known.index.judge(host, port, self.default);
        let verdict = match (self.registries.rule(host, port), word.rule) {
            (Some(rule), _) => Verdict::of_rule(&rule),
            (None, Some(rule)) => Verdict::of_rule(rule),
            (None, None) => Verdict::without_rule(word.action, NO_RULE.to_owned()),
        };
        let waivers = || known.host_waivers(host, port, now);
        let (verdict, port_named) = match waivers().next() {
            Some(waiver) if !verdict.allows() => {
                let reason = waiver.waiver.reason.clone();
                let waived_by = Some(waiver.waiver.id.clone());
                let waived = Verdict { action: Action::Allow, reason, waived_by, ..verdict };
                (waived, waivers().any(CompiledWaiver::names_port))
            }
            _ => (verdict, word.names_port),
        };
        if verdict.allows() && !port_named && !self.ports.contains(&port) {
            return Verdict { action: Action::Block, reason: PORT.to_owned(), ..verdict };
        }
        verdict
    }
}

impl Verdict {
    /// Whether it may be asked.
    #[must_use]
    pub fn allows(&self) -> bool {
        self.action == Action::Allow
    }

    fn of_rule(rule: &DomainRule) -> Self {
        Self {
            action: rule.action,
            rule: Some(rule.pattern.clone()),
            category: Some(rule.category.clone()),
            reason: rule.reason.clone(),
            waived_by: None,
        }
    }

    const fn without_rule(action: Action, reason: String) -> Self {
        Self { action, rule: None, category: None, reason, waived_by: None }
    }
}

/// What is said of an address, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The address in its one spelling.
    pub url: String,
    /// Its host in its one spelling.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What becomes of it.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Every rule that matches, the one that decides first.
    pub matching: Vec<DomainRule>,
    /// The waivers that are in force for it.
    pub waivers: Vec<String>,
}

impl Rules {
    /// Reads the rules, has those that Weir brings along recorded where nobody ever said anything,
    /// and goes on following them until the process stops.
    pub async fn start(
        door: &Door,
        settings: RulesSettings,
        lifecycle: &Lifecycle,
    ) -> Result<Self, RulesFault> {
        let begun = patiently(RulesFault::passing, || async { begin(door).await }).await?;
        if !begun.events.is_empty() {
            info!(position = %begun.position, n_rules = begun.events.len(), "domain rules begun");
        }
        let log = door.log();
        let (follower, known) =
            patiently(FollowFault::passing, || Follower::load::<History>(log.clone())).await?;
        info!(
            n_rules = known.index.len(),
            registries = ?settings.registries.patterns(),
            position = %known.position,
            "domain rules loaded"
        );
        if settings.default == Action::Allow {
            warn!("web.default_action is `allow`: agents reach every host that no rule blocks");
        }
        let live = Arc::new(Live::new(known));
        let (soft, ours) = (lifecycle.soft().clone(), Arc::clone(&live));
        lifecycle.run("domain rules", async move {
            soft.run_until_cancelled(follower.follow(&*ours)).await;
        });
        let (door, stream, settings) = (door.clone(), stream()?, Arc::new(settings));
        Ok(Self { door, stream, settings, live })
    }

    /// The rules that no operator keeps: where package registries are.
    #[must_use]
    pub fn derived(&self) -> Vec<DomainRule> {
        self.settings.registries.rules()
    }

    /// What is said of an address.
    #[must_use]
    pub fn judge(&self, url: &WebUrl) -> Verdict {
        let now = self.door.now();
        self.live.read(|known| match known {
            Ok(known) => self.settings.judge(known, url.name(), url.port(), now),
            Err(cause) => {
                let words = format!("the rules cannot be read by this build of Weir: {cause}");
                Verdict::without_rule(Action::Block, words)
            }
        })
    }

    /// Whether all of these origins may be asked.
    #[must_use]
    pub fn all_allowed(&self, origins: &[String]) -> bool {
        let allowed = |url: WebUrl| self.judge(&url).allows();
        origins.iter().all(|origin| WebUrl::parse(origin).is_ok_and(allowed))
    }

    /// Whether a cached page may be shown: nothing that it was read from is blocked by now.
    #[must_use]
    pub fn may_be_shown(&self, url: &str, redirected: &[String]) -> bool {
        self.all_allowed(&[url.to_owned()]) && self.all_allowed(redirected)
    }

    /// Whether an agent may be given the code of a page that was read by way of these origins.
    ///
    /// # Errors
    /// Where a waiver is missing for one of them.
    pub fn all_keep_code(&self, agent: &AgentId, origins: &[String]) -> Result<(), PortalError> {
        for origin in origins {
            let url = WebUrl::parse(origin);
            if !url.is_ok_and(|url| self.may_keep_code(Some(agent), &url)) {
                let words = format!(
                    "a redirect leads to {origin}, and `strip_code_blocks: false` needs a waiver for \
                     that, too"
                );
                return Err(PortalError::PermissionDenied(words));
            }
        }
        Ok(())
    }

    /// Whether an agent may be given the code of a page.
    #[must_use]
    pub fn may_keep_code(&self, agent: Option<&AgentId>, url: &WebUrl) -> bool {
        let (host, port, now) = (url.name(), url.port(), self.door.now());
        self.live.read(|known| {
            known.is_ok_and(|known| {
                let place = (host, port);
                let mut waivers = known.waivers.iter();
                waivers.any(|waiver| waiver.covers(Permits::Code, agent, place, now))
            })
        })
    }

    /// What is said of an address, and why.
    ///
    /// # Errors
    /// Where the address is none that a request may have.
    pub fn explain(&self, url: &str) -> Result<Check, PortalError> {
        let invalid = |fault: UrlFault| PortalError::InvalidUrl(fault.to_string());
        let url = WebUrl::parse(url).map_err(invalid)?;
        let (host, port) = (url.name(), url.port());
        let (verdict, now) = (self.judge(&url), self.door.now());
        let (matching, waivers) = self.live.read(|known| match known {
            Ok(known) => {
                let of_registry = self.settings.registries.rule(host, port);
                let of_rules = known.index.matching(host, port).into_iter().cloned();
                let waivers = known.host_waivers(host, port, now);
                let waivers = waivers.map(|waiver| waiver.waiver.id.clone());
                (of_registry.into_iter().chain(of_rules).collect(), waivers.collect())
            }
            Err(_) => (Vec::new(), Vec::new()),
        });
        let (url, host) = (url.as_str().to_owned(), host.to_string());
        Ok(Check { url, host, port, verdict, matching, waivers })
    }

    /// Has a rule hold from now on, here before this answers, elsewhere a moment later.
    ///
    /// # Errors
    /// Where the rule makes no sense, or the log is not there.
    pub async fn update(
        &self,
        rule: DomainRule,
        caller: &Caller,
        key: Option<IdempotencyKey>,
    ) -> Result<Executed<Event>, UpdateFault> {
        let executed = self.execute(&Command::Set(vec![rule]), caller, key).await?;
        if !executed.events.is_empty() {
            self.reaches(executed.position, PATIENCE).await?;
        }
        Ok(executed)
    }

    /// Puts a command to the rules.
    ///
    /// # Errors
    /// As the door has them.
    pub async fn execute(
        &self,
        command: &Command,
        caller: &Caller,
        key: Option<IdempotencyKey>,
    ) -> Result<Executed<Event>, ExecuteFault<Refusal>> {
        self.door.execute::<Keeper>(&self.stream, command, caller, key).await
    }

    /// Waits until what stands at a position counts here: for answers to those who changed something.
    ///
    /// # Errors
    /// Where that does not happen in time.
    pub async fn reaches(&self, position: Position, bound: Duration) -> Result<(), NotThereYet> {
        self.live.reaches(position, bound).await
    }
}

/// The stream of rules. It has a name.
fn stream() -> Result<StreamName, StreamNameFault> {
    StreamName::new(RULES)
}

/// Has the rules that Weir brings along recorded, once in the life of a log.
async fn begin(door: &Door) -> Result<Executed<Event>, RulesFault> {
    let (stream, caller) = (stream()?, Caller::processor("rules"));
    let begun = door.execute::<Keeper>(&stream, &Command::Begin, &caller, None).await;
    begun.map_err(RulesFault::Begin)
}

#[cfg(test)]
mod tests;
