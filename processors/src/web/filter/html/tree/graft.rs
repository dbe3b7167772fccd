//! Changes to a tree that is built: what its own text says of it.

use html5ever::{Attribute, LocalName, local_name};

use super::{Data, Id, NONE, Node, ROOT, Tree};
use crate::web::filter::html::{attributes::Looks, roles::Role};

impl Tree {
    /// All nodes there are.
    pub(in crate::web::filter::html) fn ids(&self) -> impl Iterator<Item = Id> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(NONE)).map(Id)
    }

    /// How deep a node stands.
    pub(in crate::web::filter::html) fn depth(&self, id: Id) -> u16 {
        self.nodes.get(id.0 as usize).map_or(0, |node| node.depth)
    }

    /// The name and the attributes of an element.
    pub(in crate::web::filter::html) fn element(
        &self,
        id: Id,
    ) -> Option<(&LocalName, &[Attribute])> {
        match self.data(id) {
            Data::Element { name, attributes, .. } => Some((name, attributes)),
            _ => None,
        }
    }

    /// Lets the looks of each element be changed, by its attributes.
    pub(in crate::web::filter::html) fn each_look(
        &mut self,
        mut each: impl FnMut(&[Attribute], &mut Looks),
    ) {
        for node in &mut self.nodes {
            if let Data::Element { attributes, looks, .. } = &mut node.data {
                each(attributes, looks);
            }
        }
    }

    /// Puts what stands in another tree in the place of a node without children.
    pub(in crate::web::filter::html) fn graft(&mut self, at: Id, other: Self) {
        let Ok(offset) = u32::try_from(self.nodes.len()) else { return };
        let moved = |id: u32| if id == NONE { NONE } else { id.saturating_add(offset) };
        let parts = other.nodes.into_iter().map(|node| Node {
            parent: moved(node.parent),
            previous: moved(node.previous),
            next: moved(node.next),
            first: moved(node.first),
            last: moved(node.last),
            ..node
        });
        self.nodes.extend(parts);
        // The other root takes the place, as a part of the page.
        let root = moved(ROOT.0);
        let Some(old) = self.nodes.get_mut(at.0 as usize) else { return };
        let (parent, previous, next) = (old.parent, old.previous, old.next);
        old.data = Data::Nothing;
        if let Some(node) = self.nodes.get_mut(root as usize) {
            (node.parent, node.previous, node.next) = (parent, previous, next);
            node.data = Data::Element {
                name: local_name!("div"),
                attributes: Vec::new(),
                role: Role::Block,
                looks: Looks::default(),
            };
        }
        if let Some(before) = self.nodes.get_mut(previous as usize) {
            before.next = root;
        } else if let Some(above) = self.nodes.get_mut(parent as usize) {
            above.first = root;
        }
        if let Some(after) = self.nodes.get_mut(next as usize) {
            after.previous = root;
        } else if let Some(above) = self.nodes.get_mut(parent as usize) {
            above.last = root;
        }
    }
}
