//! Marks of code that are written as text: `&lt;pre&gt;`, fences and backticks in decoded prose.

use super::{Removal, blocks::MAX_OPEN, within};

const TAGS: [&str; 14] = [
    "pre",
    "code",
    "samp",
    "kbd",
    "tt",
    "xmp",
    "listing",
    "plaintext",
    "textarea",
    "script",
    "style",
    "template",
    "iframe",
    "svg",
];
const ENDS: [&str; 3] = [">", "&gt;", "&amp;gt;"];
const MAX_TAG_BYTES: usize = 400;

/// Finds them, in order. `ticks`: whether single backticks are marks.
pub(super) fn find(text: &str, ticks: bool) -> Vec<Removal> {
    let mut found = Vec::new();
    let mut open = Open::default();
    let mut n_open = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(step) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| matches!(byte, b'<' | b'&' | b'`' | b'~')))
    {
        let start = at + step;
        let rest = text.get(start..).unwrap_or_default();
        let end = match bytes.get(start) {
            Some(b'`' | b'~') => {
                let run = run_length(rest);
                if 3 <= run && begins_line(text, start) {
                    fence(text, start, run, &mut n_open)
                } else if ticks && rest.starts_with('`') {
                    span(text, start, run)
                } else {
                    None
                }
            }
            _ => tag(text, start, &mut open),
        };
        match end {
            Some(end) => {
                let code = text.get(start..end).unwrap_or_default();
                let n_lines =
                    code.split(['\n', '\r']).filter(|line| !line.trim().is_empty()).count();
                let inline = n_lines < 2;
                found.push(Removal { range: start..end, n_lines: n_lines.max(1), inline });
                at = end;
            }
            None if rest.starts_with(['`', '~']) => at = start + run_length(rest),
            None => at = start + 1,
        }
    }
    found
}

fn run_length(text: &str) -> usize {
    let first = text.bytes().next();
    text.bytes().take_while(|byte| Some(*byte) == first).count()
}

fn begins_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end_matches(' ');
    before.is_empty() || before.ends_with(['\n', '\r'])
}

/// The end of a fence: that of the line that closes it, or of the text. A row of tildes may be an ornament.
fn fence(text: &str, start: usize, run: usize, n_open: &mut usize) -> Option<usize> {
    let mark = text.get(start..=start).unwrap_or_default();
    if mark == "~" && MAX_OPEN <= *n_open {
        return None;
    }
    let mut at = start + run;
    while let Some(step) = text.get(at..).and_then(|rest| rest.find(mark)) {
        let here = at + step;
        let n = run_length(text.get(here..).unwrap_or_default());
        if run <= n && begins_line(text, here) {
            return Some(here + n);
        }
        at = here + n;
    }
    if mark == "~" {
        *n_open += 1;
        return None;
    }
    Some(text.len())
}

/// The end of a span between runs of backticks of one length.
fn span(text: &str, start: usize, run: usize) -> Option<usize> {
    const MAX_SPAN_BYTES: usize = 400;
    let mut at = start + run;
    while let Some(step) = text.get(at..).and_then(|rest| rest.find('`')) {
        let here = at + step;
        if start + MAX_SPAN_BYTES < here {
            return None;
        }
        let n = run_length(within(text.get(here..).unwrap_or_default(), MAX_SPAN_BYTES));
        if n == MAX_SPAN_BYTES {
            return None;
        }
        if n == run {
            // ``quotes'' as TeX has them are no code.
            let inner = text.get(start + run..here).unwrap_or_default();
            let quotes =
                inner.contains("''") || inner.contains('’') || run == 1 && inner.contains("' ");
            return (!quotes && !inner.trim().is_empty()).then_some(here + n);
        }
        at = here + n;
    }
    None
}

/// The elements of which no end stands in what is left of a text: it is not looked for again, or a text of
/// nothing but beginnings took the square of its length.
#[derive(Default)]
struct Open([bool; TAGS.len()]);

/// The end of an escaped element of code, or of a tag that carries attributes.
fn tag(text: &str, start: usize, open_ended: &mut Open) -> Option<usize> {
    let rest = text.get(start..)?;
    let (open, name) = opened(rest)?;
    let name_end =
        name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
    let (name, behind) = name.split_at(name_end);
    if name.is_empty() {
        return None;
    }
    let near = within(behind, MAX_TAG_BYTES + ENDS.map(str::len).into_iter().max().unwrap_or(0));
    let (inside, closing) =
        ENDS.iter().filter_map(|end| near.find(end).map(|at| (at, end.len()))).min()?;
    if MAX_TAG_BYTES < inside {
        return None;
    }
    let tag_end = start + open + name.len() + inside + closing;
    let known = TAGS.iter().zip(&mut open_ended.0).find(|(tag, _)| tag.eq_ignore_ascii_case(name));
    if let Some((_, is_open)) = known {
        let end = if *is_open { None } else { element_end(text, tag_end, name) };
        *is_open = end.is_none();
        return Some(end.unwrap_or(tag_end));
    }
    let attributes = behind.get(..inside)?;
    attributes.contains('=').then_some(tag_end)
}

/// What stands behind `<`, however often it was escaped, and where.
fn opened(text: &str) -> Option<(usize, &str)> {
    for (open, closing) in
        [("<", "/"), ("&lt;", "/"), ("&amp;lt;", "/"), ("&#60;", "/"), ("&#x3c;", "/")]
    {
        if let Some(rest) = text.strip_prefix(open) {
            let rest = rest
                .strip_prefix(closing)
                .map_or((open.len(), rest), |rest| (open.len() + 1, rest));
            return Some(rest);
        }
    }
    None
}

fn element_end(text: &str, from: usize, name: &str) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut at = 0;
    while let Some(step) = rest.get(at..)?.find('/') {
        let here = at + step + 1;
        let behind = rest.get(here..)?;
        if behind.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name)) {
            let behind = behind.get(name.len()..)?;
            for end in ENDS {
                if behind.trim_start().starts_with(end) {
                    let blanks = behind.len() - behind.trim_start().len();
                    return Some(from + here + name.len() + blanks + end.len());
                }
            }
        }
        at = here;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::filter::placeholder;

    fn without(text: &str) -> String {
        let mut kept = String::new();
        let mut at = 0;
        for removal in find(text, true) {
            kept.push_str(&text[at..removal.range.start]);
            kept.push_str(placeholder::SPAN);
            at = removal.range.end;
        }
        kept.push_str(&text[at..]);
        kept
    }

    #[test]
    fn marks_in_decoded_text_are_marks() {
        for (text, left) in [
            ("a <pre>x = 1</pre> b", "a [code] b"),
            ("a <PRE class='x'>x = 1</Pre > b", "a [code] b"),
            ("a &lt;code&gt;x&lt;/code&gt; b", "a [code] b"),
            ("the <pre> element is old", "the [code] element is old"),
            ("git add <pathspec> adds, 1 < 2 > 0", "git add <pathspec> adds, 1 < 2 > 0"),
            ("mail <a@b.example> or see", "mail <a@b.example> or see"),
            ("a <div class=\"x\"> b", "a [code] b"),
            ("use `x` or ``a`b`` now", "use [code] or [code] now"),
            ("``quoted'' and ``quoted''", "``quoted'' and ``quoted''"),
            ("one ` tick", "one ` tick"),
            ("a\n```rust\nlet x;\n```\nb", "a\n[code]\nb"),
            ("a\n~~~~\nx\n~~~\ny\n~~~~", "a\n[code]"),
            ("a\n```\nunclosed", "a\n[code]"),
            ("Part one\r~~~\rPart two", "Part one\r~~~\rPart two"),
        ] {
            assert_eq!(without(text), left, "{text}");
        }
    }

    #[test]
    fn beginnings_without_an_end_are_looked_at_once() {
        // Each takes minutes where every beginning is searched to the end of the text.
        for (beginning, times, n_found) in [
            ("<a", 1 << 20, 0),
            ("&lt;a", 1 << 19, 0),
            ("<pre>", 400_000, 400_000),
            ("&lt;code&gt;", 200_000, 200_000),
            ("<PRE>/pre ", 200_000, 200_000),
        ] {
            assert_eq!(find(&beginning.repeat(times), true).len(), n_found, "{beginning}");
        }
        let open = (3..2000).rev().fold(String::new(), |all, n| all + &"~".repeat(n) + "\r");
        assert!(find(&open, true).is_empty());
        // What ends before another begins is no matter of that one.
        assert_eq!(without("<pre>a</pre> <code>b <pre>c</pre>"), "[code] [code]b [code]");
        let long = format!("<div a='{}'>", "é".repeat(196));
        assert_eq!(without(&long), "[code]");
        assert_ne!(without(&format!("<div a='{}'>", "é".repeat(198))), "[code]");
    }
}
