//! The density score: how much a line looks like code rather than like a sentence.

mod beginnings;
mod figures;
mod harmless;
mod languages;
mod marks;
mod normal;
mod settings;
mod shell;
mod statements;
mod together;
mod traits;

pub(in crate::web::filter) use self::{
    harmless::is_harmless,
    together::{Look, together},
};
pub(super) use self::{
    shell::spans as commands,
    statements::{around as statements, has_call, is_of_formulas},
};
use super::{super::placeholder, words::is_small};

/// What a line looks like. Depends on the line alone.
pub(in crate::web::filter) fn look(line: &str) -> Look {
    let line = normal::normal(line);
    let line = line.trim();
    if line.is_empty() || placeholder::is_one(line) {
        return Look::APART;
    }
    if marks::certain(line) {
        return Look::CODE;
    }
    let tokens = Tokens::of(line);
    // Nearly all lines of nearly all pages.
    let words = tokens.n_symbols == 0 && 2 <= tokens.n_small;
    let others = || languages::points(line).max(shell::points(line)).max(statements::points(line));
    let keywords = marks::keywords(line).max(if words { 0 } else { others() });
    // It may be a statement where others stand beside it.
    let is_item = 0 < keywords && marks::is_item(line);
    let keywords = if is_item { 0 } else { keywords };
    let (ends, shapes) = (marks::ends(line), marks::shapes(line));
    let calls = if tokens.are_endings() { 0 } else { 2 * tokens.n_calls.min(2) };
    let operators = if tokens.is_path(line) { 0 } else { (tokens.n_operators * 2).min(4) };
    let names = tokens.n_names.min(3);
    // `if x is None:` is made of small words, too.
    let is_joined = keywords == marks::JOINED && line.ends_with(':');
    let forgiven = if 5 <= keywords || is_joined { tokens.n_small.min(2) * 2 } else { 0 };
    let prose = tokens.prose(line) - forgiven;
    let for_code = ends + keywords + shapes + calls + operators + names;
    let score = for_code + tokens.n_flags.min(2) + tokens.density(line) - prose;
    if words && for_code == 0 {
        return Look { score, ..Look::PROSE };
    }
    // Items end in semicolons, types in braces, and what somebody owes in percents.
    let bare = line.ends_with(';') && calls + operators + keywords + shapes == 0;
    let ends = if bare || marks::is_typed(line) { 0 } else { ends };
    let entry = languages::entry(line);
    let item = if is_item { Look::ITEM } else { 0 };
    let firm = ends + keywords + shapes;
    // Of a program that nobody knows.
    let is_prompted = marks::prompted(line).is_some();
    let prompted = if is_prompted { Look::ITEM } else { 0 };
    Look {
        score,
        doubt: firm + calls + operators + names + entry + item + prompted - prose,
        hard: 0 < firm + calls || is_prompted,
        firm: 0 < firm,
        nest: 0 < entry && line.ends_with(':'),
        signs: 0 < tokens.n_symbols || 0 < entry,
        comment: marks::beside(line),
        sentence: marks::is_sentence(line),
        single: tokens.n == 1,
        setting: settings::of(line),
        apart: false,
    }
}

/// Points for code, less points for prose. Depends on the line alone.
#[cfg(test)]
pub(super) fn score(line: &str) -> i32 {
    look(line).score
}

/// What lines look like that stand below each other.
fn looks(lines: &[&str]) -> Vec<Look> {
    let is_quoted =
        |line: &&str| line.trim_start().starts_with("> ") || line.trim_start().starts_with(">> ");
    let is_deep = |line: &&&str| line.trim_start().starts_with(">>> ");
    let mut looks: Vec<Look> = Vec::with_capacity(lines.len());
    while looks.len() < lines.len() {
        let at = looks.len();
        let n = lines.iter().skip(at).take_while(is_deep).count();
        // What is quoted three times in a letter stands beside what is quoted twice.
        let ends = [at.checked_sub(1), Some(at + n)];
        let is_mail =
            0 < n && ends.into_iter().flatten().any(|at| lines.get(at).is_some_and(is_quoted));
        let same = lines.iter().skip(at).take(n.max(1));
        if is_mail {
            looks.extend(same.map(|line| look(line.trim_start_matches([' ', '\t', '>']))));
        } else {
            looks.extend(same.map(|line| look(line)));
        }
    }
    looks
}

/// Which lines of the source of a paragraph are code, that readers see as one: they broke anywhere.
pub(in crate::web::filter) fn wrapped_lines(lines: &[&str], threshold: i32) -> Vec<bool> {
    let looks = looks(lines);
    let mut code: Vec<bool> = looks.iter().map(|look| threshold <= look.score).collect();
    let mut start = 0;
    while start < lines.len() {
        let len = looks.iter().skip(start).take_while(|look| !look.apart).count();
        let end = start + len;
        if let (Some(lines), Some(looks), Some(code)) =
            (lines.get(start..end), looks.get(start..end), code.get_mut(start..end))
        {
            settings::mark(looks, code);
            grow(lines, looks, code);
        }
        start = end + 1;
    }
    code
}

/// Which lines of a text are code. `threshold`: what a line has to score by itself.
pub(in crate::web::filter) fn code_lines(lines: &[&str], threshold: i32) -> Vec<bool> {
    let looks = looks(lines);
    let mut code: Vec<bool> = looks.iter().map(|look| threshold <= look.score).collect();
    let mut lone = Lone::default();
    let mut start = 0;
    while start < lines.len() {
        let len = looks.iter().skip(start).take_while(|look| !look.apart).count();
        let end = start + len;
        if let (Some(lines), Some(looks), Some(code)) =
            (lines.get(start..end), looks.get(start..end), code.get_mut(start..end))
        {
            together(looks, code);
            grow(lines, looks, code);
        }
        match len {
            0 => {}
            1 => lone.add(start),
            _ => lone.settle(&looks, &mut code),
        }
        if lines.get(end).is_some_and(|line| placeholder::is_one(line)) {
            lone.settle(&looks, &mut code);
        }
        start = end + 1;
    }
    lone.settle(&looks, &mut code);
    code
}

/// Lines of which each is a paragraph of its own, with nothing but blank lines between them.
#[derive(Default)]
struct Lone(Vec<usize>);

impl Lone {
    fn add(&mut self, at: usize) {
        self.0.push(at);
    }

    fn settle(&mut self, looks: &[Look], code: &mut [bool]) {
        let at = std::mem::take(&mut self.0);
        if at.len() < 2 {
            return;
        }
        let looks: Vec<Look> = at.iter().filter_map(|at| looks.get(*at).copied()).collect();
        let mut found: Vec<bool> = at.iter().filter_map(|at| code.get(*at).copied()).collect();
        together(&looks, &mut found);
        for (at, found) in at.into_iter().zip(found) {
            if let Some(code) = code.get_mut(at) {
                *code |= found;
            }
        }
    }
}

/// Lines between and behind code are more likely code, the more of it there is.
fn grow(lines: &[&str], looks: &[Look], code: &mut [bool]) {
    let n = code.len();
    let n_code = code.iter().filter(|code| **code).count();
    if n_code == 0 {
        return;
    }
    // What follows a prompt, a trace or a hunk belongs to it.
    let leads = |(line, code): (&&str, &bool)| *code && marks::leads(line);
    if let Some(first) = lines.iter().zip(&*code).position(leads) {
        for (code, look) in code.iter_mut().zip(looks).skip(first) {
            *code |= -4 < look.score;
        }
    }
    if 3 <= n && n <= n_code * 2 {
        for ((code, look), line) in code.iter_mut().zip(looks).zip(lines) {
            *code |= -7 < look.score || marks::comments(line);
        }
    }
    let mut spread = |order: &mut dyn Iterator<Item = usize>| {
        let mut behind_code = false;
        for at in order {
            let (Some(code), Some(look)) = (code.get_mut(at), looks.get(at)) else { continue };
            *code |= behind_code && 1 <= look.score;
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
                && looks.get(*at).is_some_and(|look| -2 <= look.score)
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
    /// So many of the calls may be spellings: `Cher(e)s`.
    n_endings: usize,
    n_operators: i32,
    n_names: i32,
    n_flags: i32,
    n_symbols: usize,
    n_chars: usize,
    n_foreign: usize,
    n_maths: usize,
    n_steps: usize,
    /// So many placeholders.
    n_gone: usize,
}

impl Tokens {
    fn of(line: &str) -> Self {
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
    fn is_path(&self, line: &str) -> bool {
        let n_steps = self.n_steps;
        0 < n_steps
            && i32::try_from(n_steps).is_ok_and(|n| n == self.n_operators)
            && n_steps == self.n_symbols
            && line.starts_with(|c: char| !c.is_lowercase())
    }

    /// Whether the calls are spellings for all sexes, and nothing else in the line is a sign.
    fn are_endings(&self) -> bool {
        0 < self.n_endings
            && i32::try_from(self.n_endings).is_ok_and(|n| n == self.n_calls)
            && self.n_symbols == 2 * self.n_endings
    }

    /// Points for signs among the letters. In a few letters one sign says nothing, unless all of them are
    /// brackets.
    fn density(&self, line: &str) -> i32 {
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
    fn prose(&self, line: &str) -> i32 {
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

/// What stands in formulas, and in no program: raised and lowered digits, signs of sets and sums.
const fn is_maths(c: char) -> bool {
    matches!(
        c,
        '²' | '³' | '¹' | '×' | '÷' | '±' | '√' | '\u{2070}'..='\u{209c}' | '\u{2200}'..='\u{22ff}'
            | '\u{2190}'..='\u{21ff}'
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
    // `O(n)` is what something costs.
    let formula = at == 1 && token.starts_with(|c: char| c.is_ascii_uppercase());
    named && !plural && !formula && !is_manual(token, at) && !is_numbered(token, at)
}

/// `Cher(e)s`, `veuf(ve)`, `Lehrer(innen)`: a word, and how it may end.
fn is_ending(token: &str) -> bool {
    const ENDINGS: [&str; 30] = [
        "a", "e", "o", "s", "n", "r", "d", "m", "es", "as", "os", "in", "en", "er", "ed", "ne",
        "ve", "le", "te", "se", "re", "ra", "ies", "ing", "nen", "sse", "ora", "innen", "trice",
        "euse",
    ];
    const MIN_LETTERS: usize = 3;
    let Some((word, rest)) = token.split_once('(') else { return false };
    let Some((ending, behind)) = rest.split_once(')') else { return false };
    word.chars().all(char::is_alphabetic)
        && MIN_LETTERS <= word.chars().count()
        && ENDINGS.contains(&ending)
        && behind.chars().all(|c| c.is_alphabetic() || matches!(c, ',' | '.' | ':' | '!' | '?'))
}

/// `iron(II)`, `Smith(2001)`, `Art.6(1)(a)`: names with nothing but numbers behind them.
pub(super) fn is_numbered(token: &str, at: usize) -> bool {
    let (name, behind) = token.split_at(at);
    let is_roman = |part: &str| 1 < part.len() && part.bytes().all(|byte| b"IVX".contains(&byte));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let groups = behind
        .trim_end_matches([';', ',', '.', ':'])
        .strip_prefix('(')
        .and_then(|groups| groups.strip_suffix(')'));
    let Some(groups) = groups else { return false };
    let mut groups = groups.split(")(");
    groups
        .next()
        .is_some_and(|first| is_roman(first) || is_number(first) && marks::begins_sentence(name))
        && groups.all(|group| group.len() == 1 || is_number(group) || is_roman(group))
}

/// `git-diff(1)`, as manuals name each other.
fn is_manual(token: &str, at: usize) -> bool {
    let bytes = token.as_bytes();
    let (name, behind) = (bytes.get(..at).unwrap_or_default(), bytes.get(at..).unwrap_or_default());
    1 < name.len()
        && name.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-'))
        && matches!(
            behind,
            [b'(', b'1'..=b'8', b')'] | [b'(', b'1'..=b'8', b')', b',' | b'.' | b';' | b':']
        )
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
