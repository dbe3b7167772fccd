use super::*;

#[test]
fn code_scores_and_prose_does_not() {
    let mut wrong = Vec::new();
    for code in [
        "let x = 1;",
        "fn main() {",
        "}",
        "def open(path, mode='r'):",
        "    return self.items[0];",
        "for (int i = 0; i < n; i++) {",
        "if x is None:",
        "from os import path",
        "import os",
        "for x in items:",
        "except ValueError:",
        "while True:",
        "if x:",
        "class Foo:",
        "public int x;",
        "function (err) {",
        "go get example.org/x",
        "use std::fs;",
        "#include <stdio.h>",
        "$ npm install left-pad",
        ">>> print(1)",
        "user@host:~$ ls -l",
        "mysql> select 1;",
        "diff --git a/x b/x",
        "@@ -1,3 +1,4 @@ fn x()",
        "Traceback (most recent call last):",
        "  File \"x.py\", line 3, in f",
        "at com.example.Foo.bar(Foo.java:12)",
        "SELECT a, b FROM t WHERE a = 1",
        "\"name\": \"weir\",",
        "npm install --save-dev left-pad",
        "git clone https://example.org/x.git",
        "foo.bar(baz).then(x => x.y)",
        "x = foo(1, 2)",
        "<div class=\"x\"><b>y</b></div>",
        "ｌｅｔ ｘ ＝ ｆ（１）；",
        "l\u{200b}et x = f(1)\u{37e}",
    ] {
        wrong.extend((score(code) < 4).then(|| (code, score(code))));
    }
    for prose in [
        "The quick brown fox jumps over the lazy dog.",
        "If you want to use it, call the function (see below).",
        "For more information, see https://example.org/a/b?c=d&e=f.",
        "Note: this is not supported on Windows; use Linux instead.",
        "Use cases",
        "import the module before anything else",
        "Returns the number of item(s) in the list",
        "Version 3.11.2 (released on 2023-02-08)",
        "Copyright © 2001-2023, Python Software Foundation",
        "- a list item with a dash",
        "Mail <a@b.example> to the list",
        "He said: \"I will be back\".",
        "[code] and [code] are the same",
        "Это предложение написано по-русски.",
        "C++ and C# are languages; so is F#",
        "5 > 3 and 2 < 4",
        "git is a version control system that everybody uses",
        "while you wait, read the manual",
        "** foo bar**",
        "**foo bar **",
        "[Unreleased]",
        "for example:",
        "with the following output:",
        "with one exception:",
        "if so:",
        "public key;",
        "private key;",
        "final version;",
        "type of object;",
        "class of service:",
        "% of GDP by country",
        "function (mathematics)",
        "static (music)",
        "private school (US)",
        "go get it",
    ] {
        wrong.extend((4 <= score(prose)).then(|| (prose, score(prose))));
    }
    assert_eq!(wrong, []);
}

#[test]
fn what_follows_a_prompt_belongs_to_it() {
    let lines = ["$ ls", "Cargo.toml  src", "target", "", "That was all."];
    assert_eq!(code_lines(&lines, 4), [true, true, true, false, false]);
}

#[test]
fn a_comment_in_a_listing_is_a_part_of_it() {
    let lines = ["x = f(1)", "# now we do the same with the other one", "y = g(x)", "print(y)"];
    assert_eq!(code_lines(&lines, 4), [true; 4]);
}
