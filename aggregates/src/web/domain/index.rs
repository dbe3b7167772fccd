//! Rules ready to be asked: names by look-up, however many there are; whatever is odd, in one pass.
//!
//! A change comes in two steps, so that who asks never waits for a regular expression to be built:
//! it is prepared beside the index, and then put in.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use regex::bytes::{RegexSet, RegexSetBuilder};
use weir_events::web::rule::{Action, DomainRule, DomainRuleUpdated};

use super::{
    MAX_ODD, Word,
    pattern::{MAX_NESTING, MAX_REGEX_BYTES, Pattern, Shape},
    rank,
};
use crate::web::host::Host;

/// How large the odd patterns may become together, in bytes: what each may be, and a half for what
/// holds them together.
const MAX_SET_BYTES: usize = MAX_ODD * MAX_REGEX_BYTES / 2 * 3;

/// Rules, ready to be asked.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// Every rule, by its pattern.
    entries: HashMap<Arc<str>, Arc<Entry>>,
    names: HashMap<Box<str>, Names>,
    /// The length of the longest name that a rule is about.
    longest: usize,
    odd: Arc<Odd>,
    /// Blocks that this build cannot read: they block everything.
    unreadable: BTreeMap<Arc<str>, Arc<Entry>>,
}

/// The rules about one name.
#[derive(Debug, Clone, Default)]
struct Names {
    exact: Vec<Arc<Entry>>,
    below: Vec<Arc<Entry>>,
    within: Vec<Arc<Entry>>,
}

#[derive(Debug)]
struct Entry {
    pattern: Arc<str>,
    rule: DomainRule,
    port: Option<u16>,
    place: Place,
}

/// Where a rule stands in the index.
#[derive(Debug)]
enum Place {
    Exact(Box<str>),
    Below(Box<str>),
    Within(Box<str>),
    Odd(Box<str>),
    Everywhere,
    Nowhere,
}

/// What is matched by regular expressions.
#[derive(Debug, Default)]
struct Odd {
    entries: Vec<Arc<Entry>>,
    /// `None` where they are too large together: then every Block among them matches, and no Allow.
    set: Option<RegexSet>,
}

/// A change that can be put in.
#[derive(Debug)]
pub struct Prepared {
    changes: Vec<(Arc<str>, Option<Arc<Entry>>)>,
    odd: Option<Arc<Odd>>,
}

impl Prepared {
    /// Whether the odd patterns could not be made ready: an operator should hear of it.
    #[must_use]
    pub fn too_odd(&self) -> bool {
        self.odd.as_ref().is_some_and(|odd| odd.set.is_none())
    }
}

impl Index {
    /// Makes rules ready.
    #[must_use]
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a DomainRule>) -> Self {
        let mut index = Self::default();
        let entries = rules.into_iter().map(|rule| Arc::new(Entry::new(rule)));
        let prepared = index.prepare_all(entries.map(|entry| (entry.pattern(), Some(entry))));
        index.put(prepared);
        index
    }

    /// Prepares what happened to rules, in its order.
    #[must_use]
    pub fn prepare<'a>(
        &self,
        updates: impl IntoIterator<Item = &'a DomainRuleUpdated>,
    ) -> Prepared {
        self.prepare_all(updates.into_iter().map(|DomainRuleUpdated { pattern, rule }| {
            (pattern.as_str().into(), rule.as_ref().map(|rule| Arc::new(Entry::new(rule))))
        }))
    }

    fn prepare_all(
        &self,
        changes: impl IntoIterator<Item = (Arc<str>, Option<Arc<Entry>>)>,
    ) -> Prepared {
        let changes: Vec<_> = changes.into_iter().collect();
        let touched = changes.iter().any(|(pattern, fresh)| {
            let known = self.entries.get(pattern);
            [known, fresh.as_ref()].into_iter().flatten().any(|entry| entry.is_odd())
        });
        let odd = touched.then(|| {
            let known = self.odd.entries.iter().map(|entry| (entry.pattern(), Arc::clone(entry)));
            let mut odd: BTreeMap<_, _> = known.collect();
            for (pattern, fresh) in &changes {
                match fresh {
                    Some(entry) if entry.is_odd() => {
                        odd.insert(Arc::clone(pattern), Arc::clone(entry));
                    }
                    _ => {
                        odd.remove(pattern);
                    }
                }
            }
            Arc::new(Odd::new(odd.into_values().collect()))
        });
        Prepared { changes, odd }
    }

    /// Puts a change in that was prepared for this index as it is.
    pub fn put(&mut self, prepared: Prepared) {
        for (pattern, fresh) in prepared.changes {
            if let Some(known) = self.entries.remove(&pattern) {
                self.take_out(&known);
            }
            if let Some(entry) = fresh {
                self.put_in(&entry);
                self.entries.insert(pattern, entry);
            }
        }
        if let Some(odd) = prepared.odd {
            self.odd = odd;
        }
    }

    fn put_in(&mut self, entry: &Arc<Entry>) {
        if matches!(entry.place, Place::Everywhere) {
            self.unreadable.insert(entry.pattern(), Arc::clone(entry));
        }
        let Some(name) = entry.place.name() else { return };
        self.longest = self.longest.max(name.len());
        let names = self.names.entry(name.into()).or_default();
        names.at(&entry.place).push(Arc::clone(entry));
    }

    fn take_out(&mut self, entry: &Entry) {
        self.unreadable.remove(&entry.pattern);
        let Some(name) = entry.place.name() else { return };
        let Some(names) = self.names.get_mut(name) else { return };
        names.at(&entry.place).retain(|known| known.pattern != entry.pattern);
        if names.exact.is_empty() && names.below.is_empty() && names.within.is_empty() {
            self.names.remove(name);
        }
    }

    /// What the rules say of a host at a port.
    #[must_use]
    pub fn judge(&self, host: &Host, port: u16, default: Action) -> Word<'_> {
        let mut found: Option<&Entry> = None;
        self.each(host, port, |entry| {
            if found.is_none_or(|known| entry.rank() < known.rank()) {
                found = Some(entry);
            }
        });
        match found {
            Some(entry) => Word {
                action: entry.rule.action,
                rule: Some(&entry.rule),
                names_port: entry.port.is_some(),
            },
            None => Word { action: default, rule: None, names_port: false },
        }
    }

    /// Every rule that matches, the one that decides first.
    #[must_use]
    pub fn matching(&self, host: &Host, port: u16) -> Vec<&DomainRule> {
        let mut found = Vec::new();
        self.each(host, port, |entry| found.push(entry));
        found.sort_by_key(|entry| entry.rank());
        found.into_iter().map(|entry| &entry.rule).collect()
    }

    fn each<'a>(&'a self, host: &Host, port: u16, mut found: impl FnMut(&'a Entry)) {
        let mut weigh = |entries: &'a [Arc<Entry>]| {
            let of_port = entries.iter().filter(|entry| entry.port.is_none_or(|own| own == port));
            of_port.for_each(|entry| found(entry));
        };
        for (nth, name) in host.upwards().enumerate() {
            if name.len() > self.longest {
                continue;
            }
            let Some(names) = self.names.get(name) else { continue };
            weigh(&names.within);
            weigh(if nth == 0 { &names.exact } else { &names.below });
        }
        for nth in self.odd.matches(host) {
            weigh(self.odd.entries.get(nth..=nth).unwrap_or_default());
        }
        self.unreadable.values().for_each(|entry| weigh(std::slice::from_ref(entry)));
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Names {
    fn at(&mut self, place: &Place) -> &mut Vec<Arc<Entry>> {
        match place {
            Place::Below(_) => &mut self.below,
            Place::Within(_) => &mut self.within,
            _ => &mut self.exact,
        }
    }
}

impl Place {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Exact(name) | Self::Below(name) | Self::Within(name) => Some(name),
            Self::Odd(_) | Self::Everywhere | Self::Nowhere => None,
        }
    }
}

impl Entry {
    /// A rule in its place. What this build cannot read is of a newer one: a Block of it blocks
    /// everything, an Allow allows nothing (fail closed).
    fn new(rule: &DomainRule) -> Self {
        let (port, place) = match Pattern::parse(&rule.pattern, rule.action) {
            Ok(pattern) => (pattern.port(), Place::of(pattern.shape())),
            Err(_) if rule.action == Action::Block => (None, Place::Everywhere),
            Err(_) => (None, Place::Nowhere),
        };
        Self { pattern: rule.pattern.as_str().into(), rule: rule.clone(), port, place }
    }

    fn pattern(&self) -> Arc<str> {
        Arc::clone(&self.pattern)
    }

    const fn is_odd(&self) -> bool {
        matches!(self.place, Place::Odd(_))
    }

    fn rank(&self) -> (u8, u8, &str) {
        rank(&self.rule, self.port.is_some())
    }
}

impl Place {
    fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Exact(name) => Self::Exact(name.as_str().into()),
            Shape::Below(name) => Self::Below(name.as_str().into()),
            Shape::Within(name) => Self::Within(name.as_str().into()),
            Shape::Odd(regex) => Self::Odd(regex.as_str().into()),
        }
    }
}

impl Odd {
    fn new(entries: Vec<Arc<Entry>>) -> Self {
        let regexes = entries.iter().filter_map(|entry| match &entry.place {
            Place::Odd(regex) => Some(regex),
            _ => None,
        });
        let set = RegexSetBuilder::new(regexes)
            .unicode(false)
            .case_insensitive(true)
            .nest_limit(MAX_NESTING)
            .size_limit(MAX_SET_BYTES)
            .build();
        Self { set: set.ok(), entries }
    }

    /// Which of them match.
    fn matches(&self, host: &Host) -> Vec<usize> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        if let Some(set) = &self.set {
            return set.matches(host.as_str().as_bytes()).into_iter().collect();
        }
        let all = self.entries.iter().enumerate();
        let blocks = all.filter(|(_, entry)| entry.rule.action == Action::Block);
        blocks.map(|(nth, _)| nth).collect()
    }
}
