//! Under which licence a Python package is, as its core metadata tell: by `License-Expression`
//! (PEP 639), else by `License` where that is clear, else by its classifiers.

use futures_util::{Stream, StreamExt as _, pin_mut};

use weir_aggregates::registry::licence::{NO_ASSERTION, cut_off, is_known, together};

/// As much of the metadata as is read: what follows the headers is a description.
const MAX_BYTES: usize = 256 << 10;

/// Reads the headers, which end with an empty line; `None` where that does not come in time.
pub(super) async fn head<E>(
    metadata: impl Stream<Item = Result<bytes::Bytes, E>> + Send,
) -> Result<Option<String>, E> {
    pin_mut!(metadata);
    let mut head = Vec::new();
    let mut whole = false;
    while !whole && head.len() <= MAX_BYTES {
        match metadata.next().await {
            Some(piece) => head.extend_from_slice(&piece?),
            None => whole = true,
        }
    }
    whole &= head.len() <= MAX_BYTES;
    head.truncate(MAX_BYTES);
    let head = String::from_utf8_lossy(&head).into_owned();
    Ok(Some(head).filter(|head| whole || head.lines().any(str::is_empty)))
}

/// The headers, each as a whole: a line that begins with a blank goes on with the one before it.
fn headers(metadata: &str) -> Vec<(&str, String)> {
    let mut headers: Vec<(&str, String)> = Vec::new();
    for line in metadata.lines().take_while(|line| !line.is_empty()) {
        match (line.strip_prefix([' ', '\t']), line.split_once(':')) {
            (Some(rest), _) => {
                if let Some((_, value)) = headers.last_mut() {
                    value.push('\n');
                    value.push_str(rest);
                }
            }
            (None, Some((name, value))) => headers.push((name, value.to_owned())),
            (None, None) => {}
        }
    }
    headers
}

/// The licence that metadata tell.
pub(super) fn of(metadata: Option<&str>) -> String {
    let Some(metadata) = metadata else { return cut_off("what its metadata tell") };
    let headers = headers(metadata);
    let all = |name: &'static str| {
        let own = headers.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name));
        own.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    };
    if all("License-Expression").next().is_some() {
        return together(all("License-Expression"));
    }
    let free = together(all("License"));
    if is_known(&free) {
        return free;
    }
    let classifiers = all("Classifier").filter_map(|text| text.strip_prefix("License :: "));
    let leaves = classifiers.filter_map(|text| text.rsplit(" :: ").next());
    let classified = together(leaves.filter(|leaf| *leaf != "OSI Approved"));
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
            ("License: MIT OR\n  GPLv3\nName: six", "MIT OR GPL-3.0-only"),
            ("License: do\n        \n\twhat you like\nClassifier: License :: MIT", "MIT"),
            ("License: MIT\nLicense: GPLv3", "MIT AND GPL-3.0-only"),
            ("License-Expression: MIT\nLicense-Expression: GPL-3.0-only", "MIT AND GPL-3.0-only"),
            ("", NO_ASSERTION),
            ("Name: six\n\nLicense: MIT", NO_ASSERTION),
        ] {
            assert_eq!(of(Some(headers)), licence, "{headers}");
        }
        let names = (0..30).map(|n| format!("a{n:02}"));
        let names = names.chain(["OSI Approved :: ISC License (ISCL)".to_owned()]);
        let many: Vec<_> = names.map(|name| format!("Classifier: License :: {name}")).collect();
        let many = of(Some(&many.join("\n")));
        assert!(many.starts_with("a00 AND a01") && many.ends_with("a29 AND ISC"), "{many}");
    }

    #[tokio::test]
    async fn headers_that_do_not_end_in_time_tell_nothing_that_can_be_gone_by() {
        let read = |text: String| {
            let pieces: Vec<_> = text.as_bytes().chunks(100 << 10).collect();
            let pieces = pieces.into_iter().map(|piece| Ok::<_, ()>(piece.to_vec().into()));
            head(futures_util::stream::iter(pieces.collect::<Vec<_>>()))
        };
        let long = "License: MIT\n".to_owned() + &"x".repeat(MAX_BYTES);
        assert_eq!(read(long.clone() + "\nLicense: GPL").await.unwrap(), None);
        assert!(of(None).ends_with("[cut]"));
        let described = "License: MIT\n\n".to_owned() + &long;
        let read_head = read(described).await.unwrap();
        assert_eq!(of(read_head.as_deref()), "MIT");
        let just = "License: MIT\n".to_owned() + &"x".repeat(MAX_BYTES - 13);
        assert_eq!(read(just.clone()).await.unwrap(), Some(just.clone()));
        assert_eq!(read(just + "x").await.unwrap(), None);
    }

    #[tokio::test]
    async fn no_more_is_read_than_headers_may_have() {
        let piece = bytes::Bytes::from(vec![b'x'; 100 << 10]);
        let pieces = std::iter::repeat_with(|| Ok::<_, ()>(piece.clone()));
        assert_eq!(head(futures_util::stream::iter(pieces)).await.unwrap(), None);
    }
}
