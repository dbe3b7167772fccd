//! That the version of the filter is raised with every change of what it makes of pages: cached pages
//! are known by it, and would be shown as they were made before.

use weir_events::web::content::{ContentFilter, ContentFormat};

use super::{FILTER_VERSION, MADE};
use crate::web::filter::{Caps, filter};

/// Pages of every kind, each with what it is declared to be: prose with code in it and beside it.
const PAGES: [(&str, &[u8]); 7] = [
    (
        "text/html; charset=utf-8",
        "<!doctype html><title>Reading files</title><nav><a href=/>Home</a></nav><main>\
         <h1 id=top>Reading files</h1><p>Call <code>read_to_end(&amp;mut buffer)</code> to read \
         <em>all</em> of it, as <a href='https://example.org/io'>the guide</a> says.</p>\
         <pre><code class=language-rust>let mut file = File::open(path)?;\nfile.read(&amp;mut \
         buffer)?;</code></pre><p>let total = items.iter().sum::&lt;u32&gt;();</p><p>Then run \
         cargo test --workspace | tee log.txt and look at what it says.</p><ul><li>Files are closed \
         when they go out of scope.</li><li>$ sudo rm -rf /tmp/cache</li></ul>\
         <table><tr><th>Name</th><th>Meaning</th></tr><tr><td>O_APPEND</td><td>Writes go to \
         the end.</td></tr><tr><td>x = y + 1;</td><td>An assignment.</td></tr></table>\
         <blockquote>A weir raises the level of a river – a little.</blockquote>\
         <img src=a.png alt='A weir in spring'><script>alert(1)</script><textarea>int main(void) \
         { return 0; }</textarea></main>"
            .as_bytes(),
    ),
    (
        "text/html; charset=windows-1251",
        b"<h2>\xcf\xeb\xee\xf2\xe8\xed\xe0</h2><p>\xcf\xeb\xee\xf2\xe8\xed\xe0 \xed\xe0 \xf0\xe5\xea\xe5.</p>\
          <pre>print(1)</pre>",
    ),
    (
        "application/xhtml+xml",
        b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><body><h3>fs.access(path[, \
          mode], callback)</h3><dl><dt><code>mode</code></dt><dd>What is asked for.</dd></dl>\
          <![CDATA[ for (;;) {} ]]></body></html>",
    ),
    (
        "text/markdown",
        b"# Weirs\n\nA weir *regulates* the flow, see [there](https://example.org). Use `open(2)`.\n\n\
          ```c\nint fd = open(path, O_RDONLY);\n```\n\n    make && make install\n\n1. Measure.\n2. \
          import os\n\n| Key | Value |\n| --- | --- |\n| a | `b()` |\n\n> Quoted words.\n",
    ),
    (
        "text/plain",
        b"How to build it\n\nFirst look at the manual. Then type:\n\n  ./configure --prefix=/usr && make\n  \
          def level(river):\n      return river.height - weir.height\n\nAfter that, all is done; the \
          function level() tells how high it is.\n",
    ),
    (
        "application/json",
        br#"{"name": "weir", "text": "A weir regulates a flow.", "source": "fn main() { run(); }",
           "list": [1, true, null, "SELECT * FROM weirs WHERE height > 3;"], "html": "<p>One <code>f(x)</code></p>"}"#,
    ),
    (
        "text/x-rust",
        b"//! Keeps the level.\n\n/// How high the water stands, in metres.\npub fn level(weir: &Weir) -> f64 \
          {\n    weir.height + weir.flow.powf(2.0 / 3.0)\n}\n",
    ),
];

#[test]
fn the_filter_makes_of_pages_what_its_version_says() {
    let plain = ContentFilter::default();
    let mut made = blake3::Hasher::new();
    for (declared, body) in PAGES {
        for format in ContentFormat::ALL {
            for wanted in [
                ContentFilter { format, ..plain },
                ContentFilter { format, transform_apis: true, transform_examples: true, ..plain },
                ContentFilter { format, strip_code_blocks: false, ..plain },
                ContentFilter { format, strip_inline_code: false, ..plain },
                ContentFilter { format, max_size: 100, ..plain },
            ] {
                let page = filter(body, Some(declared), &wanted, Caps::default()).unwrap();
                let said = (&page.content, page.content_type, &page.title, &page.report);
                made.update(&serde_json::to_vec(&said).unwrap());
            }
        }
    }
    let made = made.finalize().to_hex();
    assert_eq!(
        made.as_str(),
        MADE,
        "the filter makes something else of pages than its version {FILTER_VERSION} did: if that is \
         meant, raise FILTER_VERSION, so that nobody is shown what was made before, and set MADE to \
         the hash on the left",
    );
}
