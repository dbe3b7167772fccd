//! The rules about hosts that operators keep. Stream `web/rules`. What they say of a host is judged
//! by [`super::domain`].

mod defaults;

use std::{collections::BTreeMap, sync::Arc};

use weir_events::{
    kind::Subsystem,
    web::{
        Event,
        rule::{Action, DomainRule, DomainRuleUpdated},
    },
};

use self::defaults::defaults;
pub use self::defaults::is_default;
use super::domain::{MAX_ODD, MAX_RULES, Pattern, PatternFault};
use crate::{
    machine::{Context, Decision, Machine},
    words::{MAX_REASON_CHARS, short, words},
};

/// How many rules one command may set: an append has a bound.
pub const AT_ONCE: usize = 500;

/// The longest name of a category, in characters.
pub const MAX_CATEGORY_CHARS: usize = 64;

/// The machine that keeps the rules.
#[derive(Debug)]
pub struct Rules;

/// The rules, by pattern. Cheap to clone: it is copied when it changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    rules: Arc<BTreeMap<Arc<str>, Arc<DomainRule>>>,
    n_odd: usize,
    /// Whether anybody ever said anything: then the defaults are no longer what is meant.
    begun: bool,
}

impl State {
    /// The rules, in the order of their patterns.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &DomainRule> {
        self.rules.values().map(|rule| &**rule)
    }

    /// The rule of a pattern in its one spelling.
    #[must_use]
    pub fn rule(&self, pattern: &str) -> Option<&DomainRule> {
        self.rules.get(pattern).map(|rule| &**rule)
    }
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Have what Weir brings along, where nobody has said anything yet.
    Begin,
    /// Have these hold from now on, each instead of what its pattern said before.
    Set(Vec<DomainRule>),
    /// Have a pattern say nothing any more.
    Remove {
        /// The pattern, in any spelling.
        pattern: String,
    },
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The pattern makes no sense.
    #[error("`{pattern}` is no pattern: {cause}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        #[source]
        cause: PatternFault,
    },
    /// The category is none.
    #[error(
        "a category has 1 to {MAX_CATEGORY_CHARS} characters: lower-case letters, digits, `_`, `-`"
    )]
    BadCategory,
    /// The reason is empty, too long or not printable.
    #[error("a reason has 1 to {MAX_REASON_CHARS} characters and no control characters")]
    BadReason,
    /// There are too many rules.
    #[error("there may be {MAX_RULES} rules; remove some, or use globs")]
    TooMany,
    /// There are too many regular expressions.
    #[error(
        "there may be {MAX_ODD} regular expressions and globs with a `*` behind the beginning; \
         write names, `*.name` or `**.name`"
    )]
    TooManyOdd,
    /// Too many are to be set at once.
    #[error("{0} rules at once; {AT_ONCE} fit")]
    TooManyAtOnce(usize),
    /// There is no such rule.
    #[error("there is no rule `{0}`")]
    Unknown(String),
}

impl Machine for Rules {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Web;

    fn decide(state: &State, command: &Command, _: &Context) -> Decision<Event, Refusal> {
        match command {
            Command::Begin if state.begun => Decision::nothing(),
            Command::Begin => {
                let events = defaults().map(|rule| set(rule).into()).collect();
                Decision { events, refusal: None }
            }
            Command::Set(rules) => match state.news(rules) {
                Ok(news) => Decision { events: news, refusal: None },
                Err(refusal) => Decision::refuse(refusal),
            },
            Command::Remove { pattern } => {
                // As a rule may stand there that this build cannot read, also as it is written.
                let parsed = Pattern::parse(pattern, Action::Block).ok();
                let spelled = parsed.as_ref().map_or(pattern.as_str(), Pattern::as_str);
                match [spelled, pattern].into_iter().find(|text| state.rule(text).is_some()) {
                    Some(text) => {
                        Decision::accept(DomainRuleUpdated { pattern: text.to_owned(), rule: None })
                    }
                    None => Decision::refuse(Refusal::Unknown(short(pattern))),
                }
            }
        }
    }

    fn apply(state: &mut State, event: &Event) {
        let Event::DomainRuleUpdated(DomainRuleUpdated { pattern, rule }) = event else { return };
        state.begun = true;
        let rules = Arc::make_mut(&mut state.rules);
        let known = match rule {
            Some(rule) => rules.insert(pattern.as_str().into(), Arc::new(rule.clone())),
            None => rules.remove(pattern.as_str()),
        };
        if Pattern::reads_odd(pattern) {
            match (known.is_some(), rule.is_some()) {
                (false, true) => state.n_odd += 1,
                (true, false) => state.n_odd -= 1,
                _ => {}
            }
        }
    }
}

impl State {
    /// What of these rules is new, each pattern in its one spelling and once.
    fn news(&self, rules: &[DomainRule]) -> Result<Vec<Event>, Refusal> {
        if rules.len() > AT_ONCE {
            return Err(Refusal::TooManyAtOnce(rules.len()));
        }
        let mut wanted = BTreeMap::new();
        for rule in rules {
            let rule = check(rule)?;
            wanted.insert(rule.pattern.clone(), rule);
        }
        wanted.retain(|pattern, rule| self.rule(pattern) != Some(rule));
        let fresh = || wanted.keys().filter(|pattern| self.rule(pattern).is_none());
        let n_odd = fresh().filter(|pattern| Pattern::reads_odd(pattern)).count();
        if self.rules.len() + fresh().count() > MAX_RULES {
            Err(Refusal::TooMany)
        } else if self.n_odd + n_odd > MAX_ODD {
            Err(Refusal::TooManyOdd)
        } else {
            Ok(wanted.into_values().map(|rule| set(rule).into()).collect())
        }
    }
}

/// A rule as it may stand: with its pattern in its one spelling.
pub fn check(rule: &DomainRule) -> Result<DomainRule, Refusal> {
    let pattern = Pattern::parse(&rule.pattern, rule.action)
        .map_err(|cause| Refusal::BadPattern { pattern: short(&rule.pattern), cause })?;
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    if !(1..=MAX_CATEGORY_CHARS).contains(&rule.category.len()) || !rule.category.bytes().all(plain)
    {
        return Err(Refusal::BadCategory);
    }
    if !words(&rule.reason) {
        return Err(Refusal::BadReason);
    }
    Ok(DomainRule { pattern: pattern.as_str().to_owned(), ..rule.clone() })
}

fn set(rule: DomainRule) -> DomainRuleUpdated {
    DomainRuleUpdated { pattern: rule.pattern.clone(), rule: Some(rule) }
}

#[cfg(test)]
mod tests;
