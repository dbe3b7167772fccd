//! The plainest tree that html5ever can build of a page: every node in one vector, nothing judged and
//! nothing bounded. It is only there to be built.

use std::{
    borrow::Cow,
    cell::{Ref, RefCell},
};

use html5ever::{
    Attribute, ParseOpts, QualName,
    interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink},
    parse_document,
    tendril::{StrTendril, TendrilSink as _},
};

/// A page, node by node; the first is the document.
pub(super) fn of(page: &str) -> Vec<Node> {
    parse_document(Sink::default(), ParseOpts::default()).one(page)
}

#[derive(Default)]
pub(super) struct Node {
    name: Option<QualName>,
    attributes: Vec<Attribute>,
    /// Where it is text. What comments say is not kept.
    text: Option<StrTendril>,
    parent: Option<usize>,
    children: Vec<usize>,
}

struct Sink(RefCell<Vec<Node>>);

impl Default for Sink {
    fn default() -> Self {
        Self(RefCell::new(vec![Node::default()]))
    }
}

impl Sink {
    fn push(&self, node: Node) -> usize {
        let mut nodes = self.0.borrow_mut();
        nodes.push(node);
        nodes.len() - 1
    }

    /// Puts a child before the `at`-th of a parent's children, or behind them all. Text joins the text
    /// before it.
    fn insert(&self, parent: usize, at: usize, child: NodeOrText<usize>) {
        let child = match child {
            NodeOrText::AppendNode(id) => id,
            NodeOrText::AppendText(text) => {
                let mut nodes = self.0.borrow_mut();
                let children = nodes.get(parent).map_or(&[][..], |node| &node.children);
                let before = at.min(children.len()).checked_sub(1);
                let before = before.and_then(|at| children.get(at)).copied();
                if let Some(Node { text: Some(there), .. }) =
                    before.and_then(|id| nodes.get_mut(id))
                {
                    there.push_tendril(&text);
                    return;
                }
                drop(nodes);
                self.push(Node { text: Some(text), ..Node::default() })
            }
        };
        let mut nodes = self.0.borrow_mut();
        if let Some(node) = nodes.get_mut(child) {
            node.parent = Some(parent);
        }
        if let Some(node) = nodes.get_mut(parent) {
            node.children.insert(at.min(node.children.len()), child);
        }
    }

    /// Whose child a node is, and at which place.
    fn place(&self, id: usize) -> Option<(usize, usize)> {
        let nodes = self.0.borrow();
        let parent = nodes.get(id)?.parent?;
        let at = nodes.get(parent)?.children.iter().position(|child| *child == id)?;
        Some((parent, at))
    }
}

impl TreeSink for Sink {
    type Handle = usize;
    type Output = Vec<Node>;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Vec<Node> {
        self.0.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> usize {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a usize) -> Ref<'a, QualName> {
        static NOTHING: std::sync::LazyLock<QualName> = std::sync::LazyLock::new(|| {
            QualName::new(None, html5ever::ns!(), html5ever::local_name!(""))
        });
        Ref::map(self.0.borrow(), |nodes| {
            nodes.get(*target).and_then(|node| node.name.as_ref()).unwrap_or(&NOTHING)
        })
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> usize {
        self.push(Node { name: Some(name), attributes, ..Node::default() })
    }

    fn create_comment(&self, _: StrTendril) -> usize {
        self.push(Node::default())
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> usize {
        self.push(Node::default())
    }

    fn append(&self, parent: &usize, child: NodeOrText<usize>) {
        self.insert(*parent, usize::MAX, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &usize,
        previous: &usize,
        child: NodeOrText<usize>,
    ) {
        match self.place(*element) {
            Some(_) => self.append_before_sibling(element, child),
            None => self.append(previous, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &usize) -> usize {
        *target
    }

    fn same_node(&self, one: &usize, other: &usize) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &usize, child: NodeOrText<usize>) {
        if let NodeOrText::AppendNode(id) = &child {
            self.remove_from_parent(id);
        }
        if let Some((parent, at)) = self.place(*sibling) {
            self.insert(parent, at, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &usize, more: Vec<Attribute>) {
        if let Some(node) = self.0.borrow_mut().get_mut(*target) {
            for attribute in more {
                if !node.attributes.iter().any(|there| there.name == attribute.name) {
                    node.attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &usize) {
        if let Some((parent, at)) = self.place(*target) {
            let mut nodes = self.0.borrow_mut();
            if let Some(node) = nodes.get_mut(parent) {
                node.children.remove(at);
            }
            if let Some(node) = nodes.get_mut(*target) {
                node.parent = None;
            }
        }
    }

    fn reparent_children(&self, node: &usize, new_parent: &usize) {
        let mut nodes = self.0.borrow_mut();
        let children = nodes.get_mut(*node).map(|node| std::mem::take(&mut node.children));
        for child in children.iter().flatten() {
            if let Some(node) = nodes.get_mut(*child) {
                node.parent = Some(*new_parent);
            }
        }
        if let Some(node) = nodes.get_mut(*new_parent) {
            node.children.extend(children.into_iter().flatten());
        }
    }
}
