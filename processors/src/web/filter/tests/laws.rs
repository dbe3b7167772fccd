//! What holds for every page.

use proptest::prelude::*;

use super::*;

/// Soup of everything that pages are made of.
pub(in crate::web::filter) fn soup(
    parts: &'static [&'static str],
) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(parts), 0..40).prop_map(|parts| parts.concat())
}

pub(in crate::web::filter) const HTML: &[&str] = &[
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<i>",
    "<a href=x>",
    "</a>",
    "<pre>",
    "</pre>",
    "<code>",
    "</code>",
    "<ul>",
    "<li>",
    "</ul>",
    "<ol>",
    "</ol>",
    "<table>",
    "<tr>",
    "<td>",
    "<th>",
    "</td>",
    "</tr>",
    "</table>",
    "<caption>",
    "</caption>",
    "<h1>",
    "</h1>",
    "<h2>",
    "<dl>",
    "<dt>",
    "<dd>",
    "</dl>",
    "<blockquote>",
    "</blockquote>",
    "<br>",
    "<hr>",
    "<span class=hljs>",
    "</span>",
    "<title>",
    "</title>",
    "<script>",
    "</script>",
    "<button>",
    "</button>",
    "<img alt='a b'>",
    "words ",
    "more words. ",
    "let x = 1; ",
    "f(x)",
    "\n",
    " ",
    "&lt;pre&gt;",
    "&amp;",
    "`",
    "```",
    "<!--",
    "-->",
    "<svg>",
    "</svg>",
    "<math>",
    "<select>",
    "<template>",
    "</template>",
    "<textarea>",
    "[code]",
    "$ ls",
    "<td class=code>",
    "<dt class=sig>",
    "<center>",
    "é",
    "日本",
    "\u{200b}",
    "<",
    ">",
    "\"",
    "<iframe>",
    "<object>",
    "<form>",
    "<option>",
    "<sup>",
    "</sup>",
    "<body>",
    "<frameset>",
    "<noscript>",
    "<p hidden>",
    "import os",
    "<caption><table>",
    "\\",
    "*",
    "[x](y)",
    "|",
    "<li>let x = 1;",
    "<p>return x",
    "<td>end",
    "<tr><td>x = f(1)",
    "<div>total",
    "<x-code>",
    "</x-code>",
    "f(x, y=1)",
    "\u{ad}",
    "می\u{200c}",
    "\u{2028}",
    "\u{85}",
    "<li>print foo_bar",
    "<td>print foo_baz is what you would do",
];

pub(in crate::web::filter) const MARKDOWN: &[&str] = &[
    "# ",
    "## ",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "> ",
    "    ",
    "  ",
    "\t",
    "```",
    "~~~",
    "`",
    "``",
    "\n",
    "\n\n",
    " ",
    "words",
    "more words.",
    "*",
    "**",
    "_",
    "~~",
    "[",
    "]",
    "(",
    ")",
    "](x)",
    "[a](b)",
    "![a](b)",
    "<b>",
    "</b>",
    "<pre>",
    "</pre>",
    "<div>",
    "</div>",
    "<code>",
    "|",
    "| a | b |\n",
    "|---|---|\n",
    "\\",
    "&amp;",
    "&lt;",
    "<",
    ">",
    "---",
    "===",
    "let x = 1;",
    "f(x)",
    ":",
    "!",
    "#",
    "-",
    "=",
    "1",
    ".",
    "<!-- ",
    "-->",
    "é",
    "https://a.b/c?d=e",
    "[a]: b",
    "<a href=x>",
    "$ ls",
    "<table><tr><td>",
    "</table>",
    "<li>",
    "<br>",
    "\r\n",
    "+",
    "<ul>",
    "x_y",
    "|\n",
    "#+begin_src\n",
    "#+end_src\n",
    "{code}\n",
    "\nlet x = 1;\n\n",
    "- return x\n",
    "f(x, y=1)",
];

pub(in crate::web::filter) const TEXT: &[&str] = &[
    "words ",
    "more words of prose. ",
    "\n",
    "\n\n",
    "    ",
    "$ ls",
    ">>> x",
    "let x = 1;",
    "}",
    "{",
    "f(x)",
    "`",
    "```",
    "@@ -1 +1 @@",
    "+x",
    "-x",
    "Traceback (most recent call last):",
    "[code]",
    "[code removed: 2 lines]",
    "<pre>",
    "</pre>",
    "import os",
    "# ",
    "x = y",
    "return x",
    "é",
    "\t",
    "\r\n",
    "the ",
    "The end.",
    "if x:",
    "// x",
    "a.b.c",
    "key: v",
    "{code}\n",
    "like::\n\n",
    "----\n",
    "[source]\n",
    "bc. x",
    ".nf\n",
    "#+begin_src\n",
    "#+end_src\n",
    "steps:\n",
    "mov eax, 1\n",
    "end\n",
    "\u{200d}",
    "f(x, y=1)",
    "{ a; }",
    "\r",
    "\u{2028}",
    "\u{1}",
    "~~~\n",
    "print foo_bar\n",
    "cache-dir: a/b\n",
    "A part\n~~~~~~~~\n",
    "f(x);\n~~~~~\n",
    "see [a](http://a.b)",
];

fn again(filtered: &Filtered, wanted: &ContentFilter) -> Filtered {
    super::filter(filtered.content.as_bytes(), Some(filtered.content_type), wanted, Caps::default())
        .unwrap()
}

fn laws(body: &str, declared: &str, max_size: u32) -> Result<(), TestCaseError> {
    let wanted = ContentFilter { max_size, ..ContentFilter::default() };
    let Ok(once) = super::filter(body.as_bytes(), Some(declared), &wanted, Caps::default()) else {
        return Ok(());
    };
    prop_assert!(once.content.len() <= max_size as usize);
    let twice = again(&once, &wanted);
    prop_assert_eq!(&twice.content, &once.content, "of {:?}", body);
    prop_assert!(!twice.truncated);
    for format in [ContentFormat::Structured, ContentFormat::Summary] {
        let shaped = filtered(body.as_bytes(), declared, &ContentFilter { format, ..wanted });
        prop_assert!(shaped.content.len() <= max_size as usize);
        if format == ContentFormat::Structured && 2 <= max_size && !shaped.content.is_empty() {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&shaped.content).is_ok());
        }
    }
    Ok(())
}

#[test]
fn what_code_leaves_behind_makes_nothing_else_code() {
    for text in [
        "x = foo(1);\n----\nprint foo_bar\n----\n\nIt is the end of it.",
        "x = foo(1);\ncache-dir: a/b\n\nprint foo_bar\n\nprint foo_baz\n\nSome words.",
        "[source code removed: 3 lines]\n----\nprint foo_bar\n----\n\nIt is the end of it.",
    ] {
        laws(text, "text/plain; charset=utf-8", 65_536).unwrap();
    }
    let items = "<ul><li>print foo_bar<li>print foo_baz<li>print foo_qux is what you would do when it is one of the others</ul>";
    let table = "<table><tr><td>x<td>print foo_bar<tr><td>y<td>print foo_baz<tr><td>z<td>print foo_qux is what you would do</table>";
    let quotes = "<blockquote>".repeat(120);
    let escaped = quotes.replace('<', "&lt;");
    let feed = format!(
        "<?xml version='1.0'?>{quotes}<description>{escaped}words&lt;p&gt;more words&lt;/p&gt;"
    );
    laws(&feed, "text/xml; charset=utf-8", 65_536).unwrap();
    for page in [items, table] {
        for max_size in 30..300 {
            laws(page, "text/html; charset=utf-8", max_size).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn filtering_html_again_changes_nothing(body in soup(HTML), max_size in 1_u32..2000) {
        laws(&body, "text/html; charset=utf-8", max_size)?;
    }

    #[test]
    fn filtering_markdown_again_changes_nothing(body in soup(MARKDOWN), max_size in 1_u32..2000) {
        laws(&body, "text/markdown; charset=utf-8", max_size)?;
    }

    #[test]
    fn filtering_text_again_changes_nothing(body in soup(TEXT), max_size in 1_u32..2000) {
        laws(&body, "text/plain; charset=utf-8", max_size)?;
    }

    #[test]
    fn filtering_json_again_changes_nothing(
        strings in prop::collection::vec((soup(TEXT), soup(HTML)), 0..4),
        max_size in 1_u32..4000,
    ) {
        let body = serde_json::to_string(&strings).unwrap();
        laws(&body, "application/json", max_size)?;
    }

    #[test]
    fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..300), max_size in 1_u32..300) {
        for declared in ["text/html", "text/markdown", "text/plain", ""] {
            let wanted = ContentFilter { max_size, ..ContentFilter::default() };
            if let Ok(filtered) = super::filter(&body, Some(declared), &wanted, Caps::default()) {
                prop_assert!(filtered.content.len() <= max_size as usize);
            }
        }
    }
}
