//! What commands print: data to standard output, talk to standard error; for people or as JSON;
//! with colour only where somebody sees it.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use weir_aggregates::words::is_hidden;

use crate::environment;
use crate::exit::Failure;

/// How a command talks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Data as JSON: one document, or one a line for what goes on.
    pub(crate) json: bool,
    /// No talk, only data and failures.
    pub(crate) quiet: bool,
    colour: Colour,
}

/// Where colour is seen.
#[derive(Debug, Clone, Copy)]
struct Colour {
    out: bool,
    err: bool,
}

/// A colour or weight, by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Strong,
    Faint,
    Good,
    Warn,
    Bad,
    /// One of the 256 colours: sub-systems have their own.
    Hue(u8),
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let allowed = !environment::is_set("NO_COLOR")
            && environment::var("TERM").is_none_or(|term| term != "dumb");
        Self {
            json,
            quiet,
            colour: Colour {
                out: allowed && !json && io::stdout().is_terminal(),
                err: allowed && io::stderr().is_terminal(),
            },
        }
    }

    /// Prints data as JSON if that is wanted, else for people.
    pub(crate) fn data(
        self,
        data: &impl Serialize,
        human: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.json { print(&serde_json::to_string_pretty(data)?) } else { print(&human()) }
    }

    /// Says something beside the data.
    pub(crate) fn say(self, line: &str) {
        if !self.quiet {
            tell(line);
        }
    }

    /// Says why the command failed and what to do.
    pub(crate) fn failure(self, failure: &Failure) {
        if self.json {
            let said = serde_json::json!({
                "error": failure.message,
                "hint": failure.hint,
                "exit": failure.exit.code(),
                "problem": failure.problem,
            });
            tell(&said.to_string());
            return;
        }
        let error = paint(self.colour.err, Style::Bad, "error");
        tell(&format!("{error}: {}", failure.message));
        if let Some(hint) = &failure.hint {
            let fix = paint(self.colour.err, Style::Good, "fix");
            tell(&format!("{fix}: {hint}"));
        }
    }

    /// A text for standard output, painted where that is seen.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        paint(self.colour.out, style, text)
    }

    /// Whether progress bars make sense.
    pub(crate) fn draws(self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }
}

fn paint(colour: bool, style: Style, text: &str) -> String {
    let code = match style {
        _ if !colour => return text.to_owned(),
        Style::Strong => "1".to_owned(),
        Style::Faint => "2".to_owned(),
        Style::Good => "32".to_owned(),
        Style::Warn => "33".to_owned(),
        Style::Bad => "31".to_owned(),
        Style::Hue(hue) => format!("38;5;{hue}"),
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

fn closed(fault: &io::Error) -> Failure {
    let mut failure = Failure::failed(format!("could not print: {fault}"));
    if fault.kind() == io::ErrorKind::BrokenPipe {
        failure.exit = crate::exit::Exit::Done;
    }
    failure
}

/// Prints one line of data. A closed pipe is the reader's way to say "enough".
pub(crate) fn print(line: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|fault| closed(&fault))
}

/// Prints data as one line of JSON.
pub(crate) fn print_json(data: &impl Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string(data)?)
}

/// Says a line beside the data. Nobody is told when nobody listens.
fn tell(line: &str) {
    let _unheard = writeln!(io::stderr().lock(), "{line}");
}

/// Rows under headings, as wide as they need to be; the last column is not padded.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        let heading = headings.get(column).map_or(0, |heading| heading.chars().count());
        cells.chain([heading]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> =
            cells.zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(&mut headings.iter().copied())];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines.join("\n")
}

/// A text from elsewhere, made harmless for a terminal: what is hidden is shown, not obeyed.
pub(crate) fn harmless(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let shown: Vec<char> =
                if is_hidden(c) { c.escape_default().collect() } else { vec![c] };
            shown
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_need_to_be() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["long".to_owned(), "2".to_owned()]];
        assert_eq!(table(&["NAME", "N"], &rows), "NAME  N\na     1\nlong  2");
    }

    #[test]
    fn colour_is_only_for_eyes() {
        assert_eq!(paint(false, Style::Bad, "x"), "x");
        assert_eq!(paint(true, Style::Hue(39), "x"), "\u{1b}[38;5;39mx\u{1b}[0m");
    }

    #[test]
    fn a_terminal_is_not_told_what_to_do_by_data() {
        assert_eq!(harmless("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
        assert_eq!(harmless("safe\u{202e}kcab"), "safe\\u{202e}kcab");
        assert_eq!(harmless("Zoë"), "Zoë");
    }
}
