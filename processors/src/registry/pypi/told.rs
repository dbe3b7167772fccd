//! What a page tells of its files beside what they need to be served: whether they have a provenance
//! (PEP 740). Read only where a policy asks.

use std::collections::BTreeMap;

use weir_aggregates::registry::{
    told::Told,
    trust::{Release, Witnesses},
    version::Version,
};
use weir_events::{
    registry::sighting::{TrustLost, Vouched},
    timestamp::Timestamp,
};

use super::document::{Document, File};

impl File {
    fn vouched(&self) -> Vouched {
        let there = self.provenance.as_ref().is_some_and(|place| !place.trim().is_empty());
        if there { Vouched::Provenance } else { Vouched::Nothing }
    }
}

/// How long after its first file a version may still be under way: what comes later was added to it,
/// and says nothing of how it was published.
const UNDER_WAY_SECONDS: i64 = 86_400;

/// Whether a file was added to a version that was there already.
fn late(document: &Document, file: &File) -> bool {
    let times = document.times(file);
    let added =
        |(at, began_at): (Timestamp, Timestamp)| began_at.plus_seconds(UNDER_WAY_SECONDS) < at;
    times.published_at.zip(times.began_at).is_some_and(added)
}

/// What is told of each file, in the order of the page. A version is as old as its first file, and had
/// a provenance if all the files had that it came with: nobody can take it away by adding one. A file
/// that is added later is measured by its own version too.
#[must_use]
pub fn read(document: &Document) -> Vec<Told> {
    let mut versions = BTreeMap::new();
    for file in document.files.iter().filter(|file| !late(document, file)) {
        if let Some(version) = &file.version {
            let (vouched, untimed) =
                versions.entry(version).or_insert((Vouched::TrustedPublisher, false));
            *vouched = file.vouched().min(*vouched);
            *untimed |= file.uploaded_at.is_none();
        }
    }
    let began_at = |version: &Version| document.began_at(version);
    let witnesses = Witnesses::among(versions.iter().map(|(&version, &(vouched, untimed))| {
        // Where one does not tell its time, nobody knows which were there first.
        let published_at = began_at(version).filter(|_| !untimed);
        Release { version, published_at, vouched }
    }));
    let lost = |file: &File| {
        let (version, uploaded_at) = (file.version.as_ref()?, file.uploaded_at?);
        let vouched = file.vouched();
        let release = |published_at| Release { version, published_at, vouched };
        if !late(document, file) {
            return witnesses.lost(&release(began_at(version)));
        }
        let own = versions.get(version).filter(|(own, untimed)| !untimed && vouched < *own);
        let own = own.map(|(had, _)| TrustLost {
            has: vouched,
            had: *had,
            earlier: version.as_str().to_owned(),
        });
        own.or_else(|| witnesses.lost(&release(Some(uploaded_at))))
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

    #[test]
    fn a_file_that_is_added_later_takes_no_provenance_away_and_lends_none() {
        let (has, none) = (json!("https://index.example/p"), json!(null));
        let own = |version: &str| Some(version.to_owned());
        // Added to the old version before the new one, and after it.
        for day in [3, 9] {
            let told = lost(&[
                ("six-1.0.tar.gz", 1, has.clone()),
                ("six-1.0-py3-none-any.whl", day, none.clone()),
                ("six-1.1.tar.gz", 5, none.clone()),
            ]);
            assert_eq!(told, [None, own("1.0"), own("1.0")], "{day}");
        }
        // Of the lower version, but published after it: a file that is added does not make it older
        // or younger.
        let told = lost(&[
            ("six-1.0.tar.gz", 5, has.clone()),
            ("six-1.1.tar.gz", 1, none.clone()),
            ("six-1.1-py3-none-any.whl", 3, none.clone()),
            ("six-1.1-py2-none-any.whl", 7, none.clone()),
        ]);
        assert_eq!(told, [None, None, None, own("1.0")]);
        // What is added with one makes none of what came without.
        let told = lost(&[
            ("six-1.0.tar.gz", 1, none.clone()),
            ("six-1.0-py3-none-any.whl", 3, has.clone()),
            ("six-1.1.tar.gz", 5, none.clone()),
        ]);
        assert_eq!(told, [None, None, None]);
        // One that tells no time: nobody knows what came first.
        let told = lost(&[
            ("six-1.0.tar.gz", 1, has),
            ("six-1.0-py3-none-any.whl", 0, none.clone()),
            ("six-1.0-py2-none-any.whl", 9, none),
        ]);
        assert_eq!(told, [None, None, None]);
    }
}
