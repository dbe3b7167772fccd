//! Plain text, line by line.

use std::borrow::Cow;

use weir_events::web::content::ContentFilter;

use super::{
    builder::{Builder, Strip},
    document::{Document, LeafKind},
    judge::{self, Caution, Markup},
    placeholder,
    tally::Tally,
};

/// Of so many lines in ten that are code, the body is source code as a whole.
const SOURCE_TENTHS: usize = 6;

/// Leaves out the lines that are code. What is not stays as it was written: as it is seen.
pub(super) fn filter(text: &str, wanted: &ContentFilter, tally: &mut Tally) -> String {
    let lines: Vec<&str> = text.lines().collect();
    // What is marked within a line is gone before the line is judged, as it is when judged again.
    let shown: Vec<Cow<'_, str>> = lines.iter().map(|line| without_marks(line, wanted)).collect();
    let mut code = vec![false; lines.len()];
    if wanted.strip_code_blocks {
        let marked = judge::marked_off(&lines, Markup::Plain);
        let shown = shown.iter().zip(&marked);
        let shown: Vec<&str> =
            shown.map(|(line, marked)| if *marked { "" } else { line.as_ref() }).collect();
        code = judge::code_lines(&shown, Caution::Plain.threshold());
        if is_source(&shown, &code) {
            return notice(text, None, wanted, tally);
        }
        for (code, marked) in code.iter_mut().zip(marked) {
            *code |= marked;
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut run: Vec<&str> = Vec::new();
    for ((line, shown), code) in lines.iter().zip(&shown).zip(code) {
        // Blank lines between lines of code are code; those behind them are not.
        if code || line.trim().is_empty() && !run.is_empty() {
            run.push(line);
            continue;
        }
        end_run(&mut run, &mut out, tally);
        keep(line, shown, &mut out, tally);
    }
    end_run(&mut run, &mut out, tally);
    if !text.ends_with('\n') {
        out.pop();
    }
    out
}

fn end_run(run: &mut Vec<&str>, out: &mut String, tally: &mut Tally) {
    let n_code = run.len() - run.iter().rev().take_while(|line| line.trim().is_empty()).count();
    let (code, blank) = run.split_at(n_code);
    if !code.is_empty() {
        let code = code.join("\n");
        tally.block(&code, None);
        out.push_str(&placeholder::block(placeholder::n_lines(&code), None));
        out.push('\n');
    }
    out.extend(blank.iter().map(|_| '\n'));
    run.clear();
}

/// A line without what is marked as code within it.
fn without_marks<'a>(line: &'a str, wanted: &ContentFilter) -> Cow<'a, str> {
    const MAX_ROUNDS: usize = 4;
    let mut shown = Cow::Borrowed(line);
    for _ in 0..MAX_ROUNDS {
        let removals = if wanted.strip_inline_code { judge::marked(&shown) } else { Vec::new() };
        if removals.is_empty() {
            break;
        }
        let mut kept = String::with_capacity(shown.len());
        let mut at = 0;
        for removal in removals {
            kept.push_str(shown.get(at..removal.range.start).unwrap_or_default());
            kept.push_str(placeholder::SPAN);
            at = removal.range.end;
        }
        kept.push_str(shown.get(at..).unwrap_or_default());
        shown = Cow::Owned(kept);
    }
    shown
}

/// A line that stays, as it is shown.
fn keep(line: &str, shown: &str, out: &mut String, tally: &mut Tally) {
    let start = out.len();
    for removal in judge::marked(line).into_iter().filter(|_| line != shown) {
        tally.span(line.get(removal.range).unwrap_or_default());
    }
    out.push_str(shown);
    tally.kept(out.get(start..).unwrap_or_default());
    out.push('\n');
}

fn is_source(lines: &[&str], code: &[bool]) -> bool {
    const ENOUGH_LINES: usize = 3;
    let n_lines = lines.iter().filter(|line| !line.trim().is_empty()).count();
    let n_code = code.iter().filter(|code| **code).count();
    ENOUGH_LINES <= n_code && n_lines * SOURCE_TENTHS <= n_code * 10
}

/// What stands for a body that is source code as a whole.
pub(super) fn notice(
    text: &str,
    language: Option<&'static str>,
    wanted: &ContentFilter,
    tally: &mut Tally,
) -> String {
    if placeholder::is_one(text) || !wanted.strip_code_blocks {
        return text.to_owned();
    }
    tally.block(text, language);
    tally.warn("the body is source code: only its size is told");
    placeholder::body(placeholder::n_lines(text), language)
}

/// Paragraphs of a text that was filtered.
pub(super) fn document(filtered: &str) -> Document {
    let mut unread = Tally::default();
    let strip = Strip { blocks: false, spans: false };
    let mut builder = Builder::new(strip, filtered.len(), &mut unread);
    builder.caution = Caution::Markdown;
    builder.begin(LeafKind::Paragraph);
    for line in filtered.lines() {
        if line.trim().is_empty() {
            builder.flush();
        } else {
            builder.text(line);
            builder.text("\n");
        }
    }
    builder.finish()
}
