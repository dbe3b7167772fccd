//! Signs that figures, grades and formulas have, and that say nothing of code there: `5 %`, `< 5`, `A++`,
//! `7 + 5 = 12`, `2H2 + O2 -> 2H2O`.

/// Whether a sign stands where they have it. `before`: the word in front of it; `behind`: the rest of the line.
pub(super) fn is_sign_of(sign: &str, before: &str, behind: &str) -> bool {
    let next = || behind.split_whitespace().next().unwrap_or_default();
    match sign {
        "%" => is_figure(before),
        "<" | ">" => is_figure(next()) && (before.is_empty() || is_figure(before)),
        "+" if before.is_empty() => is_figure(next()),
        "+" | "=" | "->" => joins(before, next()),
        _ => false,
    }
}

fn joins(before: &str, next: &str) -> bool {
    is_figure(before) && is_figure(next)
        || is_compound(before)
            && is_compound(next)
            && (is_surely_compound(before) || is_surely_compound(next))
}

/// How many pluses a word ends in that is a grade, or the name of a language: `A++`, `C++17`.
pub(super) fn n_raised(word: &str) -> usize {
    let marks = ['.', ',', ';', ':', '!', '?', ')', '"', '\''];
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit() || marks.contains(&c));
    let name = bare.trim_end_matches('+');
    let n = bare.len() - name.len();
    let is_raised = (2..=3).contains(&n) && name.ends_with(|c: char| c.is_ascii_uppercase());
    if is_raised { n } else { 0 }
}

/// `5`, `0.05`, `1,234`, `(12`, `$3.50`
fn is_figure(word: &str) -> bool {
    let bare = word.trim_start_matches(['(', '$', '+', '-', '~']);
    let bare = bare.trim_end_matches([')', '.', ',', ';', ':', '%']);
    bare.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && bare.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
}

/// `H2O`, `2NaCl`, `Ca(OH)2`: each small letter goes with a large one before it.
fn is_compound(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':']).as_bytes();
    let mut before = b' ';
    let fits = word.iter().all(|byte| {
        let fits = match byte {
            b'a'..=b'z' => before.is_ascii_uppercase(),
            _ => byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"()+-".contains(byte),
        };
        before = *byte;
        fits
    });
    fits && word.iter().any(u8::is_ascii_uppercase)
}

/// The same, if it is no name in large letters.
fn is_surely_compound(word: &str) -> bool {
    word.as_bytes().windows(2).any(|pair| {
        matches!(pair, [a, b] if a.is_ascii_alphabetic() && b.is_ascii_digit()
            || a.is_ascii_uppercase() && b.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_figures_and_formulas_are_told_from_those_of_programs() {
        for (before, sign, behind) in [
            ("5", "%", ""),
            ("12.5", "%", " of them"),
            ("", "<", " 5"),
            ("", "+", " 3.5 million"),
            ("7", "+", " 5 = 12"),
            ("5", "=", " 12"),
            ("H2", "+", " O2"),
            ("NaOH", "->", " NaCl + H2O"),
        ] {
            assert!(is_sign_of(sign, before, behind), "{before} {sign}{behind}");
        }
        for (before, sign, behind) in [
            ("x", "%", " 2"),
            ("i", "<", " 5"),
            ("x", "+", " 1"),
            ("x", "=", " 12"),
            ("MAX", "+", " MIN"),
            ("a", "->", " b"),
            ("", "=", " 3"),
        ] {
            assert!(!is_sign_of(sign, before, behind), "{before} {sign}{behind}");
        }
    }

    #[test]
    fn grades_and_languages_end_in_pluses() {
        for (word, n) in
            [("C++", 2), ("A+++", 3), ("C++17,", 2), ("C/C++)", 2), ("i++", 0), ("A+", 0)]
        {
            assert_eq!(n_raised(word), n, "{word}");
        }
    }
}
