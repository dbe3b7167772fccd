//! Which hosts are fetched from: rules, and what they say about a host.
//!
//! The rule (A27 to A30): a plain name in a Block covers its subdomains, in an Allow it is exact.
//! `*.x` is every name below `x`, `**.x` is `x` and every name below it; a `*` elsewhere is any run of
//! characters but a dot. `re:` begins a regular expression over the whole host. A port behind a name
//! or a glob means that port only; without one, a rule means every port that is allowed at all. Among
//! the rules that match, a Block wins, whatever is more specific; where none matches, the default
//! decides. The order of rules means nothing.

mod index;
mod pattern;

use weir_events::web::rule::{Action, DomainRule};

pub use self::{
    index::{Index, Prepared},
    pattern::{MAX_PATTERN_BYTES, Pattern, PatternFault},
};
use super::host::Host;

/// How many rules there may be.
pub const MAX_RULES: usize = 100_000;

/// How many of them may be regular expressions, or globs with a `*` elsewhere than at the beginning.
pub const MAX_ODD: usize = 1_000;

/// What is said of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    /// What becomes of it.
    pub action: Action,
    /// The rule that says so; `None` where no rule names it.
    pub rule: Option<&'a DomainRule>,
    /// Whether the rule names this very port.
    pub names_port: bool,
}

/// What an agent is told of a host that no rule names.
pub const NO_RULE: &str = "no rule";

impl Word<'_> {
    /// What an agent is told.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.rule.map_or(NO_RULE, |rule| rule.reason.as_str())
    }
}

/// What a list of rules says of a host: the rule itself, without an index, to hold the index to.
#[must_use]
pub fn judge<'a>(
    rules: impl IntoIterator<Item = &'a DomainRule>,
    default: Action,
    host: &Host,
    port: u16,
) -> Word<'a> {
    let mut found: Option<(&DomainRule, bool)> = None;
    for rule in rules {
        let (matches, names_port) = match Pattern::parse(&rule.pattern, rule.action) {
            Ok(pattern) => (pattern.matches(host, port), pattern.port().is_some()),
            // Of a newer build: a Block blocks everything, an Allow allows nothing.
            Err(_) => (rule.action == Action::Block, false),
        };
        let stronger = |(known, its)| rank(rule, names_port) < rank(known, its);
        if matches && found.is_none_or(stronger) {
            found = Some((rule, names_port));
        }
    }
    match found {
        Some((rule, names_port)) => Word { action: rule.action, rule: Some(rule), names_port },
        None => Word { action: default, rule: None, names_port: false },
    }
}

/// The order of rules that match: a Block first; one that names the port before one that does not, so
/// that an odd port is open where a rule says so; then by pattern, so that one word is always told.
fn rank(rule: &DomainRule, names_port: bool) -> (u8, u8, &str) {
    let action = match rule.action {
        Action::Block => 0,
        Action::Allow => 1,
    };
    (action, u8::from(!names_port), &rule.pattern)
}

#[cfg(test)]
mod tests;
