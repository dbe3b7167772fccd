//! Markdown, by `CommonMark` and not by counting backticks.

use super::*;

#[test]
fn no_form_of_markdown_lets_code_through_or_loses_prose() {
    for (name, page) in forms::MARKDOWN {
        holds(name, page.as_bytes(), "text/markdown");
    }
}

#[test]
fn what_is_kept_stays_markdown() {
    let page = "# Title #\n\nSome *words* and a [link](a/b.html), a\\_b snake_case 1. x\n\n* one\n* two\n  1. deep\n\n\
                > quoted\n\n| a | b |\n|---|---|\n| c \\| d | `e` |\n\n```sh\nls\n```\n\n1) x\n";
    let expected = "# Title\n\nSome words and a [link](a/b.html), a_b snake_case 1. x\n\n- one\n- two\n  1. deep\n\n\
        > quoted\n\n| a | b |\n| --- | --- |\n| c \\| d | [code] |\n\n[code removed: 1 line of bash]\n\n1. x\n";
    assert_eq!(raw(page, "text/markdown").content, expected);
}

#[test]
fn text_that_looks_like_markup_reads_back_as_text() {
    for text in [
        "\\# no heading",
        "\\- no item",
        "1\\. no item",
        "a \\[b\\](c) d",
        "\\> no quote",
        "a \\< b &amp;lt; c",
        "\\*\\*no\\*\\*",
        "x \\| y",
        "\\`no\\`",
        "a\\\nb",
        "[x]\\: y",
        "\\_a\\_",
        "\\~\\~a\\~\\~",
        "!\\[a\\](b)",
        "- a\n- b\n\n* c",
        "- - a",
        "> - a\n> - b\n>\n> c",
        "1. a\n\n   b\n2. c",
        "- > a\n- # b",
        "C\\# \\#",
    ] {
        let once = raw(text, "text/markdown").content;
        assert_eq!(raw(&once, "text/markdown").content, once, "{text:?}");
    }
}

#[test]
fn a_heading_may_end_in_hashes_wherever_its_lines_broke() {
    for (text, expected) in [
        ("# _<br>#https://a.b/c?d=e# ", "# \\_ \\#https://a.b/c?d=e#\n"),
        ("# a<br>#", "# a \\#\n"),
        ("# a \\#", "# a \\#\n"),
        ("# a#", "# a#\n"),
        ("# \\# \\##", "# \\# \\##\n"),
        ("a<br>\n\\##\n===", "# a \\##\n"),
        ("# a<br>- b<br>1. d", "# a - b 1. d\n"),
        // Two lines of prose, and one line of code.
        ("# `# <br> 1words:**[a](b)||- ", "# [code]\n"),
    ] {
        let once = raw(text, "text/markdown").content;
        assert_eq!(once, expected, "{text:?}");
        assert_eq!(raw(&once, "text/markdown").content, once, "{text:?}");
    }
}

#[test]
fn an_item_that_is_cut_stays_the_text_it_was() {
    for (text, max_size, expected) in [
        ("- \\- some more words", 13, "- \\- some\n"),
        ("- 1\\. some more words", 14, "- 1\\. some\n"),
        ("- \\> some more words", 13, "- \\> some\n"),
        ("> \\+ some more words", 13, "> \\+ some\n"),
        // The next item of a list is that, too, where it is cut.
        ("- some\n- more words", 14, "- some\n- more\n"),
        ("- [a]: b# [a]: b<li>https://a.b/c?d=e# ", 24, "- [a\\]: b# [a\\]: b\n- ht\n"),
    ] {
        let wanted = ContentFilter { max_size, ..ContentFilter::default() };
        assert_eq!(filtered(text.as_bytes(), "text/markdown", &wanted).content, expected);
    }
}

#[test]
fn a_list_in_a_definition_is_written_as_it_is_read() {
    for page in ["<ul><dl>_<ul>日", "<li><ul><dl>\\<ul>-"] {
        let once = raw(page, "text/markdown").content;
        assert_eq!(raw(&once, "text/markdown").content, once, "{page}");
    }
}

#[test]
fn as_much_of_one_long_word_stays_as_there_is_room_for() {
    for word in ["[", "x", "é", "a*"] {
        let wanted = ContentFilter { max_size: 1000, ..ContentFilter::default() };
        let filtered = filtered(word.repeat(5000).as_bytes(), "text/markdown", &wanted);
        assert!(filtered.content.len() > 900, "{word}: {}", filtered.content.len());
    }
}
