//! Waivers of the gateway: a host that is asked although it is blocked, or code that stays in what is
//! fetched. Stream `web/waivers`. Each needs a second person, for nothing else gets past a Block.

use std::sync::Arc;

use weir_events::{
    kind::Subsystem,
    timestamp::Timestamp,
    web::{
        Event,
        request::AgentId,
        rule::{
            Action, Permits, WAIVERS, WebWaiver, WebWaiverExpired, WebWaiverGranted,
            WebWaiverRequested, WebWaiverRevoked,
        },
    },
};

use super::{
    domain::{Pattern, PatternFault},
    host::Host,
};
use crate::{
    machine::{Context, Decision, Machine},
    waiver::{self, Book, Change, Keeps, Waives},
    words::short,
};

/// The machine that keeps the waivers.
#[derive(Debug)]
pub struct Waivers;

/// The waivers that are in force or wait for a second person.
pub type State = Book<WebWaiver>;

type Known = waiver::Known<WebWaiver>;

/// What can be asked.
pub type Command = waiver::Command<WebWaiver>;

/// A waiver that can be asked.
#[derive(Debug, Clone)]
pub struct CompiledWaiver {
    /// The waiver as it stands in the log.
    pub waiver: WebWaiver,
    /// `None` where it is about every host.
    pattern: Option<Pattern>,
}

impl CompiledWaiver {
    /// Makes a waiver ready. One whose pattern this build cannot read permits nothing.
    #[must_use]
    pub fn new(waiver: &WebWaiver) -> Option<Self> {
        let parse = |pattern: &String| Pattern::parse(pattern, Action::Allow);
        let pattern = waiver.pattern.as_ref().map(parse).transpose().ok()?;
        Some(Self { waiver: waiver.clone(), pattern })
    }

    /// Whether it permits something, to an agent, of a host at a port, at a time.
    #[must_use]
    pub fn covers(
        &self,
        permits: Permits,
        agent: Option<&AgentId>,
        (host, port): (&Host, u16),
        now: Timestamp,
    ) -> bool {
        self.waiver.permits == permits
            && now < self.waiver.expires_at
            && self.waiver.agent.as_ref().is_none_or(|own| Some(own) == agent)
            && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(host, port))
    }

    /// Whether it names a port, which then is permitted too.
    #[must_use]
    pub fn names_port(&self) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| pattern.port().is_some())
    }
}

impl State {
    /// The waivers that were granted and not taken back, ready to be asked, the oldest first.
    pub fn granted(&self) -> impl Iterator<Item = Arc<CompiledWaiver>> {
        let granted = self.all().filter(|known| known.granted_by.is_some());
        granted.filter_map(|known| CompiledWaiver::new(&known.waiver).map(Arc::new))
    }
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// For a reason that any waiver may be refused for.
    #[error(transparent)]
    Any(#[from] waiver::Refusal),
    /// The pattern makes no sense.
    #[error("`{pattern}` is no pattern: {cause}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        #[source]
        cause: PatternFault,
    },
    /// It is about every host.
    #[error("a waiver of hosts names them by a pattern")]
    EveryHost,
    /// A host is for all or for nobody.
    #[error("a waiver of hosts is for every agent: leave the agent out")]
    OneAgent,
    /// It is about everybody everywhere.
    #[error("a waiver of code names an agent, hosts by a pattern, or both")]
    Everybody,
}

impl Waives for WebWaiver {
    fn id(&self) -> &str {
        &self.id
    }

    fn reason(&self) -> &str {
        &self.reason
    }

    fn owner(&self) -> &str {
        &self.owner
    }

    fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

impl From<Change<WebWaiver>> for Event {
    fn from(change: Change<WebWaiver>) -> Self {
        match change {
            Change::Stands(Known { waiver, requested_by, granted_by: None }) => {
                WebWaiverRequested { waiver, requested_by }.into()
            }
            Change::Stands(Known { waiver, requested_by, granted_by: Some(granted_by) }) => {
                WebWaiverGranted { waiver, requested_by, granted_by }.into()
            }
            Change::Revoked { id, by, reason } => {
                WebWaiverRevoked { id, revoked_by: by, reason }.into()
            }
            Change::Expired { id } => WebWaiverExpired { id }.into(),
        }
    }
}

impl Machine for Waivers {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Web;

    fn decide(state: &State, command: &Command, context: &Context) -> Decision<Event, Refusal> {
        state.decide(command, context, check, |_| true)
    }

    fn apply(state: &mut State, event: &Event) {
        if let Some(change) = Self::change(event) {
            state.apply(change);
        }
    }
}

impl Keeps for Waivers {
    type Waiver = WebWaiver;

    const STREAM: &'static str = WAIVERS;

    fn change(event: &Event) -> Option<Change<WebWaiver>> {
        // Only what concerns waivers is copied: most of what is folded does not.
        Some(match event {
            Event::WebWaiverRequested(WebWaiverRequested { waiver, requested_by }) => {
                Change::stands(waiver, requested_by, None)
            }
            Event::WebWaiverGranted(WebWaiverGranted { waiver, requested_by, granted_by }) => {
                Change::stands(waiver, requested_by, Some(granted_by))
            }
            Event::WebWaiverRevoked(WebWaiverRevoked { id, revoked_by, reason }) => {
                Change::revoked(id, revoked_by, reason)
            }
            Event::WebWaiverExpired(WebWaiverExpired { id }) => Change::Expired { id: id.clone() },
            _ => return None,
        })
    }
}

/// What a waiver of the gateway must say beside what every waiver says.
fn check(waiver: &WebWaiver) -> Result<(), Refusal> {
    if let Some(pattern) = &waiver.pattern {
        let parsed = Pattern::parse(pattern, Action::Allow);
        parsed.map_err(|cause| Refusal::BadPattern { pattern: short(pattern), cause })?;
    }
    match (waiver.permits, &waiver.pattern, &waiver.agent) {
        (Permits::Host, None, _) => Err(Refusal::EveryHost),
        (Permits::Host, _, Some(_)) => Err(Refusal::OneAgent),
        (Permits::Code, None, None) => Err(Refusal::Everybody),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{machine::fold, registry::testing::id};

    const NOW: Context = Context { now: Timestamp::EPOCH };

    fn waiver(permits: Permits, pattern: Option<&str>, agent: Option<u8>) -> WebWaiver {
        WebWaiver {
            id: id(1),
            permits,
            pattern: pattern.map(str::to_owned),
            agent: agent.map(|byte| AgentId::new([byte; 32])),
            reason: "reviewed".to_owned(),
            owner: "team a".to_owned(),
            expires_at: Timestamp::EPOCH.plus_seconds(60),
        }
    }

    fn ask(waiver: WebWaiver) -> Command {
        Command::Request { waiver, by: "ann".to_owned(), second_person: false }
    }

    #[test]
    fn a_waiver_waits_for_a_second_person_and_is_over_when_its_time_is() {
        let waits = Waivers::decide(
            &State::default(),
            &ask(waiver(Permits::Host, Some("github.com"), None)),
            &NOW,
        );
        assert!(matches!(waits.events[..], [Event::WebWaiverRequested(_)]), "{waits:?}");
        let state = fold::<Waivers>(&waits.events);
        assert_eq!(state.granted().count(), 0);
        let grant = |by: &str| Command::Grant { id: id(1), by: by.to_owned() };
        let refused = Waivers::decide(&state, &grant("ann"), &NOW).refusal;
        assert_eq!(refused, Some(Refusal::Any(waiver::Refusal::SamePerson(id(1)))));
        let granted = Waivers::decide(&state, &grant("bob"), &NOW);
        let state = fold::<Waivers>(waits.events.iter().chain(&granted.events));
        let compiled = state.granted().next().unwrap();
        let host = Host::new("github.com").unwrap();
        let covers = |permits, now| compiled.covers(permits, None, (&host, 443), now);
        assert!(covers(Permits::Host, NOW.now));
        assert!(!covers(Permits::Code, NOW.now));
        assert!(!covers(Permits::Host, NOW.now.plus_seconds(60)));
        let below = Host::new("api.github.com").unwrap();
        assert!(!compiled.covers(Permits::Host, None, (&below, 443), NOW.now), "it is exact");
    }

    #[test]
    fn code_is_permitted_to_one_agent_or_of_some_hosts() {
        let host = Host::new("docs.rs").unwrap();
        let ours = AgentId::new([7; 32]);
        for (pattern, agent, to_us, to_others, elsewhere) in [
            (None, Some(7), true, false, true),
            (Some("docs.rs"), None, true, true, false),
            (Some("docs.rs"), Some(7), true, false, false),
        ] {
            let compiled = CompiledWaiver::new(&waiver(Permits::Code, pattern, agent)).unwrap();
            let covers = |agent: &AgentId, host: &Host| {
                compiled.covers(Permits::Code, Some(agent), (host, 443), NOW.now)
            };
            let found = (
                covers(&ours, &host),
                covers(&AgentId::new([8; 32]), &host),
                covers(&ours, &Host::new("arxiv.org").unwrap()),
            );
            assert_eq!(found, (to_us, to_others, elsewhere), "{pattern:?} {agent:?}");
        }
    }

    #[test]
    fn what_a_waiver_may_not_be_is_refused_by_name() {
        for (bad, refusal) in [
            (waiver(Permits::Host, None, None), Refusal::EveryHost),
            (waiver(Permits::Host, Some("x.com"), Some(7)), Refusal::OneAgent),
            (waiver(Permits::Code, None, None), Refusal::Everybody),
        ] {
            let refused = Waivers::decide(&State::default(), &ask(bad), &NOW);
            assert_eq!(refused, Decision::refuse(refusal));
        }
        let bad = waiver(Permits::Host, Some("re:("), None);
        let refused = Waivers::decide(&State::default(), &ask(bad), &NOW).refusal.unwrap();
        assert!(refused.to_string().contains("`re:(` is no pattern"), "{refused}");
        let forever = WebWaiver {
            expires_at: Timestamp::EPOCH.plus_seconds(400 * 86_400),
            ..waiver(Permits::Code, None, Some(7))
        };
        let refused = Waivers::decide(&State::default(), &ask(forever), &NOW);
        assert_eq!(refused, Decision::refuse(waiver::Refusal::BadTime.into()));
    }
}
