//! What attributes say about an element: that it is code, hidden, or a column of line numbers.

use html5ever::{Attribute, local_name};

/// What the attributes of an element say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Looks {
    pub(super) hidden: bool,
    pub(super) gutter: Gutter,
    pub(super) code: Likeness,
}

/// Whether an element is one of line numbers, copy buttons and the like, beside code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gutter {
    #[default]
    None,
    /// If there is nothing but numbers in it: columns of a page are called so, too.
    OfNumbers,
    Sure,
}

/// How much an element looks like code by its attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    #[default]
    None,
    /// A listing, if there are lines in it.
    Listing,
    /// A part of a signature, if there are signs of one in it, or the name of a class or a chapter.
    Member,
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

/// Whether anybody asks for an attribute of this name: this filter, or the standard.
pub(super) fn is_read(name: &str) -> bool {
    const READ: [&str; 12] = [
        "class",
        "style",
        "href",
        "alt",
        "hidden",
        "face",
        "itemtype",
        "lang",
        "data-lang",
        "data-language",
        "type",
        "encoding",
    ];
    READ.iter().any(|read| read.eq_ignore_ascii_case(name))
}

/// Reads what the attributes say.
pub(super) fn look(attributes: &[Attribute]) -> Looks {
    let mut looks = Looks::default();
    for attribute in attributes {
        let value: &str = &attribute.value;
        match attribute.name.local {
            local_name!("class") => look_at_classes(value, &mut looks),
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

/// What a class says of an element.
#[derive(Debug, Clone, Copy)]
enum Said {
    Code(Likeness),
    Gutter(Gutter),
    Hidden,
}

/// Classes in lower case, and what they say.
const CLASSES: [(Said, &[&str]); 8] = [
    (
        Said::Code(Likeness::Strong),
        &[
            "codehilite",
            "sourcecode",
            "hljs",
            "prism",
            "prism-code",
            "code-toolbar",
            "codeblock",
            "code-block",
            "code_block",
            "codebox",
            "code-box",
            "syntaxhighlighter",
            "highlighttable",
            "highlight-table",
            "rouge-table",
            "rouge-code",
            "monaco-editor",
            "ace_editor",
            "ace_line",
            "ace_content",
            "cm-editor",
            "cm-content",
            "cm-line",
            "view-line",
            "view-lines",
            "blob-code",
            "blob-code-inner",
            "js-file-line",
            "code-wrapper",
            "codewrapper",
            "code-snippet",
            "codesnippet",
            "code-example",
            "chroma",
            "shiki",
            "torchlight",
            "gist-data",
            "mw-highlight",
            "mw-geshi",
            "mw-code",
            "classsynopsis",
            "example-wrap",
            "item-decl",
            "doctest",
            "codelisting",
            "code-listing",
            "sourceline",
            "console-code",
            "literal-block",
            "code-container",
            "snippet-code",
            "syntax-highlight",
            "w3-code",
            "enlighter",
            "enlighterjsraw",
            "wp-block-code",
            "wp-block-preformatted",
            "brush:",
        ],
    ),
    (
        Said::Code(Likeness::Weak),
        &[
            "highlight",
            "code",
            "syntax",
            "codetext",
            "monospace",
            "mono",
            "font-mono",
            "snippet",
            "listing",
            "source",
            "src",
            "terminal",
            "console",
            "shell",
            "output",
            "programlisting",
            "example-code",
            "literal",
            "pre",
            "example",
            "sample",
        ],
    ),
    (
        Said::Code(Likeness::Signature),
        &[
            "sig",
            "code-header",
            "member-signature",
            "method-signature",
            "signature",
            // PHP's manual.
            "methodsynopsis",
            "constructorsynopsis",
            "destructorsynopsis",
            "fieldsynopsis",
            // Doxygen.
            "memproto",
            "memname",
            "memtemplparams",
            "memtemplitemleft",
            "memtemplitemright",
            // RDoc.
            "method-callseq",
            "method-heading",
        ],
    ),
    (Said::Code(Likeness::Member), &["memitemleft", "memitemright"]),
    (Said::Code(Likeness::Listing), &["fragment"]),
    (Said::Gutter(Gutter::OfNumbers), &["gutter"]),
    (
        Said::Gutter(Gutter::Sure),
        &[
            "linenos",
            "lineno",
            "linenumber",
            "line-number",
            "line-numbers-rows",
            "linenodiv",
            "rouge-gutter",
            "ace_gutter",
            "cm-gutters",
            "codemirror-gutters",
            "blob-num",
            "copybtn",
            "copy-btn",
            "copy-button",
            "btn-copy",
            "copy-code-button",
            "headerlink",
            "line-numbers-wrapper",
            "src-line-numbers",
        ],
    ),
    (Said::Hidden, &["d-none", "display-none", "is-hidden"]),
];
const MAX_CLASS_BYTES: usize = 40;

/// For each length, the letters that classes begin with which are that long: a bit for each.
static BEGINNINGS: [u32; MAX_CLASS_BYTES + 1] = {
    let mut beginnings = [0; MAX_CLASS_BYTES + 1];
    let mut group = 0;
    while group < CLASSES.len() {
        let classes = CLASSES[group].1;
        let mut class = 0;
        while class < classes.len() {
            let name = classes[class].as_bytes();
            beginnings[name.len()] |= 1 << letter(name[0]);
            class += 1;
        }
        group += 1;
    }
    beginnings
};

/// The same for a letter in both cases.
const fn letter(byte: u8) -> u8 {
    byte & 31
}

fn look_at_classes(classes: &str, looks: &mut Looks) {
    let mut hidden = false;
    for class in classes.split_ascii_whitespace() {
        match said(class) {
            Some(Said::Code(likeness)) => looks.code = looks.code.max(likeness),
            Some(Said::Gutter(gutter)) => looks.gutter = looks.gutter.max(gutter),
            Some(Said::Hidden) => hidden = true,
            None => {}
        }
    }
    looks.hidden |= hidden && !is_shown_somewhere(classes);
}

/// Whether it is hidden on narrow screens only: `d-none d-md-block`.
fn is_shown_somewhere(classes: &str) -> bool {
    classes.split_ascii_whitespace().any(|class| {
        let Some((size, how)) = class.strip_prefix("d-").and_then(|rest| rest.split_once('-'))
        else {
            return false;
        };
        matches!(size, "sm" | "md" | "lg" | "xl" | "xxl")
            && ["block", "flex", "grid", "inline", "table"]
                .iter()
                .any(|shown| how.starts_with(shown))
    })
}

/// What a class says, if it is known: most are not, and pages are full of them.
fn said(class: &str) -> Option<Said> {
    const HIGHLIGHTERS: [&str; 5] =
        ["crayon-", "codemirror", "highlight-source-", "hljs-", "syntaxhighlighter"];
    let first = class.bytes().next()?;
    let beginnings = BEGINNINGS.get(class.len())?;
    if beginnings >> letter(first) & 1 == 1 {
        let is_among = |known: &&[&str]| known.iter().any(|it| it.eq_ignore_ascii_case(class));
        let known = CLASSES.iter().find(|(_, classes)| is_among(classes));
        if let Some((said, _)) = known {
            return Some(*said);
        }
    }
    if !matches!(first.to_ascii_lowercase(), b'c' | b'h' | b's' | b'l') {
        return None;
    }
    let behind = |prefix: &str| {
        let begin = class.get(..prefix.len())?;
        begin.eq_ignore_ascii_case(prefix).then(|| class.get(prefix.len()..).unwrap_or_default())
    };
    let is_highlighters = HIGHLIGHTERS.iter().any(|prefix| behind(prefix).is_some());
    let names_language = || {
        ["language-", "lang-"].iter().any(|prefix| {
            behind(prefix).is_some_and(|name| {
                2 < name.len() && crate::web::filter::language::named(name).is_some()
            })
        })
    };
    (is_highlighters || names_language()).then_some(Said::Code(Likeness::Strong))
}

fn look_at_style(style: &str, looks: &mut Looks) {
    let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
    let style = style.to_ascii_lowercase();
    if style.contains("display:none") || style.contains("visibility:hidden") {
        looks.hidden = true;
    }
    if has_code_letters(&style) {
        looks.code = looks.code.max(Likeness::Letters);
    }
}

/// Whether declarations set a text in the letters of code, or keep its blanks.
pub(super) fn is_set_in_code_letters(style: &str) -> bool {
    let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
    let style = style.to_ascii_lowercase();
    // What somebody wrote into a form is shown as `pre-wrap`, and mostly prose.
    style.split(';').any(|rule| {
        has_code_letters(rule) && !rule.contains("pre-wrap") && !rule.contains("break-spaces")
    })
}

/// The same of declarations in small letters and without blanks.
fn has_code_letters(style: &str) -> bool {
    style.split(';').any(|rule| match rule.split_once(':') {
        Some(("white-space" | "white-space-collapse", how)) => {
            how.starts_with("pre") && !how.starts_with("pre-line")
                || how.starts_with("break-spaces")
        }
        Some(("font" | "font-family", family)) => is_monospace(family),
        _ => false,
    })
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
    // A hand of the firm Monotype has letters of all widths.
    let mut families = family.split(',').filter(|family| !family.contains("monotype"));
    families.any(|family| FAMILIES.iter().any(|name| family.contains(name)))
}
