//! What is wrong with the configuration: where, what, and what was probably meant.

use std::fmt::{self, Write as _};

use super::origin::Origin;

/// One thing wrong with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyFault {
    pub(crate) key: String,
    pub(crate) origin: Origin,
    pub(crate) what: What,
}

/// What is wrong with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// There is no such key; the nearest one that exists.
    Unknown(Option<String>),
    /// A value stands where a section with keys must be.
    NotASection,
    /// The value does not fit.
    Invalid(String),
    /// The value names a variable of the environment that is not set.
    Unset(String),
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.what {
            What::Unknown(None) => write!(f, "unknown key `{key}`"),
            What::Unknown(Some(near)) => write!(f, "unknown key `{key}`, did you mean `{near}`?"),
            What::NotASection => write!(f, "`{key}` is a section: write its keys below it"),
            What::Invalid(why) => write!(f, "`{key}`: {why}"),
            What::Unset(name) => write!(
                f,
                "`{key}` needs the environment variable {name}, which is not set \
                 (a literal `${{` is written `$${{`)"
            ),
        }
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigFault {
    /// The file cannot be read.
    #[error("could not read the configuration file `{path}`")]
    Read { path: String, source: std::io::Error },
    /// The file is not YAML, or more of it than a configuration can need.
    #[error("{0}")]
    Syntax(String),
    /// Keys or values do not fit; already rendered, with places in the file.
    #[error("{0}")]
    Keys(String),
}

/// Renders faults as a person reads them: place, what, and the line it stands on.
pub(crate) fn render(faults: &[KeyFault], text: &str) -> String {
    let mut out = String::new();
    for (nth, fault) in faults.iter().enumerate() {
        let gap = if nth == 0 { "" } else { "\n\n" };
        let _infallible = write!(out, "{gap}{}: {fault}", fault.origin);
        if let Origin::File { line, column, .. } = fault.origin {
            snippet(&mut out, text, line, column);
        }
    }
    out
}

fn snippet(out: &mut String, text: &str, line: u64, column: u64) {
    let nth = usize::try_from(line).unwrap_or(0).saturating_sub(1);
    let Some(source) = text.lines().nth(nth) else { return };
    let before = usize::try_from(column).unwrap_or(1).saturating_sub(1);
    let margin = " ".repeat(line.to_string().len());
    let rest: String = source.chars().skip(before).collect();
    let word = first_word(&rest).chars().count().max(1);
    let (indent, carets) = (" ".repeat(before), "^".repeat(word));
    let _infallible = write!(out, "\n{margin} |\n{line} | {source}\n{margin} | {indent}{carets}");
}

/// The key or value that a line begins with: up to its closing quote, or a colon or comment.
fn first_word(line: &str) -> &str {
    if let Some(quote) = line.chars().next().filter(|c| ['"', '\''].contains(c)) {
        let end = line[1..].find(quote).map_or(line.len(), |at| at + 2);
        return &line[..end];
    }
    let ends = [": ", " #"].into_iter().filter_map(|end| line.find(end));
    let word = &line[..ends.min().unwrap_or(line.len())];
    word.trim_end().trim_end_matches(':')
}

/// The candidate that a person who wrote `word` probably meant.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let bound = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= bound || is_part(word, candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

fn is_part(word: &str, candidate: &str) -> bool {
    word.len() >= 3 && (candidate.starts_with(word) || word.starts_with(candidate))
}

/// Edits between two words (a neighbour swap is one).
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut best = (row[j] + usize::from(a != b)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(above[j - 1] + 1);
            }
            next.push(best);
        }
        above = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let keys = ["host", "port", "request_timeout"];
        assert_eq!(nearest("prot", keys), Some("port".to_owned()));
        assert_eq!(nearest("hosts", keys), Some("host".to_owned()));
        assert_eq!(nearest("request_timout", keys), Some("request_timeout".to_owned()));
        assert_eq!(nearest("colour", keys), None);
    }

    #[test]
    fn the_whole_word_is_pointed_at() {
        for (line, word) in [
            ("url: ${A} # secret", "url"),
            ("server:", "server"),
            ("https://a.example/b # c", "https://a.example/b"),
            ("\"a: b\" # c", "\"a: b\""),
            ("'open", "'open"),
            ("", ""),
        ] {
            assert_eq!(first_word(line), word, "{line}");
        }
    }

    #[test]
    fn the_place_is_pointed_at() {
        let origin = Origin::File { path: "weir.yaml".into(), line: 2, column: 3 };
        let key = "server.prot".to_owned();
        let fault = KeyFault { key, origin, what: What::Unknown(Some("server.port".into())) };
        let rendered = render(&[fault], "server:\n  prot: 80 # web\n");
        let expected = "weir.yaml:2:3: unknown key `server.prot`, did you mean `server.port`?\n  \
                        |\n2 |   prot: 80 # web\n  |   ^^^^";
        assert_eq!(rendered, expected);
    }
}
