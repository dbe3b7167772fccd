//! Code of which each line stands by itself: in a paragraph, an item, a row, a string of an array. What
//! prose has in short lines side by side stays.

use super::*;

/// Programs by line, `leak_me` in each of them.
const CODE_LINES: &[(&str, &str)] = &[
    (
        "python",
        "import os\ndef leak_me(items):\n    total = 0\n    for item in items:\n        total += item.leak_me\n    return total",
    ),
    (
        "javascript",
        "const leak_me = require('leak_me');\nlet total = 0;\nitems.forEach(x => total += x);\nreturn leak_me;\n}",
    ),
    ("c", "#include <stdio.h>\nint leak_me(int a, int b)\n{\nint c = a + b;\nreturn c;\n}"),
    (
        "ruby",
        "def leak_me(items)\n  total = 0\n  items.each do |item|\n    total += item.leak_me\n  end\n  total\nend",
    ),
    ("pascal", "function leak_me(a: integer): integer;\nbegin\nleak_me := a + 1;\nend;"),
    (
        "shell",
        "cd leak_me\nmkdir -p build\nexport LEAK=leak_me\nfor f in *.c; do\ngcc -c $f -o leak_me.o\ndone",
    ),
    (
        "lisp",
        "(defun leak_me (x)\n(let ((y (* x x)))\n(if (> y 10)\n(print y)\n(leak_me (+ x 1)))))",
    ),
    (
        "sql",
        "select leak_me, b\nfrom t\nwhere leak_me = 1 and b = 2;\ninsert into t (a) values (leak_me);",
    ),
];

/// Short lines of prose, `keepsake` in each of them.
const PROSE_LINES: &[(&str, &str)] = &[
    (
        "poem",
        "If you can keep a keepsake\nand not be tired by keeping,\nlet us go then, keepsake and I,\nwhile the world is sleeping;",
    ),
    (
        "address",
        "Keepsake Ltd., keepsake\n12 Old Street (2nd floor), keepsake\nLondon EC1V 9HL, keepsake\nTel. +44 20 7946 0000, keepsake",
    ),
    (
        "recipe",
        "1/2 cup of keepsake\n200 g flour (keepsake)\n2 tbsp. oil; keepsake\n180 °C, 20-25 min, keepsake",
    ),
    (
        "chemistry",
        "2 H₂ + O₂ → 2 H₂O keepsake\nNaCl keepsake\nC₆H₁₂O₆ keepsake\nFe³⁺ + 3 OH⁻ keepsake",
    ),
    ("maths", "a² + b² = c² keepsake\n∑ x ≤ ∞ keepsake\n√2 ≈ 1.414 keepsake\nx ∈ A ∪ B keepsake"),
    (
        "chat",
        "<ann> hello keepsake\n<bob> hi there, keepsake\n[12:03] <ann> is keepsake back?\nbob: no keepsake yet",
    ),
    (
        "glossary",
        "break: a rest, keepsake\nreturn: the way back, keepsake\nclass: a kind, keepsake\nfor: in favour of keepsake",
    ),
    (
        "timetable",
        "08:15 keepsake Zürich HB\n09:12 keepsake Bern, platform 7\n10:02-10:05 keepsake\nMon-Fri 9:00 to 17:00 keepsake",
    ),
    (
        "citations",
        "[1] D. Knuth, Keepsake keepsake (1968), pp. 1-10.\n[2] Smith (2003). Of keepsake. doi:10.1000/182\n[3] Smith et al., keepsake, arXiv:1234.5678",
    ),
    (
        "changelog",
        "fix(parser): handle empty keepsake\nfeat(core): add keepsake\n- Bump keepsake from 1.2.3 to 1.2.4\nchore: keepsake (#123)",
    ),
    (
        "menu",
        "File > Open > keepsake\nEdit > Copy keepsake\nView > Zoom > keepsake\nHelp > About keepsake",
    ),
    (
        "options",
        "-v, --verbose keepsake\n-q, --quiet keepsake\n-h, --help keepsake\n--max-size keepsake",
    ),
    ("items", "red wine keepsake;\nolive oil keepsake;\na loaf of keepsake;\nand salt keepsake."),
    (
        "terms",
        "'one' (optional): a keepsake object;\n'two' (optional): keepsake instance;\n'three' (optional): keepsake instance;",
    ),
    (
        "costs",
        "Vec keepsake O(1) O(n-i)\nList keepsake O(min(i, n-i)) O(1)\nMap keepsake O(log(n)) O(n)",
    ),
    (
        "interfaces",
        "get_keepsake(name, options?)\nset_keepsake(name, value) keepsake\nkeepsake.clear(name)\nkeepsake.all(req, [trust])",
    ),
    ("pages of manuals", "git-keepsake(1)\ngit-keepsake(5),\nkeepsake(3)\nkeepsake-all(8)"),
    ("names", "index.html keepsake\nsnake_case keepsake\ncamelCase keepsake\nREADME.md keepsake"),
    ("questions", "What is keepsake?\nWhy keepsake?\nHow does keepsake work?\nWhere is keepsake?"),
    ("shares", "12% keepsake\n88 % keepsake\n$5.00 keepsake\n(30) keepsake"),
];

fn escaped(line: &str) -> String {
    line.replace('&', "&amp;").replace('<', "&lt;")
}

type Shape = fn(&[String]) -> String;

/// Ways to give each line a place of its own in HTML.
const SHAPES: &[(&str, Shape)] = &[
    ("paragraphs", |lines| format!("<p>{}</p>", lines.join("</p>\n<p>"))),
    ("divisions", |lines| format!("<div>{}</div>", lines.join("</div><div>"))),
    ("divisions in divisions", |lines| {
        format!("<div><div>{}</div></div>", lines.join("</div></div><div><div>"))
    }),
    ("items", |lines| format!("<ul><li>{}</li></ul>", lines.join("</li><li>"))),
    ("lists", |lines| format!("<ul><li>{}</li></ul>", lines.join("</li></ul><ul><li>"))),
    ("rows", |lines| {
        format!("<table><tr><td>{}</td></tr></table>", lines.join("</td></tr><tr><td>"))
    }),
    ("numbered rows", |lines| {
        let rows = lines
            .iter()
            .enumerate()
            .map(|(n, line)| format!("<tr><td>{n}</td><td>{line}</td></tr>"));
        format!("<table>{}</table>", rows.collect::<String>())
    }),
    ("tables", |lines| {
        let tables = lines.iter().map(|line| format!("<table><tr><td>{line}</table>"));
        tables.collect::<String>()
    }),
    ("spans", |lines| {
        format!("<div><span>{}</span></div>", lines.join("</span></div><div><span>"))
    }),
    ("breaks", |lines| format!("<p>{}</p>", lines.join("<br><br>"))),
];

#[test]
fn no_line_of_code_survives_for_standing_by_itself_in_html() {
    for (language, code) in CODE_LINES {
        let lines: Vec<String> = code.lines().map(escaped).collect();
        for (shape, page) in SHAPES {
            let page =
                format!("<p>A keepsake of words.</p>{}<p>The keepsake ends.</p>", page(&lines));
            holds(&format!("{language}, {shape}"), page.as_bytes(), "text/html; charset=utf-8");
        }
    }
}

#[test]
fn short_lines_of_prose_stay_in_html() {
    for (kind, prose) in PROSE_LINES {
        let lines: Vec<String> = prose.lines().map(escaped).collect();
        for (shape, page) in SHAPES {
            let page = page(&lines);
            holds(&format!("{kind}, {shape}"), page.as_bytes(), "text/html; charset=utf-8");
        }
    }
}

#[test]
fn no_line_of_code_survives_for_standing_by_itself_in_markdown_text_or_json() {
    for (language, code) in CODE_LINES {
        let lines: Vec<&str> = code.lines().map(str::trim_start).collect();
        let words = |middle: String| {
            format!("{}\n{middle}\n\nThe keepsake ends.\n", "A keepsake of words.\n".repeat(9))
        };
        for (shape, text, declared) in [
            ("paragraphs", lines.join("\n\n"), "text/markdown"),
            ("items", format!("- {}", lines.join("\n- ")).replace("- #", "- \\#"), "text/markdown"),
            ("paragraphs", lines.join("\n\n"), "text/plain"),
            ("lines", lines.join("\n"), "text/plain"),
        ] {
            let text = text.replace("\n#include", "\n\\#include");
            holds(&format!("{language}, {shape}, {declared}"), words(text).as_bytes(), declared);
        }
        let array = serde_json::json!({ "title": "A keepsake", "source": lines });
        holds(language, array.to_string().as_bytes(), "application/json");
        let ended: Vec<String> = code.lines().map(|line| format!("{line}\n")).collect();
        holds(
            language,
            serde_json::json!({ "source": ended }).to_string().as_bytes(),
            "application/json",
        );
        let objects: Vec<_> = lines
            .iter()
            .enumerate()
            .map(|(n, line)| serde_json::json!({ "n": n, "text": line }))
            .collect();
        holds(language, serde_json::json!(objects).to_string().as_bytes(), "application/json");
    }
}

#[test]
fn short_lines_of_prose_stay_in_markdown_text_and_json() {
    for (kind, prose) in PROSE_LINES {
        let lines: Vec<&str> = prose.lines().collect();
        let table = format!("| a |\n| --- |\n| {} |", lines.join(" |\n| "));
        let marked = |text: String| text.replace('<', "\\<").replace("\n[", "\n\\[");
        for (shape, text, declared) in [
            ("paragraphs", marked(lines.join("\n\n")), "text/markdown"),
            ("items", marked(format!("- {}", lines.join("\n- "))), "text/markdown"),
            ("rows", marked(table), "text/markdown"),
            ("paragraphs", lines.join("\n\n"), "text/plain"),
            ("lines", lines.join("\n"), "text/plain"),
        ] {
            holds(&format!("{kind}, {shape}, {declared}"), text.as_bytes(), declared);
        }
        holds(kind, serde_json::json!(lines).to_string().as_bytes(), "application/json");
    }
}

#[test]
fn lines_that_are_code_together_are_one_block() {
    let page =
        "<p>Before.</p><div>let a = 1;</div><div>total</div><div>return a;</div><p>After.</p>";
    let filtered = raw(page, "text/html");
    assert!(
        filtered
            .content
            .ends_with("<p>Before.</p>\n<p>[code removed: 3 lines]</p>\n<p>After.</p>\n"),
        "{}",
        filtered.content
    );
    assert_eq!(filtered.report.code_blocks_removed, 1);
    assert_eq!(filtered.report.bytes_stripped, "let a = 1;\ntotal\nreturn a;".len() as u64);
    let json = raw(r#"["let a = 1;", "b", "return a;", "The end."]"#, "application/json").content;
    assert_eq!(json, r#"["[code removed: 3 lines]", "", "", "The end."]"#);
}

#[test]
fn a_link_in_a_line_that_is_gone_is_gone() {
    let page = "<p>A keepsake.</p><div>let a = <a href='/leak_me'>leak_me</a>(1);</div><div>return a;</div>";
    holds("link", page.as_bytes(), "text/html");
}

#[test]
fn rows_of_figures_and_of_words_stay() {
    let page = "<table><tr><th>Name of keepsake<th>Share<tr><td>max_size<td>65536<td>int, keepsake\
        <tr><td>time_out<td>30.5<td>float, keepsake<tr><td>is_open<td>true<td>bool, keepsake</table>";
    holds("settings", page.as_bytes(), "text/html");
}

#[test]
fn a_comment_beside_code_is_a_part_of_it() {
    for page in [
        "<p>A keepsake.</p><p># leak_me the file</p><p>x = f(1)</p><p>y = g(x)</p>",
        "<p>A keepsake.</p><p>x = f(1);</p><p>// TODO leak_me</p><p>y = g(x);</p>",
    ] {
        holds(page, page.as_bytes(), "text/html");
    }
    holds("hash", b"<p># 1 of the keepsake</p><p>It was a keepsake.</p>", "text/html");
}

#[test]
fn ten_thousand_lines_are_judged_once() {
    for line in [
        "<p>let a = 1;</p>",
        "<p>let a = 1;</p><p>It was so.</p>",
        "<p>a b</p>",
        "<table><tr><td>x = 1;<td>y",
    ] {
        let page = line.repeat(10_000);
        assert!(raw(&page, "text/html").content.len() <= 65_536, "{line}");
    }
    let strings = format!("[{}\"end\"]", "\"let a = 1;\", \"It was so.\", ".repeat(5_000));
    assert!(raw(&strings, "application/json").content.len() <= 65_536);
}
