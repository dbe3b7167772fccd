//! One line of a suite: a figure, what it stands against, and what it should be.

use serde::Serialize;

use crate::effort::Pair;

/// What a line should be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// The ratio is at least the first; the second is the aim.
    AtLeast(f64, Option<f64>),
    /// The ratio is at most this.
    AtMost(f64),
    /// An absolute figure, which depends on the machine: shown, never judged.
    About(&'static str),
    /// A size, which does not depend on the machine: at most this, in the line's unit.
    SizeAtMost(f64),
    /// The same: at least this.
    SizeAtLeast(f64),
    /// Nothing is asked of it.
    Shown,
}

/// A measured line.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// As in the table of targets.
    pub(crate) name: &'static str,
    /// What was measured.
    pub(crate) what: &'static str,
    /// The figure, unless it could not be measured.
    pub(crate) value: Option<f64>,
    /// The unit of the figure and of what it stands against.
    pub(crate) unit: &'static str,
    /// The other side.
    pub(crate) against: &'static str,
    /// The other side's figure.
    pub(crate) versus: Option<f64>,
    /// Ours by theirs.
    pub(crate) ratio: Option<f64>,
    /// What it should be.
    pub(crate) target: Target,
    /// What else there is to say.
    pub(crate) note: String,
    /// Something of ours failed.
    pub(crate) failed: bool,
}

/// A line as the last line of JSON has it.
#[derive(Debug, Serialize)]
pub(crate) struct LineView {
    name: &'static str,
    value: Option<f64>,
    unit: &'static str,
    versus: Option<f64>,
    ratio: Option<f64>,
}

impl Line {
    /// A line yet to be measured.
    pub(crate) const fn new(
        name: &'static str,
        what: &'static str,
        unit: &'static str,
        against: &'static str,
        target: Target,
    ) -> Self {
        Self {
            name,
            what,
            value: None,
            unit,
            against,
            versus: None,
            ratio: None,
            target,
            note: String::new(),
            failed: false,
        }
    }

    /// Measured side by side.
    pub(crate) fn pair(mut self, pair: Pair) -> Self {
        self.value = Some(pair.ours);
        self.versus = Some(pair.theirs);
        self.ratio = Some(pair.ratio);
        self
    }

    /// Measured alone.
    pub(crate) const fn alone(mut self, value: f64) -> Self {
        self.value = Some(value);
        self
    }

    /// Says something more.
    pub(crate) fn noting(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Whether it is what it should be; `None` where nothing is judged.
    pub(crate) fn met(&self) -> Option<bool> {
        match self.target {
            Target::AtLeast(least, _) => self.ratio.map(|ratio| ratio >= least),
            Target::AtMost(most) => self.ratio.map(|ratio| ratio <= most),
            Target::SizeAtMost(most) => self.value.map(|value| value <= most),
            Target::SizeAtLeast(least) => self.value.map(|value| value >= least),
            Target::About(_) | Target::Shown => None,
        }
    }

    /// The target in words.
    pub(crate) fn wanted(&self) -> String {
        match self.target {
            Target::AtLeast(least, Some(aim)) => format!(">= {least}, aim {aim}"),
            Target::AtLeast(least, None) => format!(">= {least}"),
            Target::AtMost(most) => format!("<= {most}"),
            Target::SizeAtMost(most) => format!("<= {most} {}", self.unit),
            Target::SizeAtLeast(least) => format!(">= {least} {}", self.unit),
            Target::About(words) => words.to_owned(),
            Target::Shown => String::new(),
        }
    }

    /// What became of it, in a word.
    pub(crate) fn verdict(&self) -> &'static str {
        match (self.failed, self.value, self.met()) {
            (true, ..) => "failed",
            (_, None, _) => "not measured",
            (_, _, Some(true)) => "met",
            (_, _, Some(false)) => "missed",
            (_, _, None) => "not judged",
        }
    }

    /// As JSON has it.
    pub(crate) fn view(&self) -> LineView {
        let rounded = |value: Option<f64>| value.map(|v| (v * 10_000.0).round() / 10_000.0);
        LineView {
            name: self.name,
            value: rounded(self.value),
            unit: self.unit,
            versus: rounded(self.versus),
            ratio: rounded(self.ratio),
        }
    }
}
