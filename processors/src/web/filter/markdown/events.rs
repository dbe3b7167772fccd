//! Markdown in which there is no HTML: it need not be written as HTML to be read.
//!
//! What is made of it is what is made of the HTML that it means; a property test holds that it is.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use weir_events::web::content::ContentFilter;

use crate::web::filter::{
    builder::{Builder, Strip},
    coded,
    document::{Container, Document, Inline, LeafKind},
    judge::{self, Caution},
    language,
    tally::Tally,
};

/// Nothing is nested deeper than this; what is, stands in what is around it.
const MAX_DEPTH: usize = 124;

/// What is encoded in an address that is written as HTML.
const ODD: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'%')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b'-')
    .remove(b'.')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'?')
    .remove(b'@')
    .remove(b'^')
    .remove(b'_')
    .remove(b'~');

/// Makes a document of what a parser says of a text of so many bytes.
pub(super) fn document<'a>(
    n_bytes: usize,
    events: impl Iterator<Item = Event<'a>>,
    wanted: &ContentFilter,
    tally: &mut Tally,
) -> Document {
    let strip = Strip { blocks: wanted.strip_code_blocks, spans: wanted.strip_inline_code };
    let mut builder = Builder::new(strip, n_bytes, tally);
    builder.caution = Caution::Markdown;
    let mut reader = Reader {
        builder,
        wanted,
        open: Vec::new(),
        n_deeper: 0,
        code: None,
        image: None,
        is_head: false,
    };
    for event in events {
        reader.read(event);
    }
    reader.builder.finish()
}

struct Reader<'a> {
    builder: Builder<'a>,
    wanted: &'a ContentFilter,
    open: Vec<Undo>,
    /// So many more are open that are too deep.
    n_deeper: usize,
    /// A block of code under way, and what it is written in.
    code: Option<(String, Option<&'static str>)>,
    /// What is said instead of a picture, and how many elements are open in there.
    image: Option<(String, usize)>,
    /// The row under way is that of the headings.
    is_head: bool,
}

/// What is to be undone when an element ends.
enum Undo {
    Nothing,
    Leaf(LeafKind),
    Container(Container, LeafKind),
    Mark,
}

impl Reader<'_> {
    fn read(&mut self, event: Event<'_>) {
        if self.image.is_some() {
            return self.read_image(&event);
        }
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((code, _)) => code.push_str(&text),
                None => self.builder.text(&text),
            },
            Event::Code(code) => coded::put(&mut self.builder, self.wanted, &code, false, || None),
            // Lines of the source stay lines, so that they can be judged.
            Event::SoftBreak => self.builder.text("\n"),
            Event::HardBreak => self.builder.line_break(),
            Event::Rule => self.builder.flush(),
            // There is none.
            _ => {}
        }
    }

    fn read_image(&mut self, event: &Event<'_>) {
        let Some((alt, n_open)) = &mut self.image else { return };
        match event {
            Event::Start(_) => *n_open += 1,
            Event::End(_) => match n_open.checked_sub(1) {
                Some(n) => *n_open = n,
                None => {
                    if let Some((alt, _)) = self.image.take() {
                        coded::instead_of_image(&mut self.builder, &alt);
                    }
                }
            },
            Event::Text(text) | Event::Code(text) => alt.push_str(text),
            Event::SoftBreak => alt.push('\n'),
            Event::HardBreak | Event::Rule => alt.push(' '),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        let name = info.split(' ').next().unwrap_or_default();
                        let class = (!name.is_empty()).then(|| format!("language-{name}"));
                        class.as_deref().and_then(language::of_class)
                    }
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((String::new(), language));
            }
            Tag::Image { .. } => self.image = Some((String::new(), 0)),
            Tag::Paragraph => self.leaf(LeafKind::Paragraph),
            Tag::Heading { level, .. } => self.leaf(LeafKind::Heading(*level as u8)),
            Tag::BlockQuote(_) => self.holds(Container::Quote),
            Tag::List(first) => self.holds(Container::List { ordered: first.is_some() }),
            Tag::Item => self.holds(Container::Item),
            Tag::Table(_) => self.holds(Container::Table),
            Tag::TableHead => {
                self.is_head = true;
                self.leaf(LeafKind::Text);
                self.holds(Container::Row);
            }
            Tag::TableRow => self.holds(Container::Row),
            Tag::TableCell => self.holds(Container::Cell { heading: self.is_head }),
            Tag::Emphasis => self.mark(Inline::Emphasis),
            Tag::Strong => self.mark(Inline::Strong),
            Tag::Strikethrough => self.mark(Inline::Deleted),
            Tag::Link { dest_url, .. } => self.link(dest_url),
            _ => self.push(|_| Undo::Nothing),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::CodeBlock => {
                if let Some((code, language)) = self.code.take() {
                    coded::put(&mut self.builder, self.wanted, &code, true, || language);
                }
            }
            TagEnd::TableHead => {
                self.undo();
                self.undo();
                self.is_head = false;
                // That of the rows.
                self.leaf(LeafKind::Text);
            }
            TagEnd::Table => {
                self.undo();
                self.undo();
            }
            _ => self.undo(),
        }
    }

    fn leaf(&mut self, kind: LeafKind) {
        self.push(|builder| Undo::Leaf(builder.begin(kind)));
    }

    fn holds(&mut self, container: Container) {
        self.push(|builder| {
            let fits = builder.open(container);
            let kind = builder.begin(LeafKind::Text);
            if fits { Undo::Container(container, kind) } else { Undo::Leaf(kind) }
        });
    }

    fn mark(&mut self, mark: Inline) {
        self.push(|builder| {
            builder.mark(mark);
            Undo::Mark
        });
    }

    fn link(&mut self, written: &str) {
        self.push(|builder| match judge::address(&utf8_percent_encode(written, ODD).to_string()) {
            Some(address) if !builder.in_link() => {
                builder.link(address);
                Undo::Mark
            }
            _ => Undo::Nothing,
        });
    }

    fn push(&mut self, open: impl FnOnce(&mut Builder<'_>) -> Undo) {
        if MAX_DEPTH <= self.open.len() {
            self.n_deeper += 1;
            self.builder.text("\n");
        } else {
            let undo = open(&mut self.builder);
            self.open.push(undo);
        }
    }

    fn undo(&mut self) {
        if let Some(n_deeper) = self.n_deeper.checked_sub(1) {
            self.n_deeper = n_deeper;
            self.builder.text("\n");
            return;
        }
        match self.open.pop() {
            None | Some(Undo::Nothing) => {}
            Some(Undo::Leaf(kind)) => {
                self.builder.begin(kind);
            }
            Some(Undo::Container(container, kind)) => {
                self.builder.close(container);
                self.builder.begin(kind);
            }
            Some(Undo::Mark) => self.builder.unmark(),
        }
    }
}
