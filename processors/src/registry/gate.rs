//! How any ecosystem lets a file through: judged when it is served, whether it was here or not, and
//! its decision in the log before its first byte leaves. What differs between ecosystems is the
//! [`Voice`] that refuses.

use std::{marker::PhantomData, sync::Arc};

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
    rule::{CompiledRule, RuleSet},
    verdict::{Verdict, judge_among},
    version::Version,
};
use weir_events::{
    position::Position,
    registry::{Ecosystem, MetadataFiltered, PackageAllowed, PackageBlocked},
};

use super::{
    answer::{Answer, Body},
    asking::Asking,
    cache::CachePlugin,
    documents::DocumentsFault,
    download::{Bounds, DownloadFault, Downloads, Opened, Wanted, read},
    ledger::{Ledger, List},
    policy::Policy,
    renderings::Rendering,
    setup::Parts,
    stats::{Count, Counters},
};
use crate::caller::Caller;

/// Where an answer stands in the log.
const POSITION: HeaderName = HeaderName::from_static("weir-position");

/// An answer that is not what was asked for.
pub type Otherwise = Box<Answer>;

/// How an ecosystem's clients are told what is wrong.
pub trait Voice: Send + Sync + 'static {
    /// An answer with this text, one or more lines, in whose reason phrase or headers the reason
    /// stands, for clients that show nothing else.
    fn say(status: StatusCode, text: &str, reason: &str) -> Answer;
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
    /// The file's name.
    pub file: String,
    /// Where it comes from.
    pub wanted: Wanted,
}

impl Artifact {
    fn etag(&self) -> Option<HeaderValue> {
        let promise = || self.wanted.promise.as_ref()?.tag();
        let tag = self.wanted.sha256.map(hex::encode).or_else(promise)?;
        HeaderValue::try_from(format!("\"{tag}\"")).ok()
    }

    fn version(&self) -> Option<String> {
        self.version.as_ref().map(ToString::to_string)
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
    /// The policy it was judged by.
    pub revision: i64,
    /// Its media type.
    pub content_type: &'static str,
}

/// What the rules changed in a list.
pub trait Changed {
    /// Versions left out.
    fn hidden(&self) -> &[String];

    /// Versions marked as "do not choose".
    fn marked(&self) -> &[String];
}

/// The gate of one ecosystem.
#[derive(Debug)]
pub struct Gate<C, V> {
    ecosystem: Ecosystem,
    downloads: Downloads<C>,
    policy: Policy,
    ledger: Arc<Ledger>,
    counters: Arc<Counters>,
    instance: Uuid,
    voice: PhantomData<V>,
}

impl<C: CachePlugin, V: Voice> Gate<C, V> {
    /// A gate in front of a cache and an outside.
    pub fn new(parts: Parts<'_, C>, counters: Arc<Counters>, bounds: Bounds) -> Self {
        let Parts { policy, ledger, outbound, cache, lifecycle } = parts;
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

    /// The rules of now.
    pub fn rules(&self) -> Result<Arc<RuleSet>, Otherwise> {
        self.policy.current().map_err(|unreadable| {
            let text = unreadable.to_string();
            Box::new(V::say(StatusCode::SERVICE_UNAVAILABLE, &text, "Weir cannot read its rules"))
        })
    }

    /// Answers with a list as the rules left it. That they changed it is on record first.
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
                    policy_revision: listed.revision,
                    document: listed.digest.to_hex().to_string(),
                };
                let recorded = self.ledger.filtered(List::Versions, filtered, caller).await;
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
        instead: impl Fn(Arc<RuleSet>) -> I + Send + Sync,
    ) -> Result<Answer, Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        let rules = self.rules()?;
        self.judged(artifact, &rules, asking, caller, &instead).await?;
        let etag = artifact.etag();
        if etag.as_ref().is_some_and(|etag| asking.has(etag)) {
            return Ok(headed(Answer::empty(StatusCode::NOT_MODIFIED), etag));
        }
        if asking.head {
            return self.head(artifact, asking).await;
        }
        let opened = self.downloads.open(&artifact.wanted, caller, &asking.trail).await;
        let opened = opened.map_err(|fault| Self::no_file(&fault))?;
        // The rules may have changed while the upstream was asked.
        let now = self.rules()?;
        if now.revision != rules.revision {
            self.judged(artifact, &now, asking, caller, &instead).await?;
        }
        let size = match &opened {
            Opened::Kept(cached) => Some(cached.meta.size),
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
        let position = self.record_allowed(artifact, &now, caller).await?;
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
        Ok(artifact.warned(headed(answer, etag)).with(POSITION, position.0.into()))
    }

    /// Lets an allowed file through, and refuses a forbidden one; the refusal is on record.
    async fn judged<I>(
        &self,
        artifact: &Artifact,
        rules: &Arc<RuleSet>,
        asking: &Asking,
        caller: &Caller,
        instead: &(impl Fn(Arc<RuleSet>) -> I + Send + Sync),
    ) -> Result<(), Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        let about = rules.about(self.ecosystem, &artifact.package);
        match judge_among(&about, artifact.version.as_ref()) {
            Verdict::Allow => Ok(()),
            Verdict::Block { rule } => {
                let instead = instead(Arc::clone(rules)).await;
                Err(Box::new(self.refuse(artifact, rules, &rule, asking, caller, instead).await?))
            }
        }
    }

    async fn refuse(
        &self,
        artifact: &Artifact,
        rules: &RuleSet,
        rule: &CompiledRule,
        asking: &Asking,
        caller: &Caller,
        instead: Option<String>,
    ) -> Result<Answer, Otherwise> {
        self.counters.count(Count::Blocked);
        let (package, told) = (&artifact.package, told(rule));
        let version = artifact.version();
        let what = match &version {
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
            let blocked = PackageBlocked {
                ecosystem: self.ecosystem,
                package: package.clone(),
                version,
                file: artifact.file.clone(),
                source: "rules".to_owned(),
                rule_id: Some(rule.rule.id.clone()),
                reason: rule.rule.reason.clone(),
                mask: rule.rule.mask,
                policy_revision: rules.revision,
            };
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

    async fn record_allowed(
        &self,
        artifact: &Artifact,
        rules: &RuleSet,
        caller: &Caller,
    ) -> Result<Position, Otherwise> {
        let allowed = PackageAllowed {
            ecosystem: self.ecosystem,
            package: artifact.package.clone(),
            version: artifact.version(),
            file: artifact.file.clone(),
            sha256: artifact.wanted.sha256.map(hex::encode),
            policy_revision: rules.revision,
        };
        self.ledger.record(allowed, caller).await.map_err(|fault| Self::unrecorded(&fault))
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

    fn no_file(fault: &DownloadFault) -> Otherwise {
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

/// What a person is told about a rule: its reason, and its id to ask about.
#[must_use]
pub fn told(rule: &CompiledRule) -> String {
    format!("Blocked by Weir: {} (rule {})", rule.rule.reason, rule.rule.id)
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
