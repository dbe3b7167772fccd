//! Lists as clients get them: whole lines left out or passed on byte for byte; in a marked one,
//! `yanked` alone is another.

use std::sync::Arc;

use bytes::Bytes;
use weir_aggregates::registry::dossier::Dossier;
use weir_log::lifecycle::Lifecycle;

use super::{
    document::Document,
    filter::{Fate, Filtered, filter},
    name::Name,
};
use crate::{
    flights::GivenUp,
    registry::{
        documents::Open,
        renderings::{Rendering, Renderings},
    },
};

/// What distinguishes a list from other answers with the same bytes.
const FORM: &str = "cargo list";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    name: Name,
    document: blake3::Hash,
    known: blake3::Hash,
}

/// Lists ready to be sent.
#[derive(Debug)]
pub struct Lists(Renderings<Key, Filtered>);

impl Lists {
    /// Nothing written yet.
    pub fn new(max_bytes: u64, lifecycle: &Lifecycle) -> Self {
        Self(Renderings::new("cargo rendering", max_bytes, lifecycle))
    }

    /// A list as what is known leaves it.
    pub async fn list(
        &self,
        open: &Open<Document>,
        dossier: &Arc<Dossier>,
    ) -> Result<Arc<Rendering<Filtered>>, GivenUp> {
        let (name, document) = (open.document.name.clone(), open.document.digest);
        let key = Key { name, document, known: dossier.key };
        let (open, dossier) = (open.clone(), Arc::clone(dossier));
        self.0.get(key, dossier.now(), move || write(&open.document, &dossier)).await
    }
}

fn write(document: &Document, dossier: &Dossier) -> Rendering<Filtered> {
    let filtered = Arc::new(filter(document, dossier));
    let body = render(document, &filtered);
    let n_fates = filtered.lines.len() as u64;
    Rendering::new(body, dossier, FORM, filtered, n_fates)
}

/// Writes a list.
#[must_use]
pub fn render(document: &Document, filtered: &Filtered) -> Bytes {
    let body = &document.body;
    if document.n_unreadable == 0 && filtered.lines.iter().all(|fate| *fate == Fate::Keep) {
        return body.clone();
    }
    let mut out = Vec::with_capacity(body.len() + 16 * filtered.marked.len());
    for (line, fate) in document.lines.iter().zip(&filtered.lines) {
        match fate {
            Fate::Keep => out.extend_from_slice(&body[line.range.clone()]),
            Fate::Mark => {
                let at = line.yanked_at.clone();
                out.extend_from_slice(&body[line.range.start..at.start]);
                out.extend_from_slice(if at.is_empty() { b",\"yanked\":true" } else { b"true" });
                out.extend_from_slice(&body[at.end..line.range.end]);
            }
            Fate::Hide => {}
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use weir_events::registry::{Ecosystem, Mask};

    use super::*;
    use crate::registry::{
        cargo::testing::{known, line, list, read, rule},
        testing::dossier,
    };

    fn rendered(text: &str, mask: Mask) -> String {
        let document = read("serde", text);
        let filtered = filter(&document, &known("serde", &[rule(1, "serde", "=1.1.0", mask)]));
        String::from_utf8(render(&document, &filtered).to_vec()).unwrap()
    }

    #[test]
    fn lines_are_left_out_or_stay_as_they_are_and_a_mark_changes_one_word() {
        let text = list("serde", &["1.0.0", "1.1.0", "1.2.0"]);
        assert_eq!(rendered(&text, Mask::DenyOnly), text);
        assert_eq!(rendered(&text, Mask::Hide), list("serde", &["1.0.0", "1.2.0"]));
        let marked = text.replace(&line("serde", "1.1.0", false), &line("serde", "1.1.0", true));
        assert_ne!(marked, text);
        assert_eq!(rendered(&text, Mask::Mark), marked);
    }

    #[test]
    fn a_line_is_marked_whether_it_says_yanked_or_not() {
        let spaced = line("serde", "1.1.0", false);
        for (before, after) in [
            ("\"yanked\":false", "\"yanked\":true"),
            ("\"yanked\" : false", "\"yanked\" : true"),
            ("\"yanked\":null", "\"yanked\":true"),
        ] {
            let text = spaced.replace("\"yanked\":false", before);
            let wanted = spaced.replace("\"yanked\":false", after);
            assert_eq!(rendered(&text, Mask::Mark), wanted, "{before}");
        }
        let silent = spaced.replace("\"yanked\":false,", "").replace(" }", "}");
        assert_eq!(
            rendered(&format!("{silent}\r\n"), Mask::Mark),
            format!("{},\"yanked\":true}}\r\n", silent.trim_end_matches('}'))
        );
        // A nested member of that name is not the line's own.
        let nested = spaced.replace("\"features\":{}", "\"features\":{\"yanked\":[\"false\"]}");
        let wanted = nested.replace("\"yanked\":false", "\"yanked\":true");
        assert_eq!(rendered(&nested, Mask::Mark), wanted);
    }

    #[test]
    fn what_could_not_be_read_is_not_passed_on() {
        let text = format!("nonsense\n{}", list("serde", &["1.0.0"]));
        assert_eq!(rendered(&text, Mask::Hide), list("serde", &["1.0.0"]));
    }

    #[tokio::test]
    async fn a_list_is_written_once_and_its_validator_tells_the_policy() {
        let lists = Lists::new(1 << 20, &Lifecycle::new());
        let document = Arc::new(read("serde", &list("serde", &["1.0.0"])));
        let open = Open { document, room: None };
        let mut etags = std::collections::HashSet::new();
        for n in [1, 2] {
            let other = rule(n, "serde", "=9.9.9", Mask::Hide);
            let known = dossier(Ecosystem::Cargo, "serde", 1, &[other]);
            let list = lists.list(&open, &known).await.unwrap();
            assert!(Arc::ptr_eq(&list, &lists.list(&open, &known).await.unwrap()));
            assert!(etags.insert(list.etag.clone()));
        }
    }
}
