//! Rules as people write them into YAML files: what is wrong is said with its place.
//!
//! ```yaml
//! - ecosystem: npm
//!   package: "@evil/*"
//!   versions: "<2.0.0"       # every version, without
//!   reason: typosquat of @good
//!   mask: hide               # mark, without
//! ```

use serde::{Deserialize, de::DeserializeOwned};
use serde_saphyr::{Options, Spanned};
use weir_aggregates::registry::{Refusal, blocklist::identified, check};
use weir_events::registry::{Ecosystem, Mask, Rule};

/// What a rule says in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    ecosystem: Spanned<String>,
    package: Spanned<String>,
    #[serde(default)]
    versions: Option<Spanned<String>>,
    reason: Spanned<String>,
    #[serde(default)]
    mask: Option<Spanned<String>>,
}

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Line and column, the first ones 1.
    pub(super) at: Option<(u64, u64)>,
    pub(super) what: String,
}

impl Wrong {
    /// Something is wrong with a value.
    pub(super) fn with<T>(value: &Spanned<T>, what: String) -> Self {
        let place = value.referenced;
        Self { at: Some((place.line(), place.column())), what }
    }

    /// The text is no YAML, or not of the shape it should be.
    fn read(fault: &serde_saphyr::Error) -> Self {
        let at = fault.location().map(|at| (at.line(), at.column()));
        Self { at, what: fault.without_snippet().to_string() }
    }

    /// Its place in what messages call so.
    pub(super) fn place(&self, name: &str) -> String {
        match self.at {
            Some((line, column)) => format!("{name}:{line}:{column}"),
            None => name.to_owned(),
        }
    }
}

/// How much text may become how much.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) max_bytes: usize,
    pub(super) max_nodes: usize,
}

/// Reads a text that messages call so: `a blocklist`. Nothing, where nothing stands in it.
pub(super) fn read<T: DeserializeOwned + Default>(
    what: &str,
    text: &str,
    bounds: Bounds,
) -> Result<T, Wrong> {
    let Bounds { max_bytes, max_nodes } = bounds;
    if text.len() > max_bytes {
        return Err(Wrong { at: None, what: format!("{what} has at most {max_bytes} bytes") });
    }
    let read: Result<Option<T>, serde_saphyr::Error> =
        serde_saphyr::from_str_with_options(text, options(max_bytes, max_nodes));
    Ok(read.map_err(|fault| Wrong::read(&fault))?.unwrap_or_default())
}

fn options(max_bytes: usize, max_nodes: usize) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: max_nodes,
            max_events: 2 * max_nodes,
            max_depth: 8,
            max_documents: 1,
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_merge_keys: 1_000,
            max_recorded_anchor_events: max_nodes,
            max_recorded_anchor_bytes: max_bytes,
            max_total_scalar_bytes: max_bytes,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: max_nodes,
        },
    }
}

/// An ecosystem by its name.
fn ecosystem(name: &Spanned<String>) -> Result<Ecosystem, Wrong> {
    Ecosystem::find(&name.value).ok_or_else(|| {
        let all = Ecosystem::ALL.map(Ecosystem::as_str).join(", ");
        let shown = shown(&name.value);
        Wrong::with(name, format!("no ecosystem is called `{shown}`; there are {all}"))
    })
}

/// A mask by its name.
pub(super) fn mask(name: &Spanned<String>) -> Result<Mask, Wrong> {
    Mask::find(&name.value).ok_or_else(|| {
        let shown = shown(&name.value);
        let what = format!("no mask is called `{shown}`; there are mark, hide, deny-only");
        Wrong::with(name, what)
    })
}

/// As much of a value as a message repeats.
pub(super) fn shown(value: &str) -> String {
    value.chars().take(40).collect()
}

/// The rule that is written there, with the id that what it says gives it.
pub(super) fn rule(written: &Written) -> Result<Rule, Wrong> {
    let Written { ecosystem: named, package, versions, reason, mask: masked } = written;
    let rule = identified(Rule {
        id: String::new(),
        ecosystem: ecosystem(named)?,
        package: package.value.clone(),
        versions: versions.as_ref().map_or_else(|| "*".to_owned(), |it| it.value.clone()),
        reason: reason.value.clone(),
        mask: masked.as_ref().map(mask).transpose()?.unwrap_or_default(),
    });
    check(&rule).map_err(|refusal| {
        let at = match &refusal {
            Refusal::BadConstraint { .. } => versions.as_ref().unwrap_or(package),
            Refusal::BadReason => reason,
            _ => package,
        };
        Wrong::with(at, refusal.to_string())
    })?;
    Ok(rule)
}
