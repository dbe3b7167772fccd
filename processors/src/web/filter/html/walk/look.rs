//! Looks ahead into what an element holds.

use std::collections::HashMap;

use super::Walker;
use crate::web::filter::{
    document::Container,
    html::{
        attributes::{self, Gutter, Likeness},
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
                    into = looks.gutter == Gutter::None;
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
                        || Likeness::Signature <= looks.code && looks.code != Likeness::Weak;
                    into = looks.gutter == Gutter::None && !looks.hidden;
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

    /// The text in an element that may be walked all the same. Wrappers in wrappers are read again and again:
    /// who has set so many of them in each other wants to have them read, and not to have the page read.
    /// From there on there is none.
    fn text_ahead(&mut self, id: Id) -> Option<String> {
        if self.n_ahead == 0 {
            return None;
        }
        let before = self.n_steps;
        let text = self.text_of(id);
        self.n_ahead = self.n_ahead.saturating_sub(self.n_steps - before);
        Some(text)
    }

    /// How much an element looks like code, now that what is in it can be seen.
    pub(super) fn likeness(&mut self, id: Id, role: Role, likeness: Likeness) -> Likeness {
        let is_term = role == Role::Holds(Container::Term);
        match likeness {
            // The signatures of older Sphinx say nothing of themselves.
            Likeness::None if is_term && self.holds(id, &["descname", "sig-paren"]) => {
                Likeness::Signature
            }
            Likeness::Listing if self.holds(id, &["line"]) => Likeness::Strong,
            Likeness::Member if self.holds_signs(id) => Likeness::Signature,
            likeness => likeness,
        }
    }

    /// Whether one of the first elements in an element has one of these classes.
    fn holds(&mut self, id: Id, classes: &[&str]) -> bool {
        const N_FIRST: usize = 8;
        let mut at = self.tree.first(id);
        for _ in 0..N_FIRST {
            let Some(child) = at else { break };
            self.n_steps += 1;
            let class =
                self.tree.element(child).and_then(|(_, all)| attributes::value(all, "class"));
            let mut names = class.unwrap_or_default().split_ascii_whitespace();
            if names.any(|name| classes.contains(&name)) {
                return true;
            }
            at = self.tree.next(child);
        }
        false
    }

    /// Whether there is a sign of a signature in an element, and not just a name.
    fn holds_signs(&mut self, id: Id) -> bool {
        let Some(text) = self.text_ahead(id) else { return true };
        let holds = text.contains(['(', '*', '&', '=', ';', '<']);
        self.scratch = text;
        holds
    }

    /// Whether there is nothing but numbers in an element.
    pub(super) fn holds_numbers(&mut self, id: Id) -> bool {
        if self.n_ahead == 0 {
            return true;
        }
        let before = self.n_steps;
        let mut holds = true;
        let mut at = self.tree.first(id);
        while let Some(node) = at.filter(|_| holds) {
            self.n_steps += 1;
            if let Data::Text(text) = self.tree.data(node) {
                let other = text.find(|c: char| !c.is_ascii_digit() && !c.is_whitespace());
                self.n_steps += other.unwrap_or(text.len());
                holds = other.is_none();
            }
            at = self.tree.first(node).or_else(|| self.tree.behind(node, id));
        }
        self.n_ahead = self.n_ahead.saturating_sub(self.n_steps - before);
        holds
    }

    pub(super) fn reads_as_prose(&mut self, id: Id, likeness: Likeness) -> bool {
        // A wrapper that holds the whole page is no wrapper of code.
        const MANY_BYTES: usize = 20_000;
        let Some(text) = self.text_ahead(id) else { return false };
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
