//! What does not stay, and what is written in its place.

use html5ever::Attribute;

use super::{Entered, Walker};
use crate::web::filter::{
    coded,
    html::{
        attributes::{self, Looks},
        roles::Role,
        tree::{Data, Id},
    },
};

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
        let language = || self.languages.of(self.tree, id, &mut self.n_steps);
        coded::put(&mut self.builder, self.wanted, &code, block, language);
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
        coded::signature(&mut self.builder, self.wanted, code.trim());
        self.leave();
        false
    }

    pub(super) fn image(&mut self, attributes: &[Attribute], looks: Looks) {
        if let Some(alt) = attributes::value(attributes, "alt").filter(|_| !looks.hidden) {
            coded::instead_of_image(&mut self.builder, alt);
        }
    }
}
