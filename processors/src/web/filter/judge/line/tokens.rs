//! The words of a line, counted by what they are: what the density score is made of.

use super::{
    super::words::is_small,
    figures,
    names::{is_call, is_camel, is_ending, is_flag, is_name},
    placeholder,
    signs::{emphasis, has_operator, is_emphasis, is_maths, is_operator, is_symbol},
    traits,
};

/// What the words of a line are.
#[derive(Default)]
pub(super) struct Tokens {
    pub(super) n: usize,
    pub(super) n_small: i32,
    n_words: i32,
    pub(super) n_calls: i32,
    /// So many of the calls may be spellings: `Cher(e)s`.
    n_endings: usize,
    pub(super) n_operators: i32,
    pub(super) n_names: i32,
    pub(super) n_flags: i32,
    pub(super) n_symbols: usize,
    n_chars: usize,
    n_foreign: usize,
    n_maths: usize,
    n_steps: usize,
    /// So many placeholders.
    n_gone: usize,
}

impl Tokens {
    pub(super) fn of(line: &str) -> Self {
        let mut tokens = Self::default();
        let mut rest = line;
        let mut before = "";
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return tokens;
            }
            if let Some(len) = placeholder::leading(rest) {
                tokens.n += 1;
                tokens.n_words += 1;
                tokens.n_gone += 1;
                rest = rest.get(len..).unwrap_or_default();
                before = "";
                continue;
            }
            let (token, behind) = rest.split_at(token_end(rest));
            let at_an_end = tokens.n == 0 || behind.trim_start().is_empty();
            if at_an_end && is_emphasis(token) {
                tokens.n += 1;
            } else if token.len() <= 2 && figures::is_sign_of(token, before, behind) {
                tokens.n += 1;
                tokens.n_chars += token.len();
            } else {
                tokens.add(token);
            }
            before = token;
            rest = behind;
        }
    }

    fn add(&mut self, token: &str) {
        self.n += 1;
        if token.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            self.add_word(token);
            return;
        }
        if let [byte] = token.as_bytes() {
            self.add_sign(*byte, token);
            return;
        }
        let (mut seen, mut symbols) = (0, 0);
        for byte in token.bytes() {
            let traits = traits::OF_BYTE[usize::from(byte)];
            seen |= traits;
            symbols += usize::from(traits & traits::SYMBOL != 0);
            // The bytes behind the first one of a letter are none of their own.
            self.n_chars += usize::from(byte & 0xc0 != 0x80);
        }
        let has = |traits: u8| seen & traits != 0;
        if has(traits::FOREIGN) {
            for c in token.chars().filter(|c| !c.is_ascii()) {
                self.n_foreign += usize::from(c.is_alphabetic());
                self.n_maths += usize::from(!c.is_alphabetic() && is_maths(c));
            }
        }
        let is_url = has(traits::COLON) && token.as_bytes().windows(3).any(|part| part == b"://");
        if is_url || has(traits::AT) && token.contains('.') {
            // An address is full of signs, and none of them is code.
            self.n_words += 1;
            return;
        }
        self.n_symbols += symbols - emphasis(token).min(symbols);
        if token.len() <= 3 && is_operator(token) {
            self.n_operators += 1;
            self.n_steps += usize::from(matches!(token, ">" | "|"));
            return;
        }
        let bare = token.trim_matches(|c: char| {
            matches!(
                c,
                '.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '(' | ')' | '“' | '”' | '’'
            )
        });
        let is_word = !bare.is_empty()
            && bare.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'));
        if is_word {
            self.n_small += i32::from(is_small(bare));
            self.n_words += i32::from(!is_camel(bare));
        }
        if has(traits::OPENING) {
            // `fix(parser): …` is what a change is called.
            let is_scope = self.n == 1 && token.ends_with("):");
            if is_call(token) && !is_scope {
                self.n_calls += 1;
                self.n_endings += usize::from(is_ending(token));
            }
        }
        self.n_names += i32::from(has(traits::NAME) && is_name(bare));
        if has(traits::SYMBOL | traits::NAME) && has_operator(token) {
            match figures::n_raised(token) {
                0 => self.n_operators += 1,
                n => self.n_symbols = self.n_symbols.saturating_sub(n),
            }
        }
        self.n_flags += i32::from(token.starts_with('-') && is_flag(token));
    }

    /// A word of one sign, or one digit: what is said of it is what would be said of any.
    fn add_sign(&mut self, byte: u8, token: &str) {
        self.n_chars += 1;
        self.n_symbols += usize::from(is_symbol(char::from(byte)));
        self.n_operators += i32::from(is_operator(token));
        self.n_steps += usize::from(matches!(byte, b'>' | b'|'));
        self.n_words += i32::from(byte == b'-');
    }

    /// A word of nothing but letters, as most are: what is said of it is what would be said of any.
    fn add_word(&mut self, word: &str) {
        let camel = i32::from(is_camel(word));
        self.n_chars += word.len();
        self.n_small += i32::from(is_small(word));
        self.n_words += 1 - camel;
        self.n_names += camel;
    }

    /// Whether it is the way to a page or through a menu: `File > Open`, `Home | About`.
    pub(super) fn is_path(&self, line: &str) -> bool {
        let n_steps = self.n_steps;
        0 < n_steps
            && i32::try_from(n_steps).is_ok_and(|n| n == self.n_operators)
            && n_steps == self.n_symbols
            && line.starts_with(|c: char| !c.is_lowercase())
    }

    /// Whether the calls are spellings for all sexes, and nothing else in the line is a sign.
    pub(super) fn are_endings(&self) -> bool {
        0 < self.n_endings
            && i32::try_from(self.n_endings).is_ok_and(|n| n == self.n_calls)
            && self.n_symbols == 2 * self.n_endings
    }

    /// Points for signs among the letters. In a few letters one sign says nothing, unless all of them are
    /// brackets.
    pub(super) fn density(&self, line: &str) -> i32 {
        const MIN_CHARS: usize = 8;
        let is_short = self.n_chars < MIN_CHARS && self.n_gone == 0;
        if is_short && !line.bytes().all(|byte| b"()[]{},; ".contains(&byte)) {
            return 0;
        }
        match (self.n_symbols * 100).checked_div(self.n_chars) {
            Some(40..) => 3,
            Some(25..) => 2,
            Some(15..) => 1,
            _ => 0,
        }
    }

    /// Points for prose.
    pub(super) fn prose(&self, line: &str) -> i32 {
        let small = (self.n_small * 2).min(8);
        let words = if 6 <= self.n_words { 2 } else { 0 };
        let begins =
            line.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(char::is_uppercase);
        let ends =
            line.trim_end_matches(['"', '\'', ')', '”', '’', ']']).ends_with(['.', '!', '?', ':']);
        let sentence = if begins && ends && 4 <= self.n { 3 } else { 0 };
        let foreign = if self.n_chars <= self.n_foreign * 3 { 4 } else { 0 };
        let maths = if 0 < self.n_maths { 4 } else { 0 };
        small + words + sentence + foreign + maths
    }
}

/// Where the word ends that a text begins with. A placeholder may stand in the middle of it: `x[code]`.
/// Looks no further than that, for there may be very many of them.
fn token_end(text: &str) -> usize {
    let splits = text.starts_with(|first: char| first.is_ascii());
    let ends = |(at, c): &(usize, char)| {
        c.is_whitespace()
            || splits && *c == '[' && text.get(*at..).is_some_and(|rest| rest.starts_with("[code"))
    };
    text.char_indices().skip(1).find(ends).map_or(text.len(), |(at, _)| at)
}
