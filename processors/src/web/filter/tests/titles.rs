//! What a page is called, and what was taken out of it.

use super::*;

#[test]
fn a_page_is_called_by_its_title_or_its_heading_in_each_format() {
    let long = format!("<title>{}</title>", "many words ".repeat(60));
    for (page, declared, title) in [
        (
            "<title> Files &amp;\n folders </title><h1>Other</h1>",
            "text/html",
            Some("Files & folders"),
        ),
        ("<h2>Before</h2><h1>Files <i>and</i><br>more</h1>", "text/html", Some("Files and more")),
        ("<h3>Third</h3><p>x", "text/html", Some("Third")),
        ("<title>Of <code>open</code></title>", "text/html", Some("Of [code]")),
        ("<title></title><h1><code>open</code></h1><h1>Said</h1>", "text/html", Some("Said")),
        ("<h1><code>open</code></h1>", "text/html", None),
        ("<h1>let x = 1; <br> return x;</h1>", "text/html", None),
        ("<p>No more than that.", "text/html", None),
        ("words\n\n## First `x`\n\n# Second\n", "text/markdown", Some("First [code]")),
        ("Files\n=====\n\nwords", "text/markdown", Some("Files")),
        ("{\"title\": \"x\"}", "application/json", None),
        ("Only words.", "text/plain", None),
        ("", "text/html", None),
        (&long, "text/html", Some("many words ".repeat(27).trim_end())),
    ] {
        for format in ContentFormat::ALL {
            let filtered = filtered(page.as_bytes(), declared, &in_format(format));
            assert_eq!(filtered.title.as_deref(), title, "{format:?} of {page}");
        }
    }
}

#[test]
fn the_titles_of_feeds_carry_no_code() {
    let entry = |title: &str| {
        format!(
            "<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>{title}<entry>{title}</entry></feed>"
        )
    };
    for title in [
        "<title type='html'>Use &lt;code&gt;leak_me[k]&lt;/code&gt; &lt;b&gt;keepsake&lt;/b&gt;</title>",
        "<title type='html'><![CDATA[Use <code>leak_me[k]</code> <b>keepsake</b>]]></title>",
        "<title type='html'>&lt;pre&gt;leak_me&lt;/pre&gt;keepsake</title>",
        "<title type='xhtml'><div>Use <code>leak_me[k]</code> <b>keepsake</b></div></title>",
        "<title type='html'>&lt;span class='highlight-source-c'&gt;leak_me&lt;/span&gt; keepsake</title>",
    ] {
        let page = entry(title);
        holds(title, page.as_bytes(), "application/atom+xml");
        for format in ContentFormat::ALL {
            let title = filtered(page.as_bytes(), "application/atom+xml", &in_format(format)).title;
            let title = title.unwrap_or_default();
            assert!(!title.contains(CODE) && title.contains(PROSE), "{page}: {title}");
        }
    }
    let page = entry("<title type='html'>Of &lt;b&gt;bold&lt;/b&gt; words</title>");
    assert_eq!(raw(&page, "application/atom+xml").title.as_deref(), Some("Of bold words"));
    let page = "<p>keepsake</p><svg><title>Use <code>leak_me[k]</code></title></svg>";
    holds("svg", page.as_bytes(), "text/html");
}

#[test]
fn what_goes_is_kept_for_who_asks_and_changes_nothing() {
    let page = "<p>One <code>f(x)</code>.</p><pre class=language-c>int x;\n</pre><p>let y = g(1);<br>return y;</p>\
                <style>p {}</style>";
    for format in ContentFormat::ALL {
        let wanted = in_format(format);
        let shown = inspect(page.as_bytes(), Some("text/html"), &wanted, Caps::default()).unwrap();
        assert_eq!(shown.filtered, filtered(page.as_bytes(), "text/html", &wanted));
        let pieces: Vec<_> =
            shown.removals.pieces.iter().map(|it| (it.kind, it.language, &*it.text)).collect();
        assert_eq!(
            pieces,
            [
                (RemovedKind::Inline, None, "f(x)"),
                (RemovedKind::Block, Some("c"), "int x;\n"),
                (RemovedKind::Block, None, "let y = g(1);\rreturn y;"),
                (RemovedKind::Unseen, None, "p {}"),
            ]
        );
        let n_bytes: usize = pieces.iter().map(|(_, _, text)| text.len()).sum();
        assert_eq!(shown.filtered.report.bytes_stripped, n_bytes as u64);
    }
}
