//! Pages of 64 KiB that somebody made to be slow.

use super::corpus::PAGE_BYTES;

/// A page, what it is declared to be, and what it is called in notes.
pub(super) struct Hostile {
    pub(super) name: &'static str,
    pub(super) declared: &'static str,
    pub(super) page: String,
}

/// What is said again and again, to the end of the page.
const HTML: &[(&str, &str)] = &[
    ("deep", "<div>"),
    ("deep in a table", "<table><tr><td>"),
    ("deep lists", "<ul><li>x"),
    ("deep quotes", "<blockquote>x"),
    ("formatting that never ends", "<p><b><i><u>x"),
    ("links in links", "<a href=x><b>y"),
    ("misnested", "<b><p>x</b>y</p>"),
    ("fostered", "<table>x<b>y"),
    ("end tags of nothing", "</p></b></div>"),
    ("small attributes", "<p a=1 b=2 c=3 d=4 e=5>x"),
    ("entities", "&lt;pre&gt;&amp;&#x26;"),
    ("comments", "<!--x--><!-->"),
    ("inline code", "<code>x</code> y "),
    ("highlighted", "<span class=hljs-keyword>fn</span> "),
    ("lines of code", "<p>let x = f(y);<br>return x;<br>}</p>"),
    ("code without breaks", "x = f(y[1]); "),
    ("ticks", "`x` ``y` "),
    ("options", "<select><option>x"),
    ("vectors", "<svg><g><text>x"),
    ("formulas", "<math><mi>x"),
    ("templates", "<template><p>x"),
    ("less than", "<<<x "),
    ("hidden characters", "e\u{200b}x\u{ad}"),
    ("headings", "<h1>x</h1>"),
    ("cells", "<table><tr><td>x<td>y<tr><th>z</table>"),
    ("style", "<p style='display:none;color:red'>x"),
    ("line breaks", "x<br>"),
    ("blanks", "   \n"),
    ("one word", "x"),
    ("full stops", ". "),
];

const MARKDOWN: &[(&str, &str)] = &[
    ("quotes in quotes", "> "),
    ("lists in lists", "- "),
    ("brackets", "["),
    ("links", "[a](b "),
    ("emphasis", "*a_b "),
    ("fences", "```\n~~~\n"),
    ("tags", "<b>"),
    ("tables", "|a|b|\n|-|-|\n"),
    ("definitions", "[a]: b\n"),
    ("backslashes", "\\`"),
];

const TEXT: &[(&str, &str)] = &[
    ("lines of code in text", "let x = f(y);\n    return x;\n}\n"),
    ("transcript", "$ ls -l\nx y z\n"),
    ("prose in one line", "these are words of prose, and more of them. "),
];

/// All of them.
pub(super) fn pages() -> Vec<Hostile> {
    let (html, markdown) = ("text/html; charset=utf-8", "text/markdown; charset=utf-8");
    let all = [(html, HTML), (markdown, MARKDOWN), ("text/plain; charset=utf-8", TEXT)];
    let repeated = all.into_iter().flat_map(|(declared, parts)| {
        parts.iter().map(move |(name, part)| {
            let page = part.repeat(PAGE_BYTES / part.len());
            Hostile { name, declared, page }
        })
    });
    let counted = [
        ("fonts", html, counted("", |n| format!("<p><font size={n}>"))),
        ("one tag of attributes", html, counted("<p", |n| format!(" a{n}"))),
        ("tags that are none", html, counted("", |n| format!("<x-{n}>y"))),
        ("an open quote", html, counted("<p title=\"", |n| format!("<p>{n}"))),
        ("ticks in all lengths", markdown, counted("", |n| format!("{} ", "`".repeat(n % 300)))),
        ("references", markdown, counted("", |n| format!("[{n}]: x\n[{n}] "))),
    ];
    let counted = counted.map(|(name, declared, page)| Hostile { name, declared, page });
    repeated.chain(counted).collect()
}

/// A page whose parts are all different.
fn counted(begin: &str, part: impl Fn(usize) -> String) -> String {
    let mut page = begin.to_owned();
    for n in 0.. {
        let part = part(n);
        if page.len() + part.len() > PAGE_BYTES {
            break;
        }
        page.push_str(&part);
    }
    page
}
