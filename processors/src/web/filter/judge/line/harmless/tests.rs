use proptest::prelude::*;

use super::*;
use crate::web::filter::{
    judge::{Caution, by_lines, escaped},
    tests::laws::{HTML, TEXT, soup},
};

fn is_what_the_score_says(text: &str) -> Result<(), TestCaseError> {
    if is_harmless(text) {
        prop_assert!(escaped::find(text, true).is_empty(), "marked: {text:?}");
        prop_assert!(inline::find(text).is_empty(), "inline: {text:?}");
        for line in text.split(['\n', '\r']).chain([text]) {
            let score = super::super::score(line);
            prop_assert!(score < 2, "{score}: {line:?}");
        }
        prop_assert!(by_lines(text, Caution::Suspicious).is_empty(), "{text:?}");
    }
    Ok(())
}

const MORE: [&str; 24] = [
    "for (init; test; step)",
    "for (",
    "catch (a; b)",
    "; c)",
    "interface",
    "namespace",
    "protected",
    "ENTRYPOINT",
    "Traceback (most recent call last):",
    "goroutine",
    "Exception in thread ",
    "(native)",
    "[code]",
    "in",
    "or",
    "is None:",
    "sudo",
    "install",
    "/usr/bin/x",
    "./x",
    "https://x.example",
    "; cd x; make",
    "return x",
    "Get-Item",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(&beginnings::WORDS[..]).prop_map(str::to_owned),
        prop::sample::select(&MORE[..]).prop_map(str::to_owned),
        "[a-zA-Z0-9.,:;?!()\"'/\\-’“”é]{1,6}",
        "[a-z]{1,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_harmless_at_a_glance_is_harmless(
        words in prop::collection::vec((word(), prop::sample::select(&[" ", "\n", "\r", ""][..])), 1..9),
    ) {
        let text: String = words.iter().flat_map(|(word, blank)| [word, *blank]).collect();
        is_what_the_score_says(text.trim())?;
    }

    #[test]
    fn so_is_the_text_of_pages(text in prop_oneof![soup(HTML), soup(TEXT)]) {
        is_what_the_score_says(&text)?;
    }
}

#[test]
fn sentences_are_harmless() {
    for text in [
        "The parser (see below) reads a file, e.g. one of [code].",
        "It’s read by version 3.11 and later; others — like this one — use\nfor example another.",
        "Is it one?\rYes: it is",
        "and/or \"so-called\" things",
    ] {
        assert!(is_harmless(text), "{text}");
    }
}
