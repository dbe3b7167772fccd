//! What becomes of a list: which versions are hidden, which are marked, which stay.

use weir_aggregates::registry::{dossier::Dossier, version::Version};
use weir_events::{registry::Mask, timestamp::Timestamp};

use super::document::Document;
use crate::registry::{
    gate::Changed,
    judging::{Judging, better},
};

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Listed as it is: allowed, yanked already, or to be refused at its download only.
    Keep,
    /// Listed as yanked.
    Mark,
    /// Not listed.
    Hide,
}

/// What becomes of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    /// One fate for each line, in its order.
    pub lines: Vec<Fate>,
    /// Versions left out.
    pub hidden: Vec<String>,
    /// Versions marked.
    pub marked: Vec<String>,
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

/// Judges every version of a list.
#[must_use]
pub fn filter(document: &Document, dossier: &Dossier) -> Filtered {
    let mut judging = Judging::by(dossier);
    let (mut hidden, mut marked) = (Vec::new(), Vec::new());
    let mut newest: Option<&Version> = None;
    let mut lines = Vec::with_capacity(document.lines.len());
    for line in &document.lines {
        let version = &line.version;
        let fate = match judging.refusal(&line.candidate()) {
            None => {
                newest = better(newest, Some(version).filter(|_| !line.yanked));
                Fate::Keep
            }
            Some(objection) => match objection.mask {
                Mask::Hide => Fate::Hide,
                Mask::Mark if !line.yanked => Fate::Mark,
                Mask::Mark | Mask::DenyOnly => Fate::Keep,
            },
        };
        match fate {
            Fate::Keep => {}
            Fate::Mark => marked.push(version.to_string()),
            Fate::Hide => hidden.push(version.to_string()),
        }
        lines.push(fate);
    }
    let newest_allowed = newest.map(ToString::to_string);
    let ripens_at = judging.ripens_at();
    Filtered { lines, hidden, marked, newest_allowed, ripens_at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::cargo::testing::{known, line, list, read, rule};

    fn serde() -> Document {
        read("serde", &list("serde", &["1.0.0", "1.1.0", "2.0.0-rc.1"]))
    }

    #[test]
    fn each_mask_looks_different_in_the_list() {
        let of = |mask| filter(&serde(), &known("serde", &[rule(1, "serde", ">=1.1", mask)]));
        let marked = of(Mask::Mark);
        assert_eq!(marked.lines[..2], [Fate::Keep, Fate::Mark]);
        assert_eq!((marked.marked[0].as_str(), marked.hidden.len()), ("1.1.0", 0));
        let hidden = of(Mask::Hide);
        assert_eq!(hidden.lines[..2], [Fate::Keep, Fate::Hide]);
        assert_eq!((hidden.hidden[0].as_str(), hidden.marked.len()), ("1.1.0", 0));
        let denied = of(Mask::DenyOnly);
        assert_eq!(denied.lines, [Fate::Keep; 3]);
        assert!(denied.hidden.is_empty() && denied.marked.is_empty());
        assert_eq!(denied.newest_allowed.as_deref(), Some("1.0.0"));
    }

    #[test]
    fn a_rule_meets_a_crate_in_any_spelling() {
        let document = read("Serde_JSON", &list("Serde_JSON", &["1.0.0"]));
        for name in ["serde-json", "serde_json", "SERDE_JSON", "serde*"] {
            let filtered = filter(&document, &known(name, &[rule(1, name, "*", Mask::Hide)]));
            assert_eq!(filtered.hidden, ["1.0.0"], "{name}");
        }
    }

    #[test]
    fn what_is_yanked_already_is_not_marked_and_never_offered_instead() {
        let text = format!("{}\n{}\n", line("serde", "1.0.0", false), line("serde", "1.1.0", true));
        let document = read("serde", &text);
        let filtered =
            filter(&document, &known("serde", &[rule(1, "serde", "=1.1.0", Mask::Mark)]));
        assert_eq!(filtered.lines, [Fate::Keep; 2]);
        let free = filter(&document, &known("serde", &[]));
        assert_eq!(free.newest_allowed.as_deref(), Some("1.0.0"));
    }

    #[test]
    fn the_newest_allowed_version_is_a_final_release_where_there_is_one() {
        let newest = |rule| filter(&serde(), &known("serde", &[rule])).newest_allowed;
        assert_eq!(newest(rule(1, "other", "*", Mask::Mark)).as_deref(), Some("1.1.0"));
        assert_eq!(newest(rule(1, "serde", "<=1.1.0", Mask::Mark)).as_deref(), Some("2.0.0-rc.1"));
        assert_eq!(newest(rule(1, "s*", "*", Mask::Hide)), None);
    }
}
