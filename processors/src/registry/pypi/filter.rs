//! What becomes of a page: which files are hidden, which are marked, which stay.

use std::{collections::BTreeSet, sync::Arc};

use weir_aggregates::registry::{
    dossier::Dossier,
    verdict::{Candidate, Objection},
    version::Version,
};
use weir_events::{
    registry::{Ecosystem, Mask},
    timestamp::Timestamp,
};

use super::document::{Document, Yanked};
use crate::registry::{
    gate::Changed,
    judging::{Judging, better},
};

/// What becomes of a file in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Listed as it is: allowed, or to be refused at its download only.
    Keep,
    /// Listed as yanked, with this reason.
    Mark(Arc<str>),
    /// Not listed.
    Hide,
}

/// What becomes of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    /// One fate for each file of the page, in its order.
    pub files: Vec<Fate>,
    /// Versions left out, and files left out that tell no version.
    pub hidden: Vec<String>,
    /// Versions marked, and files marked that tell no version.
    pub marked: Vec<String>,
    /// The versions that stay listed, if the page lists any.
    pub versions: Option<Vec<String>>,
    /// The newest version that may be downloaded; a final release where there is one.
    pub newest_allowed: Option<String>,
    /// When the first version that is too young is old enough.
    pub ripens_at: Option<Timestamp>,
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
}

/// Judges every file of a page.
#[must_use]
pub fn filter(document: &Document, dossier: &Dossier) -> Filtered {
    let mut judging = Judging::by(dossier);
    let (mut hidden, mut marked) = (BTreeSet::new(), BTreeSet::new());
    let (mut listed, mut removed) = (BTreeSet::new(), BTreeSet::new());
    let mut newest: Option<&Version> = None;
    let mut files = Vec::with_capacity(document.files.len());
    for (at, file) in document.files.iter().enumerate() {
        let told = dossier.reads_lists().then(|| document.told(at)).flatten();
        let fate = match judging.refusal(&document.candidate(file).telling(told)) {
            None => {
                let version = file.version.as_ref().filter(|_| file.yanked == Yanked::No);
                newest = better(newest, version);
                Fate::Keep
            }
            Some(objection) => fate_of(&objection),
        };
        let name = || {
            let version = file.version.as_ref().map(Version::as_str);
            version.unwrap_or(file.filename.as_str()).to_owned()
        };
        match &fate {
            Fate::Keep => {}
            Fate::Mark(_) => drop(marked.insert(name())),
            Fate::Hide => drop(hidden.insert(name())),
        }
        if let Some(version) = &file.version {
            let seen = if fate == Fate::Hide { &mut removed } else { &mut listed };
            seen.insert(version);
        }
        files.push(fate);
    }
    // A version goes when its last file goes, or when a rule hides it and it has no file at all.
    let versions = document.versions.as_ref().map(|versions| {
        let stays = |text: &&String| {
            let version = Version::parse(Ecosystem::Pypi, text);
            if listed.contains(&version) {
                return true;
            }
            let gone =
                removed.contains(&version) || dossier.judge(&Candidate::of(Some(&version))).hides();
            if gone {
                hidden.insert((*text).clone());
            }
            !gone
        };
        versions.iter().filter(stays).cloned().collect()
    });
    Filtered {
        files,
        hidden: hidden.into_iter().collect(),
        marked: marked.into_iter().collect(),
        versions,
        newest_allowed: newest.map(ToString::to_string),
        ripens_at: judging.ripens_at(),
    }
}

fn fate_of(objection: &Objection) -> Fate {
    match objection.mask {
        Mask::Hide => Fate::Hide,
        Mask::Mark => Fate::Mark(objection.to_string().into()),
        Mask::DenyOnly => Fate::Keep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::pypi::testing::{known, page, rule};

    fn six() -> Document {
        page("six", &["1.16.0", "1.17.0", "2.0rc1"])
    }

    #[test]
    fn each_mask_looks_different_in_the_list() {
        let marked = filter(&six(), &known("six", &[rule(1, "six", ">=1.17", Mask::Mark)]));
        let text = "Blocked by Weir: too young (rule 019a0000-0000-7000-8000-000000000001)";
        let mark = Fate::Mark(text.into());
        assert_eq!(marked.files, [Fate::Keep, mark.clone(), mark]);
        assert_eq!((marked.marked.join(" "), marked.hidden.len()), ("1.17.0 2.0rc1".to_owned(), 0));
        assert_eq!(marked.versions.as_ref().unwrap().len(), 3);

        let hidden = filter(&six(), &known("six", &[rule(1, "six", ">=1.17", Mask::Hide)]));
        assert_eq!(hidden.files, [Fate::Keep, Fate::Hide, Fate::Hide]);
        assert_eq!(hidden.versions, Some(vec!["1.16.0".to_owned()]));
        assert_eq!(hidden.hidden, ["1.17.0", "2.0rc1"]);

        let denied = filter(&six(), &known("six", &[rule(1, "six", ">=1.17", Mask::DenyOnly)]));
        assert_eq!(denied.files, [Fate::Keep, Fate::Keep, Fate::Keep]);
        assert!(denied.hidden.is_empty() && denied.marked.is_empty());
        assert_eq!(denied.newest_allowed.as_deref(), Some("1.16.0"));
    }

    #[test]
    fn the_newest_allowed_version_is_a_final_release_where_there_is_one() {
        let newest = |rule| filter(&six(), &known("six", &[rule])).newest_allowed;
        assert_eq!(newest(rule(1, "seven", "*", Mask::Mark)).as_deref(), Some("1.17.0"));
        assert_eq!(newest(rule(1, "six", "<2", Mask::Mark)), None);
        assert_eq!(newest(rule(1, "six", "<=1.17", Mask::Mark)).as_deref(), Some("2.0rc1"));
        assert_eq!(newest(rule(1, "s*", "*", Mask::Hide)), None);
    }

    #[test]
    fn a_version_without_files_goes_only_when_it_is_hidden() {
        let mut page = six();
        page.versions.as_mut().unwrap().push("3.0".to_owned());
        let kept = filter(&page, &known("six", &[rule(1, "six", ">=3", Mask::Mark)]));
        assert!(kept.versions.unwrap().contains(&"3.0".to_owned()) && kept.marked.is_empty());
        let gone = filter(&page, &known("six", &[rule(1, "six", ">=3", Mask::Hide)]));
        assert!(!gone.versions.unwrap().contains(&"3.0".to_owned()));
        assert_eq!(gone.hidden, ["3.0"]);
    }

    #[test]
    fn a_file_that_tells_no_version_is_hidden_by_any_rule_about_its_package() {
        let page = crate::registry::pypi::testing::page_of(
            "six",
            &["six-1.0.win32.exe", "six-1.0.tar.gz"],
        );
        let filtered = filter(&page, &known("six", &[rule(1, "six", ">=99", Mask::Hide)]));
        assert_eq!(filtered.files, [Fate::Hide, Fate::Keep]);
        assert_eq!(filtered.hidden, ["six-1.0.win32.exe"]);
    }
}
