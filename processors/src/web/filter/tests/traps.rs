//! The traps that a filter of code is known to fall into, each by its name: the eight of the design
//! (`design_…`), and the twenty-one that were found on real pages (`trap_…`). What is of whole pages
//! is in the tests beside this one, and with real pages in the suite.

use super::*;

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// That each of the pages loses its code and keeps its prose, in each format.
fn all_hold(declared: &str, pages: &[&str]) {
    for page in pages {
        holds(page, page.as_bytes(), declared);
    }
}

fn sized(body: &str, declared: &str, max_size: u32) -> Filtered {
    filtered(body.as_bytes(), declared, &ContentFilter { max_size, ..ContentFilter::default() })
}

// --- the design's ---

#[test]
fn design_1_what_stands_behind_the_cut_was_filtered_too() {
    let open = ["```\n", "<pre>", "~~~\n", "<code>", "<textarea>"];
    for open in open {
        let page =
            format!("Some words of prose that stay here.\n\n{open}{}", "leak_me();\n".repeat(50));
        for max_size in [20, 45, 60, 100] {
            let filtered = sized(&page, MARKDOWN, max_size);
            assert!(!filtered.content.contains(CODE), "{open:?}: {}", filtered.content);
            assert!(filtered.content.len() <= max_size as usize);
        }
    }
}

#[test]
fn design_2_markdown_is_read_as_commonmark_has_it() {
    all_hold(
        MARKDOWN,
        &[
            "keepsake\n\n````\n```\nleak_me()\n```\nleak_me()\n````\nkeepsake",
            "- keepsake\n\n  ~~~ rust\n  leak_me()\n  ~~~\n\n> keepsake\n> ```\n> leak_me()\n",
            "keepsake\r\n\r\n    leak_me()\r\n\r\nkeepsake ``leak_me ` leak_me`` \\`keepsake\\`",
        ],
    );
}

#[test]
fn design_3_html_is_read_as_a_browser_reads_it() {
    all_hold(
        HTML,
        &[
            "<p>keepsake <b><code>leak_me()</b> leak_me()</code>",
            "<p>keepsake</p><a href=x><pre>leak_me()</a>leak_me()</pre>",
            "<p title='leak_me()'>keepsake<!-- leak_me() --><img src='data:text/plain,leak_me()'>",
        ],
    );
}

#[test]
fn design_4_code_without_any_mark_is_found_by_its_lines() {
    all_hold(
        TEXT,
        &[
            "The keepsake shows it.\n\n$ leak_me --all\nleak_me: done\n\nSo says the keepsake.",
            "The keepsake shows it.\n\n>>> leak_me(1)\nleak_me\n\nSo says the keepsake.",
            "The keepsake shows it.\n\nTraceback (most recent call last):\n  File \"leak_me.py\", line 1\n\nSo says the keepsake.",
        ],
    );
    let source = "fn leak_me() {\n    let x = 1;\n    leak_me(x);\n    return x;\n}\n";
    assert_eq!(raw(source, TEXT).content, "[source code removed: 5 lines]");
}

#[test]
fn design_5_a_lying_type_or_charset_hides_no_code() {
    for declared in ["text/plain; charset=utf-16", "nonsense", "application/json", ""] {
        let page = "<!DOCTYPE html><p>keepsake</p><pre>leak_me()</pre>";
        holds(declared, page.as_bytes(), declared);
    }
}

#[test]
fn design_6_bytes_are_counted_once_and_caps_cannot_be_widened() {
    let filtered = raw("<p>a <code>leak_me</code></p><pre>leak_me()</pre>", HTML);
    assert_eq!(filtered.report.bytes_stripped, "leak_meleak_me()".len() as u64);
    let page = format!("<p>{}", "words ".repeat(400_000));
    assert!(sized(&page, HTML, u32::MAX).content.len() <= Caps::MOST.max_output_bytes);
}

#[test]
fn design_7_neither_structure_nor_summary_holds_code() {
    let page = "<title>Of keepsake</title><h2>About <code>leak_me</code></h2><p>The keepsake is one of many.</p>\
                <ul><li>leak_me(); return x;</ul><table><tr><td><pre>leak_me()</pre><td>keepsake</table>";
    holds("formats", page.as_bytes(), HTML);
    let structured = filtered(page.as_bytes(), HTML, &in_format(ContentFormat::Structured));
    let said: serde_json::Value = serde_json::from_str(&structured.content).unwrap();
    assert_eq!(said["title"], "Of keepsake");
    assert_eq!(said["blocks"][0]["text"], "About [code]");
    let summary = filtered(page.as_bytes(), HTML, &in_format(ContentFormat::Summary));
    assert_eq!(summary.content, "Of keepsake\nAbout [code]\nThe keepsake is one of many.\n");
}

#[test]
fn design_8_words_stay_and_a_placeholder_says_what_went() {
    let page = "<p>one <b>two<pre class=language-rust>leak_me();\nleak_me();</pre>three</i> four";
    let content = raw(page, HTML).content;
    for word in ["one", "two", "three", "four", "[code removed: 2 lines of rust]"] {
        assert!(content.contains(word), "{word}: {content}");
    }
}

// --- those of real pages ---

#[test]
fn trap_01_a_fence_that_is_never_closed_runs_to_the_end() {
    all_hold(
        MARKDOWN,
        &["keepsake\n\n```\nleak_me()\n\nleak_me()\n", "> keepsake\n> ~~~~\n> leak_me()"],
    );
}

#[test]
fn trap_02_a_cut_is_never_within_a_character() {
    for declared in [HTML, MARKDOWN, TEXT] {
        for max_size in 1..80 {
            let content = sized("ééé 日本語日本語 𝄞𝄞 ééé 日本語", declared, max_size).content;
            assert!(content.len() <= max_size as usize, "{declared} {max_size}");
        }
    }
}

#[test]
fn trap_03_what_is_cut_is_not_counted_as_stripped() {
    let filtered = sized(&format!("<p>{}", "words of prose ".repeat(100)), HTML, 220);
    assert!(filtered.truncated);
    assert_eq!((filtered.report.bytes_stripped, filtered.report.code_blocks_removed), (0, 0));
}

#[test]
fn trap_04_a_body_that_is_still_packed_is_no_text() {
    for body in [&b"\x1f\x8b\x08\0\0"[..], b"\x28\xb5\x2f\xfd\0", b"PK\x03\x04\x14"] {
        let refused = filter(body, Some(HTML), &ContentFilter::default(), Caps::default());
        assert!(matches!(refused, Err(Unfit::Type { .. })), "{refused:?}");
    }
}

#[test]
fn trap_05_html_has_many_names_for_code() {
    for name in [
        "pre", "code", "samp", "kbd", "tt", "xmp", "listing", "textarea", "template", "noscript",
        "script",
    ] {
        let page = format!("<p>keepsake</p><{name}>leak_me</{name}><p>keepsake");
        holds(name, page.as_bytes(), HTML);
    }
    for wrapper in
        ["div class=highlight", "div class=sourceCode", "div class=codehilite", "td class=code"]
    {
        let page = format!(
            "<p>keepsake</p><table><tr><td><{wrapper}>let leak_me = f(1);</table><p>keepsake"
        );
        holds(wrapper, page.as_bytes(), HTML);
    }
    all_hold(
        HTML,
        &[
            "<p>keepsake<p style='white-space: pre'>leak_me(1)</p>",
            "<p>keepsake<p><font face='Courier New'>leak_me(1)</font>",
        ],
    );
}

#[test]
fn trap_06_copies_that_nobody_sees_are_not_passed_on() {
    all_hold(
        HTML,
        &[
            "<p>keepsake<p style=display:none>leak_me()</p>",
            "<script type=application/ld+json>{\"articleBody\": \"leak_me()\"}</script><p>keepsake",
            "<p data-code='leak_me()' title='leak_me()'>keepsake",
            "<meta property=og:description content='leak_me()'><p>keepsake<!-- leak_me() -->",
            "<textarea class=crayon-plain>leak_me()</textarea><p>keepsake",
        ],
    );
}

#[test]
fn trap_07_what_is_escaped_is_decoded_before_it_is_looked_at() {
    all_hold(
        MARKDOWN,
        &[
            "keepsake\n\n&#96;&#96;&#96;\nleak_me()\n&#96;&#96;&#96;",
            "keepsake &lt;pre&gt;leak_me()&lt;/pre&gt; keepsake",
        ],
    );
}

#[test]
fn trap_08_fences_come_in_many_forms() {
    all_hold(
        MARKDOWN,
        &[
            "~~~\nleak_me()\n~~~\nkeepsake",
            "`````\nleak_me()\n```\nleak_me()\n`````\nkeepsake",
            "   ``` info\n   leak_me()\n   ```\nkeepsake",
            "1. keepsake\n\n   ```\n   leak_me()\n   ```",
            "keepsake\n\n\tleak_me()",
            "```\nleak_me()\n```\nkeepsake\n```\nleak_me()\n```\nkeepsake",
        ],
    );
}

#[test]
fn trap_09_a_stray_tick_eats_no_prose() {
    all_hold(MARKDOWN, &["one ` keepsake\n\nkeepsake `leak_me`", "``leak_me`leak_me`` keepsake"]);
}

#[test]
fn trap_10_blocks_and_spans_are_counted_apart_and_summed() {
    let page = "a `b` c `d`\n\n```\ne\n```\n";
    let seen = inspect(page.as_bytes(), Some(MARKDOWN), &ContentFilter::default(), Caps::default());
    let seen = seen.unwrap();
    let n = |kind| seen.removals.pieces.iter().filter(|piece| piece.kind == kind).count();
    assert_eq!((n(RemovedKind::Inline), n(RemovedKind::Block)), (2, 1));
    assert_eq!(seen.filtered.report.code_blocks_removed, 3);
}

#[test]
fn trap_11_a_heading_of_code_is_not_empty() {
    let page = "<h3><code>fs.open(path)</code></h3><p>Opens it.";
    assert!(raw(page, HTML).content.contains("<h3>[code]</h3>"));
    let wanted = ContentFilter { transform_apis: true, ..ContentFilter::default() };
    let content = filtered(page.as_bytes(), HTML, &wanted).content;
    assert!(content.contains("<h3>Function open of fs, which takes path.</h3>"), "{content}");
}

#[test]
fn trap_12_a_source_is_a_notice_and_what_is_no_text_is_refused() {
    for declared in ["text/x-python", "application/javascript", "text/css", "text/x-diff"] {
        let filtered = raw("leak_me\nSome words.\n", declared);
        assert!(filtered.content.starts_with("[source code removed: 2 lines"), "{declared}");
        assert!(filtered.report.warnings.iter().any(|words| words.contains("source code")));
    }
    for (body, declared) in
        [("%PDF-1.7", HTML), ("x", "application/pdf"), ("<svg></svg>", HTML), ("x", "font/woff2")]
    {
        let refused =
            filter(body.as_bytes(), Some(declared), &ContentFilter::default(), Caps::default());
        assert!(matches!(refused, Err(Unfit::Type { .. })), "{declared}: {refused:?}");
    }
}

#[test]
fn trap_13_a_page_that_shows_a_source_file_shows_nothing_of_it() {
    let lines = "<span class=kw>let</span> leak_me = 1;\n".repeat(40);
    let page = format!(
        "<title>keepsake</title><div class=example-wrap><div class=line-numbers>1</div>\
        <pre class=\"src-line-numbers\">1</pre><pre class=rust><code>{lines}</code></pre></div>"
    );
    holds("a source page", page.as_bytes(), HTML);
    assert!(raw(&page, HTML).report.warnings.contains(&"high code density detected".to_owned()));
}

#[test]
fn trap_14_a_page_leads_nowhere() {
    let page = "<base href='https://leak_me.example/'><meta http-equiv=refresh content='0;url=https://leak_me.example'>\
        <link rel=canonical href='https://leak_me.example'><p>keepsake";
    holds("leads", page.as_bytes(), HTML);
}

#[test]
fn trap_15_a_charset_is_found_as_browsers_find_it() {
    let page =
        |bytes: &[u8], declared: &str| filtered(bytes, declared, &ContentFilter::default()).content;
    for (bytes, declared, said) in [
        (&b"\xef\xbb\xbf<p>caf\xc3\xa9"[..], "text/html; charset=latin1", "café"),
        (b"<p>caf\xe9", "text/html; charset=latin1", "café"),
        (b"<meta charset=gb2312><p>\x81\x30\x84\x36 \xc4\xe3", "text/html", "你"),
        (b"<meta charset=utf-8><p>caf\xe9", "text/html; charset=latin1", "café"),
        (b"<p>a \x93quote\x94", "text/html", "“quote”"),
    ] {
        let content = page(bytes, declared);
        assert!(content.contains(said), "{said}: {content}");
    }
}

#[test]
fn trap_16_a_select_or_frameset_that_is_not_closed_lets_nothing_through() {
    all_hold(
        HTML,
        &[
            "<p>keepsake</p><select><option><xmp>leak_me()</xmp><pre>leak_me()",
            "<frameset><pre>leak_me()</pre><script>leak_me()</script>",
            "<p>keepsake</p><select><textarea>leak_me()</textarea>",
        ],
    );
}

#[test]
fn trap_17_a_hundred_thousand_elements_in_each_other_are_walked() {
    let page = format!("<p>keepsake</p>{}<pre>leak_me()", "<div>".repeat(100_000));
    holds("deep", page.as_bytes(), HTML);
}

#[test]
fn trap_18_signs_that_are_not_seen_do_not_hide_code_and_stay_in_prose() {
    all_hold(
        TEXT,
        &[
            "The keepsake shows it.\n\nle\u{200b}t leak_me = f(1)\u{37e}\nretu\u{200b}rn leak_me\u{37e}\n\nSo.",
        ],
    );
    for declared in [TEXT, MARKDOWN] {
        let content = raw("A soft\u{ad}ly said\u{200b} word: می\u{200c}خواهم.", declared).content;
        assert_eq!(content.trim_end(), "A softly said word: می\u{200c}خواهم.");
    }
}

#[test]
fn trap_19_density_is_code_among_what_was_seen() {
    for (page, density, is_high) in [
        ("<p>abcd</p><pre>abcd</pre>", 0.5, false),
        ("<p>ab</p><pre>abcd ef</pre>", 0.75, true),
        ("<p>a", 0.0, false),
    ] {
        let seen = inspect(page.as_bytes(), Some(HTML), &ContentFilter::default(), Caps::default())
            .unwrap();
        assert!((seen.density - density).abs() < 1e-9, "{page}: {}", seen.density);
        assert_eq!(!seen.filtered.report.warnings.is_empty(), is_high, "{page}");
    }
}

#[test]
fn trap_20_what_is_described_or_declared_carries_no_code() {
    let page = "<h3><code>leak.me(path='leak_me')</code></h3><pre>let keep = leak_me(1);\nleak_me(2);</pre>";
    for format in ContentFormat::ALL {
        let wanted =
            ContentFilter { transform_apis: true, transform_examples: true, ..in_format(format) };
        let described = filtered(page.as_bytes(), "text/html; title='leak_me()'", &wanted);
        assert!(!described.content.contains("leak_me("), "{}", described.content);
        assert!(!described.content_type.contains(CODE));
        assert!(described.report.warnings.iter().all(|words| !words.contains(CODE)));
    }
}

#[test]
fn trap_21_nothing_comes_of_nothing_and_what_is_cut_says_so() {
    for body in ["", " \n", "\u{feff}"] {
        let filtered = raw(body, HTML);
        assert_eq!(
            (&*filtered.content, &filtered.report),
            ("", &FilterReport::default()),
            "{body:?}"
        );
    }
    let filtered = sized("<p>Some words that are too many.", HTML, 60);
    assert!(filtered.truncated && filtered.content.len() <= 60);
    assert_eq!(filtered.report.warnings, ["truncated"]);
    assert_eq!(sized(&filtered.content, HTML, 60).content, filtered.content);
}
