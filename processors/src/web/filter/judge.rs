//! What is code by its looks, whatever its element says.
//!
//! Two rounds: marks of code that are written as text (escaped tags, backticks, fences), then lines
//! that score like code. The score of a line depends on the line alone, and its neighbours can only
//! make it more of a suspect: what was judged once is judged the same when the code is gone.

mod address;
mod blocks;
mod escaped;
mod inline;
mod line;
mod words;

use std::ops::Range;

use self::line::wrapped_lines;
pub(super) use self::{
    address::address,
    blocks::{Markup, is_ruled, marked_off},
    line::{Look, code_lines, is_harmless, look, together},
    words::reads_as_prose,
};
use super::placeholder;

/// How ready one is to believe that something is code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caution {
    /// Text that nothing speaks against.
    Usual,
    /// The same in Markdown, where a backtick that is text is no mark.
    Markdown,
    /// A line of a text, which says nothing of itself.
    Plain,
    /// Text in an element with a name like `highlight`.
    Suspicious,
}

impl Caution {
    /// What a line has to score to be code.
    pub(super) const fn threshold(self) -> i32 {
        match self {
            Self::Usual | Self::Markdown => 5,
            Self::Plain => 4,
            Self::Suspicious => 2,
        }
    }
}

/// Code within a leaf's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Removal {
    pub(super) range: Range<usize>,
    pub(super) n_lines: usize,
    /// Within a sentence; else lines of their own.
    pub(super) inline: bool,
}

/// Finds code in the text of a leaf. In order, and apart from each other.
pub(super) fn judge(text: &str, caution: Caution) -> Vec<Removal> {
    judged(text, caution).0
}

/// The same, and what the text looks like as one line, where that had to be asked.
pub(super) fn judged(text: &str, caution: Caution) -> (Vec<Removal>, Option<Look>) {
    if line::is_harmless(text) {
        return (Vec::new(), None);
    }
    let escaped = escaped::find(text, caution != Caution::Markdown);
    if !escaped.is_empty() {
        return (escaped, None);
    }
    if text.contains('\r') {
        let lines = by_lines(text, caution);
        return (if lines.is_empty() { inline::find(text) } else { lines }, None);
    }
    let look = look(text);
    if caution.threshold() <= look.score {
        return (vec![whole(text)], Some(look));
    }
    let lines = runs(text, Place::Leaf, caution);
    (if lines.is_empty() { inline::find(text) } else { lines }, Some(look))
}

/// What is longer is no line of code among others.
const MAX_LINE_BYTES: usize = 160;

/// Whether a text is too long to be a line of code among others.
pub(super) const fn is_apart(text: &str) -> bool {
    MAX_LINE_BYTES < text.len()
}

/// Whether a text is no code, whatever it stands beside.
pub(super) fn stands_alone(text: &str, caution: Caution) -> bool {
    line::is_harmless(text) || is_apart(text) && judge(text, caution).is_empty()
}

fn whole(text: &str) -> Removal {
    let n_lines = placeholder::n_lines(text);
    Removal { range: 0..text.len(), n_lines, inline: n_lines == 1 && text.len() < 80 }
}

/// What is marked as code within a line of plain text, or is code among its words.
pub(super) fn marked(line: &str) -> Vec<Removal> {
    let marked = escaped::find(line, true);
    if marked.is_empty() { inline::find(line) } else { marked }
}

fn by_lines(text: &str, caution: Caution) -> Vec<Removal> {
    let mut removals: Vec<Removal> = Vec::new();
    let lines: Vec<&str> = text.split('\r').collect();
    let codes = marked_too(code_lines(&lines, caution.threshold()), &lines, caution);
    let mut at = 0;
    for (line, code) in lines.iter().zip(codes) {
        let range = at..at + line.len();
        at = range.end + 1;
        if !code {
            removals.extend(runs(line, Place::Line(range.start), caution));
            continue;
        }
        match removals.last_mut() {
            Some(last) if last.range.end + 1 == range.start => {
                last.range.end = range.end;
                last.n_lines += 1;
            }
            _ => removals.push(Removal { range, n_lines: 1, inline: false }),
        }
    }
    removals
}

/// Lines that are code by their looks, and those with marks around them.
fn marked_too(mut codes: Vec<bool>, lines: &[&str], caution: Caution) -> Vec<bool> {
    let markup = if caution == Caution::Markdown { Markup::Markdown } else { Markup::Leaf };
    for (code, marked) in codes.iter_mut().zip(marked_off(lines, markup)) {
        *code |= marked;
    }
    codes
}

/// Where a text stands in a leaf.
#[derive(Clone, Copy)]
enum Place {
    /// It is all of it.
    Leaf,
    /// It is a line that begins there.
    Line(usize),
}

/// Code among prose in lines of the source that readers see as one: one line may be prose that broke
/// at a bad place, and several in a row are none.
fn runs(text: &str, place: Place, caution: Caution) -> Vec<Removal> {
    const ENOUGH_LINES: usize = 2;
    if !text.contains('\n') {
        return Vec::new();
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let codes = wrapped_lines(&lines, caution.threshold());
    // Most of them: it is code as a whole.
    let n_bytes: usize =
        lines.iter().zip(&codes).filter(|(_, code)| **code).map(|(line, _)| line.len()).sum();
    if matches!(place, Place::Leaf) && text.len() <= n_bytes.saturating_mul(2) {
        return vec![whole(text)];
    }
    let codes = marked_too(codes, &lines, caution);
    let mut found: Vec<Removal> = Vec::new();
    let mut at = match place {
        Place::Leaf => 0,
        Place::Line(start) => start,
    };
    for (line, code) in lines.iter().zip(codes) {
        let range = at..at + line.len();
        at = range.end + 1;
        match found.last_mut() {
            _ if !code => {}
            Some(last) if last.range.end + 1 == range.start => {
                last.range.end = range.end;
                last.n_lines += 1;
            }
            _ => found.push(Removal { range, n_lines: 1, inline: false }),
        }
    }
    found.retain(|run| ENOUGH_LINES <= run.n_lines);
    found
}

/// The beginning of a text, of so many bytes at most.
fn within(text: &str, max: usize) -> &str {
    let mut ends = (0..=max.min(text.len())).rev();
    ends.find_map(|end| text.get(..end)).unwrap_or_default()
}
