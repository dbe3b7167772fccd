//! What is asked of a request before anything of it is looked up: whether its agent has signed it,
//! whether it has the shape of one, and what is said of its host, with as many rules as there may be.

use std::{
    cell::RefCell,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use ed25519_dalek::VerifyingKey;
use tokio::sync::broadcast;
use weir_aggregates::web::{
    derived::Registries,
    domain::{MAX_ODD, MAX_RULES},
};
use weir_events::{
    stream::StreamName,
    web::{
        Event,
        request::PortalRequest,
        rule::{Action, DomainRule, DomainRuleUpdated, RULES},
    },
};
use weir_log::append::Outcome;
use weir_processors::{
    access::Tokens,
    caller::Caller,
    clock::SystemClock,
    door::Door,
    outbound::web::address::WebUrl,
    web::{
        rules::{Rules, RulesSettings},
        signature::{Agents, DEFAULT_WINDOW},
    },
};

use super::agent::Agent;
use crate::{
    Fault, chain,
    database::{OpenLog, Scratch},
    effort::{Effort, Pair, alternate, median, quantile},
    events,
    line::{Line, Target},
    options::Options,
    report::{Report, again},
};

/// The tick that all requests are signed in.
const TICK: u64 = 1_000;
/// Requests that are judged in turn.
const N_REQUESTS: usize = 1_000;
/// Rules of one append.
const N_TOGETHER: usize = 1_000;

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let all = Line::new(
        "decide.100k_rules",
        "signature, shape and verdict of a request with 100,000 rules about hosts, median",
        "us",
        "one verification of ed25519",
        Target::AtMost(4.0),
    );
    let alone = Line::new(
        "decide.100k_rules.alone",
        "the verdict of the rules alone, median",
        "us",
        "",
        Target::About("<= 5 us"),
    );
    let wanted = [&all, &alone].map(|line| options.wants(line.name));
    if wanted == [false, false] {
        return;
    }
    let measured = measure(options, effort).await;
    let fault = |fault: &Fault| again(fault, &chain(fault.as_ref()));
    if options.wants(all.name) {
        let pair = measured.as_ref().map(|(pair, _)| all.clone().pair(*pair)).map_err(fault);
        report.add(all, pair);
    }
    if options.wants(alone.name) {
        let line = measured.as_ref().map_err(fault).map(|(_, took)| {
            let mut took = took.clone();
            let slow = quantile(&mut took, 0.99);
            let note = format!("{slow:.2} us for the 99th of 100, {MAX_ODD} of them patterns");
            alone.clone().alone(median(&mut took)).noting(note)
        });
        report.add(alone, line);
    }
}

/// What is asked of every request.
struct Gate {
    agents: Agents,
    rules: Rules,
    /// The agent's key, ready to verify with.
    key: VerifyingKey,
    requests: Vec<PortalRequest>,
}

async fn measure(options: &Options, effort: Effort) -> Result<(Pair, Vec<f64>), Fault> {
    let scratch = Scratch::migrated(&options.database, "decide").await?;
    let open = scratch.log().await?;
    fill(&open).await?;
    let gate = Gate::new(&open).await?;
    let alone = RefCell::new(Vec::new());
    let pair = alternate(
        effort.n_rounds,
        || gate.judged(effort.span, &alone),
        async || gate.verified(effort.span),
    );
    let pair = pair.await?;
    open.close().await;
    scratch.discard().await?;
    Ok((pair, alone.into_inner()))
}

/// Records as many rules as there may be.
async fn fill(open: &OpenLog) -> Result<(), Fault> {
    let stream = StreamName::new(RULES)?;
    let mut nth = 0;
    while nth < MAX_RULES {
        let upto = MAX_RULES.min(nth + N_TOGETHER);
        let rules = (nth..upto).map(|nth| {
            let rule = rule(nth);
            events::of::<Event>(
                &DomainRuleUpdated { pattern: rule.pattern.clone(), rule: Some(rule) }.into(),
            )
        });
        let append = events::append(&stream, None, rules.collect::<Result<_, _>>()?);
        if !matches!(open.log.append(append).await?, Outcome::Appended(_)) {
            return Err("the rules could not be recorded".into());
        }
        nth = upto;
    }
    Ok(())
}

/// Names, names with all below them, and as many patterns as there may be.
fn rule(nth: usize) -> DomainRule {
    let (pattern, action) = match nth {
        nth if nth < MAX_ODD / 2 => (format!("cdn-*.place{nth}.example"), Action::Block),
        nth if nth < MAX_ODD => {
            (format!("re:(docs|api)[0-9]+\\.place{nth}\\.example"), Action::Allow)
        }
        nth => match nth % 4 {
            0 => (format!("docs.site{nth}.example"), Action::Allow),
            1 => (format!("**.site{nth}.example"), Action::Block),
            2 => (format!("*.site{nth}.example"), Action::Allow),
            _ => (format!("site{nth}.example"), Action::Block),
        },
    };
    let (category, reason) = ("measured".to_owned(), "one of very many".to_owned());
    DomainRule { pattern, action, category, reason }
}

/// Half of them are about hosts that a rule names.
fn url(nth: usize) -> String {
    let site = MAX_ODD + nth * 97;
    match nth % 4 {
        0 => format!("https://docs.site{site}.example/guide/page-{nth}.html"),
        1 => format!("https://a.b.site{site}.example/guide/page-{nth}.html?q=how"),
        2 => format!("https://www.unheard-of-{nth}.example/index.html"),
        _ => format!("https://docs{nth}.place{}.example/v1/things", nth % MAX_ODD),
    }
}

impl Gate {
    async fn new(open: &OpenLog) -> Result<Self, Fault> {
        let door = Door::new(open.log.clone(), Arc::new(SystemClock));
        let agent = Agent::new("decide");
        let keys = Tokens::new(door.clone());
        keys.follow(broadcast::Sender::new(16), &open.lifecycle);
        let caller = Caller::processor("bench");
        keys.agents().register("decide".to_owned(), agent.public_key(), &caller, None).await?;
        let settings = RulesSettings {
            default: Action::Block,
            ports: vec![80, 443],
            registries: Registries::default(),
        };
        let rules = Rules::start(&door, settings, &open.lifecycle).await?;
        let requests = (0..N_REQUESTS).map(|nth| agent.request(&url(nth), TICK));
        Ok(Self {
            agents: Agents::new(keys.agents(), DEFAULT_WINDOW),
            rules,
            key: VerifyingKey::from_bytes(agent.public_key().as_bytes())?,
            requests: requests.collect::<Result<_, _>>()?,
        })
    }

    /// The microseconds that one request takes; keeps those of which the rules had.
    async fn judged(&self, span: Duration, alone: &RefCell<Vec<f64>>) -> Result<f64, Fault> {
        let (began, mut took) = (Instant::now(), Vec::new());
        while took.is_empty() || began.elapsed() < span {
            for request in &self.requests {
                let began = Instant::now();
                black_box(self.agents.verify(request, TICK).await?);
                let url = WebUrl::parse(std::str::from_utf8(request.url.as_slice())?)?;
                let asked = Instant::now();
                black_box(self.rules.judge(&url));
                alone.borrow_mut().push(micros(asked));
                took.push(micros(began));
            }
        }
        Ok(median(&mut took))
    }

    /// The microseconds that a verification takes.
    fn verified(&self, span: Duration) -> Result<f64, Fault> {
        let signed = self.requests.iter().map(|request| {
            let signature = ed25519_dalek::Signature::from_bytes(request.signature.as_bytes());
            Ok((request.canonical_bytes()?, signature))
        });
        let signed = signed.collect::<Result<Vec<_>, Fault>>()?;
        let (began, mut took) = (Instant::now(), Vec::new());
        while took.is_empty() || began.elapsed() < span {
            for (bytes, signature) in &signed {
                let began = Instant::now();
                self.key.verify_strict(bytes, signature)?;
                took.push(micros(began));
            }
        }
        Ok(median(&mut took))
    }
}

fn micros(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}
