//! What is code by its looks, whatever its element says.
//!
//! Two rounds: marks of code that are written as text (escaped tags, backticks, fences), then lines
//! that score like code. The score of a line depends on the line alone, and its neighbours can only
//! make it more of a suspect: what was judged once is judged the same when the code is gone.

mod address;
mod escaped;
mod line;
mod words;

use std::ops::Range;

pub(super) use self::{
    address::address,
    line::{code_lines, score},
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
    /// Text in an element with a name like `highlight`.
    Suspicious,
}

impl Caution {
    const fn threshold(self) -> i32 {
        match self {
            Self::Usual | Self::Markdown => 5,
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
    if line::is_harmless(text) {
        return Vec::new();
    }
    let escaped = escaped::find(text, caution != Caution::Markdown);
    if !escaped.is_empty() {
        return escaped;
    }
    by_lines(text, caution)
}

/// What is marked as code within a line of plain text.
pub(super) fn marked(line: &str) -> Vec<Removal> {
    escaped::find(line, true)
}

fn by_lines(text: &str, caution: Caution) -> Vec<Removal> {
    if !text.contains('\r') {
        if is_code(text, caution) {
            let n_lines = placeholder::n_lines(text);
            let inline = n_lines == 1 && text.len() < 80;
            return vec![Removal { range: 0..text.len(), n_lines, inline }];
        }
        return runs(text, 0, caution);
    }
    let mut removals: Vec<Removal> = Vec::new();
    let lines: Vec<&str> = text.split('\r').collect();
    let codes = code_lines(&lines, caution.threshold());
    let mut at = 0;
    for (line, code) in lines.iter().zip(codes) {
        let range = at..at + line.len();
        at = range.end + 1;
        if !code {
            removals.extend(runs(line, range.start, caution));
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

/// Code among prose in lines of the source that readers see as one: one line may be prose that broke
/// at a bad place, and several in a row are none. `start`: where the text stands.
fn runs(text: &str, start: usize, caution: Caution) -> Vec<Removal> {
    const ENOUGH_LINES: usize = 2;
    if !text.contains('\n') {
        return Vec::new();
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let codes = code_lines(&lines, caution.threshold());
    let mut found: Vec<Removal> = Vec::new();
    let mut at = start;
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

/// Whether a leaf without line breaks is code as a whole.
fn is_code(text: &str, caution: Caution) -> bool {
    if caution.threshold() <= score(text) {
        return true;
    }
    if !text.contains('\n') {
        return false;
    }
    // Lines of the source that readers see as one: most of them have to be code.
    let lines: Vec<&str> = text.lines().collect();
    let codes = code_lines(&lines, caution.threshold());
    let n_bytes: usize =
        lines.iter().zip(codes).filter(|(_, code)| *code).map(|(line, _)| line.len()).sum();
    text.len() <= n_bytes.saturating_mul(2)
}
