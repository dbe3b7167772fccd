//! What a source says under one id, whichever package it is about.

use std::{ops::Range, sync::Arc};

use blake3::Hash;
use weir_events::registry::advisory::{Advisory, Affected, Class};

use super::digest;
use crate::registry::name::normalise;

/// What a source says, whichever package it is about. The texts stand in one piece, because there
/// are hundreds of thousands of them.
#[derive(Debug)]
pub(super) struct Statement {
    /// The id, aliases, packages, and the summary, and where the first three end.
    text: Box<str>,
    ends: [u32; 3],
    pub(super) source: Arc<str>,
    pub(super) digest: Hash,
    pub(super) class: Class,
}

impl Statement {
    pub(super) fn new(source: Arc<str>, advisory: &Advisory) -> Self {
        let name = |a: &Affected| normalise(advisory.ecosystem, &a.package).into_owned();
        let packages: Vec<String> = advisory.affected.iter().map(name).collect();
        let mut text = advisory.id.clone();
        let mut ends = [0; 3];
        let rest = [advisory.aliases.join(" "), packages.join("\t"), advisory.summary.clone()];
        for (end, part) in ends.iter_mut().zip(&rest) {
            *end = u32::try_from(text.len()).unwrap_or(u32::MAX);
            text.push_str(part);
        }
        Self {
            text: text.into(),
            ends,
            source,
            digest: digest::carried(advisory),
            class: advisory.class,
        }
    }

    fn part(&self, range: Range<u32>) -> &str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    pub(super) fn id(&self) -> &str {
        self.part(0..self.ends[0])
    }

    pub(super) fn aliases(&self) -> impl Iterator<Item = &str> {
        self.part(self.ends[0]..self.ends[1]).split(' ').filter(|alias| !alias.is_empty())
    }

    pub(super) fn packages(&self) -> impl Iterator<Item = &str> {
        self.part(self.ends[1]..self.ends[2]).split('\t')
    }

    pub(super) fn summary(&self) -> &str {
        self.text.get(self.ends[2] as usize..).unwrap_or_default()
    }

    /// Which of several records of the same thing speaks: one of malware, because it forbids
    /// most; then the databases of people who check what they are told, the general one first;
    /// the bare number last.
    pub(super) fn precedence(&self) -> usize {
        const FIRST: [&str; 5] = ["MAL-", "GHSA-", "RUSTSEC-", "PYSEC-", "GO-"];
        let id = self.id();
        let known = FIRST.iter().position(|prefix| id.starts_with(prefix));
        known.unwrap_or_else(|| FIRST.len() + usize::from(id.starts_with("CVE-")))
    }
}
