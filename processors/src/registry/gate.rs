//! How any ecosystem lets a file through: judged when it is served, whether it was here or not, and
//! its decision in the log before its first byte leaves. What differs between ecosystems is the
//! [`Voice`] that refuses.

use std::{
    marker::PhantomData,
    sync::{Arc, RwLockReadGuard},
};

use futures_util::StreamExt as _;
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{
        ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, ETAG, RETRY_AFTER, VARY,
        WARNING, X_CONTENT_TYPE_OPTIONS,
    },
};
use tracing::{error, warn};
use uuid::Uuid;
use weir_aggregates::registry::{
    dossier::Dossier,
    facts::Facts,
    name::normalise,
    pins::Refusal,
    verdict::{Candidate, Objection, Verdict},
    version::Version,
};
use weir_events::{
    position::Position,
    registry::{Ecosystem, MetadataFiltered},
    timestamp::Timestamp,
};

use super::{
    answer::{Answer, Body},
    asking::Asking,
    cache::CachePlugin,
    decisions,
    documents::DocumentsFault,
    download::{Bounds, DownloadFault, Downloads, Opened, Wanted, read},
    ledger::{Ledger, List, SpendFault},
    pins::Pins,
    policy::{Policy, Unreadable},
    renderings::Rendering,
    setup::Parts,
    sightings::{Sightings, There},
    stats::{Count, Counters},
};
use crate::caller::Caller;

/// Where an answer stands in the log.
const POSITION: HeaderName = HeaderName::from_static("weir-position");

/// What stands for a package's list where something else has a file's name.
pub const LIST: &str = "its list";

/// An answer that is not what was asked for.
pub type Otherwise = Box<Answer>;

/// How an ecosystem's clients are told what is wrong.
pub trait Voice: Send + Sync + 'static {
    /// An answer with this text, one or more lines, in whose reason phrase or headers the reason
    /// stands, for clients that show nothing else.
    fn say(status: StatusCode, text: &str, reason: &str) -> Answer;

    /// The status of an answer to who has used up a quota.
    const USED_UP: StatusCode = StatusCode::TOO_MANY_REQUESTS;
}

/// Plain text, and the reason as the reason phrase: what pip, uv, cargo and go print.
#[derive(Debug)]
pub struct Plain;

impl Voice for Plain {
    fn say(status: StatusCode, text: &str, reason: &str) -> Answer {
        Answer::text(status, text).because(reason)
    }
}

/// What an artifact is called, and where it comes from.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// The package, by its normalised name.
    pub package: String,
    /// The version, where it is known.
    pub version: Option<Version>,
    /// When it was published, where that is told.
    pub published_at: Option<Timestamp>,
    /// The file's name.
    pub file: String,
    /// Where it comes from.
    pub wanted: Wanted,
}

impl Artifact {
    fn etag(&self) -> Option<HeaderValue> {
        let promise = || self.wanted.promise.as_ref()?.tag();
        let tag = self.wanted.sha256.map(hex::encode).or_else(promise);
        let tag = tag.or_else(|| self.wanted.shape.tag())?;
        HeaderValue::try_from(format!("\"{tag}\"")).ok()
    }

    /// As it is judged.
    #[must_use]
    pub fn candidate(&self) -> Candidate<'_> {
        Candidate::published(self.version.as_ref(), self.published_at)
    }

    /// Says so where the index promises too little to verify the bytes.
    fn warned(&self, answer: Answer) -> Answer {
        if self.wanted.can_be_kept() {
            return answer;
        }
        let warning = match self.wanted.promise {
            Some(_) => "299 - \"the index promises only a weak hash of this file, it is not kept\"",
            None => {
                "299 - \"the index promises no hash that Weir verifies, this file is not kept\""
            }
        };
        answer.with(WARNING, HeaderValue::from_static(warning))
    }
}

/// What a list is of.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// The package, by its normalised name.
    pub package: &'a str,
    /// BLAKE3 of the upstream's document.
    pub digest: blake3::Hash,
    /// What it was judged by.
    pub dossier: &'a Dossier,
    /// Its media type.
    pub content_type: &'static str,
}

/// What was changed in a list.
pub trait Changed {
    /// Versions left out.
    fn hidden(&self) -> &[String];

    /// Versions marked as "do not choose".
    fn marked(&self) -> &[String];

    /// When the first version that is too young is old enough: then the list is another.
    fn ripens_at(&self) -> Option<Timestamp>;
}

/// The gate of one ecosystem.
#[derive(Debug)]
pub struct Gate<C, V> {
    ecosystem: Ecosystem,
    downloads: Downloads<C>,
    policy: Policy,
    ledger: Arc<Ledger>,
    counters: Arc<Counters>,
    sightings: Sightings,
    pins: Pins,
    instance: Uuid,
    voice: PhantomData<V>,
}

impl<C: CachePlugin, V: Voice> Gate<C, V> {
    /// A gate in front of a cache and an outside.
    pub fn new(parts: Parts<'_, C>, counters: Arc<Counters>, bounds: Bounds) -> Self {
        let Parts { policy, ledger, outbound, cache, lifecycle, .. } = parts;
        let ledger = Arc::new(ledger);
        Self {
            ecosystem: ledger.ecosystem(),
            instance: outbound.instance(),
            downloads: Downloads::new(
                cache,
                outbound,
                Arc::clone(&ledger),
                Arc::clone(&counters),
                lifecycle.clone(),
                bounds,
            ),
            policy,
            ledger,
            counters,
            sightings: Sightings::default(),
            pins: Pins::default(),
            voice: PhantomData,
        }
    }

    /// The ways files come.
    pub const fn downloads(&self) -> &Downloads<C> {
        &self.downloads
    }

    /// The way into the log.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What happened.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Refuses what has come through this very Weir before.
    pub fn not_again(&self, asking: &Asking) -> Result<(), Otherwise> {
        if !asking.trail.closes_a_circle_at(self.instance) {
            return Ok(());
        }
        let why = format!(
            "the upstream of this Weir is this Weir; set registries.{}.upstream to a registry",
            self.ecosystem
        );
        Err(Self::no(StatusCode::LOOP_DETECTED, &why))
    }

    /// The answer of an ecosystem that has no upstream.
    pub fn disabled(&self) -> Otherwise {
        let why =
            format!("packages of {0} are disabled: set registries.{0}.upstream", self.ecosystem);
        Self::no(StatusCode::NOT_IMPLEMENTED, &why)
    }

    /// What is known now about a package, given by its name in any spelling, for what is asked.
    pub fn about(
        &self,
        package: &str,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Arc<Dossier>, Otherwise> {
        let now = self.ledger.now();
        let about = self.policy.about(self.ecosystem, package, caller, now);
        let mut dossier = about.map_err(|unreadable| Self::unreadable(&unreadable))?;
        if dossier.counts_age() {
            dossier = self.remembering(&dossier, package);
        }
        Ok(match asking.as_of {
            Some(as_of) => Arc::new(Dossier::clone(&dossier).as_of(as_of)),
            None => dossier,
        })
    }

    /// Looks at what is there of a package, given by its normalised name, where it matters when that
    /// was seen first: in a list, or by itself. To be done before anything asks [`Gate::about`] it.
    pub async fn look<'a>(
        &self,
        package: &str,
        list: Option<blake3::Hash>,
        there: impl FnOnce() -> There<'a> + Send,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        let known = list.is_some_and(|list| self.sightings.looked_at(package, &list));
        if known || !self.watches()? {
            return Ok(());
        }
        let looked = self.sightings.look(&self.ledger, package, list, &there(), caller).await;
        looked.map_err(|fault| Self::unrecorded(&fault))
    }

    /// Whether it matters when the versions of packages were seen first.
    pub fn watches(&self) -> Result<bool, Otherwise> {
        Ok(self.facts()?.watches(self.ecosystem))
    }

    /// Whether a version was seen, as far as is known here.
    pub fn has_seen(&self, package: &str, version: &str) -> bool {
        self.sightings.has_seen(package, version)
    }

    /// The same dossier, with what was seen meanwhile.
    pub fn remembering(&self, dossier: &Arc<Dossier>, package: &str) -> Arc<Dossier> {
        let package = normalise(self.ecosystem, package);
        Arc::new(Dossier::clone(dossier).seeing(self.sightings.known(&package)))
    }

    /// The live policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// All that is known now. Not to be held while anything is waited for.
    pub fn facts(&self) -> Result<RwLockReadGuard<'_, Facts>, Otherwise> {
        self.policy.facts().map_err(|unreadable| Self::unreadable(&unreadable))
    }

    fn unreadable(unreadable: &Unreadable) -> Otherwise {
        let text = unreadable.to_string();
        Box::new(V::say(StatusCode::SERVICE_UNAVAILABLE, &text, "Weir cannot read its rules"))
    }

    /// Answers with a list as the policy left it. That it changed it is on record first.
    pub async fn list<F: Changed>(
        &self,
        listed: &Listed<'_>,
        list: &Rendering<F>,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let unchanged = asking.has(&list.etag);
        let (hidden, marked) = (list.filtered.hidden(), list.filtered.marked());
        if !hidden.is_empty() || !marked.is_empty() {
            self.counters.count(Count::Filtered);
            // Who names the validator was told what it stands for, on record.
            if !asking.knows(&list.etag) && !asking.head {
                let filtered = MetadataFiltered {
                    ecosystem: self.ecosystem,
                    package: listed.package.to_owned(),
                    hidden: hidden.to_vec(),
                    marked: marked.to_vec(),
                    policy_revision: listed.dossier.revision,
                    document: listed.digest.to_hex().to_string(),
                };
                let known = &listed.dossier.key;
                let recorded = self.ledger.filtered(List::Versions, filtered, known, caller).await;
                recorded.map_err(|fault| Self::unrecorded(&fault))?;
            }
        }
        let answer = if unchanged {
            Answer::empty(StatusCode::NOT_MODIFIED)
        } else {
            Answer::whole(StatusCode::OK, listed.content_type, list.body.clone())
        };
        Ok(answer
            .with(ETAG, list.etag.clone())
            .with(VARY, HeaderValue::from_static("Accept, Accept-Encoding"))
            // Clients must ask again, so that the rules of that day decide.
            .with(CACHE_CONTROL, HeaderValue::from_static("no-cache")))
    }

    /// Lets a file through, or refuses it. `instead` says which version may be had, for the refusal.
    pub async fn file<I>(
        &self,
        artifact: &Artifact,
        asking: &Asking,
        caller: &Caller,
        instead: impl Fn(Arc<Dossier>) -> I + Send + Sync,
    ) -> Result<Answer, Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        let dossier = self.about(&artifact.package, asking, caller)?;
        let mut verdict = self.judged(artifact, &dossier, asking, caller, &instead).await?;
        let etag = artifact.etag();
        if etag.as_ref().is_some_and(|etag| asking.has(etag)) {
            return Ok(headed(Answer::empty(StatusCode::NOT_MODIFIED), etag));
        }
        if asking.head {
            return self.head(artifact, asking).await;
        }
        let changed = self.changed(artifact, caller).await?;
        if let Some(refusal) = &changed {
            verdict = dossier.judge_changed(&artifact.candidate(), refusal);
            self.passing(&verdict, artifact, &dossier, asking, caller, &instead).await?;
        }
        let opened = self.downloads.open(&artifact.wanted, caller, &asking.trail).await;
        let opened = opened.map_err(|fault| Self::no_file(&fault))?;
        // The rules may have changed while the upstream was asked.
        let now = self.about(&artifact.package, asking, caller)?;
        if now.key != dossier.key {
            verdict = self.judged(artifact, &now, asking, caller, &instead).await?;
            if let Some(refusal) = &changed {
                verdict = now.judge_changed(&artifact.candidate(), refusal);
                self.passing(&verdict, artifact, &now, asking, caller, &instead).await?;
            }
        }
        let counted = now.profile().is_some_and(|profile| profile.quota.bytes_per_day.is_some());
        let size = match &opened {
            Opened::Kept(cached) => Some(cached.meta.size),
            Opened::Coming(transfer) if counted => transfer.measured().await,
            Opened::Coming(transfer) => transfer.size(),
        };
        let known = asking.if_range.as_deref();
        let same = known.is_none_or(|known| etag.as_ref().is_some_and(|etag| etag == known));
        let range = match (asking.part.filter(|_| same), size) {
            (Some(part), Some(size)) => match part.of(size) {
                Some(range) => Some((range, size)),
                None => return Err(Self::unsatisfiable(size)),
            },
            _ => None,
        };
        let wanted = range.as_ref().map(|(range, _)| range.end - range.start).or(size);
        let bytes = wanted.unwrap_or(0);
        let position = self.let_through(artifact, &now, &verdict, bytes, asking, caller).await?;
        let content_type = artifact.wanted.content_type;
        let answer = match range {
            None => {
                let body = Body::Stream(read(opened, None).boxed());
                Answer::stream(StatusCode::OK, content_type, size, body)
            }
            Some((range, size)) => {
                let length = range.end - range.start;
                let told = format!("bytes {}-{}/{size}", range.start, range.end - 1);
                let told = HeaderValue::try_from(told).map_err(|_| Self::unsatisfiable(size))?;
                let body = Body::Stream(read(opened, Some(range)).boxed());
                Answer::stream(StatusCode::PARTIAL_CONTENT, content_type, Some(length), body)
                    .with(CONTENT_RANGE, told)
            }
        };
        let answer = artifact.warned(headed(answer, etag)).with(POSITION, position.0.into());
        Ok(match &verdict {
            Verdict::Warn(objection) => warned(answer, objection),
            Verdict::Allow | Verdict::Excused(_) | Verdict::Block(_) => answer,
        })
    }

    /// Puts on record that a file is let through, and what of a quota that costs.
    async fn let_through(
        &self,
        artifact: &Artifact,
        dossier: &Dossier,
        verdict: &Verdict,
        bytes: u64,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Position, Otherwise> {
        let quota = dossier.profile().map(|profile| profile.quota).unwrap_or_default();
        let allowed = decisions::allowed(artifact, dossier, verdict);
        if quota.is_none() {
            let position = self.ledger.record(allowed, caller).await;
            return position.map_err(|fault| Self::unrecorded(&fault));
        }
        let refusal = match self.ledger.spend(quota, bytes, allowed, caller).await {
            Ok(position) => return Ok(position),
            Err(SpendFault::Ledger(fault)) => return Err(Self::unrecorded(&fault)),
            Err(SpendFault::Spent(refusal)) => refusal,
        };
        self.counters.count(Count::Blocked);
        let objection = Objection::used_up(&refusal);
        let blocked = decisions::blocked(artifact, dossier, &objection);
        let at = self.ledger.record(blocked, caller).await;
        let Position(at) = at.map_err(|fault| Self::unrecorded(&fault))?;
        let told = objection.to_string();
        let seconds = refusal.retry_after(self.ledger.now());
        let text = format!("{told}\nagain in {seconds} seconds\nrecorded as event {at}");
        let answer = V::say(V::USED_UP, &text, &told).with(POSITION, at.into());
        let says_when = V::USED_UP == StatusCode::TOO_MANY_REQUESTS && !asking.sleeps;
        let retry_after = || HeaderValue::from(seconds);
        Err(Box::new(if says_when { answer.with(RETRY_AFTER, retry_after()) } else { answer }))
    }

    /// Refuses what is forbidden, on record, and lets everything else go on to be answered by who asks:
    /// for what is told of a version beside its files.
    pub async fn permit<I>(
        &self,
        artifact: &Artifact,
        asking: &Asking,
        caller: &Caller,
        instead: impl Fn(Arc<Dossier>) -> I + Send + Sync,
    ) -> Result<(), Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        let dossier = self.about(&artifact.package, asking, caller)?;
        self.judged(artifact, &dossier, asking, caller, &instead).await.map(drop)
    }

    /// Lets an allowed file through, and refuses a forbidden one; the refusal is on record.
    pub async fn judged<I>(
        &self,
        artifact: &Artifact,
        dossier: &Arc<Dossier>,
        asking: &Asking,
        caller: &Caller,
        instead: &(impl Fn(Arc<Dossier>) -> I + Send + Sync),
    ) -> Result<Verdict, Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        let verdict = dossier.judge(&artifact.candidate());
        self.passing(&verdict, artifact, dossier, asking, caller, instead).await?;
        Ok(verdict)
    }

    /// Refuses what a verdict does not let pass.
    async fn passing<I>(
        &self,
        verdict: &Verdict,
        artifact: &Artifact,
        dossier: &Arc<Dossier>,
        asking: &Asking,
        caller: &Caller,
        instead: &(impl Fn(Arc<Dossier>) -> I + Send + Sync),
    ) -> Result<(), Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        let Some(objection) = verdict.refusal() else { return Ok(()) };
        let instead = instead(Arc::clone(dossier)).await;
        Err(Box::new(self.refuse(artifact, dossier, objection, asking, caller, instead).await?))
    }

    /// Whether something else was promised of a file when it was first let through. What is called by
    /// its digest cannot change, and of a Go module only what a checksum database says is compared.
    async fn changed(
        &self,
        artifact: &Artifact,
        caller: &Caller,
    ) -> Result<Option<Refusal>, Otherwise> {
        let told = artifact.wanted.pinned().is_some();
        match self.ecosystem {
            Ecosystem::Docker => return Ok(None),
            Ecosystem::Go if !told => return Ok(None),
            Ecosystem::Go | Ecosystem::Pypi | Ecosystem::Npm | Ecosystem::Cargo => {}
        }
        let pinned = self.pins.pin(&self.ledger, artifact, caller).await;
        pinned.map_err(|fault| Self::unrecorded(&fault))
    }

    /// Refuses a package that is reserved, on record, before anybody outside hears of it. `what` says
    /// what was asked for of it.
    pub async fn unreserved(
        &self,
        package: &str,
        what: &str,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        let Some(objection) = self.facts()?.reserved(self.ecosystem, package) else {
            return Ok(());
        };
        self.counters.count(Count::Blocked);
        let package = normalise(self.ecosystem, package);
        let dossier = self.about(&package, asking, caller)?;
        let told = objection.to_string();
        let mut text =
            format!("{told}\n`{package}` comes from a registry of your own, or not at all");
        let mut position = None;
        if !asking.head {
            let blocked = decisions::reserved(&package, what, &dossier, &objection);
            let at = self.ledger.record(blocked, caller).await;
            let at = at.map_err(|fault| Self::unrecorded(&fault))?;
            text = format!("{text}\nrecorded as event {at}");
            position = Some(at);
        }
        let answer = V::say(StatusCode::FORBIDDEN, &text, &told);
        Err(Box::new(match position {
            Some(Position(at)) => answer.with(POSITION, at.into()),
            None => answer,
        }))
    }

    async fn refuse(
        &self,
        artifact: &Artifact,
        dossier: &Dossier,
        objection: &Objection,
        asking: &Asking,
        caller: &Caller,
        instead: Option<String>,
    ) -> Result<Answer, Otherwise> {
        self.counters.count(Count::Blocked);
        let (package, told) = (&artifact.package, objection.to_string());
        let what = match &artifact.version {
            Some(version) => format!("version {version} of `{package}`"),
            None => format!("`{}`, a file of `{package}` that tells no version,", artifact.file),
        };
        let instead = match instead {
            Some(version) => format!("{version} is allowed"),
            None => "no version of it is allowed".to_owned(),
        };
        let mut text = format!("{told}\n{what} is not let through; {instead}");
        let mut position = None;
        // To ask whether a file is there is no download yet.
        if !asking.head {
            let blocked = decisions::blocked(artifact, dossier, objection);
            let at = self.ledger.record(blocked, caller).await;
            let at = at.map_err(|fault| Self::unrecorded(&fault))?;
            text = format!("{text}\nrecorded as event {at}");
            position = Some(at);
        }
        let answer = V::say(StatusCode::FORBIDDEN, &text, &told);
        Ok(match position {
            Some(Position(at)) => answer.with(POSITION, at.into()),
            None => answer,
        })
    }

    async fn head(&self, artifact: &Artifact, asking: &Asking) -> Result<Answer, Otherwise> {
        let kept = self.downloads.kept(&artifact.wanted).await;
        let kept = kept.map_err(|fault| Self::no_file(&fault.into()))?;
        let size = match (kept, artifact.wanted.size) {
            (Some(cached), _) => Some(cached.meta.size),
            (None, Some(size)) => Some(size),
            (None, None) => {
                let asked = self.downloads.size(&artifact.wanted, &asking.trail).await;
                asked.map_err(|fault| Self::no_file(&fault))?
            }
        };
        let content_type = artifact.wanted.content_type;
        let answer = Answer::stream(StatusCode::OK, content_type, size, Body::Empty);
        Ok(artifact.warned(headed(answer, artifact.etag())))
    }

    /// An answer that says why not.
    pub fn no(status: StatusCode, why: &str) -> Otherwise {
        let answer = V::say(status, why, why);
        Box::new(answer.with(CACHE_CONTROL, HeaderValue::from_static("no-store")))
    }

    /// This process is stopping.
    pub fn stopping() -> Otherwise {
        let answer = Self::no(StatusCode::SERVICE_UNAVAILABLE, "this Weir is stopping");
        Box::new(answer.with(RETRY_AFTER, 1.into()))
    }

    fn unsatisfiable(size: u64) -> Otherwise {
        let why = format!("the file has {size} bytes");
        let answer = Self::no(StatusCode::RANGE_NOT_SATISFIABLE, &why);
        Box::new(match HeaderValue::try_from(format!("bytes */{size}")) {
            Ok(range) => answer.with(CONTENT_RANGE, range),
            Err(_) => *answer,
        })
    }

    /// Nothing passes unrecorded.
    pub(super) fn unrecorded(fault: &dyn std::error::Error) -> Otherwise {
        error!(error = chain(fault), "a decision could not be recorded, nothing passes");
        let why = "Weir cannot record its decision now, so nothing passes; try again";
        let answer = Self::no(StatusCode::SERVICE_UNAVAILABLE, why);
        Box::new(answer.with(RETRY_AFTER, 1.into()))
    }

    /// There is no list.
    pub fn no_list(fault: &DocumentsFault) -> Otherwise {
        match fault {
            DocumentsFault::NotFound(_) => Self::no(StatusCode::NOT_FOUND, &fault.to_string()),
            DocumentsFault::Stopping => Self::stopping(),
            DocumentsFault::Status { .. }
            | DocumentsFault::Unreachable { .. }
            | DocumentsFault::Unreadable { .. } => {
                warn!(error = chain(fault), "no list from the upstream");
                Self::no(StatusCode::BAD_GATEWAY, &chain(fault))
            }
        }
    }

    /// There is no file.
    pub fn no_file(fault: &DownloadFault) -> Otherwise {
        match fault {
            DownloadFault::NotFound(_) => {
                let why = "the upstream lists this file, but does not have it";
                Self::no(StatusCode::NOT_FOUND, why)
            }
            DownloadFault::Stopping => Self::stopping(),
            DownloadFault::Busy => {
                let answer = Self::no(StatusCode::SERVICE_UNAVAILABLE, &fault.to_string());
                Box::new(answer.with(RETRY_AFTER, 1.into()))
            }
            DownloadFault::Disk(_) => {
                error!(error = chain(fault), "the place for files does not work");
                let why = "Weir cannot keep files now; try again";
                Self::no(StatusCode::SERVICE_UNAVAILABLE, why)
            }
            DownloadFault::Status { .. }
            | DownloadFault::Outbound(_)
            | DownloadFault::Mismatch(_)
            | DownloadFault::NothingCame(_)
            | DownloadFault::TooSlow(_) => Self::no(StatusCode::BAD_GATEWAY, &chain(fault)),
        }
    }
}

/// Lets through with a word: what would be refused if it were not audited only.
fn warned(answer: Answer, objection: &Objection) -> Answer {
    let text: String = objection
        .to_string()
        .chars()
        .map(|c| if matches!(c, ' '..='~') && c != '"' && c != '\\' { c } else { '?' })
        .collect();
    match HeaderValue::try_from(format!("299 - \"audited only: {text}\"")) {
        Ok(warning) => answer.with(WARNING, warning),
        Err(_) => answer,
    }
}

fn headed(answer: Answer, etag: Option<HeaderValue>) -> Answer {
    let answer = answer
        // Clients must ask again, so that the rules of that day decide.
        .with(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .with(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let answer = if answer.headers.contains_key(CONTENT_LENGTH) {
        answer.with(ACCEPT_RANGES, HeaderValue::from_static("bytes"))
    } else {
        answer
    };
    match etag {
        Some(etag) => answer.with(ETAG, etag),
        None => answer,
    }
}

/// A fault and what caused it, in one line.
fn chain(fault: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(fault.source(), |cause| cause.source());
    causes.fold(fault.to_string(), |line, cause| format!("{line}: {cause}"))
}
