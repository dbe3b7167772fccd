//! OSV: one archive of records for each ecosystem, as its public bucket has them.
//!
//! Archives were seen that lacked records for days. Beside each stands an index of all that the bucket
//! has about the ecosystem; what is in it is not gone, whatever the archive lacks. Without the index
//! nothing is: that of a bucket that is half up must not hold up what its archive says.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read as _, Seek, SeekFrom, Write},
    path::PathBuf,
    time::Duration,
};

use futures_util::future::BoxFuture;
use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED},
};
use weir_aggregates::registry::{
    advisory::difference::Losses,
    osv::{MAX_RECORD_BYTES, osv_name},
    visits::Part,
};
use weir_events::registry::{Ecosystem, advisory};

use super::{
    Retry, SecuritySourcePlugin, SyncFault, Synced, Tally, Visit,
    archive::Archive,
    batches::{self, Halt, Read, Reading, Standing},
    zip::{Bounds, Zip},
};
use crate::outbound::{
    Ask, Encoding, OutboundFault, Reach, ReachFault, Reply, Trail, Url,
    polite::{self, Polite},
};

/// The name of the source.
pub const NAME: &str = advisory::OSV;

/// The bucket that OSV publishes.
pub const PUBLIC: &str = "https://storage.googleapis.com/osv-vulnerabilities/";

/// The largest archive that is fetched.
const MAX_ARCHIVE_BYTES: u64 = 2 << 30;

/// The longest line of an index: a time and an id.
const MAX_INDEX_LINE_BYTES: u64 = 4 << 10;

/// What is answered by a source that has no index.
const NO_INDEX: [StatusCode; 4] =
    [StatusCode::NOT_FOUND, StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::GONE];

const BOUNDS: Bounds = Bounds {
    entries: 3_000_000,
    entry_bytes: MAX_RECORD_BYTES as u64,
    total_bytes: 32 << 30,
    ratio: 200,
};

/// How a bucket is visited.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the bucket is.
    pub address: Url,
    /// The ecosystems that are asked for.
    pub ecosystems: Vec<Ecosystem>,
    /// How long after a visit the next one is due.
    pub interval: Duration,
    /// How long one try may take.
    pub timeout: Duration,
    /// When a visit is tried again.
    pub retry: Retry,
    /// The least time between two requests.
    pub pause: Duration,
    /// Where archives lie while they are read.
    pub folder: PathBuf,
}

/// The source.
#[derive(Debug)]
pub struct Osv {
    config: Config,
    base: Url,
    reach: Reach,
    polite: Polite,
}

/// What a request for an archive came to.
enum Fetched {
    /// The source says that it is what was read last.
    Same,
    /// The archive, and what the source calls it.
    Archive(Kept, Option<String>),
}

/// What was fetched, in a file that has no name and goes with its handle.
struct Kept {
    file: File,
    /// BLAKE3 of it, hexadecimal: what a source calls it may change while it does not.
    digest: String,
}

impl Osv {
    /// The source at an address. Refused when it is none.
    pub fn new(config: Config, polite: Polite) -> Result<Self, ReachFault> {
        let (reach, mut base) = Reach::of_upstream(&config.address)?;
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(Self { config, base, reach, polite })
    }

    async fn fetch(&self, url: &Url, revision: Option<&str>) -> Result<Fetched, SyncFault> {
        let ask = Ask {
            method: Method::GET,
            url: url.clone(),
            reach: &self.reach,
            encoding: Encoding::Verbatim,
            headers: HeaderMap::from_iter(revision.and_then(validator)),
            trail: &Trail::default(),
        };
        let (_turn, mut reply) = self.polite.open(ask, self.config.pause).await??;
        match reply.status() {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if revision.is_some() => return Ok(Fetched::Same),
            status => {
                let retry_after = polite::retry_after(status, reply.headers());
                return Err(SyncFault::Status { url: url.to_string(), status, retry_after });
            }
        }
        let called = |name| reply.headers().get(name)?.to_str().ok().map(str::to_owned);
        let revision = called(ETAG).or_else(|| called(LAST_MODIFIED));
        let kept = self.keep(url, &mut reply).await?;
        Ok(Fetched::Archive(kept, revision.filter(|name| name.len() <= 256)))
    }

    /// The index of all records about an ecosystem; none where the source has no such.
    async fn index(&self, url: &Url) -> Result<Option<File>, SyncFault> {
        match self.fetch(url, None).await {
            Ok(Fetched::Archive(kept, _)) => Ok(Some(kept.file)),
            Ok(Fetched::Same) => Ok(None),
            Err(SyncFault::Status { status, .. }) if NO_INDEX.contains(&status) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    async fn keep(&self, url: &Url, reply: &mut Reply) -> Result<Kept, SyncFault> {
        let doing = "keep an archive while it is read";
        let local = |cause| SyncFault::Local { doing, cause };
        let too_large = || {
            let (url, cap_bytes) = (url.to_string(), MAX_ARCHIVE_BYTES);
            SyncFault::from(OutboundFault::TooLarge { url, cap_bytes })
        };
        let announced = reply.content_length();
        if announced.is_some_and(|n_bytes| n_bytes > MAX_ARCHIVE_BYTES) {
            return Err(too_large());
        }
        tokio::fs::create_dir_all(&self.config.folder).await.map_err(local)?;
        let mut file = tempfile::tempfile_in(&self.config.folder).map_err(local)?;
        let (mut n_bytes, mut hasher) = (0, blake3::Hasher::new());
        while let Some(chunk) = reply.chunk().await? {
            n_bytes += chunk.len() as u64;
            if n_bytes > MAX_ARCHIVE_BYTES {
                return Err(too_large());
            }
            // Into the memory of the system, which writes it down when it likes: never long.
            file.write_all(&chunk).map_err(local)?;
            hasher.update(&chunk);
        }
        if announced.is_some_and(|announced| announced != n_bytes) {
            return Err(SyncFault::BrokeOff("the archive is shorter than announced"));
        }
        file.seek(SeekFrom::Start(0)).map_err(local)?;
        Ok(Kept { file, digest: hasher.finalize().to_hex().to_string() })
    }

    async fn visit(&self, visit: &Visit, archive: &dyn Archive) -> Result<Synced, SyncFault> {
        let unknown = SyncFault::BrokeOff("the source has nothing about this ecosystem");
        let Some((ecosystem, name)) = visit.part.and_then(|it| Some((it, osv_name(it)?))) else {
            return Err(unknown);
        };
        let at = |file: &str| self.base.join(&format!("{name}/{file}"));
        let (Ok(url), Ok(index)) = (at("all.zip"), at("modified_id.csv")) else {
            return Err(unknown);
        };
        let (kept, revision) = match self.fetch(&url, visit.revision.as_deref()).await? {
            Fetched::Same => {
                let revision = visit.revision.clone();
                return Ok(Synced { tally: Tally::default(), revision });
            }
            Fetched::Archive(kept, revision) => (kept, revision),
        };
        let differences = batches::differences(archive, [ecosystem]).await?;
        let (reading, batches) = Reading::new(NAME, differences);
        let read = self.read(kept, (&url, &index), reading, visit.losses);
        // When this is dropped nobody takes batches any more, and who reads ends.
        let (read, appended) = tokio::join!(read, batches::append(archive, batches));
        let tally = batches::both(read, appended, archive).await?;
        Ok(Synced { tally, revision })
    }

    /// Reads an archive, and asks the index about what is missing in it.
    async fn read(
        &self,
        kept: Kept,
        (url, index): (&Url, &Url),
        reading: Reading,
        losses: Losses,
    ) -> Result<Read, Halt> {
        let Kept { file, digest } = kept;
        let url = url.to_string();
        let reader = tokio::task::spawn_blocking(move || shown(&file, &url, reading));
        let mut reading = reader.await.unwrap_or(Err(Halt::Gone))?;
        // Who believes losses has looked.
        let doubted = losses == Losses::Doubt && reading.misses_some();
        let index = if doubted { self.index(index).await } else { Ok(None) };
        let ending = move || {
            let asked = index.and_then(|index| {
                index.map_or(Ok(()), |index| listed(index, |id| reading.stands(id)))
            });
            if let Err(fault) = asked {
                // What is gone is not known then, but all else is.
                tracing::warn!(error = %fault, "no index: what is missing is not taken to be gone");
                reading.keep_unseen();
            }
            reading.finish(losses, &digest)
        };
        tokio::task::spawn_blocking(ending).await.unwrap_or(Err(Halt::Gone))
    }
}

/// Shows the records of an archive.
fn shown(file: &File, url: &str, mut reading: Reading) -> Result<Reading, Halt> {
    let fault = |cause| Halt::Fault(SyncFault::Feed { url: url.to_owned(), cause });
    let mut zip = Zip::open(file, BOUNDS).map_err(fault)?;
    let mut body = Vec::new();
    while let Some(entry) = zip.next(&mut body).map_err(fault)? {
        let Some(id) = batches::id_of(&entry.name) else { continue };
        match entry.fault {
            None => reading.show(id, Standing::Own, &body)?,
            Some(why) => {
                tracing::debug!(id, why, "record passed over");
                reading.cannot_show(id);
            }
        }
    }
    Ok(reading)
}

/// The ids in an index: one a line, behind the time when its record was last touched.
fn listed(index: File, mut see: impl FnMut(&str)) -> Result<(), SyncFault> {
    let local = |cause| SyncFault::Local { doing: "read the index of records", cause };
    let (mut lines, mut line) = (BufReader::new(index), Vec::new());
    loop {
        line.clear();
        let n_bytes = (&mut lines).take(MAX_INDEX_LINE_BYTES).read_until(b'\n', &mut line);
        if n_bytes.map_err(local)? == 0 {
            return Ok(());
        }
        let id = std::str::from_utf8(&line).ok().and_then(|line| line.rsplit_once(','));
        if let Some((_, id)) = id {
            // An index of all ecosystems names theirs before the id.
            see(id.rsplit('/').next().unwrap_or(id).trim());
        }
    }
}

/// Asks for something only if it is not what it was: by its tag, else by its date.
fn validator(revision: &str) -> Option<(http::HeaderName, HeaderValue)> {
    let tag = revision.starts_with('"') || revision.starts_with("W/");
    let name = if tag { IF_NONE_MATCH } else { IF_MODIFIED_SINCE };
    Some((name, HeaderValue::from_str(revision).ok()?))
}

impl SecuritySourcePlugin for Osv {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supported_ecosystems(&self) -> &[Ecosystem] {
        &self.config.ecosystems
    }

    fn parts(&self) -> Vec<Part> {
        self.config.ecosystems.iter().copied().map(Some).collect()
    }

    fn sync_interval(&self) -> Duration {
        self.config.interval
    }

    fn retry(&self) -> Retry {
        self.config.retry
    }

    fn sync_timeout(&self) -> Duration {
        self.config.timeout
    }

    fn sync<'a>(
        &'a self,
        visit: &'a Visit,
        archive: &'a dyn Archive,
    ) -> BoxFuture<'a, Result<Synced, SyncFault>> {
        Box::pin(self.visit(visit, archive))
    }
}

#[cfg(test)]
mod tests;
