//! Reads a page by leaps, from tag to tag, where it is written as pages should be, and hands the rest
//! to the tokenizer, which looks at every character of it: entities that few know, tags that never
//! end, comments, scripts.
//!
//! What is read here becomes the very tokens that the tokenizer would make of it, but for attributes
//! that nobody asks for. Between two leaps the tokenizer is where it began: outside of any tag.

use std::borrow::Cow;

use html5ever::{
    Attribute, LocalName, QualName, local_name, ns,
    tendril::StrTendril,
    tokenizer::{Tag, TagKind, Token, Tokenizer},
};
use memchr::{memchr, memchr2};

use super::{
    attributes, entities,
    tags::{Counting, Feeder, MAX_ATTRIBUTES, begins_tag, ends_name, is_blank, position},
};

/// Feeds a page. Whether attributes were left out.
pub(super) fn feed<S: Counting>(tokenizer: &Tokenizer<S>, text: &str) -> bool {
    // It is no character of the page.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = newlines(text);
    let mut leaper = Leaper { feeder: Feeder::new(tokenizer, &text), names: Names::new() };
    if memchr(0, text.as_bytes()).is_some() {
        // What becomes of it depends on where it stands.
        leaper.feeder.all();
    }
    while leaper.feeder.at < text.len() {
        leaper.leap();
    }
    leaper.feeder.cut
}

/// A text in which lines end as the standard has it, before it is looked at.
fn newlines(text: &str) -> Cow<'_, str> {
    if memchr(b'\r', text.as_bytes()).is_some() {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

struct Leaper<'a, S> {
    feeder: Feeder<'a, S>,
    names: Names,
}

impl<S: Counting> Leaper<'_, S> {
    /// Some text, and the tag behind it.
    fn leap(&mut self) {
        if self.feeder.sink().is_raw() {
            self.feeder.tag();
        } else if !self.words() {
            self.feeder.words();
        } else if self.feeder.at < self.feeder.text.len() && !self.comment() {
            match self.tag() {
                Some((tag, end)) => {
                    self.feeder.at = end;
                    self.feeder.put(Token::TagToken(tag));
                }
                None => self.feeder.tag(),
            }
        }
    }

    /// Text, up to what may be a tag. False if the tokenizer has to go on, for an entity is in it that
    /// is not known here.
    fn words(&mut self) -> bool {
        let (text, start) = (self.feeder.text, self.feeder.at);
        let bytes = text.as_bytes();
        let mut words = StrTendril::new();
        // What is in `words` ends here, and what was looked at there.
        let (mut taken, mut end) = (start, start);
        let is_known = loop {
            let Some(step) = memchr2(b'<', b'&', bytes.get(end..).unwrap_or_default()) else {
                end = bytes.len();
                break true;
            };
            end += step;
            if bytes.get(end) == Some(&b'<') {
                if begins_tag(bytes, end) {
                    break true;
                }
                end += 1;
                continue;
            }
            let Some((sign, len)) = entities::read(text.get(end..).unwrap_or_default()) else {
                break false;
            };
            words.push_slice(text.get(taken..end).unwrap_or_default());
            words.push_char(sign);
            end += len;
            taken = end;
        };
        if taken == start {
            words = self.feeder.part(start, end);
        } else {
            words.push_slice(text.get(taken..end).unwrap_or_default());
        }
        self.feeder.at = end;
        if !words.is_empty() {
            self.feeder.put(Token::CharacterTokens(words));
        }
        is_known
    }

    /// A tag as it should be, and where it ends.
    fn tag(&mut self) -> Option<(Tag, usize)> {
        let text = self.feeder.text;
        let bytes = text.as_bytes();
        let start = self.feeder.at;
        let (kind, name) = match bytes.get(start + 1)? {
            b'/' => (TagKind::EndTag, start + 2),
            _ => (TagKind::StartTag, start + 1),
        };
        bytes.get(name).filter(|byte| byte.is_ascii_alphabetic())?;
        let mut at = position(bytes, name, ends_name)?;
        let name = self.names.get(text.get(name..at)?);
        if kind == TagKind::StartTag && holds_characters(&name) {
            return None;
        }
        let mut tag = Tag {
            kind,
            name,
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        };
        let mut n = 0;
        loop {
            at = behind_blanks(bytes, at);
            match bytes.get(at)? {
                b'>' => return Some((tag, at + 1)),
                b'/' if bytes.get(at + 1)? == &b'>' => {
                    tag.self_closing = true;
                    return Some((tag, at + 2));
                }
                b'/' => at += 1,
                b'=' => return None,
                _ if kind == TagKind::EndTag => return None,
                _ => {
                    n += 1;
                    if n > MAX_ATTRIBUTES {
                        return None;
                    }
                    at = self.attribute(&mut tag, at)?;
                }
            }
        }
    }

    /// An attribute that begins there, and where it ends.
    fn attribute(&mut self, tag: &mut Tag, start: usize) -> Option<usize> {
        let text = self.feeder.text;
        let bytes = text.as_bytes();
        let name_end = position(bytes, start, |byte| ends_name(byte) || byte == b'=')?;
        let name = text.get(start..name_end)?;
        let at = behind_blanks(bytes, name_end);
        let (value, end) = if bytes.get(at)? == &b'=' {
            let at = behind_blanks(bytes, at + 1);
            match *bytes.get(at)? {
                quote @ (b'"' | b'\'') => {
                    let end = at + 1 + memchr(quote, bytes.get(at + 1..)?)?;
                    (at + 1..end, end + 1)
                }
                b'>' => return None,
                _ => {
                    let end = position(bytes, at, |byte| is_blank(byte) || byte == b'>')?;
                    (at..end, end)
                }
            }
        } else {
            (at..at, at)
        };
        if !is_formatting(&tag.name) && !attributes::is_read(name) {
            return Some(end);
        }
        let name = self.names.get(name);
        let value = match text.get(value.clone())? {
            plain if memchr(b'&', plain.as_bytes()).is_none() => {
                self.feeder.part(value.start, value.end)
            }
            written => entities::resolved(written)?,
        };
        if tag.attrs.iter().any(|before| before.name.local == name) {
            tag.had_duplicate_attributes = true;
        } else {
            tag.attrs.push(Attribute { name: QualName::new(None, ns!(), name), value });
        }
        Some(end)
    }

    /// Whether a comment stood there. What it says is not looked at.
    fn comment(&mut self) -> bool {
        let rest = self.feeder.text.get(self.feeder.at..).unwrap_or_default();
        let Some(end) = rest.strip_prefix("<!--").and_then(comment_end) else { return false };
        self.feeder.at += "<!--".len() + end;
        self.feeder.put(Token::CommentToken(StrTendril::new()));
        true
    }
}

/// Where a comment ends that is one however it is read.
fn comment_end(inside: &str) -> Option<usize> {
    if inside.starts_with('>') {
        return Some(1);
    }
    if inside.starts_with("->") {
        return Some(2);
    }
    let mut at = 0;
    loop {
        at += memchr(b'-', inside.as_bytes().get(at..)?)?;
        match inside.as_bytes().get(at + 1..)? {
            [b'-', b'>', ..] => return Some(at + 3),
            [b'-', b'!', ..] => return None,
            _ => at += 1,
        }
    }
}

/// Names that came once, and come again: they are looked up among all names only once.
struct Names {
    known: [Option<(u64, LocalName)>; Self::N],
}

impl Names {
    const N: usize = 64;
    const MAX_BYTES: usize = 8;

    const fn new() -> Self {
        Self { known: [const { None }; Self::N] }
    }

    fn get(&mut self, name: &str) -> LocalName {
        let lower;
        let name = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lower = name.to_ascii_lowercase();
            &lower
        } else {
            name
        };
        if Self::MAX_BYTES < name.len() {
            return LocalName::from(name);
        }
        let packed = name.bytes().fold(0, |packed, byte| packed << 8 | u64::from(byte));
        let place = packed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
        let Some(place) = self.known.get_mut(place as usize) else { return LocalName::from(name) };
        match place {
            Some((known, name)) if *known == packed => name.clone(),
            _ => place.insert((packed, LocalName::from(name))).1.clone(),
        }
    }
}

fn behind_blanks(text: &[u8], from: usize) -> usize {
    position(text, from, |byte| !is_blank(byte)).unwrap_or(text.len())
}

/// Whether what is in an element is read as characters, or may be.
fn holds_characters(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("title")
            | local_name!("textarea")
            | local_name!("style")
            | local_name!("script")
            | local_name!("xmp")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("noscript")
            | local_name!("plaintext")
    )
}

/// Whether an element goes on behind the end of what it is in, for it is opened anew in what follows: then
/// it matters whether another one has the same attributes. The standard calls it one of formatting.
pub(super) fn is_formatting(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("a")
            | local_name!("b")
            | local_name!("big")
            | local_name!("code")
            | local_name!("em")
            | local_name!("font")
            | local_name!("i")
            | local_name!("nobr")
            | local_name!("s")
            | local_name!("small")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("tt")
            | local_name!("u")
    )
}
