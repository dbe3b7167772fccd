use super::*;

/// The lines that are left, with `#` for each that stands in a block.
fn left(text: &str, markup: Markup) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let marked = marked_off(&lines, markup);
    let shown = lines.iter().zip(marked).map(|(line, marked)| if marked { "#" } else { *line });
    shown.collect::<Vec<_>>().join("|")
}

#[test]
fn blocks_of_each_markup_are_known_by_their_marks() {
    for (text, shown) in [
        ("a\n```rust\nb\n```\nc", "a|#|#|#|c"),
        ("a:\n~~~~\nb\n~~~\n~~~~\nc", "a:|#|#|#|#|c"),
        ("It is run like this\n~~~\nb\n~~~\nc", "It is run like this|#|#|#|c"),
        ("a\n```\nb", "a|#|#"),
        ("a\n[source,rust]\n----\nb\n\nb\n----\nc", "a|#|#|#|#|#|#|c"),
        ("[listing]\nb\nb\n\nc", "#|#|#||c"),
        ("a\n\n----\nx = f(1)\ny = g(2)\n----\nc", "a||#|#|#|#|c"),
        (
            "Run this:\n\n----\ngit diff --name-only --diff-filter=D -z | xargs -0 git rm --cached\n----\nc",
            "Run this:||#|#|#|c",
        ),
        (
            "Then so:\n\n----\n*               text=auto\n*.txt\t\ttext\n*.jpg\t\t-text\n----\nc",
            "Then so:||#|#|#|#|#|c",
        ),
        (
            "Then so:\n\n----\n# it is the one that we have, and you can see it\n# in the other file of the two, as it was before that one came to us,\nreturn it\n----\nc",
            "Then so:||#|#|#|#|#|c",
        ),
        ("a\n\n....\n$ ls -l\n....\nc", "a||#|#|#|c"),
        ("a\n#+BEGIN_SRC c\nb\n#+END_SRC\nc", "a|#|#|#|c"),
        ("a\n  #+begin_example\nb\n  #+end_example\nc", "a|#|#|#|c"),
        ("a\n\\begin{lstlisting}[language=C]\nb\n\\end{lstlisting}\nc", "a|#|#|#|c"),
        ("\\begin{verbatim}\nb\n\\end{verbatim}\nc", "#|#|#|c"),
        ("a::\n\n  b\n\n  b\n\nc", "a::|#|#|#|#|#|c"),
        (".. code-block:: c\n   :linenos:\n\n   b\n\nc", "#|#|#|#|#|c"),
        ("a\n{code:java}\nb\n{code}\nc", "a|#|#|#|c"),
        ("{noformat}\nb\n{noformat}\nc", "#|#|#|c"),
        ("{code}\nb", "#|#"),
        ("bc. b\nb\n\nc", "#|#||c"),
        ("bc.. b\n\nb\n\np. c", "#|#|#|#|p. c"),
        ("a\n<pre>\nb\n</pre>\nc", "a|#|#|#|c"),
        ("a\n<source lang=c>\nb\n</source>\nc", "a|#|#|#|c"),
        ("a\n.nf\nb\n.fi\nc", "a|#|#|#|c"),
        ("@example\nb\n@end example\nc", "#|#|#|c"),
    ] {
        assert_eq!(left(text, Markup::Plain), shown, "{text}");
    }
}

#[test]
fn marks_that_mean_something_else_mark_nothing() {
    for text in [
        "A heading\n---------\n\nwords",
        "one\n\n----\n\ntwo words and more of them\n\n----\n\nthree",
        "He said:\n\n----\nIt is the one that we have seen by the sea, and it was old.\n----",
        "He said:\n\n----\n\none\n\n----",
        "name   age\n----   ---\nAnn    12",
        "To be continued\n....\nand so on\n....",
        "the {code} macro is old\nwords",
        "Bring with you:\n\n  a coat\n  a hat",
        "<pre> is an element\nwords",
        "[code removed: 1 line]\n----\nx = f(1)\n----",
        "[1] Knuth, The Art of Computer Programming\nwords",
        "- one\n- two",
        "A part\n~~~~~~\n\nwords",
        "A part\n~~~~~~\n\nwords\n\nThe next\n~~~~~~~~\n\nwords",
        "~~~~~~\nA part\n~~~~~~\n\nwords",
    ] {
        assert_eq!(left(text, Markup::Plain), text.replace('\n', "|"), "{text}");
    }
}

#[test]
fn markdown_keeps_its_own_marks() {
    for (text, shown) in [
        ("```\n#+BEGIN_SRC\n```\na\n#+BEGIN_SRC\nb\n#+END_SRC", "```|#+BEGIN_SRC|```|a|#|#|#"),
        ("a\n\n----\nx = f(1)\n----\nb", "a||----|x = f(1)|----|b"),
        ("\\begin{minted}{c}\nb\n\\end{minted}\nc", "#|#|#|c"),
        ("a::\n\n  b", "a::||  b"),
    ] {
        assert_eq!(left(text, Markup::Markdown), shown, "{text}");
    }
}

#[test]
fn beginnings_without_an_end_are_looked_at_once() {
    // Each takes minutes where every beginning is searched to the end of the text.
    for line in [
        "<pre>",
        "<source lang=c>",
        "[code=c]",
        "```",
        "\\begin{verbatim}",
        "----",
        "a::\n\n b",
        "[source]",
        "~~~ a",
        "~~~",
    ] {
        let text = format!("{line}\n").repeat(20_000);
        for markup in [Markup::Plain, Markup::Leaf, Markup::Markdown] {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(marked_off(&lines, markup).len(), lines.len(), "{line}");
        }
    }
    let runs: String =
        (4..2000).fold(String::new(), |all, n| all + &"-".repeat(n % 300 + 4) + "\n\n");
    let lines: Vec<&str> = runs.lines().collect();
    assert!(!marked_off(&lines, Markup::Plain).contains(&true));
}
