//! What a run found: as a table for people, as JSON for programs.

use std::fmt::Write as _;

use serde::Serialize;

use crate::{
    Fault, chain,
    line::{Line, LineView},
    say,
};

/// The lines of one run, in the order they were measured.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) suite: &'static str,
    pub(crate) machine: String,
    pub(crate) quick: bool,
    pub(crate) lines: Vec<Line>,
}

#[derive(Serialize)]
struct ReportView<'a> {
    suite: &'a str,
    machine: &'a str,
    lines: Vec<LineView>,
}

impl Report {
    pub(crate) const fn new(suite: &'static str, machine: String, quick: bool) -> Self {
        Self { suite, machine, quick, lines: Vec::new() }
    }

    /// Takes what a measurement came to, and tells whoever watches.
    pub(crate) fn add(&mut self, line: Line, measured: Result<Line, Fault>) {
        let line = measured.unwrap_or_else(|fault| {
            let mut line = line.noting(chain(fault.as_ref()));
            line.failed = !fault.is::<Missing>();
            line
        });
        let ratio = line.ratio.map_or_else(String::new, |ratio| format!("  ratio {ratio:.2}"));
        let value = line.value.map_or_else(String::new, |value| format!("  {}", figure(value)));
        say(&format!("{}{value}{ratio}  {}  {}", line.name, line.verdict(), line.note));
        self.lines.push(line);
    }

    /// How many lines failed for reasons of ours.
    pub(crate) fn n_failed(&self) -> usize {
        self.lines.iter().filter(|line| line.failed).count()
    }

    /// The table.
    pub(crate) fn table(&self) -> String {
        let head = ["", "value", "unit", "against", "versus", "ratio", "target", ""];
        let mut rows = vec![head.map(str::to_owned)];
        for line in &self.lines {
            rows.push([
                line.name.to_owned(),
                line.value.map_or_else(|| "-".to_owned(), figure),
                line.unit.to_owned(),
                line.against.to_owned(),
                line.versus.map_or_else(|| "-".to_owned(), figure),
                line.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
                line.wanted(),
                line.verdict().to_owned(),
            ]);
        }
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max()
        };
        let widths: Vec<_> = (0..head.len()).map(|c| width(c).unwrap_or(0)).collect();
        let length = if self.quick { ", quick" } else { "" };
        let mut text = format!("\n{}{length}: {}\n", self.suite, self.machine);
        for row in &rows {
            let mut out = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let right = matches!(column, 1 | 4 | 5);
                let cell =
                    if right { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
                out.push_str(&cell);
                out.push_str("  ");
            }
            text.push_str(out.trim_end());
            text.push('\n');
        }
        for line in &self.lines {
            let separator = if line.note.is_empty() { "" } else { "; " };
            let _infallible =
                writeln!(text, "  {}: {}{separator}{}", line.name, line.what, line.note);
        }
        text
    }

    /// One line of JSON.
    pub(crate) fn json(&self) -> Result<String, Fault> {
        Ok(serde_json::to_string(&self.view())?)
    }

    /// The same for a file.
    pub(crate) fn pretty_json(&self) -> Result<String, Fault> {
        Ok(serde_json::to_string_pretty(&self.view())? + "\n")
    }

    fn view(&self) -> ReportView<'_> {
        let lines = self.lines.iter().map(Line::view).collect();
        ReportView { suite: self.suite, machine: &self.machine, lines }
    }
}

/// What a line needs is not on this machine: no failure of ours, and never a guess.
#[derive(Debug)]
pub(crate) struct Missing(pub(crate) String);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// The same fault for another line, in these words: what is missing for one is missing for all.
pub(crate) fn again(fault: &Fault, words: &str) -> Fault {
    if fault.is::<Missing>() { Missing(words.to_owned()).into() } else { words.to_owned().into() }
}

/// A figure with three digits that matter, thousands apart.
pub(crate) fn figure(value: f64) -> String {
    if value.abs() < 10.0 {
        return format!("{value:.2}");
    }
    if value.abs() < 100.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if value < 0.0 { format!("-{out}") } else { out }
}
