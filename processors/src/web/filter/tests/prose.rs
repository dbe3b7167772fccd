//! Prose that has signs of code in it: prices, shares, grades, formulas, spellings, headlines in large
//! letters, letters that are answered.

use super::*;

/// Each is a cell, an item, a heading or a line of its own.
const KEPT: &[&str] = &[
    "$",
    "$ million",
    "% change",
    "% growth",
    "C++",
    "C++17",
    "A+++",
    "A++",
    "5 %",
    "12 %",
    "< 5",
    "+ 3",
    "R & D",
    "[1]",
    "CALL (555) 123-4567",
    "call (555) 123-4567",
    "add chicken $4",
    "ADD BACON $2",
    "test #1",
    "UPDATE FROM THE MAYOR",
    "GRANT APPLICATIONS FROM NON-PROFITS",
    "SELECT ITEMS FROM THE MENU",
    "INSERT COIN INTO SLOT",
    "Cher(e)s ami(e)s,",
    "Prezado(a) Senhor(a),",
    "Marié(e), divorcé(e), veuf(ve)",
    "Schüler(innen), Lehrer(innen)",
    "7 + 5 = 12",
    "H2 + O2 = H2O",
    "2H2 + O2 -> 2H2O",
    "F = ma",
    "PV = nRT",
    "final sample (n=213)",
    "private hospitals (n = 14)",
    "catch (tonnes)",
    "match (2nd leg)",
    "class action:",
    "module A",
    "eggs;",
    "salt;",
    "yield (t/ha)",
    "import duties",
    "import taxes",
];

/// These go all the same.
const CODE_LINES: &[&str] = &[
    "$ ls",
    "$ leak --all",
    "$ leak ./x",
    "$ leak install x",
    "$ cargo build",
    "% make install",
    "% leak -v x",
    ">>> print(x)",
    ">>> import this",
    ">>> for x in y:",
    "CALL FOO(X, Y)",
    "add $4, %eax",
    "LDA #$01",
    "int 0x80",
    "SELECT name FROM users",
    "DELETE FROM users WHERE a = 1",
    "INSERT INTO t VALUES (1)",
    "UPDATE t SET a = 1",
    "GRANT SELECT ON t TO u",
    "DROP TABLE users",
    "final int x = f(1);",
    "catch (IOException e)",
    "class Foo:",
    "import os;",
    "x == f(1)",
];

fn pages(text: &str) -> Vec<(&'static str, String)> {
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (before, behind) = ("These are some of the words.", "And these are the others.");
    let json =
        serde_json::to_string(&serde_json::json!({ "a": before, "b": text, "c": 1 })).unwrap();
    vec![
        ("text/html", format!("<p>{before}</p><p>{html}</p><p>{behind}</p>")),
        ("text/html", format!("<h2>{html}</h2><p>{behind}</p>")),
        ("text/html", format!("<ul><li>{before}</li><li>{html}</li></ul>")),
        ("text/html", format!("<table><tr><th>a<th>{html}<tr><td>b<td>{html}</table>")),
        ("text/plain", format!("{before}\n\n{text}\n\n{behind}\n{behind}\n")),
        ("application/json", json),
    ]
}

fn each(texts: &[&str], is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for text in texts {
        for (declared, page) in pages(text) {
            let content = raw(&page, &format!("{declared}; charset=utf-8")).content;
            if is_wrong(&content) {
                wrong.push(format!("{text:?} in {declared}: {content}"));
            }
        }
    }
    wrong
}

#[test]
fn prose_with_signs_of_code_stays() {
    let lost = each(KEPT, |content| content.contains("[code"));
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn code_that_is_much_like_it_goes() {
    let left = each(CODE_LINES, |content| !content.contains("[code"));
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn a_currency_has_a_cell_of_its_own() {
    let page =
        "<table><tr><th>Share<th>$ million<th>% change<tr><td>$</td><td>1,234</td><td>12 %</table>";
    let content = raw(page, "text/html").content;
    assert!(content.contains("<td>$</td><td>1,234</td><td>12 %</td>"), "{content}");
    let json = r#"{"price":"$","share":"12 %","grade":"A++","dept":"R & D"}"#;
    assert_eq!(raw(json, "application/json").content, json);
}

#[test]
fn a_letter_that_is_answered_again_and_again_stays() {
    for letter in [
        ">>> I think that we should wait.\n>> I agree with that.\n> So be it.\n\nThen we do so.\n",
        ">>> Shall we go?\n>>> it is late by now\n>> Yes.\n\nThat was all of it.\n",
        ">>> wait a bit\n>> No.\n",
    ] {
        assert_eq!(raw(letter, "text/plain").content, letter);
    }
    let session =
        "So it is done:\n\n>>> x = f(1)\n>>> x\nleak_me\n\nThat is a keepsake.\nIt is.\nIt is.\n";
    holds("session", session.as_bytes(), "text/plain");
    let quoted = ">>> leak_me = f(1);\n>> It is a keepsake.\n";
    holds("code in a letter", quoted.as_bytes(), "text/plain");
}

#[test]
fn a_command_that_nobody_knows_is_one_beside_code() {
    for page in [
        "<p>A keepsake.</p><p>x = f(1);</p><p>$ leakme build</p><p>y = g(x);</p>",
        "<p>A keepsake.</p><p>$ npm ci</p><p>$ leakme build</p><p>A keepsake.</p>",
    ] {
        let content = raw(page, "text/html").content;
        assert!(!content.contains("leakme") && content.contains(PROSE), "{content}");
    }
}
