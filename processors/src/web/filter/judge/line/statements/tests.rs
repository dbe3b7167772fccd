use super::*;

#[test]
fn statements_in_a_row_are_found_and_formulas_are_not() {
    for line in [
        "x = 1; y = foo(x); return y;",
        "i = 0; i += 1; return i",
        "let a = 1; a++",
        "os.system('ls'); exit(1)",
        "a.b[0] = c; a->d := e",
    ] {
        assert_eq!(points(line), CERTAIN, "{line}");
    }
    for line in
        ["x = 1; y = 2", "f(x); g(y)", "x = 5; so y is 10", "return home; eat", "x = 1;", ";", ""]
    {
        assert_eq!(points(line), 0, "{line}");
    }
}

#[test]
fn statements_among_words_begin_where_the_words_end() {
    let text = "We have x = f(1); y += x; and that is it; all.";
    let found = around(text, text.find(';').unwrap());
    assert_eq!(found.map(|(start, end)| &text[start..end]), Ok("x = f(1); y += x;"));
    let text = "He came; he saw";
    assert_eq!(around(text, 7), Err(8));
}
