//! HTML: elements, misnesting, attributes, hidden copies, escaped tags, hostile markup.

use super::*;

#[test]
fn no_form_of_html_lets_code_through_or_loses_prose() {
    for (name, page) in forms::HTML {
        holds(name, page.as_bytes(), "text/html; charset=utf-8");
    }
}

#[test]
fn utf_16_and_iso_2022_jp_hide_no_tag() {
    let page = "<!DOCTYPE html><p>keepsake</p><pre>leak_me()</pre>";
    let wide: Vec<u8> = page.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for declared in ["text/html", "text/html; charset=utf-8", "text/plain; charset=utf-16le"] {
        let filtered = filtered(&wide, declared, &ContentFilter::default());
        assert!(filtered.content.contains(PROSE) && !filtered.content.contains(CODE), "{declared}");
        assert_eq!(filtered.content_type, "text/html; charset=utf-8");
    }
    let body = b"<p>keepsake \x1b$B$3$s\x1b(B<pre>leak_me()</pre>";
    let filtered = filtered(body, "text/html; charset=iso-2022-jp", &ContentFilter::default());
    assert!(filtered.content.contains("keepsake こん") && !filtered.content.contains(CODE));
}

#[test]
fn a_block_of_code_is_replaced_by_how_long_it_was() {
    let page = "<p>Before.</p><pre class='language-rust'><code>let a = 1;\n\nlet b = 2;\n</code></pre>\
                <p>After <code>x</code>.</p>";
    let filtered = raw(page, "text/html");
    assert_eq!(
        filtered.content,
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<p>Before.</p>\n\
         <p>[code removed: 2 lines of rust]</p>\n<p>After [code].</p>\n"
    );
    // Two counters within, one outside; the bytes of the code and of nothing else.
    assert_eq!(filtered.report.code_blocks_removed, 2);
    assert_eq!(filtered.report.bytes_stripped, "let a = 1;\n\nlet b = 2;\n".len() as u64 + 1);
    assert!(filtered.report.warnings.is_empty(), "{:?}", filtered.report.warnings);
}

#[test]
fn what_is_kept_keeps_its_structure() {
    let page = "<title>T &amp; U</title><h2>A <a href='b.html#c'>link</a></h2><ul><li>one<li>two</ul>\
                <table><caption>C</caption><tr><th>h<td>d</table><blockquote>q</blockquote>\
                <dl><dt>t<dd>d</dl><p>a<br>b <b>c</b>";
    let expected = "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>T &amp; U</title>\n\
        <h2>A <a href=\"b.html#c\">link</a></h2>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n\
        <table>\n<caption>C</caption>\n<tr><th>h</th><td>d</td></tr>\n</table>\n\
        <blockquote>\n<p>q</p>\n</blockquote>\n<dl>\n<dt>t</dt>\n<dd>d</dd>\n</dl>\n\
        <p>a<br>b <strong>c</strong></p>\n";
    assert_eq!(raw(page, "text/html").content, expected);
}

#[test]
fn code_is_removed_before_the_page_is_cut() {
    let prose = "<p>Some words of prose that stay. ".repeat(40);
    let page = format!("{prose}<pre>{}</pre>{prose}", "leak_me();\n".repeat(400));
    for max_size in [1, 50, 90, 200, 1000, 2000, 3000] {
        for format in ContentFormat::ALL {
            let wanted = ContentFilter { max_size, format, ..ContentFilter::default() };
            let filtered = filtered(page.as_bytes(), "text/html", &wanted);
            assert!(
                filtered.content.len() <= max_size as usize,
                "{max_size}: {}",
                filtered.content
            );
            assert!(!filtered.content.contains(CODE));
            assert_eq!(
                filtered.truncated,
                filtered.report.warnings.contains(&"truncated".to_owned()),
                "{max_size} {format:?}"
            );
            if format != ContentFormat::Summary {
                assert!(filtered.truncated, "{max_size} {format:?}");
            }
        }
    }
}

/// The JSON once said that it was all of the page, and only a warning beside it that it was not.
#[test]
fn the_beginning_of_a_page_says_so_in_every_format() {
    let page = format!("<title>Weirs</title>{}", "<p>Some words of prose that stay. ".repeat(40));
    let read = |format, caps, filter: fn(&[u8], Option<&str>, &ContentFilter, Caps) -> _| {
        let filtered: Result<Filtered, Unfit> =
            filter(page.as_bytes(), Some("text/html"), &in_format(format), caps);
        filtered.unwrap()
    };
    let less = Caps { max_input_bytes: 400, ..Caps::default() };
    for format in ContentFormat::ALL {
        let whole = read(format, Caps::default(), filter);
        assert_eq!(whole.report.warnings.len(), usize::from(whole.truncated), "{format:?}");
        let beginning = read(format, Caps::default(), filter_beginning);
        let too_long = read(format, less, filter);
        for part in [&beginning, &too_long] {
            assert!(part.truncated, "{format:?}");
            assert_eq!(part.report.warnings.last().map(String::as_str), Some("truncated"));
        }
        if format == ContentFormat::Structured {
            for (filtered, said) in [(whole, false), (beginning, true), (too_long, true)] {
                let content: serde_json::Value = serde_json::from_str(&filtered.content).unwrap();
                assert_eq!(content["truncated"], said, "{content}");
                assert!(filtered.content.contains("words of prose"));
            }
        }
    }
}

#[test]
fn a_cut_is_between_characters_and_elements() {
    let page = "<ul><li>ééééé ééééé<li>日本語日本語日本語</ul>";
    for max_size in 1..140 {
        let wanted = ContentFilter { max_size, ..ContentFilter::default() };
        let filtered = filtered(page.as_bytes(), "text/html; charset=utf-8", &wanted);
        let content = &filtered.content;
        assert_eq!(content.matches("<li>").count(), content.matches("</li>").count(), "{content}");
        assert_eq!(content.matches("<ul>").count(), content.matches("</ul>").count(), "{content}");
    }
}

#[test]
fn a_page_of_code_is_called_one() {
    let page = format!("<p>Words.</p><pre>{}</pre>", "leak_me();\n".repeat(9));
    let warnings = raw(&page, "text/html").report.warnings;
    assert_eq!(warnings, ["high code density detected"]);
}

#[test]
fn nothing_comes_of_nothing() {
    for declared in ["text/html", "text/plain", "text/markdown", ""] {
        for format in ContentFormat::ALL {
            let filtered = filtered(b"", declared, &in_format(format));
            assert_eq!((filtered.content.as_str(), filtered.report), ("", FilterReport::default()));
        }
    }
}

#[test]
fn a_deep_page_is_not_walked_by_recursion() {
    for open in
        ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<a><b>", "<blockquote>", "<svg><g>"]
    {
        let page = format!("<p>keepsake</p>{}<pre>leak_me()</pre>", open.repeat(100_000));
        let filtered = raw(&page, "text/html");
        assert!(filtered.content.contains(PROSE) && !filtered.content.contains(CODE), "{open}");
    }
}

#[test]
fn prose_in_too_many_wrappers_is_not_lost() {
    let page = format!("{}keepsake{}<p>keepsake", "<div>".repeat(300), "</div>".repeat(300));
    assert_eq!(raw(&page, "text/html").content.matches(PROSE).count(), 2);
}

#[test]
fn markup_that_multiplies_itself_is_bounded() {
    let fonts = (0..2000).fold(String::new(), |page, n| page + &format!("<p><font size={n}>"));
    let page = format!("{fonts}{}", "<p>x".repeat(10_000));
    let filtered = raw(&page, "text/html");
    assert!(filtered.content.len() <= 65_536);
}

#[test]
fn a_tag_with_too_many_attributes_loses_them_and_the_page_nothing() {
    let many = (0..20_000).fold(String::new(), |all, n| all + &format!(" a{n}"));
    for (before, behind) in [
        ("<p>keepsake</p><p", ">keepsake</p>"),
        ("<p>keepsake</p><p", "/>keepsake</p>"),
        ("<p>keepsake</p", ">keepsake"),
        ("<script>if (a <b && c)", "</script><p>keepsake"),
        ("<script>x <y</script", "><p>keepsake <pre>leak_me()</pre>"),
        ("<script><!x </script", "><p>keepsake"),
        ("<script><!--<script></script </script", "></script><p>keepsake"),
        ("<script>x = '<p", "'</script><p>keepsake"),
        ("<!-- <p a='", "--><p>keepsake <pre>leak_me()</pre>"),
        ("<!-- <script> --><p", "><pre>leak_me()</pre>keepsake"),
        ("<p>a picture</p><svg><style><a", "></style></svg><p>keepsake"),
        ("<p>a picture</p><svg><![CDATA[]]><a", "></svg><p>keepsake"),
        ("<style></style", "><p>keepsake"),
        ("</><p", "></p><p>keepsake"),
        ("a &amp<p", ">keepsake"),
        ("<p title='>'", ">keepsake<code>leak_me()</code>"),
    ] {
        holds(before, format!("{before}{many}{behind}").as_bytes(), "text/html; charset=utf-8");
    }
    // Each of them is small, and all of them are for one element.
    let bodies = (0..20_000).fold(String::new(), |all, n| all + &format!("<body a{n}>"));
    holds("body", format!("{bodies}<p>keepsake").as_bytes(), "text/html; charset=utf-8");
}

#[test]
fn the_words_of_a_broken_page_stay() {
    let page =
        "<p>one <b>two <i>three</b> four</i> <table>five<tr><td>six</p>seven<div>eight</span>";
    let content = raw(page, "text/html").content;
    for word in ["one", "two", "three", "four", "five", "six", "seven", "eight"] {
        assert!(content.contains(word), "{word}: {content}");
    }
}

#[test]
fn a_waiver_lets_code_stay_as_code() {
    let wanted = ContentFilter {
        strip_code_blocks: false,
        strip_inline_code: false,
        ..ContentFilter::default()
    };
    let page = "<p>A <code>b &amp; c</code>.</p><pre>\nlet x = 1;\n  y\n</pre>";
    let filtered = filtered(page.as_bytes(), "text/html", &wanted);
    assert!(
        filtered
            .content
            .ends_with("<p>A <code>b &amp; c</code>.</p>\n<pre>\nlet x = 1;\n  y</pre>\n"),
        "{}",
        filtered.content
    );
    assert_eq!(filtered.report, FilterReport::default());
}

#[test]
fn what_is_nested_too_deeply_stands_without_what_it_is_in() {
    for open in ["<blockquote>", "<ul><li>", "<table><tr><td>", "<dl><dd>", "<div><h2>"] {
        let page = format!(
            "{}<p>Deep keepsake.</p><p>The rest is a keepsake.</p><pre>leak_me()</pre>",
            open.repeat(130)
        );
        holds(open, page.as_bytes(), "text/html; charset=utf-8");
        assert!(!raw(&page, "text/html").content.contains("keepsake.The"), "{open}");
    }
    holds(
        "quotes",
        format!("{}An ordinary keepsake.", "> ".repeat(130)).as_bytes(),
        "text/markdown",
    );
}

#[test]
fn what_is_hidden_on_narrow_screens_only_is_read() {
    for (page, is_kept) in [
        ("<div class='d-none d-md-block'><p>keepsake</div>", true),
        ("<div class='d-none d-lg-table-cell'><p>keepsake</div>", true),
        ("<div class='d-none'><p>leak_me</div>", false),
        ("<div class='d-none d-print-block'><p>leak_me</div>", false),
        ("<div class='d-none d-md-none'><p>leak_me</div>", false),
        ("<div hidden class='d-none d-md-block'><p>leak_me</div>", false),
        ("<main class='container gutter'><p>keepsake</main>", true),
        ("<div class=gutter><div class='row gutter'><p>keepsake</div></div>", true),
        ("<div class=gutter>1 <b>2</b>\n3</div>", false),
    ] {
        let content = raw(page, "text/html").content;
        assert_eq!(content.contains(PROSE), is_kept, "{page}: {content}");
        assert!(!content.contains(CODE) && !content.contains('2'), "{page}: {content}");
    }
}

/// Each piece of HTML in a page once had as much room as a page of its own.
#[test]
fn pieces_of_html_in_a_page_have_room_for_one_page() {
    let fonts = (0..60).fold("<p>".to_owned(), |all, n| all + &format!("<font size={n}>"));
    let piece = format!("{fonts}</p>{}", "<p>x</p>".repeat(100));
    let escaped = piece.replace('<', "&lt;");
    let items = format!("<item><description>{escaped}</description></item>").repeat(100);
    let feed = format!("<?xml version='1.0'?><rss><channel>{items}</channel></rss>");
    let strings = |string: &str, n| serde_json::to_string(&[string].repeat(n)).unwrap();
    let json = strings(&piece, 100);
    for (page, declared) in [(feed, "application/rss+xml"), (json, "application/json")] {
        let filtered = raw(&page, declared);
        let warnings = filtered.report.warnings;
        assert!(warnings.iter().any(|it| it.starts_with("too much markup")), "{warnings:?}");
        assert!(filtered.content.contains('x'));
    }
    let little = strings("a<br>b", 50_000);
    let filtered = filtered(
        little.as_bytes(),
        "application/json",
        &ContentFilter { max_size: 1_000_000, ..ContentFilter::default() },
    );
    assert_eq!(filtered.content.matches('b').count(), 50_000);
}

#[test]
fn a_summary_of_blanks_is_made_at_once() {
    // It takes hours where what follows is looked for from each of them.
    let page = format!("<p>One two three four{}. x</p>", "\u{a0}".repeat(1_000_000));
    let wanted = in_format(ContentFormat::Summary);
    assert!(filtered(page.as_bytes(), "text/html; charset=utf-8", &wanted).content.len() <= 2048);
}
