//! Hands what is left of a page to the tokenizer, and no tag with more attributes than it can bear: it
//! compares the name of each with all before it, and takes minutes for a tag of 200,000.

use html5ever::{
    buffer_queue::BufferQueue,
    tendril::StrTendril,
    tokenizer::{Token, TokenSink, Tokenizer},
};

/// A tag keeps so many attributes; real pages do not come near.
pub(super) const MAX_ATTRIBUTES: usize = 64;

/// A sink that can say what the tokenizer is about.
pub(super) trait Counting: TokenSink {
    /// How many tokens came so far, errors not counted.
    fn n_tokens(&self) -> usize;

    /// Whether characters follow up to the end of an element: tags are none in there.
    fn is_raw(&self) -> bool;
}

/// Feeds a page tag by tag. The tree is the same as that of a page that is fed at once.
pub(super) struct Feeder<'a, S> {
    tokenizer: &'a Tokenizer<S>,
    input: BufferQueue,
    pub(super) text: &'a str,
    /// The same, to be shared.
    shared: StrTendril,
    /// So much of the text is fed.
    pub(super) at: usize,
    /// Behind this no tag ends.
    last_end: usize,
    /// Attributes were left out.
    pub(super) cut: bool,
}

impl<'a, S: Counting> Feeder<'a, S> {
    pub(super) fn new(tokenizer: &'a Tokenizer<S>, text: &'a str) -> Self {
        let last_end = text.rfind('>').unwrap_or(0);
        let (input, shared) = (BufferQueue::default(), StrTendril::from_slice(text));
        Self { tokenizer, input, text, shared, at: 0, last_end, cut: false }
    }

    pub(super) const fn sink(&self) -> &S {
        &self.tokenizer.sink
    }

    /// A token that somebody else has read, between two tags.
    pub(super) fn put(&self, token: Token) {
        // What stands in the elements that are read otherwise is fed.
        let _state = self.tokenizer.sink.process_token(token, 0);
    }

    /// A part of the page.
    pub(super) fn part(&self, start: usize, end: usize) -> StrTendril {
        let (Ok(start), Ok(len)) = (u32::try_from(start), u32::try_from(end.saturating_sub(start)))
        else {
            return StrTendril::new();
        };
        self.shared.try_subtendril(start, len).unwrap_or_default()
    }

    /// All that is left, whatever it is.
    pub(super) fn all(&mut self) {
        while self.at < self.text.len() {
            self.tag();
        }
    }

    /// The next tag, and what stands before it.
    ///
    /// Whether something is a tag depends on what stands before it (scripts, comments, titles), and
    /// the tokenizer knows best: it says nothing of a tag until that ends, and of text at once.
    pub(super) fn tag(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            let Some(start) = position(bytes, self.at, |byte| byte == b'<') else {
                return self.until(bytes.len());
            };
            self.until(start + 1);
            while self.behind_opening() {}
            // What is no whole tag waits for the end of the text, and so does what is behind it.
            if start < self.last_end {
                return;
            }
        }
    }

    /// Text up to a tag, and that tag, too, if the tokenizer waits for it.
    pub(super) fn words(&mut self) {
        let bytes = self.text.as_bytes();
        // A `<` that is none yet.
        let mut is_open = false;
        loop {
            let end = position(bytes, self.at, |byte| byte == b'<').unwrap_or(bytes.len());
            let text = bytes.get(self.at..end).unwrap_or_default();
            // An entity may go on, even behind its semicolon.
            let entity =
                text.iter().rposition(|byte| *byte == b'&').and_then(|at| text.get(at + 1..));
            let waits = entity.map(|it| it.strip_suffix(b";").unwrap_or(it)).is_some_and(|it| {
                it.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
            });
            is_open &= text.is_empty();
            self.until(end);
            if end == bytes.len() {
                return;
            }
            if begins_tag(bytes, end) {
                if waits || is_open {
                    self.tag();
                }
                return;
            }
            self.until(end + 1);
            is_open = true;
        }
    }

    /// Goes on behind a `<` that was fed. Whether another one was the last that was fed: in text,
    /// none may be passed over, for a tag may begin there.
    fn behind_opening(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        // An entity waited for the `<`, and is a token by now.
        let before = self.n_tokens();
        match (bytes.get(self.at), bytes.get(self.at + 1)) {
            (Some(b'!'), _) => {
                self.until(self.at + 1);
                if before == self.n_tokens() {
                    self.declaration();
                }
                false
            }
            (Some(b'?'), _) => {
                self.until(self.at + 1);
                if before == self.n_tokens() {
                    self.comment();
                }
                false
            }
            // It is nothing at all, or text.
            (Some(b'/'), Some(b'>')) => {
                self.until(self.at + 2);
                false
            }
            (Some(b'/'), Some(byte)) if !byte.is_ascii_alphabetic() => {
                self.until(self.text.ceil_char_boundary(self.at + 2));
                if before == self.n_tokens() {
                    self.comment();
                    return false;
                }
                *byte == b'<'
            }
            (Some(b'/'), Some(_)) => {
                self.until(self.at + 1);
                self.name(before)
            }
            (Some(byte), _) if byte.is_ascii_alphabetic() => self.name(before),
            _ => false,
        }
    }

    /// The name of a tag, and the rest of it; or text that looked like one.
    fn name(&mut self, before: usize) -> bool {
        let bytes = self.text.as_bytes();
        loop {
            let end = position(bytes, self.at, |byte| ends_name(byte) || byte == b'<');
            let end = end.unwrap_or(bytes.len());
            self.until(end);
            let Some(byte) = bytes.get(end).filter(|_| before == self.n_tokens()) else {
                return false;
            };
            self.until(end + 1);
            if before != self.n_tokens() {
                return *byte == b'<';
            }
            // A name may well hold a `<`.
            if *byte != b'<' {
                self.attributes(scan(bytes, end));
                return false;
            }
        }
    }

    /// The rest of a tag, as far as it may be.
    fn attributes(&mut self, tag: Scanned) {
        if let Some(cut) = tag.cut {
            self.cut = true;
            self.until(cut);
            if tag.is_ended {
                // Behind the blank it is no slash within the tag that closes it.
                self.say(if tag.closes_itself { " />" } else { " >" }.into());
            }
            self.at = tag.end;
        }
        self.until(tag.end);
    }

    /// What stands behind `<!`.
    fn declaration(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.starts_with("[CDATA[")
            && self.tokenizer.sink.adjusted_current_node_present_but_not_in_html_namespace()
        {
            let end = rest.find("]]>").map_or(self.text.len(), |end| self.at + end + 3);
            self.until(end);
        } else {
            self.comment();
        }
    }

    /// A comment and the like: to the `>` at which it is a token.
    fn comment(&mut self) {
        let before = self.n_tokens();
        while before == self.n_tokens() && self.at < self.text.len() {
            let end = position(self.text.as_bytes(), self.at, |byte| byte == b'>');
            self.until(end.map_or(self.text.len(), |end| end + 1));
        }
    }

    fn n_tokens(&self) -> usize {
        self.tokenizer.sink.n_tokens()
    }

    fn until(&mut self, end: usize) {
        if self.at < end {
            self.say(self.part(self.at, end));
            self.at = end;
        }
    }

    fn say(&self, text: StrTendril) {
        self.input.push_back(text);
        // It stops at scripts, which are not run here.
        while !self.input.is_empty() {
            let _stopped = self.tokenizer.feed(&self.input);
        }
    }
}

/// What stands behind the name of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scanned {
    /// Where the first attribute begins that is too many.
    cut: Option<usize>,
    /// Behind its `>`, or at the end of the text.
    end: usize,
    is_ended: bool,
    closes_itself: bool,
}

/// Reads attributes as the standard does.
fn scan(text: &[u8], from: usize) -> Scanned {
    enum At {
        Between,
        Slash,
        Name,
        BehindName,
        Value,
        Quoted(u8),
        Bare,
    }
    let (mut state, mut n, mut cut) = (At::Between, 0_usize, None);
    let mut at = from;
    while let Some(byte) = text.get(at).copied() {
        let ends = byte == b'>' && !matches!(state, At::Quoted(_));
        if ends {
            let closes_itself = matches!(state, At::Slash);
            return Scanned { cut, end: at + 1, is_ended: true, closes_itself };
        }
        let begins = match (&state, byte) {
            (At::Between | At::Slash, _) => !is_blank(byte) && byte != b'/',
            (At::BehindName, _) => !is_blank(byte) && byte != b'/' && byte != b'=',
            _ => false,
        };
        if begins {
            n += 1;
            if MAX_ATTRIBUTES < n && cut.is_none() {
                cut = Some(at);
            }
        }
        state = match (state, byte) {
            (At::Between | At::Slash | At::Name | At::BehindName, b'/') => At::Slash,
            (At::Between | At::Slash | At::Bare, _) if is_blank(byte) => At::Between,
            (At::Name | At::BehindName, _) if is_blank(byte) => At::BehindName,
            (At::Name | At::BehindName, b'=') => At::Value,
            (At::Between | At::Slash | At::Name | At::BehindName, _) => At::Name,
            (At::Value, _) if is_blank(byte) => At::Value,
            (At::Value, b'"' | b'\'') => At::Quoted(byte),
            (At::Value | At::Bare, _) => At::Bare,
            (At::Quoted(mark), _) if mark == byte => At::Between,
            (At::Quoted(mark), _) => At::Quoted(mark),
        };
        at += 1;
    }
    Scanned { cut, end: text.len(), is_ended: false, closes_itself: false }
}

/// Whether a `<` is more than a sign in the text.
pub(super) fn begins_tag(text: &[u8], at: usize) -> bool {
    text.get(at + 1)
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?'))
}

pub(super) fn position(text: &[u8], from: usize, test: impl Fn(u8) -> bool) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.iter().position(|byte| test(*byte)).map(|step| from + step)
}

pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | b' ')
}

pub(super) const fn ends_name(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'/' | b'>')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(n: usize) -> String {
        (0..n).fold(String::new(), |all, n| all + &format!(" a{n}"))
    }

    #[test]
    fn attributes_are_counted_as_a_browser_counts_them() {
        let over = MAX_ATTRIBUTES + 1;
        for (text, overflows) in [
            (format!("<p{}>", many(MAX_ATTRIBUTES)), false),
            (format!("<p{}>", many(over)), true),
            (format!("<p{}", many(over)), true),
            (format!("<p/{}>", "a=''".repeat(over)), true),
            (format!("<p {}>", "a/".repeat(over)), true),
            (format!("<p {}>", "a=\">\" ".repeat(over)), true),
            (format!("<p {}>", "a= b ".repeat(over)), true),
            (format!("<p title='{}'>", many(over)), false),
            (format!("<p x={}>", "a/".repeat(over)), false),
            ("<p a b>".repeat(over), false),
        ] {
            assert_eq!(scan(text.as_bytes(), 2).cut.is_some(), overflows, "{text}");
        }
    }
}
