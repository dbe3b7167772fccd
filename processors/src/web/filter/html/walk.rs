//! Walks the tree once, without recursion, and tells a builder what is to stay.

use html5ever::Attribute;
use weir_events::web::content::ContentFilter;

use super::{
    attributes::{self, Likeness, Looks},
    roles::Role,
    tree::{Data, Id, ROOT, Tree},
};
use crate::web::filter::{
    builder::{Builder, Strip},
    describe,
    document::{Container, Document, LeafKind},
    judge::{self, Caution},
    language, placeholder,
    tally::Tally,
};

/// Code within a sentence is shorter than this; what is longer is a block.
const MAX_SPAN_BYTES: usize = 240;

/// Makes a document of a tree.
pub(super) fn walk(
    tree: &Tree,
    caution: Caution,
    wanted: &ContentFilter,
    tally: &mut Tally,
) -> Document {
    let strip = Strip { blocks: wanted.strip_code_blocks, spans: wanted.strip_inline_code };
    let mut builder = Builder::new(strip, 4096, tally);
    builder.caution = caution;
    let transform = Transform { apis: wanted.transform_apis, examples: wanted.transform_examples };
    let (entered, scratch) = (Vec::new(), String::new());
    let mut walker = Walker { tree, strip, transform, builder, entered, scratch };
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
    walker.builder.finish()
}

struct Walker<'a> {
    tree: &'a Tree,
    strip: Strip,
    transform: Transform,
    builder: Builder<'a>,
    entered: Vec<Entered>,
    scratch: String,
}

/// What is described in words.
#[derive(Clone, Copy)]
struct Transform {
    apis: bool,
    examples: bool,
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
            if let Some(next) = self.tree.next(id) {
                return Some(next);
            }
            id = self.tree.parent(id).filter(|parent| *parent != ROOT)?;
        }
    }

    /// Whether what is in it is to be walked.
    fn enter(&mut self, id: Id) -> bool {
        let (attributes, role) = match self.tree.data(id) {
            Data::Text(text) => {
                self.builder.text(text);
                return false;
            }
            Data::Element { attributes, role, .. } => (attributes, *role),
            Data::Document | Data::Nothing => return false,
        };
        let looks =
            if attributes.is_empty() { Looks::default() } else { attributes::look(attributes) };
        match role {
            Role::Break => self.builder.line_break(),
            Role::Rule => self.builder.flush(),
            Role::Void => {}
            Role::Image => self.image(attributes, looks),
            Role::Unseen => self.unseen(id),
            Role::Title => self.title(id),
            _ if looks.hidden || looks.gutter => self.unseen(id),
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
            || matches!(self.tree.data(id), Data::Element { name, .. } if &*name.local == "body");
        let caution = self.builder.caution;
        if !body {
            match looks.code {
                Likeness::None => {}
                Likeness::Weak => self.builder.caution = Caution::Suspicious,
                Likeness::Signature if !self.strip.spans => {}
                Likeness::Signature => {
                    self.builder.caution = caution;
                    return self.signature(id, attributes, role);
                }
                Likeness::Letters | Likeness::Strong => {
                    if !self.reads_as_prose(id, looks.code) {
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
        let text = self.text_of(id);
        if self.builder.title(&text) {
            return;
        }
        let kind = self.builder.begin(LeafKind::Heading(2));
        self.builder.text(&text);
        self.builder.begin(kind);
    }

    // --- what does not stay ---

    fn unseen(&mut self, id: Id) {
        // The title stands in the head.
        let mut at = self.tree.first(id);
        while let Some(child) = at {
            if matches!(self.tree.data(child), Data::Element { role: Role::Title, .. }) {
                self.title(child);
            } else {
                let tally = &mut *self.builder.tally;
                if let Data::Text(text) = self.tree.data(child) {
                    tally.unseen(text);
                }
                self.tree.texts(child, |_, text| tally.unseen(text));
            }
            at = self.tree.next(child);
        }
    }

    /// A block or a span of code, by its element.
    fn code(&mut self, id: Id, block: bool) {
        let code = self.text_of(id);
        if code.trim().is_empty() {
            // A word may end here all the same.
            self.builder.text(&code);
            return;
        }
        let lines = code.trim().bytes().filter(|byte| *byte == b'\n').count();
        if block || MAX_SPAN_BYTES < code.len() || 3 < lines {
            self.block(id, &code);
        } else {
            self.span(&code);
        }
    }

    fn block(&mut self, id: Id, code: &str) {
        if !self.strip.blocks {
            self.builder.note(LeafKind::Code, code.trim_matches('\n'));
            return;
        }
        let (n_lines, language) = (placeholder::n_lines(code), self.language(id));
        self.builder.tally.block(code, language);
        let described =
            Some(code).filter(|_| self.transform.apis).and_then(describe::signature).or_else(
                || self.transform.examples.then(|| describe::example(code, n_lines, language)),
            );
        if described.is_some() {
            self.builder.tally.transformed();
        }
        let words = described.unwrap_or_else(|| placeholder::block(n_lines, language));
        self.builder.note(LeafKind::Text, &words);
    }

    fn span(&mut self, code: &str) {
        if !self.strip.spans {
            self.builder.code(code);
            return;
        }
        // Blanks at its ends are those of the sentence.
        if code.starts_with(char::is_whitespace) {
            self.builder.text(" ");
        }
        self.builder.tally.span(code);
        let describes = self.transform.apis && self.builder.is_naming();
        match Some(code).filter(|_| describes).and_then(describe::signature) {
            Some(words) => {
                self.builder.tally.transformed();
                self.builder.text(&words);
            }
            None => self.builder.text(placeholder::SPAN),
        }
        if code.ends_with(char::is_whitespace) {
            self.builder.text(" ");
        }
    }

    /// An element that is code by its class or its letters.
    fn wrapper(&mut self, id: Id, role: Role) -> bool {
        let code = self.text_of(id);
        if code.trim().is_empty() {
            return true;
        }
        let inline = matches!(role, Role::Unmarked | Role::Link | Role::Inline(_));
        let cell = match role {
            Role::Holds(container) if self.builder.open(container) => Some(container),
            _ => None,
        };
        self.code(id, !inline);
        if let Some(container) = cell {
            self.builder.close(container);
        }
        false
    }

    /// A signature: code, though no element says so.
    fn signature(&mut self, id: Id, attributes: &[Attribute], role: Role) -> bool {
        let code = self.text_of(id);
        let undo = self.open(attributes, role);
        let caution = self.builder.caution;
        self.entered.push(Entered { id, caution, undo });
        if code.trim().is_empty() {
            return true;
        }
        self.span(code.trim());
        self.leave();
        false
    }

    fn image(&mut self, attributes: &[Attribute], looks: Looks) {
        const MAX_ALT_BYTES: usize = 300;
        let Some(alt) = attributes::value(attributes, "alt").map(str::trim) else { return };
        if looks.hidden || alt.is_empty() {
            return;
        }
        if MAX_ALT_BYTES < alt.len() || !judge::judge(alt, Caution::Suspicious).is_empty() {
            self.builder.tally.span(alt);
            self.builder.text(placeholder::SPAN);
            return;
        }
        self.builder.text(alt);
    }

    // --- looking ---

    /// The text in an element, with line breaks, and without what nobody reads.
    fn text_of(&mut self, top: Id) -> String {
        let mut code = std::mem::take(&mut self.scratch);
        code.clear();
        let mut at = self.tree.first(top);
        while let Some(id) = at {
            let mut into = true;
            match self.tree.data(id) {
                Data::Text(text) => code.push_str(text),
                Data::Element { role: Role::Break, .. } => code.push('\n'),
                Data::Element { role: Role::Unseen, .. } => into = false,
                Data::Element { attributes, role, .. } => {
                    into = attributes.is_empty() || !attributes::look(attributes).gutter;
                    let apart = matches!(role, Role::Block | Role::Paragraph | Role::Holds(_));
                    if apart && !code.is_empty() && !code.ends_with('\n') {
                        code.push('\n');
                    }
                }
                Data::Document | Data::Nothing => {}
            }
            at = self.tree.first(id).filter(|_| into).or_else(|| self.tree.behind(id, top));
        }
        code
    }

    fn reads_as_prose(&mut self, id: Id, likeness: Likeness) -> bool {
        // A wrapper that holds the whole page is no wrapper of code.
        const MANY_BYTES: usize = 20_000;
        let text = self.text_of(id);
        let prose = judge::reads_as_prose(&text);
        let many = MANY_BYTES < text.len();
        self.scratch = text;
        prose && (likeness == Likeness::Letters || many)
    }

    /// The language of a block: what it, what is around it, or what is in it says.
    fn language(&self, id: Id) -> Option<&'static str> {
        let said = |id: Id| {
            let Data::Element { attributes, .. } = self.tree.data(id) else { return None };
            ["class", "data-lang", "data-language", "lang"]
                .iter()
                .find_map(|name| attributes::value(attributes, name).and_then(language::of_class))
        };
        let above = std::iter::successors(Some(id), |id| self.tree.parent(*id)).take(4);
        said(id)
            .or_else(|| self.tree.first(id).and_then(said))
            .or_else(|| above.skip(1).find_map(said))
    }
}
