//! The tree of a page, in one vector: nodes are numbers, links are numbers, nothing is recursive.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
};

use html5ever::{
    Attribute, ExpandedName, LocalName, Namespace, QualName,
    interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink},
    local_name, ns,
    tendril::StrTendril,
};

use super::{
    attributes::{self, Looks},
    roles::{Role, likeness_of_name, role_of},
    tags::MAX_ATTRIBUTES,
};

mod graft;

/// A node's place in the vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id(u32);

/// A node, for the parser: it asks for the name of an element again and again.
#[derive(Debug, Clone)]
pub(super) struct Handle {
    id: Id,
    space: Namespace,
    name: LocalName,
}

/// The document itself.
pub(super) const ROOT: Id = Id(0);
const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) enum Data {
    Document,
    Element {
        name: LocalName,
        attributes: Vec<Attribute>,
        role: Role,
        /// What its attributes say.
        looks: Looks,
    },
    Text(StrTendril),
    /// Comments, instructions, doctypes: never looked at.
    Nothing,
}

#[derive(Debug)]
struct Node {
    parent: u32,
    previous: u32,
    next: u32,
    first: u32,
    last: u32,
    depth: u16,
    data: Data,
}

/// A page as a browser sees it.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    pub(super) fn data(&self, id: Id) -> &Data {
        self.node(id.0).map_or(&Data::Nothing, |node| &node.data)
    }

    pub(super) fn first(&self, id: Id) -> Option<Id> {
        self.node(id.0).and_then(|node| some(node.first))
    }

    pub(super) fn next(&self, id: Id) -> Option<Id> {
        self.node(id.0).and_then(|node| some(node.next))
    }

    pub(super) fn previous(&self, id: Id) -> Option<Id> {
        self.node(id.0).and_then(|node| some(node.previous))
    }

    pub(super) fn parent(&self, id: Id) -> Option<Id> {
        self.node(id.0).and_then(|node| some(node.parent))
    }

    /// The node behind this one and all that is in it, within `top`.
    pub(super) fn behind(&self, mut id: Id, top: Id) -> Option<Id> {
        loop {
            if id == top {
                return None;
            }
            if let Some(next) = self.next(id) {
                return Some(next);
            }
            id = self.parent(id)?;
        }
    }

    /// Calls back with each text below a node, in order. Answers how many nodes there are.
    pub(super) fn texts(&self, top: Id, mut each: impl FnMut(&str)) -> usize {
        let mut n_nodes = 0;
        let mut at = self.first(top);
        while let Some(id) = at {
            n_nodes += 1;
            if let Data::Text(text) = self.data(id) {
                each(text);
            }
            at = self.first(id).or_else(|| self.behind(id, top));
        }
        n_nodes
    }

    fn node(&self, id: u32) -> Option<&Node> {
        self.nodes.get(id as usize)
    }
}

const fn some(id: u32) -> Option<Id> {
    if id == NONE { None } else { Some(Id(id)) }
}

/// What the parser builds into.
#[derive(Debug)]
pub(super) struct Sink {
    nodes: RefCell<Vec<Node>>,
    /// The element that was last appended, or appended to.
    deepest: Cell<u32>,
}

impl Sink {
    pub(super) fn new(n_bytes: usize) -> Self {
        let mut nodes = Vec::with_capacity(n_bytes / 16 + 16);
        nodes.push(Node::new(Data::Document));
        Self { nodes: RefCell::new(nodes), deepest: Cell::new(0) }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// How deep the place is where the next element goes, as far as is known.
    pub(super) fn depth(&self) -> u16 {
        self.nodes.borrow().get(self.deepest.get() as usize).map_or(0, |node| node.depth)
    }

    /// An end tag of this name went by: what it closes is not the deepest any more.
    pub(super) fn closed(&self, name: &LocalName) {
        let nodes = self.nodes.borrow();
        let mut at = self.deepest.get();
        while let Some(node) = nodes.get(at as usize) {
            if let Data::Element { name: open, .. } = &node.data
                && open == name
            {
                self.deepest.set(if node.parent == NONE { 0 } else { node.parent });
                return;
            }
            at = node.parent;
        }
    }

    fn push(&self, data: Data) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        let id = u32::try_from(nodes.len()).unwrap_or(NONE);
        nodes.push(Node::new(data));
        Id(id)
    }

    fn push_nothing(&self) -> Handle {
        Handle::without_name(self.push(Data::Nothing))
    }

    fn is(&self, id: Id, test: impl FnOnce(&Data) -> bool) -> bool {
        self.nodes.borrow().get(id.0 as usize).is_some_and(|node| test(&node.data))
    }
}

impl Handle {
    const fn without_name(id: Id) -> Self {
        Self { id, space: ns!(), name: local_name!("") }
    }
}

impl Node {
    const fn new(data: Data) -> Self {
        Self { parent: NONE, previous: NONE, next: NONE, first: NONE, last: NONE, depth: 0, data }
    }
}

/// Takes a node out of its place; what is below it stays below it.
fn detach(nodes: &mut [Node], id: u32) {
    let Some(node) = nodes.get_mut(id as usize) else { return };
    let (parent, previous, next) = (node.parent, node.previous, node.next);
    (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    if let Some(before) = nodes.get_mut(previous as usize) {
        before.next = next;
    } else if let Some(above) = nodes.get_mut(parent as usize) {
        above.first = next;
    }
    if let Some(after) = nodes.get_mut(next as usize) {
        after.previous = previous;
    } else if let Some(above) = nodes.get_mut(parent as usize) {
        above.last = previous;
    }
}

/// Puts a node that has no place below `parent`, before `next` or at the end.
fn attach(nodes: &mut [Node], id: u32, parent: u32, next: u32) {
    let Some(above) = nodes.get(parent as usize) else { return };
    let depth = above.depth.saturating_add(1);
    let previous = nodes.get(next as usize).map_or(above.last, |after| after.previous);
    if let Some(node) = nodes.get_mut(id as usize) {
        (node.parent, node.previous, node.next, node.depth) = (parent, previous, next, depth);
    }
    if let Some(before) = nodes.get_mut(previous as usize) {
        before.next = id;
    } else if let Some(above) = nodes.get_mut(parent as usize) {
        above.first = id;
    }
    if let Some(after) = nodes.get_mut(next as usize) {
        after.previous = id;
    } else if let Some(above) = nodes.get_mut(parent as usize) {
        above.last = id;
    }
}

/// Puts text there, or adds it to the text that is there.
fn attach_text(nodes: &mut Vec<Node>, text: StrTendril, parent: u32, next: u32) {
    let before = match nodes.get(next as usize) {
        Some(after) => after.previous,
        None => nodes.get(parent as usize).map_or(NONE, |above| above.last),
    };
    if let Some(Node { data: Data::Text(there), .. }) = nodes.get_mut(before as usize) {
        there.push_tendril(&text);
        return;
    }
    let id = u32::try_from(nodes.len()).unwrap_or(NONE);
    nodes.push(Node::new(Data::Text(text)));
    attach(nodes, id, parent, next);
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Tree;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Tree {
        Tree { nodes: self.nodes.into_inner() }
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle::without_name(ROOT)
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        ExpandedName { ns: &target.space, local: &target.name }
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> Handle {
        let (role, mut looks) = (role_of(&name), attributes::look(&attributes));
        if role == Role::Unmarked {
            looks.code = looks.code.max(likeness_of_name(&name.local));
        }
        let QualName { ns: space, local: name, .. } = name;
        let id = self.push(Data::Element { name: name.clone(), attributes, role, looks });
        Handle { id, space, name }
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        self.push_nothing()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        self.push_nothing()
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let mut nodes = self.nodes.borrow_mut();
        match child {
            NodeOrText::AppendNode(Handle { id, .. }) => {
                attach(&mut nodes, id.0, parent.id.0, NONE);
                self.deepest.set(id.0);
            }
            NodeOrText::AppendText(text) => {
                attach_text(&mut nodes, text, parent.id.0, NONE);
                self.deepest.set(parent.id.0);
            }
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let placed =
            self.nodes.borrow().get(element.id.0 as usize).is_some_and(|node| node.parent != NONE);
        if placed {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        // A template is dropped with all that is in it, so that it needs no document of its own.
        target.clone()
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let mut nodes = self.nodes.borrow_mut();
        let parent = nodes.get(sibling.id.0 as usize).map_or(NONE, |node| node.parent);
        match child {
            NodeOrText::AppendNode(Handle { id, .. }) => {
                detach(&mut nodes, id.0);
                attach(&mut nodes, id.0, parent, sibling.id.0);
                self.deepest.set(id.0);
            }
            NodeOrText::AppendText(text) => {
                attach_text(&mut nodes, text, parent, sibling.id.0);
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, more: Vec<Attribute>) {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(Node { data: Data::Element { attributes, looks, .. }, .. }) =
            nodes.get_mut(target.id.0 as usize)
        {
            let n_before = attributes.len();
            // `<body>` may come again and again, and each time bring others.
            for attribute in more {
                if MAX_ATTRIBUTES <= attributes.len() {
                    break;
                }
                if !attributes.iter().any(|there| there.name == attribute.name) {
                    attributes.push(attribute);
                }
            }
            if n_before < attributes.len() {
                *looks = attributes::look(attributes);
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        detach(&mut self.nodes.borrow_mut(), target.id.0);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut nodes = self.nodes.borrow_mut();
        while let Some(child) = nodes.get(node.id.0 as usize).and_then(|node| some(node.first)) {
            detach(&mut nodes, child.0);
            attach(&mut nodes, child.0, new_parent.id.0, NONE);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Handle) -> bool {
        self.is(target.id, |data| {
            let Data::Element { name, attributes, .. } = data else { return false };
            *name == local_name!("annotation-xml")
                && attributes.iter().any(|attribute| {
                    attribute.name.local == local_name!("encoding")
                        && (attribute.value.eq_ignore_ascii_case("text/html")
                            || attribute.value.eq_ignore_ascii_case("application/xhtml+xml"))
                })
        })
    }
}
