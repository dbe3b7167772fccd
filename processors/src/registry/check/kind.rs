//! Kinds of files, and how their content tells them.

use std::fmt;

use serde::{Deserialize, de::IgnoredAny};

/// A kind of file that names versions of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// npm's `package-lock.json` or `npm-shrinkwrap.json`, versions 1 to 3.
    PackageLock,
    /// `yarn.lock`, of yarn 1 and of those after it.
    Yarn,
    /// `pnpm-lock.yaml`, versions 5 to 9.
    Pnpm,
    /// `Cargo.lock`.
    Cargo,
    /// pip's `requirements.txt`.
    Requirements,
    /// `uv.lock`.
    Uv,
    /// `poetry.lock`.
    Poetry,
    /// `go.sum`.
    GoSum,
    /// `go.mod`.
    GoMod,
    /// A `CycloneDX` bill of materials, as JSON.
    CycloneDx,
    /// An SPDX bill of materials, as JSON.
    Spdx,
}

/// What tells apart the files that are JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Probe {
    #[serde(rename = "bomFormat")]
    bom_format: Option<IgnoredAny>,
    #[serde(rename = "spdxVersion")]
    spdx_version: Option<IgnoredAny>,
    #[serde(rename = "@graph")]
    graph: Option<IgnoredAny>,
    #[serde(rename = "lockfileVersion")]
    lockfile_version: Option<IgnoredAny>,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::PackageLock,
        Self::Yarn,
        Self::Pnpm,
        Self::Cargo,
        Self::Requirements,
        Self::Uv,
        Self::Poetry,
        Self::GoSum,
        Self::GoMod,
        Self::CycloneDx,
        Self::Spdx,
    ];

    /// The name it is asked for by.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PackageLock => "package-lock",
            Self::Yarn => "yarn",
            Self::Pnpm => "pnpm",
            Self::Cargo => "cargo",
            Self::Requirements => "requirements",
            Self::Uv => "uv",
            Self::Poetry => "poetry",
            Self::GoSum => "go-sum",
            Self::GoMod => "go-mod",
            Self::CycloneDx => "cyclonedx",
            Self::Spdx => "spdx",
        }
    }

    /// Finds a kind by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// What kind of file a text is, if its content tells.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if text.trim_start().starts_with('{') {
            return Self::of_json(text);
        }
        let starts = |with: &str| text.lines().any(|line| line.starts_with(with));
        if text.lines().any(|line| line.trim() == "[[package]]") {
            return Some(Self::of_toml(text));
        }
        if starts("# yarn lockfile v1") || starts("__metadata:") {
            return Some(Self::Yarn);
        }
        if starts("lockfileVersion:") {
            return Some(Self::Pnpm);
        }
        let hashed =
            |line: &str| line.split_whitespace().nth(2).is_some_and(|it| it.starts_with("h1:"));
        if text.lines().find(|line| !line.trim().is_empty()).is_some_and(hashed) {
            return Some(Self::GoSum);
        }
        if starts("module ") && !text.contains("==") {
            return Some(Self::GoMod);
        }
        let pins = |line: &str| {
            let line = line.trim_start();
            !line.starts_with('#') && line.contains("==")
        };
        (text.lines().any(pins) || starts("-r ") || starts("--")).then_some(Self::Requirements)
    }

    fn of_json(text: &str) -> Option<Self> {
        let probe: Probe = serde_json::from_str(text).ok()?;
        if probe.bom_format.is_some() {
            Some(Self::CycloneDx)
        } else if probe.spdx_version.is_some() || probe.graph.is_some() {
            Some(Self::Spdx)
        } else {
            probe.lockfile_version.map(|_| Self::PackageLock)
        }
    }

    fn of_toml(text: &str) -> Self {
        let uv = |line: &str| {
            line.starts_with("requires-python =")
                || line.starts_with("source = { ")
                || line.starts_with("resolution-markers =")
        };
        let poetry =
            |line: &str| line.starts_with("lock-version =") || line.starts_with("content-hash =");
        if text.lines().any(poetry) {
            Self::Poetry
        } else if text.lines().any(uv) {
            Self::Uv
        } else {
            Self::Cargo
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
