//! Lines of ours in a file of somebody else's: put in between two lines that say whose they are,
//! and taken out again without a trace.

const BEGIN: &str = "# weir begins: written by `weir init --clients`, taken out by `--undo`";
const END: &str = "# weir ends";
/// Stands before a line of the owner's that says the same thing otherwise.
const ASIDE: &str = "#weir# ";

/// What is to stand in a file.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) lines: Vec<String>,
    pub(super) place: Place,
    /// Which of the owner's lines say the same thing otherwise.
    pub(super) set_aside: fn(&str) -> bool,
}

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Top,
    End,
    /// In a section of this heading, which is made if there is none.
    Under(&'static str),
}

impl Edit {
    /// The lines as a person is shown them.
    pub(super) fn shown(&self) -> String {
        let heading = match self.place {
            Place::Under(heading) => Some(heading),
            Place::Top | Place::End => None,
        };
        let lines = heading.into_iter().chain(self.lines.iter().map(String::as_str));
        let lines: Vec<_> = lines.map(|line| format!("    {line}")).collect();
        lines.join("\n").replace("    \n", "\n")
    }

    /// A file that has none of our lines, with them.
    pub(super) fn put_in(&self, text: &str) -> String {
        let mut own = String::new();
        for line in text.split_inclusive('\n') {
            if (self.set_aside)(line) {
                own.push_str(ASIDE);
            }
            own.push_str(line);
        }
        let block = |lines: &str| format!("{BEGIN}\n{lines}\n{END}\n");
        let (lines, end) = (self.lines.join("\n"), own.len());
        let (at, ours) = match self.place {
            Place::Top => (0, block(&lines)),
            Place::End => (end, block(&lines)),
            Place::Under(heading) => match below(&own, heading) {
                Some(at) => (at, block(&lines)),
                None => (end, block(&format!("{heading}\n{lines}"))),
            },
        };
        let (before, after) = own.split_at(at);
        let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        format!("{before}{gap}{ours}{after}")
    }
}

/// Where the line after a heading begins.
fn below(text: &str, heading: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.trim() == heading {
            return Some(at);
        }
    }
    None
}

/// A file without any of our lines, and with its owner's as they were.
pub(super) fn taken_out(text: &str) -> String {
    let (mut out, mut ours) = (String::new(), false);
    for line in text.split_inclusive('\n') {
        match line.trim_end() {
            BEGIN => ours = true,
            END if ours => ours = false,
            _ if ours => {}
            _ => out.push_str(line.strip_prefix(ASIDE).unwrap_or(line)),
        }
    }
    // Who took our last line away by hand keeps what comes after it.
    if ours { text.to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(place: Place) -> Edit {
        let set_aside = |line: &str| line.starts_with("old");
        Edit { lines: vec!["new=1".to_owned(), String::new(), "x".to_owned()], place, set_aside }
    }

    #[test]
    fn what_was_put_in_comes_out_without_a_trace() {
        for place in [Place::Top, Place::End, Place::Under("[b]")] {
            let texts = ["", "a=1\n", "a=1\nold=2\nb=3\n", "\n\n", "a\r\nold\r\n", "[b]\nc\n"];
            for text in texts {
                let with = edit(place).put_in(text);
                assert!(with.contains("\nnew=1\n\nx\n"), "{with}");
                assert_ne!(with, text);
                assert_eq!(taken_out(&with), text);
                assert_eq!(edit(place).put_in(&taken_out(&with)), with, "twice is once");
            }
        }
        let with = edit(Place::Under("[b]")).put_in("[a]\n[b]\nc\n");
        assert!(with.starts_with("[a]\n[b]\n# weir begins") && with.ends_with("c\n"), "{with}");
        let with = edit(Place::End).put_in("a=1\nold=2");
        assert!(with.starts_with("a=1\n#weir# old=2\n# weir begins"), "{with}");
        assert_eq!(taken_out(&with), "a=1\nold=2\n");
    }

    #[test]
    fn a_block_without_its_end_is_left_alone() {
        let torn = format!("a=1\n{BEGIN}\nnew=1\nb=2\n");
        assert_eq!(taken_out(&torn), torn);
    }

    #[test]
    fn people_are_shown_the_lines_alone() {
        assert_eq!(edit(Place::Top).shown(), "    new=1\n\n    x");
    }
}
