//! Looks ahead into what an element holds.

use std::collections::HashMap;

use super::Walker;
use crate::web::filter::{
    html::{
        attributes::{self, Likeness},
        roles::Role,
        tree::{Data, Id, Tree},
    },
    judge, language, placeholder,
};

impl Walker<'_> {
    /// The text in an element, with line breaks, and without what nobody reads.
    pub(super) fn text_of(&mut self, top: Id) -> String {
        let mut code = std::mem::take(&mut self.scratch);
        code.clear();
        let mut at = self.tree.first(top);
        while let Some(id) = at {
            self.n_steps += 1;
            let mut into = true;
            match self.tree.data(id) {
                Data::Text(text) => code.push_str(text),
                Data::Element { role: Role::Break, .. } => code.push('\n'),
                Data::Element { role: Role::Unseen, .. } => into = false,
                Data::Element { looks, role, .. } => {
                    into = !looks.gutter;
                    let apart = matches!(role, Role::Block | Role::Paragraph | Role::Holds(_));
                    if apart && !code.is_empty() && !code.ends_with('\n') {
                        code.push('\n');
                    }
                }
                Data::Document | Data::Nothing => {}
            }
            at = self.tree.first(id).filter(|_| into).or_else(|| self.tree.behind(id, top));
        }
        self.n_steps += code.len();
        code
    }

    /// The text of a title, in which feeds have elements: those that are code leave a placeholder.
    pub(super) fn title_of(&mut self, top: Id) -> String {
        let mut title = String::new();
        let mut at = self.tree.first(top);
        while let Some(id) = at {
            self.n_steps += 1;
            let mut into = true;
            match self.tree.data(id) {
                Data::Text(text) => title.push_str(text),
                Data::Element { role: Role::Unseen, .. } => into = false,
                Data::Element { role, looks, .. } => {
                    let is_block = *role == Role::Code;
                    let is_code = is_block
                        || *role == Role::Span
                        || !matches!(looks.code, Likeness::None | Likeness::Weak);
                    into = !looks.gutter && !looks.hidden;
                    let strips = if is_block {
                        self.wanted.strip_code_blocks
                    } else {
                        self.wanted.strip_inline_code
                    };
                    if into && is_code && strips {
                        into = false;
                        let code = self.text_of(id);
                        self.builder.tally.span(code.trim());
                        title.push_str(placeholder::SPAN);
                        self.scratch = code;
                    } else if !matches!(role, Role::Inline(_) | Role::Link | Role::Unmarked) {
                        title.push(' ');
                    }
                }
                Data::Document | Data::Nothing => {}
            }
            at = self.tree.first(id).filter(|_| into).or_else(|| self.tree.behind(id, top));
        }
        self.n_steps += title.len();
        title
    }

    pub(super) fn reads_as_prose(&mut self, id: Id, likeness: Likeness) -> bool {
        // A wrapper that holds the whole page is no wrapper of code.
        const MANY_BYTES: usize = 20_000;
        // Wrappers in wrappers are read again and again. Who has set so many of them in each other
        // wants to have them read, and not to have the page read: it is code from there on.
        if self.n_ahead == 0 {
            return false;
        }
        let before = self.n_steps;
        let text = self.text_of(id);
        self.n_ahead = self.n_ahead.saturating_sub(self.n_steps - before);
        // Figures are set in such letters, so that they stand below each other.
        let figures = likeness == Likeness::Letters && !text.contains(char::is_alphabetic);
        let prose = figures || judge::reads_as_prose(&text);
        let many = MANY_BYTES < text.len();
        self.scratch = text;
        prose && (likeness == Likeness::Letters || many)
    }
}

/// What elements say of the language of what is in them. Each is asked once: many blocks may stand below it.
#[derive(Default)]
pub(super) struct Languages {
    said: HashMap<Id, Option<&'static str>>,
}

impl Languages {
    /// The language of a block: what it, what is in it, or what is around it says.
    pub(super) fn of(&mut self, tree: &Tree, id: Id, n_steps: &mut usize) -> Option<&'static str> {
        const N_AROUND: usize = 3;
        let above = std::iter::successors(tree.parent(id), |id| tree.parent(*id)).take(N_AROUND);
        let mut asked = std::iter::once(id).chain(tree.first(id)).chain(above);
        asked.find_map(|id| *self.said.entry(id).or_insert_with(|| said(tree, id, n_steps)))
    }
}

/// What an element says of the language of what is in it.
fn said(tree: &Tree, id: Id, n_steps: &mut usize) -> Option<&'static str> {
    let Data::Element { attributes, .. } = tree.data(id) else { return None };
    ["class", "data-lang", "data-language", "lang"].iter().find_map(|name| {
        let value = attributes::value(attributes, name)?;
        *n_steps += value.len();
        language::of_class(value)
    })
}
