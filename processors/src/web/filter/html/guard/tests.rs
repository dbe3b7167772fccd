//! However a page is fed, its tree is the same.

use std::fmt::Write as _;

use html5ever::buffer_queue::BufferQueue;
use proptest::prelude::*;

use super::*;
use crate::web::filter::{
    html::{
        tags::Feeder,
        tree::{Data, ROOT},
    },
    tests::laws::{HTML, soup},
};

/// Where reading by leaps, or feeding tag by tag, has to know what a browser knows: what is a tag at all.
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
    "&",
    ";",
    "&nbsp;",
    "&#xe9;",
    "&#150;",
    "&notit;",
    " class='x y'",
    " CLASS=\"a&amp;b\"",
    " href=/x/y?z&copy=1",
    " style",
    "<P",
    "<!-->",
    "<!--->",
    "--",
    "<br/>",
    "<p / >",
    "</p ",
    "<x-y",
    "<input type=hidden>",
    "\n",
    "\r",
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
                write!(told, "\n{:depth$}{name}", "").unwrap();
                let is_read = |it: &&html5ever::Attribute| attributes::is_read(&it.name.local);
                for attribute in attributes.iter().filter(is_read) {
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

/// As it is meant to be fed: by somebody who does not care for time.
fn at_once(tokenizer: &Tokenizer<Guard>, text: &str) -> bool {
    let input = BufferQueue::default();
    input.push_back(text.into());
    while !input.is_empty() {
        let _stopped = tokenizer.feed(&input);
    }
    false
}

fn by_tag(tokenizer: &Tokenizer<Guard>, text: &str) -> bool {
    let mut feeder = Feeder::new(tokenizer, text);
    feeder.all();
    feeder.cut
}

fn is_the_same(page: &str) -> Result<(), TestCaseError> {
    for syntax in [Syntax::Html, Syntax::Xhtml] {
        let tree = |feed: fn(&Tokenizer<Guard>, &str) -> bool| {
            let room = &mut Room::of(page.len());
            told(&parse_fed(page, syntax, MAX_DEPTH, room, &mut Tally::default(), feed))
        };
        let whole = tree(at_once);
        prop_assert_eq!(&whole, &tree(by_tag), "by tag, {:?}: {:?}", syntax, page);
        prop_assert_eq!(&whole, &tree(leaps::feed), "by leaps, {:?}: {:?}", syntax, page);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn however_a_page_is_fed_it_is_the_same_tree(page in soup(HTML)) {
        is_the_same(&page)?;
    }

    #[test]
    fn so_is_one_that_is_hard_to_tell_apart(page in soup(TRICKY)) {
        is_the_same(&page)?;
    }
}

#[test]
fn a_page_of_beginnings_ends() {
    for part in ["<a", "<a \"", "<!--x", "</", "<p title='>", "&am<", "<script><", "<a b='&x"] {
        let page = part.repeat((1 << 20) / part.len());
        let room = &mut Room::of(page.len());
        let tree = parse(&page, Syntax::Html, room, &mut Tally::default());
        assert!(tree.first(ROOT).is_some(), "{part}");
    }
    // A tokenizer that is fed all of them takes minutes.
    let attributes = (0..200_000).fold(String::new(), |all, n| all + &format!(" a{n}"));
    for page in [format!("<p{attributes}"), format!("<p{attributes}>x")] {
        let mut tally = Tally::default();
        parse(&page, Syntax::Html, &mut Room::of(page.len()), &mut tally);
        let warnings = tally.report(false).warnings;
        assert!(warnings.iter().any(|it| it.starts_with("too many attributes")), "{warnings:?}");
    }
}

/// Each end tag is looked for among all elements that are open, and each mark that was not closed was
/// opened anew in what came behind it.
#[test]
fn marks_that_are_never_closed_make_no_page_deep() {
    for open in ["<b id=", "<a><font size="] {
        let marks = (0..1400).fold(String::new(), |all, n| all + &format!("<p>{open}{n}></p>"));
        let page = format!("{marks}<p>keepsake{}", "</x>".repeat(1000));
        let tree = parse(&page, Syntax::Html, &mut Room::of(page.len()), &mut Tally::default());
        let deepest = tree.ids().map(|id| tree.depth(id)).max();
        assert!(deepest <= Some(3 * MAX_DEPTH), "{open}: {deepest:?}");
        assert!(told(&tree).contains("keepsake"), "{open}");
    }
}
