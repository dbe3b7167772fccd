//! Code told in plain words: what an item of an API takes and gives, and what an example does.
//!
//! Only names are taken over, never an expression, and nothing is guessed that the code does not say.

mod example;
mod signature;

pub(super) use self::{example::example, signature::signature};

/// Names longer than this are no names.
const MAX_NAME_BYTES: usize = 48;

/// The first name in a text.
fn first_name(text: &str) -> Option<&str> {
    let start = text.find(|c: char| c.is_alphabetic() || c == '_')?;
    let rest = text.get(start..)?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|name| name.len() <= MAX_NAME_BYTES)
}

/// The last name in a text.
fn last_name(text: &str) -> Option<&str> {
    let end = text.rfind(|c: char| c.is_alphanumeric() || c == '_')?;
    let end = end + text.get(end..)?.chars().next()?.len_utf8();
    let head = text.get(..end)?;
    let start = head.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| {
        at + head.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    });
    head.get(start..).filter(|name| {
        name.len() <= MAX_NAME_BYTES && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
    })
}

/// A name as words: `read_to_string` and `readToString` are "read to string".
fn spelt(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut lower = false;
    for c in name.trim_matches('_').chars() {
        if c == '_' || c == '-' {
            words.push(' ');
        } else {
            if c.is_uppercase() && lower {
                words.push(' ');
            }
            words.extend(c.to_lowercase());
        }
        lower = c.is_lowercase();
    }
    words
}

/// `a`, `a and b`, `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
