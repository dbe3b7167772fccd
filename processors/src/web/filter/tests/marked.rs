//! Code that something says of: names of elements, the page's own style, marks of other markup, what is
//! escaped or packed; and look-alike letters, which say nothing.

use super::*;

fn all_hold(declared: &str, pages: &[&str]) {
    for page in pages {
        holds(page, page.as_bytes(), declared);
    }
}

#[test]
fn elements_that_nobody_knows_are_code_by_their_names() {
    all_hold(
        "text/html; charset=utf-8",
        &[
            "<p>keepsake</p><syntaxhighlight lang=c>leak_me a</syntaxhighlight><p>keepsake",
            "<p>keepsake</p><rh-code>leak_me a</rh-code><p>keepsake",
            "<p>keepsake</p><x:code>leak_me a</x:code><p>keepsake",
            "<p>keepsake</p><my-code-block>leak_me a</my-code-block><p>keepsake",
            "<p>keepsake</p><code_snippet>leak_me a</code_snippet><p>keepsake",
            "<p>keepsake</p><source lang='c'>leak_me a</source><p>keepsake",
            "<p>keepsake</p><text-highlight><div>int leak_me = 1</div></text-highlight><p>keepsake",
            "<code-page><p>It is the page of the keepsake, and there is more of it to be read.</p></code-page>",
            "<pre-header>Our keepsake of the day</pre-header><text-highlight>a keepsake</text-highlight>",
            "<product-listing>Blue keepsake, $20</product-listing><video><source src=x></video><p>keepsake",
        ],
    );
    let book = "<?xml version='1.0'?><chapter><para>keepsake</para><example>leak_me a</example><screen>leak_me</screen>\
        <codeblock>leak_me</codeblock><para>keepsake <codeph>leak_me</codeph></para><example>It is an example of a \
        keepsake, and one of those that you have seen.</example></chapter>";
    holds("book", book.as_bytes(), "application/xml");
}

/// As PHP's manual, Doxygen, Ruby's, Sphinx before its fourth version and old wikis have them.
#[test]
fn signatures_of_generators_of_documentation_are_code() {
    let signatures = [
        "<div class='methodsynopsis dc-description'><span class=methodname><strong>leak_me</strong></span>\
         (<span>?callable $leak_me</span>, <span>array $array</span>): array</div>",
        "<table><tr><td class=memItemLeft>const char *</td><td class=memItemRight><a>leak_me</a> (int x=0, \
         const char *leak_me)</td></tr><tr><td class=memItemLeft>class</td><td class=memItemRight><a>keepsake\
         </a></td></tr></table>",
        "<div class=memproto><table class=memname><tr><td class=memname>void leak_me</td><td>(</td>\
         <td>int</td><td>leak_me</td><td>)</td></tr></table></div>",
        "<table><tr><td class=memTemplParams>template&lt;leak_me T&gt;</td></tr></table>",
        "<div class=fragment><div class=line>leak_me a</div><div class=line>b leak_me</div></div>",
        "<div class=fragment><p>keepsake of a fragment</p></div>",
        "<div class=method-heading><span class=method-name>leak_me</span><span class=method-args>(a, b)</span></div>",
        "<div><span class=method-callseq>leak_me.b { |x| block }</span></div>",
        "<dl><dt id=x><code class=descname>get</code><span class=sig-paren>(</span><em>leak_me</em>\
         <span class=sig-paren>)</span></dt><dd>keepsake</dd><dt>keepsake</dt></dl>",
        "<div class='mw-geshi'>leak_me a</div>",
    ];
    for signature in signatures {
        let page = format!("<p>keepsake</p>{signature}<p>keepsake");
        holds(signature, page.as_bytes(), "text/html; charset=utf-8");
    }
    let wanted = ContentFilter { transform_apis: true, ..ContentFilter::default() };
    let page = signatures[0].replace("leak_me", "keep");
    let content = filtered(page.as_bytes(), "text/html", &wanted).content;
    assert!(content.contains("Function keep, which takes keep (optional) and array"), "{content}");
}

#[test]
fn classes_that_the_page_sets_in_the_letters_of_code_are_code() {
    all_hold(
        "text/html; charset=utf-8",
        &[
            "<style>.x1 { font-family: Consolas, monospace }</style><p>keepsake</p><div class=x1>leak_me a</div>",
            "<style>div.x2,.y{white-space:pre}</style><p>keepsake</p><div class='z x2'>leak_me a</div>",
            "<style>.x3 { color: red }</style><p class=x3>keepsake of it</p>",
            "<style>.num { font-family: monospace }</style><p>keepsake</p><td class=num>12.50</td>",
            "<style>.x4 { font-family: monospace }</style><p class=x4>It is a keepsake, and what is said of it is to be read.</p>",
            "<style>.said { white-space: pre-wrap }</style><p class=said>Thanks, keepsake!</p>",
        ],
    );
    let page =
        "<style>.num { font-family: monospace }</style><table><tr><td>a<td class=num>12.50</table>";
    assert!(raw(page, "text/html").content.contains("12.50"));
}

#[test]
fn blocks_of_other_markup_go_from_text_and_markdown() {
    for block in [
        "[source,c]\n----\nleak_me a\n----",
        "#+BEGIN_SRC c\nleak_me a\n#+END_SRC",
        "\\begin{verbatim}\nleak_me a\n\\end{verbatim}",
        "\\begin{minted}{c}\nleak_me a\n\\end{minted}",
        ".. code-block:: c\n\n   leak_me a",
        "{code:java}\nleak_me a\n{code}",
        "{noformat}\nleak_me a\n{noformat}",
        "```\nleak_me a\n```",
    ] {
        let text = format!("Words of the keepsake.\n\n{block}\n\nThe keepsake ends.\n");
        for declared in ["text/plain", "text/markdown"] {
            holds(block, text.as_bytes(), declared);
        }
        holds(
            block,
            serde_json::json!({ "text": text }).to_string().as_bytes(),
            "application/json",
        );
        if block.starts_with("..") {
            // How deep a line stands is not known there.
            continue;
        }
        let feed = format!(
            "<?xml version='1.0'?><rss><item><description>{text}</description></item></rss>"
        );
        holds(block, feed.as_bytes(), "application/rss+xml");
    }
    for block in [
        "Like so::\n\n  leak_me a",
        "bc. leak_me a",
        "<pre>\nleak_me a\n</pre>",
        "....\n$ leak_me a\n....",
    ] {
        let text = format!("Words of the keepsake.\n\n{block}\n\nThe keepsake ends.\n");
        holds(block, text.as_bytes(), "text/plain");
    }
    all_hold(
        "text/markdown",
        &[
            "keepsake\n\n----\n\nkeepsake\n\n----\n\nkeepsake",
            "A keepsake::\n\nkeepsake",
            "the {code} of keepsake",
        ],
    );
    all_hold(
        "text/plain",
        &[
            "Keepsake\n--------\n\nkeepsake\n",
            "one\n----\nkeepsake\n----\ntwo",
            "Of {code}: keepsake",
        ],
    );
}

#[test]
fn code_within_a_sentence_or_an_address_goes_and_the_sentence_stays() {
    for declared in ["text/html; charset=utf-8", "text/markdown", "text/plain"] {
        all_hold(
            declared,
            &[
                "The keepsake is made by for (int leak_me = 0; leak_me != 9; leak_me++) { leak_me += i; } as the keepsake says.",
                "Of the keepsake you get leak_me.path.join(leak_me, 'name') and that is the keepsake of it.",
                "Look at javascript:leak_me(document) for a keepsake of the day.",
                "The keepsake is made of open() and the function f(x) of it.",
            ],
        );
    }
    all_hold(
        "text/html; charset=utf-8",
        &[
            "<h2>The keepsake of leak_me.get(url, timeout=3)</h2><p>It is a keepsake.",
            "<p>A <a href='/run/leak_me(x=open(y))'>keepsake</a> and <a href='/?q=for(int leak_me=0;;)'>keepsake</a>",
            "<p>A <a href='/%2561#for(leak_me=0;;)'>keepsake</a> <a href='/a%257Bleak_me%257D'>keepsake</a>",
        ],
    );
}

#[test]
fn letters_that_look_like_others_hide_no_code() {
    for line in [
        "rеturn leak_me;", // Cyrillic е
        "ｒｅｔｕｒｎ leak_me；",
        "𝐫𝐞𝐭𝐮𝐫𝐧 leak_me;",
        "re\u{ad}turn\u{fe0f} leak_me\u{200b};",
        "ret\u{e0061}urn leak_me;",
        "im\u{2060}port leak_me",
        "іmроrt leak_me",
    ] {
        holds(line, format!("<p>keepsake</p><p>{line}</p>").as_bytes(), "text/html; charset=utf-8");
        let text = format!(
            "A keepsake of words, and more of them.\n\n{line}\n\nMore of the keepsake.\nMore of it.\n"
        );
        holds(line, text.as_bytes(), "text/plain; charset=utf-8");
    }
    for prose in [
        "Это предложение написано по-русски, и в нём есть Linux.",
        "Η γλώσσα Rust είναι νέα.",
        "１２時３０分に会いましょう；",
    ] {
        assert!(raw(prose, "text/plain; charset=utf-8").content.contains(prose));
    }
}

#[test]
fn signs_that_nobody_sees_are_not_passed_on() {
    for (body, declared) in [
        ("<p>a\u{200b}b&#8203;c &shy;d \u{200b} e</p>", "text/html; charset=utf-8"),
        ("a\u{200b}b&#8203;c &shy;d \u{200b} e", "text/markdown; charset=utf-8"),
    ] {
        let content = raw(body, declared).content;
        assert!(content.contains("abc d e"), "{content}");
        assert_eq!(raw(&content, declared).content, content);
    }
    let json = raw(r#"{"a\u200b": "x\u00ad\u200by 👩‍👧"}"#, "application/json").content;
    assert_eq!(json, r#"{"a": "xy 👩‍👧"}"#);
}

#[test]
fn html_that_is_escaped_in_a_feed_is_read_as_html() {
    let feed = "<?xml version='1.0'?><rss><channel><title>Feed</title><item><title>One</title><description>&lt;p&gt;A \
        keepsake&lt;/p&gt;&lt;div class=\"highlight\"&gt;int leak_me = 1&lt;/div&gt;&lt;pre&gt;leak_me&lt;/pre&gt;&lt;p \
        title='leak_me'&gt;keepsake&lt;/p&gt;</description></item><item><description>&lt;p&gt;A keepsake, &lt;pre&gt;leak_me\
        </description></item><item><title>keepsake</title><description>A keepsake of words</description></item></channel></rss>";
    let atom = "<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='html'>&lt;div \
        style='font-family:monospace'&gt;leak_me a&lt;/div&gt;&lt;p&gt;keepsake &amp;lt;code&amp;gt;leak_me&amp;lt;/code&amp;gt;\
        &lt;/p&gt;</content></entry><entry><summary>keepsake: 1 &lt; 2</summary></entry></feed>";
    holds("rss", feed.as_bytes(), "application/rss+xml");
    holds("atom", atom.as_bytes(), "application/atom+xml");
    assert!(!raw(feed, "application/rss+xml").content.contains("&lt;p&gt;"));
}

#[test]
fn code_that_is_packed_in_a_string_goes() {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    let code = "import os\n\ndef leak_me(x):\n    return os.path.join(x, 'y')\n";
    let prose = "These are words of prose, and nothing else is said in them at all.";
    let packed = BASE64_STANDARD.encode(code);
    let wrapped = format!("{}\n{}\n", &packed[..40], &packed[40..]);
    let twice = BASE64_STANDARD.encode(&packed);
    for packed in [&packed, &wrapped, &twice] {
        let body = serde_json::json!({ "content": packed, "name": "keepsake" }).to_string();
        let content = raw(&body, "application/json").content;
        assert_eq!(content, r#"{"content":"[code removed: 3 lines]","name":"keepsake"}"#);
    }
    for string in [
        BASE64_STANDARD.encode(prose),
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
        "Supercalifragilisticexpialidociousnessness".to_owned(),
    ] {
        let body = serde_json::json!({ "content": string }).to_string();
        assert_eq!(raw(&body, "application/json").content, body);
    }
}

#[test]
fn names_and_values_of_json_are_judged_alike() {
    let content =
        raw(r#"{"x = leak_me": 1, "y": "x = leak_me", "a name": 2}"#, "application/json").content;
    assert!(!content.contains(CODE) && content.contains("a name"), "{content}");
}
