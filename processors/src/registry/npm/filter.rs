//! What becomes of a packument: which versions are hidden, which are marked, what becomes of
//! the tags.

use std::{collections::HashMap, sync::Arc};

use weir_aggregates::registry::{
    dossier::Dossier,
    verdict::{Candidate, Objection},
    version::Version,
};
use weir_events::{
    registry::{Ecosystem, Mask},
    timestamp::Timestamp,
};

use super::{
    document::Document,
    tags::{Ladder, Repair, Standing},
};
use crate::registry::{gate::Changed, judging::Judging};

/// As much of a reason as stands in the address of a tarball.
const MAX_REASON_CHARS: usize = 100;

/// Members of `time` that are no versions.
const NO_VERSIONS: [&str; 3] = ["created", "modified", "unpublished"];

/// What becomes of a version in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Listed as it is.
    Keep,
    /// Listed as it is, and refused at its download; its tarball's address says why.
    Deny(Arc<Told>),
    /// Listed as deprecated; its tarball's address says why.
    Mark(Arc<Told>),
    /// Not listed: hidden, or what cannot be served.
    Hide,
}

impl Fate {
    const fn standing(&self) -> Standing {
        match self {
            Self::Keep => Standing::Allowed,
            Self::Deny(_) => Standing::Denied,
            Self::Mark(_) => Standing::Marked,
            Self::Hide => Standing::Hidden,
        }
    }

    /// Whether it is listed.
    #[must_use]
    pub const fn listed(&self) -> bool {
        !matches!(self, Self::Hide)
    }

    /// Why it is refused, where it is listed all the same.
    #[must_use]
    pub fn told(&self) -> Option<&Told> {
        match self {
            Self::Deny(told) | Self::Mark(told) => Some(told),
            Self::Keep | Self::Hide => None,
        }
    }
}

/// What is said of an objection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// To a person.
    pub text: String,
    /// In an address, for clients that show nothing else.
    pub step: String,
}

impl Told {
    fn of(objection: &Objection) -> Self {
        let mut step = String::with_capacity(160);
        for c in objection.reason.chars().take(MAX_REASON_CHARS).chain([' ']) {
            if c.is_ascii_alphanumeric() {
                step.push(c);
            } else if !step.is_empty() && !step.ends_with('-') {
                step.push('-');
            }
        }
        // An id that stands by itself is taken for a secret by npm, and not shown.
        step.push_str(match (&objection.rule_id, &objection.cited) {
            (Some(_), _) => "rule_",
            (None, Some(_)) => "advisory_",
            (None, None) => "by_",
        });
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
        step.extend(objection.id().chars().filter(is_plain));
        Self { text: objection.to_string(), step }
    }
}

/// What becomes of a packument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    /// One fate for each member of `versions`, in its order.
    pub fates: Vec<Fate>,
    /// Whether each member of `time` stays.
    pub times: Vec<bool>,
    /// What becomes of each tag.
    pub tags: Vec<Repair>,
    /// Versions left out.
    pub hidden: Vec<String>,
    /// Versions marked.
    pub marked: Vec<String>,
    /// The version to take instead of a refused one.
    pub newest_allowed: Option<String>,
    /// Why nothing is left, where there was something.
    pub nothing_left: Option<String>,
    /// When the first version that is too young is old enough.
    pub ripens_at: Option<Timestamp>,
    /// Whether it was judged by times that the packument does not tell.
    pub misses_times: bool,
}

impl Changed for Filtered {
    fn hidden(&self) -> &[String] {
        &self.hidden
    }

    fn marked(&self) -> &[String] {
        &self.marked
    }

    fn ripens_at(&self) -> Option<Timestamp> {
        self.ripens_at
    }

    fn is_degraded(&self) -> bool {
        self.misses_times
    }
}

impl Filtered {
    /// The version that a tag stands for now.
    #[must_use]
    pub fn tagged(&self, document: &Document, tag: &str) -> Option<usize> {
        let tags = document.tags.as_ref()?;
        let (at, member) =
            tags.members.iter().enumerate().find(|(_, member)| &*member.name.name == tag)?;
        match self.tags.get(at)? {
            Repair::Keep => member.name.target,
            Repair::To(version) => Some(*version),
            Repair::Drop => None,
        }
    }
}

/// Judges every version of a packument.
#[must_use]
pub fn filter(document: &Document, dossier: &Dossier) -> Filtered {
    let mut judging = Judging::by(dossier);
    let mut told: HashMap<String, Arc<Told>> = HashMap::new();
    let (mut hidden, mut marked) = (Vec::new(), Vec::new());
    let mut strictest: Option<(&Version, String)> = None;
    let mut fates = Vec::with_capacity(document.releases.len());
    for (at, release) in document.releases.iter().enumerate() {
        let Some(release) = release else {
            fates.push(Fate::Hide);
            continue;
        };
        let told_of = dossier.reads_lists().then(|| document.told(at)).flatten();
        let candidate = release.candidate().telling(told_of);
        let Some(objection) = judging.refusal(&candidate) else {
            fates.push(Fate::Keep);
            continue;
        };
        // Most versions that are refused are refused for the same reason.
        let told = told.entry(objection.to_string());
        let told = Arc::clone(told.or_insert_with(|| Arc::new(Told::of(&objection))));
        let version = || release.version.as_str().to_owned();
        fates.push(match objection.mask {
            Mask::Hide => {
                hidden.push(version());
                if strictest.as_ref().is_none_or(|(newest, _)| *newest < &release.version) {
                    strictest = Some((&release.version, told.text.clone()));
                }
                Fate::Hide
            }
            Mask::Mark => {
                marked.push(version());
                Fate::Mark(told)
            }
            Mask::DenyOnly => Fate::Deny(told),
        });
    }
    let served = document.releases.iter().zip(&fates).enumerate();
    let ladder = Ladder::new(served.filter_map(|(at, (release, fate))| {
        release.as_ref().map(|release| (at, &release.version, fate.standing()))
    }));
    let repair = |tag: &super::document::Tag| match tag.target {
        Some(target) => ladder.repair(&tag.name, target),
        None => Repair::Keep,
    };
    let tags = document.tags.iter().flat_map(|tags| &tags.members);
    let tags: Vec<_> = tags.map(|member| repair(&member.name)).collect();
    // What is not among the versions any more is not to be seen here either where a rule hides it.
    let stays = |name: &str| match document.version(name) {
        Some((at, _)) => fates.get(at).is_none_or(Fate::listed),
        None if NO_VERSIONS.contains(&name) => true,
        None => {
            let version = Version::parse(Ecosystem::Npm, name);
            !dossier.judge(&Candidate::of(Some(&version))).hides()
        }
    };
    let times = document.time.iter().flat_map(|time| &time.members);
    let times = times.map(|member| stays(&member.name)).collect();
    let newest_allowed = ladder.best().and_then(|at| document.release(at));
    let nothing_left = strictest.filter(|_| !fates.iter().any(Fate::listed));
    Filtered {
        ripens_at: judging.ripens_at(),
        misses_times: dossier.counts_age() && document.lacks_times(),
        times,
        tags,
        hidden,
        marked,
        newest_allowed: newest_allowed.map(|release| release.version.to_string()),
        nothing_left: nothing_left.map(|(_, told)| told),
        fates,
    }
}

#[cfg(test)]
mod tests {
    use weir_aggregates::registry::verdict::RULES;
    use weir_events::registry::Rule;

    use super::*;
    use crate::registry::npm::testing::{known, packument, rule};

    const VERSIONS: [&str; 4] = ["1.1.0", "1.2.0", "1.3.0", "2.0.0-rc.1"];

    fn filtered(given: &[Rule]) -> Filtered {
        filter(&packument("left-pad", &VERSIONS), &known("left-pad", given))
    }

    fn latest(filtered: &Filtered) -> Option<usize> {
        filtered.tagged(&packument("left-pad", &VERSIONS), "latest")
    }

    #[test]
    fn each_mask_looks_different_in_the_list() {
        let hidden = filtered(&[rule(1, "left-pad", ">=1.3.0", Mask::Hide)]);
        assert_eq!(hidden.fates, [Fate::Keep, Fate::Keep, Fate::Hide, Fate::Hide]);
        assert_eq!(
            (hidden.hidden.join(" ").as_str(), latest(&hidden)),
            ("1.3.0 2.0.0-rc.1", Some(1))
        );
        // `created` and `modified` stand first, and do not change.
        assert_eq!(hidden.times, [true, true, true, true, false, false]);
        assert_eq!(hidden.newest_allowed.as_deref(), Some("1.2.0"));

        let marked = filtered(&[rule(1, "Left-Pad", "1.3.0", Mask::Mark)]);
        let told = marked.fates[2].told().unwrap();
        assert_eq!(
            told.text,
            "Blocked by Weir: too young (rule 019a0000-0000-7000-8000-000000000001)"
        );
        assert_eq!(told.step, "too-young-rule_019a0000-0000-7000-8000-000000000001");
        assert_eq!((&marked.marked[..], latest(&marked)), (&["1.3.0".to_owned()][..], Some(1)));
        assert!(marked.hidden.is_empty() && marked.times.iter().all(|stays| *stays));

        let denied = filtered(&[rule(1, "left-pad", "1.3.0", Mask::DenyOnly)]);
        assert!(matches!(denied.fates[2], Fate::Deny(_)));
        assert!(denied.hidden.is_empty() && denied.marked.is_empty());
        assert_eq!((latest(&denied), denied.newest_allowed.as_deref()), (Some(2), Some("1.2.0")));
    }

    #[test]
    fn that_nothing_is_left_is_told_with_the_reason_of_the_newest() {
        let mut other = rule(2, "left-pad", "<2.0.0-0", Mask::Hide);
        other.reason = "also bad".to_owned();
        let nothing = filtered(&[rule(1, "left-pad", ">=2.0.0-0", Mask::Hide), other.clone()]);
        assert!(nothing.nothing_left.unwrap().contains("too young"));
        assert_eq!((nothing.tags, nothing.newest_allowed), (vec![Repair::Drop], None));
        let marked = rule(1, "left-pad", ">=2.0.0-0", Mask::Mark);
        assert_eq!(filtered(&[marked, other]).nothing_left, None);
    }

    #[test]
    fn a_reason_fits_into_an_address_whatever_it_says() {
        let step = |reason: &str| {
            let rule = Rule { reason: reason.to_owned(), ..rule(1, "a", "*", Mask::Mark) };
            Told::of(&Objection::of_rule(RULES, &rule)).step
        };
        let id = "rule_019a0000-0000-7000-8000-000000000001";
        assert_eq!(step("../?x=\"ü\"#%2f"), format!("x-2f-{id}"));
        assert_eq!(step("ö"), id);
        assert_eq!(step(&"x".repeat(300)), format!("{}-{id}", "x".repeat(MAX_REASON_CHARS)));
    }

    #[test]
    fn a_version_that_is_only_in_the_times_goes_when_it_is_hidden() {
        let mut document = packument("left-pad", &["1.0.0"]);
        let text = document.text.replace(r#""time":{"#, r#""time":{"0.1.0":"x","0.2.0":"x","#);
        let url = crate::outbound::Url::parse("https://registry.example/left-pad").unwrap();
        document = Document::read(&document.name.clone(), &url, text.as_bytes()).unwrap();
        let times = |mask| {
            filter(&document, &known("left-pad", &[rule(1, "left-pad", "0.1.0", mask)])).times
        };
        assert_eq!(times(Mask::Hide), [false, true, true, true, true]);
        assert_eq!(times(Mask::Mark), [true; 5]);
    }
}
