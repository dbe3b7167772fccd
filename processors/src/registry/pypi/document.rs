//! A project's page of the simple index, as Weir keeps it: what it understands of each file beside
//! the members exactly as the upstream wrote them.
//!
//! Follows the simple repository API (PEP 503, 592, 658, 691, 700, 714, 792). Only what is
//! understood is judged; what is not understood is passed on, byte for byte.

use std::{
    collections::{BTreeMap, HashMap},
    sync::OnceLock,
};

use serde_json::value::RawValue;
use weir_aggregates::registry::{
    told::Told,
    verdict::{Candidate, FileTimes},
    version::Version,
};
use weir_events::timestamp::Timestamp;

use super::{
    filename::{Filename, Project},
    told,
};
use crate::{
    outbound::Url,
    registry::{download::Promise, sightings::There},
};

/// The members of a JSON object in their order, each name once (the last one wins, as in the JSON
/// parsers of the clients), each value as it was written.
pub type Members = Vec<(String, Box<RawValue>)>;

/// The most files a page may list, and the most versions.
pub const MAX_LISTED: usize = 200_000;

/// The most members that the files of a page may have together: a dozen for each of the files that there
/// is room for on the longest page.
pub const MAX_MEMBERS_LISTED: usize = 1_000_000;

/// What a member takes beside its text, roughly: its place in a list, and two small allocations.
const MEMBER_BYTES: usize = 112;

/// A project's page.
#[derive(Debug)]
pub struct Document {
    /// The project.
    pub project: Project,
    /// BLAKE3 of the page as the upstream sent it.
    pub digest: blake3::Hash,
    /// The members of the page, `files` and `versions` left out.
    pub members: Members,
    /// The versions it lists, if it lists any.
    pub versions: Option<Vec<String>>,
    /// The files it lists, in its order; those whose names cannot be served are left out.
    pub files: Vec<File>,
    /// The version of the API it speaks, as `1.4`.
    pub api_version: String,
    /// PEP 792: the project's status, and why.
    pub status: Option<(String, Option<String>)>,
    /// How many files were left out because of their names.
    pub n_unservable: usize,
    /// How long it was as the upstream sent it.
    pub body_bytes: usize,
    /// How much memory it takes, roughly.
    pub size_bytes: usize,
    /// An address of each origin that its files have.
    pub origins: Vec<Url>,
    by_name: HashMap<Filename, usize>,
    /// When the files of each version were uploaded, in whichever spellings of it.
    uploads: BTreeMap<Version, Uploads>,
    told: OnceLock<Vec<Told>>,
}

/// When the files of a version were uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Uploads {
    /// The first of those that tell.
    first: Option<Timestamp>,
    /// The newest; `None` where one of them does not tell.
    newest: Option<Timestamp>,
}

/// A file of a project.
#[derive(Debug)]
pub struct File {
    /// Its name.
    pub filename: Filename,
    /// Where the upstream has it.
    pub url: Url,
    /// The version its name tells.
    pub version: Option<Version>,
    /// The SHA-256 the index promises.
    pub sha256: Option<Sha256>,
    /// What else the index promises, where it promises no SHA-256.
    pub promise: Option<Promise>,
    /// The other hashes the index promises, as `name=hexadecimal`, for pages in HTML.
    pub other_hash: Option<String>,
    /// Its size.
    pub size: Option<u64>,
    /// Whether the upstream calls it yanked.
    pub yanked: Yanked,
    /// Whether its core metadata lie beside it.
    pub core_metadata: CoreMetadata,
    /// Whether a signature lies beside it, where the upstream says so.
    pub gpg_sig: Option<bool>,
    /// The Python versions it is for.
    pub requires_python: Option<String>,
    /// Where its provenance is to be found.
    pub provenance: Option<String>,
    /// When it was uploaded, where the page tells.
    pub uploaded_at: Option<Timestamp>,
    /// All members as they were written.
    pub members: Members,
}

impl File {
    fn there(&self) -> Option<(&str, &Version)> {
        Some((self.filename.as_str(), self.version.as_ref()?))
    }
}

/// A SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sha256(pub [u8; 32]);

impl Sha256 {
    /// Reads 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text.trim(), &mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// 64 hexadecimal digits in lower case.
    #[must_use]
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }
}

/// PEP 592: listed, but not to be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Yanked {
    /// Not yanked.
    No,
    /// Yanked, with the reason if there is one.
    Yes(Option<String>),
}

/// PEP 658 and 714: whether `{file}.metadata` is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreMetadata {
    /// It is not.
    No,
    /// It is, with its own hash if that is told.
    Yes(Option<Sha256>),
}

/// What a page consists of, before it is put together.
#[derive(Debug)]
pub struct Parts {
    /// The members of the page, `files` and `versions` left out.
    pub members: Members,
    /// The versions it lists.
    pub versions: Option<Vec<String>>,
    /// The files it lists.
    pub files: Vec<File>,
    /// The version of the API it speaks.
    pub api_version: String,
    /// The project's status, and why.
    pub status: Option<(String, Option<String>)>,
    /// How many files were left out because of their names.
    pub n_unservable: usize,
}

impl Document {
    /// Puts a page together.
    #[must_use]
    pub fn new(project: Project, body: &[u8], parts: Parts) -> Self {
        let Parts { members, versions, files, api_version, status, n_unservable } = parts;
        let by_name =
            files.iter().enumerate().map(|(at, file)| (file.filename.clone(), at)).collect();
        // Members as text, names and addresses once more, and what many small allocations cost: as they
        // are on most pages, and where there are more of them.
        let n_members: usize = files.iter().map(|file| file.members.len()).sum();
        let usual = 5 * body.len();
        let size_bytes = usual.max(3 * body.len() + MEMBER_BYTES * n_members) + 4_096;
        let body_bytes = body.len();
        let digest = blake3::hash(body);
        let (uploads, origins) = (uploads(&files), origins(&files));
        Self {
            project,
            digest,
            members,
            versions,
            files,
            api_version,
            status,
            n_unservable,
            body_bytes,
            size_bytes,
            origins,
            by_name,
            uploads,
            told: OnceLock::new(),
        }
    }

    /// A file as it is judged: a version is as young as its newest file, for a file that is added late
    /// is a way in.
    #[must_use]
    pub fn candidate<'a>(&self, file: &'a File) -> Candidate<'a> {
        let version = file.version.as_ref();
        let published_at = version.map_or(file.uploaded_at, |v| self.published_at(v));
        Candidate::published(version, published_at)
            .in_file(file.filename.as_str(), self.times(file))
    }

    /// When a file was uploaded, and its version.
    #[must_use]
    pub fn times(&self, file: &File) -> FileTimes {
        let began_at = file.version.as_ref().and_then(|version| self.began_at(version));
        FileTimes { published_at: file.uploaded_at, began_at }
    }

    /// What is told of a file, by its place among the files: read when it is asked for, and once.
    #[must_use]
    pub fn told(&self, at: usize) -> Option<&Told> {
        self.told.get_or_init(|| told::read(self)).get(at)
    }

    /// What is told of a file, or of the one that it lies beside.
    #[must_use]
    pub fn told_of(&self, name: &Filename) -> Option<&Told> {
        let beside = || self.by_name.get(&name.sidecar()?.0);
        self.told(*self.by_name.get(name).or_else(beside)?)
    }

    /// When the first file of a version was uploaded, of those that tell.
    #[must_use]
    pub fn began_at(&self, version: &Version) -> Option<Timestamp> {
        self.uploads.get(version)?.first
    }

    /// When the newest file of a version was uploaded, where all of them tell.
    #[must_use]
    pub fn published_at(&self, version: &Version) -> Option<Timestamp> {
        self.uploads.get(version)?.newest
    }

    /// What is there: the files that tell a version.
    #[must_use]
    pub fn there(&self) -> There<'_> {
        let files = self.files.iter().filter_map(File::there);
        There::Files(files.collect())
    }

    /// A file by its name.
    #[must_use]
    pub fn file(&self, name: &Filename) -> Option<&File> {
        self.files.get(*self.by_name.get(name)?)
    }
}

fn uploads(files: &[File]) -> BTreeMap<Version, Uploads> {
    let mut uploads = BTreeMap::new();
    for File { version, uploaded_at, .. } in files {
        let Some(version) = version else { continue };
        match uploads.get_mut(version) {
            None => {
                let uploaded = Uploads { first: *uploaded_at, newest: *uploaded_at };
                uploads.insert(version.clone(), uploaded);
            }
            Some(Uploads { first, newest }) => {
                *first = (*first).into_iter().chain(*uploaded_at).min();
                *newest = newest.zip(*uploaded_at).map(|(a, b): (Timestamp, _)| a.max(b));
            }
        }
    }
    uploads
}

/// The page cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    /// It is not JSON, or not the JSON of a project's page.
    #[error("the page is not the JSON of a project")]
    Json(#[source] serde_json::Error),
    /// It speaks a version of the API that is not read here.
    #[error("the page speaks version `{0}` of the simple API; versions 1.x are read")]
    ApiVersion(String),
    /// It is about another project.
    #[error("the page is about `{0}`")]
    OtherProject(String),
    /// It lists more than is sane.
    #[error("the page lists more than {MAX_LISTED} files or versions")]
    TooMany,
    /// Its files say more than is sane.
    #[error("the files that the page lists have more than {MAX_MEMBERS_LISTED} members together")]
    TooManyMembers,
    /// It is not UTF-8.
    #[error("the page is not UTF-8")]
    NotText,
    /// It is neither JSON nor HTML.
    #[error("the page is `{0}`, neither JSON nor HTML")]
    UnknownType(String),
}

/// An address of each origin that files have: nearly always one.
fn origins(files: &[File]) -> Vec<Url> {
    let mut origins: Vec<Url> = Vec::new();
    for file in files {
        if !origins.iter().any(|known| known.origin() == file.url.origin()) {
            origins.push(file.url.clone());
        }
    }
    origins
}
