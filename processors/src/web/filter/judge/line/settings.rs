//! Lines of a file of configuration that is flat: `log_level: debug`, `cache.size=64`. One of them may be
//! anything, and lists of facts (`Price: 5 EUR`) are written like them; many in a row are known by keys
//! and values that only programs read.

use super::{super::words::is_small, Look, names};

/// So many in a row are no list of facts, if enough of them are for programs.
const ENOUGH: usize = 10;
/// So many of them have to be for programs for sure.
const ENOUGH_SURE: usize = 3;

/// What a line sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Setting {
    #[default]
    None,
    /// Anything: `colour: red`.
    Plain,
    /// What people write rather for programs: `max-age: 60`, `wifi: yes`.
    Likely,
    /// What they write for programs alone: `log_level: debug`, `debug: true`.
    Sure,
}

/// What a line sets, if it is one of a file of configuration.
pub(super) fn of(line: &str) -> Setting {
    let bare = line.trim_start_matches("- ");
    let Some(at) = bare.find([':', '=']) else { return Setting::None };
    let (key, rest) = bare.split_at(at);
    let (sign, value) = rest.split_at(1);
    if sign == ":" && !value.is_empty() && !value.starts_with(' ') {
        return Setting::None;
    }
    // `hund = dog`: what somebody tells of words.
    let is_told =
        sign == "=" && key.ends_with(' ') && value.starts_with(' ') && is_word(value.trim());
    let (key, value) = (key.trim_end(), value.trim());
    if !is_key(key, sign) || reads(value) {
        return Setting::None;
    }
    let is_one = !value.contains(' ');
    let is_sure = sign == "=" && is_one && !is_told
        || key.contains('_')
        || sign == "=" && key.contains('.')
        || names::is_camel(key)
        || matches!(value, "true" | "false" | "null" | "~" | "|" | ">")
        || value.starts_with(['"', '\'', '[', '{', '$', '&', '*', '/'])
        || is_one && value.contains(['/', '@', '_', '{', '$']);
    let is_likely = key.contains('-')
        || matches!(value, "yes" | "no" | "on" | "off" | "")
        || is_one && value.bytes().any(|byte| byte.is_ascii_digit());
    match (is_sure, is_likely) {
        (true, _) => Setting::Sure,
        (false, true) => Setting::Likely,
        (false, false) => Setting::Plain,
    }
}

/// `log_level`, `server.port`, `DB_HOST`
fn is_key(key: &str, sign: &str) -> bool {
    const MAX_BYTES: usize = 48;
    let named =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    let is_shouted = sign == "=" && !key.bytes().any(|byte| byte.is_ascii_lowercase());
    key.len() <= MAX_BYTES
        && key.bytes().all(named)
        && (key.starts_with(|c: char| c.is_ascii_lowercase())
            || is_shouted && key.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Whether a value is a word; `true` is none.
fn is_word(value: &str) -> bool {
    value.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\''))
}

/// Whether a value is words that somebody reads.
fn reads(value: &str) -> bool {
    const MAX_WORDS: usize = 5;
    if value.starts_with(['"', '\'', '[', '{']) {
        return false;
    }
    let words = || value.split(' ').filter(|word| !word.is_empty());
    let n_words = words().count();
    let is_word = |word: &str| is_small(word.trim_end_matches([',', '.', ';']));
    MAX_WORDS < n_words || 1 < n_words && (words().any(is_word) || value.ends_with(['.', '!', '?']))
}

/// Marks what is a file of configuration. Comments, and what is code anyway, may stand among its lines.
pub(super) fn mark(looks: &[Look], code: &mut [bool]) {
    let mut start = 0;
    while start < looks.len() {
        let rest = looks.get(start..).unwrap_or_default();
        let known = code.get(start..).unwrap_or_default();
        let is_one = |(look, is_code): &(&Look, &bool)| {
            look.setting != Setting::None || look.comment || **is_code
        };
        let n_lines = rest.iter().zip(known).take_while(is_one).count();
        let run = rest.get(..n_lines).unwrap_or_default();
        let n_of = |setting: Setting| run.iter().filter(|look| look.setting == setting).count();
        let (n_sure, n_likely) = (n_of(Setting::Sure), n_of(Setting::Likely));
        let n = n_sure + n_likely + n_of(Setting::Plain);
        let is_code = ENOUGH <= n && ENOUGH_SURE <= n_sure && n <= 2 * n_sure + n_likely;
        if is_code && let Some(code) = code.get_mut(start..start + run.len()) {
            code.fill(true);
        }
        start += run.len() + 1;
    }
}
