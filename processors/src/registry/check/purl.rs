//! Package URLs, as their specification has them, of the ecosystems that are known here.
//!
//! Four parts matter, and an entry that is none must be told with why; so they are read here, and
//! not by a library that takes the whole URL or nothing.

use percent_encoding::percent_decode_str;
use weir_events::registry::Ecosystem;

/// A package, and which version of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purl {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, as it is spelt there.
    pub package: String,
    /// The version, if it names one.
    pub version: Option<String>,
}

/// Why a text names no package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPurl {
    /// It is no package URL.
    #[error("it is no package URL: {0}")]
    Malformed(&'static str),
    /// It is of an ecosystem that is not known here.
    #[error("packages of type `{0}` are not known here")]
    Type(String),
    /// It is an image of a registry that cannot be told from here.
    #[error("an image by the address of its repository cannot be told from here")]
    Elsewhere,
}

impl Purl {
    /// Reads a package URL.
    pub fn parse(text: &str) -> Result<Self, BadPurl> {
        let text = text.trim();
        let scheme = text.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("pkg:"));
        let rest = text.get(4..).filter(|_| scheme).ok_or(BadPurl::Malformed("no `pkg:`"))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let (path, qualifiers) = rest.split_once('?').unwrap_or((rest, ""));
        let path = path.trim_matches('/');
        let (kind, path) = path.split_once('/').ok_or(BadPurl::Malformed("no name"))?;
        let kind = kind.to_ascii_lowercase();
        let ecosystem = match kind.as_str() {
            "pypi" => Ecosystem::Pypi,
            "npm" => Ecosystem::Npm,
            "cargo" => Ecosystem::Cargo,
            "golang" => Ecosystem::Go,
            "docker" => Ecosystem::Docker,
            "oci" => return Err(BadPurl::Elsewhere),
            _ => return Err(BadPurl::Type(kind.chars().take(40).collect())),
        };
        let named = |name: &str| qualifiers.split('&').any(|it| it.starts_with(name));
        if ecosystem == Ecosystem::Docker && named("repository_url=") {
            return Err(BadPurl::Elsewhere);
        }
        // The `@` of a scope comes after a `/`, or at the beginning.
        let version = path.rfind('@').filter(|at| {
            *at > 0 && path.as_bytes().get(at - 1).is_some_and(|before| *before != b'/')
        });
        let (name, version) = match version {
            Some(at) => (path.get(..at), path.get(at + 1..)),
            None => (Some(path), None),
        };
        let steps = name.unwrap_or_default().split('/').filter(|step| !step.is_empty());
        let steps = steps.map(decoded).collect::<Result<Vec<_>, _>>()?;
        if steps.is_empty() {
            return Err(BadPurl::Malformed("no name"));
        }
        let version = version.filter(|version| !version.is_empty()).map(decoded).transpose()?;
        Ok(Self { ecosystem, package: steps.join("/"), version })
    }
}

fn decoded(part: &str) -> Result<String, BadPurl> {
    let decoded = percent_decode_str(part).decode_utf8();
    Ok(decoded.map_err(|_| BadPurl::Malformed("a part is not UTF-8"))?.into_owned())
}
