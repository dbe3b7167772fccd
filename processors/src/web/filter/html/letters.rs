//! Classes that the page's own style sets in the letters of code, or in lines as they were typed.

use std::collections::HashSet;

use html5ever::local_name;

use super::{
    attributes::{self, Likeness},
    tree::{Data, Tree},
};

/// So much of a page's styles is read.
const MAX_STYLE_BYTES: usize = 64 << 10;
/// So many classes are remembered.
const MAX_CLASSES: usize = 256;

/// Marks the elements of such classes.
pub(super) fn set(tree: &mut Tree) {
    let classes = classes(tree);
    if classes.is_empty() {
        return;
    }
    tree.each_look(|attributes, looks| {
        let class = attributes::value(attributes, "class").unwrap_or_default();
        if class.split_ascii_whitespace().any(|class| classes.contains(class)) {
            looks.code = looks.code.max(Likeness::Letters);
        }
    });
}

fn classes(tree: &Tree) -> HashSet<String> {
    let mut classes = HashSet::new();
    let mut left = MAX_STYLE_BYTES;
    for id in tree.ids() {
        if tree.element(id).is_none_or(|(name, _)| *name != local_name!("style")) {
            continue;
        }
        let mut at = tree.first(id);
        while let Some(child) = at {
            if let Data::Text(text) = tree.data(child) {
                let end = text.floor_char_boundary(left.min(text.len()));
                let style = text.get(..end).unwrap_or_default();
                left -= style.len();
                read(style, &mut classes);
            }
            at = tree.next(child);
        }
    }
    classes
}

/// Reads `.name { … }`, `p.name, div.other { … }`; of a longer selector, its last part.
fn read(style: &str, classes: &mut HashSet<String>) {
    for rule in style.split('}') {
        let Some((selectors, declarations)) = rule.rsplit_once('{') else { continue };
        if !attributes::is_set_in_code_letters(declarations) {
            continue;
        }
        // What stands in an `@media` has that before it.
        let selectors = selectors.rsplit(['{', ';']).next().unwrap_or_default();
        for selector in selectors.split(',') {
            let last = selector.split_whitespace().next_back().unwrap_or_default();
            let Some((_, name)) = last.split_once('.') else { continue };
            let is_name = !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            if is_name && classes.len() < MAX_CLASSES {
                classes.insert(name.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_rules_of_classes_are_read() {
        let mut classes = HashSet::new();
        read(
            "/* x */ .a { font-family: 'Courier New', monospace } p.b, div.c{white-space:pre}\n\
             .d { color: red } @media print { .e { font: 12px Menlo } } .f .g { white-space: pre; }\n\
             .h { white-space: pre-line } .j { white-space: pre-wrap } .i:hover { font-family: mono }",
            &mut classes,
        );
        let mut classes: Vec<&str> = classes.iter().map(String::as_str).collect();
        classes.sort_unstable();
        assert_eq!(classes, ["a", "b", "c", "e", "g"]);
    }
}
