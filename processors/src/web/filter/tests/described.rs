//! Code told in words: of use to who reads, and of none to who copies.

use super::*;

fn described(page: &str) -> Filtered {
    let wanted = ContentFilter {
        transform_apis: true,
        transform_examples: true,
        ..ContentFilter::default()
    };
    filtered(page.as_bytes(), "text/html", &wanted)
}

#[test]
fn documentation_of_an_api_becomes_descriptions_of_what_items_take_and_give() {
    for (page, words) in [
        (
            "<h3><code>fs.access(path[, mode], callback)</code></h3>",
            "<h3>Function access of fs, which takes path, mode (optional) and callback.</h3>",
        ),
        (
            "<dl><dt class='sig sig-object py'><span>os.</span><span>open</span>(<em>path</em>, \
             <em>mode=0o777</em>)<a class=headerlink href='#x'>¶</a></dt><dd>Opens it.</dd></dl>",
            "<dt>Function open of os, which takes path and mode (optional).</dt>",
        ),
        (
            "<h4 class='code-header'>pub fn <a href='#'>len</a>(&amp;self) -&gt; usize</h4>",
            "<h4>Function len, which takes nothing and gives number.</h4>",
        ),
        (
            "<pre class='rust item-decl'><code>pub fn read&lt;P: AsRef&lt;Path&gt;&gt;(path: P) -&gt; \
             Result&lt;Vec&lt;u8&gt;&gt;</code></pre>",
            "<p>Function read, which takes path and gives result of list of number, or fails.</p>",
        ),
    ] {
        let filtered = described(page);
        assert!(filtered.content.contains(words), "{}", filtered.content);
        assert_eq!(filtered.report.transformations, 1);
        assert_eq!(filtered.report.code_blocks_removed, 1);
    }
}

#[test]
fn examples_become_steps_and_hold_no_code() {
    let code = "use std::fs;\n\nfn main() {\n    let leak_me = fs::read(\"x\");\n    leak_me.push(1);\n}\n";
    let filtered = described(&format!("<p>Like this:</p><pre class=language-rust>{code}</pre>"));
    assert!(
        filtered
            .content
            .contains("The example of 5 lines of rust that is left out here brings in fs")
    );
    assert_eq!(filtered.report.transformations, 1);
    for line in code.lines().map(str::trim).filter(|line| 3 < line.len()) {
        assert!(!filtered.content.contains(line), "{line}: {}", filtered.content);
    }
    assert!(!filtered.content.contains(CODE));
}

#[test]
fn a_description_is_not_described_again() {
    let page = "<h3><code>fs.access(path[, mode])</code></h3><pre>$ npm install x\nx = f(1)\n</pre><p>a <code>b</code>";
    let once = described(page).content;
    assert_eq!(described(&once).content, once);
    assert_eq!(raw(&once, "text/html").content, once);
}

#[test]
fn nothing_is_described_unless_it_is_asked_for() {
    let page = "<h3><code>fs.access(path[, mode])</code></h3><pre>x = f(1)</pre>";
    let filtered = raw(page, "text/html");
    assert_eq!(filtered.report.transformations, 0);
    assert!(filtered.content.contains("<h3>[code]</h3>\n<p>[code removed: 1 line]</p>"));
}
