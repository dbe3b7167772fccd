//! The checksum database, passed on byte for byte: it signs what it says, and the go command checks
//! that. Here its word is taken for what the zip of a module holds.
//!
//! Where its key is known, what it says is verified here too, before it is used or passed on: the
//! signature of the tree, and that the record is in it. A tile by itself says nothing; who puts tiles
//! together checks them.
//!
//! Follows "Proposal: Secure the Public Go Module Ecosystem", as `GOPROXY` servers pass it on.

mod named;
mod note;
mod proof;
pub mod tree;

use std::{convert::Infallible, fmt, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::HeaderMap;
use tracing::warn;
use weir_aggregates::registry::name::go::unescape_go;

use self::{named::is_name, proof::Prover};
pub use self::{
    named::{Named, NamedFault},
    note::{Key, KeyFault, NoteFault},
    proof::{ProofFault, Unproven},
};
use super::{
    module::{Canonical, Module},
    upstream::below,
};
use crate::{
    outbound::{Page, ReachFault, Trail, Url},
    registry::{
        documents::{Documents, DocumentsFault, Keeping, Source},
        download::Sum,
        setup::{Config, Parts},
        stats::Counters,
    },
};

/// Tiles never change; what the database says of a version does not either.
const KEPT_FOR: Duration = Duration::from_hours(24);

/// What is asked of a database.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Whether it can be asked through this proxy.
    Supported,
    /// The newest signed state.
    Latest,
    /// What it says of a version.
    Lookup {
        /// The module.
        module: Module,
        /// The version as it is asked for.
        version: Box<str>,
    },
    /// A part of the tree.
    Tile(Box<str>),
}

impl Asked {
    /// Reads what stands behind `sumdb/`: a database's name, and what of it is asked for.
    #[must_use]
    pub fn read(path: &str) -> Option<(Box<str>, Self)> {
        let (name, what) = path.split_once('/')?;
        if !is_name(name) {
            return None;
        }
        let asked = match what {
            "supported" => Self::Supported,
            "latest" => Self::Latest,
            _ => {
                if let Some(lookup) = what.strip_prefix("lookup/") {
                    let (module, version) = lookup.split_once('@')?;
                    let version = unescape_go(version)?;
                    // `v1.2.3`, or `v1.2.3/go.mod`, which is never asked for by itself.
                    Canonical::new(&version)?;
                    Self::Lookup { module: Module::read(module)?, version: version.into() }
                } else {
                    Self::Tile(tile(what.strip_prefix("tile/")?)?.into())
                }
            }
        };
        Some((name.into(), asked))
    }

    fn path(&self) -> String {
        match self {
            Self::Supported => "supported".to_owned(),
            Self::Latest => "latest".to_owned(),
            Self::Lookup { module, version } => {
                let version = weir_aggregates::registry::name::go::escape_go(version);
                format!("lookup/{}@{}", module.escaped(), version.unwrap_or_default())
            }
            Self::Tile(tile) => format!("tile/{tile}"),
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())
    }
}

/// The address of a tile: `8/0/x123/456`, `8/data/005.p/12`.
fn tile(path: &str) -> Option<&str> {
    let part = |part: &str| {
        let digits = part.strip_prefix('x').unwrap_or(part);
        let digits = digits.strip_suffix(".p").unwrap_or(digits);
        part == "data" || (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let n_parts = path.split('/').count();
    (path.len() <= 64 && (3..=10).contains(&n_parts) && path.split('/').all(part)).then_some(path)
}

/// The words of a database.
#[derive(Debug)]
pub struct Words;

impl Source for Words {
    type Key = Asked;
    type Document = Bytes;
    type Fault = Infallible;

    const NOUN: &'static str = "record";

    fn package(asked: &Asked) -> Option<&str> {
        match asked {
            Asked::Lookup { module, .. } => Some(module.as_str()),
            Asked::Supported | Asked::Latest | Asked::Tile(_) => None,
        }
    }

    fn url(base: &Url, asked: &Asked) -> Url {
        below(base, &asked.path())
    }

    fn headers(_: &Asked) -> HeaderMap {
        HeaderMap::new()
    }

    fn read(_: &Asked, page: &Page) -> Result<Bytes, Infallible> {
        Ok(page.body.clone())
    }

    fn size_bytes(body: &Bytes) -> usize {
        body.len() + 512
    }
}

/// A checksum database behind the upstream.
#[derive(Debug)]
pub struct Database {
    name: Box<str>,
    private: Vec<String>,
    words: Documents<Words>,
    prover: Option<Prover>,
}

impl Database {
    /// The database of this name, as the upstream passes it on; `None` without an upstream. Refused
    /// where the upstream's address is none.
    pub fn new<C>(
        named: &Named,
        private: &[String],
        config: &Config,
        parts: &Parts<'_, C>,
        counters: &Arc<Counters>,
    ) -> Result<Option<Self>, ReachFault> {
        let keeping = Keeping {
            ttl: KEPT_FOR,
            max_page_bytes: 1 << 20,
            max_bytes: 32 << 20,
            ..config.keeping
        };
        let mut config = config.clone();
        if let Some(url) = &mut config.upstream {
            let path = format!("{}/sumdb/{}/", url.path().trim_end_matches('/'), named.name);
            url.set_path(&path);
        }
        let words = parts.lists(&config, keeping, counters)?;
        let (name, private) = (named.name.clone(), private.to_vec());
        let prover = named.key.clone().map(Prover::new);
        Ok(words.map(|words| Self { name, private, words, prover }))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether nobody outside may hear the name of a module. Follows `GOPRIVATE`: a pattern is of as
    /// many elements of the path as it has itself.
    #[must_use]
    pub fn is_private(&self, module: &Module) -> bool {
        self.private.iter().any(|pattern| is_within(module.as_str(), pattern))
    }

    /// What it says, verified where its key is known.
    pub async fn ask(&self, asked: &Asked, trail: &Trail) -> Result<Arc<Bytes>, ProofFault> {
        let fresh = match asked {
            // These two change.
            Asked::Latest | Asked::Supported => Duration::from_secs(10),
            Asked::Lookup { .. } | Asked::Tile(_) => self.words.keeping().ttl,
        };
        let words = self.words.get(asked, fresh, trail).await?.document;
        if let Some(prover) = &self.prover {
            prover.prove(&self.words, asked, &words, trail).await?;
        }
        Ok(words)
    }

    /// The `h1:` of a version's zip. That the database does not have it is logged: of what is public
    /// it should have everything.
    pub async fn sum(
        &self,
        module: &Module,
        version: &Canonical,
        trail: &Trail,
    ) -> Result<Sum, ProofFault> {
        if self.is_private(module) {
            return Ok(Sum::Unasked);
        }
        let asked = Asked::Lookup { module: module.clone(), version: version.as_str().into() };
        let sum = match self.ask(&asked, trail).await {
            Ok(words) => sum_in(&words, module, version),
            Err(ProofFault::Documents(DocumentsFault::NotFound(_))) => None,
            Err(fault) => return Err(fault),
        };
        Ok(sum.map_or_else(
            || {
                let database = &self.name;
                warn!(%module, %version, database, "the checksum database says nothing of a module");
                Sum::Untold
            },
            Sum::Known,
        ))
    }
}

/// The `h1:` in a record: `module version h1:…`, a line.
#[must_use]
pub fn sum_in(record: &[u8], module: &Module, version: &Canonical) -> Option<[u8; 32]> {
    let text = std::str::from_utf8(record).ok()?;
    let line = text.lines().find_map(|line| {
        let mut parts = line.split(' ');
        let ours = parts.next() == Some(module.as_str()) && parts.next() == Some(version.as_str());
        parts.next().filter(|_| ours)
    });
    STANDARD.decode(line?.strip_prefix("h1:")?).ok()?.try_into().ok()
}

/// Whether a path lies within a pattern of `GOPRIVATE`.
fn is_within(path: &str, pattern: &str) -> bool {
    let n_elements = pattern.split('/').count();
    let head: Vec<_> = path.split('/').take(n_elements).collect();
    head.len() == n_elements && head.iter().zip(pattern.split('/')).all(|(a, b)| fits(a, b))
}

/// Whether an element fits a pattern with `*` for any run of characters.
fn fits(text: &str, pattern: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(text) = text.strip_prefix(head) else { return false };
    (0..=text.len()).any(|at| text.get(at..).is_some_and(|text| fits(text, rest)))
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_go_command_asks_of_a_database_is_understood() {
        let name: Box<str> = "sums.example".into();
        for (path, wanted) in [
            ("supported", "supported"),
            ("latest", "latest"),
            ("lookup/github.com/!azure/x@v1.0.0", "lookup/github.com/!azure/x@v1.0.0"),
            ("tile/8/0/x001/234", "tile/8/0/x001/234"),
            ("tile/8/data/005.p/12", "tile/8/data/005.p/12"),
        ] {
            let (of, asked) = Asked::read(&format!("sums.example/{path}")).unwrap();
            assert_eq!((of, asked.path().as_str()), (name.clone(), wanted));
        }
        for bad in [
            "sums.example",
            "../x/latest",
            "sums.example/tile/8/../..",
            "sums.example/tile/8",
            "sums.example/lookup/x@v1.0.0",
            "sums.example/lookup/a.b/c@master",
            "sums.example/other",
            "Sums/latest",
        ] {
            assert_eq!(Asked::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_sum_of_a_zip_is_read_from_its_own_line() {
        let (module, version) =
            (Module::new("example.com/m").unwrap(), Canonical::new("v1.0.0").unwrap());
        let sum = STANDARD.encode([7; 32]);
        let other = STANDARD.encode([8; 32]);
        let record = format!(
            "42\nexample.com/m v1.0.0 h1:{sum}\nexample.com/m v1.0.0/go.mod h1:{other}\n\ngo.sum database tree\n"
        );
        assert_eq!(sum_in(record.as_bytes(), &module, &version), Some([7; 32]));
        let next = Canonical::new("v1.0.1").unwrap();
        assert_eq!(sum_in(record.as_bytes(), &module, &next), None);
        assert_eq!(sum_in(b"example.com/m v1.0.0 h1:AAAA", &module, &version), None);
    }

    #[test]
    fn private_patterns_are_those_of_the_go_command() {
        for (path, pattern, within) in [
            ("corp.example/x/y", "corp.example", true),
            ("corp.example/x/y", "corp.example/x", true),
            ("corp.example/x/y", "corp.example/z", false),
            ("git.corp.example/x", "*.corp.example", true),
            ("corp.example", "*.corp.example", false),
            ("corp.example/team-a/x", "corp.example/team-*", true),
            ("other.example/corp.example", "corp.example", false),
        ] {
            assert_eq!(is_within(path, pattern), within, "{path} {pattern}");
        }
    }
}
