//! The judgement on one version of one package: what may be said against it, and what becomes of it.
//! The judging itself is [`Dossier::judge`](super::dossier::Dossier::judge).

use std::{fmt, sync::Arc};

use weir_events::{
    registry::{
        Mask,
        advisory::{Class, Severity},
    },
    timestamp::Timestamp,
};

use super::{
    advisory::finding::{Finding, Hit},
    rule::CompiledRule,
    told::Told,
    version::Version,
};

/// The source that speaks for operators' rules.
pub const RULES: &str = "rules";

/// The source that speaks for rules of the blocklist.
pub const BLOCKLIST: &str = "blocklist";

/// The source that speaks for the minimum age.
pub const MINIMUM_AGE: &str = "minimum-age";

/// The source that speaks for the profile of a token.
pub const PROFILE: &str = "profile";

/// The source that speaks for digests that changed.
pub const INTEGRITY: &str = "integrity";

/// The source that speaks for names that are reserved.
pub const RESERVED: &str = "reserved";

/// The source that speaks for what waits for a person.
pub const HOLD: &str = "hold";

/// The source that speaks for the quota of a token.
pub const QUOTA: &str = "quota";

/// The source that speaks for a time as of which the registry is looked at.
pub const AS_OF: &str = "as-of";

/// The source that speaks for versions that less vouches for than for versions before them.
pub const PROVENANCE: &str = "provenance";

/// The source that speaks for versions published by somebody new.
pub const PUBLISHER: &str = "publisher";

/// The source that speaks for licences.
pub const LICENCE: &str = "licence";

/// The source that speaks for names that look like another.
pub const LOOKALIKE: &str = "lookalike";

/// As much of an advisory's summary as a client is told, in characters: its id must fit beside it
/// into a reason phrase.
const MAX_SUMMARY_CHARS: usize = 90;

/// What is judged: a version, and how old it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Candidate<'a> {
    /// The version. `None` where a file's name does not tell it: then whatever is said of the
    /// package is said of this, for what cannot be read cannot be cleared (fail closed).
    pub version: Option<&'a Version>,
    /// When it was published, as its registry says; of a version that consists of files, its newest.
    pub published_at: Option<Timestamp>,
    /// Which of its files is asked for, where a version consists of files.
    pub file: Option<File<'a>>,
    /// Whether what is asked for is known to have come later than its version.
    pub late: bool,
    /// What its registry tells of it beside that, where it was looked at.
    pub told: Option<&'a Told>,
}

/// One of the files that a version consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// Its name.
    pub name: &'a str,
    /// When it and its version were published.
    pub times: FileTimes,
}

/// When a file was published, and the version it is of, as their registry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileTimes {
    /// The file itself.
    pub published_at: Option<Timestamp>,
    /// The first file of its version.
    pub began_at: Option<Timestamp>,
}

impl FileTimes {
    /// Whether the file came later than its version; `None` where nobody tells.
    pub(super) fn late(self) -> Option<bool> {
        let (began, own) = self.began_at.zip(self.published_at)?;
        Some(comes_later(began, own))
    }
}

/// How long after its first file the files of a version still belong to one release, in seconds: they
/// are built on many machines.
const RELEASE_SECONDS: i64 = 24 * 3_600;

/// Whether a file of a version is none of those it was released with.
#[must_use]
pub fn comes_later(began: Timestamp, file: Timestamp) -> bool {
    file > began.plus_seconds(RELEASE_SECONDS)
}

impl<'a> Candidate<'a> {
    /// A version whose age nobody tells.
    #[must_use]
    pub fn of(version: Option<&'a Version>) -> Self {
        Self { version, ..Self::default() }
    }

    /// A version that was published at a time, if that is told.
    #[must_use]
    pub const fn published(version: Option<&'a Version>, published_at: Option<Timestamp>) -> Self {
        Self { version, published_at, file: None, late: false, told: None }
    }

    /// The same, of one of the files that the version consists of.
    #[must_use]
    pub const fn in_file(self, name: &'a str, times: FileTimes) -> Self {
        Self { file: Some(File { name, times }), ..self }
    }

    /// The same, of which this is told.
    #[must_use]
    pub const fn telling(self, told: Option<&'a Told>) -> Self {
        Self { told, ..self }
    }
}

/// What becomes of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Nothing is said against it.
    Allow,
    /// Something is said against it, and it may pass all the same.
    Excused(Excuse),
    /// It would not pass if this ecosystem were not audited only.
    Warn(Arc<Objection>),
    /// It passes, and who asks is told something against it.
    Advise(Arc<Objection>),
    /// It does not pass. Of several objections the one with the strictest mask speaks.
    Block(Arc<Objection>),
}

impl Verdict {
    /// Whether it may pass.
    #[must_use]
    pub const fn allowed(&self) -> bool {
        !matches!(self, Self::Block(_))
    }

    /// Why it does not pass.
    #[must_use]
    pub const fn refusal(&self) -> Option<&Arc<Objection>> {
        match self {
            Self::Block(objection) => Some(objection),
            Self::Allow | Self::Excused(_) | Self::Warn(_) | Self::Advise(_) => None,
        }
    }

    /// Whether it is not even listed.
    #[must_use]
    pub fn hides(&self) -> bool {
        self.refusal().is_some_and(|objection| objection.mask == Mask::Hide)
    }
}

/// Why something passes in spite of an objection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excuse {
    /// A waiver says so.
    Waiver {
        /// The waiver's id.
        id: String,
        /// What it waives.
        objection: Arc<Objection>,
    },
    /// It is too young, but the version that fixes an advisory.
    Fix {
        /// The advisory's id.
        advisory: String,
    },
}

/// Something said against a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// Who says it: `rules`, `blocklist`, `minimum-age`, `canary`, or a source of advisories.
    pub source: String,
    /// Why.
    pub reason: String,
    /// How the version looks in lists.
    pub mask: Mask,
    /// The rule that says it.
    pub rule_id: Option<String>,
    /// The advisory that says it.
    pub cited: Option<Cited>,
}

/// An advisory as evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cited {
    /// Its id.
    pub id: String,
    /// What kind of warning it is.
    pub class: Class,
    /// How bad it is.
    pub severity: Severity,
    /// What of it the version falls under.
    pub hit: Hit,
    /// BLAKE3 of what it said then, hexadecimal.
    pub digest: String,
    /// The lowest later version that is said to fix it.
    pub fixed_by: Option<String>,
}

impl Objection {
    /// What a setting says, which is neither a rule nor an advisory.
    #[must_use]
    pub fn of_setting(source: &str, reason: String, mask: Mask) -> Self {
        Self { source: source.to_owned(), reason, mask, rule_id: None, cited: None }
    }

    /// What a person is told where it is no refusal.
    #[must_use]
    pub fn advice(&self) -> String {
        format!("Weir warns: {} ({})", self.reason, self.id())
    }

    /// What a rule says.
    #[must_use]
    pub fn of_rule(source: &str, rule: &weir_events::registry::Rule) -> Self {
        Self {
            source: source.to_owned(),
            reason: rule.reason.clone(),
            mask: rule.mask,
            rule_id: Some(rule.id.clone()),
            cited: None,
        }
    }

    /// What an advisory says.
    #[must_use]
    pub fn of_finding(finding: &Finding<'_>, mask: Mask) -> Self {
        let cited = Cited {
            id: finding.id().to_owned(),
            class: finding.class(),
            severity: finding.severity(),
            hit: finding.hit(),
            digest: finding.digest().to_hex().to_string(),
            fixed_by: finding.fixed_by().map(str::to_owned),
        };
        let mut reason: String = finding.summary().chars().take(MAX_SUMMARY_CHARS).collect();
        if reason.len() < finding.summary().len() {
            reason.push_str("...");
        }
        Self {
            source: finding.source().to_owned(),
            reason,
            mask,
            rule_id: None,
            cited: Some(cited),
        }
    }

    /// By what a person asks about it: the id of its rule or advisory, or the name of its source.
    #[must_use]
    pub fn id(&self) -> &str {
        let cited = self.cited.as_ref().map(|cited| &cited.id);
        self.rule_id.as_ref().or(cited).unwrap_or(&self.source)
    }

    /// Stricter masks before others.
    pub(super) const fn strictness(&self) -> u8 {
        strictness(self.mask)
    }

    /// The stricter of two; of equally strict ones the first.
    pub(super) fn stricter(a: Option<Arc<Self>>, b: Option<Arc<Self>>) -> Option<Arc<Self>> {
        match (a, b) {
            (Some(a), Some(b)) if b.strictness() > a.strictness() => Some(b),
            (a, b) => a.or(b),
        }
    }
}

/// What a person is told: the id stands where it is not cut off.
impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, rule_id, cited, .. } = self;
        match (rule_id, cited) {
            (Some(id), _) => write!(f, "Blocked by Weir: {reason} (rule {id})"),
            (None, Some(Cited { id, class: Class::Malware, .. })) => {
                write!(f, "Blocked by Weir: {id} (malware): {reason}")
            }
            (None, Some(Cited { id, severity, fixed_by, .. })) => {
                write!(f, "Blocked by Weir: {id} ({severity} severity")?;
                if let Some(fixed_by) = fixed_by {
                    write!(f, ", fixed in {fixed_by}")?;
                }
                write!(f, "): {reason}")
            }
            (None, None) => write!(f, "Blocked by Weir: {reason} ({})", self.source),
        }
    }
}

/// The order of masks: what shows less is stricter.
pub(super) const fn strictness(mask: Mask) -> u8 {
    match mask {
        Mask::Hide => 2,
        Mask::Mark => 1,
        Mask::DenyOnly => 0,
    }
}

impl CompiledRule {
    /// Whether it forbids what is judged.
    pub(super) fn forbids(&self, candidate: &Candidate<'_>) -> bool {
        candidate.version.is_none_or(|version| self.constraint().matches(version))
    }
}
