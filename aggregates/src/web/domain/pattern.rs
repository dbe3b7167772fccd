//! Patterns over hosts.

use std::fmt::Write as _;

use regex::bytes::{Regex, RegexBuilder};
use weir_events::web::rule::Action;

use crate::web::host::{Host, HostFault};

/// The longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 512;

/// How large a regular expression may become, in bytes.
pub(super) const MAX_REGEX_BYTES: usize = 32 << 10;

/// How deep brackets in one may stand in each other.
pub(super) const MAX_NESTING: u32 = 32;

/// How many `*` a glob may hold.
const MAX_STARS: usize = 8;

/// What begins a regular expression.
const REGEX: &str = "re:";

/// A pattern of a rule, ready to match.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    shape: Shape,
    port: Option<u16>,
}

#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// This name only.
    Exact(Host),
    /// Names below this one.
    Below(Host),
    /// This name, and names below it.
    Within(Host),
    /// Whatever fits a regular expression, which is that of the whole host.
    Odd(Regex),
}

/// It is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// There is nothing, or too much of it.
    #[error("a pattern has 1 to {MAX_PATTERN_BYTES} bytes")]
    Length,
    /// What is meant is no host.
    #[error(
        "write a host like docs.rs, a glob like *.example.org, or re: and a regular expression: {0}"
    )]
    Host(#[from] HostFault),
    /// It is an address of a page, not of a host.
    #[error("write the host alone, without `://`, path, user name or blanks")]
    Address,
    /// The port is none.
    #[error("`{0}` is no port: 1 to 65535")]
    Port(String),
    /// Too many holes.
    #[error("a glob holds at most {MAX_STARS} `*`")]
    Stars,
    /// The regular expression cannot be read, or is too large.
    #[error("the regular expression cannot be used: {0}")]
    Regex(String),
}

impl Pattern {
    /// Reads a pattern, as a rule of an action means it.
    pub fn parse(text: &str, action: Action) -> Result<Self, PatternFault> {
        if text.is_empty() || text.len() > MAX_PATTERN_BYTES {
            return Err(PatternFault::Length);
        }
        if let Some(regex) = text.strip_prefix(REGEX) {
            let shape = Shape::Odd(anchored(regex)?);
            return Ok(Self { text: text.to_owned(), shape, port: None });
        }
        if text.contains(['/', '@', '?', '#', '\\']) || text.chars().any(char::is_whitespace) {
            return Err(PatternFault::Address);
        }
        let (name, port) = split_port(text)?;
        let (prefix, rest) = wild_prefix(name);
        let holes = rest.contains('*');
        let (shape, mut text) = if holes {
            let (regex, rest) = glob(prefix, rest)?;
            (Shape::Odd(regex), format!("{prefix}{rest}"))
        } else {
            let host = Host::new(&ascii(rest)?)?;
            let text = format!("{prefix}{}", bracketed(&host));
            let shape = match (prefix, action) {
                // Nothing is below an address.
                (_, _) if host.address().is_some() && !prefix.is_empty() => {
                    return Err(HostFault::BadLabel.into());
                }
                ("**.", _) => Shape::Within(host),
                ("*.", _) => Shape::Below(host),
                (_, Action::Block) if host.address().is_none() => Shape::Within(host),
                _ => Shape::Exact(host),
            };
            (shape, text)
        };
        if let Some(port) = port {
            // Writing to a string does not fail.
            _ = write!(text, ":{port}");
        }
        Ok(Self { text, shape, port })
    }

    /// The pattern in its one spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a host at a port fits.
    #[must_use]
    pub fn matches(&self, host: &Host, port: u16) -> bool {
        let of_host = match &self.shape {
            Shape::Exact(name) => name == host,
            Shape::Below(name) => host.upwards().skip(1).any(|above| above == name.as_str()),
            Shape::Within(name) => host.upwards().any(|above| above == name.as_str()),
            Shape::Odd(regex) => regex.is_match(host.as_str().as_bytes()),
        };
        of_host && self.port.is_none_or(|own| own == port)
    }

    /// The one port it means, if it names one.
    #[must_use]
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether a pattern is read as a regular expression, and not as a name that can be looked up.
    #[must_use]
    pub fn reads_odd(text: &str) -> bool {
        text.starts_with(REGEX) || wild_prefix(text).1.contains('*')
    }

    pub(super) const fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// `**.` or `*.` at the beginning of a name, and the rest.
fn wild_prefix(name: &str) -> (&'static str, &str) {
    ["**.", "*."]
        .into_iter()
        .find_map(|prefix| Some((prefix, name.strip_prefix(prefix)?)))
        .unwrap_or(("", name))
}

/// An address of version 6 stands in brackets, so that a port behind it is one.
fn bracketed(host: &Host) -> String {
    let name = host.as_str();
    if name.contains(':') { format!("[{name}]") } else { name.to_owned() }
}

/// A name of another script in punycode, as it will be asked for; every other as it is.
fn ascii(name: &str) -> Result<String, PatternFault> {
    if name.is_ascii() {
        return Ok(name.to_owned());
    }
    idna::domain_to_ascii(name).map_err(|_| HostFault::BadCharacter.into())
}

/// A port behind a name; an address of version 6 with a port stands in brackets.
fn split_port(text: &str) -> Result<(&str, Option<u16>), PatternFault> {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, port),
        _ => return Ok((text, None)),
    };
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    let number = port.parse::<u16>().ok().filter(|number| digits && *number != 0);
    let number = number.ok_or_else(|| PatternFault::Port(port.chars().take(20).collect()))?;
    Ok((name, Some(number)))
}

/// A glob as a regular expression, and in its one spelling: `**.` at its beginning is any names or
/// none, `*.` any name or names, `*` elsewhere any run of characters but a dot.
fn glob(prefix: &str, rest: &str) -> Result<(Regex, String), PatternFault> {
    if rest.bytes().filter(|byte| *byte == b'*').count() > MAX_STARS {
        return Err(PatternFault::Stars);
    }
    let rest = rest.strip_suffix('.').unwrap_or(rest).to_ascii_lowercase();
    // A hole stands for something plain: then what is left must be a host.
    Host::new(&rest.replace('*', "x"))?;
    let mut built = match prefix {
        "**." => "(?:[^.]+\\.)*".to_owned(),
        "*." => "(?:[^.]+\\.)+".to_owned(),
        _ => String::new(),
    };
    for character in rest.chars() {
        match character {
            '*' => built.push_str("[^.]*"),
            plain => built.push_str(&regex::escape(plain.encode_utf8(&mut [0; 4]))),
        }
    }
    Ok((anchored(&built)?, rest))
}

/// A regular expression over a whole host. Hosts are ASCII, so its classes are too.
fn anchored(text: &str) -> Result<Regex, PatternFault> {
    let told = |fault: regex::Error| {
        let words = fault.to_string();
        let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        PatternFault::Regex(last.trim().trim_start_matches("error: ").chars().take(200).collect())
    };
    let build = |text: &str| {
        RegexBuilder::new(text)
            .unicode(false)
            .case_insensitive(true)
            .nest_limit(MAX_NESTING)
            .size_limit(MAX_REGEX_BYTES)
            .dfa_size_limit(MAX_REGEX_BYTES)
            .build()
    };
    // Read by itself first: `a)|(b` must not become something by the brackets around it.
    build(text).map_err(told)?;
    build(&format!("^(?:{text})$")).map_err(told)
}
