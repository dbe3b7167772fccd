//! The web gateway, as it is configured.

use std::sync::Arc;
use std::time::Duration;

use tracing::warn;
use weir_aggregates::mint::{MAX_PAID, Tax};
use weir_aggregates::web::derived::Registries;
use weir_aggregates::web::host::Host;
use weir_events::nexus::Pace;
use weir_events::web::rule::Action;
use weir_log::lifecycle::Lifecycle;
use weir_processors::access::Tokens;
use weir_processors::clock::SystemClock;
use weir_processors::door::Door;
use weir_processors::nexus;
use weir_processors::outbound::web::{Egress, Settings};
use weir_processors::sealer::KEEP_COMMANDS_DAYS;
use weir_processors::web::approvals::Approvals;
use weir_processors::web::filter::Caps;
use weir_processors::web::pages::{Pages, PagesSettings};
use weir_processors::web::portal::{self, Portal, PortalParts, PortalSettings};
use weir_processors::web::rules::{Rules, RulesSettings};
use weir_processors::web::signature::Agents;
use weir_projections::engine::Engine;
use weir_projections::web::reports::EARLY_DAYS;

use crate::config::Config;
use crate::config::web::DefaultAction;
use crate::exit::Failure;

/// Puts the gateway together, and begins to settle what a process that was killed has left over.
pub(super) async fn start(
    config: &Config,
    door: &Door,
    engine: &Engine,
    tokens: &Tokens,
    lifecycle: &Lifecycle,
) -> Result<Portal, Failure> {
    let web = &config.web;
    let rules = Rules::start(door, rules(config), lifecycle)
        .await
        .map_err(|fault| Failure::failed(format!("the domain rules cannot be read: {fault}")))?;
    let timeout = web.timeout.0.0;
    let settings = Settings {
        total: timeout,
        max_redirects: usize::from(web.max_redirects.0),
        at_once: count(web.at_once.0),
        per_host: count(web.per_host.0),
        allow_private: web.allow_private.iter().map(|network| network.0.clone()).collect(),
        ..Settings::default()
    };
    let egress = Egress::new(settings, Arc::new(SystemClock))
        .map_err(|fault| Failure::failed(format!("the web gateway has no way out: {fault}")))?;
    let pace = config.nexus.schedule().pace;
    if !remembers(web.signature_window, web.requests_per_tick.0, pace) {
        warn!(
            requests_per_tick = web.requests_per_tick.0,
            signature_window = web.signature_window,
            "should the driven clock stand still for {KEEP_COMMANDS_DAYS} days, a signed request may \
             be fetched and paid for twice: an account remembers its last {MAX_PAID} transfers"
        );
    }
    let max_page_bytes = usize::try_from(web.max_page.0.0).unwrap_or(usize::MAX);
    let portal = Portal::new(PortalParts {
        door: door.clone(),
        nexus: nexus::Live::new(door, lifecycle)?,
        agents: Agents::new(tokens.agents(), window(web.signature_window, pace)?),
        rules,
        approvals: Approvals::new(door.clone(), web.approval_wait.0.0),
        pages: Pages::start(door, engine, pages(config), lifecycle),
        egress,
        settings: PortalSettings {
            requests_per_tick: web.requests_per_tick.0,
            tax: Tax { percent: config.mint.tax_percent.0 },
            caps: Caps { max_input_bytes: max_page_bytes, ..Caps::default() },
            max_page_bytes,
            timeout,
            tick: match pace {
                Pace::Wall { tick_micros } => Some(Duration::from_micros(tick_micros)),
                Pace::Driven => None,
            },
        },
        lifecycle: lifecycle.clone(),
    });
    portal::start_settling(&portal);
    Ok(portal)
}

/// Who is too early may come again, and is counted once as long as his signature can count.
const _: () = assert!(KEEP_COMMANDS_DAYS <= EARLY_DAYS);

/// For how many ticks before and after a signature counts: for less time than it is remembered what
/// was asked with it, or it would be asked anew.
fn window(ticks: u64, pace: Pace) -> Result<u64, Failure> {
    const DAY_MICROS: u64 = 24 * 3_600 * 1_000_000;
    let Pace::Wall { tick_micros } = pace else { return Ok(ticks) };
    let kept = DAY_MICROS * u64::from(KEEP_COMMANDS_DAYS.unsigned_abs());
    let most = kept / tick_micros.max(1).saturating_mul(2);
    if ticks <= most {
        return Ok(ticks);
    }
    Err(Failure::failed(format!(
        "`web.signature_window` is {ticks} ticks before and after: that is longer than the \
         {KEEP_COMMANDS_DAYS} days it is remembered what was asked; make it {most} or less, or \
         `nexus.tick` shorter"
    )))
}

/// Whether an account remembers all that an agent may have paid for while one of its signatures counts.
/// A driven clock may stand still for longer than it is remembered what was asked.
fn remembers(ticks: u64, requests_per_tick: u32, pace: Pace) -> bool {
    let n_ticks = ticks.saturating_mul(2).saturating_add(1);
    let most = n_ticks.saturating_mul(u64::from(requests_per_tick));
    matches!(pace, Pace::Wall { .. }) || most <= MAX_PAID as u64
}

/// How pages are kept.
pub(super) fn pages(config: &Config) -> PagesSettings {
    let cache = &config.web.cache;
    PagesSettings {
        ttl: cache.ttl.0,
        max_bytes: cache.max_size.0,
        max_memory_bytes: cache.max_memory.0,
        keep_answers: u64::from(cache.ttl.0),
    }
}

fn rules(config: &Config) -> RulesSettings {
    let registries = config.registries.all();
    // Whether they are served here or not: packages come from there.
    let upstreams = registries.iter().flat_map(|registry| {
        let origins = registry.trusted_origins.iter().map(|origin| &origin.0);
        registry.upstream.into_iter().chain(origins)
    });
    let places = upstreams.filter_map(|url| {
        let host = Host::new(url.host_str()?).ok()?;
        Some((host, url.port_or_known_default()?))
    });
    RulesSettings {
        default: match config.web.default_action {
            DefaultAction::Allow => Action::Allow,
            DefaultAction::Block => Action::Block,
        },
        ports: config.web.ports.iter().map(|port| port.0).collect(),
        registries: Registries::of(places),
    }
}

fn count(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use weir_processors::web::signature::DEFAULT_WINDOW;

    use super::*;

    #[test]
    fn a_signature_counts_for_less_time_than_it_is_remembered() {
        let day = Pace::Wall { tick_micros: 24 * 3_600 * 1_000_000 };
        let fits = [3, 4, u64::MAX].map(|ticks| window(ticks, day).is_ok());
        assert_eq!(fits, [true, false, false]);
        let second = Pace::Wall { tick_micros: 1_000_000 };
        assert!(window(600, second).is_ok() && window(302_401, second).is_err());
        assert!(window(u64::MAX, Pace::Driven).is_ok());
    }

    #[test]
    fn an_account_remembers_what_a_signature_may_still_ask_for_by_default() {
        assert!(remembers(DEFAULT_WINDOW, 1, Pace::Driven));
        assert!(remembers(DEFAULT_WINDOW, 3, Pace::Driven));
        assert!(!remembers(DEFAULT_WINDOW, 4, Pace::Driven));
        assert!(remembers(u64::MAX, 9, Pace::Wall { tick_micros: 1_000 }), "the log remembers");
        assert!(!remembers(u64::MAX, 1, Pace::Driven));
    }
}
