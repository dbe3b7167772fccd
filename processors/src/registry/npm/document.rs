//! A packument: everything a registry says of a package, kept as it was written beside where in it
//! stands what the rules and the addresses of tarballs change.
//!
//! Cut-down mirrors leave out nearly everything; what is missing is read as nothing said.

mod field;

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, HashSet},
    sync::OnceLock,
};

use weir_aggregates::registry::{told::Told, verdict::Candidate, version::Version};
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

pub use self::field::Field;
use super::{
    name::{File, Name, is_version},
    span::{Object, ReadFault, Span},
    told,
};
use crate::{
    outbound::Url,
    registry::{download::Promise, sightings::There},
};

/// The most tags a package may have.
pub const MAX_TAGS: usize = 5_000;

/// A packument.
#[derive(Debug)]
pub struct Document {
    /// The package.
    pub name: Name,
    /// BLAKE3 of the packument as the upstream sent it.
    pub digest: blake3::Hash,
    /// The packument as the upstream sent it.
    pub text: Box<str>,
    /// What is known of it.
    pub top: Object<Top>,
    /// Its versions; all members are read.
    pub versions: Option<Object<()>>,
    /// One for each member of `versions`; `None` where it cannot be served.
    pub releases: Vec<Option<Release>>,
    /// When its versions were published; all members are read.
    pub time: Option<Object<Box<str>>>,
    /// Its tags; all members are read.
    pub tags: Option<Object<Tag>>,
    /// The origins of its tarballs.
    pub origins: Vec<Url>,
    url: Url,
    lacks_times: bool,
    told: OnceLock<Vec<Told>>,
    by_version: HashMap<Box<str>, usize>,
    by_file: HashMap<File, usize>,
}

/// What is known of a packument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Top {
    /// `name`
    Name,
    /// `modified`
    Modified,
    /// `dist-tags`
    Tags,
    /// `versions`
    Versions,
    /// `time`
    Time,
}

/// A tag of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// What it is called.
    pub name: Box<str>,
    /// Which member of `versions` it stands for, if any.
    pub target: Option<usize>,
}

/// A version of a package.
#[derive(Debug)]
pub struct Release {
    /// Which one.
    pub version: Version,
    /// What is known of it.
    pub fields: Object<Field>,
    /// Where its tarball is, and how to tell that it is the right one.
    pub dist: Option<Object<Dist>>,
    /// What its tarball is called.
    pub file: File,
    /// Whether it runs scripts when it is installed, going by its scripts.
    pub runs_scripts: bool,
    /// When it was published, where `time` tells.
    pub published_at: Option<Timestamp>,
}

impl Release {
    /// As it is judged.
    #[must_use]
    pub const fn candidate(&self) -> Candidate<'_> {
        Candidate::published(Some(&self.version), self.published_at)
    }
}

/// What is known of a version's distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dist {
    /// `tarball`
    Tarball,
    /// `integrity`
    Integrity,
    /// `shasum`
    Shasum,
}

/// What a tarball comes with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where the upstream has it.
    pub url: Url,
    /// What its packument promises of it.
    pub promise: Option<Promise>,
}

impl Document {
    /// Reads a packument. `url` is where it came from: addresses of tarballs may be relative to it.
    pub fn read(name: &Name, url: &Url, body: &[u8]) -> Result<Self, DocumentFault> {
        let text = std::str::from_utf8(body).map_err(|_| DocumentFault::NotText)?;
        let length = u32::try_from(text.len()).map_err(|_| ReadFault::TooLarge)?;
        let start = text.len() - text.trim_start().len();
        let start = u32::try_from(start).map_err(|_| ReadFault::TooLarge)?;
        let top = Object::read(text, Span::new(start, length), |name| {
            Some(match name {
                "name" => Top::Name,
                "modified" => Top::Modified,
                "dist-tags" => Top::Tags,
                "versions" => Top::Versions,
                "time" => Top::Time,
                _ => return None,
            })
        })?;
        if let Some(called) = top.get(&Top::Name).and_then(|span| string(text, span))
            && Name::new(&called).is_none_or(|called| called.judged() != name.judged())
        {
            return Err(DocumentFault::OtherPackage(called.chars().take(80).collect()));
        }
        // That a part is null says as little as that it is missing.
        let part = |part| top.get(&part).filter(|span| span.of(text) != "null");
        let versions = part(Top::Versions);
        let versions = versions
            .map(|span| Object::read(text, span, |name| Some(name.to_owned())))
            .transpose()?;
        let time = part(Top::Time);
        let time =
            time.map(|span| Object::read(text, span, |name| Some(name.into()))).transpose()?;
        let (listed, versions) = versions.map_or((Vec::new(), None), |versions| {
            let (names, spans) = unnamed(versions);
            (names, Some(spans))
        });
        let mut drafts = Vec::with_capacity(listed.len());
        let spans = versions.iter().flat_map(|versions| &versions.members);
        for (version, member) in listed.iter().zip(spans) {
            drafts.push(Draft::read(text, version, member.value)?);
        }
        let by_version: HashMap<Box<str>, usize> =
            listed.iter().enumerate().map(|(at, name)| (name.as_str().into(), at)).collect();
        let tags = part(Top::Tags).map(|span| tags(text, span, &by_version)).transpose()?;
        let (mut releases, by_file) = named(name, drafts);
        if let Some(time) = &time {
            date(text, time, &mut releases);
        }
        let mut times = time.iter().flat_map(|time| &time.members);
        let lacks_times =
            !releases.is_empty() && !times.any(|time| by_version.contains_key(&time.name));
        Ok(Self {
            name: name.clone(),
            digest: blake3::hash(body),
            origins: origins(text, url, &releases),
            top,
            versions,
            releases,
            time,
            tags,
            url: url.clone(),
            lacks_times,
            told: OnceLock::new(),
            by_version,
            by_file,
            text: text.into(),
        })
    }

    /// A version by its text.
    #[must_use]
    pub fn version(&self, version: &str) -> Option<(usize, &Release)> {
        let at = *self.by_version.get(version)?;
        Some((at, self.releases.get(at)?.as_ref()?))
    }

    /// The version that a tarball is of.
    #[must_use]
    pub fn file(&self, file: &File) -> Option<&Release> {
        self.releases.get(*self.by_file.get(file)?)?.as_ref()
    }

    /// What is told of a version, by its place among the members of `versions`: read when it is asked
    /// for, and once.
    #[must_use]
    pub fn told(&self, at: usize) -> Option<&Told> {
        self.told.get_or_init(|| told::read(self)).get(at)
    }

    /// What is told of the version that a tarball is of.
    #[must_use]
    pub fn told_of(&self, file: &File) -> Option<&Told> {
        self.told(*self.by_file.get(file)?)
    }

    /// A version that can be served, by its place among the members of `versions`.
    #[must_use]
    pub fn release(&self, at: usize) -> Option<&Release> {
        self.releases.get(at)?.as_ref()
    }

    /// What is there: the versions that can be served.
    #[must_use]
    pub fn there(&self) -> There<'_> {
        let releases = self.releases.iter().flatten();
        There::Versions(releases.map(|release| release.version.as_str()).collect())
    }

    /// Whether it has versions, and says of none of them when it was published: found out when it is
    /// read, because who keeps it asks that often.
    #[must_use]
    pub const fn lacks_times(&self) -> bool {
        self.lacks_times
    }

    /// Whether it lists a version, also one that cannot be served.
    #[must_use]
    pub fn lists(&self, version: &str) -> bool {
        self.by_version.contains_key(version)
    }

    /// Where the tarball of a version comes from: below `registry` by its usual name, where the
    /// packument does not say.
    #[must_use]
    pub fn source(&self, release: &Release, registry: &Url) -> Option<Source> {
        let said = |field| {
            let dist = release.dist.as_ref()?;
            string(&self.text, dist.get(&field)?)
        };
        let mut url = match said(Dist::Tarball) {
            Some(tarball) => self.url.join(&tarball).ok()?,
            None => registry.join(&format!("{}/-/{}", self.name, release.file)).ok()?,
        };
        url.set_fragment(None);
        let integrity = said(Dist::Integrity).and_then(|text| Promise::of_integrity(&text));
        let shasum = || Promise::best_of([("sha1", &*said(Dist::Shasum)?)]);
        Some(Source { url, promise: integrity.or_else(shasum) })
    }

    /// How much memory it takes, roughly.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.text.len() + 1_024 * self.releases.len() + 4_096
    }
}

/// A version that was read, before its tarball has a name.
struct Draft {
    version: Version,
    fields: Object<Field>,
    dist: Option<Object<Dist>>,
    /// What the upstream calls its tarball.
    called: Option<File>,
    runs_scripts: bool,
}

impl Draft {
    /// Reads a version; `None` where it could not be served.
    fn read(text: &str, version: &str, span: Span) -> Result<Option<Self>, ReadFault> {
        if !span.of(text).starts_with('{') || !is_version(version) {
            return Ok(None);
        }
        let mut fields = Object::read(text, span, Field::find)?;
        fields.members.shrink_to_fit();
        let dist = match fields.get(&Field::Dist) {
            Some(span) if !span.of(text).starts_with('{') => return Ok(None),
            Some(span) => Some(Object::read(text, span, |name| {
                Some(match name {
                    "tarball" => Dist::Tarball,
                    "integrity" => Dist::Integrity,
                    "shasum" => Dist::Shasum,
                    _ => return None,
                })
            })?),
            None => None,
        };
        let tarball = dist.as_ref().and_then(|dist| dist.get(&Dist::Tarball));
        let called = match tarball.map(|span| string(text, span)) {
            Some(None) => return Ok(None),
            Some(Some(url)) => file_in(&url),
            None => None,
        };
        let scripts = fields.get(&Field::Scripts);
        let runs_scripts = scripts.is_some_and(|scripts| {
            let install =
                |name: &str| matches!(name, "preinstall" | "install" | "postinstall").then_some(());
            let scripts = Object::read(text, scripts, install);
            scripts.is_ok_and(|scripts| !scripts.members.is_empty())
        });
        let version = Version::parse(Ecosystem::Npm, version);
        Ok(Some(Self { version, fields, dist, called, runs_scripts }))
    }
}

/// Gives every tarball a name: the usual one of its version belongs to that version; what the
/// upstream calls it otherwise is kept where nobody else is called so.
fn named(
    package: &Name,
    drafts: Vec<Option<Draft>>,
) -> (Vec<Option<Release>>, HashMap<File, usize>) {
    let usual: Vec<_> =
        drafts.iter().map(|draft| File::usual(package, draft.as_ref()?.version.as_str())).collect();
    let mut by_file: HashMap<_, _> =
        usual.iter().enumerate().filter_map(|(at, file)| Some((file.clone()?, at))).collect();
    let releases = drafts.into_iter().zip(usual).enumerate().map(|(at, (draft, usual))| {
        let Draft { version, fields, dist, called, runs_scripts } = draft?;
        let called = called.filter(|called| *by_file.entry(called.clone()).or_insert(at) == at);
        let file = called.or(usual)?;
        let published_at = None;
        Some(Release { version, fields, dist, file, runs_scripts, published_at })
    });
    (releases.collect(), by_file)
}

/// Tells each version when it was published.
fn date(text: &str, time: &Object<Box<str>>, releases: &mut [Option<Release>]) {
    let times: HashMap<&str, Span> =
        time.members.iter().map(|member| (&*member.name, member.value)).collect();
    for release in releases.iter_mut().flatten() {
        let span = times.get(release.version.as_str());
        release.published_at = span.and_then(|span| string(text, *span)?.parse().ok());
    }
}

fn tags(
    text: &str,
    span: Span,
    by_version: &HashMap<Box<str>, usize>,
) -> Result<Object<Tag>, DocumentFault> {
    let mut tags = Object::read(text, span, |name| Some(Tag { name: name.into(), target: None }))?;
    if tags.members.len() > MAX_TAGS {
        return Err(DocumentFault::TooManyTags);
    }
    for member in &mut tags.members {
        let target = string(text, member.value);
        member.name.target = target.and_then(|target| by_version.get(&*target).copied());
    }
    Ok(tags)
}

fn origins(text: &str, url: &Url, releases: &[Option<Release>]) -> Vec<Url> {
    let tarballs: Vec<_> = releases
        .iter()
        .filter_map(|release| string(text, release.as_ref()?.dist.as_ref()?.get(&Dist::Tarball)?))
        .collect();
    let distinct: HashSet<_> = tarballs.iter().map(|tarball| origin(tarball)).collect();
    let origins: BTreeSet<_> = distinct.iter().filter_map(|origin| url.join(origin).ok()).collect();
    origins.into_iter().collect()
}

/// An address up to the path, which is at least its origin.
fn origin(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("//") else { return "" };
    let host = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    url.get(..scheme.len() + 2 + host).unwrap_or_default()
}

/// The last step of an address.
fn file_in(url: &str) -> Option<File> {
    let path = url.split(['?', '#']).next()?;
    let last = path.rsplit('/').next()?;
    let file = percent_encoding::percent_decode_str(last).decode_utf8().ok()?;
    File::new(&file)
}

/// Splits names off.
fn unnamed(object: Object<String>) -> (Vec<String>, Object<()>) {
    let Object { span, members, empty } = object;
    let members = members.into_iter().map(|member| {
        let super::span::Member { name, lead, value } = member;
        (name, super::span::Member { name: (), lead, value })
    });
    let (names, members) = members.unzip();
    (names, Object { span, members, empty })
}

/// A string; `None` where it is something else.
pub(super) fn string(text: &str, span: Span) -> Option<Cow<'_, str>> {
    let text = span.of(text);
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') {
        return serde_json::from_str::<String>(text).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inside))
}

/// The packument cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    /// It is not what a packument is.
    #[error("the packument cannot be read")]
    Read(#[from] ReadFault),
    /// It is not UTF-8.
    #[error("the packument is not UTF-8")]
    NotText,
    /// It is about another package.
    #[error("the packument is about `{0}`")]
    OtherPackage(String),
    /// It has more tags than is sane.
    #[error("the packument has more than {MAX_TAGS} tags")]
    TooManyTags,
}

#[cfg(test)]
mod tests;
