//! What a page tells of its files beside what they need to be served: whether they have a provenance
//! (PEP 740). Read only where a policy asks.

use std::collections::BTreeMap;

use weir_aggregates::registry::{
    told::Told,
    trust::{Release, Witnesses},
};
use weir_events::registry::sighting::Vouched;

use super::document::{Document, File};

impl File {
    fn vouched(&self) -> Vouched {
        let there = self.provenance.as_ref().is_some_and(|place| !place.trim().is_empty());
        if there { Vouched::Provenance } else { Vouched::Nothing }
    }
}

/// What is told of each file, in the order of the page. A version had a provenance if all its files
/// had.
#[must_use]
pub fn read(document: &Document) -> Vec<Told> {
    let mut versions = BTreeMap::new();
    for file in &document.files {
        if let Some(version) = &file.version {
            let vouched = versions.entry(version).or_insert(Vouched::TrustedPublisher);
            *vouched = file.vouched().min(*vouched);
        }
    }
    let witnesses = Witnesses::among(versions.into_iter().map(|(version, vouched)| Release {
        version,
        published_at: document.published_at(version),
        vouched,
    }));
    let lost = |file: &File| {
        let (version, published_at) = (file.version.as_ref()?, file.uploaded_at);
        witnesses.lost(&Release { version, published_at, vouched: file.vouched() })
    };
    let files = document.files.iter();
    files.map(|file| Told { lost: lost(file), ..Told::default() }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        outbound::Url,
        registry::pypi::{filename::Project, json::parse},
    };

    /// Of files by name, day and whether they have a provenance, which earlier version had one.
    fn lost(files: &[(&str, u8, Value)]) -> Vec<Option<String>> {
        let files = files.iter().map(|(name, day, provenance)| {
            let mut file = json!({"filename": name, "url": name, "hashes": {}});
            if *day > 0 {
                file["upload-time"] = json!(format!("2026-01-{day:02}T00:00:00Z"));
            }
            if *provenance != json!("missing") {
                file["provenance"] = provenance.clone();
            }
            file
        });
        let page = json!({"meta": {"api-version": "1.3"}, "name": "six", "files": files.collect::<Vec<_>>()});
        let url = Url::parse("https://index.example/simple/six/").unwrap();
        let page = parse(&Project::new("six").unwrap(), &url, page.to_string().as_bytes()).unwrap();
        read(&page).into_iter().map(|told| told.lost.map(|lost| lost.earlier)).collect()
    }

    #[test]
    fn a_file_without_a_provenance_that_an_earlier_version_had_is_told() {
        let (has, none, missing) =
            (json!("https://index.example/p"), json!(null), json!("missing"));
        let told = lost(&[
            ("six-1.0.tar.gz", 1, has.clone()),
            ("six-1.0-py3-none-any.whl", 1, has.clone()),
            ("six-1.1.tar.gz", 2, has.clone()),
            ("six-1.1-py3-none-any.whl", 3, none.clone()),
            ("six-1.2.tar.gz", 4, missing.clone()),
            ("six-0.9.tar.gz", 5, none.clone()),
            ("six-1.3.tar.gz", 0, none.clone()),
        ]);
        let earlier = Some("1.0".to_owned());
        assert_eq!(told, [None, None, None, earlier.clone(), earlier, None, None]);
        // One file of two had one: nothing was promised.
        let told = lost(&[
            ("six-1.0.tar.gz", 1, has.clone()),
            ("six-1.0-py3-none-any.whl", 1, none.clone()),
            ("six-1.1.tar.gz", 2, none.clone()),
        ]);
        assert_eq!(told, [None, None, None]);
        let told = lost(&[("six-1.0.tar.gz", 1, missing.clone()), ("six-1.1.tar.gz", 2, missing)]);
        assert_eq!(told, [None, None]);
        assert_eq!(
            lost(&[("six-1.0rc1.tar.gz", 1, has), ("six-1.0.tar.gz", 2, none)]),
            [None, None]
        );
    }
}
