//! The order of versions from before PEP 440, as Python's packaging tools had it.
//!
//! A version is cut into numbers and words. A word stands below a number, words that mean
//! "before the release" stand below the end of a version, all other words above it.

use std::cmp::Ordering;

/// What a legacy version is ordered by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(Vec<Part>);

/// Declared in ascending order: any word is below any number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Word(Box<str>),
    Number(Number),
}

/// A number of any length, its leading zeros gone; zero is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Number(Box<str>);

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The end of a version. A dash means "something follows the release": just above the end.
const END: &str = "final";
const DASH: &str = "final-";

impl Key {
    pub(super) fn parse(text: &str) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for piece in pieces(&text.to_lowercase()) {
            if piece.starts_with(|c: char| c.is_ascii_digit()) {
                parts.push(Part::Number(Number(piece.trim_start_matches('0').into())));
                continue;
            }
            push_word(
                &mut parts,
                match piece {
                    "pre" | "preview" | "rc" => "c",
                    "dev" => "@",
                    "-" => DASH,
                    word => word,
                },
            );
        }
        push_word(&mut parts, END);
        Self(parts)
    }
}

/// A word ends a run of numbers, whose trailing zeros say nothing; a word that means "before the
/// release" also swallows the dashes before it.
fn push_word(parts: &mut Vec<Part>, word: &str) {
    if word < END {
        while matches!(parts.last(), Some(Part::Word(last)) if &**last == DASH) {
            parts.pop();
        }
    }
    while matches!(parts.last(), Some(Part::Number(Number(digits))) if digits.is_empty()) {
        parts.pop();
    }
    parts.push(Part::Word(word.into()));
}

/// Cuts a text into runs of digits, runs of letters, single dashes, and runs of anything else;
/// dots only separate.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches('.');
        let sort = Sort::of(rest.chars().next()?);
        let end = match sort {
            Sort::Dash => 1,
            _ => rest.find(|c| Sort::of(c) != sort).unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Sort {
    Digit,
    Letter,
    Dash,
    Dot,
    Other,
}

impl Sort {
    const fn of(c: char) -> Self {
        match c {
            '0'..='9' => Self::Digit,
            'a'..='z' => Self::Letter,
            '-' => Self::Dash,
            '.' => Self::Dot,
            _ => Self::Other,
        }
    }
}
