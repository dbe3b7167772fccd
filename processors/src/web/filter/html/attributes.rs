//! What attributes say about an element: that it is code, hidden, or a column of line numbers.

use html5ever::{Attribute, local_name};

/// What the attributes of an element say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Looks {
    pub(super) hidden: bool,
    /// Line numbers, copy buttons and the like, beside code.
    pub(super) gutter: bool,
    pub(super) code: Likeness,
}

/// How much an element looks like code by its attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    #[default]
    None,
    /// A signature of an API.
    Signature,
    /// A name that is also used around prose.
    Weak,
    /// Set in the letters of code.
    Letters,
    /// The wrapper of a highlighter or an editor.
    Strong,
}

impl Looks {
    /// Whether nothing special is said.
    pub(super) fn is_plain(self) -> bool {
        self == Self::default()
    }
}

/// Reads what the attributes say.
pub(super) fn look(attributes: &[Attribute]) -> Looks {
    let mut looks = Looks::default();
    for attribute in attributes {
        let value: &str = &attribute.value;
        match attribute.name.local {
            local_name!("class") => {
                for class in value.split_ascii_whitespace() {
                    look_at_class(class, &mut looks);
                }
            }
            local_name!("style") => look_at_style(value, &mut looks),
            local_name!("hidden") => looks.hidden |= !value.eq_ignore_ascii_case("until-found"),
            local_name!("face") if is_monospace(value) => {
                looks.code = looks.code.max(Likeness::Letters);
            }
            local_name!("itemtype") if value.ends_with("/SoftwareSourceCode") => {
                looks.code = looks.code.max(Likeness::Strong);
            }
            _ => {}
        }
    }
    looks
}

/// The value of an attribute.
pub(super) fn value<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a str> {
    attributes.iter().find(|attribute| *attribute.name.local == *name).map(|found| &*found.value)
}

fn look_at_class(class: &str, looks: &mut Looks) {
    const MAX_CLASS_BYTES: usize = 40;
    if MAX_CLASS_BYTES < class.len() {
        return;
    }
    let lower;
    let class = if class.bytes().any(|byte| byte.is_ascii_uppercase()) {
        lower = class.to_ascii_lowercase();
        lower.as_str()
    } else {
        class
    };
    let likeness = match class {
        "codehilite"
        | "sourcecode"
        | "hljs"
        | "prism"
        | "prism-code"
        | "code-toolbar"
        | "codeblock"
        | "code-block"
        | "code_block"
        | "codebox"
        | "code-box"
        | "syntaxhighlighter"
        | "highlighttable"
        | "highlight-table"
        | "rouge-table"
        | "rouge-code"
        | "monaco-editor"
        | "ace_editor"
        | "ace_line"
        | "ace_content"
        | "cm-editor"
        | "cm-content"
        | "cm-line"
        | "view-line"
        | "view-lines"
        | "blob-code"
        | "blob-code-inner"
        | "js-file-line"
        | "code-wrapper"
        | "codewrapper"
        | "code-snippet"
        | "codesnippet"
        | "code-example"
        | "chroma"
        | "shiki"
        | "torchlight"
        | "gist-data"
        | "mw-highlight"
        | "example-wrap"
        | "item-decl"
        | "doctest"
        | "codelisting"
        | "code-listing"
        | "sourceline"
        | "console-code"
        | "literal-block"
        | "code-container"
        | "snippet-code"
        | "syntax-highlight"
        | "w3-code"
        | "enlighter"
        | "enlighterjsraw"
        | "wp-block-code"
        | "wp-block-preformatted"
        | "brush:" => Likeness::Strong,
        "highlight" | "code" | "syntax" | "codetext" | "monospace" | "mono" | "font-mono"
        | "snippet" | "listing" | "source" | "src" | "terminal" | "console" | "shell"
        | "output" | "programlisting" | "example-code" | "literal" | "pre" | "example"
        | "sample" => Likeness::Weak,
        "sig" | "code-header" | "member-signature" | "method-signature" | "signature" => {
            Likeness::Signature
        }
        "linenos"
        | "lineno"
        | "linenumber"
        | "line-number"
        | "line-numbers-rows"
        | "linenodiv"
        | "gutter"
        | "rouge-gutter"
        | "ace_gutter"
        | "cm-gutters"
        | "codemirror-gutters"
        | "blob-num"
        | "copybtn"
        | "copy-btn"
        | "copy-button"
        | "btn-copy"
        | "copy-code-button"
        | "headerlink"
        | "line-numbers-wrapper"
        | "src-line-numbers" => {
            looks.gutter = true;
            return;
        }
        "d-none" | "display-none" | "is-hidden" => {
            looks.hidden = true;
            return;
        }
        _ if ["crayon-", "codemirror", "highlight-source-", "hljs-", "syntaxhighlighter"]
            .iter()
            .any(|prefix| class.starts_with(prefix)) =>
        {
            Likeness::Strong
        }
        _ if ["language-", "lang-"].iter().any(|prefix| {
            class.strip_prefix(prefix).is_some_and(|name| {
                2 < name.len() && crate::web::filter::language::named(name).is_some()
            })
        }) =>
        {
            Likeness::Strong
        }
        _ => return,
    };
    looks.code = looks.code.max(likeness);
}

fn look_at_style(style: &str, looks: &mut Looks) {
    let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
    let style = style.to_ascii_lowercase();
    if style.contains("display:none") || style.contains("visibility:hidden") {
        looks.hidden = true;
    }
    let letters = style.split(';').any(|rule| match rule.split_once(':') {
        Some(("white-space" | "white-space-collapse", how)) => {
            how.starts_with("pre") && !how.starts_with("pre-line")
                || how.starts_with("break-spaces")
        }
        Some(("font" | "font-family", family)) => is_monospace(family),
        _ => false,
    });
    if letters {
        looks.code = looks.code.max(Likeness::Letters);
    }
}

fn is_monospace(family: &str) -> bool {
    const FAMILIES: [&str; 12] = [
        "monospace",
        "courier",
        "consolas",
        "menlo",
        "monaco",
        "mono",
        "fixed",
        "lucidaconsole",
        "andalemono",
        "firacode",
        "inconsolata",
        "terminal",
    ];
    let family = family.to_ascii_lowercase();
    FAMILIES.iter().any(|name| family.contains(name))
}
