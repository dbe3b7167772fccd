//! The density score: how much a line looks like code rather than like a sentence.

mod harmless;
mod marks;
mod normal;

pub(super) use self::harmless::is_harmless;
use super::{super::placeholder, words::is_small};

/// What a line that cannot be anything but code scores.
const CERTAIN: i32 = 9;

/// Points for code, less points for prose. Depends on the line alone.
pub(in crate::web::filter) fn score(line: &str) -> i32 {
    let line = normal::normal(line);
    let line = line.trim();
    if line.is_empty() || placeholder::is_one(line) {
        return 0;
    }
    if marks::certain(line) {
        return CERTAIN;
    }
    let tokens = Tokens::of(line);
    let keywords = marks::keywords(line);
    let for_code = marks::ends(line)
        + keywords
        + marks::shapes(line)
        + 2 * tokens.n_calls.min(2)
        + (tokens.n_operators * 2).min(4)
        + tokens.n_names.min(3)
        + tokens.n_flags.min(2)
        + tokens.density();
    // `if x is None:` is made of small words, too.
    let forgiven = if 5 <= keywords { tokens.n_small.min(2) * 2 } else { 0 };
    for_code - (tokens.prose(line) - forgiven)
}

/// Which lines of a paragraph are code. `threshold`: what a line has to score by itself.
pub(in crate::web::filter) fn code_lines(lines: &[&str], threshold: i32) -> Vec<bool> {
    let scores: Vec<i32> = lines.iter().map(|line| score(line)).collect();
    let breaks: Vec<bool> =
        lines.iter().map(|line| line.trim().is_empty() || placeholder::is_one(line)).collect();
    let mut code: Vec<bool> = scores.iter().map(|score| threshold <= *score).collect();
    let mut start = 0;
    while start < lines.len() {
        let len = breaks.iter().skip(start).take_while(|is_break| !**is_break).count();
        let end = start + len;
        if let (Some(lines), Some(scores), Some(code)) =
            (lines.get(start..end), scores.get(start..end), code.get_mut(start..end))
        {
            grow(lines, scores, code);
        }
        start = end + 1;
    }
    code
}

/// Lines between and behind code are more likely code, the more of it there is.
fn grow(lines: &[&str], scores: &[i32], code: &mut [bool]) {
    let n = code.len();
    let n_code = code.iter().filter(|code| **code).count();
    if n_code == 0 {
        return;
    }
    // What follows a prompt, a trace or a hunk belongs to it.
    if let Some(first) = lines.iter().position(|line| marks::leads(line)) {
        for (code, score) in code.iter_mut().zip(scores).skip(first) {
            *code |= -4 < *score;
        }
    }
    if 3 <= n && n <= n_code * 2 {
        for ((code, score), line) in code.iter_mut().zip(scores).zip(lines) {
            *code |= -7 < *score || marks::comments(line);
        }
    }
    let mut spread = |order: &mut dyn Iterator<Item = usize>| {
        let mut behind_code = false;
        for at in order {
            let (Some(code), Some(score)) = (code.get_mut(at), scores.get(at)) else { continue };
            *code |= behind_code && 1 <= *score;
            behind_code = *code;
        }
    };
    spread(&mut (0..n));
    spread(&mut (0..n).rev());
    // One line between two of code.
    let between: Vec<usize> = (1..n.saturating_sub(1))
        .filter(|at| {
            let is = |at: usize| code.get(at).copied().unwrap_or_default();
            !is(*at)
                && is(at - 1)
                && is(at + 1)
                && scores.get(*at).is_some_and(|score| -2 <= *score)
        })
        .collect();
    for at in between {
        if let Some(code) = code.get_mut(at) {
            *code = true;
        }
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

/// What the words of a line are.
#[derive(Default)]
struct Tokens {
    n: usize,
    n_small: i32,
    n_words: i32,
    n_calls: i32,
    n_operators: i32,
    n_names: i32,
    n_flags: i32,
    n_symbols: usize,
    n_chars: usize,
    n_foreign: usize,
}

impl Tokens {
    fn of(line: &str) -> Self {
        let mut tokens = Self::default();
        let mut rest = line;
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return tokens;
            }
            if let Some(len) = placeholder::leading(rest) {
                tokens.n += 1;
                tokens.n_words += 1;
                rest = rest.get(len..).unwrap_or_default();
                continue;
            }
            let (token, behind) = rest.split_at(token_end(rest));
            let at_an_end = tokens.n == 0 || behind.trim_start().is_empty();
            if at_an_end && is_emphasis(token) {
                tokens.n += 1;
            } else {
                tokens.add(token);
            }
            rest = behind;
        }
    }

    fn add(&mut self, token: &str) {
        self.n += 1;
        if token.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            self.add_word(token);
            return;
        }
        let mut symbols = 0;
        for c in token.chars() {
            self.n_chars += 1;
            if c.is_ascii() {
                symbols += usize::from(is_symbol(c));
            } else if c.is_alphabetic() {
                self.n_foreign += 1;
            }
        }
        let is_url = token.as_bytes().windows(3).any(|part| part == b"://");
        if is_url || token.contains('@') && token.contains('.') {
            // An address is full of signs, and none of them is code.
            self.n_words += 1;
            return;
        }
        self.n_symbols += symbols - emphasis(token).min(symbols);
        if is_operator(token) {
            self.n_operators += 1;
            return;
        }
        let bare = token.trim_matches(|c: char| {
            matches!(
                c,
                '.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '(' | ')' | '“' | '”' | '’'
            )
        });
        if is_small(bare) {
            self.n_small += 1;
        }
        if !bare.is_empty()
            && bare.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'))
        {
            self.n_words += i32::from(!is_camel(bare));
        }
        self.n_calls += i32::from(is_call(token));
        self.n_names += i32::from(is_name(bare));
        self.n_operators += i32::from(has_operator(token));
        self.n_flags += i32::from(is_flag(token));
    }

    /// A word of nothing but letters, as most are: what is said of it is what would be said of any.
    fn add_word(&mut self, word: &str) {
        let camel = i32::from(is_camel(word));
        self.n_chars += word.len();
        self.n_small += i32::from(is_small(word));
        self.n_words += 1 - camel;
        self.n_names += camel;
    }

    /// Points for signs among the letters.
    fn density(&self) -> i32 {
        match (self.n_symbols * 100).checked_div(self.n_chars) {
            Some(40..) => 3,
            Some(25..) => 2,
            Some(15..) => 1,
            _ => 0,
        }
    }

    /// Points for prose.
    fn prose(&self, line: &str) -> i32 {
        let small = (self.n_small * 2).min(8);
        let words = if 6 <= self.n_words { 2 } else { 0 };
        let begins =
            line.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(char::is_uppercase);
        let ends =
            line.trim_end_matches(['"', '\'', ')', '”', '’', ']']).ends_with(['.', '!', '?', ':']);
        let sentence = if begins && ends && 4 <= self.n { 3 } else { 0 };
        let foreign = if self.n_chars <= self.n_foreign * 3 { 4 } else { 0 };
        small + words + sentence + foreign
    }
}

/// Whether a word is nothing but marks of emphasis that go with no word: `** so **`.
fn is_emphasis(token: &str) -> bool {
    matches!(token, "**" | "__" | "***" | "___")
}

/// How many signs of a word are marks of emphasis that were left over: `**so`.
fn emphasis(token: &str) -> usize {
    let bare = token.trim_matches(['*', '_']);
    let marks = token.len() - bare.len();
    if bare.bytes().all(|byte| byte.is_ascii_alphabetic()) && 2 <= marks { marks } else { 0 }
}

fn is_operator(token: &str) -> bool {
    matches!(
        token,
        "=" | "=="
            | "==="
            | "!="
            | "!=="
            | "<="
            | ">="
            | "=>"
            | "->"
            | "<-"
            | ":="
            | "+="
            | "-="
            | "*="
            | "/="
            | "|="
            | "&&"
            | "||"
            | "|"
            | "|>"
            | "<<"
            | ">>"
            | "::"
            | "++"
            | "?"
            | "??"
            | "<<<"
            | "%"
            | "*"
            | "&"
            | ">"
            | "<"
            | "+"
            | ">>>"
            | "=~"
            | "**"
    )
}

/// Whether an operator stands in it; this is asked of every word of a page.
fn has_operator(token: &str) -> bool {
    token.as_bytes().windows(2).any(|pair| {
        matches!(
            pair,
            b"::"
                | b"->"
                | b"=>"
                | b"!="
                | b"=="
                | b":="
                | b"&&"
                | b"||"
                | b"+="
                | b"</"
                | b"/>"
                | b"++"
                | b"()"
                | b"[]"
                | b"${"
                | b"$("
                | b"){"
        )
    })
}

const fn is_symbol(c: char) -> bool {
    matches!(
        c,
        '{' | '}'
            | '['
            | ']'
            | '('
            | ')'
            | '<'
            | '>'
            | '='
            | ';'
            | '|'
            | '&'
            | '$'
            | '\\'
            | '^'
            | '~'
            | '@'
            | '#'
            | '%'
            | '*'
            | '+'
            | '/'
            | '_'
            | '"'
            | '`'
    )
}

/// `name(`, but not `name(s)`.
fn is_call(token: &str) -> bool {
    let Some(at) = token.find('(') else { return false };
    let before = token.get(..at).and_then(|before| before.chars().next_back());
    let named = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '!' | '>'));
    let plural = token.get(at..).is_some_and(|rest| {
        ["(s)", "(es)", "(d)", "(n)", "(ies)", "(r)", "(ed)", "(ing)"]
            .iter()
            .any(|p| rest.starts_with(p))
    });
    named && !plural
}

/// A name as only programs have them: `snake_case`, `camelCase`, `a.b.c`, `a::b`.
fn is_name(word: &str) -> bool {
    if word.as_bytes().windows(2).any(|pair| pair == b"::") || is_camel(word) {
        return true;
    }
    let inner = word.trim_matches('_');
    if inner.contains('_') && !inner.contains(' ') {
        return true;
    }
    let dots = word.matches('.').count();
    let parts = || {
        word.split('.').all(|part| {
            1 < part.len() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    0 < dots
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && parts()
        && !word.starts_with("www.")
}

fn is_camel(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
}

fn is_flag(token: &str) -> bool {
    let bare = token.trim_start_matches('-');
    let dashes = token.len() - bare.len();
    (1..=2).contains(&dashes)
        && bare.starts_with(|c: char| c.is_ascii_alphanumeric())
        && token.len() < 40
}

#[cfg(test)]
mod tests;
