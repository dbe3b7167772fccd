//! What each element is to the filter.

use html5ever::{LocalName, QualName, local_name, ns};

use super::attributes::Likeness;
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

/// The role of an element of HTML.
pub(super) fn role_of_html(name: &LocalName) -> Role {
    match *name {
        local_name!("html")
        | local_name!("body")
        | local_name!("div")
        | local_name!("section")
        | local_name!("article")
        | local_name!("main")
        | local_name!("header")
        | local_name!("footer")
        | local_name!("nav")
        | local_name!("aside")
        | local_name!("address")
        | local_name!("center")
        | local_name!("fieldset")
        | local_name!("legend")
        | local_name!("figure")
        | local_name!("figcaption")
        | local_name!("details")
        | local_name!("summary")
        | local_name!("hgroup")
        | local_name!("search")
        | local_name!("form")
        | local_name!("dialog")
        | local_name!("tbody")
        | local_name!("thead")
        | local_name!("tfoot")
        | local_name!("optgroup")
        | local_name!("frameset")
        | local_name!("marquee")
        | local_name!("slot") => Role::Block,
        local_name!("h1") => Role::Heading(1),
        local_name!("h2") => Role::Heading(2),
        local_name!("h3") => Role::Heading(3),
        local_name!("h4") => Role::Heading(4),
        local_name!("h5") => Role::Heading(5),
        local_name!("h6") => Role::Heading(6),
        local_name!("p") => Role::Paragraph,
        local_name!("ul") | local_name!("menu") | local_name!("dir") => {
            Role::Holds(Container::List { ordered: false })
        }
        local_name!("ol") => Role::Holds(Container::List { ordered: true }),
        local_name!("li") => Role::Holds(Container::Item),
        local_name!("blockquote") => Role::Holds(Container::Quote),
        local_name!("dl") => Role::Holds(Container::Definitions),
        local_name!("dt") => Role::Holds(Container::Term),
        local_name!("dd") => Role::Holds(Container::Definition),
        local_name!("table") => Role::Holds(Container::Table),
        local_name!("caption") => Role::Holds(Container::Caption),
        local_name!("tr") => Role::Holds(Container::Row),
        local_name!("td") => Role::Holds(Container::Cell { heading: false }),
        local_name!("th") => Role::Holds(Container::Cell { heading: true }),
        local_name!("a") => Role::Link,
        local_name!("b") | local_name!("strong") => Role::Inline(Inline::Strong),
        local_name!("i") | local_name!("em") | local_name!("cite") | local_name!("dfn") => {
            Role::Inline(Inline::Emphasis)
        }
        local_name!("s") | local_name!("del") | local_name!("strike") => {
            Role::Inline(Inline::Deleted)
        }
        local_name!("sub") => Role::Inline(Inline::Sub),
        local_name!("sup") => Role::Inline(Inline::Sup),
        local_name!("br") => Role::Break,
        local_name!("hr") => Role::Rule,
        local_name!("wbr")
        | local_name!("col")
        | local_name!("meta")
        | local_name!("link")
        | local_name!("base")
        | local_name!("input")
        | local_name!("area")
        | local_name!("param")
        | local_name!("source")
        | local_name!("track")
        | local_name!("embed")
        | local_name!("frame") => Role::Void,
        local_name!("img") => Role::Image,
        local_name!("pre")
        | local_name!("xmp")
        | local_name!("listing")
        | local_name!("plaintext")
        | local_name!("textarea") => Role::Code,
        local_name!("code") | local_name!("samp") | local_name!("kbd") | local_name!("tt") => {
            Role::Span
        }
        local_name!("script")
        | local_name!("style")
        | local_name!("template")
        | local_name!("noscript")
        | local_name!("iframe")
        | local_name!("object")
        | local_name!("applet")
        | local_name!("select")
        | local_name!("datalist")
        | local_name!("canvas")
        | local_name!("audio")
        | local_name!("video")
        | local_name!("head")
        | local_name!("colgroup")
        | local_name!("map")
        | local_name!("noembed")
        | local_name!("noframes")
        | local_name!("svg")
        | local_name!("annotation")
        | local_name!("annotation-xml")
        | local_name!("selectedcontent")
        | local_name!("rp") => Role::Unseen,
        local_name!("title") => Role::Title,
        _ => role_of_rare(name),
    }
}

/// The role of an element that is none of HTML, or hardly one.
fn role_of_rare(name: &str) -> Role {
    match name {
        "programlisting" | "screen" | "literallayout" | "synopsis" | "funcsynopsis"
        | "cmdsynopsis" | "codeblock" | "sourcecode" | "artwork" | "syntaxhighlight"
        | "programlistingco" | "screenco" | "msgblock" | "preformat" | "codelisting"
        | "codesnippet" => Role::Code,
        "literal" | "userinput" | "computeroutput" | "codeph" | "systemoutput" => Role::Span,
        "portal" | "fencedframe" => Role::Unseen,
        // Feeds, DocBook, JATS, DITA.
        "item" | "entry" | "description" | "content" | "content:encoded" | "chapter" | "sect1"
        | "sect2" | "sect3" | "sec" | "topic" | "conbody" | "taskbody" | "refbody" | "note" => {
            Role::Block
        }
        "para" | "simpara" | "formalpara" => Role::Paragraph,
        "itemizedlist" => Role::Holds(Container::List { ordered: false }),
        "orderedlist" => Role::Holds(Container::List { ordered: true }),
        "listitem" => Role::Holds(Container::Item),
        _ => Role::Unmarked,
    }
}

/// The role of an element.
pub(super) fn role_of(name: &QualName) -> Role {
    if name.ns == ns!(svg) {
        return Role::Unseen;
    }
    role_of_html(&name.local)
}

/// Whether an element of HTML or of formulas without a role of its own may stand within a word.
pub(super) fn is_within_words(name: &str) -> bool {
    const NAMES: [&str; 52] = [
        "span",
        "small",
        "big",
        "u",
        "mark",
        "abbr",
        "acronym",
        "font",
        "ins",
        "q",
        "time",
        "var",
        "bdi",
        "bdo",
        "ruby",
        "rb",
        "rt",
        "rtc",
        "label",
        "button",
        "output",
        "data",
        "nobr",
        "meter",
        "progress",
        "blink",
        "math",
        "mi",
        "mo",
        "mn",
        "ms",
        "mtext",
        "mrow",
        "msup",
        "msub",
        "msubsup",
        "mfrac",
        "msqrt",
        "mroot",
        "mover",
        "munder",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mspace",
        "mpadded",
        "mphantom",
        "menclose",
        "semantics",
        "merror",
    ];
    NAMES.contains(&name)
}

/// What the name of an element says that nobody knows: that it holds code (`rh-code`, `x:code`,
/// `my-code-block`), or that it may (`text-highlight`, `pre-header`, and `example`, which has prose in it as
/// often).
pub(super) fn likeness_of_name(name: &LocalName) -> Likeness {
    const CODE: [&str; 9] = [
        "code",
        "codeblock",
        "snippet",
        "codesnippet",
        "sourcecode",
        "syntaxhighlighter",
        "hljs",
        "prism",
        "shiki",
    ];
    const MAYBE: [&str; 6] = ["highlight", "highlighter", "pre", "listing", "terminal", "syntax"];
    let name: &str = name;
    if name == "example" {
        return Likeness::Letters;
    }
    if !name.contains(['-', ':', '_']) {
        return Likeness::None;
    }
    let mut parts = name.split(['-', ':', '_']);
    if parts.clone().any(|part| CODE.contains(&part)) || parts.clone().next_back() == Some("pre") {
        Likeness::Letters
    } else if parts.any(|part| MAYBE.contains(&part)) {
        Likeness::Weak
    } else {
        Likeness::None
    }
}
