//! What each element is to the filter.

use std::{collections::HashMap, sync::LazyLock};

use html5ever::{LocalName, QualName, ns};

use crate::web::filter::document::{Container, Inline};

/// What an element means, before its attributes are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Words around its text, which stay without it. Also whatever nobody knows.
    Unmarked,
    /// A part of the page: its text stands apart from what is around it.
    Block,
    Heading(u8),
    Paragraph,
    Holds(Container),
    Link,
    Inline(Inline),
    Break,
    /// Blank space between parts.
    Rule,
    /// Nothing to read, and nothing in it.
    Void,
    Image,
    /// A block of code.
    Code,
    /// Code within a sentence, mostly.
    Span,
    /// Nothing that is read: scripts, styles, forms, pictures, frames.
    Unseen,
    /// The title of the page.
    Title,
}

impl Role {
    /// Whether nothing can be in it.
    pub(super) const fn is_void(self) -> bool {
        matches!(self, Self::Break | Self::Rule | Self::Void | Self::Image)
    }
}

static ROLES: LazyLock<HashMap<LocalName, Role>> = LazyLock::new(|| {
    let groups: &[(Role, &[&str])] = &[
        (
            Role::Block,
            &[
                "html",
                "body",
                "div",
                "section",
                "article",
                "main",
                "header",
                "footer",
                "nav",
                "aside",
                "address",
                "center",
                "fieldset",
                "legend",
                "figure",
                "figcaption",
                "details",
                "summary",
                "hgroup",
                "search",
                "form",
                "dialog",
                "tbody",
                "thead",
                "tfoot",
                "optgroup",
                "frameset",
                "marquee",
                "slot",
            ],
        ),
        (Role::Heading(1), &["h1"]),
        (Role::Heading(2), &["h2"]),
        (Role::Heading(3), &["h3"]),
        (Role::Heading(4), &["h4"]),
        (Role::Heading(5), &["h5"]),
        (Role::Heading(6), &["h6"]),
        (Role::Paragraph, &["p"]),
        (Role::Holds(Container::List { ordered: false }), &["ul", "menu", "dir"]),
        (Role::Holds(Container::List { ordered: true }), &["ol"]),
        (Role::Holds(Container::Item), &["li"]),
        (Role::Holds(Container::Quote), &["blockquote"]),
        (Role::Holds(Container::Definitions), &["dl"]),
        (Role::Holds(Container::Term), &["dt"]),
        (Role::Holds(Container::Definition), &["dd"]),
        (Role::Holds(Container::Table), &["table"]),
        (Role::Holds(Container::Caption), &["caption"]),
        (Role::Holds(Container::Row), &["tr"]),
        (Role::Holds(Container::Cell { heading: false }), &["td"]),
        (Role::Holds(Container::Cell { heading: true }), &["th"]),
        (Role::Link, &["a"]),
        (Role::Inline(Inline::Strong), &["b", "strong"]),
        (Role::Inline(Inline::Emphasis), &["i", "em", "cite", "dfn"]),
        (Role::Inline(Inline::Deleted), &["s", "del", "strike"]),
        (Role::Inline(Inline::Sub), &["sub"]),
        (Role::Inline(Inline::Sup), &["sup"]),
        (Role::Break, &["br"]),
        (Role::Rule, &["hr"]),
        (
            Role::Void,
            &[
                "wbr", "col", "meta", "link", "base", "input", "area", "param", "source", "track",
                "embed", "frame",
            ],
        ),
        (Role::Image, &["img"]),
        (
            Role::Code,
            &[
                "pre",
                "xmp",
                "listing",
                "plaintext",
                "textarea",
                "programlisting",
                "screen",
                "literallayout",
                "synopsis",
                "funcsynopsis",
                "cmdsynopsis",
                "codeblock",
                "sourcecode",
                "artwork",
            ],
        ),
        (Role::Span, &["code", "samp", "kbd", "tt", "literal", "userinput", "computeroutput"]),
        (
            Role::Unseen,
            &[
                "script",
                "style",
                "template",
                "noscript",
                "iframe",
                "object",
                "applet",
                "select",
                "datalist",
                "canvas",
                "audio",
                "video",
                "head",
                "colgroup",
                "map",
                "noembed",
                "noframes",
                "svg",
                "annotation",
                "annotation-xml",
                "portal",
                "fencedframe",
                "selectedcontent",
                "rp",
            ],
        ),
        (Role::Title, &["title"]),
    ];
    let pairs = groups
        .iter()
        .flat_map(|(role, names)| names.iter().map(move |name| (LocalName::from(*name), *role)));
    pairs.collect()
});

/// The role of an element of HTML.
pub(super) fn role_of_html(name: &LocalName) -> Role {
    ROLES.get(name).copied().unwrap_or(Role::Unmarked)
}

/// The role of an element.
pub(super) fn role_of(name: &QualName) -> Role {
    if name.ns == ns!(svg) {
        return Role::Unseen;
    }
    role_of_html(&name.local)
}
