//! Stands between the tokenizer and the tree builder, so that no page can make the tree deep or
//! large: browsers take time in the square of the depth, and so does the standard.

use std::cell::{Cell, RefCell};

use html5ever::{
    LocalName,
    interface::TreeSink as _,
    local_name,
    tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts},
    tree_builder::{TreeBuilder, TreeBuilderOpts},
};

use super::{
    Syntax,
    attributes::{self, Likeness},
    leaps,
    roles::{Role, likeness_of_name, role_of_html},
    tags::Counting,
    tree::{Handle, Sink, Tree},
};
use crate::web::filter::tally::Tally;

/// Elements are not nested deeper than this; real pages do not come near.
const MAX_DEPTH: u16 = 128;
/// A page has no more nodes than this and one for every second byte.
const MIN_NODES: usize = 20_000;
/// Those that every tree has, whatever is in it.
const N_OWN_NODES: usize = 4;
/// Marks that were never closed are opened anew in what follows. Where one tag opens more of them than this,
/// no others are set for the rest of the page: each end tag is looked for among all that are open.
const MAX_REOPENED: usize = 64;

/// How many nodes the trees of a page may still have, all of them together: feeds and JSON have a tree for
/// each piece of HTML that is in them.
#[derive(Debug)]
pub(in crate::web::filter) struct Room {
    n_nodes: usize,
}

impl Room {
    /// That of a page of so many bytes.
    pub(in crate::web::filter) const fn of(n_bytes: usize) -> Self {
        Self { n_nodes: MIN_NODES + n_bytes / 2 }
    }
}

/// Builds the tree of a page.
pub(super) fn parse(text: &str, syntax: Syntax, room: &mut Room, tally: &mut Tally) -> Tree {
    parse_fed(text, syntax, MAX_DEPTH, room, tally, leaps::feed)
}

/// Builds the tree of what is to stand in another one, so deep.
pub(super) fn parse_at(
    depth: u16,
    text: &str,
    syntax: Syntax,
    room: &mut Room,
    tally: &mut Tally,
) -> Tree {
    parse_fed(text, syntax, MAX_DEPTH.saturating_sub(depth), room, tally, leaps::feed)
}

fn parse_fed(
    text: &str,
    syntax: Syntax,
    max_depth: u16,
    room: &mut Room,
    tally: &mut Tally,
    feed: fn(&Tokenizer<Guard>, &str) -> bool,
) -> Tree {
    let options = TreeBuilderOpts { drop_doctype: true, ..TreeBuilderOpts::default() };
    let guard = Guard {
        builder: TreeBuilder::new(Sink::new(text.len()), options),
        syntax,
        max_depth,
        max_nodes: room.n_nodes.saturating_add(N_OWN_NODES),
        skipped: RefCell::new(Vec::new()),
        dropping: RefCell::new(None),
        dropped: Cell::new(false),
        full: Cell::new(false),
        crowded: Cell::new(false),
        n_tokens: Cell::new(0),
        raw: Cell::new(false),
        n_sources: Cell::new(0),
    };
    let tokenizer = Tokenizer::new(guard, TokenizerOpts::default());
    if feed(&tokenizer, text) {
        tally.warn("too many attributes in a tag: some of them are left out");
    }
    tokenizer.end();
    let guard = tokenizer.sink;
    if guard.dropped.get() {
        tally.warn("nested too deeply: some of it is left out");
    }
    if guard.full.get() {
        tally.warn("too much markup: the end is left out");
    }
    let n_nodes = guard.builder.sink.n_nodes().saturating_sub(N_OWN_NODES);
    room.n_nodes = room.n_nodes.saturating_sub(n_nodes);
    guard.builder.sink.finish()
}

struct Guard {
    builder: TreeBuilder<Handle, Sink>,
    syntax: Syntax,
    max_depth: u16,
    max_nodes: usize,
    /// Start tags that were left out because they were too deep, and whose end tags are to come.
    skipped: RefCell<Vec<LocalName>>,
    /// An element that is left out with all that is in it, and how often it is open.
    dropping: RefCell<Option<(LocalName, usize)>>,
    dropped: Cell<bool>,
    full: Cell<bool>,
    /// No more marks are set.
    crowded: Cell<bool>,
    n_tokens: Cell<usize>,
    /// The element that is open is read as characters.
    raw: Cell<bool>,
    /// So many elements of that name are open that wikis have for code.
    n_sources: Cell<usize>,
}

/// What becomes of a token.
enum Fate {
    Pass,
    Leave,
    /// It is left out, and words on both sides of it stay apart.
    Blank,
}

impl Guard {
    /// Wikis have `<source lang="c">` around code; to a browser it is a part of a film, with nothing in it.
    fn rename(&self, tag: &mut Tag) {
        let n_open = self.n_sources.get();
        let is_code = match tag.kind {
            TagKind::StartTag => {
                !tag.self_closing && attributes::value(&tag.attrs, "lang").is_some()
            }
            TagKind::EndTag => 0 < n_open,
        };
        if is_code {
            let n_open = if tag.kind == TagKind::StartTag { n_open + 1 } else { n_open - 1 };
            self.n_sources.set(n_open);
            tag.name = LocalName::from("syntaxhighlight");
        }
    }

    fn judge(&self, token: &Token) -> Fate {
        if self.full.get() {
            return if *token == Token::EOFToken { Fate::Pass } else { Fate::Leave };
        }
        if self.max_nodes < self.builder.sink.n_nodes() {
            self.full.set(true);
            return Fate::Leave;
        }
        if self.dropping.borrow().is_some() {
            return self.drop(token);
        }
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => self.start(tag),
            Token::TagToken(tag) => self.end(tag),
            _ => Fate::Pass,
        }
    }

    fn start(&self, tag: &Tag) -> Fate {
        let role = role_of_html(&tag.name);
        if self.syntax == Syntax::Xhtml && tag.self_closing && !role.is_void() {
            return Fate::Leave;
        }
        let is_crowding = self.crowded.get() && leaps::is_formatting(&tag.name);
        if self.builder.sink.depth() < self.max_depth && !is_crowding || role.is_void() {
            return Fate::Pass;
        }
        let is_plain = attributes::look(&tag.attrs).is_plain()
            && likeness_of_name(&tag.name) == Likeness::None;
        if role.is_transparent() && is_plain {
            // Its text is no less readable without it.
            self.skipped.borrow_mut().push(tag.name.clone());
            return role.left_out();
        }
        self.dropped.set(true);
        *self.dropping.borrow_mut() = Some((tag.name.clone(), 1));
        Fate::Leave
    }

    fn end(&self, tag: &Tag) -> Fate {
        let mut skipped = self.skipped.borrow_mut();
        // Only the last few are looked at: elsewhere an end tag is just as well ignored.
        let at = skipped.iter().rev().take(64).position(|name| *name == tag.name);
        if let Some(at) = at {
            let keep = skipped.len() - 1 - at;
            skipped.truncate(keep);
            return role_of_html(&tag.name).left_out();
        }
        self.builder.sink.closed(&tag.name);
        Fate::Pass
    }

    /// Leaves out all until the element ends that is being dropped. If it never does: all.
    fn drop(&self, token: &Token) -> Fate {
        let mut dropping = self.dropping.borrow_mut();
        match (token, dropping.as_mut()) {
            (Token::EOFToken, _) => return Fate::Pass,
            (Token::TagToken(tag), Some((name, n_open))) if tag.name == *name => {
                match tag.kind {
                    TagKind::StartTag if tag.self_closing => {}
                    TagKind::StartTag => *n_open += 1,
                    TagKind::EndTag => *n_open -= 1,
                }
                if *n_open == 0 {
                    *dropping = None;
                }
            }
            _ => {}
        }
        Fate::Leave
    }
}

impl Counting for Guard {
    fn n_tokens(&self) -> usize {
        self.n_tokens.get()
    }

    fn is_raw(&self) -> bool {
        self.raw.get()
    }
}

impl TokenSink for Guard {
    type Handle = Handle;

    fn process_token(&self, mut token: Token, line: u64) -> TokenSinkResult<Handle> {
        if let Token::TagToken(tag) = &mut token
            && tag.name == local_name!("source")
        {
            self.rename(tag);
        }
        if !matches!(token, Token::ParseError(_)) {
            self.n_tokens.set(self.n_tokens.get() + 1);
        }
        if matches!(&token, Token::TagToken(tag) if tag.kind == TagKind::EndTag) {
            self.raw.set(false);
        }
        let n_before = self.builder.sink.n_nodes();
        let state = match self.judge(&token) {
            Fate::Pass => self.builder.process_token(token, line),
            Fate::Leave => TokenSinkResult::Continue,
            Fate::Blank => self.builder.process_token(Token::CharacterTokens("\n".into()), line),
        };
        if MAX_REOPENED < self.builder.sink.n_nodes() - n_before {
            self.crowded.set(true);
        }
        if matches!(state, TokenSinkResult::RawData(_) | TokenSinkResult::Plaintext) {
            self.raw.set(true);
        }
        state
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl Role {
    /// Whether its text may stand without it: it is neither code nor unseen.
    const fn is_transparent(self) -> bool {
        !matches!(self, Self::Code | Self::Span | Self::Unseen | Self::Title)
    }

    /// What becomes of its tags where it is left out and its text is not.
    const fn left_out(self) -> Fate {
        match self {
            Self::Unmarked | Self::Link | Self::Inline(_) => Fate::Leave,
            _ => Fate::Blank,
        }
    }
}

#[cfg(test)]
mod tests;
