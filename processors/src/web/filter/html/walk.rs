//! Walks the tree once, without recursion, and tells a builder what is to stay.

mod code;
mod look;

use html5ever::{Attribute, local_name};
use weir_events::web::content::ContentFilter;

use self::look::Languages;
use super::{
    Syntax,
    attributes::{self, Gutter, Likeness, Looks},
    roles::{self, Role},
    tree::{Data, Id, ROOT, Tree},
};
use crate::web::filter::{
    builder::{Builder, Strip},
    document::{Container, Document, LeafKind},
    judge::{self, Caution},
    tally::Tally,
};

/// Makes a document of a tree. `n_bytes`: how much text it was made of.
pub(super) fn walk(
    tree: &Tree,
    n_bytes: usize,
    read_as: (Caution, Syntax),
    wanted: &ContentFilter,
    tally: &mut Tally,
) -> Document {
    walked(tree, n_bytes, read_as, wanted, tally).0
}

/// The document, and in how many steps: nodes that were looked at, and bytes of text that were copied
/// to be looked at.
fn walked(
    tree: &Tree,
    n_bytes: usize,
    (caution, syntax): (Caution, Syntax),
    wanted: &ContentFilter,
    tally: &mut Tally,
) -> (Document, usize) {
    /// Looking ahead takes so many steps for each byte of the page. Real pages take less than one.
    const AHEAD: usize = 4;
    let strip = Strip { blocks: wanted.strip_code_blocks, spans: wanted.strip_inline_code };
    let mut builder = Builder::new(strip, 4096, tally);
    builder.caution = caution;
    let mut walker = Walker {
        tree,
        syntax,
        wanted,
        builder,
        entered: Vec::new(),
        scratch: String::new(),
        languages: Languages::default(),
        blank: None,
        n_steps: 0,
        n_ahead: n_bytes.saturating_mul(AHEAD),
    };
    let mut at = tree.first(ROOT);
    while let Some(id) = at {
        if walker.enter(id)
            && let Some(first) = tree.first(id)
        {
            at = Some(first);
            continue;
        }
        at = walker.onward(id);
    }
    (walker.builder.finish(), walker.n_steps)
}

struct Walker<'a> {
    tree: &'a Tree,
    syntax: Syntax,
    wanted: &'a ContentFilter,
    builder: Builder<'a>,
    entered: Vec<Entered>,
    scratch: String,
    languages: Languages,
    /// An element under way in which there is no text: it is not looked for again.
    blank: Option<Id>,
    n_steps: usize,
    /// So many more steps may be taken to look ahead.
    n_ahead: usize,
}

/// What is to be undone when an element ends.
struct Entered {
    id: Id,
    caution: Caution,
    undo: Undo,
}

#[derive(Clone, Copy)]
enum Undo {
    Nothing,
    Leaf(LeafKind),
    Container(Container, LeafKind),
    Mark,
}

impl Walker<'_> {
    /// The next node, after all that ends here has ended.
    fn onward(&mut self, mut id: Id) -> Option<Id> {
        loop {
            if self.entered.last().is_some_and(|entered| entered.id == id) {
                self.leave();
            }
            if self.blank == Some(id) {
                self.blank = None;
            }
            if let Some(next) = self.tree.next(id) {
                return Some(next);
            }
            id = self.tree.parent(id).filter(|parent| *parent != ROOT)?;
        }
    }

    /// Whether what is in it is to be walked.
    fn enter(&mut self, id: Id) -> bool {
        self.n_steps += 1;
        let (attributes, role, looks) = match self.tree.data(id) {
            Data::Text(text) => {
                self.builder.text(text);
                return false;
            }
            Data::Element { attributes, role, looks, .. } => (attributes, *role, *looks),
            Data::Document | Data::Nothing => return false,
        };
        match role {
            Role::Break => self.builder.line_break(),
            Role::Rule => self.builder.flush(),
            Role::Void => {}
            Role::Image => self.image(attributes, looks),
            Role::Unseen => self.unseen(id),
            Role::Title => self.title(id),
            _ if looks.hidden || looks.gutter == Gutter::Sure => self.unseen(id),
            _ if looks.gutter == Gutter::OfNumbers && self.holds_numbers(id) => self.unseen(id),
            Role::Code => self.code(id, true),
            Role::Span => self.code(id, false),
            _ => return self.enter_element(id, attributes, role, looks),
        }
        false
    }

    fn enter_element(
        &mut self,
        id: Id,
        attributes: &[Attribute],
        role: Role,
        looks: Looks,
    ) -> bool {
        let body = self.tree.parent(id).is_none_or(|parent| parent == ROOT)
            || matches!(self.tree.data(id), Data::Element { name: local_name!("body"), .. });
        let caution = self.builder.caution;
        if self.syntax == Syntax::Xhtml && role == Role::Unmarked && self.is_glued(id) {
            self.builder.text(" ");
        }
        if !body && self.blank.is_none() {
            let likeness = self.likeness(id, role, looks.code);
            match likeness {
                // What is in it has decided.
                Likeness::None | Likeness::Listing | Likeness::Member => {}
                Likeness::Weak => self.builder.caution = Caution::Suspicious,
                Likeness::Signature if !self.wanted.strip_inline_code => {}
                Likeness::Signature => {
                    self.builder.caution = caution;
                    return self.signature(id, attributes, role);
                }
                Likeness::Letters | Likeness::Strong => {
                    if !self.reads_as_prose(id, likeness) {
                        return self.wrapper(id, role);
                    }
                    self.builder.caution = Caution::Suspicious;
                }
            }
        }
        let undo = self.open(attributes, role);
        self.entered.push(Entered { id, caution, undo });
        true
    }

    /// Whether nothing stands between an element that nobody knows and one before it: what is in them is no
    /// word together.
    fn is_glued(&self, id: Id) -> bool {
        let is_element = |id: Id| matches!(self.tree.data(id), Data::Element { .. });
        self.tree.previous(id).is_some_and(is_element)
            && self.tree.element(id).is_some_and(|(name, _)| !roles::is_within_words(name))
    }

    fn open(&mut self, attributes: &[Attribute], role: Role) -> Undo {
        match role {
            Role::Heading(level) => Undo::Leaf(self.builder.begin(LeafKind::Heading(level))),
            Role::Paragraph => Undo::Leaf(self.builder.begin(LeafKind::Paragraph)),
            Role::Block => Undo::Leaf(self.builder.begin(LeafKind::Text)),
            Role::Holds(container) => {
                let fits = self.builder.open(container);
                let kind = self.builder.begin(LeafKind::Text);
                if fits { Undo::Container(container, kind) } else { Undo::Leaf(kind) }
            }
            Role::Link => {
                let address = attributes::value(attributes, "href").and_then(judge::address);
                match address {
                    Some(address) if !self.builder.in_link() => {
                        self.builder.link(address);
                        Undo::Mark
                    }
                    _ => Undo::Nothing,
                }
            }
            Role::Inline(mark) => {
                self.builder.mark(mark);
                Undo::Mark
            }
            _ => Undo::Nothing,
        }
    }

    fn leave(&mut self) {
        let Some(entered) = self.entered.pop() else { return };
        match entered.undo {
            Undo::Nothing => {}
            Undo::Leaf(kind) => {
                self.builder.begin(kind);
            }
            Undo::Container(container, kind) => {
                self.builder.close(container);
                self.builder.begin(kind);
            }
            Undo::Mark => self.builder.unmark(),
        }
        self.builder.caution = entered.caution;
    }

    /// The first title is that of the page; feeds have one more for each entry.
    fn title(&mut self, id: Id) {
        let text = self.title_of(id);
        if self.builder.title(&text) {
            return;
        }
        let kind = self.builder.begin(LeafKind::Heading(2));
        self.builder.text(&text);
        self.builder.begin(kind);
    }
}

#[cfg(test)]
mod tests;
