//! Under which licence a Python package is, as its core metadata tell: by `License-Expression`
//! (PEP 639), else by `License` where that is clear, else by its classifiers.

use futures_util::{Stream, StreamExt as _, pin_mut};

use weir_aggregates::registry::licence::{NO_ASSERTION, canonical, is_known, together};

/// As much of the metadata as is read: what follows the headers is a description.
const MAX_BYTES: usize = 256 << 10;

/// The most classifiers that are looked at.
const MAX_CLASSIFIERS: usize = 20;

/// Reads the headers, which end with an empty line.
pub(super) async fn head<E>(
    metadata: impl Stream<Item = Result<bytes::Bytes, E>> + Send,
) -> Result<String, E> {
    pin_mut!(metadata);
    let mut head = Vec::new();
    while head.len() < MAX_BYTES {
        let Some(piece) = metadata.next().await else { break };
        head.extend_from_slice(&piece?);
    }
    head.truncate(MAX_BYTES);
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// The licence that metadata tell.
pub(super) fn of(metadata: &str) -> String {
    let headers = metadata.lines().take_while(|line| !line.trim().is_empty());
    let headers: Vec<_> = headers.filter_map(|line| line.split_once(':')).collect();
    let all = |name: &'static str| {
        let own = headers.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name));
        own.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    };
    if let Some(expression) = all("License-Expression").next() {
        return canonical(expression);
    }
    let free = all("License").next().map_or_else(|| NO_ASSERTION.to_owned(), canonical);
    if is_known(&free) {
        return free;
    }
    let classifiers = all("Classifier").filter_map(|text| text.strip_prefix("License :: "));
    let leaves = classifiers.filter_map(|text| text.rsplit(" :: ").next());
    let leaves = leaves.filter(|leaf| *leaf != "OSI Approved").take(MAX_CLASSIFIERS);
    let classified = together(leaves);
    if classified == NO_ASSERTION { free } else { classified }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clearest_of_what_metadata_tell_is_the_licence() {
        for (headers, licence) in [
            ("License-Expression: MIT or apache-2.0\nLicense: GPL", "MIT OR Apache-2.0"),
            (
                "License: BSD-3-Clause\nClassifier: License :: OSI Approved :: BSD License",
                "BSD-3-Clause",
            ),
            ("License: see the file\nClassifier: License :: OSI Approved :: MIT License", "MIT"),
            (
                "Classifier: License :: OSI Approved :: MIT License\n\
                 Classifier: License :: OSI Approved :: Apache Software License\n\
                 Classifier: Topic :: Software Development",
                "MIT AND Apache-2.0",
            ),
            (
                "Classifier: License :: OSI Approved :: GNU General Public License v2 (GPLv2)",
                "GPL-2.0-only",
            ),
            ("Classifier: License :: OSI Approved", NO_ASSERTION),
            ("License: UNKNOWN", NO_ASSERTION),
            ("License: do what you like", "do what you like"),
            ("Name: six", NO_ASSERTION),
            ("", NO_ASSERTION),
            ("Name: six\n\nLicense: MIT", NO_ASSERTION),
        ] {
            assert_eq!(of(headers), licence, "{headers}");
        }
    }

    #[tokio::test]
    async fn no_more_is_read_than_headers_may_have() {
        let piece = bytes::Bytes::from(vec![b'x'; 100 << 10]);
        let pieces = std::iter::repeat_with(|| Ok::<_, ()>(piece.clone()));
        let read = head(futures_util::stream::iter(pieces)).await.unwrap();
        assert_eq!(read.len(), MAX_BYTES);
    }
}
