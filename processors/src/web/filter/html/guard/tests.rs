//! However a page is fed, its tree is the same.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::web::filter::{
    html::tree::{Data, ROOT},
    tests::laws::{HTML, soup},
};

/// Where feeding tag by tag has to know what a browser knows: what is a tag at all.
const TRICKY: &[&str] = &[
    "<",
    "</",
    "<!",
    "<?",
    "<!--",
    "-->",
    "--!>",
    "<![CDATA[",
    "]]>",
    "<a ",
    "</a ",
    "<p/",
    ">",
    "/>",
    "=",
    "'",
    "\"",
    " b=c",
    "&amp",
    "&lt;",
    "&#",
    "<script>",
    "</script",
    "<style>",
    "</style>",
    "<textarea>",
    "</textarea>",
    "<title>",
    "</title>",
    "<svg>",
    "</svg>",
    "<math>",
    "<plaintext>",
    "<xmp>",
    "</xmp>",
    "\0",
    "\r\n",
    "x",
    "é",
    " ",
    "<table>",
    "<tr>",
    "<b",
    "<!doctype html>",
    "<iframe>",
    "</iframe>",
    "<noscript>",
    "<select>",
    "<template>",
];

fn told(tree: &Tree) -> String {
    let mut told = String::new();
    let mut depth = 0_usize;
    let mut at = tree.first(ROOT);
    while let Some(id) = at {
        match tree.data(id) {
            Data::Element { name, attributes, .. } => {
                write!(told, "\n{:depth$}{}", "", name.local).unwrap();
                for attribute in attributes {
                    write!(told, " {}={:?}", attribute.name.local, &*attribute.value).unwrap();
                }
            }
            Data::Text(text) => write!(told, "\n{:depth$}{:?}", "", &**text).unwrap(),
            Data::Document | Data::Nothing => {}
        }
        if let Some(first) = tree.first(id) {
            depth += 1;
            at = Some(first);
            continue;
        }
        let mut here = id;
        at = loop {
            if let Some(next) = tree.next(here) {
                break Some(next);
            }
            match tree.parent(here).filter(|parent| *parent != ROOT) {
                Some(parent) => here = parent,
                None => break None,
            }
            depth -= 1;
        };
    }
    told
}

fn is_the_same(page: &str) -> Result<(), TestCaseError> {
    for syntax in [Syntax::Html, Syntax::Xhtml] {
        let whole = parse_fed(page, syntax, &mut Tally::default(), tags::feed);
        let by_tag = parse_fed(page, syntax, &mut Tally::default(), tags::feed_by_tag);
        prop_assert_eq!(told(&whole), told(&by_tag), "{:?}: {:?}", syntax, page);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_page_fed_tag_by_tag_is_the_same_tree(page in soup(HTML)) {
        is_the_same(&page)?;
    }

    #[test]
    fn so_is_one_that_is_hard_to_tell_apart(page in soup(TRICKY)) {
        is_the_same(&page)?;
    }
}
