//! What needs no server and no database: versions, paths, completions, the manual, and the help.

use std::fs;

use serde_json::{Value, json};
use weir_tests::weir::Place;

use super::{fed, run};

#[test]
fn versions_are_compared_as_their_own_tools_do() {
    let place = Place::with_a_private_postgres();
    for (ecosystem, a, b, sign) in [
        ("pypi", "1.0rc1", "1.0", "<"),
        ("pypi", "1.0", "1.0.0", "="),
        ("npm", "1.10.0", "1.9.0", ">"),
        ("cargo", "1.0.0-alpha", "1.0.0", "<"),
        ("go", "v1.2.3", "v1.2.10", "<"),
        // What begins with a dash is a version here, too.
        ("pypi", "-1", "1", "<"),
    ] {
        let said = run(&place, &["version", "compare", ecosystem, a, b]).done();
        assert_eq!(said.trim_end(), sign, "{ecosystem} {a} {b}");
    }
    let told = run(&place, &["version", "compare", "npm", "2.0.0", "1.0.0", "--json"]).json();
    assert_eq!(told, json!({"a": "2.0.0", "b": "1.0.0", "order": 1}));

    let compare = ["version", "compare", "pypi", "--stdin"];
    let many = fed(&place, &compare, b"1 2\n\n  3\t2 \n2.0\t2\n");
    assert_eq!(many.done(), "<\n>\n=\n");
    let blanks = ["line 2 does not hold two versions", "fix: separate them by a tab"];
    assert_eq!(fed(&place, &compare, b"1 2\n1 2 3\n").ends(2, &blanks).out, "<\n");
    let long = [b"1 ", "9".repeat(9_000).as_bytes()].concat();
    fed(&place, &compare, &long).ends(2, &["line 1 is too long"]);
    let run = |words: &[&str]| run(&place, &[&["version", "compare"], words].concat());
    run(&["docker", "1", "2"]).ends(2, &["tags have no order", "fix: there are: pypi, npm"]);
    run(&["conda", "1", "2"]).ends(2, &["`conda` is no ecosystem"]);
    run(&["pypi", "1"]).ends(2, &["<B>"]);
    run(&["pypi", "1", "2", "--stdin"]).ends(2, &["cannot be used with"]);
}

#[test]
fn a_path_has_one_spelling_and_what_is_none_is_refused() {
    let place = Place::with_a_private_postgres();
    let path = "pekko://weir/user/agents/1";
    assert_eq!(run(&place, &["path", "parse", path]).done().trim_end(), path);
    let told = run(&place, &["path", "parse", path, "--json"]).done();
    assert_eq!(told.trim_end(), format!("{{\"canonical\":\"{path}\"}}"));
    for wrong in ["", "-", "weir/user", "pekko://weir/user/a b"] {
        let refused = run(&place, &["path", "parse", wrong]).ends(2, &["error: "]);
        assert_eq!(refused.out, "", "{wrong}");
    }
}

#[test]
fn every_shell_completes_and_every_command_has_a_page() {
    let place = Place::with_a_private_postgres();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&place, &["completions", shell]).done();
        assert!(script.contains("dead-letters") && script.contains("redeliver"), "{shell}");
    }
    run(&place, &["completions", "csh"]).ends(2, &["bash, elvish, fish, powershell, zsh"]);

    let page = run(&place, &["man"]).done();
    assert!(page.contains(".TH weir 1") && page.contains("the server or the database cannot be"));
    let out = place.path().join("new/man");
    let written = run(&place, &["man", "--out", &out.display().to_string()]).ends(0, &[]);
    assert!(written.err.contains(&format!("wrote the manual pages to {}", out.display())));
    assert_eq!(written.out, "");
    for name in ["weir.1", "weir-rules.1", "weir-rules-add.1", "weir-web-rules-import.1"] {
        let page = fs::read_to_string(out.join(name)).expect(name);
        assert!(page.contains(&name[..name.len() - 2].replace('-', "\\-")), "{name}: {page}");
    }
    let file = place.path().join("file");
    fs::write(&file, "").expect("a file");
    let below = file.join("man").display().to_string();
    run(&place, &["man", "--out", &below]).ends(1, &["error: "]);
}

#[test]
fn the_help_tells_the_exit_codes_and_a_slip_is_asked_about() {
    let place = Place::with_a_private_postgres();
    let help = run(&place, &["--help"]).done();
    for words in
        ["Exit codes:", " 69  the server or the database cannot be reached", "dead-letters"]
    {
        assert!(help.contains(words), "{words}: {help}");
    }
    assert!(!help.contains("postgres  "), "what is for tests is not shown: {help}");
    run(&place, &["rulse", "ls"]).ends(2, &["'rulse'", "rules"]);
    let version = run(&place, &["--version"]).done();
    assert!(version.starts_with("weir "), "{version}");
    let told = run(&place, &["filter", "nowhere.html", "--json"]).ends(3, &[]);
    let told: Value = serde_json::from_str(&told.err).expect("JSON");
    assert_eq!((&told["exit"], &told["hint"]), (&json!(3), &Value::Null), "{told}");
    run(&place, &["config", "check", "--log", "a=b=c"]).ends(2, &["`a=b=c` is no filter"]);
    let talk = run(&place, &["config", "check", "-v"]).ends(0, &[]);
    assert!(talk.out.contains("the defaults count"), "{}", talk.out);
}
