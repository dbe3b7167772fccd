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
fn what_is_told_in_a_row_is_no_row_of_statements() {
    for line in [
        "OR = 1.5 (95% CI 1.2-1.8); RR = 2.0 (95% CI 1.5-2.9); HR = 1.1 (95% CI 0.9-1.4)",
        "n = 20 (10 female); r = 0.5 (p = 0.01)",
        "m = (a + b)/2; d = (b - a)/2",
        "x = 2 sin(t); y = exp(-t); z = log10(t)",
        "A = {1, 2}; B = {x, y}",
        "f(x + 1); g(y - 1); sin(2*x)",
        "iron(II); iron(III); copper(II)",
        "open(2); close(2); read(2)",
        "Smith(2001); Jones(2003-2005)",
        "Art.6(1)(a); Art.9(2)",
        "aspirin(5-10 mg); ibuprofen(200 mg)",
        "await biopsy results; continue antibiotics; BP = 120",
        "raise hands; throw stones",
        "await biopsy results; throw stones; break",
        "return A - B; one = 5; continue C",
    ] {
        assert_eq!(points(line), 0, "{line}");
        let text = format!("We have seen: {line}; and more of the same");
        let mut at = 0;
        while let Some(step) = text[at..].find(';') {
            at = around(&text, at + step).unwrap_err();
        }
    }
    for line in [
        "y = foo(x); z = y",
        "y = a.b(x); z = y",
        "a = {\"b\": 1}; c = a",
        "print(a[0]); x = 1",
        "foo(bar(x)); baz(x)",
        "x = 1; return x",
        "x = 1; os.exit(1); y = 2",
        "throw new Error(x); y = 1",
        "return a + b; c = 1",
        "x = 1; break",
    ] {
        assert_eq!(points(line), CERTAIN, "{line}");
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
