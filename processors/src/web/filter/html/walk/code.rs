//! What does not stay, and what is written in its place.

use html5ever::Attribute;

use super::{Entered, Walker};
use crate::web::filter::{
    describe,
    document::LeafKind,
    html::{
        attributes::{self, Looks},
        roles::Role,
        tree::{Data, Id},
    },
    judge::{self, Caution},
    placeholder,
};

/// Code within a sentence is shorter than this; what is longer is a block.
const MAX_SPAN_BYTES: usize = 240;

impl Walker<'_> {
    pub(super) fn unseen(&mut self, id: Id) {
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
                self.n_steps += 1 + self.tree.texts(child, |text| tally.unseen(text));
            }
            at = self.tree.next(child);
        }
    }

    /// A block or a span of code, by its element.
    pub(super) fn code(&mut self, id: Id, block: bool) {
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
    pub(super) fn wrapper(&mut self, id: Id, role: Role) -> bool {
        let code = self.text_of(id);
        if code.trim().is_empty() {
            self.blank = Some(id);
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
    pub(super) fn signature(&mut self, id: Id, attributes: &[Attribute], role: Role) -> bool {
        let code = self.text_of(id);
        let undo = self.open(attributes, role);
        let caution = self.builder.caution;
        self.entered.push(Entered { id, caution, undo });
        if code.trim().is_empty() {
            self.blank = Some(id);
            return true;
        }
        self.span(code.trim());
        self.leave();
        false
    }

    pub(super) fn image(&mut self, attributes: &[Attribute], looks: Looks) {
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
}
