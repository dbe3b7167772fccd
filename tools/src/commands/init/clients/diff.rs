//! What changes in a file, line by line, as a person is shown it.

/// The lines that go and those that come. The lines around them stay as they are, and are not shown.
pub(super) fn of(before: &str, after: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let alike = |n: &(&&str, &&str)| n.0 == n.1;
    let head = old.iter().zip(&new).take_while(alike).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(alike).count();
    let gone = old[..old.len() - tail].iter().map(|line| format!("    - {line}"));
    let come = new[..new.len() - tail].iter().map(|line| format!("    + {line}"));
    gone.chain(come).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_shown() {
        for (before, after, shown) in [
            ("a\nb\nc\n", "a\nx\nc\n", "    - b\n    + x"),
            ("a\nc\n", "a\nb\nc\n", "    + b"),
            ("", "a\n", "    + a"),
            ("a\na\n", "a\na\na\n", "    + a"),
            ("a\n", "a\n", ""),
        ] {
            assert_eq!(of(before, after), shown, "{before}");
        }
    }
}
