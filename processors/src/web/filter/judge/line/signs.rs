//! Signs that make code dense, and those that do not: operators, symbols, marks of emphasis and of formulas.

/// Whether a word is nothing but marks of emphasis that go with no word: `** so **`.
pub(super) fn is_emphasis(token: &str) -> bool {
    matches!(token, "**" | "__" | "***" | "___")
}

/// How many signs of a word are marks of emphasis that were left over: `**so`.
pub(super) fn emphasis(token: &str) -> usize {
    let bare = token.trim_matches(['*', '_']);
    let marks = token.len() - bare.len();
    if bare.bytes().all(|byte| byte.is_ascii_alphabetic()) && 2 <= marks { marks } else { 0 }
}

pub(super) fn is_operator(token: &str) -> bool {
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
pub(super) fn has_operator(token: &str) -> bool {
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

pub(super) const fn is_symbol(c: char) -> bool {
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
pub(super) const fn is_maths(c: char) -> bool {
    matches!(
        c,
        '²' | '³' | '¹' | '×' | '÷' | '±' | '√' | '\u{2070}'..='\u{209c}' | '\u{2200}'..='\u{22ff}'
            | '\u{2190}'..='\u{21ff}'
    )
}
