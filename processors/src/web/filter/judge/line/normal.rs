//! What a line looks like, whatever characters it is written with.

use std::borrow::Cow;

use crate::web::filter::ignorable;

/// A copy to be judged: wide and look-alike signs as plain ones, what cannot be seen left out, and
/// letters of other scripts as what they look like within a word of Latin ones.
pub(super) fn normal(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let plain: String = line.chars().filter_map(plain).collect();
    if plain.contains(|c| latin(c).is_some()) {
        return Cow::Owned(plain.split_inclusive(' ').map(unmixed).collect());
    }
    Cow::Owned(plain)
}

/// A word of two scripts as one of Latin letters; any other as it is.
fn unmixed(word: &str) -> Cow<'_, str> {
    if !word.contains(|c: char| c.is_ascii_alphabetic()) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.chars().map(|c| latin(c).unwrap_or(c)).collect())
}

/// What a letter of Cyrillic or Greek is taken for.
const fn latin(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'һ' => 'h',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'ո' | 'п' => 'n',
        'о' | 'ο' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ѵ' | 'ν' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'С' | 'Ϲ' => 'C',
        'Е' | 'Ε' => 'E',
        'Н' | 'Η' => 'H',
        'І' | 'Ι' => 'I',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'Ѕ' => 'S',
        'Т' | 'Τ' => 'T',
        'Х' | 'Χ' => 'X',
        _ => return None,
    })
}

fn plain(c: char) -> Option<char> {
    if ignorable::is_ignorable(c) {
        return None;
    }
    Some(match c {
        '\u{a0}'
        | '\u{1680}'
        | '\u{2800}'
        | '\u{2000}'..='\u{200a}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}' => ' ',
        '\u{37e}' | '\u{fe54}' => ';',
        // Full width.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        // Letters of mathematics, in thirteen hands, and their digits in five.
        '\u{1d400}'..='\u{1d6a3}' => nth((u32::from(c) - 0x1d400) % 52, c),
        '\u{1d7ce}'..='\u{1d7ff}' => {
            char::from_digit((u32::from(c) - 0x1d7ce) % 10, 10).unwrap_or(c)
        }
        // In circles.
        '\u{24b6}'..='\u{24e9}' => nth(u32::from(c) - 0x24b6, c),
        '\u{2024}' | '\u{fe52}' => '.',
        '\u{fe50}' => ',',
        '\u{2010}'..='\u{2012}' | '\u{2212}' | '\u{fe63}' => '-',
        '\u{2039}' | '\u{2329}' | '\u{27e8}' | '\u{fe64}' => '<',
        '\u{203a}' | '\u{232a}' | '\u{27e9}' | '\u{fe65}' => '>',
        '\u{2216}' | '\u{fe68}' => '\\',
        '\u{2215}' | '\u{2044}' => '/',
        '\u{2223}' => '|',
        '\u{a789}' | '\u{2236}' | '\u{fe55}' => ':',
        '\u{2768}' | '\u{fe59}' | '\u{2e28}' => '(',
        '\u{2769}' | '\u{fe5a}' | '\u{2e29}' => ')',
        '\u{2774}' | '\u{fe5b}' => '{',
        '\u{2775}' | '\u{fe5c}' => '}',
        '\u{fe5f}' => '#',
        '\u{fe60}' => '&',
        '\u{fe61}' => '*',
        '\u{fe62}' => '+',
        '\u{fe66}' | '\u{a78a}' => '=',
        '\u{fe69}' => '$',
        '\u{fe6a}' => '%',
        '\u{201c}' | '\u{201d}' => '"',
        '\u{2018}' | '\u{2019}' => '\'',
        _ => c,
    })
}

/// The letter at a place of the alphabet, large ones first.
fn nth(at: u32, other: char) -> char {
    let from = if at < 26 { u32::from(b'A') } else { u32::from(b'a') - 26 };
    char::from_u32(from + at).unwrap_or(other)
}
