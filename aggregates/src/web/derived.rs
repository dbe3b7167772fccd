//! Package registries: agents get packages through the package firewall and nowhere else. Which hosts
//! these are is no list of names, but what the firewall itself is set up with.

use std::collections::HashSet;

use weir_events::web::rule::{Action, DomainRule};

use super::host::Host;

/// The category.
pub const CATEGORY: &str = "package_mgr";

/// What an agent is told.
const REASON: &str = "packages come through the package firewall: ask it for them";

/// The hosts of package registries. No rule lets them through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registries {
    /// Domains, as one registers them: with every name below.
    domains: HashSet<String>,
    /// Hosts that belong to no domain, each with the port that a registry is at: another port there
    /// is another thing.
    places: HashSet<(Host, u16)>,
}

impl Registries {
    /// The registries at these hosts and ports.
    #[must_use]
    pub fn of(upstreams: impl IntoIterator<Item = (Host, u16)>) -> Self {
        let mut registries = Self::default();
        for (host, port) in upstreams {
            let domain = psl::domain_str(host.as_str()).filter(|_| host.address().is_none());
            match domain {
                Some(domain) => {
                    registries.domains.insert(domain.to_owned());
                }
                None => {
                    registries.places.insert((host, port));
                }
            }
        }
        registries
    }

    /// The rule that a host falls under because a package registry is there.
    #[must_use]
    pub fn rule(&self, host: &Host, port: u16) -> Option<DomainRule> {
        if let Some(domain) = host.upwards().find(|name| self.domains.contains(*name)) {
            return Some(rule(format!("**.{domain}")));
        }
        let place = (host.clone(), port);
        self.places.contains(&place).then(|| rule(format!("{host}:{port}")))
    }

    /// The patterns, in their order.
    #[must_use]
    pub fn patterns(&self) -> Vec<String> {
        let domains = self.domains.iter().map(|domain| format!("**.{domain}"));
        let places = self.places.iter().map(|(host, port)| format!("{host}:{port}"));
        let mut patterns: Vec<String> = domains.chain(places).collect();
        patterns.sort();
        patterns
    }

    /// The rules, in the order of their patterns.
    #[must_use]
    pub fn rules(&self) -> Vec<DomainRule> {
        self.patterns().into_iter().map(rule).collect()
    }
}

fn rule(pattern: String) -> DomainRule {
    let (category, reason) = (CATEGORY.to_owned(), REASON.to_owned());
    DomainRule { pattern, action: Action::Block, category, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_of_a_registry_is_blocked_with_all_below_it_and_nothing_else() {
        let host = |text: &str| Host::new(text).unwrap();
        let registries = Registries::of([
            (host("index.packages.example"), 443),
            (host("mirror.shop.co.uk"), 443),
            (host("10.0.0.1"), 8080),
            (host("localhost"), 4873),
        ]);
        let found = |text: &str, port| registries.rule(&host(text), port).map(|rule| rule.pattern);
        let of = |pattern: &str| Some(pattern.to_owned());
        for (text, port, pattern) in [
            ("packages.example", 443, of("**.packages.example")),
            ("files.packages.example", 80, of("**.packages.example")),
            ("index.packages.example", 443, of("**.packages.example")),
            ("otherpackages.example", 443, None),
            ("example", 443, None),
            ("shop.co.uk", 443, of("**.shop.co.uk")),
            ("co.uk", 443, None),
            ("10.0.0.1", 8080, of("10.0.0.1:8080")),
            ("10.0.0.1", 8081, None),
            ("localhost", 4873, of("localhost:4873")),
            ("localhost", 80, None),
        ] {
            assert_eq!(found(text, port), pattern, "{text}:{port}");
        }
        let rule = registries.rule(&host("packages.example"), 443).unwrap();
        assert_eq!((rule.action, rule.category.as_str()), (Action::Block, CATEGORY));
        assert_eq!(registries.patterns().len(), 4);
    }
}
