//! What would become of a request, without its being made: every gate of the road in its order, with
//! the same judges that a request meets. Nothing is asked of the outside, nothing goes on record.

use weir_aggregates::{
    machine::{Context, Machine as _},
    mint::{self, Account},
    nexus::Moment,
    web::gateway::{BackOff, Gateway, Knock, State},
};
use weir_events::{
    mint::stream as account_stream,
    web::{
        agent_stream,
        content::ContentFilter,
        request::{AgentId, ApiInteractionKind, HttpMethod, PortalError},
    },
};

use super::{
    Portal,
    admit::unpaid,
    gateway::{PortalGateway as _, internal, of_door},
    read::interaction,
};
use crate::{
    outbound::web::{
        address::WebUrl,
        hop::{Hop, Pass},
    },
    web::{pages, rules::Check},
};

/// What is wondered about: a request without headers and body, by the default filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The address.
    pub url: String,
    /// The method.
    pub method: HttpMethod,
    /// The agent; where none is named, its own gates are not looked at.
    pub agent: Option<AgentId>,
}

/// What would become of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foresight {
    /// What is said of the address.
    pub check: Check,
    /// When it was looked at, in the world's time.
    pub moment: Moment,
    /// The gates, in the order of the road. All are asked, also behind one that refuses.
    pub steps: Vec<Step>,
    /// Whether the cache would answer, as far as an agent is named.
    pub cached: Option<bool>,
    /// Whether the agent may be given the page's code, as far as one is named.
    pub keeps_code: Option<bool>,
}

/// A gate, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Which.
    pub gate: Gate,
    /// What it says.
    pub said: Said,
}

/// The gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Whether the agent is known and trusted.
    Agent,
    /// What the epoch allows.
    Epoch,
    /// How often the agent asks.
    Pace,
    /// What its quota has left.
    Quota,
    /// What rules and waivers say of the host.
    Host,
    /// Whether it can pay.
    Spark,
    /// What the host's address is, and whether the host wants to be left alone.
    Address,
}

/// What a gate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It lets it through, and why.
    Passes(String),
    /// It does not.
    Refuses(PortalError),
    /// It says that only when the request is made.
    Later(String),
    /// It is not asked.
    Unneeded(String),
}

impl Gate {
    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Epoch => "epoch",
            Self::Pace => "pace",
            Self::Quota => "quota",
            Self::Host => "host",
            Self::Spark => "spark",
            Self::Address => "address",
        }
    }
}

impl Foresight {
    /// Whether no gate refuses it.
    #[must_use]
    pub fn passes(&self) -> bool {
        !self.steps.iter().any(|step| matches!(step.said, Said::Refuses(_)))
    }
}

impl Portal {
    /// What would become of a request.
    ///
    /// # Errors
    /// Where the address is none that a request may have, or the log is not there.
    pub async fn foresee(&self, question: &Question) -> Result<Foresight, PortalError> {
        let check = self.check_domain(&question.url)?;
        let url = WebUrl::parse(&check.url);
        let url = url.map_err(|fault| PortalError::InvalidUrl(fault.to_string()))?;
        let moment = self.now().await?;
        let knock = Knock {
            method: question.method,
            interaction: interaction(question.method, None, &url)?,
            tick: moment.tick,
            epoch: moment.epoch,
            requests_per_tick: self.parts().settings.requests_per_tick,
            carried: BackOff::default(),
        };
        let host = Step { gate: Gate::Host, said: of_host(&check) };
        let address = Step { gate: Gate::Address, said: self.address(&url) };
        let Some(agent) = question.agent else {
            let steps = vec![of_epoch(&knock), host, address];
            return Ok(Foresight { check, moment, steps, cached: None, keeps_code: None });
        };
        let cached = self.is_cached(&knock, &url, &agent, moment.cycle).await?;
        let mut steps = self.own(&agent, knock, moment.cycle).await?;
        steps.push(host);
        if cached {
            let words = || Said::Unneeded("the cache has it".to_owned());
            steps.push(Step { gate: Gate::Spark, said: words() });
            steps.push(Step { gate: Gate::Address, said: words() });
        } else {
            steps.push(self.spark(&agent, &knock).await?);
            steps.push(address);
        }
        let keeps_code = Some(self.rules().may_keep_code(Some(&agent), &url));
        Ok(Foresight { check, moment, steps, cached: Some(cached), keeps_code })
    }

    /// The gates that an agent has for itself, up to its quota.
    async fn own(
        &self,
        agent: &AgentId,
        knock: Knock,
        cycle: u64,
    ) -> Result<Vec<Step>, PortalError> {
        let known = match self.parts().agents.key(agent).await {
            Ok(_) => Said::Passes("it is registered and not revoked".to_owned()),
            Err(error @ PortalError::PermissionDenied(_)) => Said::Refuses(error),
            Err(error) => return Err(error),
        };
        let stream = agent_stream(agent, cycle).map_err(internal)?;
        let (state, _) = self.parts().door.load::<Gateway>(&stream).await.map_err(of_door)?;
        let knock = Knock { carried: self.carried(agent, cycle).await?, ..knock };
        Ok(vec![
            Step { gate: Gate::Agent, said: known },
            of_epoch(&knock),
            Step { gate: Gate::Pace, said: of_pace(&knock, &state) },
            Step { gate: Gate::Quota, said: of_quota(&knock, &state, cycle) },
        ])
    }

    /// Whether the agent can pay what it may cost.
    async fn spark(&self, agent: &AgentId, knock: &Knock) -> Result<Step, PortalError> {
        let (account, door) = (agent.to_string(), &self.parts().door);
        let stream = account_stream(&account).map_err(internal)?;
        let (state, _) = door.load::<Account>(&stream).await.map_err(of_door)?;
        let (amount, tax) = (knock.worst().spark, self.parts().settings.tax);
        let transfer = "foresight".to_owned();
        let reserve = mint::Command::Reserve { account, transfer, amount, tax };
        let decision = Account::decide(&state, &reserve, &Context { now: door.now() });
        let said = if let Some(refusal) = decision.refusal {
            Said::Refuses(unpaid(&refusal))
        } else {
            let (needed, free) = (tax.with(amount), state.free());
            Said::Passes(format!("{needed} spark are needed, tax included, and {free} are free"))
        };
        Ok(Step { gate: Gate::Spark, said })
    }

    /// Whether the cache has it, by the default filter.
    async fn is_cached(
        &self,
        knock: &Knock,
        url: &WebUrl,
        agent: &AgentId,
        cycle: u64,
    ) -> Result<bool, PortalError> {
        if knock.interaction != ApiInteractionKind::RestGet {
            return Ok(false);
        }
        let key = pages::key(url.as_str(), knock.method, &[]);
        let variant = pages::variant(&ContentFilter::default());
        let found = self.parts().pages.lookup(&key, &variant, agent, cycle).await?;
        Ok(found.is_some_and(|found| self.may_show(agent, &ContentFilter::default(), &found)))
    }

    /// What can be said of where the host stands without asking anybody.
    fn address(&self, url: &WebUrl) -> Said {
        // The rules have had their word.
        let any = |_: &Hop<'_>| Ok(Pass::ThisPort);
        let egress = &self.parts().egress;
        match egress.check(url, &any).and_then(|()| egress.welcome(url.host())) {
            Err(why) => Said::Refuses(self.not_yet(why)),
            Ok(()) if url.literal().is_some() => {
                Said::Passes("the address is one that may be reached".to_owned())
            }
            Ok(()) => {
                let host = url.host();
                Said::Later(format!(
                    "what `{host}` resolves to is judged when it is asked, and so is every redirect"
                ))
            }
        }
    }
}

fn of_epoch(knock: &Knock) -> Step {
    let said = match knock.is_in_epoch() {
        Ok(()) => Said::Passes(format!("epoch {} allows {}", knock.epoch, knock.method)),
        Err(error) => Said::Refuses(error),
    };
    Step { gate: Gate::Epoch, said }
}

fn of_pace(knock: &Knock, state: &State) -> Said {
    match knock.is_in_pace(state) {
        Ok(()) => {
            let (n, tick) = (knock.requests_per_tick, knock.tick);
            Said::Passes(format!("at most {n} in a tick, and there is room in tick {tick}"))
        }
        Err(error) => Said::Refuses(error),
    }
}

fn of_quota(knock: &Knock, state: &State, cycle: u64) -> Said {
    match knock.is_in_quota(state) {
        Ok(max) => Said::Passes(format!("{} of {max} are used in cycle {cycle}", state.used())),
        Err(error) => Said::Refuses(error),
    }
}

fn of_host(check: &Check) -> Said {
    let reason = check.verdict.reason.clone();
    if check.verdict.allows() {
        Said::Passes(reason)
    } else {
        Said::Refuses(PortalError::DomainBlocked { domain: check.host.clone(), reason })
    }
}
