//! How a command ends: one table of exit codes, and the failure that leads to one.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

/// What the process says when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    Failed,
    Usage,
    NotFound,
    Denied,
    Conflict,
    Problems,
    Unreachable,
    RetryLater,
    Interrupted,
    Terminated,
}

impl Exit {
    pub(crate) const ALL: [Self; 11] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::NotFound,
        Self::Denied,
        Self::Conflict,
        Self::Problems,
        Self::Unreachable,
        Self::RetryLater,
        Self::Interrupted,
        Self::Terminated,
    ];

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Denied => 4,
            Self::Conflict => 5,
            Self::Problems => 6,
            Self::Unreachable => 69,
            Self::RetryLater => 75,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// What it means, as the manual says it.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Usage => "the command or the configuration cannot be read or understood",
            Self::NotFound => "there is no such thing",
            Self::Denied => "denied, or blocked by policy",
            Self::Conflict => "it conflicts with what is there",
            Self::Problems => "a check found problems (doctor, verify, replay --check)",
            Self::Unreachable => "the server or the database cannot be reached",
            Self::RetryLater => "not now: try again later",
            Self::Interrupted => "interrupted (Ctrl-C)",
            Self::Terminated => "terminated (SIGTERM)",
        }
    }

    /// What an HTTP status of the server means for the command.
    pub(crate) const fn of_status(status: u16) -> Self {
        match status {
            404 | 410 => Self::NotFound,
            401 | 403 => Self::Denied,
            409 | 412 => Self::Conflict,
            400 | 405 | 413 | 415 | 422 => Self::Usage,
            408 | 425 | 429 | 502 | 503 | 504 => Self::RetryLater,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The table, for `--help` and the manual.
pub(crate) fn table() -> String {
    let mut table = "Exit codes:".to_owned();
    for exit in Exit::ALL {
        let _infallible = write!(table, "\n  {:>3}  {}", exit.code(), exit.meaning());
    }
    table
}

/// Why a command failed, what to do about it, and how the process ends.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What was being done and what went wrong, causes included.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// The problem document of the server, if it sent one.
    pub(crate) problem: Option<serde_json::Value>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None, problem: None }
    }

    /// Something went wrong that has no code of its own.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl<E: Error> From<E> for Failure {
    fn from(fault: E) -> Self {
        Self::failed(chain(&fault))
    }
}

/// Gives a fault the code it ends with.
pub(crate) trait EndsWith<T> {
    fn ends_with(self, exit: Exit) -> Result<T, Failure>;
}

impl<T, E: Error> EndsWith<T> for Result<T, E> {
    fn ends_with(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|fault| Failure::new(exit, chain(&fault)))
    }
}

/// A fault and its causes in one line; a cause that says the same again is left out.
pub(crate) fn chain(fault: &dyn Error) -> String {
    let mut line = fault.to_string();
    let mut cause = fault.source();
    while let Some(source) = cause {
        let said = source.to_string();
        if !line.ends_with(&said) {
            line.push_str(": ");
            line.push_str(&said);
        }
        cause = source.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_the_documented_ones() {
        let codes: Vec<u8> = Exit::ALL.into_iter().map(Exit::code).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 69, 75, 130, 143]);
        let table = table();
        for exit in Exit::ALL {
            assert!(table.contains(&format!("{:>3}  {}", exit.code(), exit.meaning())), "{table}");
        }
    }

    #[test]
    fn answers_of_the_server_have_codes() {
        for (status, exit) in [
            (404, Exit::NotFound),
            (401, Exit::Denied),
            (403, Exit::Denied),
            (409, Exit::Conflict),
            (412, Exit::Conflict),
            (422, Exit::Usage),
            (429, Exit::RetryLater),
            (503, Exit::RetryLater),
            (500, Exit::Failed),
        ] {
            assert_eq!(Exit::of_status(status), exit, "{status}");
        }
    }

    #[test]
    fn causes_are_told_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("could not open the log")]
        struct Outer(#[source] std::io::Error);
        let fault = Outer(std::io::Error::other("disk on fire"));
        assert_eq!(chain(&fault), "could not open the log: disk on fire");
        let failure = Failure::from(fault);
        assert_eq!((failure.exit, failure.hint), (Exit::Failed, None));
    }
}
