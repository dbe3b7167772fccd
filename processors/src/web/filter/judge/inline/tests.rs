use super::*;

fn without(text: &str) -> String {
    let mut kept = String::new();
    let mut at = 0;
    for removal in find(text) {
        kept.push_str(&text[at..removal.range.start]);
        kept.push('#');
        at = removal.range.end;
    }
    kept.push_str(&text[at..]);
    kept
}

#[test]
fn code_among_words_is_found_where_it_can_be_nothing_else() {
    for (text, left) in [
        (
            "Just write for (int i = 0; i < n; i++) { sum += i; } and it works.",
            "Just write # and it works.",
        ),
        ("Use os.path.join(base, 'name') to join them.", "Use # to join them."),
        ("Then call requests.get(url, timeout=3).json() once.", "Then call # once."),
        ("It says if (x == null) return; here", "It says # return; here"),
        ("We pass fetch(url => url.trim()) to it", "We pass # to it"),
        ("Set {\"a\": 1, \"b\": 2} in the file.", "Set # in the file."),
        ("A rule .x { color: red; } hides it", "A rule .x # hides it"),
        ("so if (a && b) and while (i <= n) here", "so # and # here"),
        ("and for (x of y) { z } here", "and # here"),
        ("see javascript:alert(document.cookie) there", "see # there"),
        ("see data:text/html,<b>x</b> there", "see # there"),
        ("the {code}x = 1{code} macro", "the # macro"),
        ("so \\verb|x = 1| and \\texttt{y} too", "so # and # too"),
        ("print(\"hello\", name) prints it", "# prints it"),
        ("So x = foo(a=1) ; y = bar(b=2) ; and more", "So # and more"),
        ("It is group(a=30) and len(open(x)) that count", "It is # and # that count"),
        ("So any(len(x) for x in y) and exp(open(x)) too", "So # and # too"),
        ("So x = a.b(1); y += 1; and more", "So # and more"),
        ("So foo(a=1, b = 2) ; y += 1; and more", "So # and more"),
    ] {
        assert_eq!(without(text), left, "{text}");
    }
}

#[test]
fn what_is_only_mentioned_or_calculated_stays() {
    for text in [
        "Use os.path.join(base, name) and axios.get(url[, config]) to join them.",
        "Call open() and then close() on it.",
        "The item(s) and the function f(x) of x (see below; and above)",
        "The sum of f(x, y) and P(X = 3) is 1, as E(X) <= 4.",
        "Let A = {1, 2, 3} and B = {x : x > 0}.",
        "Ann (the elder) and Bob (the younger; of Kent) came.",
        "At 10:30: the talk (in {curly} braces) begins",
        "for (as he says) one is better than none",
        "H2O(l) and NaCl(aq) react (slowly).",
        "data: 12, 13, 14; script: by hand",
        "Dear John(ny), C(2) is the note; see ISO(E) 12(b).",
        "She wrote it for (Simon & Schuster) in 1990.",
        "It is adjusted for (age < 65) and sex.",
        "It is so if (p < 0.05) holds.",
        "At 10:30 we went, even if (as I'd hoped, in vain) it rained.",
        "Dear friend(s, it's late, and) more",
        "https://en.example/wiki/Rust_(programming_language) is the page",
        "The control group(n=30) and the observation group(n=30) were alike.",
        "It is group(n = 30, 50%) and group(p<0.05; n=12), too.",
        "That is Prob(X = 1), and Normal(mean = 0, sd = 1) is what it follows.",
        "It takes O(n log(log(n))) at most, as exp(-exp(x)) does.",
        "It is Var(E(X|Y)) of the two.",
        "They made poly(oligo(ethylene glycol) methacrylate) of it.",
    ] {
        assert_eq!(without(text), text);
    }
}

#[test]
fn what_is_found_twice_costs_no_more_than_what_is_found_once() {
    for part in ["x = foo(a=1) ;", "x = foo(a=1) ; ", "foo(a=1, b = 2) ;", "x = {a=1;} ;", "x = 1;"]
    {
        let text = part.repeat(200_000 / part.len());
        let found = find(&text);
        let mut end = 0;
        for removal in &found {
            assert!(end <= removal.range.start, "{part}");
            end = removal.range.end;
        }
        let n_bytes: usize = found.iter().map(|removal| removal.range.len()).sum();
        assert!(part == "x = 1;" || text.len() / 3 < n_bytes, "{part}: {n_bytes}");
    }
    assert_eq!(without(&"x = foo(a=1) ;".repeat(1000)), "#");
}

#[test]
fn brackets_that_never_close_cost_no_more_than_their_number() {
    for part in ["a(", "a({", "{code", "javascript:", "data:", "\\verb|", "a(b=", "{\"a\":"] {
        let _found = find(&part.repeat(20_000));
    }
}
