//! The words of a command, and what each of them may be.

use super::{Join, is_blank};
use crate::web::filter::judge::words::is_small;

/// What is quoted is not longer.
const MAX_QUOTED: usize = 400;

/// A word, or what joins two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Join(Join),
}

/// The words of a text as a shell has them, each with where it begins and ends.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = (Token<'_>, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.len() - rest.trim_start_matches(is_blank).len();
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let join =
            [("||", Join::And), ("&&", Join::And), ("|", Join::Pipe), (";", Join::Semicolon)]
                .into_iter()
                .find(|(sign, _)| rest.starts_with(sign));
        if let Some((sign, join)) = join {
            at = start + sign.len();
            return Some((Token::Join(join), start, at));
        }
        at = start + word_len(rest);
        Some((Token::Word(text.get(start..at)?), start, at))
    })
}

fn word_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b';' | b'|' => break,
            b'&' if bytes.get(at + 1) == Some(&b'&') => break,
            b'\\' => at += 1,
            b'\'' | b'"' | b'`' if opens(bytes, at) => at += quoted_len(bytes, at, *byte),
            b'$' if bytes.get(at + 1) == Some(&b'(') => at += quoted_len(bytes, at, b')'),
            _ => {}
        }
        at += 1;
    }
    text.ceil_char_boundary(at.min(text.len())).max(1)
}

/// Whether a quotation mark begins something quoted; no `don't`.
fn opens(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|at| bytes.get(at)).is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// How far it is to the sign that ends what begins at a place; 0 if nothing does.
fn quoted_len(bytes: &[u8], at: usize, sign: u8) -> usize {
    let within = bytes.get(at + 1..).unwrap_or_default();
    within.iter().take(MAX_QUOTED).position(|byte| *byte == sign).map_or(0, |len| len + 1)
}

/// What a word behind a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    /// What sentences have none of, or few.
    Sign(Sign),
    /// The name of a file, a version, what is set to what.
    Weak,
    /// A number: it says nothing.
    Neutral,
    Plain,
    /// A word that sentences cannot do without.
    Small,
    /// What no command is handed.
    Prose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Flag,
    Address,
    /// A path, a variable, a file that something is written to.
    Path,
    Quoted,
}

impl Argument {
    pub(super) fn of(word: &str) -> Self {
        let bytes = word.as_bytes();
        let Some(first) = bytes.first() else { return Self::Neutral };
        let second = bytes.get(1);
        match first {
            b'\'' | b'"' | b'`' if 1 < bytes.len() && bytes.last() == Some(first) => {
                return Self::Sign(Sign::Quoted);
            }
            b'-' if is_flag(word) => return Self::Sign(Sign::Flag),
            b'$' if second
                .is_some_and(|byte| byte.is_ascii_alphabetic() || b"{(_@*".contains(byte)) =>
            {
                return Self::Sign(Sign::Path);
            }
            b'>' | b'<' => return Self::Sign(Sign::Path),
            b'0'..=b'2' | b'&' if second == Some(&b'>') => return Self::Sign(Sign::Path),
            _ => {}
        }
        if word.contains("://") {
            return Self::Sign(Sign::Address);
        }
        if is_path(word) {
            return Self::Sign(Sign::Path);
        }
        if bytes.iter().all(|byte| byte.is_ascii_digit() || b".:,-%".contains(byte))
            || is_date(bytes)
        {
            return Self::Neutral;
        }
        if bytes.iter().any(|byte| matches!(byte, b'(' | b')' | b'"' | b'!' | b'?')) {
            return Self::Prose;
        }
        if is_small(word) {
            return Self::Small;
        }
        let is_weak = bytes.windows(3).any(|part| {
            matches!(part, [a, b'/' | b'.' | b'=' | b'@' | b':', b]
                if !a.is_ascii_whitespace() && (b.is_ascii_alphanumeric() || b"\"'$/*.".contains(b)))
        }) || bytes.iter().any(|byte| matches!(byte, b'*' | b'{' | b'_' | b'='))
            || matches!(first, b'+' | b'@' | b'.' | b'/') && 1 < bytes.len();
        if is_weak || is_host(word) {
            return Self::Weak;
        }
        if bytes.iter().any(u8::is_ascii_alphanumeric) { Self::Plain } else { Self::Neutral }
    }
}

/// Whether a word can be nothing but what a program is handed; no `-5`, and no `> 5`.
pub(super) fn is_handed(word: &str) -> bool {
    let bare = word.trim_start_matches('-');
    match Argument::of(word) {
        Argument::Sign(Sign::Flag) => bare.starts_with(|c: char| c.is_ascii_alphabetic()),
        Argument::Sign(Sign::Path) => {
            !word.starts_with(['<', '>', '&']) && !word.starts_with(|c: char| c.is_ascii_digit())
        }
        Argument::Sign(Sign::Address) => true,
        _ => false,
    }
}

/// `12/05/2021`, `24/7`
fn is_date(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b','))
        && word.first().is_some_and(u8::is_ascii_digit)
}

fn is_flag(word: &str) -> bool {
    let bare = word.trim_start_matches('-');
    let n_dashes = word.len() - bare.len();
    n_dashes <= 2 && bare.starts_with(|c: char| c.is_ascii_alphanumeric()) || word == "--"
}

/// `./x`, `~/x`, `/usr/bin`, `.`; no `/kat/`, and no `and/or`.
fn is_path(word: &str) -> bool {
    let is_ascii = word.bytes().all(|byte| byte.is_ascii_graphic());
    let n = word.bytes().filter(|byte| *byte == b'/').count();
    let is_rooted = word.starts_with('/') && 1 < n && !(n == 2 && word.ends_with('/'))
        || word.starts_with(['.', '~']) && 0 < n
        || 1 < n
            && !word.contains("//")
            && word.bytes().any(|byte| matches!(byte, b'.' | b'_' | b'-'));
    is_ascii && (is_rooted || matches!(word, "." | ".." | "~"))
}

/// `user@host:`
pub(super) fn is_host(word: &str) -> bool {
    word.ends_with(':') && word.contains('@')
}

/// `NAME=value`, as it is set for the program behind it.
pub(super) fn sets_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        let named = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        1 < name.len() && !value.is_empty() && name.bytes().all(named)
    })
}

/// A word without the sign that ends its sentence, and whether it has one.
pub(super) fn without_end(word: &str) -> (&str, bool) {
    if matches!(word, "." | ".." | "...") || word.ends_with("/.") || word.ends_with("...") {
        return (word, false);
    }
    let bare = word.trim_end_matches(['.', ',', ':', '!', '?']);
    (bare, bare.len() < word.len() && !bare.is_empty())
}

/// What programs are told to do, by words that are hardly said of anything else.
const VERBS: [&str; 19] = [
    "install",
    "clone",
    "init",
    "exec",
    "commit",
    "checkout",
    "apply",
    "publish",
    "ci",
    "i",
    "restart",
    "enable",
    "disable",
    "upgrade",
    "uninstall",
    "reload",
    "rebase",
    "stash",
    "rm",
];
/// The same, by any words.
const WORDS: [&str; 14] = [
    "add", "run", "build", "test", "get", "update", "push", "pull", "start", "new", "config",
    "remove", "create", "compose",
];

/// What it is worth that the first word behind a program says what it has to do. `vim config` may be a
/// heading.
pub(super) fn verb(word: &str) -> i32 {
    if is_verb_of_programs(word) { 2 } else { i32::from(WORDS.contains(&word)) }
}

pub(super) fn is_verb(word: &str) -> bool {
    is_verb_of_programs(word) || WORDS.contains(&word)
}

/// Whether hardly anything but a program is told to do it.
pub(super) fn is_verb_of_programs(word: &str) -> bool {
    VERBS.contains(&word)
}

/// Whether a program reads what another one writes.
pub(super) fn is_filter(program: &str) -> bool {
    const FILTERS: [&str; 35] = [
        "grep", "egrep", "fgrep", "rg", "awk", "gawk", "sed", "wc", "xargs", "sort", "head",
        "tail", "less", "more", "tee", "jq", "sh", "bash", "zsh", "sudo", "cut", "tr", "uniq",
        "iex", "python", "python3", "node", "perl", "tar", "psql", "mysql", "gzip", "gunzip",
        "ssh", "base64",
    ];
    FILTERS.contains(&program)
}

/// Whether a word is one that is said about commands, and handed to none.
pub(super) fn is_talk(word: &str) -> bool {
    const TALK: [&str; 30] = [
        "option",
        "options",
        "flag",
        "flags",
        "command",
        "commands",
        "output",
        "argument",
        "arguments",
        "parameter",
        "parameters",
        "syntax",
        "example",
        "examples",
        "tutorial",
        "usage",
        "manual",
        "error",
        "errors",
        "reference",
        "guide",
        "page",
        "changelog",
        "documentation",
        "settings",
        "explained",
        "basics",
        "issues",
        "tips",
        "format",
    ];
    TALK.contains(&word)
}
