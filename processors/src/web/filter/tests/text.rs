//! Plain text, sources, and what is no text at all.

use super::*;

#[test]
fn no_form_of_plain_text_lets_code_through_or_loses_prose() {
    for (name, text) in forms::TEXT {
        holds(name, text.as_bytes(), "text/plain");
        holds(name, text.replace('\n', "\r\n").as_bytes(), "text/plain");
    }
}

#[test]
fn lines_end_in_many_ways_and_none_of_them_hides_code() {
    let lines = [
        "These are the words of a page that is a keepsake.",
        "import os",
        "def run(leak_me):",
        "    return os.system(leak_me)",
        "That is all of it, keepsake.",
        "The next one is about the sea and its birds, keepsake.",
        "It is long, keepsake, and there is no more to it than that.",
    ];
    for end in ["\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
        let text = lines.join(end);
        holds(&format!("text, {end:?}"), text.as_bytes(), "text/plain; charset=utf-8");
        let json = serde_json::to_string(&[&text]).unwrap();
        holds(&format!("json, {end:?}"), json.as_bytes(), "application/json");
        let page = format!("<p>{}", lines.map(str::trim).join(end));
        holds(&format!("html, {end:?}"), page.as_bytes(), "text/html; charset=utf-8");
        holds(
            &format!("markdown, {end:?}"),
            lines.map(str::trim).join(end).as_bytes(),
            "text/markdown; charset=utf-8",
        );
    }
    let marked = "keepsake\r\r#+begin_src c\rleak_me\r#+end_src\r\rkeepsake";
    holds("marks", marked.as_bytes(), "text/markdown");
    holds("marks", marked.as_bytes(), "text/plain");
}

#[test]
fn controls_and_blanks_that_nobody_sees_do_not_hide_code() {
    for text in [
        "keepsake\n\nleak_me \u{1}=\u{1} 1;\u{1}\n\nkeepsake",
        "keepsake\n\nlet\u{2800}leak_me\u{1680}=\u{2800}f(1);\n\nkeepsake",
    ] {
        holds("text", text.as_bytes(), "text/plain; charset=utf-8");
        let json = serde_json::to_string(&text.split("\n\n").collect::<Vec<_>>()).unwrap();
        holds("json", json.as_bytes(), "application/json");
    }
}

#[test]
fn a_body_that_is_source_by_type_is_a_notice() {
    for declared in
        ["text/javascript", "text/css", "text/x-python", "application/x-sh", "text/x-diff"]
    {
        let filtered = raw("leak_me\nThe words.\n", declared);
        assert!(
            filtered.content.starts_with("[source code removed: 2 lines of "),
            "{}",
            filtered.content
        );
        assert_eq!(filtered.report.code_blocks_removed, 1);
        assert_eq!(filtered.report.bytes_stripped, 19);
        assert!(filtered.report.warnings.contains(&"high code density detected".to_owned()));
        assert_eq!(raw(&filtered.content, filtered.content_type).content, filtered.content);
    }
}

#[test]
fn a_body_that_is_source_by_its_looks_is_a_notice_whatever_its_type() {
    let source = "use std::fs;\n\n/// Reads leak_me.\nfn leak_me() -> u32 {\n    let x = 1;\n    // words of prose\n    x + 1\n}\n";
    for declared in ["text/plain", "application/octet-stream", ""] {
        let filtered = raw(source, declared);
        assert_eq!(filtered.content, "[source code removed: 7 lines]", "{declared}");
    }
}

#[test]
fn a_lying_type_does_not_help_code_through() {
    let page = "<!DOCTYPE html><p>keepsake</p><pre>leak_me()</pre>";
    for declared in ["text/plain", "application/json", "text/csv", "", "nonsense"] {
        holds(declared, page.as_bytes(), declared);
    }
    let markdown = "keepsake\n\n```\nleak_me()\n```\n";
    for declared in ["text/plain", "text/html", "", "application/octet-stream"] {
        holds(declared, markdown.as_bytes(), declared);
    }
}

#[test]
fn what_is_no_text_is_refused() {
    for (body, declared) in [
        (&b"%PDF-1.7"[..], "text/html"),
        (b"PK\x03\x04", "text/plain"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><text>leak_me</text></svg>", "text/html"),
        (b"hello", "image/svg+xml"),
        (b"\x01\x02\x03\x04\x05\x06", "text/plain"),
    ] {
        let refused = filter(body, Some(declared), &ContentFilter::default(), Caps::default());
        assert!(matches!(refused, Err(Unfit::Type { .. })), "{declared}: {refused:?}");
    }
}

#[test]
fn sizes_are_clamped_and_zero_is_refused() {
    let wanted = ContentFilter { max_size: 0, ..ContentFilter::default() };
    assert_eq!(filter(b"x", None, &wanted, Caps::default()), Err(Unfit::NoSize));
    let wanted = ContentFilter { max_size: u32::MAX, ..ContentFilter::default() };
    let caps = Caps { max_output_bytes: 100, ..Caps::default() };
    let filtered = filter("words and more ".repeat(90).as_bytes(), None, &wanted, caps).unwrap();
    assert!(filtered.content.len() <= 100 && filtered.truncated);
}

#[test]
fn what_is_over_the_input_cap_is_not_read_and_its_block_runs_to_the_end() {
    let page = format!("<p>keepsake</p><pre>leak_me();\n{}</pre>", "leak_me();\n".repeat(100));
    let caps = Caps { max_input_bytes: 200, ..Caps::default() };
    let filtered =
        filter(page.as_bytes(), Some("text/html"), &ContentFilter::default(), caps).unwrap();
    assert!(!filtered.content.contains(CODE) && filtered.content.contains(PROSE));
    assert!(filtered.report.warnings.contains(&"only the first 200 bytes were read".to_owned()));
}

#[test]
fn json_keeps_its_shape_and_loses_the_code_in_its_strings() {
    let body = r#"{"title": "The keepsake", "n": [1, true, null], "html": "<p>keepsake</p><pre>leak_me()</pre>",
        "snippet": "fn leak_me() {\n    let x = 1;\n    return x;\n}", "text": "Use `leak_me()` as keepsake.",
        "nested": {"a \"quoted\" name": ["$ leak_me --x", "\u003ccode\u003eleak_me\u003c/code\u003e keepsake"]}}"#;
    for declared in ["application/json", "text/plain", "application/vnd.api+json", ""] {
        holds(declared, body.as_bytes(), declared);
    }
    let filtered = raw(body, "application/json");
    let value: serde_json::Value = serde_json::from_str(&filtered.content).unwrap();
    assert_eq!(value["n"], serde_json::json!([1, true, null]));
    assert_eq!(value["html"], "keepsake\n[code removed: 1 line]");
    assert_eq!(value["snippet"], "[source code removed: 4 lines]");
    assert_eq!(value["text"], "Use [code] as keepsake.");
    assert_eq!(value["nested"]["a \"quoted\" name"][1], "[code] keepsake");
    assert_eq!(filtered.content_type, "application/json; charset=utf-8");
}

#[test]
fn a_feed_and_a_book_in_xml_are_read_by_their_elements() {
    let feed = "<?xml version='1.0'?><rss><channel><title>Feed</title><script/><item><title>A keepsake</title>\
        <description><![CDATA[<p>keepsake</p><pre>leak_me()</pre>]]></description></item></channel></rss>";
    let book = "<?xml version='1.0'?><!DOCTYPE book><chapter><title>A keepsake</title><para>keepsake \
        <literal>leak_me</literal></para><programlisting>leak_me()</programlisting><anchor/><para>keepsake</para></chapter>";
    for (body, declared) in
        [(feed, "application/rss+xml"), (book, "application/xml"), (book, "text/plain")]
    {
        holds(declared, body.as_bytes(), declared);
    }
    assert!(raw(feed, "text/xml").content.contains("<h2>A keepsake</h2>"));
}

#[test]
fn what_stands_in_elements_that_nobody_knows_is_no_word_together() {
    let people =
        "<?xml version='1.0'?><p1><name>Ann</name><city>Rome</city></p1><p1><name>Bob</name></p1>";
    let content = raw(people, "application/xml").content;
    assert!(content.contains("Ann Rome Bob"), "{content}");
    let page = "<?xml version='1.0'?><html><p>un<span>be</span><span>liev</span>able</p></html>";
    assert!(raw(page, "application/xhtml+xml").content.contains("unbelievable"));
}

#[test]
fn json_that_is_too_long_is_cut_between_elements() {
    let body =
        r#"{"a": ["one", "two, [x]"], "b": {"c": 1, "d": "\\\"}"}, "e": [], "f": "the end"}"#;
    let whole: serde_json::Value = serde_json::from_str(body).unwrap();
    let cut = |max_size: usize| {
        let max_size = u32::try_from(max_size).unwrap();
        let wanted = ContentFilter { max_size, ..ContentFilter::default() };
        let cut = filtered(body.as_bytes(), "application/json", &wanted);
        assert!(cut.content.len() <= max_size as usize, "{max_size}: {}", cut.content);
        assert_eq!(
            filtered(cut.content.as_bytes(), "application/json", &wanted).content,
            cut.content
        );
        cut
    };
    let mut before = 0;
    for max_size in 2..body.len() {
        let cut = cut(max_size);
        let value: serde_json::Value = serde_json::from_str(&cut.content).unwrap();
        assert!(cut.truncated && before <= cut.content.len(), "{max_size}: {}", cut.content);
        before = cut.content.len();
        for (name, value) in value.as_object().unwrap() {
            let is_part = match (value.as_array(), value.as_object()) {
                (Some(kept), _) => whole[name].as_array().unwrap().starts_with(kept),
                (_, Some(kept)) => kept.iter().all(|(key, value)| whole[name][key] == *value),
                _ => whole[name] == *value,
            };
            assert!(is_part, "{max_size}: {}", cut.content);
        }
    }
    assert_eq!(cut(1).content, "");
    assert_eq!(cut(20).content, r#"{"a": ["one"]}"#);
    assert_eq!(cut(body.len() - 1).content, body.replace(r#", "f": "the end""#, ""));
    assert!(!cut(body.len()).truncated);
}

#[test]
fn code_among_the_lines_of_a_paragraph_goes_and_the_rest_stays() {
    let words = "To read a keepsake and to print what is in it, you open it first, then you go through all of \
        it, line by line, and you close it when you are done:";
    let code = "with open(leak_me) as f:\n    for line in f:\n        print(leak_me)";
    holds("Markdown", format!("{words}\n{code}\n").as_bytes(), "text/markdown");
    holds("HTML", format!("<p>{words}\n{code}</p>").as_bytes(), "text/html");
    holds("breaks", format!("<p>{words}\n{code}<br>It is a keepsake.</p>").as_bytes(), "text/html");
}

#[test]
fn a_text_of_placeholders_is_read_once() {
    // Each takes minutes where the end of a word is looked for from every placeholder.
    for (text, declared) in [
        ("[code]x".repeat(40_000), "text/plain"),
        ("`a`x".repeat(60_000), "text/plain"),
        (format!("<p>{}", "<code>a</code>x".repeat(16_000)), "text/html"),
        (format!("<p>{}", "&lt;pre&gt;x".repeat(20_000)), "text/html"),
        ("[code removed: ".repeat(16_000), "text/plain"),
        (format!("# {}", "a. ".repeat(80_000)), "text/markdown"),
    ] {
        assert!(raw(&text, declared).content.len() <= 65_536);
    }
}

#[test]
fn prose_that_begins_like_code_is_prose() {
    for prose in [
        "In [12], Smith and Jones show that every compact group is amenable.",
        "   at the other end (Section 4.2: see below)",
        "at noon (12:30)",
    ] {
        assert_eq!(raw(prose, "text/plain").content, prose);
    }
    for code in ["In [12]: leak_me", "    at leak.me(Leak.java:12)", "    at open (node:fs:1:2)"] {
        assert!(!raw(code, "text/plain").content.contains("leak"), "{code}");
    }
}

/// A page of another charset was once longer than what is read of it, and taken for a whole one.
#[test]
fn a_page_that_decoding_makes_too_long_is_known_to_be() {
    let caps = Caps { max_input_bytes: 200, ..Caps::default() };
    let cyrillic = |n| vec![0xef; n];
    let wide = |n| "a\0".repeat(n).into_bytes();
    let image = [b"\x89PNG\r\n\x1a\n".as_slice(), &[0xef; 300]].concat();
    for (body, declared, wanted) in [
        (cyrillic(100), "text/plain; charset=windows-1251", false),
        (cyrillic(101), "text/plain; charset=windows-1251", true),
        (vec![b'a'; 200], "text/plain; charset=windows-1251", false),
        ("\u{44f}".repeat(101).into_bytes(), "text/plain; charset=utf-8", true),
        // Twice as long before as after.
        (wide(200), "text/plain; charset=utf-16le", false),
        (wide(201), "text/plain; charset=utf-16le", true),
        (image, "image/png", false),
        (Vec::new(), "text/plain", false),
    ] {
        let said = overflows(&body, Some(declared), caps);
        assert_eq!(said, wanted, "{} bytes of {declared}", body.len());
        if let Ok(filtered) = filter(&body, Some(declared), &ContentFilter::default(), caps) {
            assert_eq!(filtered.truncated, wanted, "{} bytes of {declared}", body.len());
        }
    }
}
