//! The picture of a run that the README shows: each figure as a bar beside what it stands against.
//! It has no background, and its greys are read on a light page and on a dark one.

use std::fmt::Write as _;

use crate::{
    line::{Line, Target},
    report::{Report, figure},
};

const WIDTH: f64 = 880.0;
const LEFT: f64 = 16.0;
const BARS: f64 = 340.0;
const BAR_WIDTH: f64 = 270.0;
const TOP: f64 = 66.0;
const ROW: f64 = 46.0;

const STYLE: &str = "
    text { font: 13px ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif;
           fill: #6e7781; }
    .title { font-size: 16px; font-weight: 600; }
    .what { font-weight: 600; }
    .small { font-size: 11.5px; }
    .ours { fill: #2a9d8f; }
    .theirs { fill: #8c959f; opacity: .55; }
    .ratio { font-size: 15px; font-weight: 600; }
    .met { fill: #2a9d8f; }
    .missed { fill: #c8783c; }
    @media (prefers-color-scheme: dark) {
        text { fill: #9198a1; }
        .ours, .met { fill: #3fb8a8; }
        .missed { fill: #e0995e; }
    }";

/// Draws the lines that stand against something.
pub(crate) fn draw(report: &Report) -> String {
    let rows: Vec<&Line> = report.lines.iter().filter(|line| line.ratio.is_some()).collect();
    let n_rows = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    let height = f64::from(n_rows).mul_add(ROW, TOP + 14.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n\
         <title>Weir measured against what does the same job, side by side</title>\n\
         <style>{STYLE}\n</style>\n"
    );
    text(&mut out, LEFT, 24.0, "title", "Weir, measured side by side");
    text(&mut out, LEFT, 43.0, "small", &report.machine);
    rect(&mut out, BARS, 15.0, 22.0, "ours");
    text(&mut out, BARS + 28.0, 24.0, "small", "Weir");
    rect(&mut out, BARS + 72.0, 15.0, 22.0, "theirs");
    text(&mut out, BARS + 100.0, 24.0, "small", "what it stands against");
    for (nth, line) in (0_u16..).zip(rows) {
        row(&mut out, f64::from(nth).mul_add(ROW, TOP), line);
    }
    out.push_str("</svg>\n");
    out
}

fn row(out: &mut String, top: f64, line: &Line) {
    let (Some(ours), Some(theirs), Some(ratio)) = (line.value, line.versus, line.ratio) else {
        return;
    };
    let longest = ours.max(theirs).max(f64::MIN_POSITIVE);
    text(out, LEFT, top + 12.0, "what", line.name);
    text(out, LEFT, top + 28.0, "small", &format!("vs {}", line.against));
    rect(out, BARS, top + 2.0, BAR_WIDTH * ours / longest, "ours");
    rect(out, BARS, top + 18.0, BAR_WIDTH * theirs / longest, "theirs");
    let right = BARS + BAR_WIDTH + 14.0;
    let class = if line.met() == Some(false) { "ratio missed" } else { "ratio met" };
    text(out, right, top + 12.0, class, &format!("{ratio:.2}×"));
    let better = if matches!(line.target, Target::AtMost(_)) { ", lower is better" } else { "" };
    if line.met().is_some() {
        let words = line.wanted().replace(">=", "≥").replace("<=", "≤");
        text(out, right + 66.0, top + 12.0, "small", &format!("target {words}{better}"));
    }
    let values = format!("{} vs {} {}", figure(ours), figure(theirs), line.unit);
    text(out, right, top + 28.0, "small", &values);
}

fn rect(out: &mut String, x: f64, y: f64, width: f64, class: &str) {
    let width = width.max(1.5);
    let _infallible = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"12\" rx=\"2\" \
         class=\"{class}\"/>"
    );
}

fn text(out: &mut String, x: f64, y: f64, class: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _infallible =
        writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{words}</text>");
}
