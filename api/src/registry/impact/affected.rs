//! Which of the versions that were let through a warning or a rule is about.

use std::collections::BTreeMap;

use weir_aggregates::registry::{impact::Subject, version::Version};
use weir_events::registry::Ecosystem;
use weir_log::database::Database;
use weir_projections::registry::downloads::{FileRow, files, packages};

use crate::problem::Problem;

/// Rows asked of the read model at once.
const AT_ONCE: usize = 1_000;

/// How many files are looked at, whatever there is.
const MAX_FILES: usize = 50_000;

/// How many affected versions are told of.
const MAX_VERSIONS: usize = 1_000;

/// An affected version: what of the subject it falls under, and its files.
#[derive(Debug, Default)]
pub(super) struct Affected {
    pub(super) hit: String,
    pub(super) files: Vec<String>,
}

/// Affected versions, by ecosystem, package and version (empty where a file's name does not tell).
pub(super) type ByVersion = BTreeMap<(Ecosystem, String, String), Affected>;

/// The downloaded versions that the subject is about, and whether all were looked at.
pub(super) async fn affected(
    database: &Database,
    subject: &Subject,
) -> Result<(ByVersion, bool), Problem> {
    let mut looked = Looked { affected: ByVersion::new(), n_files: 0 };
    match subject {
        Subject::Advisory(called, _) => {
            for (ecosystem, packages) in &called.packages {
                let packages: Vec<String> = packages.iter().cloned().collect();
                for some in packages.chunks(AT_ONCE) {
                    if !looked.at(database, subject, *ecosystem, some).await? {
                        return Ok((looked.affected, false));
                    }
                }
            }
        }
        Subject::Rule(rule) => {
            let ecosystem = rule.rule.ecosystem;
            if let Some(package) = rule.pattern().exact() {
                let complete =
                    looked.at(database, subject, ecosystem, &[package.to_owned()]).await?;
                return Ok((looked.affected, complete));
            }
            let mut after = String::new();
            loop {
                let page = packages(database, ecosystem, &after, AT_ONCE).await?;
                let Some(last) = page.last().cloned() else { break };
                let full = page.len() == AT_ONCE;
                let of: Vec<_> = page.into_iter().filter(|it| rule.pattern().matches(it)).collect();
                if !looked.at(database, subject, ecosystem, &of).await? {
                    return Ok((looked.affected, false));
                }
                if !full {
                    break;
                }
                after = last;
            }
        }
    }
    Ok((looked.affected, true))
}

/// What was found so far.
struct Looked {
    affected: ByVersion,
    n_files: usize,
}

impl Looked {
    /// Looks at the files of packages; whether all of them could be looked at.
    async fn at(
        &mut self,
        database: &Database,
        subject: &Subject,
        ecosystem: Ecosystem,
        of: &[String],
    ) -> Result<bool, Problem> {
        let mut after: Option<FileRow> = None;
        loop {
            let page = files(database, ecosystem, of, after.as_ref(), AT_ONCE).await?;
            let full = page.len() == AT_ONCE;
            after = page.last().cloned();
            self.n_files += page.len();
            if !self.judge(subject, ecosystem, &page) || (full && self.n_files >= MAX_FILES) {
                return Ok(false);
            }
            if !full {
                return Ok(true);
            }
        }
    }

    /// Keeps what is affected, as long as that is not too much.
    fn judge(&mut self, subject: &Subject, ecosystem: Ecosystem, page: &[FileRow]) -> bool {
        for of_version in page.chunk_by(|a, b| (&a.package, &a.version) == (&b.package, &b.version))
        {
            let Some(FileRow { package, version, .. }) = of_version.first() else { continue };
            let parsed = Some(Version::parse(ecosystem, version)).filter(|_| !version.is_empty());
            let Some(hit) = subject.hit(ecosystem, package, parsed.as_ref()) else { continue };
            let key = (ecosystem, package.clone(), version.clone());
            if self.affected.len() >= MAX_VERSIONS && !self.affected.contains_key(&key) {
                return false;
            }
            let known = self.affected.entry(key).or_default();
            known.hit = hit;
            known.files.extend(of_version.iter().map(|row| row.file.clone()));
        }
        true
    }
}
